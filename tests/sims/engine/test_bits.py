"""Chunks change an update by roundings at most; its place in a tensor changes no bit."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from fairfl.sims.algorithms.term import Tilted
from fairfl.sims.engine import MLP, ClientData, LeastSquares, LinearSVM, Logistic, Softmax, train
from fairfl.sims.engine.kernels.linear import odds_slopes
from fairfl.sims.engine.task import Jobs

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
CLIENTS, SIZE, FEATURES = 7, 39, 30
MODELS = [
    Logistic(FEATURES),
    Softmax(FEATURES, 2),
    Softmax(FEATURES, 5),
    LinearSVM(FEATURES),
    LeastSquares(FEATURES),
    MLP((FEATURES, 20, 2)),
    MLP((FEATURES, 20, 20, 5)),
    MLP((FEATURES, 1, 5)),
]


@DTYPES
@pytest.mark.parametrize("kind", ["momentum", "weights", "objective"])
@pytest.mark.parametrize("batch", [1, 13, SIZE])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_size_of_the_chunks_changes_last_bits_at_most(model, batch, kind, dtype, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(CLIENTS * SIZE, FEATURES, generator=generator, dtype=dtype)
    y = x.sum(1) if isinstance(model, LeastSquares) else (x[:, 0] > 0).long()
    data = model.prepare(ClientData(x, y, np.arange(CLIENTS + 1) * SIZE))
    every, none = np.arange(CLIENTS), np.zeros(CLIENTS, np.int64)
    steps = (-(-SIZE // batch) * 2 - every // 3).clip(1)  # in the end one client is alone
    rates = np.array([[0.05], [0.9 * (kind == "momentum")], [0.0], [0.0], [1.0]])
    jobs = Jobs(
        every, none, every.astype(np.uint64), none + SIZE, steps, batch, rates.repeat(CLIENTS, 1)
    )
    if kind == "weights":
        jobs = replace(jobs, sample_weights=torch.rand(1, len(x), dtype=dtype), weights_of=none)
    if kind == "objective":
        jobs = replace(jobs, objective=Tilted(0.7), parameters=np.full((1, CLIENTS), 0.7))
    params, done = 0.1 * model.init(0).to(dtype)[None] + 0.01, []
    for clients in (CLIENTS, 1, 2, 3):
        monkeypatch.setattr(train, "chunk_size", lambda *_, clients=clients: clients)
        with torch.no_grad():
            done.append(train.train(model, data, jobs, params, 1 << 30))
    off = (
        50 * torch.finfo(dtype).eps
    )  # one client's products are another routine on some processors
    for each in done[1:]:
        torch.testing.assert_close(each, done[0], rtol=off, atol=off)


@DTYPES
def test_a_slope_and_a_loss_do_not_depend_on_where_they_stand(dtype):
    """Every offset against one by one. torch's sigmoid and softplus fail this."""
    z = torch.randn(131, generator=torch.Generator().manual_seed(0), dtype=dtype) * 30
    z[:4] = torch.tensor([1e30, -1e30, 0.0, -88.5])
    y = (torch.arange(131) % 2).to(dtype)

    def both(first, last, apart):
        own = torch.empty(last - first, apart, dtype=dtype)[:, 0].copy_(z[first:last])
        losses = odds_slopes(own, y[first:last], want=True)
        return torch.stack([own, losses])

    alone = torch.cat([both(first, first + 1, 1) for first in range(131)], 1)
    for first in range(131):
        for apart in (1, 3):
            assert torch.equal(both(first, 131, apart), alone[:, first:])
    scores, labels, eps = z.double().numpy(), y.numpy(), torch.finfo(dtype).eps
    right = np.exp(-np.logaddexp(0, -scores)) - labels, np.logaddexp(0, scores * (1 - 2 * labels))
    np.testing.assert_allclose(alone, right, rtol=4 * eps, atol=4 * eps)
