"""The published code's penalty, by its definition, and what is wrong with it."""

import numpy as np
import pytest
import torch

from fairfl.sims.engine import MLP, ClientData
from fairfl.studies.papers.fedfb.penalty import losses, penalties, scores, train


def people(n=64, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 3)) + a[:, None]
    y = (x.sum(1) > 1).astype(int)
    plain = ClientData.from_clients([(torch.from_numpy(x), torch.from_numpy(y))])
    return ClientData(plain.x, plain.y, plain.offsets, group=a)


def test_scores_are_the_models():
    data, model = people(), MLP((3, 4, 2))
    params = torch.stack([model.init(0), model.init(1)])
    z = scores(model, params, data.x)
    one = model.losses(params, data.x.expand(2, -1, -1), data.y.expand(2, -1))
    np.testing.assert_allclose(losses(z, data.y).numpy(), one.sum(1).numpy(), atol=1e-10)


def test_penalties_by_loops():
    rng = np.random.default_rng(0)
    z, away = rng.normal(size=(2, 7, 2)), rng.normal(size=7)
    plain, mended = (penalties(torch.from_numpy(z), torch.from_numpy(away), v).numpy() for v in (False, True))
    for m in range(2):
        products = [[away[s] * (z[m, s, j] - z[m, :, j].mean()) for s in range(7)] for j in range(2)]
        assert plain[m] == pytest.approx(sum(np.mean(np.square(p)) for p in products))
        assert mended[m] == pytest.approx(sum(np.mean(p) ** 2 for p in products))


def test_the_published_penalty_is_not_of_a_difference_between_groups():
    """Scores without covariance with the group: the covariance's square is 0, the published penalty is not."""
    away = torch.tensor([0.5, 0.5, -0.5, -0.5], dtype=torch.float64)
    z = torch.tensor([[[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]], dtype=torch.float64)
    assert float(penalties(z, away, True)) == 0
    assert float(penalties(z, away, False)) == pytest.approx(0.25)


def test_a_step_is_that_of_the_summed_loss():
    """One epoch of one batch, no penalty: a step on the summed cross entropy; a factor shrinks the scores' spread."""
    data, model = people(), MLP((3, 4, 2))
    first = model.init(3)
    found = train(model, data, [(0.01, 0.0), (0.01, 50.0)], 1, 3)
    slope = model.gradient(first[None], data.x[None], data.y[None], 1.0)[0]
    np.testing.assert_allclose(found[0].numpy(), (first - 0.01 * slope).numpy(), atol=1e-10)
    longer = train(model, data, [(0.001, 0.0), (0.001, 200.0)], 40, 3)
    spread = scores(model, longer, data.x).std(1).sum(1)
    assert spread[1] < spread[0]
