"""Cells of several numbers of a person: boxes that a classification tree makes, as levels of x.

The best rule f(x) that does not see the group depends on P(y=1|x), P(a|x), P(a, y|x) and P(i|x), so
rules of P(y=1|x) alone cannot tell people apart whom the constraints treat differently. People with
nearly the same numbers can share a level, as a tree that predicts y and a from the numbers makes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fairfl._support.checks import Array, as_floats, instance
from fairfl._support.extras import extras_named
from fairfl._support.json_file import list_of

FEWEST = 4
"""Cells of the smallest tree that is tried."""
FOLDS = 5
"""Parts of the people; a tree, calibration or rule is fitted to all but one and judged on that."""


@dataclass(frozen=True)
class Cells:
    """A binary tree over d numbers: node k sends people with x[``number``[k]] at most
    ``threshold``[k] to node ``low``[k], others to ``high``[k]; a leaf has ``number`` -1, and
    ``low`` is its cell. The root is node 0, and children stand behind their parents.
    """

    number: tuple[int, ...]
    threshold: tuple[float, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        size = len(self.number)
        fits = len({size, *map(len, (self.threshold, self.low, self.high))}) == 1 and size > 0
        for k, nodes in enumerate(zip(self.number, self.low, self.high, strict=False)):
            number, *children = nodes
            inside = 0 <= number < len(self.names) and all(k < child < size for child in children)
            fits = fits and (number == -1 or inside)
        leaves = sorted(low for low, n in zip(self.low, self.number, strict=False) if n == -1)
        if not fits or leaves != list(range(len(leaves))):
            raise ValueError(f"cells must be a tree over the numbers {', '.join(self.names)}")

    @classmethod
    def from_data(cls, data: Any) -> "Cells":
        """The inverse of :meth:`as_data`; ValueError for anything else."""
        fields = instance("cells", data, dict)
        kinds = {"number": (int,), "threshold": (int, float), "low": (int,), "high": (int,)}
        kinds |= {"names": (str,)}
        lists = (
            list_of(f"cells {name}", fields.get(name), kind, "values")
            for name, kind in kinds.items()
        )
        return cls(*map(tuple, lists))

    @classmethod
    def grid(cls, edges: Sequence[Sequence[float]], names: Sequence[str]) -> "Cells":
        """Crossed levels of each number, those of the last next to each other; level k holds
        numbers from its lower edge to below the next, and the last levels those beyond the ends.
        """
        sizes = [len(cuts) - 1 for cuts in edges]
        nodes: list[list[Any]] = []

        def grow(number: int, low: int, high: int, before: int) -> int:
            """The node of levels low to high - 1 of a number, below cell ``before``."""
            node = len(nodes)
            if number == len(sizes):
                nodes.append([-1, 0.0, before, 0])
            elif high - low == 1:
                inside = before * sizes[number] + low
                return grow(number + 1, 0, (*sizes, 1)[number + 1], inside)
            else:
                middle = (low + high) // 2
                nodes.append([number, float(np.nextafter(edges[number][middle], -np.inf)), 0, 0])
                nodes[node][2] = grow(number, low, middle, before)
                nodes[node][3] = grow(number, middle, high, before)
            return node

        grow(0, 0, sizes[0], 0)
        number, threshold, low, high = (tuple(column) for column in zip(*nodes, strict=True))
        return cls(number, threshold, low, high, tuple(names))

    def as_data(self) -> dict[str, list[Any]]:
        """Plain lists, for JSON."""
        return {name: list(values) for name, values in asdict(self).items()}

    def __len__(self) -> int:
        return self.number.count(-1)

    def __str__(self) -> str:
        return f"{len(self)} cells of {' and '.join(self.names)}"

    def __call__(self, x: Any) -> Any:
        """The cell (...) of people with numbers (..., d)."""
        table = as_floats("x", x)
        if table.ndim == 0 or table.shape[-1] != len(self.names):
            raise ValueError(
                f"x must hold {len(self.names)} numbers of a person along its last axis "
                f"({', '.join(self.names)}), got shape {table.shape}"
            )
        rows = table.reshape(-1, len(self.names))
        number, threshold, low, high = map(
            np.array, (self.number, self.threshold, self.low, self.high)
        )
        node = np.zeros(len(rows), dtype=np.int64)
        while (inner := np.flatnonzero(number[node] >= 0)).size:
            at = node[inner]
            is_low = rows[inner, number[at]] <= threshold[at]
            node[inner] = np.where(is_low, low[at], high[at])
        return low[node].reshape(table.shape[:-1])


def grown(
    numbers: Array,
    targets: Array,
    *,
    levels: int,
    min_people: float,
    names: Sequence[str] | None = None,
    weight: Array | None = None,
) -> Cells:
    """Cells of a classification tree (CART, Gini) of ``numbers`` (n, d) that predicts ``targets``
    (n, t), codes with y first, numbered by their shares of y = 1.

    The largest tree has ``levels`` leaves of ``min_people`` or more; of it, half, a quarter, ...
    the number of leaves with the smallest Brier loss of all targets in cross-validation is taken.
    With a ``weight`` (n,) of people impurities, losses and shares are weighted, and a leaf has
    ``min_people`` of the effective number as well.
    """
    with extras_named():  # scikit-learn, for this alone
        from sklearn.model_selection import KFold
        from sklearn.tree import DecisionTreeClassifier

    w = np.ones(len(numbers)) if weight is None else weight

    def tree(leaves: int, rows: Any) -> Any:
        fewest, part, share = max(1, int(np.ceil(min_people))), w[rows], 0.0
        if weight is not None:
            share = min(0.5, min_people * (part @ part) / part.sum() ** 2)
        fitted = DecisionTreeClassifier(
            max_leaf_nodes=leaves,
            min_samples_leaf=fewest,
            min_weight_fraction_leaf=share,
            random_state=0,
        )
        return fitted.fit(numbers[rows], targets[rows], sample_weight=part)

    sizes = [levels]
    while sizes[-1] // 2 >= FEWEST:
        sizes.append(sizes[-1] // 2)
    losses = np.zeros(len(sizes))
    if len(sizes) > 1 and len(numbers) >= FOLDS:
        for fitted, judged in KFold(FOLDS, shuffle=True, random_state=0).split(numbers):
            losses += [
                _brier(tree(size, fitted), numbers[judged], targets[judged], w[judged])
                for size in sizes
            ]
    chosen = tree(sizes[int(losses.argmin())], np.arange(len(numbers))).tree_
    is_leaf = chosen.children_left < 0
    number = np.where(is_leaf, -1, chosen.feature)
    labels = [f"x{k}" for k in range(numbers.shape[1])] if names is None else names
    cell = np.where(is_leaf, np.cumsum(is_leaf) - 1, chosen.children_left)
    high = np.maximum(chosen.children_right, 0)
    nodes = [tuple(array.tolist()) for array in (number, chosen.threshold, cell, high)]
    first = Cells(nodes[0], nodes[1], nodes[2], nodes[3], tuple(labels))
    where = first(numbers)
    share = np.bincount(where, w * targets[:, 0]) / np.bincount(where, w)
    rank = np.argsort(np.argsort(share, kind="stable"))
    cell[is_leaf] = rank[cell[is_leaf]]
    return Cells(first.number, first.threshold, tuple(cell.tolist()), first.high, first.names)


def _brier(tree: Any, numbers: Array, targets: Array, weight: Array) -> float:
    """The weighted sum of squared differences of a tree's shares and all targets' classes."""
    predicted = zip(tree.predict_proba(numbers), tree.classes_, targets.T, strict=True)
    return sum(
        float(weight @ ((share - (target[:, None] == classes)) ** 2).sum(axis=1))
        for share, classes, target in predicted
    )
