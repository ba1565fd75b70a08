"""Classifiers f(x, a) = P(ŷ = 1 | x, a): step functions of x by group, and their rates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats, as_labels, in_range, listed, shown
from fairfl._support.json_file import list_of, parsed, sealed, unsealed
from fairfl.theory.populations.cells import Cells
from fairfl.theory.populations.notions import ACCEPTANCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairfl.theory.populations.federation import Federation

PARTS = 3
"""Largest number of intervals that are listed; of more only the range is shown."""
FORMAT = "fairfl rule 2"
ROUNDING = 1e-9
"""Shares of people this close to 0 or 1 are shown as none or all."""


def called(group: Hashable) -> str:
    """A group's name; of several columns their values, as tables of people name them."""
    return " & ".join(map(str, group)) if isinstance(group, tuple) else str(group)


def as_plain(label: Any) -> Any:
    """A group's name, of an interval or a date, which JSON has not, as a text."""
    if isinstance(label, tuple):
        return tuple(map(as_plain, label))
    return label if isinstance(label, (str, int, float, np.number)) else str(label)


def places(argument: str, kind: str, values: Any, names: Sequence[Any]) -> Any:
    """Numbers 0, 1, ... of the values among ``names``, see :meth:`Classifier.number`."""
    several = isinstance(names[0], tuple)
    labels = as_labels(argument, values)
    labels = labels.astype(object) if several else labels
    if labels.dtype.kind in "OM" and not {*map(type, labels.flat)} <= {str, int, float}:
        labels = np.asarray(np.frompyfunc(as_plain, 1, 1)(labels.astype(object)), object)
    numbers = np.full(labels.shape[: labels.ndim - several], -1)
    for k, name in enumerate(map(as_plain, names)):
        same = labels == np.array(name, dtype=object) if several else labels == name
        numbers[np.all(same, axis=-1) if several else same] = k
    if (numbers < 0).any():
        wrong = labels[numbers < 0][0]
        wrong = shown(tuple(wrong) if several else wrong)
        allowed = listed([shown(name) for name in names])
        raise ValueError(f"{argument} must be one of the {kind} {allowed}, got {wrong}")
    return numbers


def midpoints(points: Array) -> Array:
    """(n - 1,) half-way between neighbours of increasing points (n,)."""
    return points[:-1] + (points[1:] - points[:-1]) / 2


class Classifier:
    """Step functions of x, one per group; the client is never used.

    Parameters
    ----------
    edges : for each group an increasing array of (m_a,) cut points.
    values : for each group (m_a + 1,) probabilities of acceptance: ``values[a][k]`` on (edges[k-1],
        edges[k]].
    groups : for each group its name, what a person's ``a`` is; by default 0, 1, ... A solution's
        classifier has those of its federation, of intervals and dates the texts.
    names : of a score that is a name, what x = 0, 1, ... are called; by default x is a number.
    cells : of d numbers of a person, which are x along its last axis, the cells 0, 1, ... of which
        the classifier is.

    Notes
    -----
    A threshold rule accepts strictly above its threshold. A classifier that was solved on a finite
    X holds, at each point of X, exactly the solved probability (randomised on atoms); between
    points it takes the value of the nearest, and of people the value of the level that their score
    was merged into.

    Examples
    --------
    >>> import fairfl as ff
    >>> f = ff.Classifier.thresholds([0.5, -0.5])
    >>> f(0.0, a=[0, 1]).tolist(), f.accept(1)
    ([0.0, 1.0], [(-0.5, inf)])
    >>> print(ff.Classifier([[0.6, 0.64], [0.26]], [[0, 0.1, 1], [0, 1]], ["men", "women"]))
    men: above 0.64, and 10 % of 0.6 to 0.64
    women: above 0.26
    """

    groups: tuple[Any, ...]

    def __init__(
        self,
        edges: Sequence[ArrayLike],
        values: Sequence[ArrayLike],
        groups: Sequence[Hashable] | None = None,
        names: Sequence[str] = (),
        cells: Cells | None = None,
    ) -> None:
        if len(edges) != len(values) or len(edges) < 2:
            raise ValueError(
                f"edges and values must hold one array per group, got {len(edges)} and "
                f"{len(values)}"
            )
        self.edges: tuple[Array, ...] = tuple(as_floats("edges", e) for e in edges)
        self.values: tuple[Array, ...] = tuple(in_range("values", v, 0, 1) for v in values)
        for a, (e, v) in enumerate(zip(self.edges, self.values, strict=True)):
            if e.ndim != 1 or v.shape != (e.size + 1,):
                raise ValueError(
                    f"values[{a}] must have one entry more than edges[{a}], got {v.shape} and "
                    f"{e.shape}"
                )
            if (e[1:] < e[:-1]).any():
                raise ValueError(f"edges[{a}] must be increasing, got {e.tolist()}")
        self.groups = tuple(range(len(edges)) if groups is None else map(as_plain, groups))
        if len(self.groups) != len(edges) or len(set(self.groups)) < len(edges):
            raise ValueError(
                f"groups must be {len(edges)} different names, got {shown(self.groups)}"
            )
        self.names = tuple(names)
        are_texts = all(isinstance(name, str) for name in self.names)
        if len(set(self.names)) < len(self.names) or not are_texts:
            raise ValueError(f"names must be different texts, got {shown(names)}")
        self.cells = cells

    @classmethod
    def thresholds(cls, cuts: Sequence[float]) -> Classifier:
        """Accept x > cuts[a]."""
        return cls([[c] for c in cuts], [[0.0, 1.0]] * len(cuts))

    @classmethod
    def on_points(
        cls,
        points: Array,
        probabilities: Array,
        cuts: Array | None = None,
        groups: Sequence[Hashable] | None = None,
        names: Sequence[str] = (),
        cells: Cells | None = None,
    ) -> Classifier:
        """The classifier with ``probabilities`` (A, n) at increasing ``points`` (n,), which are
        levels of x that meet at ``cuts`` (n - 1,), by default half-way.
        """
        cuts = midpoints(points) if cuts is None else cuts
        jumps = probabilities[:, 1:] != probabilities[:, :-1]
        edges = [cuts[jump] for jump in jumps]
        pairs = zip(probabilities, jumps, strict=True)
        values = [row[np.append(True, jump)] for row, jump in pairs]
        return cls(edges, values, groups, names, cells)

    @classmethod
    def from_json(cls, text: str | bytes) -> Classifier:
        """The inverse of :meth:`to_json`; ValueError for another text, or one that was changed."""
        data = parsed(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(
                f"a rule must be JSON with format {FORMAT!r}, got {shown(data)}; rules of earlier "
                "versions have no sha256: write them again, by fairfl frontier --out or to_json"
            )
        fields = {"edges": None, "values": None, "groups": None, "names": []} | unsealed(data)
        cells = Cells.from_data(fields["cells"]) if "cells" in fields else None
        edges, values = (list_of(key, fields[key], (list,), "lists") for key in ("edges", "values"))
        names = list_of("names", fields["names"], (str,), "texts")
        labels = list_of("groups", fields["groups"], (str, int, float, list), "names")
        groups = [tuple(name) if isinstance(name, list) else name for name in labels]
        parts = [part for name in groups for part in (name if isinstance(name, tuple) else [name])]
        list_of("groups", parts, (str, int, float), "names")
        return cls(edges, values, groups, names, cells)

    def to_json(self) -> str:
        """Groups, edges and values, every double exactly, with the SHA-256 of all of it."""
        edges, values = ([v.tolist() for v in arrays] for arrays in (self.edges, self.values))
        fields = {"format": FORMAT, "groups": list(self.groups), "edges": edges, "values": values}
        if self.names:
            fields["names"] = list(self.names)
        if self.cells is not None:
            fields["cells"] = self.cells.as_data()
        return sealed(fields)

    def named(self, groups: Sequence[Hashable]) -> Classifier:
        """The same rule, with the groups' names."""
        if tuple(groups) == self.groups:
            return self
        renamed = copy(self)
        renamed.groups = Classifier(self.edges, self.values, groups).groups
        return renamed

    @classmethod
    def average(cls, members: Sequence[Classifier], weights: ArrayLike) -> Classifier:
        """Σ_j weights_j f_j, the randomised vote of an ensemble."""
        w = as_floats("weights", weights)
        edges, values = [], []
        for a in range(members[0].n_groups):
            cuts = np.unique(np.concatenate([m.edges[a] for m in members]))
            rows = [m._at(np.append(cuts, np.inf), a) for m in members]
            mixed = np.einsum("j,jk->k", w, np.stack(rows))
            edges.append(cuts)
            values.append(np.clip(mixed, 0.0, 1.0))  # rounding of a convex combination only
        return cls(edges, values)

    @property
    def n_groups(self) -> int:
        """Number of groups A."""
        return len(self.edges)

    def number(self, a: ArrayLike) -> Array:
        """Group numbers 0, 1, ... of names ``a``; names that are tuples along the last axis."""
        return places("a", "groups", a, self.groups)

    def __call__(self, x: ArrayLike, a: ArrayLike) -> Array:
        """P(ŷ = 1 | x, a), broadcasting x against the groups' names a."""
        return self.of_number(*np.broadcast_arrays(self.level(x), self.number(a)))

    def level(self, x: ArrayLike) -> Array:
        """x itself; of several numbers of a person, along the last axis, their cell."""
        return as_floats("x", x) if self.cells is None else self.cells(x)

    def on(self, points: Array) -> Array:
        """(A, n) P(ŷ = 1) of all groups at points (n,)."""
        return np.stack([self._at(points, k) for k in range(self.n_groups)])

    def of_number(self, x: Array, number: Array) -> Array:
        """P(ŷ = 1 | x, a) of group numbers, of one shape with x."""
        out = np.empty(x.shape)
        for k in range(self.n_groups):
            chosen = number == k
            out[chosen] = self._at(x[chosen], k)
        return out[()]

    def __str__(self) -> str:
        return "\n".join(f"{called(name)}: {self.accepted(name)}" for name in self.groups)

    def accepted(self, a: ArrayLike) -> str:
        """Who of group a is accepted, such as "above 0.64, and 10.4 % of 0.6 to 0.64"."""
        if self.names:
            return self._accepted_names(int(self.number(a)))
        if self.cells is not None:
            return self._accepted_cells(int(self.number(a)))
        sure = self.accept(a, 1.0 - ROUNDING)
        part = [
            (lo, hi, v) for lo, hi, v in self.steps(a) if lo < hi and ROUNDING < v < 1.0 - ROUNDING
        ]
        phrases = [_interval(*ends) for ends in sure]
        if len(sure) > PARTS:
            phrases = [f"{len(sure)} intervals {_interval(sure[0][0], sure[-1][1])}"]
        if len(part) > PARTS:
            shares = [f"{100 * share([v for *_, v in part]):.3g}" for share in (min, max)]
            phrases.append(f"{' to '.join(shares)} % {_interval(part[0][0], part[-1][1])}")
        else:
            phrases += [f"{100 * v:.3g} % {_interval(lo, hi)}" for lo, hi, v in part]
        return ", and ".join(phrases) or "nobody"

    def _accepted_names(self, a: int) -> str:
        """As :meth:`accepted`, such as "40 % of D, C, B"."""
        shares = self._at(np.arange(len(self.names)), a)
        phrases = [
            name if v > 1.0 - ROUNDING else f"{100 * v:.3g} % of {name}"
            for name, v in zip(self.names, shares, strict=True)
            if v > ROUNDING
        ]
        return ", ".join(phrases) or "nobody"

    def _accepted_cells(self, a: int) -> str:
        """As :meth:`accepted`, such as "23 of 57 cells, and 40 % of 1 other"."""
        assert self.cells is not None
        shares = self._at(np.arange(len(self.cells)), a)
        part = shares[(shares > ROUNDING) & (shares < 1.0 - ROUNDING)]
        text = f"{(shares >= 1.0 - ROUNDING).sum()} of {self.cells}"
        if part.size:
            ends = dict.fromkeys(f"{100 * share:.3g}" for share in (part.min(), part.max()))
            text += f", and {' to '.join(ends)} % of {part.size} other" + "s" * (part.size > 1)
        return text

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw where each group is accepted, on the line of x."""
        from fairfl.theory.populations.rule_picture import plot_rules

        return plot_rules(
            {f"group {called(name)}": self.steps(name) for name in self.groups}, ax, **style
        )

    def steps(self, a: ArrayLike) -> list[tuple[float, float, float]]:
        """[(lo, hi, P(ŷ=1))] of group a, covering the line."""
        number = self.number(a)
        if np.ndim(number):
            raise ValueError(f"a must be one group, got {shown(a)}")
        a = int(number)
        ends = [-np.inf, *self.edges[a].tolist(), np.inf]
        return list(zip(ends, ends[1:], self.values[a].tolist(), strict=False))

    def accept(self, a: ArrayLike, level: float = 1.0) -> list[tuple[float, float]]:
        """Maximal intervals [(lo, hi), ...] where P(ŷ = 1 | x, a) >= level; 1: for certain."""
        merged: list[tuple[float, float]] = []
        for lo, hi, value in self.steps(a):
            if value < level or hi <= lo:
                continue
            if merged and merged[-1][1] == lo:
                merged[-1] = (merged[-1][0], hi)
            else:
                merged.append((lo, hi))
        return merged

    def rates(self, federation: Federation) -> Array:
        """(I, A) P(ŷ = 1 | a, i); NaN where client i has nobody of group a."""
        from fairfl.theory.populations.finite import FiniteModel  # scipy: `apply` needs none

        self._same_groups(federation)
        out = np.empty(federation.share.shape)
        model = federation.model
        for a, (edges, values) in enumerate(zip(self.edges, self.values, strict=True)):
            if isinstance(model, FiniteModel):
                out[:, a] = model.conditional[:, a] @ self._at(model.points, a)
            else:
                out[:, a] = model.integrals(ACCEPTANCE, a, edges, values)
        return np.where(federation.share > 0, out, np.nan)

    def accuracy(self, federation: Federation) -> float:
        """P(ŷ = y) on the pooled law."""
        from fairfl.theory.populations.finite import ACCURATE, FiniteModel

        self._same_groups(federation)
        model, groups = federation.model, range(self.n_groups)
        if isinstance(model, FiniteModel):
            gain = federation.pooled.gain(ACCURATE, "xa")[0]
            return float(1.0 - federation.base_rate + (gain * self.on(model.points)).sum())
        costs = np.ones((2, self.n_groups))
        losses = (model.utility(costs, a, self.edges[a], self.values[a]) for a in groups)
        return 1.0 + float(sum(losses))

    def group_rates(self, federation: Federation) -> Array:
        """(A,) P(ŷ = 1 | a) on the pooled law."""
        return (np.nan_to_num(self.rates(federation)) * federation.within).sum(axis=0)

    def mean_difference(self, federation: Federation) -> float:
        """MD = P(ŷ=1 | a=0) - P(ŷ=1 | a=1), two groups."""
        return float(self._difference(self.group_rates(federation)))

    def local_mean_differences(self, federation: Federation) -> Array:
        """(I,) MD_i; NaN for clients without people of both groups."""
        return self._difference(self.rates(federation).T)

    def disparity(self, federation: Federation) -> float:
        """max - min over groups of P(ŷ=1 | a); |MD| for two groups."""
        return float(np.ptp(self.group_rates(federation)))

    def _at(self, points: Array, a: int) -> Array:
        return self.values[a][np.searchsorted(self.edges[a], points, side="left")]

    def _same_groups(self, federation: Federation) -> None:
        if len(getattr(federation, "group_mass", ())) != self.n_groups:
            raise ValueError(
                f"federation must be a Federation of {self.n_groups} groups, got {federation!r}"
            )

    @staticmethod
    def _difference(rates: Array) -> Array:
        if len(rates) != 2:
            raise ValueError(
                f"a mean difference is defined for two groups, got {len(rates)}; see disparity"
            )
        return rates[0] - rates[1]


def _interval(low: float, high: float) -> str:
    if high == np.inf:
        return "everybody" if low == -np.inf else f"above {low:.3g}"
    return f"up to {high:.3g}" if low == -np.inf else f"of {low:.3g} to {high:.3g}"
