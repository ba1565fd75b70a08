"""Softmax regression in plain numpy: its gradients, and the engine's losses."""

import numpy as np
import pytest
import torch
from softmax_problem import SoftmaxProblem

W = np.linspace(-1, 1, 9)


def test_gradients_are_those_of_the_losses():
    problem, step = SoftmaxProblem.make(), 1e-6
    ahead, behind = (
        np.array([problem.losses(W + s * step * e) for e in np.eye(9)]) for s in (1, -1)
    )
    slopes = (ahead - behind).T / (2 * step)
    np.testing.assert_allclose(problem.gradients(W), slopes, rtol=1e-6, atol=1e-8)


def test_losses_are_the_engines():
    problem = SoftmaxProblem.make(5)
    for k, (x, y) in enumerate(zip(problem.x, problem.y, strict=True)):
        one = problem.model.losses(*(torch.from_numpy(each)[None] for each in (W, x, y)))
        assert problem.losses(W)[k] == pytest.approx(float(one.mean()), rel=1e-12)
    assert problem.losses(np.zeros(9)) == pytest.approx(np.log(3))


def test_a_constant_for_all_classes_is_no_change():
    problem, shift = SoftmaxProblem.make(1), np.tile([0.3, -2.0, 1.0], 3)
    np.testing.assert_allclose(problem.losses(W + shift), problem.losses(W), rtol=1e-12)
    assert not np.allclose(problem.losses(W + np.eye(9)[0]), problem.losses(W))
