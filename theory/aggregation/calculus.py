"""Translation, scaling and perspective of an objective, with domain, traits and conjugate."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fairfl._support.checks import Array, shown
from fairfl.theory.aggregation import _checks as checks
from fairfl.theory.aggregation._base import Objective
from fairfl.theory.aggregation._describe import Domain, DualConstraint, Traits


@dataclass(frozen=True, repr=False)
class Derived(Objective):
    """An objective made from ``inner``; it takes its client weights from there."""

    inner: Objective

    def __post_init__(self) -> None:
        object.__setattr__(self, "client_weights", self.inner.client_weights)

    def __repr__(self) -> str:
        return self._own_repr()

    def weighted(self, p: Any) -> Self:
        return dataclasses.replace(self, inner=self.inner.weighted(p))

    @property
    def _fixed_n(self) -> int | None:
        return self.inner._fixed_n

    @property
    def _why_n(self) -> str:
        return self.inner._why_n

    def _constraint(self, words: str) -> DualConstraint:
        """The dual constraint of the inner objective, under another name for the weights."""
        inner = self.inner.dual_constraint
        return DualConstraint(self, f"{inner.native}{words}", f"{inner.nonnegative}{words}")


@dataclass(frozen=True, repr=False)
class Translated(Derived):
    """B(f) = A(f - shift), shift a number or one per client (such as each client's own best loss).

    B*(w) = A*(w) + w.shift on the native domain; on f >= 0 it is w.shift plus A's supremum over g
    >= -shift. Dual weights: those of A at f - shift. Errors: ValueError for a shift that is not
    finite or not (n,).
    """

    shift: Any = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        shift = np.asarray(checks.as_array("shift", self.shift), dtype=np.float64)
        if shift.ndim > 1 or shift.size == 0 or not np.isfinite(shift).all():
            raise ValueError(
                f"shift must be one finite number, or one per client, got {shown(self.shift)}"
            )
        n = self.inner._fixed_n
        if shift.ndim == 1 and n is not None and len(shift) != n:
            raise ValueError(
                f"shift must have n = {n} numbers ({self.inner._why_n}), got {len(shift)}"
            )
        object.__setattr__(
            self, "shift", float(shift) if shift.ndim == 0 else tuple(shift.tolist())
        )

    @property
    def _fixed_n(self) -> int | None:
        return len(self.shift) if isinstance(self.shift, tuple) else self.inner._fixed_n

    @property
    def _why_n(self) -> str:
        return "as many as shift" if isinstance(self.shift, tuple) else self.inner._why_n

    @property
    def domain(self) -> Domain:
        return self.inner.domain.shifted(
            np.asarray(self.shift) if isinstance(self.shift, tuple) else self.shift
        )

    @property
    def traits(self) -> Traits:
        alike = not isinstance(self.shift, tuple) or len(set(self.shift)) == 1
        return dataclasses.replace(
            self.inner.traits,
            symmetric=self._symmetric(self.inner.traits.symmetric, alike),
            schur_convex=self._symmetric(self.inner.traits.schur_convex, alike),
            positively_homogeneous=self._homogeneous(),
        )

    def _symmetric(self, inner: bool | None, alike: bool) -> bool | None:
        # With shifts that differ, AFL and the like lose their symmetry and the mean of FedAvg does
        # not.
        if alike:
            return inner
        return inner if _affine(self.inner) else (False if inner else None)

    def _homogeneous(self) -> bool | None:
        if not np.any(self.shift):
            return self.inner.traits.positively_homogeneous
        if _affine(self.inner) and isinstance(self.shift, tuple):
            return (
                None
                if self.client_weights is None
                else bool(np.dot(self.client_weights, self.shift) == 0)
            )
        return False if self.inner.traits.positively_homogeneous else None

    @property
    def dual_constraint(self) -> DualConstraint:
        return self._constraint("")

    def _compute(self, f: Array, p: Array | None, weights: bool) -> tuple[Any, Any]:
        return self.inner._compute(f - np.asarray(self.shift, f.dtype), p, weights)

    def _conjugate(
        self, w: np.ndarray, lower: np.ndarray | None, p: np.ndarray, tolerance: float
    ) -> np.ndarray:
        shift = np.broadcast_to(np.asarray(self.shift), w.shape[-1:])
        # rounding may lead out of the inner domain
        below = None if lower is None else np.maximum(lower - shift, self.inner.domain.lower)
        return self.inner._conjugate(w, below, p, tolerance) + w @ shift

    def _unique(self, f: np.ndarray) -> bool:
        return self.inner._unique(f - np.asarray(self.shift))

    def _set_words(self, f: np.ndarray) -> str:
        return self.inner._set_words(f - np.asarray(self.shift))


@dataclass(frozen=True, repr=False)
class Scaled(Derived):
    """B(f) = factor A(f), factor > 0: dual weights factor times A's, B*(w) = factor A*(w / factor).

    Errors: ValueError for a factor that is not positive and finite.
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.number("factor", self.factor, "a finite number > 0", lambda c: 0 < c < np.inf)

    @property
    def domain(self) -> Domain:
        return self.inner.domain

    @property
    def traits(self) -> Traits:
        inner = self.inner.traits
        if self.factor == 1:
            return inner
        return dataclasses.replace(
            inner, translation_equivariant=False if inner.translation_equivariant else None
        )

    @property
    def dual_constraint(self) -> DualConstraint:
        return self._constraint("" if self.factor == 1 else f", with w / {self.factor:g} for w")

    def _compute(self, f: Array, p: Array | None, weights: bool) -> tuple[Any, Any]:
        value, w = self.inner._compute(f, p, weights)
        return value * self.factor, None if w is None else w * self.factor

    def _conjugate(
        self, w: np.ndarray, lower: np.ndarray | None, p: np.ndarray, tolerance: float
    ) -> np.ndarray:
        return self.factor * self.inner._conjugate(w / self.factor, lower, p, tolerance)

    def _unique(self, f: np.ndarray) -> bool:
        return self.inner._unique(f)

    def _set_words(self, f: np.ndarray) -> str:
        return self.inner._set_words(f) + ("" if self.factor == 1 else f", times {self.factor:g}")


@dataclass(frozen=True, repr=False)
class Perspective(Derived):
    """B(f) = factor A(f / factor), factor > 0: dual weights those of A at f / factor, B*(w) =
    factor A*(w).

    So TERM(alpha) becomes TERM(alpha / factor), PropFair(M) becomes PropFair(factor M), and what is
    positively homogeneous stays. Errors: ValueError for a factor that is not positive and finite.
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.number("factor", self.factor, "a finite number > 0", lambda c: 0 < c < np.inf)

    @property
    def domain(self) -> Domain:
        return self.inner.domain.stretched(self.factor)

    @property
    def traits(self) -> Traits:
        return self.inner.traits

    @property
    def dual_constraint(self) -> DualConstraint:
        return self._constraint("")

    def _compute(self, f: Array, p: Array | None, weights: bool) -> tuple[Any, Any]:
        value, w = self.inner._compute(f / self.factor, p, weights)
        return value * self.factor, w

    def _conjugate(
        self, w: np.ndarray, lower: np.ndarray | None, p: np.ndarray, tolerance: float
    ) -> np.ndarray:
        below = None if lower is None else lower / self.factor
        return self.factor * self.inner._conjugate(w, below, p, tolerance)

    def _unique(self, f: np.ndarray) -> bool:
        return self.inner._unique(f / self.factor)

    def _set_words(self, f: np.ndarray) -> str:
        return self.inner._set_words(f / self.factor)


def _affine(objective: Objective) -> bool:
    """Whether the traits say that A is a weighted sum: equivariant, homogeneous and smooth at
    once.
    """
    t = objective.traits
    return bool(t.translation_equivariant and t.positively_homogeneous and t.smooth)
