"""Which algorithms reach their objective: the table of docs/results/convergence.md, again, and what
it rests on.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from fairfl.sims.algorithms import algorithms
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.studies import convergence
from fairfl.theory import aggregation as aims

DOCUMENT = Path(__file__).parents[2] / "docs" / "results" / "convergence.md"


def test_the_gradients_are_those_of_the_losses():
    problem, w, step = convergence.Problem.make(), np.array([0.3, -0.2, 0.5]), 1e-6
    for tilt in (0.0, 0.5, -0.5):
        ahead, behind = (
            np.array([problem.losses(w + s * step * e, tilt) for e in np.eye(3)]) for s in (1, -1)
        )
        np.testing.assert_allclose(
            problem.gradients(w, tilt), (ahead - behind).T / (2 * step), rtol=1e-6, atol=1e-8
        )


def test_pareto_stationarity_is_zero_at_an_optimum_and_not_elsewhere():
    problem = convergence.Problem.make()
    x, y = problem.x.reshape(-1, 3), problem.y.reshape(-1)
    assert convergence.pareto(problem, np.linalg.lstsq(x, y, rcond=None)[0]) < 1e-14
    assert convergence.pareto(problem, np.full(3, 5.0)) > 0.1


def test_some_rows():
    entries = (
        convergence.Trial(FedAvg(), aims.FedAvg()),
        convergence.Trial(QFedAvg(2.0), aims.QFFL(2.0)),
        convergence.Trial(FedAvg(), aims.QFFL(2.0)),
        convergence.Trial(PropFair(6.0, rescale=True), aims.PropFair(6.0)),
    )
    rows = convergence.table(entries, short=0.6)
    assert rows["reached"].tolist() == [True, True, False, True]
    assert (rows["gap 1"] > -1e-12).all()  # nothing is below the certified optimum
    assert (rows["weights off"][[0, 1, 3]] < 1e-6).all() and rows["weights off"][2] > 1e-2
    assert rows["gap 5"].min() > 1e-5


def test_seeds_and_problems_are_rows():
    """Three trials, two seeds, two problems; FedAvg does not minimise q-FFL's objective on any."""
    entries = (
        convergence.Trial(FedAvg(), aims.FedAvg()),
        convergence.Trial(QFedAvg(2.0), aims.QFFL(2.0)),
        convergence.Trial(FedAvg(), aims.QFFL(2.0)),
    )
    rows = convergence.table(entries, 0.6, (0, 2), tuple(convergence.PROBLEMS))
    assert rows["reached"].tolist() == [True, True, False] * 4
    text = convergence.markdown(rows.query("problem == 'softmax'"), entries).splitlines()
    assert "| 2 of 2 |" in text[2] and "| **0** of 2 |" in text[4]


def test_the_tolerance_at_kinks_is_that_of_subgradient_steps():
    """max of (w - 1)² / 2 and (w + 1)² / 2: A* = 1/2 at 0, where both slopes are of length 1, so
    that the tolerance is eta_T. Steps of a constant length eta end within a gap of eta, and no
    nearer than a quarter of that from every start.
    """
    problem = convergence.Problem.of(np.ones((2, 1, 1)), np.array([[1.0], [-1.0]]))
    trial = convergence.Trial(FedAvg(), aims.AFL(), kinked=True)
    best = convergence._optimum(problem, aims.AFL(), 0.0)
    assert best.value == pytest.approx(0.5)
    for short in (0.1, 1.0):
        rounds = int(short * convergence.SLOW_ROUNDS)
        last = problem.rate / (1 + (rounds - 1) / 40)
        assert convergence.resolution(problem, trial, best, short) == pytest.approx(last)
    smooth = convergence.Trial(FedAvg(), aims.FedAvg())
    assert convergence.resolution(problem, smooth, best, 1.0) == convergence.SMOOTH
    eta, ends = 0.01, []
    for start in np.linspace(-1, 1, 50):
        w, gaps = start, []
        for _ in range(1000):
            losses = problem.losses(np.array([w]))
            gaps.append(losses.max() / 0.5 - 1)
            w -= eta * problem.gradients(np.array([w]))[losses.argmax(), 0]
        ends.append(min(gaps[-2:]))
    assert eta / 4 < max(ends) <= eta * (1 + eta) ** 2  # where slopes are up to 1 + eta


def test_targets_are_scaled_for_every_seed():
    for seed in range(5):
        problem = convergence.PROBLEMS["least squares"](seed)
        assert problem.losses(np.zeros(3)).max() == pytest.approx(convergence.LARGEST)


def tables():
    """The document's lines by problem."""
    parts = DOCUMENT.read_text("utf-8").split("\n## ")[1:]
    lines = {part.splitlines()[0]: part.splitlines() for part in parts}
    return {
        name: [line for line in lines[name] if line.startswith("| `")]
        for name in convergence.PROBLEMS
    }


def test_every_algorithm_is_in_the_table():
    # FedAvg and q-FedAvg where all are there from the start; FedOpt has the fixed points of FedAvg
    other = {"normalized_fedavg", "modified_normalized_fedavg", "clipping_fedavg"}
    other |= {"dynamic_qfedavg", "fedopt"}
    wanted = {kind for name, kind in algorithms().items() if name not in other}
    assert {type(trial.algorithm) for trial in convergence.TRIALS} == wanted
    for lines in tables().values():
        assert len(lines) == len(convergence.TRIALS)
        for line, trial in zip(lines, convergence.TRIALS, strict=True):
            assert line.startswith(f"| `{convergence._call(trial.algorithm)}` |")


@pytest.mark.deep
@pytest.mark.parametrize("name", convergence.PROBLEMS)
def test_the_document_holds_the_table(name):
    """One seed alone: what it reached, not all seeds failed at; what it missed, not all reached."""
    found = convergence.table(seeds=convergence.TOLD[:1], problems=(name,)).to_dict("records")
    for line, row in zip(tables()[name], found, strict=True):
        count, seeds = map(int, re.findall(r"\d+", line.split(" | ")[2]))
        assert count > 0 if row["reached"] else count < seeds, line
