"""Objective: the common part of all objectives, with value, dual weights, conjugate and traits."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats, finite, in_range, one_of, plain
from fairfl._support.registry import Named, Registry

CONSTRAINT_TOLERANCE = 1e-10
"""Largest violation of a dual constraint that counts as rounding, relative to its bound of one."""
SUM_TOLERANCE = 1e-10
"""How far a sum of weights given by the user may be from one."""
OBJECTIVES: Registry[type[Objective]] = Registry("objectives", "fairfl.theory.aggregation")


class NotAttained(ValueError):
    """There are no dual weights: the supremum that defines them is approached, and not attained."""


class NoClosedForm(NotImplementedError):
    """The conjugate asked for has no closed form here; a numeric maximisation is the way to it."""


@dataclass(frozen=True)
class Domain:
    """The box {f : lower <= f_i <= upper} of an objective; the bounds are numbers or (n,)."""

    lower: Array | float = -np.inf
    upper: Array | float = np.inf
    words: str = "f in R^n"

    def contains(self, losses: ArrayLike) -> Array:
        """Whether each loss vector of shape (..., n) is finite and inside: booleans (...)."""
        f = np.asarray(losses, dtype=np.float64)
        return np.all(np.isfinite(f) & (f >= self.lower) & (f <= self.upper), axis=-1)


@dataclass(frozen=True, kw_only=True)
class Traits:
    """Properties on the native domain, for n >= 2 clients. None: not decided.

    convex, symmetric (under permutations), translation_equivariant (A(f + t1) = A(f) + t),
    positively_homogeneous (A(cf) = cA(f), c > 0), smooth (continuously differentiable inside the
    domain; *not* PropFair's "L-smooth", which also bounds the gradient's slope), schur_convex (A(f)
    <= A(g) where f is majorised by g).
    """

    convex: bool | None
    symmetric: bool | None
    translation_equivariant: bool | None
    positively_homogeneous: bool | None
    smooth: bool | None
    schur_convex: bool | None


@dataclass(frozen=True)
class Objective(Named, ABC):
    """An aggregation A of the losses f_1..f_n of the clients into one number, to be minimised.

    ``losses`` have shape (..., n), the last axis the clients; ``dual_weights`` the same shape,
    ``value`` the leading one, all float64. ``client_weights`` (p_k > 0, sum one) replace the 1/n of
    every mean: see ``weighted``. A new objective is a file with a subclass that has a ``name``.

    Errors: ValueError for losses that are empty, NaN, infinite or outside ``domain``; NotAttained
    (a ValueError) where there are no dual weights. Nothing is clipped.
    """

    registry = OBJECTIVES
    closed_conjugate: ClassVar[bool] = True
    """Whether the conjugate has a closed form; else it is computed."""
    takes_client_weights: ClassVar[bool] = True
    """Whether ``weighted`` gives the objective under client weights; else it is an error."""
    client_weights: tuple[float, ...] | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.client_weights is not None:
            client_weights = probabilities("client_weights", self.client_weights, positive=True)
            object.__setattr__(self, "client_weights", client_weights)

    def __repr__(self) -> str:
        return self._own_repr() + (
            "" if self.client_weights is None else f".weighted({short(self.client_weights)})"
        )

    def _own_repr(self) -> str:
        shown = [field for field in dataclasses.fields(self) if field.name != "client_weights"]
        pairs = [(field.name, getattr(self, field.name)) for field in shown]
        arguments = ", ".join(
            f"{name}={short(value)}" for name, value in pairs if value is not None
        )
        return f"{type(self).__name__}({arguments})"

    @classmethod
    def examples(cls) -> Iterable[Objective]:
        """Instances that show the family, for tests and figures."""
        return [cls()]

    # -- what a subclass gives

    @property
    def domain(self) -> Domain:
        """The native domain, as a box with words and a predicate ``contains``: R^n by default."""
        return Domain()

    @property
    @abstractmethod
    def traits(self) -> Traits:
        """Properties on the native domain."""

    @abstractmethod
    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        """A of rows f (r, n) in the domain, dual weights if asked; p (n,), None for 1/n."""

    @abstractmethod
    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        """sup of w.f - A(f) over f in the native domain with f >= lower (n,), None: not bounded
        from below; for rows w (r, n) and client weights p (n,).
        """

    # -- values and weights

    def value(self, losses: ArrayLike) -> Any:
        """A(f), shape (...): of the named objectives a generalised mean, min f <= A(f) <= max f and
        A(t, ..., t) = t; ``translate`` and ``scale`` make of it what they say.
        """
        return self._rows(losses, weights=False)[0]

    def dual_weights(self, losses: ArrayLike) -> Any:
        """The maximiser w (..., n) of w.f - A*(w), which is the gradient of A where there is one;
        of several the one that treats tied clients alike. NotAttained where there is none.
        """
        return self._rows(losses)[1]

    def value_and_dual_weights(self, losses: ArrayLike) -> tuple[Any, Any]:
        """``value`` and ``dual_weights`` in one pass."""
        return self._rows(losses)

    # -- duality

    def conjugate(
        self, weights: ArrayLike, domain: str = "native", *, tolerance: float = CONSTRAINT_TOLERANCE
    ) -> Any:
        """A*(w) = sup of w.f - A(f), over the native domain or over its part with f >= 0; +inf
        where unbounded.

        ``weights`` (..., n), any finite numbers; result (...). A constraint counts as met when it
        is missed by no more than ``tolerance``, relative to its bound. Errors: ValueError for
        another domain, NaN, a wrong n, or a domain without f >= 0 inside it; NoClosedForm.
        """
        one_of("domain", domain, ("native", "nonnegative"))
        in_range("tolerance", tolerance, 0.0, np.inf, open_high=True)
        w = finite("weights", weights)
        shape_of("weights", w.shape, self._fixed_n, self._why_n)
        n, box = w.shape[-1], self.domain
        lower = np.broadcast_to(np.maximum(box.lower, -np.inf if domain == "native" else 0.0), (n,))
        if (lower >= box.upper).any():
            raise ValueError(
                f"domain 'nonnegative' needs losses f >= 0 inside {{{box.words}}}, and there are "
                "none"
            )
        p = np.asarray(self.client_weights or [1.0 / n] * n)
        bounds = None if np.isneginf(lower).all() else lower
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            suprema = self._conjugate(w.reshape(-1, n), bounds, p, tolerance)
        return suprema.reshape(w.shape[:-1])[()]

    # -- calculus

    def weighted(self, p: ArrayLike) -> Self:
        """The same mean under client weights p_k > 0, sum one: s^-1(sum_k p_k s(f_k)) instead of
        1/n each (q-FFL, eq. (2)). Weighting again replaces the weights.
        """
        return dataclasses.replace(self, client_weights=probabilities("p", p, positive=True))

    def translate(self, shift: ArrayLike) -> Objective:
        """B(f) = A(f - shift), shift a number or one per client; B*(w) = A*(w) + w.shift."""
        from fairfl.theory.aggregation.calculus import Transformed

        return Transformed(self, shift)

    def scale(self, factor: float) -> Objective:
        """B(f) = factor A(f), factor > 0; B*(w) = factor A*(w / factor)."""
        from fairfl.theory.aggregation.calculus import Transformed

        return Transformed(self, factor=factor)

    def perspective(self, factor: float) -> Objective:
        """B(f) = factor A(f / factor), factor > 0; B*(w) = factor A*(w)."""
        from fairfl.theory.aggregation.calculus import Transformed

        return Transformed(self, unit=factor)

    # -- the machinery

    def _traits_of_mean(
        self, *, translation_equivariant: bool, positively_homogeneous: bool, smooth: bool = True
    ) -> Traits:
        """Traits of a convex mean that is symmetric up to the clients' weights."""
        return Traits(
            convex=True,
            symmetric=self._uniform,
            translation_equivariant=translation_equivariant,
            positively_homogeneous=positively_homogeneous,
            smooth=smooth,
            schur_convex=self._uniform,
        )

    @property
    def _fixed_n(self) -> int | None:
        return None if self.client_weights is None else len(self.client_weights)

    @property
    def _why_n(self) -> str:
        return "as many as client_weights"

    @property
    def _uniform(self) -> bool:
        return self.client_weights is None or len(set(self.client_weights)) == 1

    def _rows(self, losses: ArrayLike, *, weights: bool = True) -> tuple[Any, Any]:
        """Check the losses; the value, and the dual weights if asked."""
        x = as_floats("losses", losses)
        shape_of("losses", x.shape, self._fixed_n, self._why_n)
        f, box = x.reshape(-1, x.shape[-1]), self.domain
        is_outside = ~(np.isfinite(x) & (x >= box.lower) & (x <= box.upper))
        if is_outside.any():
            at = tuple(np.argwhere(is_outside)[0].tolist())
            raise ValueError(
                f"losses must be finite, with {box.words} for {self!r}, got {x[at]} at index {at}"
            )
        # exp(-inf) = 0 and log 0 are meant
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            p = None if self.client_weights is None else np.asarray(self.client_weights)
            value, w = self._compute(f, p, weights=weights)
        return value.reshape(x.shape[:-1])[()], None if w is None else w.reshape(x.shape)


def mean(x: Array, p: Array | None) -> Array:
    """sum_i p_i x_i over the last axis; p = None stands for 1/n."""
    return x.sum(-1) / x.shape[-1] if p is None else x @ p


def shared(x: Array, p: Array | None) -> Array:
    """p_i x_i; p = None stands for 1/n."""
    return x / x.shape[-1] if p is None else x * p


def short(value: object) -> str:
    """The repr, long tuples cut."""
    if isinstance(value, tuple) and len(value) > 4:
        return f"({', '.join(map(plain, value[:3]))}, ... {len(value)} numbers)"
    return plain(value)


def shape_of(name: str, shape: Sequence[int], n: int | None, reason: str) -> None:
    """ValueError unless ``shape`` is (..., n), n at least one, and the given n if there is one."""
    if len(shape) == 0 or shape[-1] == 0:
        raise ValueError(
            f"{name} must have shape (..., n) with n >= 1 clients on the last axis, got "
            f"{tuple(shape)}"
        )
    if n is not None and shape[-1] != n:
        raise ValueError(
            f"{name} must have n = {n} clients on the last axis ({reason}), got shape "
            f"{tuple(shape)}"
        )


def probabilities(name: str, values: ArrayLike, *, positive: bool) -> tuple[float, ...]:
    """Weights in [0, 1], or (0, 1], that sum to one within SUM_TOLERANCE; never renormalised."""
    array = in_range(name, values, 0.0, 1.0, open_low=positive)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a vector of at least one weight, got shape {array.shape}")
    if abs(array.sum() - 1) > SUM_TOLERANCE:
        raise ValueError(
            f"{name} must sum to one (within {SUM_TOLERANCE:g}), got a sum of {array.sum():.12g}"
        )
    return tuple(array.tolist())


def objectives() -> dict[str, type[Objective]]:
    """The objective classes by name: those of this folder, and imported or offered ones."""
    return OBJECTIVES.parts()
