"""The Kolmogorov mean s⁻¹(mean of s(f)) for increasing s; some are the named objectives."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.aggregation._base import (
    Domain,
    NoClosedForm,
    NotAttained,
    Objective,
    Traits,
    mean,
    shared,
)
from fairfl.theory.aggregation._generator import Generator, generator
from fairfl.theory.aggregation.convex_function import computed_conjugate

# at most, of the bracket [min f, max f], where no inverse is given: floats allow no more
HALVINGS = 200


@dataclass(frozen=True, repr=False)
class KolmogorovMean(Objective):
    """A_s(f) = s^-1((1/n) sum_i s(f_i)), for s increasing on [lower, upper].

    ``s`` is a sympy expression in one symbol (inverse, derivative, traits and, for the families of
    the named objectives, the conjugate are worked out from it) or a function of arrays. For a
    function, ``derivative`` is needed by ``dual_weights``; without ``inverse``, A is found by
    bisection between min f and max f; ``convex`` may state the trait where it is not decided.
    Dual weights: s'(f_i) / (n s'(A(f))), the gradient, which maximises w.f - A*(w) where A_s is
    convex.
    A decreasing s gives the same mean as -s: pass that.

    The formulas are used as they stand: where s(f) overflows, ValueError, and where it underflows,
    so does A. The named objectives are the stable ones.
    Errors: ValueError for s not increasing or with several symbols, and losses outside [lower,
    upper]; NotAttained where s' is infinite or zero at a loss that counts; NoClosedForm for the
    conjugate of a general s whose mean is not convex; where it is, the conjugate is computed.
    Source: PropFair, eq. (9), section 4.1.
    """

    s: Any = None
    inverse: Any = None
    derivative: Any = None
    lower: float = -np.inf
    upper: float = np.inf
    convex: bool | None = None
    name: ClassVar[str] = "kolmogorov"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not -np.inf <= self.lower < self.upper <= np.inf:
            raise ValueError(f"lower must be below upper, got [{self.lower}, {self.upper}]")
        _ = self.generator  # its errors belong here

    def __getstate__(self) -> dict[str, object]:
        # compiled functions cannot be pickled
        return {k: v for k, v in self.__dict__.items() if k != "generator"}

    @classmethod
    def examples(cls) -> Iterable[Objective]:
        import sympy

        t = sympy.Symbol("t", real=True)
        return [
            cls(sympy.exp(t)),
            cls(-sympy.log(3 - t), upper=3.0),
            cls(t**2, lower=0.0),
            cls(1 / (3 - t), upper=3.0),  # the harmonic mean of the utilities 3 - f
            cls(sympy.log(t), lower=0.0),  # the geometric mean: concave
            cls(t + sympy.exp(t)),  # convex s, and yet not a convex mean
        ]

    @functools.cached_property
    def generator(self) -> Generator:
        """s with its inverse and derivatives, as functions of arrays."""
        return generator(
            self.s, self.inverse, self.derivative, float(self.lower), float(self.upper)
        )

    @property
    def domain(self) -> Domain:
        sides = [f"f_i >= {self.lower:g}"] if np.isfinite(self.lower) else []
        sides += [f"f_i <= {self.upper:g}"] if np.isfinite(self.upper) else []
        return Domain(self.lower, self.upper, " and ".join(sides) or "f in R^n")

    @property
    def traits(self) -> Traits:
        g, even = self.generator, self._uniform
        return Traits(
            convex=self.convex if g.convex is None else g.convex,
            symmetric=even,
            translation_equivariant=g.equivariant,
            positively_homogeneous=g.homogeneous,
            smooth=None if g.slope is None else True,
            schur_convex=g.s_convex if even else False,
        )

    @property
    def closed_conjugate(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.special_case is not None

    @property
    def special_case(self) -> Objective | None:
        """The named objective with the same mean, or None: s'/s'' fixes s up to an affine map."""
        case = self.generator.special_case
        return (
            case
            if case is None or self.client_weights is None
            else case.weighted(self.client_weights)
        )

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        g = self.generator
        if weights and g.slope is None:
            raise ValueError(
                "derivative must be given for dual weights, when s is a function; got None"
            )
        level = mean(g.s(f), p)
        value = self._inverted(f, level)
        if not np.isfinite(value).all():
            raise ValueError(
                "s must be finite at the losses and at their mean, got "
                f"{f.min():g} to {f.max():g}, where it overflows: the named objectives (TERM, "
                "QFFL, PropFair) are stable there"
            )
        if not weights or g.slope is None:
            return value, None
        slopes, at = g.slope(f), g.slope(value)
        same = (f == f[:, :1]).all(-1)
        # where all losses agree the weights are 1/n, also where s' is 0 or infinite there
        slopes, at = np.where(same[:, None], 1.0, slopes), np.where(same, 1.0, at)
        with np.errstate(invalid="ignore"):  # an infinite slope over another: refused below
            dual_weights = shared(slopes / at[:, None], p)
        if not np.isfinite(dual_weights).all():
            raise NotAttained(
                "losses must have s' finite there and positive at their mean for dual weights to "
                "exist"
            )
        return value, dual_weights

    def _inverted(self, f: Array, level: Array) -> Array:
        g = self.generator
        if g.inverse is not None:
            return g.inverse(level)
        low, high = f.min(-1), f.max(-1)
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2
            below = g.s(middle) < level
            moved = np.where(below, middle != low, middle != high)
            low, high = np.where(below, middle, low), np.where(below, high, middle)
            if not moved.any():
                break
        return high

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        case = self.special_case
        if case is None:
            if not self.traits.convex:
                raise NoClosedForm(
                    "conjugate has a closed form for linear, exponential, power and logarithmic s "
                    f"only, and is computed where the mean is convex, got s = {self.s}; "
                    "maximise w.f - A(f) numerically"
                )
            return computed_conjugate(self, w, lower)
        return case._conjugate(w, lower, p, tolerance)
