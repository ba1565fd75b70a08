"""Vertices where rules tie, their polytopes and the envelope: enumeration and programmes."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from fairfl.solvers.lft_fedavg import finite_polytopes as tie_polytopes
from fairfl.solvers.lft_fedavg import finite_vertices as tie_vertices
from fairfl.solvers.lft_fedavg.finite_polytopes import chains
from fairfl.solvers.lft_fedavg.finite_vertices import (
    LinearProgramme,
    TooMany,
    Vertices,
    decided,
    vertices,
)
from fairfl.solvers.numerics.segments import Segments

FEWER = settings(max_examples=max(8, settings.default.max_examples // 3))  # type: ignore[union-attr]
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
    within = np.array(
        draw(st.lists(st.integers(1, 4), min_size=2 * rows, max_size=2 * rows)), dtype=float
    )
    share = within.reshape(2, rows) / within.reshape(2, rows).sum(axis=1, keepdims=True)
    pooled = np.concatenate([share[0] @ v[:, :n], share[1] @ v[:, n:]])
    return LinearProgramme(u, v, pooled)


def feasible(problem: LinearProgramme, candidates: Vertices) -> Any:
    """Positions of vertices at which some rule has all its signs right, one programme each."""
    positions = []
    for b, side in enumerate(candidates.side):
        t = candidates.tied[b]
        cost = np.zeros(int(t.sum()) + 1)
        limit = -side * (problem.v @ candidates.fixed[b]) + 1e-12
        rows = np.concatenate([side[:, None] * problem.v[:, t], np.zeros((len(side), 1))], axis=1)
        if optimize.linprog(cost, A_ub=rows, b_ub=limit, bounds=(0, 1)).success:
            positions.append(b)
    return np.array(positions, dtype=int)


def rounded(lam: Any) -> set[tuple[float, ...]]:
    return {tuple(np.round(row, 9) + 0.0) for row in lam}


@FEWER
@given(programmes())
def test_the_walk_misses_no_vertex(problem: LinearProgramme) -> None:
    count = len(problem.v)
    planes = np.concatenate([problem.v, np.eye(count)], axis=1).T
    offsets = np.concatenate([-problem.u, np.zeros(count)])
    met = []
    for rows in itertools.combinations(range(len(planes)), count):
        if abs(np.linalg.det(planes[list(rows)])) > 1e-9:
            met.append(np.linalg.solve(planes[list(rows)], offsets[list(rows)]))
    lam = np.array(met)
    crossings = decided(problem, np.where(np.abs(lam) < 1e-12, 0.0, lam))
    expected = rounded(crossings.lam[feasible(problem, crossings)])
    walked = vertices(problem, 10_000)
    assert rounded(walked.lam[feasible(problem, walked)]) == expected
    assert len(rounded(walked.lam)) == len(walked.lam)  # each once


@FEWER
@given(programmes())
def test_hulls_by_enumeration_and_by_programmes(problem: LinearProgramme) -> None:
    walked = vertices(problem, 10_000)
    fast = chains(problem, walked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tie_polytopes, "CORNERS", 1)
        slow = chains(problem, walked)
    assert set(fast.vertex) == set(slow.vertex) == set(feasible(problem, walked))
    for b in set(fast.vertex):
        by_fast, by_slow = fast.vertex == b, slow.vertex == b
        for part, rival in ((by_fast, by_slow), (by_slow, by_fast)):
            # along the broken lines: where MD stands still the highest counts
            x = fast.md if part is by_fast else slow.md
            y = fast.accuracy if part is by_fast else slow.accuracy
            x2 = fast.md if rival is by_fast else slow.md
            y2 = fast.accuracy if rival is by_fast else slow.accuracy
            for md, accuracy in zip(x[part], y[part], strict=True):
                tied = np.abs(x2[rival] - md) <= 1e-9
                reach = y2[rival][tied].max() if tied.any() else np.interp(md, x2[rival], y2[rival])
                assert reach >= accuracy - 1e-9


def test_many_vertices_and_lines_are_walked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    v = rng.random((2, 12)) * np.repeat([1.0, -1.0], 6)
    problem = LinearProgramme(rng.normal(size=12), v, v.sum(axis=0))
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
