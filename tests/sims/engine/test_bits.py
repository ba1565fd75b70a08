"""With one thread, the size of chunks changes no bit of an update, and neither does where in a
tensor a number stands.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from fairfl.sims.algorithms.term import Tilted
from fairfl.sims.engine import MLP, ClientData, LeastSquares, LinearSVM, Logistic, Softmax, train
from fairfl.sims.engine.kernels.products import add_product, product
from fairfl.sims.engine.kernels.softmax import odds_slopes
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


@pytest.fixture(autouse=True)
def one_thread():
    """BLAS divides a product among threads by the number of products."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@DTYPES
@pytest.mark.parametrize("kind", ["momentum", "weights", "objective"])
@pytest.mark.parametrize("batch", [1, 13, SIZE])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_size_of_the_chunks_changes_no_bit(model, batch, kind, dtype, monkeypatch):
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
    assert all(torch.equal(done[0], each) for each in done[1:])


@DTYPES
def test_a_slope_and_a_loss_do_not_depend_on_where_they_stand(dtype):
    """Every offset, in a tensor of its own and as every third number, against one by one; the
    values against float64's. torch's sigmoid and softplus fail this.
    """
    z = torch.randn(131, generator=torch.Generator().manual_seed(0), dtype=dtype) * 30
    z[:4] = torch.tensor([1e30, -1e30, 0.0, -88.5])
    y = (torch.arange(131) % 2).to(dtype)

    def both(first, last, apart):
        own = torch.empty(last - first, apart, dtype=dtype)[:, 0].copy_(z[first:last])
        losses = odds_slopes(own, y[first:last], True)
        return torch.stack([own, losses])

    alone = torch.cat([both(first, first + 1, 1) for first in range(131)], 1)
    for first in range(131):
        for apart in (1, 3):
            assert torch.equal(both(first, 131, apart), alone[:, first:])
    scores, labels, eps = z.double().numpy(), y.numpy(), torch.finfo(dtype).eps
    right = np.exp(-np.logaddexp(0, -scores)) - labels, np.logaddexp(0, scores * (1 - 2 * labels))
    np.testing.assert_allclose(alone, right, rtol=4 * eps, atol=4 * eps)


@DTYPES
@pytest.mark.parametrize("seed", range(3))
def test_a_product_does_not_depend_on_how_many_there_are(seed, dtype):
    """With sides of 1, for which torch's own routine for one pair gives other bits."""
    generator, rng = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    for _ in range(30):
        n, k, m = (int(side) for side in rng.choice([1, 1, 2, 7, 31, 128, 300], 3))
        a, b, out = (
            torch.randn(5, *sides, generator=generator, dtype=dtype)
            for sides in ((n, k), (k, m), (n, m))
        )
        for turned in (False, True):
            a = a.mT.contiguous().mT if turned else a
            whole, added = product(a, b), out.clone()
            add_product(added, a, b, -0.3)
            for first, last in ((0, 1), (4, 5), (1, 3), (2, 5)):
                some, more = slice(first, last), out[first:last].clone()
                assert torch.equal(product(a[some], b[some]), whole[some])
                add_product(more, a[some], b[some], -0.3)
                assert torch.equal(more, added[some])
            torch.testing.assert_close(added, out - 0.3 * (a @ b), rtol=1e-4, atol=1e-4)
