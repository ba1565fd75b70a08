"""Clients measured on models of their own, together or one after the other."""

import time

import numpy as np
import pytest
import torch
from federations import classified
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from fairfl.sims.engine import MLP, ClientData, LeastSquares, Module, Softmax, losses

SIZES = st.lists(st.integers(0, 6), min_size=1, max_size=9).filter(any)


def drawn(sizes, seed=0):
    """Clients of these sizes, some of which may have none."""
    rng = np.random.default_rng(seed)
    total = int(np.sum(sizes))
    x = torch.from_numpy(rng.normal(size=(total, 4)))
    y = torch.from_numpy(rng.integers(0, 3, total))
    return ClientData(x, y, np.append(0, np.cumsum(sizes)))


def one_by_one(model, params, data, clients):
    """The definition: every client's rows on its row of parameters."""
    found, right = [], []
    for row, k in enumerate(clients):
        part = slice(int(data.offsets[k]), int(data.offsets[k + 1]))
        if part.start < part.stop:
            x, y = data.x[None, part], data.y[None, part]
            found.append(model.losses(params[row : row + 1], x, y)[0])
            right.append(model.correct(params[row : row + 1], x, y)[0])
    return torch.cat(found), torch.cat(right)


@pytest.mark.parametrize(
    "model",
    [Softmax(4, 3), MLP((4, 3, 3)), Module(lambda: nn.Linear(4, 3))],
    ids=["softmax", "mlp", "module"],
)
@given(SIZES, st.integers(0, 1000), st.sampled_from([1, 300, 1 << 30]))
def test_together_or_one_after_the_other(model, sizes, seed, limit):
    data = model.prepare(drawn(sizes, seed))
    rng = np.random.default_rng(seed)
    clients = rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)]
    params = torch.from_numpy(rng.normal(size=(len(clients), model.size)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "LEAST", 1)
        found = losses.measure(model, params, data, clients, own=True, memory_limit=limit)
    assert found.lengths.tolist() == data.sizes[clients].tolist()
    if data.sizes[clients].sum() == 0:
        assert len(found.losses) == 0 and np.isnan(found.means()).all()
        return
    expected, right = one_by_one(model, params, data, clients)
    np.testing.assert_allclose(found.losses, expected, rtol=1e-12, atol=1e-14)
    assert found.correct is not None and torch.equal(found.correct, right)


@pytest.mark.parametrize("own", [True, False], ids=["own", "shared"])
@pytest.mark.parametrize(
    "model",
    [Softmax(4, 3), MLP((4, 3, 3)), Module(lambda: nn.Linear(4, 3))],
    ids=["softmax", "mlp", "module"],
)
@given(
    SIZES,
    st.integers(1, 5),
    st.integers(0, 1000),
    st.sampled_from([1, 300, 1 << 30]),
    st.sampled_from([1, 2, 32]),
)
def test_several_models_in_one_pass_are_what_each_gives_alone(
    model, own, sizes, many, seed, limit, most
):
    data = model.prepare(drawn(sizes, seed))
    rng = np.random.default_rng(seed)
    clients = np.sort(rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)])
    params = torch.from_numpy(
        rng.normal(size=(many, len(clients), model.size) if own else (many, model.size))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "LEAST", 1)
        patch.setattr(losses, "MODELS", most)
        found = losses.measure_models(model, params, data, clients, own=own, memory_limit=limit)
    alone = [losses.measure(model, one, data, clients, own=own) for one in params]
    np.testing.assert_allclose(
        found.losses, torch.cat([one.losses for one in alone]), rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(
        found.means(), np.concatenate([one.means() for one in alone]), rtol=1e-12
    )
    if len(found.losses):
        assert torch.equal(found.correct, torch.cat([one.correct for one in alone]))


def test_regression_has_no_right_and_wrong():
    model = LeastSquares(4)
    plain = drawn([2, 0, 3])
    data = model.prepare(ClientData(plain.x, plain.x.sum(1), plain.offsets))
    found = losses.measure(
        model, torch.zeros(3, 5, dtype=torch.float64), data, np.arange(3), own=True
    )
    np.testing.assert_allclose(found.losses, data.y**2 / 2, rtol=1e-14)
    assert found.correct is None and found.means()[1].isnan()


def test_ten_thousand_models():
    """In about the time of their common one, not in that of 10,000 calls."""
    data, model = classified((3,) * 100).train, Softmax(4, 3)
    many = model.prepare(
        ClientData(data.x.repeat(100, 1), data.y.repeat(100), np.arange(10_001) * 3)
    )
    params = torch.zeros(10_000, model.size, dtype=torch.float64)
    begin = time.process_time()
    found = losses.measure(model, params, many, np.arange(10_000), own=True)
    assert time.process_time() - begin < 1
    np.testing.assert_allclose(found.means(), np.log(3), rtol=1e-12)
