"""Threshold rules where doubles end: far tails, nearly disjoint supports, figure 4(b); mpmath at 50
digits referees.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import stats
from strategies import INNER_SHARES, eighths

import fairfl as ff
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve


def referee(mean: Any, sd: Any, q: float) -> tuple[Any, Any, Any, Any]:
    """(λ, t0, t1, P(X > t0 | a=0)) of one client's fair rule, N(mean_a, sd_a²), η logistic, at 60
    digits.

    In u = artanh(λ/m), m = min(1 - q, q), equal tails are equal standardised thresholds: h(u)
    below, which increases.
    """
    with mp.workdps(60):
        m0, m1 = mpf(1) - mpf(q), mpf(q)
        small = min(m0, m1)
        mu, s = [mpf(v) for v in mean], [mpf(v) for v in sd]

        def cuts(u: Any) -> tuple[Any, Any]:
            lam = small * mp.tanh(u)
            return -2 * mp.atanh(lam / m0) if m0 != small else -2 * u, 2 * mp.atanh(
                lam / m1
            ) if m1 != small else 2 * u

        def h(u: Any) -> Any:
            t0, t1 = cuts(u)
            return (t1 - mu[1]) / s[1] - (t0 - mu[0]) / s[0]

        low, high = mpf(-1), mpf(1)
        while h(low) > 0:
            low *= 2
        while h(high) < 0:
            high *= 2
        for _ in range(260):
            middle = (low + high) / 2
            low, high = (middle, high) if h(middle) < 0 else (low, middle)
        t0, t1 = cuts(low)
        return small * mp.tanh(low), t0, t1, mp.ncdf((mu[0] - t0) / s[0])


WIDTHS = st.sampled_from([0.25, 1.0, 3.0])


@settings(max_examples=25)
@given(st.tuples(eighths(-60, 60), eighths(-60, 60)), st.tuples(WIDTHS, WIDTHS), INNER_SHARES)
@example((50.0, -50.0), (1.0, 1.0), 0.3)  # supports apart
@example((50.0, -50.0), (1.0, 1.0), 0.5)
@example((10.0, 9.8), (0.2, 0.2), 0.2)  # clients of figure 4(b)
@example((0.2, 0.0), (0.2, 0.2), 0.2)
@example((-30.0, -28.0), (1.0, 0.5), 0.4)  # far in the same tail
@example((0.0, 1e-13), (1.0, 1.0), 0.5)
@example((0.0, 0.0), (70.0, 0.01), 0.9)  # wide and narrow
@example((3000.0, 5000.0), (1000.0, 1000.0), 0.5)  # 1 - η is 1e-434
def test_the_fair_rule_is_the_referees(mean: Any, sd: Any, q: float) -> None:
    """Near ±M_a one rounding of λ is a unit of the threshold, but no rate moves."""
    assume((mean[0], sd[0]) != (mean[1], sd[1]))
    lam, *cuts, rate = (float(v) for v in referee(mean, sd, q))
    fed = ff.Federation.normal([mean], sd=[sd], q=q)
    for scheme in ("cfl", "lft_ensemble"):
        s = ff.solve(fed, scheme, 0.0)
        assert s.multipliers[0] == pytest.approx(lam, abs=1e-14)
        assert s.mean_difference == pytest.approx(0.0, abs=1e-13)
        assert s.classifier.rates(fed)[0] == pytest.approx([rate, rate], abs=1e-12)
        thresholds = [s.classifier.edges[a][0] for a in (0, 1)]
        assert thresholds == pytest.approx(cuts, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("q", [0.3, 0.5, 0.5 + 2e-16, 1e-9])
def test_log_odds_keep_their_digits_at_any_multiplier(q: float) -> None:
    fed = ff.Federation.normal([[0, 0]], q=q)  # logistic of slope 1: thresholds are log-odds
    size = np.array([1e-300, 1e-20, 1e-3, 0.7, 1.0, 5.0, 30.0, 340.0])
    problem, none = EnsembleCurve(fed, fed.model).problem, np.zeros(8, int)  # type: ignore[arg-type]
    with mp.workdps(400):
        m, u = [mpf(v) for v in problem.mass[0]], [mpf(v) for v in size]
        odds = [[float(2 * mp.atanh(min(m) / mass * mp.tanh(v))) for v in u] for mass in m]
    for side in (1.0, -1.0):
        t0, t1 = problem.thresholds(side * size, none)
        np.testing.assert_allclose(t0, -side * np.array(odds[0]), rtol=4e-15)
        np.testing.assert_allclose(t1, side * np.array(odds[1]), rtol=4e-15)


def test_the_sign_of_an_underflowing_disparity() -> None:
    # figure 4(b)'s client 0: P(x <= 0 | a=0) = Φ(-50) ≈ 1e-545 < P(x <= 0 | a=1) = Φ(-49) ≈ 1e-524:
    # MD > 0
    fed = ff.Federation.normal([[10, 9.8], [0.2, 0]], sd=0.2, q=0.2)
    rules = EnsembleCurve(fed, fed.model)  # type: ignore[arg-type]
    _, free, sign = rules.problem.free
    assert free[0] == 0.0 and sign[0] == 1.0
    assert rules.fair[0, 0] < 0
    mirrored = ff.Federation.normal([[9.8, 10], [0, 0.2]], sd=0.2, q=0.8)
    assert EnsembleCurve(mirrored, mirrored.model).fair[0, 0] > 0  # type: ignore[arg-type]


@pytest.mark.parametrize("side", [1, -1])
def test_a_budget_of_1e_20_is_met_to_its_digits_in_either_tail(side: int) -> None:
    s = ff.solve(ff.Federation.normal([[9 * side, 9.5 * side]], q=0.3), "cfl", 1e-20)
    with mp.workdps(60):
        tails = [mp.ncdf(side * m - s.classifier.edges[a][0]) for a, m in enumerate((9, 9.5))]
        assert float(abs(tails[0] - tails[1])) == pytest.approx(1e-20, rel=1e-9, abs=0)


def test_flat_stretches_of_g_take_the_generalised_inverse() -> None:
    # X | a=0 ~ U(1/2, 3/2), X | a=1 ~ U(-3/2, -1/2): MD stays 1 until a threshold enters a support.
    # By symmetry the fair rule cuts both at their medians ±1, and each group loses the half of its
    # gain that is nearest to zero.
    def gain(low: float, high: float) -> float:  # ∫ (2 expit - 1) dx
        return 2 * (np.log1p(np.exp(high)) - np.log1p(np.exp(low))) - (high - low)

    fed = ff.Federation([ff.Client((stats.uniform(0.5, 1), stats.uniform(-1.5, 1)), q=0.5)])
    top, fair = ff.solve(fed, "cfl", 1.0), ff.solve(fed, "cfl", 0.0)
    assert top.accuracy == pytest.approx(0.5 + 0.5 * gain(0.5, 1.5), abs=1e-13)
    assert fair.accuracy == pytest.approx(top.accuracy - gain(0.5, 1.0), abs=1e-12)
    assert fair.disparity == pytest.approx(0.0, abs=1e-14)
