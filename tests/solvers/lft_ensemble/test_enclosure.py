"""Enclosures of LFT+Ensemble's smallest disparity: against mpmath and the float solver."""

from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf
from populations import continuous_model
from scipy import stats

from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve
from fairfl.solvers.lft_ensemble.enclosure import enclose_min_disparity, exact_clients, reachable
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.client import Client
from fairfl.theory.populations.eta import Logistic
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import MEANS_5
from fairfl.theory.populations.laws import Normal

FIGURE_4C = MEANS_5, 1.0, 0.5
CASES = {
    "example 1": ([[0, 0], [3, -1]], [70, 1], 0.5),
    "figure 4(b)": ([[10, 9.8], [0.2, 0]], 0.2, 0.2),
    "figure 4(c)": FIGURE_4C,
    "figure 4(b), mirrored": ([[9.8, 10], [0, 0.2]], 0.2, 0.2),
    "sd by group": (
        [[1, 2], [0, -1], [0.5, 0]], [[0.5, 2], [1, 3], [1, 0.2]], [0.9, 0.5, 0.2],
    ),
    "weights": ([[1, 2], [0, 1], [-0.5, 0]], 1.0, [0.3, 0.5, 0.7], [1, 2, 4]),
    "one eta each": (
        [[1, 2], [0, 1]], 1.0, [0.3, 0.6], None,
        [Logistic(2, 1), (Logistic(0.5, -1), Logistic(3))],
    ),
    "clients of one group": ([[3, 5], [1, -1], [0, 2], [1, 1.5]], 1.0, [0, 1, 0.3, 0.5]),
    "only clients of one group": (MEANS_5, 1.0, [0, 1]),
    "far apart": ([[50, -50], [1, -1]], 1.0, [0.3, 0.6]),
    "far apart, both ways": ([[50, -50], [-50, 50]], 1.0, [0.5, 0.6]),
    # MD and the thresholds' levels lose all digits next to λ = 1 - q
    "lambda that one double cannot hold": (
        [[-3.7, -3.54], [1.45, 3.16]], [[2.92, 1.24], [0.3, 0.37]], [0.36, 0.89], None,
        [
            (Logistic(0.26, -1.07), Logistic(1.44, -2.24)),
            (Logistic(3.96, -2.58), Logistic(0.48, 3.81)),
        ],
    ),
    "next to no group 1": ([[1, -1], [-1, 3]], 1.0, [1e-12, 0.5]),
    "numbers that doubles hold": ([[10, 9.75], [0.25, 0]], 0.25, 0.2),
    "zero in the interior": ([[1, -1], [-1, 1]],),
    "a root at exactly zero": ([[1, 1], [2, 2.5]], [[0.3, 0.3], [1, 1]], [0.3, 0.4]),
    "a flat eta": ([[1, -1], [-1, 2]], 1.0, [0.2, 0.5], None, Logistic(1e-80)),
}  # fmt: skip
FAR = "far apart", "far apart, both ways", "a flat eta"


Real = Any  # mpmath.mpf, which has no annotations


def reference(fed: Federation) -> tuple[Real, Real]:
    """The ends of the reachable MD, by bisection of P_0(accept) = P_1(accept) over λ."""
    model = continuous_model(fed)
    mass = [[mpf(1) - mpf(q), mpf(q)] for q in fed.share[:, 1].tolist()]
    joint = [[mpf(w) * m for m in pair] for w, pair in zip(fed.weight.tolist(), mass, strict=True)]
    group = [mpmath.fsum(row[a] for row in joint) for a in (0, 1)]

    def scaled(i: int, j: int, a: int, lam: Real) -> Real:
        """Client j's threshold at λ, standardised by client i's law."""
        law, eta = model.laws[i][a], model.etas[j][a]
        assert isinstance(law, Normal) and isinstance(eta, Logistic)
        level = mpf(1) / 2 - ((1 - 2 * a) * lam / (2 * mass[j][a]) if lam else 0)
        t = (mpmath.log(level / (1 - level)) - mpf(eta.intercept)) / mpf(eta.slope)
        return (t - mpf(law.mean)) / mpf(law.sd)

    def pooled(j: int, lam: Real) -> Real:
        return mpmath.fsum(
            (1 - 2 * a) * joint[i][a] / group[a] * mpmath.ncdf(-scaled(i, j, a, lam))
            for i in range(fed.n_clients)
            for a in (0, 1)
            if mass[i][a]
        )

    low = high = mpf(0)
    for j, pair in enumerate(mass):
        ends = [pooled(j, mpf(0))]
        if min(pair):
            a, b = -min(pair), min(pair)
            for _ in range(int(3.4 * mp.dps)):
                lam = (a + b) / 2
                falls = scaled(j, j, 0, lam) < scaled(j, j, 1, lam)  # MD > 0
                a, b = (a, lam) if falls else (lam, b)
            ends.append(pooled(j, (a + b) / 2))
        weight = mpf(float(fed.weight[j])) / mpmath.fsum(map(mpf, fed.weight.tolist()))
        low, high = low + weight * min(ends), high + weight * max(ends)
    return low, high


@pytest.mark.parametrize("case", CASES)
def test_encloses_what_mpmath_finds(case: str):
    before, fed = ctx.prec, Federation.normal(*CASES[case])
    with mp.workdps(160 if case in FAR else 50):
        low, high = reference(fed)
        smallest = max(mpf(0), low, -high)
    lower, upper = enclose_min_disparity(fed)
    for ball, end in zip(reachable(exact_clients(fed)), (low, high), strict=True):
        with ctx.workprec(600):
            assert ball.overlaps(arb(mpmath.nstr(end, 48)) + arb(0, 1e-44))
        assert ball.rad() < 1e-34
    assert lower - 1e-45 <= smallest <= upper + 1e-45
    assert 0 <= lower <= upper <= lower + 4e-16
    assert (lower == upper == 0) == (low < 0 < high)
    assert ctx.prec == before


def test_multiplier_closer_to_its_bound_than_any_double():
    """λ_0* = -0.5 + 1e-2171, thresholds ±5000: client 0's rule takes all its own people."""
    fed = Federation.normal(mean=[[10000, 0], [0, 1]], q=0.5)
    low, high = reachable(exact_clients(fed))
    phi = stats.norm.cdf
    free = (1 + 0.5) / 2 - (0.5 + phi(1)) / 2
    fair0, fair1 = (1 + 0) / 2 - (1 + 1) / 2, (1 + phi(0.5)) / 2 - (phi(-0.5) + phi(0.5)) / 2
    assert float(low) == pytest.approx((fair0 + free) / 2, abs=1e-15)
    assert float(high) == pytest.approx((free + fair1) / 2, abs=1e-15)


RNG = np.random.default_rng(0)
LAWS = RNG.normal([0.6, 0], 1, (60, 2)), RNG.uniform(0.3, 2, (60, 2))
NORMAL, LAPLACE = stats.norm(0, 1), stats.laplace(0, 1)
SEVERAL = {
    "60 clients": Federation.normal(*LAWS, RNG.uniform(0, 1, 60), RNG.uniform(0.5, 2, 60)),
    "the law of an absent group counts for nothing": Federation(
        [Client((NORMAL, LAPLACE), q=0.0), Client((NORMAL, stats.norm(1, 1)))]
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_same_as_floats(name: str):
    fed = SEVERAL[name]
    low, high = EnsembleCurve(fed, continuous_model(fed)).reachable
    balls, (lower, upper) = reachable(exact_clients(fed)), enclose_min_disparity(fed)
    assert [low, high] == pytest.approx([float(ball) for ball in balls], abs=1e-12, rel=0)
    assert lower - 1e-12 <= max(0.0, low, -high) <= upper + 1e-12


def test_scales_far_apart():
    fed = Federation.normal(
        mean=[[1e30, -3e-20], [-1e-30, 4e12]],
        sd=[[1e18, 2e10], [5e20, 1.0]],
        q=[1e-30, 1 - 1e-15],
        weight=[1e-20, 1e20],
        eta=[Logistic(1e25, -1e28), (Logistic(1e-22, 1e15), Logistic(3.0, -1e-29))],
    )
    lower, upper = enclose_min_disparity(fed)  # mpmath's definitions divide by zero here
    assert upper - lower < 1e-12


def test_roots_that_are_not_narrow_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairfl.solvers.lft_ensemble.enclosure.BITS", 32)
    with pytest.raises(CertificationError, match="no enclosure as narrow as 1e-12 .* scales"):
        enclose_min_disparity(Federation.normal(*FIGURE_4C))
