"""Convergence of PropFair (theorem 3.3): theorem A.1 for the composed losses -log(M - f_i)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array
from fairfl.theory.bounds.averaging import HIGH, Convergence, fedavg_convergence


@dataclass(frozen=True)
class PropFairConstants:
    """Of the composed losses: L-smoothness, their gradients' errors by client, and the distance
    between clients.
    """

    smoothness: float
    local: Array
    between: float


def propfair_constants(
    *,
    M: float,
    L: float,
    lipschitz: float,
    local: ArrayLike,
    between: float,
    local_loss: ArrayLike,
    between_loss: float,
    variant: str = "repaired",
) -> PropFairConstants:
    """Constants of phi o f_i, phi(t) = -log(M - t), for 0 <= f_i and batch losses <= M/2
    (assumption 3.2).

    Parameters
    ----------
    M : the baseline, > 0.
    L : Lipschitz constant of grad f_i.  lipschitz : L_0, of f_i.
    local : sigma_i, of the batch gradients about grad f_i.  local_loss : sigma_0,i, of the batch
        losses about f_i.
    between : sigma_g, of grad f_i - grad f_j.  between_loss : sigma_0,g, of f_i - f_j. ``local``
        and ``local_loss`` are numbers or (n,), broadcast together.
    variant : "printed", (A.46), (A.49), (A.52): with c = 3,

            L~ = 2 c L / M + 4 L_0^2 / M^2,   sigma~_g = 2 c sigma_g / M + 4 L_0 sigma_0,g / M^2,
            sigma~_i^2 = (8 / M^4) (c^2 M^2 sigma_i^2 + 4 L_0^2 sigma_0,i^2);

        "repaired", which holds with less: c = 1. g/(M-f) - g'/(M-f') = (g - g')/(M-f) + g' (1/(M-f)
        - 1/(M-f')) needs no common denominator, and M - f >= M/2. The printed constants hold, too.

    Raises
    ------
    ValueError : a constant that is negative, or M, L not positive.
    """
    checks.one_of("variant", variant, ("printed", "repaired"))
    c = 3.0 if variant == "printed" else 1.0
    base, smooth = float(checks.positive("M", M)), float(checks.positive("L", L))
    slope = float(checks.in_range("lipschitz", lipschitz, 0.0, HIGH))
    sigma = checks.in_range("local", local, 0.0, HIGH)
    sigma0 = checks.in_range("local_loss", local_loss, 0.0, HIGH)
    apart, apart0 = (
        float(checks.in_range(name, value, 0.0, HIGH))
        for name, value in (("between", between), ("between_loss", between_loss))
    )
    noise = np.sqrt(8.0) / base**2 * np.hypot(c * base * sigma, 2 * slope * sigma0)
    return PropFairConstants(
        2 * c * smooth / base + 4 * slope**2 / base**2,
        noise,
        2 * c * apart / base + 4 * slope * apart0 / base**2,
    )


def propfair_convergence(
    *,
    gap: float,
    rounds: int,
    eta: float,
    M: float,
    L: float,
    lipschitz: float,
    steps: ArrayLike,
    local: ArrayLike = 0.0,
    between: float = 0.0,
    local_loss: ArrayLike = 0.0,
    between_loss: float = 0.0,
    shares: ArrayLike | None = None,
    participation: str = "full",
    variant: str = "repaired",
) -> Convergence:
    """Bound min_t E||grad pi(theta_t)||^2 of PropFair with local steps, pi = -(1/n) sum_i log(M -
    f_i).

    Arguments as in ``propfair_constants`` and ``fedavg_convergence`` (``gap`` = pi(theta_0) - pi*).

    Variant "repaired": theorem A.1 with L~ for L wherever it stands. Where batches are noisy it is
    the one for biased gradients, as the batch gradient grad l_S / (M - l_S) of algorithm 1 is a
    ratio, and its mean is not that of f_i, grad f_i / (M - f_i): the proof applies theorem A.1,
    which supposes unbiased ones.
    Partial participation: the repair of theorem A.1.

    Variant "printed": (8) and Psi~ with L, not L~, in the second condition on eta and in Psi~.
    (Neither has a unit that fits: eta L~ has none, eta L has that of M.)

    Raises
    ------
    ValueError : an argument out of range, among them a step size above the limit, which is named.

    Source: PropFair, theorem 3.3.
    """
    made = propfair_constants(
        M=M,
        L=L,
        lipschitz=lipschitz,
        local=local,
        between=between,
        local_loss=local_loss,
        between_loss=between_loss,
        variant=variant,
    )
    biased = variant == "repaired" and bool((made.local > 0).any())
    return fedavg_convergence(
        gap=gap,
        rounds=rounds,
        eta=eta,
        L=made.smoothness if variant == "repaired" else L,
        steps=steps,
        local=made.local,
        between=made.between,
        shares=shares,
        participation=participation,
        variant=variant,
        biased=biased,
        first=made.smoothness,
    )
