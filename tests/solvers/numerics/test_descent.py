"""The programme on cells: its multipliers against HiGHS; many clients, tight budgets."""

import numpy as np
import pytest
import scipy

import fairfl as ff
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.numerics import descent, highs


def random_federation(clients: int, seed: int = 0) -> ff.Federation:
    rng = np.random.default_rng([seed, clients])
    mean, sd = rng.normal(size=(clients, 2)), rng.uniform(0.5, 2.5, (clients, 2))
    return ff.Federation.normal(mean, sd, rng.uniform(0.1, 0.9, clients))


@pytest.mark.parametrize(("clients", "eps"), [(3, 0.0), (3, 0.3), (12, 0.01), (12, 1.0)])
def test_the_multipliers_are_those_of_highs(clients: int, eps: float) -> None:
    problem = RuleFamily.of(random_federation(clients, seed=1)).problem
    parts = [p.cells() for p in problem.profiles]
    gain = np.concatenate([c[0] for c in parts])
    v = np.concatenate(
        [rows @ c[1:] for rows, c in zip(problem.coefficients, parts, strict=True)], axis=1
    )
    limits = np.full(2 * clients, eps)
    rows = np.concatenate([v, -v])
    best = scipy.optimize.linprog(-gain, rows, limits, bounds=(0, 1), options=highs.OPTIONS)
    (lam,) = descent.on_cells(problem, np.full((1, clients), eps))
    dual = np.maximum(gain + lam @ v, 0.0).sum() + eps * np.abs(lam).sum()
    assert abs(dual + best.fun) <= 1e-8


@pytest.mark.parametrize(
    ("clients", "seed", "eps"), [(20, 0, 0.001), (50, 1, 0.0), (200, 1, 0.0), (200, 1, 0.01)]
)
def test_tight_budgets_of_many_clients_are_certified(clients: int, seed: int, eps: float) -> None:
    # at 200 clients and 0.01 one gap of 1e-5 decides; a rounding of λ moves MD by 1e-9
    s = ff.solve(random_federation(clients, seed), "lft_fedavg", eps)
    assert abs(s.duality_gap) <= 1e-10
    assert np.abs(s.local_mean_differences).max() <= eps + 1e-10
