"""LFT+Ensemble on a finite X without concave trade-offs, or cells: against brute force."""

import itertools

import numpy as np
import pytest
from audit import Finite
from hypothesis import given, settings
from hypothesis import strategies as st

import fairfl as ff
from fairfl.solvers.finite_x.client_path import ClientPath, client_path
from fairfl.solvers.lft_ensemble import finite_branch_and_bound
from fairfl.solvers.problem import law_problem, own_problems
from fairfl.solvers.task import Task


def few_atoms(seed: int, unseen: bool, clients: int = 2, atoms: int = 4) -> ff.Federation:
    """Random masses, a fourth of them zero if ``unseen``; of odd seeds an η per client."""
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.02, 1, (clients, 2, atoms))
    if unseen:
        masses *= rng.random(masses.shape) > 0.25
    masses[:, :, 0] += 0.01  # nobody is empty
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    eta = rng.random((clients, atoms)) if seed % 2 else np.sort(rng.random(atoms))
    return ff.Federation.finite(np.arange(atoms), masses, eta, weight=rng.uniform(0.3, 2, clients))


def paths_of(fed: ff.Federation) -> list[ClientPath]:
    task = Task.of(fed, "lft_ensemble")
    whole = law_problem(fed, task)
    return [client_path(problem.path, whole) for problem in own_problems(fed, task) if problem.path]


def test_a_jump_is_crossed_and_never_stood_on() -> None:
    # client 0 favours group 1 by 0.2, and has nobody of group 0 at x = 1, where 0.5·|2·0.45 - 1| is
    # the least: as its budget falls below 0.2 that cell flips at once, and with it the 0.2/0.5 that
    # client 1 has there
    masses = np.array(
        [[[0.3, 0.0, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2]], [[0.1, 0.2, 0.1, 0.1], [0.2, 0.1, 0.1, 0.1]]]
    )
    fed = ff.Federation.finite([0, 1, 2, 3], masses, [0.2, 0.45, 0.7, 0.9])
    path, second = paths_of(fed)
    assert path.jump.tolist()[0] and path.local[:2] == pytest.approx([0.2, 0.2])
    assert path.md[1] - path.md[0] == pytest.approx(0.5 * 0.4)  # P(i=1|a=0) = 1/2
    solved = (ff.solve(fed, "lft_ensemble", [eps, 1.0]) for eps in np.linspace(0, 0.5, 251))
    md = np.array([s.mean_difference for s in solved])
    low, high = fed.weight[0] * path.md[:2] + fed.weight[1] * second.md[0]
    assert (md <= low + 1e-12).any() and (md >= high - 1e-12).any()
    assert not ((md > low + 1e-12) & (md < high - 1e-12)).any()
    whole = fed.weight[1] * second.md[0] + fed.weight[0] * path.edges[1]
    for budgets, values in zip(path.edges[0], whole, strict=True):
        for eps, value in zip(budgets, values, strict=True):
            solution = ff.solve(fed, "lft_ensemble", [eps, 1.0])
            assert solution.mean_difference == pytest.approx(value, abs=1e-12)


def test_the_best_ensemble_may_stand_between_two_steep_edges() -> None:
    """Budgets below 0.5 are so far apart there that the next is 4e-8 of a client's MD further."""
    fed = Finite.random(np.random.default_rng([560, 0])).build()
    assert ff.min_disparity(fed, "lft_ensemble").accuracy == pytest.approx(0.65488119418, abs=3e-9)


def brute(fed: ff.Federation, d: float) -> tuple[float, float]:
    """(best accuracy with |MD| <= d, least |MD|) over vertices of paths, one client on an edge."""
    paths = paths_of(fed)
    md = [w * p.md for w, p in zip(fed.weight, paths, strict=True)]
    accuracy = [w * p.accuracy for w, p in zip(fed.weight, paths, strict=True)]
    best, smallest = -np.inf, np.inf
    for split in itertools.product(*(range(g.size) for g in md)):
        total, value = (
            sum(float(v[k]) for v, k in zip(rows, split, strict=True)) for rows in (md, accuracy)
        )
        reached = [(total, value)]
        for j, k in enumerate(split):
            if k + 1 < md[j].size and not paths[j].jump[k] and md[j][k + 1] != md[j][k]:
                for goal in (-d, 0.0, d):
                    t = (goal - total) / float(md[j][k + 1] - md[j][k])
                    if 0 <= t <= 1:
                        reached.append(
                            (goal, value + t * float(accuracy[j][k + 1] - accuracy[j][k]))
                        )
        smallest = min(smallest, *(abs(m) for m, _ in reached))
        best = max([best, *(a for m, a in reached if abs(m) <= d + 1e-12)])
    return best, smallest


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.booleans(), st.integers(2, 3), st.floats(0, 0.4))
def test_all_splits_and_no_other_are_as_good(
    seed: int, unseen: bool, clients: int, above: float
) -> None:
    fed = few_atoms(seed, unseen, clients)
    m = ff.min_disparity(fed, "lft_ensemble")
    d = m.disparity + above
    best, smallest = brute(fed, d)
    assert m.disparity == pytest.approx(smallest, abs=1e-12)
    F = ff.frontier(fed, "lft_ensemble", 5)
    assert F.exact and F.accuracy_at(d) == pytest.approx(best, abs=1e-9)


def test_a_search_cut_short_says_what_it_may_have_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    feds = [few_atoms(seed, True, clients=4) for seed in range(6)]
    best = [ff.frontier(fed, "lft_ensemble", 9) for fed in feds]
    monkeypatch.setattr(finite_branch_and_bound, "NODES", 2)
    short = [ff.frontier(fed, "lft_ensemble", 9) for fed in feds]
    lost = 0
    for full, cut in zip(best, short, strict=True):
        d = np.linspace(max(full.disparity[0], cut.disparity[0]), full.disparity[-1], 9)[1:]
        accuracy, lower = full.accuracy_at(d), cut.accuracy_at(d)
        assert (accuracy <= cut.bound_at(d) + 1e-9).all() and (lower <= accuracy + 1e-9).all()
        assert cut.exact <= (accuracy <= lower + 1e-9).all()
        lost += int((accuracy > lower + 1e-9).sum())
    assert lost > 0  # the bound had something to say


def test_a_sparse_table_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    fed = few_atoms(4, True, clients=12)
    dense = ff.frontier(fed, "lft_ensemble", 9)
    monkeypatch.setattr(finite_branch_and_bound, "MANY", 0)
    sparse = ff.frontier(fed, "lft_ensemble", 9)
    assert sparse.disparity == pytest.approx(dense.disparity, abs=1e-12)
    assert sparse.accuracy == pytest.approx(dense.accuracy, abs=1e-12)
