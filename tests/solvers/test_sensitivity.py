"""Derivatives of frontiers by the people, against frontiers of tables with a few more or less."""

import numpy as np
import pytest

import fairfl as ff
from fairfl.solvers.sensitivity import People, rules_at, sensitivity
from fairfl.solvers.task import Task
from fairfl.theory.populations.calibration import Counted

CURVES = [("cfl", "each"), ("lft_fedavg", "common"), ("lft_ensemble", "common")]
CURVES += [("lft_fedavg", "each"), ("lft_ensemble", "each"), ("client_aware", "each")]
SEVERAL = [("cfl", "each"), ("client_aware", "each"), ("lft_fedavg", "each")]
"""Where several differences count the others are searched too coarsely to be differentiated."""
QUESTIONS = {"plain": {}, "own_eta": {"calibrate": "client_group", "notion": "eo"}}
QUESTIONS |= {"costs": {"notion": "accuracy_parity", "costs": (2.0, 1.0)}}
QUESTIONS |= {"blind": {"sees": "x", "difference": "overall"}}
QUESTIONS |= {"monotone": {"calibrate": "client_group", "monotone": True}}
QUESTIONS |= {"monotone_blind": {"calibrate": "client", "sees": "x", "monotone": True}}
QUESTIONS |= {"balanced": {"calibrate": "client", "costs": "balanced"}}
QUESTIONS |= {"two_rates": {"notion": "eodds", "some": SEVERAL}}
QUESTIONS |= {"three_groups": {"groups": 3, "some": SEVERAL[:2]}}


def tables(groups):
    """Counts (2, A, 2, 7) of many people, and steps to tables of a few more or less."""
    rng = np.random.default_rng(0)
    people = rng.integers(5, 50, (2, groups, 7))
    positive = rng.binomial(people, np.sort(rng.random(7)))
    counts = np.stack([people - positive, positive], axis=2) * 1_000_000
    step = np.round(rng.normal(size=counts.shape) * (counts > 0) * 200)
    last = np.argmax(counts.reshape(2, -1), axis=1)  # clients keep their size
    step.reshape(2, -1)[np.arange(2), last] -= step.sum(axis=(1, 2, 3))
    return counts.astype(float), step


@pytest.mark.parametrize("name", QUESTIONS)
def test_derivatives_are_those_of_the_frontiers(name):
    question = {"calibrate": "shared", "groups": 2, "some": CURVES} | QUESTIONS[name]
    calibrate, groups, frontiers = (question.pop(key) for key in ("calibrate", "groups", "some"))
    counts, step = tables(groups)
    feds = [
        ff.Federation.from_counts(counts + k * step, np.arange(7), calibrate=calibrate)
        for k in (0, 1, -1)
    ]
    sample = Counted(np.arange(7.0), counts, calibrate=calibrate)
    for scheme, budgets in frontiers:
        local = {"local_eps": 0.1} if scheme == "client_aware" else {}
        curves = [ff.frontier(fed, scheme, 3, budgets=budgets, **question, **local) for fed in feds]
        task = Task.of(feds[0], scheme, **question)
        people = People(feds[0], sample, task, question.get("costs") == "balanced")
        low, high = curves[0].disparity[[0, -1]]
        for end, d in (("smallest", low), ("", 0.7 * low + 0.3 * high), ("best", high)):
            eps = np.append(curves[0].points_at(np.array([d])).eps[0], [0.1] * 2 * len(local))
            rules = rules_at(feds[0], task, eps)
            influence = sensitivity(people, rules, eps, end, common=budgets == "common")
            derivatives = [(x * step).sum() / counts.sum() for x in influence[:2]]
            if end:
                k = -1 if end == "best" else 0
                ends = [(c.utility[k], c.disparity[k]) for c in curves[1:]]
            else:
                ends = [(c.points_at(np.array([d])).worth[0], d) for c in curves[1:]]
            slope = -np.diff(ends, axis=0)[0] / 2
            assert derivatives == pytest.approx(slope, rel=1e-2, abs=5e-9), (scheme, budgets, end)
