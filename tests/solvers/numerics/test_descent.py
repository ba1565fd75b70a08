"""Programmes on cells: multipliers against HiGHS, whose answers are made exact; many clients."""

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


@pytest.mark.parametrize("seed", range(20))
def test_highs_answers_are_exact(seed: int) -> None:
    """The dual bound meets them: zero and dependent constraints, columns of different size."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 6)), int(rng.integers(2, 15))
    gain, table = rng.normal(size=columns), rng.normal(size=(rows, columns))
    size = 10.0 ** rng.uniform(-9, 0, columns) if seed % 2 else np.ones(columns)
    table, gain = table * size, gain * size
    if seed % 3 == 0 and rows > 1:
        table[-1] = table[0]
    b = -table.sum(axis=1) / 2.0  # a coin toss is feasible
    budgets = np.where(rng.random(rows) < 0.5, 0.0, rng.uniform(0, 0.1, rows))
    x, y = highs.Maximiser(gain, table).best(-budgets - b, budgets - b) or (b, b)
    assert x.min() >= 0 and x.max() <= 1
    assert np.abs(table @ x + b).max() <= budgets.max() + 1e-15
    bound = np.maximum(gain - y @ table, 0.0).sum() - y @ b + np.abs(y) @ budgets
    assert gain @ x - 1e-15 <= bound <= gain @ x + 1e-12


@pytest.mark.parametrize("seed", [8, 11, 37])
@pytest.mark.every(3)
def test_many_clients_with_many_budgets_of_zero(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of 200 clients has a budget of zero, a fifth none: Newton's method ends far away. The
    rule of a programme is better than those of fewer rounds, and ``solve`` certifies it.
    """
    rng, clients = np.random.default_rng([200, seed]), 200
    mean, sd = rng.normal(0, 1, (clients, 2)), rng.uniform(0.5, 2, (clients, 2))
    fed = ff.Federation.normal(mean, sd, rng.uniform(0.2, 0.8, clients))
    eps = rng.uniform(0, 0.3, clients)
    eps[rng.random(clients) < 0.2] = 0.0
    eps[rng.random(clients) < 0.2] = 1.0
    solution = ff.solve(fed, "lft_fedavg", eps)
    assert solution.certificates[0].gap <= 5e-11
    assert (solution.local_disparities - eps).max() <= 1e-11
    monkeypatch.setattr("fairfl.solvers.numerics.descent.ROUNDS", 3)
    with pytest.raises(ff.CertificationError):
        ff.solve(fed, "lft_fedavg", eps)
