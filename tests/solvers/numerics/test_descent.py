"""The programme on cells: its multipliers against HiGHS; many clients, tight budgets."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

import fairfl as ff
from fairfl.solvers.density_rules import RuleFamily
from fairfl.solvers.numerics import descent, highs
from fairfl.solvers.numerics.descent import descend
from fairfl.solvers.numerics.dual import dual_point, kkt_residual
from fairfl.solvers.numerics.newton import _together, settled


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


def test_cells_add_up_to_the_integrals() -> None:
    profile = RuleFamily.of(random_federation(4)).problem.profiles[0]
    assert profile.cells().sum(axis=1) == pytest.approx(profile.totals, abs=1e-14)


@pytest.mark.parametrize(
    ("clients", "seed", "eps"), [(20, 0, 0.001), (50, 1, 0.0), (200, 1, 0.0), (200, 1, 0.01)]
)
def test_tight_budgets_of_many_clients_are_certified(clients: int, seed: int, eps: float) -> None:
    # at 200 clients and 0.01 one gap of 1e-5 decides; a rounding of λ moves MD by 1e-9
    s = ff.solve(random_federation(clients, seed), "lft_fedavg", eps)
    assert abs(s.duality_gap) <= 1e-10
    assert np.abs(s.local_mean_differences).max() <= eps + 1e-10


def test_newton_in_cuts_and_multipliers_together_ends_where_newton_in_multipliers_does() -> None:
    problem, eps = RuleFamily.of(random_federation(20)).problem, np.full((1, 20), 0.01)
    start = dual_point(problem, descent.on_cells(problem, eps))
    polished, better = settled(problem, start, eps)
    assert better.all() and kkt_residual(polished.lam, polished.values, eps)[0] <= 1e-13
    exact = dual_point(problem, polished.lam)  # D(λ) and the rule by isolating roots anew
    assert polished.dual(eps) == pytest.approx(exact.dual(eps), abs=1e-15)
    for accepted, isolated in zip(polished.sets, exact.sets, strict=True):
        assert accepted.cut == pytest.approx(isolated.cut, abs=1e-9)
        assert accepted.integrals == pytest.approx(isolated.integrals, abs=1e-9)
    # one cut moved by 1e-6 is seen, and set right
    first, profile = polished.sets[0], problem.profiles[0]
    cut = first.cut + 1e-6 * (np.arange(first.cut.size) == 0)
    change = (profile.above(cut) - profile.above(first.cut))[:, 0] @ first.sign[0]
    values = polished.values + problem.coefficients[0] @ change[1:]
    sets = (replace(first, cut=cut, integrals=first.integrals + change), *polished.sets[1:])
    moved = replace(polished, sets=sets, accuracy=polished.accuracy + change[0], values=values)
    assert kkt_residual(moved.lam, moved.values, eps)[0] > 1e-10
    again = _together(problem, moved, eps)
    assert again.sets[0].cut == pytest.approx(polished.sets[0].cut, abs=1e-12)


def test_what_the_descent_returns_bounds_every_feasible_accuracy() -> None:
    problem, eps = RuleFamily.of(random_federation(20)).problem, np.full(20, 0.01)
    last = descend(problem, eps)[-1]
    exact = dual_point(problem, last.lam)
    assert last.dual(eps[None])[0] >= exact.dual(eps[None])[0] - 1e-15


def test_many_problems_at_once_end_where_each_ends_alone() -> None:
    # with numbers of cuts of their own; budgets near those of the multipliers, and some far off
    family = RuleFamily.of(random_federation(4))
    problem, rng = family.problem, np.random.default_rng(0)
    free = dual_point(problem, np.zeros((1, 4))).values
    lam = -np.sign(free) * rng.uniform(0, 0.1, (30, 4))
    start = dual_point(problem, lam)
    assert len(np.unique(np.sum([s.counts for s in start.sets], axis=0))) > 1
    eps = np.abs(start.values) * rng.uniform(0.9, 1.1, lam.shape)
    eps[::5] = 0.0
    together, better = settled(problem, start, eps)
    assert 0 < better.sum() < len(lam)
    for k in range(len(lam)):
        row = np.array([k])
        alone, met = settled(problem, start.take(row), eps[row])
        assert met[0] == better[k]
        assert together.lam[k] == pytest.approx(alone.lam[0], abs=1e-11)
        assert together.values[k] == pytest.approx(alone.values[0], abs=1e-10)
        if met[0]:  # a quarter of what the conditions missed, at most
            before, after = (
                kkt_residual(p.lam, p.values, eps[row]) for p in (start.take(row), alone)
            )
            assert after[0] <= 0.25 * before[0]
