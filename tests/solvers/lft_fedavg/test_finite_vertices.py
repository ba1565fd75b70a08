"""Vertices where rules tie, the best rule of all of them, and envelopes: by enumeration."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

import fairfl as ff
from fairfl.solvers.lft_fedavg import finite_vertices as tie_vertices
from fairfl.solvers.lft_fedavg.finite_exact import ExactFedAvg
from fairfl.solvers.lft_fedavg.finite_vertices import (
    LinearProgramme,
    TooMany,
    Vertices,
    decided,
    vertices,
)
from fairfl.solvers.numerics.segments import Segments
from fairfl.solvers.problem import clients_problem, law_problem
from fairfl.solvers.task import Task

FEWER = settings(max_examples=max(5, settings.default.max_examples // 3))  # type: ignore[union-attr]
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


def best_of_all(fed: ff.Federation, task: Task, disparities: Any) -> Any:
    """The worth of the best rule of all vertices with at most each disparity, by programmes of
    their own; minus infinity where there is none.
    """
    local, pooled = clients_problem(fed, task), law_problem(fed, task)
    problem = LinearProgramme(local.u, np.asarray(local.v), local.b)
    lam = enumerated(problem)
    different = np.unique(np.round(lam, 9), axis=0, return_index=True)[1]
    crossings = decided(problem, lam[different])
    best = np.full(len(disparities), -np.inf)
    for tied, fixed, side in zip(crossings.tied, crossings.fixed, crossings.side, strict=True):
        signed = side[side != 0, None]
        rows = np.concatenate([signed * problem.v[side != 0], pooled.v, -pooled.v])
        limit = np.concatenate([-signed[:, 0] * problem.b[side != 0], -pooled.b, pooled.b])
        for p, d in enumerate(disparities):
            room = limit + np.append(np.zeros(len(signed)), [d, d]) + 1e-12
            box = np.stack([fixed, fixed | tied], axis=1) * 1.0
            found = optimize.linprog(-problem.u, A_ub=rows, b_ub=room, bounds=box)
            best[p] = max(best[p], local.base - found.fun if found.success else -np.inf)
    return best


@pytest.mark.parametrize("notion", ["dp", "equal_opportunity", "accuracy_parity"])
@pytest.mark.parametrize(
    ("seed", "clients", "points"), [(0, 2, 3), (1, 2, 4), (2, 1, 5), (3, 3, 2)]
)
@pytest.mark.every(5)
def test_the_best_rule_of_all_vertices(seed: int, clients: int, points: int, notion: str) -> None:
    rng = np.random.default_rng(seed)
    masses = rng.gamma(1.0, size=(clients, 2, points))
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    fed = ff.Federation.finite(np.arange(points), masses, rng.random((clients, points)))
    exact = ExactFedAvg.of(fed, task := Task.of(fed, "lft_fedavg", notion=notion))
    low = exact.segments.smallest
    disparities = low + np.append(1e-9, np.linspace(0.01, 0.6, 8))
    expected = best_of_all(fed, task, [low - 1e-6, *disparities])
    assert low <= 1e-6 or expected[0] == -np.inf
    assert exact.points(disparities).worth == pytest.approx(expected[1:], abs=1e-8)


def test_many_vertices_and_lines_are_walked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    v = rng.random((2, 12)) * np.repeat([1.0, -1.0], 6)
    problem = LinearProgramme(rng.normal(size=12), v, np.zeros(2))
    whole = rounded(vertices(problem, 10_000).lam)
    assert len(whole) > 3
    with pytest.raises(TooMany, match="more than 3 vertices"):
        vertices(problem, 3)
    monkeypatch.setattr(tie_vertices, "ROOM", 3 * 14)
    assert rounded(vertices(problem, 10_000).lam) == whole
    monkeypatch.setattr(tie_vertices, "ROOM", 14)
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
