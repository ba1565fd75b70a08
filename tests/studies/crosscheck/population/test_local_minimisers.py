"""FedFB's and CFL's ends on a sample: a general optimiser, the population's optimum."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, special

from fairfl.sims.data.federated.population import sample
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.learned_rules import Found
from fairfl.studies.crosscheck.population.local_minimisers import learned, minimiser
from fairfl.studies.crosscheck.population.worlds import spread
from fairfl.studies.crosscheck.standard_errors import NEAR, OVER, PEOPLE

WORLD = spread(3, 1.5, 0.2)


@pytest.mark.parametrize("rho", [0.3, 1.0, 1.7])
def test_newton_against_a_general_optimiser(rho):
    rng = np.random.default_rng(3)
    x = rng.normal(-2, 1, 300)
    y = (rng.random(300) < special.expit(x)).astype(int)

    def loss(theta):
        z = theta[0] + theta[1] * x
        return (np.where(y == 1, (2 - rho) * np.logaddexp(0, -z), rho * np.logaddexp(0, z))).mean()

    twin = optimize.minimize(
        loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-14}
    )
    assert minimiser(x, y, rho, np.array([0.0, 1.0])) == pytest.approx(twin.x, abs=1e-5)


@pytest.mark.parametrize("averaged", [False, True])
def test_many_people_learn_cfls_optimum(averaged):
    """η is logistic and shared: on the population both are CFL, thresholds log(ρ_a / (2 - ρ_a))."""
    federation = WORLD.federation
    best = solve(federation, "cfl", 0.0)
    found = learned(sample(federation, 100_000, 1), averaged)
    for a in (0, 1):
        assert found.rule.edges[a] == pytest.approx(best.classifier.edges[a], abs=0.06)
    assert abs(found.difference) < 1e-3 and sum(found.lam) == pytest.approx(1)
    assert Found.of(found.rule, federation).accuracy == pytest.approx(best.accuracy, abs=2e-3)


def test_one_client_has_nothing_to_average():
    data = sample(WORLD.federation, 2_000, 0)
    alone = replace(data, owner=np.zeros_like(data.owner), n_clients=1, client_names=())
    one, other = learned(alone, averaged=True), learned(data, averaged=False)
    assert one.lam == other.lam and [*one.rule.edges[0]] == [*other.rule.edges[0]]


def test_a_client_without_a_label_has_no_minimiser():
    data = sample(WORLD.federation, 2_000, 0)
    mine = (data.owner == 1) & (data.group == 0)
    with pytest.raises(
        ValueError, match=r"both labels in every group of every client, got \(0, 1\) without"
    ):
        learned(replace(data, y=np.where(mine, 1, data.y)), averaged=True)


def test_the_largest_standard_errors():
    """p (1 - p) / n is largest at 1/2; a difference of two halves of n adds two of n/2."""
    p = np.linspace(0, 1, 101)
    variance = p * (1 - p)
    assert pytest.approx(np.sqrt(variance / PEOPLE).max()) == NEAR == 0.005
    assert pytest.approx(np.sqrt(2 * (variance + variance[:, None]) / PEOPLE).max()) == OVER == 0.01
