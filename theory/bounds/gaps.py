"""How much more one group gains than another in one round, and under which step it gains more.

A round moves the model from w to w - s, the same for all groups. For S groups with gradients g_i at
w, L-smooth and mu-strongly convex losses, -L <= mu <= L (a negative mu: the losses need not be
convex; mu = -L says no more than L-smooth), the benefit of group i is g_i.s less a remainder in
[mu, L] ||s||^2 / 2. The remainders of two groups differ by at most (L - mu) ||s||^2 / 2: benefits
are compared more sharply than each is known, and exactly where mu = L.

For two groups of one client each, a = ||g_1||, b = ||g_2||, c their cosine, weights 1/2 and
step size eta, benefit_2 - benefit_1 is to first order

- FedAvg: (eta/2) (b^2 - a^2), with the remainder (L - mu) eta^2 (a^2 + b^2 + 2abc) / 8 at most;
- normalised: (eta/2) (b - a) (1 + c), with (L - mu) eta^2 (1 + c) / 4 at most.

So the normalised step is the fairer one, to first order, iff (b - a) (a + b - 1 - c) > 0.

Source: Fairness of Federated Learning with Dynamic Participants, theorems 1 and 2, restated with
their remainders (claims dynamic/theorem-1-exact and dynamic/theorem-2-exact).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array
from fairfl.theory.bounds.updates import normalised_update


def round_step(
    gradients: ArrayLike,
    eta: float,
    weights: ArrayLike | None = None,
    *,
    normalised: bool = False,
    layers: Sequence[int] | None = None,
) -> Array:
    """s = eta sum_k p_k d_k, shape (d,): d_k = g_k (FedAvg), or normalised, whole or by layer.

    ``gradients`` (S, d), one a group of one client; ``weights`` (S,) p >= 0 of sum one, default
    1/S. Errors: ValueError for a gradient (with ``layers``, a layer of one) of 0 where
    ``normalised``, and for weights that are no probabilities.

    >>> round_step([[3.0, 0.0], [0.0, 1.0]], eta=0.5, normalised=True).tolist()
    [0.25, 0.25]
    """
    g = _gradients(gradients)
    rate = float(checks.positive("eta", eta))
    p = (
        np.full(len(g), 1 / len(g))
        if weights is None
        else checks.in_range("weights", weights, 0.0, 1.0)
    )
    if p.shape != (len(g),) or abs(p.sum() - 1) > 1e-10:
        raise ValueError(
            f"weights must be {len(g)} numbers of sum one, got shape {p.shape}, sum {p.sum():g}"
        )
    norms = np.linalg.norm(g, axis=1)
    if normalised and (norms == 0).any():
        raise ValueError(
            f"gradients must not be 0 for normalised steps, got 0 for group {np.argmin(norms)}"
        )
    return rate * (p @ (normalised_update(g, 1.0, layers) if normalised else g))


def gap_bounds(gradients: ArrayLike, step: ArrayLike, L: float, mu: float) -> tuple[Array, Array]:
    """Bounds of benefit_i - benefit_j of the round that moves by ``step`` (d,), (S, S) each:
    (g_i - g_j).s -+ (L - mu) ||s||^2 / 2.

    Both are attained by quadratics. FedAvg is not fair after the round, whatever the losses, iff
    the lower bound of benefit_2 - benefit_1 is at least what group 1 has gained before.

    >>> low, high = gap_bounds([[1.0], [3.0]], [0.5], L=1.0, mu=0.0)
    >>> float(low[1, 0]), float(high[1, 0])  # (3 - 1) / 2 -+ 1/8
    (0.875, 1.125)
    """
    g = _gradients(gradients)
    s = _step("step", step, g)
    return _around(g, s, _width(L, mu) * float(s @ s) / 2)


def relative_gap_bounds(
    gradients: ArrayLike,
    step: ArrayLike,
    other: ArrayLike,
    L: float,
    mu: float,
    family: str = "smooth",
) -> tuple[Array, Array]:
    """Bounds of benefit_i - benefit_j under ``step`` less the same under ``other``, (S, S) each.

    Where the lower one is positive for all i that joined before j, ``step`` is the dynamically
    fairer one after the round; (4). They are (g_i - g_j).(s - s') -+ (L - mu) r with

    - ``family`` "smooth": r = (||s||^2 + ||s'||^2) / 2;
    - "quadratic" losses: r = ||s - s'|| ||s + s'|| / 2, which is no larger, and attained.

    Errors: ValueError for another family.
    """
    checks.one_of("family", family, ("smooth", "quadratic"))
    g = _gradients(gradients)
    one, two = _step("step", step, g), _step("other", other, g)
    if family == "smooth":
        reach = float(one @ one + two @ two) / 2
    else:
        reach = float(np.linalg.norm(one - two) * np.linalg.norm(one + two)) / 2
    return _around(g, one - two, _width(L, mu) * reach)


def _around(g: Array, step: Array, width: float) -> tuple[Array, Array]:
    first = g @ step
    gap = first[:, None] - first
    off = np.where(np.eye(len(g), dtype=bool), 0.0, width)
    return gap - off, gap + off


def _width(L: float, mu: float) -> float:
    smooth = float(checks.positive("L", L))
    return smooth - float(checks.in_range("mu", mu, -smooth, smooth))


def _gradients(gradients: ArrayLike) -> Array:
    g = checks.finite("gradients", gradients)
    if g.ndim != 2 or g.size == 0:
        raise ValueError(f"gradients must have shape (groups, d), neither 0, got {g.shape}")
    return g


def _step(name: str, value: ArrayLike, g: Array) -> Array:
    step = checks.finite(name, value)
    if step.shape != g.shape[1:]:
        raise ValueError(f"{name} must have shape {g.shape[1:]}, as a gradient, got {step.shape}")
    return step
