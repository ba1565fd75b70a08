"""Convergence of federated averaging with local steps: PropFair's theorem A.1, as printed and as
repaired.

One round: client i of the participants S takes K_i steps theta <- theta - eta g, then theta' =
sum_(i in S) p_i theta_i. F = (1/n) sum_i f_i, each f_i L-smooth, ||grad f_i - grad f_j|| <= sigma_g
(``between``), and the stochastic gradients g have E||g - grad f_i||^2 <= sigma_i^2 (``local``).
With a(c) standing for an average of n numbers,

    a round gives  E F(theta') <= F(theta) - eta (11 mu - 9) / 12 ||grad F||^2 + Psi,
    so after T     min_t E||grad F(theta_t)||^2 <= 12 / ((11 mu - 9) eta) ((F_0 - F*) / T + Psi).

What differs (mu = sum p_i K_i for full, min K_i for partial participation):

- printed:              a(c) = (sum p_i^2) sum_i c_i, p over all clients
- repaired, full:       the same; it holds. The proof splits E||noise + drift||^2 with the cross
  term dropped (A.18), though later drift depends on earlier noise; Cauchy-Schwarz first and
  unbiasedness step by step gives (A.25) anyway.
- repaired, partial:    a(c) = max_i c_i. Among few participants the renormalised p_i are larger, so
  "Psi' <= Psi" is wrong, and (A.39) with it; by Jensen sum_S p_i c_i serves instead of (sum_S
  p_i^2) sum_S c_i, and max_i c_i bounds it whoever takes part. Refuted by: n equal f_i, noise at
  client 1 alone, which is always the one drawn, n >= 35.

Psi = (eta/2) [a(K_i^2 (sigma_i^2 + 2 sigma_g^2)) + 2 (e-2) eta^2 L^2 a(K_i^3 (sigma_i^2 + 6 K_i
sigma_g^2))], and eta is at most 1/(6 L K_i) and 1 / (L sqrt(24 (e-2) a(K_i^4))).

``biased`` gradients (E g need not be grad f_i, as in PropFair with batches): by the same steps with
||a+b+c||^2 <= 3(...) for g - grad F and 4 terms for g itself, so Young's factor for the drift is 8
K_i eta^2, Psi = (3 eta/2) [a(K_i^2 (sigma_i^2 + sigma_g^2)) + 8 (e-2) eta^2 L^2 a(K_i^4 (sigma_i^2
+ sigma_g^2))],
48 in place of 24. Ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import e, sqrt

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array, shown
from fairfl.theory.aggregation._checks import probabilities

SLACK = 1e-12  # relative: a step size computed as the limit itself passes
HIGH = float(np.finfo(float).max)


@dataclass(frozen=True)
class Convergence:
    """A bound of min_t E||grad F(theta_t)||^2 over T rounds, and what it is made of.

    Attributes
    ----------
    value : optimisation + noise.
    optimisation : 12 / ((11 mu - 9) eta) (F_0 - F*) / T, which vanishes as T grows.
    noise : 12 / ((11 mu - 9) eta) Psi, the size of the neighbourhood that is reached.
    psi : Psi, what a round may lose.
    mu : the mean (or least) number of local steps.
    step_limit : the largest step size that the theorem allows.
    """

    value: float
    optimisation: float
    noise: float
    psi: float
    mu: float
    step_limit: float


def _round(
    steps: ArrayLike, shares: ArrayLike | None, participation: str, variant: str, biased: bool
) -> tuple[Array, Callable[[Array], float], float]:
    """The local steps K_i, how numbers of the clients are averaged, and mu."""
    k = checks.finite("steps", steps)
    if k.ndim != 1 or k.size == 0 or (k < 1).any() or (k != np.round(k)).any():
        raise ValueError(
            f"steps must be a vector of whole numbers >= 1, one a client, got {shown(steps)}"
        )
    checks.one_of("participation", participation, ("full", "partial"))
    checks.one_of("variant", variant, ("printed", "repaired"))
    if biased and variant == "printed":
        raise ValueError(
            "biased must be False for the printed variant: the theorem supposes unbiased gradients"
        )
    even = np.full(len(k), 1 / len(k))
    p = even if shares is None else np.asarray(probabilities("shares", shares, positive=True))
    if p.shape != k.shape:
        raise ValueError(f"shares must be {len(k)} numbers, one a client, got {len(p)}")
    mu = float(p @ k) if participation == "full" else float(k.min())
    if (participation, variant) == ("partial", "repaired"):
        return k, lambda c: float(c.max()), mu
    return k, lambda c: float((p**2).sum() * c.sum()), mu


def fedavg_step_limit(
    L: float,
    steps: ArrayLike,
    shares: ArrayLike | None = None,
    *,
    participation: str = "full",
    variant: str = "repaired",
    biased: bool = False,
    first: float | None = None,
) -> float:
    """The largest eta that theorem A.1 allows: min_i 1/(6 L K_i), and (A.3). Arguments:
    ``fedavg_convergence``.
    """
    smooth = float(checks.positive("L", L))
    k, average, _ = _round(steps, shares, participation, variant, biased)
    other = (48 if biased else 24) * (e - 2) * average(k**4)
    return min(1 / (6 * (first or smooth) * float(k.max())), 1 / (smooth * sqrt(other)))


def fedavg_convergence(
    *,
    gap: float,
    rounds: int,
    eta: float,
    L: float,
    steps: ArrayLike,
    local: ArrayLike,
    between: float,
    shares: ArrayLike | None = None,
    participation: str = "full",
    variant: str = "repaired",
    biased: bool = False,
    first: float | None = None,
) -> Convergence:
    """Bound min_t E||grad F(theta_t)||^2 over the first ``rounds`` T; the file's head has the
    formula.

    Parameters
    ----------
    gap : F(theta_0) - F*, >= 0.
    rounds : T >= 1.
    eta : local step size, in (0, ``fedavg_step_limit``].
    L : Lipschitz constant of every grad f_i, > 0.
    steps : K_i (n,), whole numbers >= 1.
    local : sigma_i, a number or (n,), >= 0: root mean square of the gradients' error.
    between : sigma_g >= 0.
    shares : p_i (n,), > 0, sum one; default 1/n. Only "printed" and full participation depend on
        it.
    participation : "full", or "partial": any subset each round, however it is drawn, as long as
        that does not look at the round's noise; the p_i of the participants are renormalised.
    variant : "repaired" or "printed".
    biased : allow E g other than grad f_i; "repaired" only.
    first : the smoothness in the first condition on eta, where it is not L (PropFair as printed).

    Raises
    ------
    ValueError : an argument out of range, among them a step size above the limit, which is named.

    Source: PropFair, theorem A.1, (A.4)-(A.43).
    """
    k, a, mu = _round(steps, shares, participation, variant, biased)
    limit = fedavg_step_limit(
        L, steps, shares, participation=participation, variant=variant, biased=biased, first=first
    )
    start = float(checks.in_range("gap", gap, 0.0, HIGH))
    total, rate = checks.whole("rounds", rounds, 1), float(checks.positive("eta", eta))
    noise = checks.in_range("local", local, 0.0, HIGH)
    noise2 = checks.broadcast("local", noise, k.shape, f"() or {k.shape}") ** 2
    between2 = float(checks.in_range("between", between, 0.0, HIGH)) ** 2
    if rate > limit * (1 + SLACK):
        raise ValueError(
            f"eta must be at most {limit:.6g} for this bound (its step-size condition), got "
            f"{rate:g}"
        )
    drift = (e - 2) * (rate * L) ** 2
    if biased:
        both = noise2 + between2
        psi = 1.5 * rate * (a(k**2 * both) + 8 * drift * a(k**4 * both))
    else:
        once, again = k**2 * (noise2 + 2 * between2), k**3 * (noise2 + 6 * k * between2)
        psi = rate / 2 * (a(once) + 2 * drift * a(again))
    factor = 12 / ((11 * mu - 9) * rate)
    value = factor * (start / total + psi)
    return Convergence(value, factor * start / total, factor * psi, psi, mu, limit)
