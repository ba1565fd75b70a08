"""Derivatives of frontiers with respect to the people, against differences of frontiers of tables
with a few people more or less.
"""

from typing import Any

import numpy as np
import pytest

import fairfl as ff
from fairfl.solvers.sensitivity import People, rules_at, sensitivity
from fairfl.solvers.task import Task
from fairfl.theory.populations.calibration import Counted

CURVES: list[Any] = [
    ("cfl", "each"),
    ("lft_fedavg", "common"),
    ("lft_ensemble", "common"),
    ("lft_fedavg", "each"),
    ("lft_ensemble", "each"),
    ("client_aware", "each"),
]
SEVERAL = [("cfl", "each"), ("client_aware", "each"), ("lft_fedavg", "each")]
"""Where several differences count the others are searched too coarsely to be differentiated."""
QUESTIONS: dict[str, Any] = {
    "plain": {},
    "own_eta": {"calibrate": "client_group", "notion": "eo"},
    "costs": {"notion": "accuracy_parity", "costs": (2.0, 1.0)},
    "blind": {"sees": "x", "difference": "overall"},
    "balanced": {"calibrate": "client", "costs": "balanced"},
    "two_rates": {"notion": "eodds", "some": SEVERAL},
    "three_groups": {"groups": 3, "some": SEVERAL},
}


def tables(seed, groups=2, clients=2, levels=7):
    """A table of many people, and two that differ from it by few, with clients of the same size."""
    rng = np.random.default_rng(seed)
    people = rng.integers(5, 50, (clients, groups, levels))
    positive = rng.binomial(people, np.sort(rng.random(levels)))
    counts = np.stack([people - positive, positive], axis=2) * 1_000_000
    step = np.round(rng.normal(size=counts.shape) * (counts > 0) * 200)
    last = np.argmax(counts.reshape(clients, -1), axis=1)
    step.reshape(clients, -1)[np.arange(clients), last] -= step.sum(axis=(1, 2, 3))
    return counts.astype(float), step


@pytest.mark.parametrize("name", QUESTIONS)
def test_derivatives_are_those_of_the_frontiers(name):
    question: dict[str, Any] = {**QUESTIONS[name]}
    calibrate, groups = question.pop("calibrate", "shared"), question.pop("groups", 2)
    frontiers, tried = question.pop("some", CURVES), {True: 0, False: 0}
    for seed in (0, 1):
        counts, step = tables(seed, groups)
        fed, raised, lowered = (
            ff.Federation.from_counts(counts + k * step, np.arange(7), calibrate=calibrate)
            for k in (0, 1, -1)
        )
        for scheme, budgets in frontiers:
            local: dict[str, Any] = {"local_eps": 0.1} if scheme == "client_aware" else {}
            curves = [
                ff.frontier(f, scheme, 6, budgets=budgets, **question, **local)
                for f in (fed, raised, lowered)
            ]
            task = Task.of(fed, scheme, **question)
            sample = Counted(np.arange(7.0), counts, calibrate=calibrate)
            people = People(fed, sample, task, question.get("costs") == "balanced")
            low, high = curves[0].disparity[[0, -1]]
            for end, d in (("smallest", low), ("", 0.7 * low + 0.3 * high), ("best", high)):
                eps = curves[0].points_at(np.array([d])).eps[0]
                if local:
                    eps = np.append(eps, np.full(2, 0.1))
                rules = rules_at(fed, task, eps)
                derivatives = sensitivity(people, rules, eps, end, common=budgets == "common")
                got = [(x * step).sum() / counts.sum() for x in derivatives[:2]]
                k = {"smallest": 0, "best": -1}.get(end)
                if k is None:
                    at = np.array([[c.points_at(np.array([d])).worth[0], d] for c in curves])
                else:
                    at = np.array([[1.0 + c.utility[k], c.disparity[k]] for c in curves])
                slope, bend = (at[1] - at[2]) / 2, at[1] + at[2] - 2 * at[0]
                # elsewhere the frontier jumps, or the derivative is of one side
                smooth = bool((np.abs(bend) < 1e-3 * np.abs(slope) + 1e-12).all())
                smooth &= bool((np.abs(slope) < 1e-4).all())
                tried[smooth] += 1
                if smooth:
                    assert got == pytest.approx(slope, rel=1e-2, abs=5e-9), (scheme, budgets, end)
    assert tried[True] > 3 * tried[False], tried
