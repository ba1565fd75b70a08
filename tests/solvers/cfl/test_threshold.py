"""Threshold rules where doubles end: far tails, nearly disjoint supports, figure 4(b); mpmath at 50
digits referees.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import stats
from strategies import INNER_SHARES, eighths

import fairfl as ff
from fairfl.solvers.lft_ensemble.densities import LocalRules


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


CASES: dict[str, tuple[list[float], list[float], float]] = {
    "plain": ([0.0, 1.0], [1.0, 1.0], 0.5),
    "plain, unequal q": ([0.0, 1.0], [1.0, 2.0], 0.3),
    "supports apart": ([50.0, -50.0], [1.0, 1.0], 0.3),
    "supports apart, mirrored": ([-50.0, 50.0], [1.0, 1.0], 0.2),
    "supports apart, equal q": ([50.0, -50.0], [1.0, 1.0], 0.5),
    "figure 4(b), client 0": ([10.0, 9.8], [0.2, 0.2], 0.2),
    "figure 4(b), client 1": ([0.2, 0.0], [0.2, 0.2], 0.2),
    "far in the same tail": ([-30.0, -28.0], [1.0, 0.5], 0.4),
    "tiny difference": ([0.0, 1e-13], [1.0, 1.0], 0.5),
    "wide and narrow": ([0.0, 0.0], [70.0, 0.01], 0.9),
}


@pytest.mark.parametrize("name", CASES)
def test_the_fair_rule_is_the_referees(name: str) -> None:
    mean, sd, q = CASES[name]
    lam, t0, t1, rate = referee(mean, sd, q)
    s = ff.solve(ff.Federation.normal([mean], sd=[sd], q=q), "cfl", 0.0)
    found = [s.classifier.edges[a][0] for a in (0, 1)]
    # the thresholds themselves follow from λ: near ±M_a one rounding of λ is a unit of the
    # threshold, but no rate moves
    assert s.multipliers[0] == pytest.approx(float(lam), abs=1e-14)
    assert s.mean_difference == pytest.approx(0.0, abs=1e-13)
    assert s.classifier.rates(ff.Federation.normal([mean], sd=[sd], q=q))[0, 0] == pytest.approx(
        float(rate), abs=1e-12
    )
    assert found[0] == pytest.approx(float(t0), rel=1e-9, abs=1e-9)
    assert found[1] == pytest.approx(float(t1), rel=1e-9, abs=1e-9)


@settings(max_examples=25)
@given(
    eighths(-60, 60),
    eighths(-60, 60),
    st.sampled_from([0.25, 1.0, 3.0]),
    st.sampled_from([0.25, 1.0, 3.0]),
    INNER_SHARES,
)
def test_fair_thresholds_anywhere(m0: float, m1: float, s0: float, s1: float, q: float) -> None:
    assume((m0, s0) != (m1, s1))
    lam, t0, t1, rate = referee([m0, m1], [s0, s1], q)
    fed = ff.Federation.normal([[m0, m1]], sd=[[s0, s1]], q=q)
    s = ff.solve(fed, "lft_ensemble", 0.0)
    assert s.multipliers[0] == pytest.approx(float(lam), abs=1e-14)
    rates = s.classifier.rates(fed)[0]
    assert rates[0] == pytest.approx(float(rate), abs=1e-12) and rates[1] == pytest.approx(
        float(rate), abs=1e-12
    )
    assert s.classifier.edges[0][0] == pytest.approx(float(t0), rel=1e-9, abs=1e-8)


def test_the_sign_of_an_underflowing_disparity() -> None:
    # figure 4(b)'s client 0: P(x <= 0 | a=0) = Φ(-50) ≈ 1e-545 < P(x <= 0 | a=1) = Φ(-49) ≈ 1e-524:
    # MD > 0
    fed = ff.Federation.normal([[10, 9.8], [0.2, 0]], sd=0.2, q=0.2)
    rules = LocalRules(fed, fed.model)  # type: ignore[arg-type]
    tight = rules.tightest
    assert tight.erm[0] == 0.0 and tight.erm_sign[0] == 1.0
    assert tight.multiplier[0] < 0
    mirrored = ff.Federation.normal([[9.8, 10], [0, 0.2]], sd=0.2, q=0.8)
    assert LocalRules(mirrored, mirrored.model).tightest.multiplier[0] > 0  # type: ignore[arg-type]


@given(st.sampled_from([0.01, 0.1, 0.3]), INNER_SHARES, eighths(-3, 3), eighths(-3, 3))
def test_budgets_bind_to_the_last_digits(eps: float, q: float, m0: float, m1: float) -> None:
    fed = ff.Federation.normal([[m0, m1]], q=q)
    s = ff.solve(fed, "cfl", eps)
    erm = ff.solve(fed, "cfl", np.inf)
    if erm.disparity > eps:
        assert s.disparity == pytest.approx(eps, abs=1e-14)
        assert (
            np.sign(s.mean_difference) == np.sign(erm.mean_difference) == -np.sign(s.multipliers[0])
        )
    else:
        assert s.multipliers[0] == 0 and s.accuracy == erm.accuracy


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
