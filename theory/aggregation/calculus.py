"""Translation, scaling and perspective of an objective, which together make one form."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats, positive, shown, single
from fairfl.theory.aggregation._base import Domain, Objective, Traits, short


@dataclass(frozen=True, repr=False)
class Transformed(Objective):
    """B(f) = factor unit A((f - shift) / unit), for ``shift`` a number or one per client (such as
    each client's own best loss), and ``factor`` and ``unit`` > 0. A change of a change is again of
    this form.

    Dual weights: factor times A's at (f - shift) / unit. B*(w) = factor unit A*(w / factor) +
    w.shift, on f >= 0 with A's supremum over the losses g >= -shift / unit. In other units TERM(α)
    is TERM(α / unit), PropFair(M) is PropFair(unit M), and what is positively homogeneous stays.
    Client weights are the inner objective's.

    Errors: ValueError for a shift that is not finite or not (n,), and for a factor that is not
    positive and finite.
    """

    inner: Objective
    shift: Any = 0.0
    factor: float = 1.0
    unit: float = 1.0

    def __post_init__(self) -> None:
        shift = as_floats("shift", self.shift)
        if shift.ndim > 1 or shift.size == 0 or not np.isfinite(shift).all():
            raise ValueError(
                f"shift must be one finite number, or one per client, got {shown(self.shift)}"
            )
        n = self.inner._fixed_n
        if shift.ndim == 1 and n is not None and len(shift) != n:
            raise ValueError(
                f"shift must have n = {n} numbers ({self.inner._why_n}), got {len(shift)}"
            )
        for number in (self.factor, self.unit):
            positive("factor", single("factor", number))
        inner, factor, unit = self.inner, self.factor, self.unit
        if isinstance(inner, Transformed):
            shift = shift + unit * np.asarray(inner.shift)
            inner, factor, unit = inner.inner, factor * inner.factor, unit * inner.unit
        fields = {
            "inner": inner,
            "shift": tuple(shift.tolist()) if shift.ndim else float(shift),
            "factor": factor,
            "unit": unit,
            "client_weights": inner.client_weights,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        text = repr(self.inner)
        text += f".perspective({self.unit:g})" if self.unit != 1 else ""
        text += f".scale({self.factor:g})" if self.factor != 1 else ""
        return text + (f".translate({short(self.shift)})" if np.any(self.shift) else "")

    @property
    def takes_client_weights(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.inner.takes_client_weights

    def weighted(self, p: ArrayLike) -> Self:
        return dataclasses.replace(self, inner=self.inner.weighted(p))

    @property
    def _fixed_n(self) -> int | None:
        return len(self.shift) if isinstance(self.shift, tuple) else self.inner._fixed_n

    @property
    def _why_n(self) -> str:
        return "as many as shift" if isinstance(self.shift, tuple) else self.inner._why_n

    @property
    def domain(self) -> Domain:
        box, shift = self.inner.domain, np.asarray(self.shift)
        if not shift.any() and self.unit == 1:
            return box
        words = f"(f - {self.shift}) / {self.unit:g} in {{{box.words}}}"
        return Domain(box.lower * self.unit + shift, box.upper * self.unit + shift, words)

    @property
    def traits(self) -> Traits:
        inner = self.inner.traits
        # a weighted sum: equivariant, homogeneous and smooth at once
        affine = bool(
            inner.translation_equivariant and inner.positively_homogeneous and inner.smooth
        )
        shifts_are_equal = len(set(np.ravel(self.shift))) == 1
        # with shifts that differ, AFL and the like lose their symmetry; a weighted sum does not
        symmetries = {
            name: value if shifts_are_equal or affine else (False if value else None)
            for name in ("symmetric", "schur_convex")
            for value in [getattr(inner, name)]
        }
        homogeneous = inner.positively_homogeneous
        if np.any(self.shift):
            homogeneous = False if homogeneous else None
            if affine and isinstance(self.shift, tuple):
                p = self.client_weights
                homogeneous = None if p is None else bool(np.dot(p, self.shift) == 0)
        equivariant = inner.translation_equivariant
        if self.factor != 1:
            equivariant = False if equivariant else None
        return dataclasses.replace(
            inner,
            **symmetries,
            positively_homogeneous=homogeneous,
            translation_equivariant=equivariant,
        )

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        g = (f - np.asarray(self.shift)) / self.unit
        value, w = self.inner._compute(g, p, weights=weights)
        return value * (self.factor * self.unit), None if w is None else w * self.factor

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        shift = np.broadcast_to(np.asarray(self.shift), w.shape[-1:])
        if lower is not None:  # rounding may lead out of the inner domain
            lower = np.maximum((lower - shift) / self.unit, self.inner.domain.lower)
        conjugate = self.inner._conjugate(w / self.factor, lower, p, tolerance)
        return self.factor * self.unit * conjugate + w @ shift
