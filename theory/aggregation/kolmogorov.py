"""The Kolmogorov mean s⁻¹(mean of s(f)) for increasing s; some are the named objectives."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairfl._support.checks import Array, applied
from fairfl.theory.aggregation._base import (
    Domain,
    NoClosedForm,
    NotAttained,
    Objective,
    Traits,
    mean,
    shared,
)
from fairfl.theory.aggregation.convex_function import computed_conjugate

HALVINGS = 200
"""At most, of the bracket [min f, max f], where no inverse is given: floats allow no more."""
SAMPLES, REACH = 41, 30.0
"""Points at which s must rise, and how far out they are where the domain has no end."""
Function = Callable[[Array], Array]


@dataclass(frozen=True, repr=False)
class KolmogorovMean(Objective):
    """A_s(f) = s^-1((1/n) sum_i s(f_i)), for s increasing on [lower, upper].

    ``s``, its ``inverse`` and its ``derivative`` are functions of arrays. ``derivative`` is needed
    by ``dual_weights``; without ``inverse``, A is computed by bisection between min f and max f.
    ``convex`` states whether A is, as it is iff s is linear, or s'' > 0 and -s'/s'' is convex
    (Ben-Tal and Teboulle, 1986): then the conjugate is computed, to about 1e-8.
    Dual weights: s'(f_i) / (n s'(A(f))), the gradient, which maximises w.f - A*(w) where A_s is
    convex. A decreasing s gives the same mean as -s: pass that.

    The formulas are used as they stand: where s(f) overflows, ValueError, and where it underflows,
    so does A. The named objectives are the stable ones, with closed conjugates.
    Errors: ValueError for s not increasing, and losses outside [lower, upper]; NotAttained where s'
    is infinite or zero at a loss that counts; NoClosedForm for the conjugate of a mean that is not
    ``convex``. Source: PropFair, eq. (9), section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfl.theory.aggregation import KolmogorovMean
    >>> geometric = KolmogorovMean(np.log, np.exp, np.reciprocal, lower=0.0, convex=False)
    >>> geometric.value([1.0, 4.0]).round(12), geometric.dual_weights([1.0, 4.0]).round(12)
    (np.float64(2.0), array([1.  , 0.25]))
    """

    s: Function
    inverse: Function | None = None
    derivative: Function | None = None
    lower: float = -np.inf
    upper: float = np.inf
    convex: bool | None = None
    name: ClassVar[str] = "kolmogorov"
    closed_conjugate = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not -np.inf <= self.lower < self.upper <= np.inf:
            raise ValueError(f"lower must be below upper, got [{self.lower}, {self.upper}]")
        for name in ("s", "inverse", "derivative"):
            function = getattr(self, name)
            if not callable(function) and (name == "s" or function is not None):
                raise ValueError(f"{name} must be a function, got {function!r}")
        low = max(self.lower, min(self.upper, 0.0) - REACH)
        points = np.linspace(low, min(self.upper, max(low, 0.0) + REACH), SAMPLES + 2)[1:-1]
        with np.errstate(all="ignore"):
            values = applied("s", self.s, points)
        if np.isnan(values).any():
            raise ValueError("s must be real between lower and upper, got NaN")
        seen = np.isfinite(values)  # overflow is met when it happens, at the losses
        steps = np.diff(values[seen])
        if (steps < 0).any() or (steps == 0).all():
            at = points[seen][int(np.argmin(steps))] if steps.size else np.nan
            raise ValueError(
                "s must be increasing (a decreasing s gives the same mean as -s), got s falling at "
                f"{at:g}"
            )

    @classmethod
    def examples(cls) -> Iterable[Objective]:
        return [
            cls(np.exp, np.log, np.exp, convex=True),
            cls(np.log, np.exp, np.reciprocal, lower=0.0, convex=False),  # the geometric mean
        ]

    @property
    def domain(self) -> Domain:
        sides = [f"f_i >= {self.lower:g}"] if np.isfinite(self.lower) else []
        sides += [f"f_i <= {self.upper:g}"] if np.isfinite(self.upper) else []
        return Domain(self.lower, self.upper, " and ".join(sides) or "f in R^n")

    @property
    def traits(self) -> Traits:
        return Traits(
            convex=self.convex,
            symmetric=self._uniform,
            translation_equivariant=None,
            positively_homogeneous=None,
            smooth=None if self.derivative is None else True,
            schur_convex=(True if self.convex else None) if self._uniform else False,
        )

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        level = mean(self.s(f), p)
        value = self._bisected(f, level) if self.inverse is None else self.inverse(level)
        if not np.isfinite(value).all():
            raise ValueError(
                "s must be finite at the losses and at their mean, got "
                f"{f.min():g} to {f.max():g}, where it overflows: the named objectives (TERM, "
                "QFFL, PropFair) are stable there"
            )
        if not weights:
            return value, None
        if self.derivative is None:
            raise ValueError("derivative must be given for dual weights, got None")
        # where all losses agree the weights are 1/n, also where s' is 0 or infinite there
        same = (f == f[:, :1]).all(-1)
        slopes = np.where(same[:, None], 1.0, self.derivative(f))
        at = np.where(same, 1.0, self.derivative(value))
        with np.errstate(invalid="ignore"):  # an infinite slope over another: refused below
            dual_weights = shared(slopes / at[:, None], p)
        if not np.isfinite(dual_weights).all():
            raise NotAttained(
                "losses must have s' finite there and positive at their mean for dual weights to "
                "exist"
            )
        return value, dual_weights

    def _bisected(self, f: Array, level: Array) -> Array:
        low, high = f.min(-1), f.max(-1)
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2
            below = self.s(middle) < level
            moved = np.where(below, middle != low, middle != high)
            low, high = np.where(below, middle, low), np.where(below, high, middle)
            if not moved.any():
                break
        return high

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        if not self.convex:
            raise NoClosedForm(
                "conjugate is computed where the mean is convex, which convex=True states, got "
                f"convex={self.convex}; maximise w.f - A(f) numerically"
            )
        return computed_conjugate(self, w, lower)
