"""Piecewise Chebyshev series on adaptive panels: values, roots, and integrals exact to rounding.

A solver's functions are expanded once on common panels; integrals, linear combinations and roots
are then linear algebra on coefficients.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev

from fairfl._support.checks import Array

DEGREE = 15
NODES = chebyshev.chebpts1(DEGREE + 1)
"""Chebyshev points of the first kind: interior, as a pole may be on a panel's end."""
_ALL = np.eye(DEGREE + 1)
"""Row k: the coefficients of T_k."""
TO_COEFFICIENTS = (
    chebyshev.chebvander(NODES, DEGREE) * np.append(1.0, np.full(DEGREE, 2.0)) / (DEGREE + 1)
)
SHARES = TO_COEFFICIENTS @ chebyshev.chebval(1.0, chebyshev.chebint(_ALL, lbnd=-1, axis=1).T)
"""values @ SHARES: the integral over [-1, 1] of a series from its values at NODES."""
DERIVATIVE = np.pad(chebyshev.chebder(_ALL, axis=1), ((0, 0), (0, 1))).round()  # whole numbers
"""c @ DERIVATIVE: coefficients of the derivative in the local coordinate."""
TAIL_TOLERANCE = 2e-16
"""Largest truncation error of a panel's integral, by its last coefficients, to that of the line."""
MASS_TOLERANCE = 1e-13
"""Largest |∫ p - (F(b) - F(a))| on a panel, on that scale: it detects a spike between nodes."""
ROUNDING = 1e-15
"""Relative accuracy of a panel's own integral; more is not asked for."""
MAX_PANELS = 100_000
"""A law with more unresolved panels is refused."""
BLOCK = 16_384
"""Points whose integrals are computed at a time; it bounds the memory."""
NEGLIGIBLE = 1e-18
"""A panel in which every function has a smaller integral, on the same scale, is not refined."""


def chebyshev_values(xi: Array, count: int) -> Array:
    """T_0..T_{count-1} at xi in [-1, 1]: shape (count, *xi.shape)."""
    if xi.size <= 128:  # on few points 2 to 7 times as fast as numpy's recurrence
        return np.cos(np.multiply.outer(np.arange(count), np.arccos(xi)))
    return np.moveaxis(chebyshev.chebvander(xi, count - 1), -1, 0)


JUMP = 1e-9
"""Of the largest coefficient: smaller steps between panels are rounding."""


@dataclass(frozen=True)
class Piecewise:
    """J functions on P panels: ``edges`` (P+1,) increasing, ``coefficients`` (J, P, 16).

    Outside [edges[0], edges[-1]] every function counts as zero. ``error`` (J,) estimates (by the
    last coefficients and the exact masses) the errors of integrals over whole panels, ``inner``
    (J, P) those of integrals that end inside a panel.
    """

    edges: Array
    coefficients: Array
    error: Array
    inner: Array

    def __post_init__(self) -> None:
        half = np.diff(self.edges) / 2
        rising = chebyshev.chebint(self.coefficients, lbnd=-1, axis=-1) * half[:, None]
        totals = rising.sum(axis=-1)
        above = np.zeros((totals.shape[0], totals.shape[1] + 1))
        above[:, :-1] = np.cumsum(totals[:, ::-1], axis=1)[:, ::-1]
        object.__setattr__(self, "_rising", rising)
        object.__setattr__(self, "_above", above)

    _rising: Array = None  # type: ignore[assignment]
    _above: Array = None  # type: ignore[assignment]

    def locate(self, t: Array) -> tuple[Array, Array]:
        """Panel index and local coordinate in [-1, 1] of each t (clipped to the ends)."""
        k = np.searchsorted(self.edges[1:-1], t, side="right")
        low, high = self.edges[k], self.edges[k + 1]
        return k, np.minimum(np.maximum((2 * t - low - high) / (high - low), -1.0), 1.0)

    def error_at(self, cuts: Array) -> Array:
        """(J,) errors of integrals that end at all these cuts: whole panels', and the cuts'."""
        panel, inside = self._ended(np.ravel(np.asarray(cuts, dtype=np.float64)))
        return self.error + self.inner[:, np.unique(panel[inside])].sum(axis=1)

    def errors_at(self, cuts: Array) -> Array:
        """The largest ``error_at`` of each cut (T,) by itself."""
        panel, inside = self._ended(cuts)
        inner = np.where(inside, self.inner[:, panel], 0.0)
        return (self.error[:, None] + inner).max(axis=0)

    def _ended(self, cuts: Array) -> tuple[Array, Array]:
        """(T,) the panels, and whether cuts are inside: at the ends, poles or not, nothing errs."""
        k = np.searchsorted(self.edges[1:-1], cuts, side="right")
        return k, (self.edges[k] < cuts) & (cuts < self.edges[k + 1])

    def above(self, t: Array, first: int | None = None) -> Array:
        """∫_t^∞ of every function, or of the ``first`` ones: shape (J, *t.shape); t may be ±inf."""
        t = np.asarray(t, dtype=np.float64)
        flat = np.ravel(t)
        out = np.empty((len(self._above[:first]), flat.size))
        for start in range(0, flat.size, BLOCK):
            part = slice(start, start + BLOCK)
            k, xi = self.locate(flat[part])
            terms = chebyshev_values(xi, self._rising.shape[-1])
            inside = np.einsum("jtn,nt->jt", self._rising[:first, k, :], terms)
            out[:, part] = self._above[:first, k] - inside
        return out.reshape(len(out), *t.shape)

    def values(self, t: Array) -> Array:
        """Every function at t: shape (J, *t.shape)."""
        t = np.asarray(t, dtype=np.float64)
        flat = np.ravel(t)
        k, xi = self.locate(flat)
        out = np.einsum("jtn,nt->jt", self.coefficients[:, k, :], chebyshev_values(xi, DEGREE + 1))
        outside = (flat < self.edges[0]) | (flat > self.edges[-1])
        return np.where(outside, 0.0, out).reshape(self._above.shape[0], *t.shape)

    def at(self, t: Array, first: int = 0, last: int = 3) -> Array:
        """Rows ``first`` to ``last`` of: the integral above t, the value, the first and the second
        derivative, of every function at few finite t (T,): shape (last - first, J, T).
        """
        k, xi = self.locate(t)
        series = self._series[first:last, :, k]
        out = np.einsum("qjtn,nt->qjt", series, chebyshev_values(xi, DEGREE + 2))
        out[max(1 - first, 0) :] *= (t >= self.edges[0]) & (t <= self.edges[-1])
        return out

    @cached_property
    def _series(self) -> Array:
        """(4, J, P, 17) coefficients of integrals above t, functions, and two derivatives."""
        out = np.zeros((4, *self._rising.shape))
        out[0] = -self._rising
        out[0, ..., 0] += self._above[:, :-1]
        out[1, ..., :-1] = self.coefficients
        turned = DERIVATIVE * (2.0 / np.diff(self.edges)[:, None, None])
        for order in (2, 3):
            out[order, ..., :-1] = (out[order - 1, ..., None, :-1] @ turned)[..., 0, :]
        return out

    def cells(self) -> Array:
        """Integrals over four cells of each panel, around four nodes each: shape (J, 4 P)."""
        half = np.diff(self.edges) / 2
        values = self.coefficients @ chebyshev_values(NODES, DEGREE + 1)
        nodes = values * (half[:, None] * SHARES)
        return nodes.reshape(len(values), -1, 4).sum(axis=2)

    def combined(self, weights: Array) -> Array:
        """Coefficients (B, P, 16) of the combinations Σ_j weights[b, j] F_j."""
        flat = self.coefficients.reshape(self.coefficients.shape[0], -1)
        return (weights @ flat).reshape(len(weights), *self.coefficients.shape[1:])

    @cached_property
    def sizes(self) -> Array:
        """(J, P) largest coefficient of every function on every panel."""
        return np.abs(self.coefficients).max(axis=-1)

    @cached_property
    def jumps(self) -> Array:
        """The edges at which a function jumps by more than ``JUMP`` of its largest coefficient."""
        signs = (-1.0) ** np.arange(self.coefficients.shape[-1])
        first, last = (self.coefficients * signs).sum(axis=-1), self.coefficients.sum(axis=-1)
        height = np.abs(np.pad(first, ((0, 0), (0, 1))) - np.pad(last, ((0, 0), (1, 0))))
        return self.edges[(height > JUMP * self.sizes.max(axis=1)[:, None]).any(axis=0)]

    @property
    def totals(self) -> Array:
        """(J,) integrals over the line."""
        return self._above[:, 0]


def build(
    densities: Callable[[Array], Array],
    masses: Callable[[Array, Array], Array],
    combine: Callable[[Array, Array], Array],
    breaks: Array,
    max_levels: int = 1200,
) -> Piecewise:
    """Expand functions of densities on adaptive panels, with initial ends ``breaks``, increasing.

    ``densities`` gives (I, P, n) at x (P, n), ``masses`` the exact P(low < X <= high) (I, P) of
    panels; ``combine`` of x and densities gives the functions (J, P, n), linear in the densities
    with factors smooth in x: the first in units of its own, the others each in units of its
    integral over the line. ValueError where panels stay unresolved after ``max_levels`` bisections.
    """
    low, high = breaks[:-1], breaks[1:]
    resolved: list[tuple[Array, Array, Array, Array]] = []
    settled_size, error = np.zeros(()), np.zeros(())
    for _ in range(max_levels):
        panels = _sample(densities, masses, low, high)
        values = combine(panels.x, panels.p)
        coefficients, size = values @ TO_COEFFICIENTS, np.abs(values) @ SHARES * panels.half
        scale = settled_size + size.sum(axis=1)
        scale[0] = 1.0
        ready, inner, whole = _judge(panels, coefficients, size, scale[:, None], combine)
        if ready.any():
            resolved.append((low[ready], high[ready], coefficients[:, ready], inner[:, ready]))
            error, settled_size = (
                total + part[:, ready].sum(axis=1)
                for total, part in ((error, whole), (settled_size, size))
            )
        low, high = low[~ready], high[~ready]
        if low.size == 0:
            break
        if low.size > MAX_PANELS:
            raise ValueError(
                "densities are too rough for panels, or disagree with their cdf: near x = "
                f"{low[0]:g}"
            )
        middle = low + (high - low) / 2
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    else:
        raise ValueError(
            f"densities are too rough for panels: {low.size} panels unresolved near x = {low[0]:g}"
        )
    left_ends, right_ends, parts, inner_parts = (list(v) for v in zip(*resolved, strict=True))
    order = np.argsort(np.concatenate(left_ends), kind="stable")
    edges = np.append(np.concatenate(left_ends)[order], np.concatenate(right_ends)[order[-1]])
    sorted_parts = (np.concatenate(v, axis=1)[:, order] for v in (parts, inner_parts))
    return Piecewise(edges, next(sorted_parts), error, next(sorted_parts))


@dataclass(frozen=True)
class _Panels:
    """Densities p (I, P, n) at the nodes x (P, n) of panels, set right by the exact masses (I, P).

    ``half`` (P,) half widths; ``missed`` (I, P) what quadrature is off the masses; ``noise`` (P,)
    the share that the rounding of x moves; ``is_scaled`` (I, P) where p was scaled to the exact
    mass; ``floor`` (P,) the smallest panels that doubles can hold.
    """

    half: Array
    x: Array
    p: Array
    mass: Array
    missed: Array
    noise: Array
    is_scaled: Array
    floor: Array


def _sample(
    densities: Callable[[Array], Array],
    masses: Callable[[Array, Array], Array],
    low: Array,
    high: Array,
) -> _Panels:
    half = (high - low) / 2
    x = (low + half)[:, None] + half[:, None] * NODES
    p = densities(x)
    mass = masses(low, high)
    # a pole that rounding put on a node: the mass check then refines
    p = np.where(np.isfinite(p), p, 0.0)
    integral = (p @ SHARES) * half
    rounding = np.finfo(float).eps * np.maximum(np.abs(low), np.abs(high))
    # on the smallest panels that doubles can hold the exact masses are right, samples are not
    floor = (high - low) <= 8 * rounding + 1e-300
    if floor.any():
        wide = half > 1e-300
        flat = np.divide(mass, 2 * half, out=np.zeros_like(mass), where=wide)[:, :, None]
        p = np.where(floor[None, :, None], flat, p)
        integral = np.where(floor, mass, integral)
    # x itself is only known to a rounding: finer panels cannot resolve more than this of their mass
    noise = rounding / (high - low)
    # where only rounding separates the samples from the masses, the masses are right
    enough = np.maximum(np.maximum(1e-10, 1e-3 * mass), noise * np.maximum(mass, integral))
    is_close = (integral > 0) & (np.abs(integral - mass) <= enough)
    p = p * np.where(is_close, mass / np.where(is_close, integral, 1.0), 1.0)[:, :, None]
    return _Panels(half, x, p, mass, np.abs(integral - mass), noise, is_close, floor)


def _judge(
    panels: _Panels,
    coefficients: Array,
    size: Array,
    scale: Array,
    combine: Callable[[Array, Array], Array],
) -> tuple[Array, Array, Array]:
    """For each panel (P,) whether it is resolved, and (J, P) the errors of integrals that end
    inside it, and of whole ones; ``size`` (J, P) of the functions there, ``scale`` (J, 1) of all.
    """
    tail = (np.abs(coefficients[..., -1]) + np.abs(coefficients[..., -2])) * panels.half
    # what is off the masses, and the masses, as all functions count them at the nodes
    missed, mass = (
        combine(panels.x, np.broadcast_to(v[..., None], panels.p.shape))
        for v in (panels.missed, panels.mass)
    )
    missed, largest = np.abs(missed).max(axis=-1), np.abs(mass).max(axis=-1)
    noise = np.maximum(ROUNDING, panels.noise) * size
    is_smooth = (tail <= np.maximum(TAIL_TOLERANCE * scale, noise)) & (
        missed <= np.maximum(MASS_TOLERANCE * scale, noise)
    )
    is_negligible = np.maximum(largest, size / 100) <= NEGLIGIBLE * scale
    inner_errors = np.where(is_negligible, 0.0, np.where(panels.floor, largest, tail + missed))
    # masses are exact after the rescaling: a panel errs by its mass times what η varies, at most
    varies = np.where(is_negligible | panels.floor, 0.0, np.ptp(mass, axis=-1) + 1e-16 * largest)
    is_exact = (panels.is_scaled | (panels.missed == 0)).all(axis=0) | is_negligible | panels.floor
    whole_errors = np.where(is_exact, np.minimum(tail + missed, varies), tail + missed)
    return (is_smooth | is_negligible).all(axis=0) | panels.floor, inner_errors, whole_errors
