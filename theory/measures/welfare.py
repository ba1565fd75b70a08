"""Welfare of utilities: α-fairness, proportional fairness, Nash bargaining, and the price of
fairness.

``utilities`` u have shape (..., n), the last axis the clients, larger is better, u_i >= 0. One
family, the α-fair welfare of Mo and Walrand (2000), includes the named ones: α = 0 utilitarian, 1
proportional (the Nash product), 2 harmonic, inf egalitarian. q-FFL applies it to losses, with α =
-q.

>>> from fairfl.theory.measures import welfare as bargaining
>>> alphas = (0, 1, 2, float("inf"))
>>> [round(float(bargaining.mean_utility([1.0, 4.0], alpha)), 12) for alpha in alphas]
[2.5, 2.0, 1.6, 1.0]
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from fairfl._support import checks
from fairfl._support.checks import Array
from fairfl.theory.aggregation._base import shape_of


def mean_utility(utilities: ArrayLike, alpha: float) -> Any:
    """((1/n) Σ_i u_i^(1-α))^(1/(1-α)), shape (...): given to every client, it is a vector of the
    same welfare.

    The arithmetic, geometric and harmonic mean at α = 0, 1, 2, the minimum at inf. It increases in
    u, is concave and positively homogeneous, falls in α; maximising it is maximising the α-fair
    welfare Σ_i u_i^(1-α) / (1-α), at α = 1 Σ_i log u_i. PropFair's (D.7), max Σ u_i^α for α > 0, is
    the same family for α < 1 in the place of 1 - α only. 0 where a client has 0 and α >= 1.
    Errors: ValueError for α < 0 or NaN, and for utilities that are negative or not finite.
    """
    u, alpha = _utilities(utilities), float(checks.in_range("alpha", alpha, 0.0, np.inf))
    if np.isinf(alpha):
        return u.min(-1)
    power = 1 - alpha
    is_zero = (u == 0).any(-1) if power <= 0 else (u == 0).all(-1)
    with np.errstate(divide="ignore", under="ignore"):
        logs = np.where(is_zero[..., None], 0.0, np.log(u))
        if power == 0:
            return np.where(is_zero, 0.0, np.exp(logs.mean(-1)))[()]
        centre = logs.mean(-1, keepdims=True)
        centre = np.where(np.isfinite(centre), centre, logs.max(-1, keepdims=True))
        exponents = power * (logs - centre)
        # where all are small, expm1 keeps the digits that a mean of nearly 1 would lose
        is_close = np.abs(exponents).max(-1) <= 1
        small = np.where(is_close[..., None], exponents, 0.0)
        log_mean = logsumexp(exponents, axis=-1) - np.log(u.shape[-1])
        log_mean = np.where(is_close, np.log1p(np.expm1(small).mean(-1)), log_mean)
        return np.where(is_zero, 0.0, np.exp(centre[..., 0] + log_mean / power))[()]


def price_of_fairness(utilities: ArrayLike, best_total: ArrayLike) -> Any:
    """1 - Σ_i u_i / best_total, shape (...): the share of the largest attainable total that a fair
    choice u gives up.

    Errors: ValueError for ``best_total`` not positive and finite, or below Σ u_i by more than
    rounding (1e-9). Source: Bertsimas, Farias and Trichakis (2011), The price of fairness.
    """
    u, best = _utilities(utilities), checks.positive("best_total", best_total)
    price = 1 - u.sum(-1) / best
    if (price < -1e-9).any():
        raise ValueError(
            f"best_total must be at least the total of utilities, got {best} < {u.sum(-1)}"
        )
    return np.maximum(price, 0.0)[()]


def _utilities(utilities: ArrayLike) -> Array:
    u = checks.in_range("utilities", utilities, 0.0, np.inf, open_high=True)
    shape_of("utilities", u.shape, None, "")
    return u
