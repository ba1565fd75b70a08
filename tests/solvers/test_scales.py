"""One federation in other units of x: the same answers, or what doubles cannot tell."""

from typing import Any

import numpy as np
import pytest
from populations import continuous_model
from scipy import stats

import fairfl as ff
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.eta import Logistic, Monotone
from fairfl.theory.populations.fedfb_figures import MEANS_5

MEANS = np.array(MEANS_5)
BUDGETS = {"cfl": 0.05, "lft_ensemble": [0.05, 0.1]}


@pytest.mark.parametrize("scheme", BUDGETS)
@pytest.mark.parametrize("unit", [1e-200, 1e-30, 1e30, 1e200, 1e306])
def test_units_do_not_matter(unit: float, scheme: Any, **task: Any) -> None:
    feds = [ff.Federation.normal(MEANS * u, sd=u, eta=Logistic(1 / u)) for u in (1.0, unit)]
    plain, scaled = (ff.solve(fed, scheme, **{"eps": BUDGETS[scheme]} | task) for fed in feds)
    assert scaled.accuracy == pytest.approx(plain.accuracy, abs=1e-12)
    assert scaled.mean_difference == pytest.approx(plain.mean_difference, abs=1e-12)
    np.testing.assert_allclose(scaled.multipliers, plain.multipliers, atol=1e-12)


def test_units_do_not_matter_where_scores_tie() -> None:
    test_units_do_not_matter(1e-30, "lft_ensemble", eps=0.0, notion="eodds")


@pytest.mark.parametrize("slope", [1e-30, 1e-300])
def test_an_eta_that_hardly_rises_still_orders_the_rules(slope: float) -> None:
    # η = 1/2 + slope·x/4 to first order: λ is of the size of slope, and the thresholds ∓2λ/slope
    # are of the size of x
    fed = ff.Federation.normal(MEANS, eta=Logistic(slope))
    s = ff.solve(fed, "cfl", 0.05)
    assert s.disparity == pytest.approx(0.05, abs=1e-13) and s.accuracy == pytest.approx(
        0.5, abs=1e-15
    )
    t0, t1 = (s.classifier.edges[a][0] for a in (0, 1))
    # |t| = 4|λ|/slope for equal masses, and a rule that is symmetric about the threshold of no
    # budget, 0
    assert t0 == pytest.approx(-t1, rel=1e-12) and abs(s.multipliers[0]) == pytest.approx(
        slope * abs(t0) / 4, rel=1e-9
    )


@pytest.mark.parametrize("scheme", BUDGETS)
def test_x_that_doubles_do_not_tell_apart_is_named(scheme: str) -> None:
    # one rounding of x near 1e6, 1.2e-10, is 1.2e-7 standard deviations: thresholds in doubles miss
    # budgets by 1e-8
    fed = ff.Federation.normal(1e6 + 1e-3 * MEANS, sd=1e-3, eta=Logistic(1e3, -1e9))
    with pytest.raises(
        CertificationError,
        match=r"x near 1e\+06 is known to one rounding, 1.2e-10.* take a constant",
    ):
        ff.solve(fed, scheme, BUDGETS[scheme])


@pytest.mark.parametrize("scheme", BUDGETS)
def test_levels_within_a_rounding_of_one_are_left_to_the_dual(scheme: str) -> None:
    # the laws' middle is at 1 - η = 1e-22 and less, which an inverse of η cannot be asked for
    fed = ff.Federation.normal(10 * MEANS, sd=1, eta=Monotone(stats.norm.cdf, stats.norm.ppf))
    s = ff.solve(fed, scheme, BUDGETS[scheme])
    assert max(c.worst for c in s.certificates) <= 1e-10
    # rules are independent of the solver: CFL's meets the budget on the laws themselves
    assert scheme != "cfl" or s.classifier.disparity(fed) == pytest.approx(0.05, abs=1e-10)


def test_the_rounding_of_a_federation() -> None:
    fed = ff.Federation.normal([[0.0, 0.0], [1e6, 0.0]], sd=[[1.0, 1.0], [0.5, 1.0]])
    passed, x, step = continuous_model(fed).rounding
    assert step == np.spacing(1e6) == np.spacing(x)
    # half way between the break at the mean and that at 3 sd
    density = np.exp(-(1.5**2) / 2) / (0.5 * np.sqrt(2 * np.pi))
    assert passed == pytest.approx(density * step, rel=1e-6)


@pytest.mark.parametrize("notion", ["false_positive_rate_parity", "eodds"])
@pytest.mark.parametrize("scheme", BUDGETS)
def test_negatives_are_integrated_without_cancellation_or_refused(scheme: str, notion: str) -> None:
    """1 - η by cancellation made the figures of certified solutions raise after some 30 seconds."""
    probit = stats.norm.cdf, stats.norm.ppf
    fed = ff.Federation.normal([[3, 22], [1, -1]], eta=Monotone(*probit, negative=stats.norm.sf))
    s = ff.solve(fed, scheme, BUDGETS[scheme], notion=notion)
    assert s.accuracy > 0.5 and s.local_disparities.max() <= 1 and s.plot() is not None
    few = stats.norm.sf(22 / np.sqrt(2))
    assert continuous_model(fed).rates(s.notion).mass[-1, 0, 1] == pytest.approx(few / 4, rel=1e-9)
    for mean in (6.8, 8, 22):
        fed = ff.Federation.normal([[3, mean], [1, -1]], eta=Monotone(*probit))
        with pytest.raises(ValueError, match=r"eta must have negative=.*group 1 of a client P"):
            ff.solve(fed, scheme, BUDGETS[scheme], notion=notion)


NOTIONS = ("dp", "eo", "false_positive_rate_parity", "eodds", "accuracy_parity")
RARE = {
    "positives 7e-7": ([stats.norm(0.55, 1.77), stats.norm(-5.1, 0.8)], ff.Logistic(3.04, -1.65)),
    "negatives 2e-7": ([stats.norm(0.0, 1.0), stats.norm(6.0, 0.7)], ff.Logistic(3.0, 1.0)),
    "two poles": ([stats.gamma(0.485), stats.beta(0.596, 0.596)], ff.Logistic(1.0, 0.0)),
    "pole at one": ([stats.beta(2.0, 0.596), stats.norm(0.0, 1.0)], ff.Logistic(3.0, -2.0)),
    "pole off zero": ([stats.gamma(0.5, -0.6), stats.gamma(1.9, -0.5)], ff.Logistic(1.0, 0.0)),
}


@pytest.mark.parametrize("sees", ["xa", "x"])
@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("name", RARE)
@pytest.mark.every(7)
def test_rare_events_and_infinite_densities_are_certified(
    name: str, notion: str, sees: str
) -> None:
    laws, eta = RARE[name]
    fed = ff.Federation([ff.Client(tuple(laws), 0.4)], eta)
    for eps in (0.0, 0.05):
        s = ff.solve(fed, "cfl", eps, notion=notion, sees=sees)
        assert s.disparity <= eps + 1e-10 and abs(s.duality_gap) <= 1e-10


def test_a_mixture_on_a_line_far_longer_than_where_people_are() -> None:
    """Cells of a programme are as narrow as poles need, whatever the tails of another group."""
    places = (
        ((6.53, 2.379), (2.343, 1.418), (0.269, 0.874)),
        ((-1.423, 0.203), (6.343, 0.429), (-1.616, 0.825)),
        ((1.454, 1.076), (-0.127, 0.34), (3.629, 0.662)),
    )
    shapes = ((1.949, 0.475, 0.0), (1.308, 1.247, 0.839), (1.042, 1.268, 0.0))
    shares = ((0.142, 0.357, 0.501), (0.043, 0.17, 0.787), (0.018, 0.227, 0.755))

    def law(at: Any, c: float) -> Any:
        mixed = [stats.norm(*at), stats.gamma(c or 1.0, *at)]
        return ff.Mixture(mixed, [2, 1]) if c else stats.t(6.2, *at)

    rows = zip(places, shapes, shares, (2, 1, 7), strict=True)
    clients = [ff.Client(tuple(map(law, at, c)), q, weight) for at, c, q, weight in rows]
    fed = ff.Federation(clients, ff.Logistic(3.897, 2.161))
    s = ff.solve(fed, "lft_fedavg", 0.01, notion="eo", sees="x")
    assert np.nanmax(s.local_disparities) <= 0.01 + 1e-10 and abs(s.duality_gap) <= 1e-10


@pytest.mark.parametrize("notion", ["eo", "false_positive_rate_parity", "eodds"])
@pytest.mark.parametrize("share", [1e-6, 1e-12])
def test_rare_events_of_clients_with_their_own_eta(notion: Any, share: float) -> None:
    rng = np.random.default_rng(49)
    masses = rng.dirichlet(np.ones(12), 3).reshape(3, 2, 6)
    rare = rng.random((3, 2, 6)) * [[share], [1.0]]
    eta = 1.0 - rare if notion == "false_positive_rate_parity" else rare
    s = ff.solve(ff.Federation.finite(np.arange(6), masses, eta), "cfl", 0.01, notion=notion)
    assert s.disparity <= 0.01 + 1e-12
