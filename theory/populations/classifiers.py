"""Classifiers f(x, a) = P(ŷ = 1 | x, a): step functions of x for each group, and their exact
rates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats, in_range, shown, whole
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import largest_difference

if TYPE_CHECKING:
    from fairfl.theory.populations.federation import Federation


class Classifier:
    """Step functions of x, one per group; the client is never used.

    Parameters
    ----------
    edges : for each group an increasing array of (m_a,) cut points.
    values : for each group (m_a + 1,) probabilities of acceptance: ``values[a][k]`` on (edges[k-1],
        edges[k]].

    Notes
    -----
    A threshold rule accepts strictly above its threshold. A classifier that was solved on a finite
    X holds, at each point of X, exactly the solved probability (randomised on atoms); between
    points it takes the value of the nearest.

    Examples
    --------
    >>> import fairfl as ff
    >>> f = ff.Classifier.thresholds([0.5, -0.5])
    >>> f(0.0, a=[0, 1]).tolist(), f.accept(1)
    ([0.0, 1.0], [(-0.5, inf)])
    """

    def __init__(self, edges: Sequence[ArrayLike], values: Sequence[ArrayLike]) -> None:
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
        self._rates: tuple[Federation, Array] | None = None

    @classmethod
    def thresholds(cls, cuts: Sequence[float]) -> Classifier:
        """Accept x > cuts[a]."""
        return cls([[c] for c in cuts], [[0.0, 1.0]] * len(cuts))

    @classmethod
    def from_intervals(cls, accept: Sequence[Sequence[tuple[float, float]]]) -> Classifier:
        """Accept a union of disjoint increasing intervals for each group."""
        edges, values = [], []
        for a, intervals in enumerate(accept):
            flat = [float(v) for pair in intervals for v in pair]
            start = 1.0 if flat[:1] == [-np.inf] else 0.0
            if any(hi < lo for lo, hi in zip(flat, flat[1:], strict=False)):
                raise ValueError(
                    f"accept[{a}] must be disjoint increasing intervals, got {shown(intervals)}"
                )
            inner = [v for v in flat if np.isfinite(v)]
            edges.append(inner)
            values.append([(start + k) % 2 for k in range(len(inner) + 1)])
        return cls(edges, values)

    @classmethod
    def on_points(cls, points: Array, probabilities: Array) -> Classifier:
        """The classifier with ``probabilities`` (A, n) at increasing ``points`` (n,), nearest point
        in between.
        """
        middle = points[:-1] + (points[1:] - points[:-1]) / 2
        edges, values = [], []
        for row in probabilities:
            jumps = row[1:] != row[:-1]
            edges.append(middle[jumps])
            values.append(row[np.append(True, jumps)])
        return cls(edges, values)

    @classmethod
    def average(cls, members: Sequence[Classifier], weights: ArrayLike) -> Classifier:
        """Σ_j weights_j f_j, the randomised vote of an ensemble."""
        w = as_floats("weights", weights)
        edges, values = [], []
        for a in range(members[0].n_groups):
            cuts = np.unique(np.concatenate([m.edges[a] for m in members]))
            rows = [
                m.values[a][np.searchsorted(m.edges[a], np.append(cuts, np.inf), side="left")]
                for m in members
            ]
            mixed = np.einsum("j,jk->k", w, np.stack(rows))
            edges.append(cuts)
            values.append(np.clip(mixed, 0.0, 1.0))  # rounding of a convex combination only
        return cls(edges, values)

    @property
    def n_groups(self) -> int:
        """Number of groups A."""
        return len(self.edges)

    def __call__(self, x: ArrayLike, a: ArrayLike) -> Array:
        """P(ŷ = 1 | x, a), broadcasting x against the group numbers a."""
        at, group = np.broadcast_arrays(as_floats("x", x), np.asarray(a))
        if not np.isin(group, np.arange(self.n_groups)).all():
            raise ValueError(
                f"a must be a group number in 0..{self.n_groups - 1}, got "
                f"{np.unique(group).tolist()}"
            )
        out = np.empty(at.shape)
        for k in range(self.n_groups):
            chosen = group == k
            out[chosen] = self.values[k][np.searchsorted(self.edges[k], at[chosen], side="left")]
        return out[()]

    def steps(self, a: int) -> list[tuple[float, float, float]]:
        """[(lo, hi, P(ŷ=1))], covering the line."""
        a = whole("a", a, 0, self.n_groups - 1)
        ends = np.concatenate([[-np.inf], self.edges[a], [np.inf]])
        return [
            (float(lo), float(hi), float(v))
            for lo, hi, v in zip(ends, ends[1:], self.values[a], strict=False)
        ]

    def accept(self, a: int, level: float = 1.0) -> list[tuple[float, float]]:
        """Maximal intervals [(lo, hi), ...] where P(ŷ = 1 | x, a) >= level; level = 1: certain
        acceptance.
        """
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
        self._same_groups(federation)
        if self._rates is not None and self._rates[0] is federation:  # all disparities ask for them
            return self._rates[1].copy()
        out = np.empty(federation.share.shape)
        model = federation.model
        for a in range(self.n_groups):
            if isinstance(model, FiniteModel):
                out[:, a] = model.conditional[:, a] @ self._at(model.points, a)
            else:
                # f = values[0] + Σ jumps at the edges, so rates are sums of survival functions
                out[:, a] = self.values[a][0] + model.sf(a, self.edges[a]) @ np.diff(self.values[a])
        self._rates = federation, np.where(federation.share > 0, out, np.nan)
        return self._rates[1].copy()

    def accuracy(self, federation: Federation) -> float:
        """P(ŷ = y) on the pooled law."""
        self._same_groups(federation)
        model = federation.model
        if isinstance(model, FiniteModel):
            gain = model.gain(federation.mass)
            won = sum(float(gain[a] @ self._at(model.points, a)) for a in range(self.n_groups))
        else:
            won = 0.0
            for a in range(self.n_groups):
                above = model.gain(a).above(self.edges[a])[0]
                won += float(
                    self.values[a][0] * model.gain(a).totals[0] + above @ np.diff(self.values[a])
                )
        return 1.0 - federation.base_rate + won

    def group_rates(self, federation: Federation) -> Array:
        """(A,) P(ŷ = 1 | a) on the pooled law."""
        return (
            np.where(federation.share > 0, self.rates(federation), 0.0) * federation.within
        ).sum(axis=0)

    def mean_difference(self, federation: Federation) -> float:
        """MD = P(ŷ=1 | a=0) - P(ŷ=1 | a=1), two groups."""
        self._two(federation)
        rate = self.group_rates(federation)
        return float(rate[0] - rate[1])

    def local_mean_differences(self, federation: Federation) -> Array:
        """(I,) MD_i; NaN for clients without people of both groups."""
        self._two(federation)
        rate = self.rates(federation)
        return rate[:, 0] - rate[:, 1]

    def disparity(self, federation: Federation) -> float:
        """max - min over groups of P(ŷ=1 | a); |MD| for two groups."""
        return largest_difference(self.group_rates(federation))

    def _at(self, points: Array, a: int) -> Array:
        return self.values[a][np.searchsorted(self.edges[a], points, side="left")]

    def _same_groups(self, federation: Federation) -> None:
        if federation.n_groups != self.n_groups:
            raise ValueError(
                f"federation has {federation.n_groups} groups, this classifier {self.n_groups}"
            )

    def _two(self, federation: Federation) -> Any:
        if self.n_groups != 2 or federation.n_groups != 2:
            raise ValueError(
                f"a mean difference is defined for two groups, got {federation.n_groups}; see "
                "disparity"
            )


class ClientClassifiers:
    """f(x, a, i): a classifier for each client, for rules that are told the client.

    ``f(x, a, i)`` broadcasts as :class:`Classifier` does; ``f[i]`` is client i's own f(x, a).
    """

    def __init__(self, members: Sequence[Classifier]) -> None:
        self.members = tuple(members)

    def __call__(self, x: ArrayLike, a: ArrayLike, i: ArrayLike) -> Array:
        """P(ŷ = 1 | x, a, i), broadcasting x, the group numbers a and the client numbers i."""
        at, group, client = np.broadcast_arrays(as_floats("x", x), np.asarray(a), np.asarray(i))
        if not np.isin(client, np.arange(len(self))).all():
            raise ValueError(
                f"i must be a client number in 0..{len(self) - 1}, got {np.unique(client).tolist()}"
            )
        out = np.empty(at.shape)
        for k, member in enumerate(self.members):
            mine = client == k
            out[mine] = member(at[mine], group[mine])
        return out[()]

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Classifier]:
        return iter(self.members)

    def __getitem__(self, client: int) -> Classifier:
        return self.members[whole("client", client, 0, len(self) - 1)]
