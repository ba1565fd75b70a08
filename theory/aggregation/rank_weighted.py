"""Rank-weighted means of the losses: p-FFL, generalised Gini functions, CVaR."""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fairfl._support.checks import Array, in_range, shown, single
from fairfl.theory.aggregation._base import (
    NoClosedForm,
    Objective,
    Traits,
    probabilities,
    shape_of,
    short,
)

PROFILES: dict[str, Callable[..., Array]] = {
    "gini": lambda k: 1.0 + 2.0 * k,
    "linear": lambda k: 1.0 + k,
    "arithmetic": lambda k, p1, d: p1 + d * k,
    "geometric": lambda k, z: np.float64(z) ** k[::-1],
    "harmonic": lambda k: np.cumsum(1.0 / (k[::-1] + 1.0))[::-1],
    "cvar": lambda k, level: np.clip(len(k) * (1 - level) - k[::-1], 0.0, 1.0),
}
"""Weights up to a factor, for descending losses, of which k = n-1, ..., 1, 0 others are smaller.
p-FFL's "ascending sorting operator" reads each of them backwards.
"""


@dataclass(frozen=True, repr=False)
class RankWeighted(Objective):
    """A(f) = sum_k w_k f_[k] on R^n: f_[k] the k-th largest loss, w_k >= 0 falling, of sum one.

    Given ``weights`` fix n; the constructors gini, linear, arithmetic, geometric, harmonic and cvar
    work for every n. Only this order makes A convex: then it is the support function of the
    permutahedron of w, the convex hull of the permutations of w. Other orders are refused.

    Dual weights: w by rank; tied clients may share their weights in any way that the permutahedron
    of the tied part of w allows, and canonically share evenly.
    A*(v) = 0 where v is majorised by w (sum v = 1, and for each k the k largest v_i sum to at most
    w_1 + ... + w_k), else +inf; on f >= 0 the sum may fall short of one.
    Client weights p: rank k gets W(P_k) - W(P_(k-1)), with P_k the share of the k largest losses
    and W the concave piecewise linear function through (k/n, w_1 + ... + w_k); for cvar W(x) =
    min(x / (1 - level), 1), which is CVaR of the distribution p. (p-FFL, section 3.1, multiplies
    the losses by p before sorting instead.)

    Errors: ValueError for weights that are negative, increase, or do not sum to one within 1e-10,
    and for another n. Source: p-FFL, eqs. (4)-(9); the duality is ours.
    """

    weights: tuple[float, ...] | None = None
    profile: str = dataclasses.field(default="weights", kw_only=True)
    parameters: tuple[float, ...] = dataclasses.field(default=(), kw_only=True)
    name: ClassVar[str] = "rank_weighted"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.weights is None) == (self.profile == "weights"):
            raise ValueError(
                "weights must be given: RankWeighted(weights=...), or use RankWeighted.gini(), "
                ".linear(), .arithmetic(p1, d), .geometric(z), .harmonic(), .cvar(level); got "
                f"{shown(self.weights)}"
            )
        if self.weights is None:
            return
        w = probabilities("weights", self.weights, positive=False)
        for k in range(len(w) - 1):
            if w[k + 1] > w[k]:
                raise ValueError(
                    "weights must be non-increasing, the first for the largest loss (else the "
                    f"objective is not convex), got {w[k]:g} < {w[k + 1]:g} at index {k + 1}"
                )
        object.__setattr__(self, "weights", w)
        if self.client_weights is not None and len(self.client_weights) != len(w):
            raise ValueError(
                f"client_weights must be n = {len(w)} numbers, as many as weights, got "
                f"{len(self.client_weights)}"
            )

    @classmethod
    def gini(cls) -> Self:
        """w_k = (2(n-k)+1)/n^2: the mean plus half the mean absolute difference. p-FFL, eq. (4)."""
        return cls(profile="gini")

    @classmethod
    def linear(cls) -> Self:
        """w_k = 2(n-k+1)/(n(n+1)). p-FFL, section 3.2.1."""
        return cls(profile="linear")

    @classmethod
    def arithmetic(cls, p1: float, d: float) -> Self:
        """w_k proportional to p1 + (n-k) d, p1 >= 0 and d >= 0. p-FFL, eq. (7)."""
        for name, number in (("p1", p1), ("d", d)):
            in_range(name, single(name, number), 0.0, np.inf, open_high=True)
        if p1 == d == 0:
            raise ValueError("p1 and d must not both be 0, got 0 and 0")
        return cls(profile="arithmetic", parameters=(float(p1), float(d)))

    @classmethod
    def geometric(cls, z: float) -> Self:
        """w_k proportional to z^(k-1), 0 <= z <= 1: z = 0 is AFL, z = 1 FedAvg. p-FFL, eq. (8)."""
        in_range("z", single("z", z), 0.0, 1.0)
        return cls(profile="geometric", parameters=(float(z),))

    @classmethod
    def harmonic(cls) -> Self:
        """w_k proportional to H_(n-k+1), H the harmonic numbers. p-FFL, eq. (9)."""
        return cls(profile="harmonic")

    @classmethod
    def cvar(cls, level: float) -> Self:
        """The mean of the worst share 1 - level, 0 <= level < 1 (from 1 - 1/n on: AFL)."""
        in_range("level", single("level", level), 0.0, 1.0, open_high=True)
        return cls(profile="cvar", parameters=(float(level),))

    @classmethod
    def examples(cls) -> Iterable[Objective]:
        return [
            cls.gini(),
            cls.linear(),
            cls.arithmetic(0.5, 3.0),
            cls.geometric(0.7),
            cls.harmonic(),
            cls.cvar(0.7),
        ]

    def _own_repr(self) -> str:
        if self.weights is not None:
            return f"RankWeighted(weights={short(self.weights)})"
        return f"RankWeighted.{self.profile}({', '.join(f'{x:g}' for x in self.parameters)})"

    def rank_weights(self, n: int) -> Array:
        """w_1 >= ... >= w_n, for descending losses."""
        if self.weights is None:
            raw = PROFILES[self.profile](np.arange(n - 1, -1, -1.0), *self.parameters)
            return raw / raw.sum() if raw.any() else np.full(n, 1.0 / n)  # one client and p1 = 0
        shape_of("losses", (n,), len(self.weights), self._why_n)
        return np.asarray(self.weights)

    def _knots(self, n: int) -> tuple[Array, Array]:
        """The knots of W, and its values there: W(k/n) = w_1 + ... + w_k."""
        if self.profile == "cvar" and self.parameters[0] > 0:
            return np.array([0.0, 1 - self.parameters[0], 1.0]), np.array([0.0, 1.0, 1.0])
        return np.linspace(0, 1, n + 1), np.append(0.0, np.cumsum(self.rank_weights(n)))

    @property
    def _fixed_n(self) -> int | None:
        return super()._fixed_n if self.weights is None else len(self.weights)

    @property
    def _why_n(self) -> str:
        return super()._why_n if self.weights is None else "as many as weights"

    @property
    def traits(self) -> Traits:
        w = self.rank_weights(self._fixed_n or 3)
        is_even = bool(w[0] == w[-1])  # then it is for every n >= 2
        return self._traits_of_mean(
            translation_equivariant=True, positively_homogeneous=True, smooth=is_even
        )

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        n, p = f.shape[-1], None if self._uniform else p
        by_rank = rank_weights(f, self.rank_weights(n), p, self._knots(n))
        return np.vecdot(by_rank, f), by_rank if weights else None

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        n = w.shape[-1]
        if self._uniform:
            caps = np.cumsum(self.rank_weights(n))
            inside = (np.cumsum(-np.sort(-w, axis=-1), -1) <= caps + tolerance).all(-1)
        else:
            # v(S) <= W(p(S)) for all S; W is the least of n lines a_j x + b_j, and S = {v > a_j p}
            # is the worst
            at, height = self._knots(n)
            slopes = np.diff(height) / np.diff(at)
            heights = height[1:] - slopes * at[1:]
            excess = np.stack([np.maximum(w - a * p, 0.0).sum(-1) for a in slopes], -1)
            inside = (excess <= heights + tolerance).all(-1)
        total = w.sum(-1)
        if lower is None:
            return np.where(inside & (np.abs(total - 1) <= tolerance), 0.0, np.inf)
        if (lower != lower[0]).any():
            raise NoClosedForm(
                "the conjugate of a rank-weighted mean on f >= 0 after a shift that differs by "
                "client is a linear program; domain='native' has a closed form"
            )
        return np.where(inside, lower[0] * (total - 1), np.inf)


def rank_weights(f: Array, w: Array, p: Array | None, knots: tuple[Array, Array]) -> Array:
    """The weight of each client in rows f (r, n): w, given for descending losses, by rank; ties
    share evenly.

    With client weights p, rank k gets W(P_k) - W(P_(k-1)), where P_k is the share p of the k
    largest losses and W the concave piecewise linear function through the ``knots``; tied clients
    share in proportion to p.
    """
    order = np.argsort(-f, axis=-1)
    share = np.ones_like(f) if p is None else p[order]
    if p is None:
        weights = np.broadcast_to(w, f.shape)
    else:
        reached = np.cumsum(share, -1)
        reached[:, -1] = 1.0
        weights = np.diff(np.interp(reached, *knots), prepend=0.0)
    losses = np.take_along_axis(f, order, -1)
    new = np.diff(losses, prepend=np.inf) != 0
    by_rank = weights if new.all() else spread(weights, share, new)
    dual_weights = np.empty_like(f)
    np.put_along_axis(dual_weights, order, by_rank, -1)
    return dual_weights


def spread(weights: Array, share: Array, new: Array) -> Array:
    """Each run of ``weights``, whose starts ``new`` marks, in proportion to ``share``."""
    starts = np.flatnonzero(new)
    level = np.add.reduceat(weights.ravel(), starts) / np.add.reduceat(share.ravel(), starts)
    return np.repeat(level, np.diff(starts, append=new.size)).reshape(weights.shape) * share
