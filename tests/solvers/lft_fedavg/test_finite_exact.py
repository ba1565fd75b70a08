"""LFT+FedAvg's exact frontier on a finite X, its vertices and envelopes, against programmes."""

import itertools
from typing import Any

import numpy as np
import pytest
from audit import random_budgets
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from populations import finite_model
from scipy import optimize
from scipy.stats import norm
from strategies import budgets, finite_federations

import fairfl as ff
from fairfl.figures.catalog import real_data
from fairfl.solvers.lft_fedavg import finite_exact, finite_vertices
from fairfl.solvers.lft_fedavg.finite_search import FedAvgSearch
from fairfl.solvers.lft_fedavg.finite_vertices import (
    LinearProgramme,
    TooMany,
    Vertices,
    decided,
    vertices,
)
from fairfl.solvers.numerics.segments import Segments
from fairfl.solvers.problem import clients_problem
from fairfl.solvers.task import Task

FEWER = settings(max_examples=max(5, settings.default.max_examples // 4))  # type: ignore[union-attr]
SLACK, SCALE = 1e-12, 100.0
"""What a rule may lose to count as optimal in the programmes below, and what accuracies are
multiplied by there, so that this is as much as HiGHS tells apart. A rule that loses so little may
be fairer by SLACK over the exchange rate: where clients nearly cancel the rate is small, and no
programme in floats tells such a rule from an optimal one.
"""
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def random_federation(seed: int, clients: int, points: int) -> ff.Federation:
    """Random masses and η, per client in half of them; odd 64ths: near 1/2 MD costs nothing."""
    rng = np.random.default_rng(seed)
    masses = rng.gamma(1.0, size=(clients, 2, points)) + 1e-3
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    eta = rng.integers(0, 32, (clients, points) if seed % 2 else points) / 32 + 1 / 64
    return ff.Federation.finite(np.arange(points), masses, eta, weight=rng.uniform(0.3, 2, clients))


def optimum(fed: ff.Federation, eps: Any) -> tuple[float, float]:
    """(accuracy, the least MD of all optimal rules) for one eps, by programmes of their own."""
    model = finite_model(fed)
    local = clients_problem(fed, Task.of(fed, "lft_fedavg"))
    gain, rows = local.u, local.v
    pooled = np.concatenate(
        [fed.within[:, 0] @ model.conditional[:, 0], -(fed.within[:, 1] @ model.conditional[:, 1])]
    )
    a, b = np.concatenate([rows, -rows]), np.minimum(np.concatenate([eps, eps]), 2.0)
    best = optimize.linprog(-gain, A_ub=a, b_ub=b, bounds=(0, 1), options=TIGHT)
    assert best.success
    # minimise t >= |MD| over the rules that lose SLACK at most
    a2 = np.block(
        [[a, np.zeros((len(a), 1))], [-SCALE * gain, 0.0], [pooled, -1.0], [-pooled, -1.0]]
    )
    b2 = np.concatenate([b, [SCALE * (best.fun + SLACK), 0.0, 0.0]])
    cost = np.append(np.zeros(gain.size), 1.0)
    smallest = optimize.linprog(
        cost, A_ub=a2, b_ub=b2, bounds=[(0, 1)] * gain.size + [(0, 1)], options=TIGHT
    )
    assert smallest.success
    return 1.0 - fed.base_rate - float(best.fun), float(smallest.fun)


def tried(fed: ff.Federation, seed: int, count: int) -> Any:
    eps = random_budgets(fed, count, np.random.default_rng(seed))
    # the twin's tolerance blurs these
    return np.where(eps < 10 * TIGHT["primal_feasibility_tolerance"], 0.0, eps)


def check(fed: ff.Federation, budgets: Any, blur: float) -> None:
    """Budgets tried do not beat the frontier; its own points are the least disparate optima for
    their budgets. Where several are optimal ``solve`` may take another.

    ``blur`` is the MD that SLACK of accuracy may buy, at the federation's lowest exchange rate.
    """
    F = ff.frontier(fed, "lft_fedavg", points=7)
    low = F.disparity[0]
    for eps in budgets:
        accuracy, disparity = optimum(fed, eps)
        assert disparity >= low - blur, eps
        assert accuracy <= F.accuracy_at(max(disparity + blur, low)) + 1e-9, eps
        s = ff.solve(fed, "lft_fedavg", eps)
        assert s.disparity >= disparity - 1e-9, eps
        assert (
            s.disparity >= low - 1e-12
            and s.accuracy <= F.accuracy_at(max(s.disparity, low)) + 1e-12
        )
    for d, accuracy, eps in zip(F.disparity, F.accuracy, F.eps, strict=True):
        best, smallest = optimum(fed, eps)
        assert best == pytest.approx(accuracy, abs=1e-9)
        assert smallest - 1e-9 <= d <= smallest + blur
        s = ff.solve(fed, "lft_fedavg", eps)
        assert s.disparity >= d - 1e-11 and s.accuracy == pytest.approx(accuracy, abs=1e-12)


@FEWER
@given(finite_federations(max_clients=3, max_points=5), st.data())
def test_budgets_on_federations_full_of_ties(fed: ff.Federation, data: st.DataObject) -> None:
    check(
        fed,
        [*data.draw(st.lists(budgets(fed.n_clients), max_size=4)), *tried(fed, 0, 6)],
        blur=1e-7,
    )


@FEWER
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 7))
def test_budgets_on_federations_without_ties(seed: int, clients: int, points: int) -> None:
    fed = random_federation(seed, clients, points)
    check(fed, tried(fed, seed, 8), blur=1e-5)


@pytest.mark.parametrize("name", ["bank", "adult", "compas"])
@pytest.mark.deep
@pytest.mark.usefixtures("fairfl_data")
def test_real_people(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # 101 levels of a score, η pooled over many of them: ties of up to nine cells
    fed = real_data.federation(name)
    F = ff.frontier(fed, "lft_fedavg", points=3)
    monkeypatch.setattr(finite_exact, "CLIENTS", 0)
    searched = FedAvgSearch.of(fed, Task.of(fed, "lft_fedavg")).frontier(3)
    assert (
        searched.accuracy <= F.accuracy_at(np.maximum(searched.disparity, F.disparity[0])) + 1e-12
    ).all()
    assert searched.disparity[0] >= F.disparity[0] - 1e-12
    assert (F.accuracy <= ff.frontier(fed, "cfl", points=2).accuracy_at(F.disparity) + 1e-12).all()
    for d, accuracy, eps in zip(F.disparity, F.accuracy, F.eps, strict=True):
        s = ff.solve(fed, "lft_fedavg", eps)
        assert (s.disparity, s.accuracy) == (
            pytest.approx(d, abs=1e-12),
            pytest.approx(accuracy, abs=1e-12),
        )


# between two ends of segments, where another one takes the lead, worths of 2e-4 were missed
@pytest.mark.parametrize("seed", [2, 6])
def test_two_normal_clients_on_fine_cells(seed: int) -> None:
    rng, edges = np.random.default_rng(seed), np.linspace(-6, 6, 101)
    mean, sd = rng.normal(0, 1, (2, 2)), rng.uniform(0.5, 2, (2, 2))
    masses = np.diff(norm.cdf((edges - mean[..., None]) / sd[..., None]), axis=-1)
    q = rng.uniform(0.2, 0.8, (2, 2))
    masses *= (q / q.sum(axis=1, keepdims=True) / masses.sum(axis=-1))[..., None]
    middle, weight = (edges[1:] + edges[:-1]) / 2, rng.uniform(0.3, 2, 2)
    fed = ff.Federation.finite(middle, masses, 1 / (1 + np.exp(-middle)), weight=weight)
    F = ff.frontier(fed, "lft_fedavg", 20)
    assert F.exact
    for eps in random_budgets(fed, 40, rng):
        s = ff.solve(fed, "lft_fedavg", eps)
        assert s.accuracy <= F.accuracy_at(max(s.disparity, F.disparity[0])) + 1e-9


def test_too_many_vertices_are_searched_among(monkeypatch: pytest.MonkeyPatch) -> None:
    fed = random_federation(3, 2, 4)
    exact, fair = ff.frontier(fed, "lft_fedavg", points=9), ff.min_disparity(fed, "lft_fedavg")
    monkeypatch.setattr(finite_exact, "VERTICES", 3)
    F, m = ff.frontier(fed, "lft_fedavg", points=9), ff.min_disparity(fed, "lft_fedavg")
    assert F.disparity.tolist() != exact.disparity.tolist()
    assert (F.accuracy <= exact.accuracy_at(np.maximum(F.disparity, fair.disparity)) + 1e-12).all()
    assert m.disparity == pytest.approx(fair.disparity, abs=1e-9)


def test_a_frontier_by_hand() -> None:
    # one client, q = 1/2, x in {0, 1}, η = (1/4, 3/4): group 0 has masses (1/4, 3/4), group 1 (3/4,
    # 1/4). The most accurate rule accepts x = 1 alone: accuracy 3/4, MD = 3/4 - 1/4 = 1/2. A cell
    # costs |2η - 1| / 2 = 1/4 of accuracy per unit of its group's rate, so that accuracy is 3/4 -
    # (1/2 - d)/4 at disparity d.
    masses = np.array([[[0.125, 0.375], [0.375, 0.125]]])
    fed = ff.Federation.finite([0, 1], masses, [0.25, 0.75])
    F = ff.frontier(fed, "lft_fedavg", points=5)
    assert F.disparity == pytest.approx([0, 0.125, 0.25, 0.375, 0.5], abs=1e-15)
    assert F.accuracy == pytest.approx(0.75 - (0.5 - F.disparity) / 4, abs=1e-15)
    assert F.eps[:-1, 0] == pytest.approx(F.disparity[:-1], abs=1e-15)


def test_of_several_optima_all_count_and_solve_takes_the_nearest_to_a_coin_toss() -> None:
    # x in {0, 1, 2}, η = (0, 1/2, 1), q = 1/2 and equal weights. Accepting x = 2 alone gives MD_i =
    # (1/4, -1/2): x = 1 changes no accuracy. P(i | a) = 1/2, so MD = (1/4 - 1/2)/2 = -1/8 without x
    # = 1, where group 0 has (1/2, 1/4) of its people and group 1 (1/4, 1/4): a third of group 0
    # makes MD = 0, half of both add (3/8 - 1/4)/2. Half of those at x = 1 are mistaken.
    masses = np.array([[[2, 4, 2], [6, 2, 0]], [[6, 2, 0], [2, 2, 4]]]) / 16
    fed = ff.Federation.finite([0, 1, 2], masses, [0.0, 0.5, 1.0])
    s = ff.solve(fed, "lft_fedavg", 1.0)
    assert s.classifier([1.0], 0) == s.classifier([1.0], 1) == 0.5
    assert s.disparity == pytest.approx(1 / 16, abs=1e-15) and s.accuracy == pytest.approx(
        1 - (4 + 2 + 2 + 2) / 64
    )
    F = ff.frontier(fed, "lft_fedavg", points=5)
    assert F.disparity.tolist() == [0.0] and F.accuracy[0] == pytest.approx(s.accuracy, abs=1e-15)


def test_clients_that_cancel_leave_a_tie() -> None:
    # At x = 4 of group 1 client 0 has 15/16 * 1/6 of its people with 2η - 1 = -1/4, client 2 has
    # 5/8 * 2/12 with 3/8: -15/384 + 15/384 = 0. In floats that is 2e-18, and accepting the cell
    # makes a disparity of 25/156. All other cells that anybody has are at η < 1/2 or at (2, 1),
    # where client 2 alone is, with η = 0: rejecting all is optimal, and right with 1 - P(y = 1) =
    # 1 - (1/16 * 3/8 + 15/16 * 1/6 * 3/8 + 5/8 * 2/12 * 11/16)/3 = 1 - 118/2304.
    counts = np.array(
        [
            [[0, 0, 0, 0, 12], [0, 0, 0, 10, 2]],
            [[0, 0, 0, 0, 12], [0, 0, 0, 12, 0]],
            [[0, 0, 0, 12, 0], [2, 3, 5, 0, 2]],
        ]
    )
    share = np.array([[1, 15], [15, 1], [6, 10]]) / 16
    eta = np.array([[0, 0, 11, 0, 6], [0, 0, 0, 0, 0], [0, 0, 0, 0, 11]]) / 16
    fed = ff.Federation.finite(np.arange(5), share[:, :, None] * counts / 12, eta)
    assert fed.pooled.gain(np.ones((2, 1)), "xa")[0, 1, 4] == 0.0
    F = ff.frontier(fed, "lft_fedavg", points=7)
    assert F.disparity.tolist() == [0.0] and F.accuracy[0] == pytest.approx(
        1 - 118 / 2304, abs=1e-15
    )
    for eps in (1.0, [1.0, 0.8, 1.0], [0.0, 0.0, 0.04]):
        s = ff.solve(fed, "lft_fedavg", eps)
        assert s.disparity <= 25 / 312 + 1e-15  # the cell is tossed for
        assert s.accuracy == pytest.approx(1 - 118 / 2304, abs=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_an_eta_one_rounding_off_one_half_is_a_tie_still(seed: int) -> None:
    # a cell with η = 1/2 is worth any disparity and no accuracy: taken for a gain of 1e-18, the
    # smallest disparity of one such federation was 0.3685 where it is 0.0428
    rng = np.random.default_rng(seed)
    masses = rng.gamma(1.0, size=(3, 2, 9))
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    half = np.where(rng.random(9) < 0.7, 0.5, rng.random(9))
    nudged = np.where(half == 0.5, np.nextafter(0.5, rng.integers(0, 2, 9)), half)
    exact, rounded = (
        ff.frontier(ff.Federation.finite(range(9), masses, eta), "lft_fedavg", 8)
        for eta in (half, nudged)
    )
    assert rounded.disparity[[0, -1]] == pytest.approx(exact.disparity[[0, -1]], abs=1e-12)
    d = np.linspace(exact.disparity[0] + 1e-12, 1.0, 9)
    assert rounded.accuracy_at(d) == pytest.approx(exact.accuracy_at(d), abs=1e-12)
    assert (
        rounded.disparity[0]
        <= ff.solve(ff.Federation.finite(range(9), masses, half), "lft_fedavg", 0.0).disparity
    )


EIGHTHS = st.integers(-8, 8).map(lambda k: k / 8)


@st.composite
def programmes(draw: st.DrawFn) -> LinearProgramme:
    """1 to 3 clients, few cells, two groups; dyadic, so that many planes meet in a point."""
    rows, n = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    u = draw(hnp.arrays(float, 2 * n, elements=EIGHTHS))
    mass = draw(hnp.arrays(float, (rows, 2, n), elements=st.integers(0, 4).map(float)))
    mass[:, :, 0] += mass.sum(axis=2) == 0
    mass /= mass.sum(axis=2, keepdims=True)
    v = (mass * np.array([[1.0], [-1.0]])).reshape(rows, 2 * n)
    return LinearProgramme(u, v, draw(hnp.arrays(float, rows, elements=EIGHTHS)))


def feasible(problem: LinearProgramme, candidates: Vertices) -> Any:
    """Positions of vertices at which some rule has all its signs right, one programme each."""
    positions = []
    for b, side in enumerate(candidates.side):
        t = candidates.tied[b]
        cost = np.zeros(int(t.sum()) + 1)
        limit = -side * (problem.v @ candidates.fixed[b] + problem.b) + 1e-12
        rows = np.concatenate([side[:, None] * problem.v[:, t], np.zeros((len(side), 1))], axis=1)
        if optimize.linprog(cost, A_ub=rows, b_ub=limit, bounds=(0, 1)).success:
            positions.append(b)
    return np.array(positions, dtype=int)


def rounded(lam: Any) -> set[tuple[float, ...]]:
    return {tuple(np.round(row, 9) + 0.0) for row in lam}


def enumerated(problem: LinearProgramme) -> Any:
    """The multipliers in which planes, of cells and of axes, meet."""
    count, met = len(problem.v), []
    planes = np.concatenate([problem.v, np.eye(count)], axis=1).T
    offsets = np.concatenate([-problem.u, np.zeros(count)])
    for rows in itertools.combinations(range(len(planes)), count):
        if abs(np.linalg.det(planes[list(rows)])) > 1e-9:
            met.append(np.linalg.solve(planes[list(rows)], offsets[list(rows)]))
    lam = np.array(met)
    return np.where(np.abs(lam) < 1e-12, 0.0, lam)


@FEWER
@given(programmes())
def test_the_walk_misses_no_vertex(problem: LinearProgramme) -> None:
    lam = enumerated(problem)
    crossings = decided(problem, lam)
    expected = rounded(crossings.lam[feasible(problem, crossings)])
    walked = vertices(problem, 10_000)
    assert rounded(walked.lam[feasible(problem, walked)]) == expected
    assert len(rounded(walked.lam)) == len(walked.lam)  # each once


def test_many_vertices_and_lines_are_walked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    v = rng.random((2, 12)) * np.repeat([1.0, -1.0], 6)
    problem = LinearProgramme(rng.normal(size=12), v, np.zeros(2))
    whole = rounded(vertices(problem, 10_000).lam)
    assert len(whole) > 3
    with pytest.raises(TooMany, match="more than 3 vertices"):
        vertices(problem, 3)
    monkeypatch.setattr(finite_vertices, "ROOM", 3 * 14)
    assert rounded(vertices(problem, 10_000).lam) == whole
    monkeypatch.setattr(finite_vertices, "ROOM", 14)
    with pytest.raises(TooMany, match="lines through one vertex"):
        vertices(problem, 10_000)


@given(hnp.arrays(float, (5, 2), elements=EIGHTHS), hnp.arrays(float, (5, 2), elements=EIGHTHS))
def test_the_envelope_by_definition(md: Any, accuracy: Any) -> None:
    points = np.stack([md, accuracy], axis=2)
    segments = Segments.folded(md, accuracy, points, np.arange(5))
    t = np.linspace(0, 1, 65)  # eighths: the crossings of 0 are not all among them
    x = np.abs(md[:, :1] + t * (md[:, 1:] - md[:, :1]))
    y = accuracy[:, :1] + t * (accuracy[:, 1:] - accuracy[:, :1])
    goals = np.linspace(0, 1, 17)
    offered = np.array([np.where(x <= d + 1e-12, y, -np.inf).max() for d in goals])
    for envelope in (segments, segments.undominated()):
        reached = goals >= envelope.smallest
        d, a, z = envelope.at(*envelope.best(goals[reached]))
        assert np.isinf(offered[~reached]).all() and (a >= offered[reached] - 1e-12).all()
        assert (d <= goals[reached] + 1e-12).all()
        # what is attained lies on the segment that it belongs to
        assert np.abs(z[:, 0]) == pytest.approx(d, abs=1e-12) and z[:, 1] == pytest.approx(
            a, abs=1e-12
        )
        assert envelope.smallest <= x.min() + 1e-12
        top = np.array([envelope.largest, max(envelope.largest - 1e-9, envelope.smallest)])
        best, short = envelope.at(*envelope.best(top))[1]
        assert best == pytest.approx(accuracy.max(), abs=1e-12)
        assert top[0] == top[1] or short < accuracy.max() - 1e-13
