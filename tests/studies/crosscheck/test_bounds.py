"""The papers' bounds on trained models: constants, and verdicts that can fail."""

import numpy as np
import pytest

from fairfl.studies.crosscheck.studies import bounds
from fairfl.studies.softmax_problem import SoftmaxProblem


def verdicts(measures):
    return {verdict.name: verdict for verdict in bounds.verdicts(measures)}


def test_the_smoothness_bounds_differences_of_gradients():
    """Of near models, and no more than four times too large at w = 0."""
    problem, rng = SoftmaxProblem.make(3), np.random.default_rng(0)
    L, nearest = bounds.smoothness(problem), 0.0
    for scale in (0.0, 0.5, 2.0):
        for step in 1e-4 * rng.normal(size=(200, 9)):
            w = scale * rng.normal(size=9)
            change = problem.gradients(w + step) - problem.gradients(w)
            ratio = np.linalg.norm(change, axis=1) / np.linalg.norm(step) / L
            assert (ratio <= 1 + 1e-6).all()
            nearest = max(nearest, float(ratio.max()))
    assert nearest > 0.25


@pytest.fixture(scope="module")
def measures():
    return bounds.measure(1, 8)


HARD = {"theorem-3.3-holds": bounds.THEOREM, "lemma-12-holds": bounds.LEMMA}


def test_theorems_hold_and_can_turn(measures):
    assert len(measures) == 8
    for name, statement in HARD.items():
        found = verdicts(measures)[name]
        assert found.hard and found.holds
        mine = measures["statement"] == statement
        over = measures["observed"].where(~mine, measures["bound"] * 1.01)
        turned = verdicts(measures.assign(observed=over))
        assert [other for other in HARD if turned[other].holds is False] == [name]
        nothing = measures["bound"].where(~mine)  # premises that did not hold bound nothing
        assert verdicts(measures.assign(bound=nothing))[name].holds is False


def test_a_quarter_of_the_constant_is_no_bound(measures, monkeypatch):
    """Lemma 12 with a quarter of L: the Hessian exceeds it."""
    real = bounds.smoothness
    monkeypatch.setattr(bounds, "smoothness", lambda problem: real(problem) / 4)
    line = bounds._lemma(SoftmaxProblem.make(1), 1.0, 8)
    assert line["observed"] > 1


def test_more_rows_tighten_theorem_11(measures):
    part = measures[measures["statement"] == bounds.GENERAL]
    assert (np.diff(part["bound"]) < 0).all() and (part["observed"] < part["bound"]).all()
    assert len(bounds.PICTURES[0].table(measures)) == 9
    rose = measures.assign(rose=1)
    assert verdicts(measures)["q-fedsgd-descends"].holds is True
    assert verdicts(rose)["q-fedsgd-descends"].holds is False
