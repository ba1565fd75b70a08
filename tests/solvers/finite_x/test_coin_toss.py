"""Of several optima on a finite X the one nearest to a coin toss, whatever the order is."""

import numpy as np
import pytest
import scipy
from tasks import federation, random_question

import fairfl as ff
from fairfl.solvers.finite_x.coin_toss import nearest_to_toss
from fairfl.solvers.finite_x.linear_programme import solve_box
from fairfl.solvers.problem import clients_problem, own_problems
from fairfl.solvers.task import Task

SAME = 1e-9
CLOSE = 1e-7
"""HiGHS' own tolerance leaves 2e-8."""


def smallest_distance(problem, f, cells):
    """The least sup |g - 1/2| over ``cells`` of rules g in the budgets that are as useful as f."""
    limited = np.isfinite(problem.eps)
    v, b, eps = problem.v[limited], problem.b[limited], problem.eps[limited]
    g = np.eye(f.size)[cells]
    rows = np.concatenate([g, -g, v, -v, -problem.u[None]])
    half = np.full(len(g), 0.5)
    ends = np.concatenate([half, -half, eps - b, eps + b, [1e-12 - problem.u @ f]])
    distance = -1.0 * (np.arange(len(rows)) < 2 * len(g))
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    cost, table = np.append(np.zeros(f.size), 1.0), np.column_stack([rows, distance])
    return scipy.optimize.linprog(cost, table, ends, bounds=(0, 1), options=tight).fun


@pytest.mark.parametrize("seed", range(30))
def test_no_optimal_rule_is_nearer_to_a_toss(seed):
    """The cells that are tossed for: others are 0 or 1 in every optimal rule."""
    rng = np.random.default_rng(seed)
    fed = federation(rng, groups=3)
    eps, options = random_question(rng, fed, "lft_ensemble")[1:]
    if seed % 2:
        problems = [clients_problem(fed, Task.of(fed, "lft_fedavg", **options)).at(eps)]
    else:
        own = own_problems(fed, Task.of(fed, "lft_ensemble", **options))
        problems = [problem.at(budget[None]) for problem, budget in zip(own, eps, strict=True)]
    for problem in problems:
        f, lam = solve_box(problem)
        g = nearest_to_toss(problem, f, lam)
        assert problem.violation(g) <= 1e-12 and problem.u @ g >= problem.u @ f - 1e-12
        cells = np.flatnonzero((g > 0) & (g < 1) & (np.arange(g.size) < g.size - problem.levels))
        if cells.size:
            nearest = smallest_distance(problem, f, cells)
            assert np.abs(g - 0.5)[cells].max() <= nearest + CLOSE


@pytest.mark.parametrize("notion", ["accuracy_parity", "false_positive_rate_parity", "eodds"])
@pytest.mark.parametrize("difference", ["pairwise", "overall"])
@pytest.mark.parametrize("seed", range(3))
def test_members_depend_on_no_order(seed: int, notion: str, difference: str) -> None:
    """Points, groups, clients in another order, one η for all groups: cells tie at one x."""
    rng = np.random.default_rng(seed)
    masses, eta = rng.gamma(1.0, size=(3, 3, 5)) + 0.05, np.sort(rng.random(5))
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    first = ff.Federation.finite(np.arange(5), masses, eta)
    points, groups, clients = rng.permutation(5), rng.permutation(3), rng.permutation(3)
    turned = masses[clients][:, groups][:, :, points]
    second = ff.Federation.finite(np.arange(5), turned, eta[points])
    for eps in (0.0, 0.02, 0.1):
        s, t = (
            ff.solve(fed, "lft_ensemble", eps, notion=notion, difference=difference, costs=(2, 1))
            for fed in (first, second)
        )
        assert t.disparity == pytest.approx(s.disparity, abs=SAME)
        assert t.utility == pytest.approx(s.utility, abs=SAME)
        x = np.arange(5)
        for a in range(3):
            np.testing.assert_allclose(
                t.classifier(x, a), s.classifier(points, groups[a]), atol=SAME
            )


def test_where_nobody_is_a_tie_is_a_toss() -> None:
    """Nobody of group 0 is at x = 2, whose η is that of x = 1, where the group's people tie. The
    last bits of the masses decided whether all or none would be accepted there.
    """
    masses = np.array([[[0.1, 0.1, 0.0, 0.1], [0.05, 0.1, 0.15, 0.1]]])
    rng = np.random.default_rng(0)
    for _ in range(8):
        last = masses * (1.0 + 2e-16 * rng.integers(-2, 3, masses.shape))
        fed = ff.Federation.finite([0, 1, 2, 3], last / last.sum(), [0.2, 0.45, 0.45, 0.9])
        f = ff.solve(fed, "lft_ensemble", 0.0, notion="eodds").classifier
        assert 0.0 < f(1.0, a=0) < 0.1 and f(2.0, a=0) == 0.5
        free = ff.solve(fed, "lft_ensemble", 1.0, notion="eodds").classifier
        assert free(2.0, a=0) == 0.0  # no tie


@pytest.mark.parametrize("notion", ["accuracy_parity", "dp", "eodds"])
@pytest.mark.parametrize("seed", range(8))
def test_clients_with_the_same_people_have_the_same_rule(seed: int, notion: str) -> None:
    """A vertex of the linear programme is randomised at one client, and unfair there."""
    rng = np.random.default_rng(seed)
    mass = rng.gamma(1.0, size=(2 + seed % 2, 6)) + 1e-3
    masses = np.broadcast_to(mass / mass.sum(), (4, *mass.shape))
    fed = ff.Federation.finite(np.arange(6), masses, np.sort(rng.random(6)))
    for eps in (0.0, 0.05):
        s = ff.solve(fed, "client_aware", eps, notion=notion)
        cfl = ff.solve(fed, "cfl", eps, notion=notion)
        assert s.accuracy == pytest.approx(cfl.accuracy, abs=1e-12)
        assert s.local_disparities == pytest.approx(np.full(4, cfl.disparity), abs=1e-9)
