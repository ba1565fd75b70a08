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

from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl.theory.bounds._rounds import Convergence, convergence, rounds_of


def fedavg_step_limit(
    L: float,
    steps: ArrayLike,
    shares: ArrayLike | None = None,
    *,
    participation: str = "full",
    variant: str = "repaired",
    biased: bool = False,
) -> float:
    """The largest eta that theorem A.1 allows: min_i 1/(6 L K_i), and (A.3). Arguments:
    ``fedavg_convergence``.
    """
    smooth = float(checks.positive("L", L))
    return rounds_of(steps, shares, participation, variant, biased).step_limit(smooth, smooth)


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

    Raises
    ------
    ValueError : an argument out of range, among them a step size above the limit, which is named.

    Source: PropFair, theorem A.1, (A.4)-(A.43).
    """
    smooth = float(checks.positive("L", L))
    made = rounds_of(steps, shares, participation, variant, biased)
    return convergence(
        made, gap=gap, rounds=rounds, eta=eta, first=smooth, L=smooth, local=local, between=between
    )
