"""Clients measured on models of their own, together or one after the other."""

import numpy as np
import pytest
import torch
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


@pytest.mark.parametrize("own", [True, False], ids=["own", "shared"])
@pytest.mark.parametrize(
    "model",
    [Softmax(4, 3), MLP((4, 3, 3)), Module(lambda: nn.Linear(4, 3))],
    ids=["softmax", "mlp", "module"],
)
@given(
    SIZES,
    st.integers(1, 4),
    st.integers(0, 1000),
    st.sampled_from([1, 300, 1 << 30]),
    st.sampled_from([1, 2, 32]),
)
def test_several_models_and_clients_are_measured_as_each_alone(
    model, own, sizes, many, seed, limit, most
):
    data = model.prepare(drawn(sizes, seed))
    rng = np.random.default_rng(seed)
    clients = rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)]
    shape = (many, len(clients), model.size) if own else (many, 1, model.size)
    params = torch.from_numpy(rng.normal(size=shape))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "LEAST", 1)
        patch.setattr(losses, "MODELS", most)
        given_rows = params if own else params[:, 0]
        found = losses.measure_models(model, given_rows, data, clients, own=own, memory_limit=limit)
    assert found.lengths.tolist() == data.sizes[clients].tolist() * many
    if data.sizes[clients].sum() == 0:
        assert len(found.losses) == 0 and bool(found.means().isnan().all())
        return
    each = [
        one_by_one(model, rows.expand(len(clients), -1), data, clients) for rows in params.unbind()
    ]
    expected, right = (torch.cat(parts) for parts in zip(*each, strict=True))
    np.testing.assert_allclose(found.losses, expected, rtol=1e-12, atol=1e-14)
    assert found.correct is not None and torch.equal(found.correct, right)


def test_regression_has_no_right_and_wrong():
    model = LeastSquares(4)
    plain = drawn([2, 0, 3])
    data = model.prepare(ClientData(plain.x, plain.x.sum(1), plain.offsets))
    found = losses.measure(
        model, torch.zeros(3, 5, dtype=torch.float64), data, np.arange(3), own=True
    )
    np.testing.assert_allclose(found.losses, data.y**2 / 2, rtol=1e-14)
    assert found.correct is None and found.means()[1].isnan()
