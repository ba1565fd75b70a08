"""Expansions against exact distribution functions and adaptive quadrature."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from populations import continuous_model
from scipy import integrate, stats
from strategies import federations, laws

from fairfl.theory.numerics import piecewise_chebyshev as pw
from fairfl.theory.populations.client import Client
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.eta import Logistic
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.laws import as_law
from fairfl.theory.populations.notions import NEGATIVE, POSITIVE, Rate


def expansion(law: Any) -> pw.Piecewise:
    return pw.build(
        lambda x: law.pdf(x)[None],
        lambda lo, hi: (law.cdf(hi) - law.cdf(lo))[None],
        lambda x, p: p,
        law.breaks,
    )


@given(laws())
def test_above_is_the_survival_function_and_values_are_the_density(frozen: Any) -> None:
    law = as_law(frozen)
    p = expansion(law)
    x = np.concatenate([np.linspace(-6, 6, 97), law.breaks])
    np.testing.assert_allclose(p.above(x)[0], law.sf(x), atol=1e-13 + p.error[0])
    assert p.error[0] <= 1e-12
    np.testing.assert_allclose(
        p.above(np.array([-np.inf, np.inf]))[0], [p.totals[0], 0.0], rtol=0, atol=1e-16
    )
    assert p.totals[0] == pytest.approx(1.0, abs=1e-13)
    x = np.linspace(-6, 6, 101) + 0.01234
    inside = (x > law.low) & (x < law.high)
    assert not p.values(x[(x < law.low) | (x > law.high)]).any()
    scale = float(np.max(law.pdf(law.breaks[1:-1]), initial=1.0))
    density = law.pdf(x[inside])
    np.testing.assert_allclose(p.values(x[inside])[0], density, rtol=1e-6, atol=1e-8 * scale)


HARD = [stats.gamma(0.5), stats.gamma(0.25, 1.0), stats.beta(0.5, 0.5), stats.chi2(1)]
HARD += [stats.beta(0.25, 3.0, -2.0, 4.0), stats.uniform(-1 / 3, 1 / 7), stats.pareto(2.5)]
HARD += [stats.lognorm(2.0), stats.cauchy(), stats.weibull_min(0.7), stats.triang(0.3)]
HARD += [stats.norm(1e6, 1e-3), stats.truncnorm(-0.5, 3.0)]


@pytest.mark.parametrize("frozen", HARD, ids=lambda law: f"{law.dist.name}{law.args}")
def test_poles_jumps_and_heavy_tails(frozen: Any) -> None:
    law = as_law(frozen)
    p = expansion(law)
    x = np.concatenate([law.breaks, law.breaks[:-1] + np.diff(law.breaks) * 0.37])
    # panel ends (the breaks among them) are as exact as scipy (5e-12 for beta(0.5, 0.5)); inside a
    # panel a steep density's x is known to a rounding only: 4e-9 next to the pole of beta(0.25, 3)
    # at -2, and error_at says so
    np.testing.assert_allclose(p.above(law.breaks)[0], law.sf(law.breaks), rtol=0, atol=1e-11)
    for cut in x:
        # scipy itself is off by 2e-11 here: beta(0.5, 0.5).sf(x) is 1 - (2/π) asin √x
        assert abs(float(p.above(cut)[0] - law.sf(cut))) <= 1e-10 + p.error_at(cut)[0]
    assert p.error[0] < 1e-10


def test_a_narrow_spike_is_not_missed() -> None:
    law = as_law(stats.norm(0, 1))
    spike = stats.norm(0.123456, 1e-7)
    p = pw.build(
        lambda x: (0.5 * law.pdf(x) + 0.5 * spike.pdf(x))[None],
        lambda lo, hi: (0.5 * (law.cdf(hi) - law.cdf(lo)) + 0.5 * (spike.cdf(hi) - spike.cdf(lo)))[
            None
        ],
        lambda x, q: q,
        np.array([-10.0, 10.0]),
    )
    assert p.above(np.array([0.123456]))[0, 0] == pytest.approx(
        0.5 * law.sf(0.123456) + 0.25, abs=1e-10
    )


@settings(max_examples=12)
@given(federations(max_clients=3))
def test_many_clients_and_few_have_the_same_gain(fed: Federation) -> None:
    # above eight clients the panels are common ones: copies of the same clients must give the same
    # integrals
    model, copies = continuous_model(fed), np.repeat(np.arange(fed.n_clients), 9)
    laws, etas = ([kind[i] for i in copies] for kind in (model.laws, model.etas))
    many = ContinuousModel(laws, etas, fed.weight[copies] / 9, fed.share[copies])
    x = np.linspace(-4, 4, 33)
    for a in (0, 1):
        few = model.gain(a).above(x)[0]
        np.testing.assert_allclose(many.gain(a).above(x)[0], few, atol=1e-12)


def test_a_density_that_lies_about_its_mass_is_refused() -> None:
    law = as_law(stats.norm(0, 1))
    functions = lambda x: law.pdf(x)[None], lambda lo, _: np.full((1, lo.size), 0.5)
    with pytest.raises(ValueError, match="too rough"):
        pw.build(*functions, lambda x, p: p, law.breaks, max_levels=9)


@pytest.mark.parametrize(("rate", "mean"), [(POSITIVE, -6.0), (NEGATIVE, 6.0)])
def test_rare_events_are_integrated_to_their_own_scale(rate: Rate, mean: float) -> None:
    # P(y | a) is 1e-8 here, and 1e-16 of the whole would be 1e-8 of it
    fed = Federation([Client((stats.norm(mean, 0.8),) * 2, q=0.5)], eta=Logistic(3.04))
    model: Any = fed.model
    profile = model.profile((0,), rates=(rate,))
    sign = 1.0 if rate == POSITIVE else -1.0

    def slow(x: float) -> float:
        return float(stats.norm(mean, 0.8).pdf(x) / (1.0 + np.exp(-sign * 3.04 * x)))

    expected = integrate.quad(slow, mean - 8, mean + 8, points=[mean, 0.0], epsrel=1e-13)[0]
    assert profile.totals[1] == pytest.approx(expected, rel=1e-11)
    assert profile.error_at(np.array([0.1]))[1] <= 1e-14 * expected
