"""q-FFL at q = 10: the plain problem is the engine's, and its minimiser the certified optimum."""

import numpy as np
import pytest
import torch

from fairfl.sims.engine.losses import measure
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.studies.papers.qffl import large_q as qffl_large_q
from fairfl.studies.papers.qffl.large_q import OPTIMUM, SoftmaxProblem, minimiser
from fairfl.studies.papers.qffl.runs import parts_of
from fairfl.theory.aggregation import QFFL


def small(seed=0, clients=4, rows=15, features=3, classes=3):
    rng = np.random.default_rng(seed)
    x = np.hstack([rng.normal(size=(clients * rows, features)), np.ones((clients * rows, 1))])
    y = rng.integers(0, classes, clients * rows)
    return SoftmaxProblem(x, y, np.array([0, rows, 2 * rows, 3 * rows + 5, clients * rows]), classes)


def test_losses_and_accuracies_are_the_engines():
    model, parts = parts_of("Synthetic", 0)
    problem, w = SoftmaxProblem.of(0, "train"), np.random.default_rng(1).normal(size=610) * 0.1
    data = model.prepare(parts.train.to(torch.device("cpu"), torch.float64))
    found = measure(model, torch.from_numpy(w), data, np.arange(data.clients))
    np.testing.assert_allclose(problem.losses(w), found.means(), rtol=1e-6)  # the engine's data are float32
    np.testing.assert_allclose(problem.accuracies(w), found.accuracies(), atol=0.02)


def test_the_gradient_is_that_of_the_losses():
    problem, rng, h = small(), np.random.default_rng(2), 1e-6
    w, v, weights = rng.normal(size=12), rng.normal(size=12), np.array([0.1, 0.5, 0.0, 0.7])
    slope = weights @ (problem.losses(w + h * v) - problem.losses(w - h * v)) / (2 * h)
    assert problem.combined(w, weights) @ v == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("q", [0.0, 2.0, 10.0])
def test_the_minimiser_is_the_certified_optimum(q):
    problem = small(3)
    shares = problem.sizes / problem.sizes.sum()
    aim = QFFL(q, client_weights=tuple(shares))
    best = solve_minimax(
        problem.losses, aim, np.zeros(12), jac=lambda w: np.stack([problem.combined(w, row) for row in np.eye(4)])
    )
    mine = float(aim.value(problem.losses(minimiser(problem, q))))
    assert mine == pytest.approx(best.value, rel=1e-8) and mine >= best.certificate.lower - 1e-12


def test_what_does_not_converge_is_said(monkeypatch):
    monkeypatch.setattr(qffl_large_q, "GRADIENT", 1e-300)
    with pytest.raises(RuntimeError, match="q = 2 was not found"):
        minimiser(small(), 2.0)


def test_table_nine_s_run_goes_by_its_name(tiny):
    from fairfl.studies.execute import run_units
    from fairfl.studies.experiment import Scale

    clients = run_units(qffl_large_q.units(Scale("quick", 1))[:2])
    values = qffl_large_q.values(clients)
    assert list(dict.fromkeys(values["objective"])) == [OPTIMUM, "as in table 9"]
    assert set(qffl_large_q.shown(clients)["objective"]) == {"as in table 9"}
