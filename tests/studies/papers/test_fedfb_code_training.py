"""The published code's rows, streams and optimisers, against torch's own and by hand."""


import numpy as np
import pytest
import torch
from code_people import code_people

from fairfl.studies.papers.fedfb.code_data import LOW, code_rows, disjoint, overlapping, scaled
from fairfl.studies.papers.fedfb.code_training import (
    KEPT,
    Adam,
    Momentum,
    Sample,
    Stream,
    World,
    average,
    losses,
    outputs,
    streams,
    train,
)


@pytest.fixture(scope="module")
def world():
    """Two clients, two groups, 200 rows, 3 features."""
    return World.of(code_people(), "logistic")


def test_the_split(world):
    """A client's first nine tenths train, in its order; so do the first nine tenths of all rows."""
    rows = code_people()
    for mine, kept, held in zip(rows.clients, world.train, world.held, strict=True):
        cut = int(KEPT * len(mine))
        torch.testing.assert_close(kept.x[:, :3], torch.from_numpy(rows.x[mine[:cut]]).float())
        np.testing.assert_array_equal(held.y, rows.y[mine[cut:]])
    assert [len(part) for part in world.whole] == [135, 15]
    assert world.people.sum() == world.sizes.sum() == 150
    assert len(world.test) == 50


def test_clients_by_hand():
    """Ten rows of one group and five of another. Shares .5, .3, .2 and .2, .4, .4; begins that do not move."""
    first, second = np.arange(10), np.arange(10, 15)
    found = disjoint(first, second, ((0.5, 0.2), (0.3, 0.4), (0.2, 0.4)))
    assert [rows.tolist() for rows in found] == [[0, 1, 2, 3, 4, 10], [5, 6, 7, 11, 12], [8, 9, 13, 14]]
    found = overlapping(first, second, ((0.2, 0.4), (0.8, 0.6)))
    assert [rows.tolist() for rows in found] == [[0, 1, 10, 11], list(range(15))]
    np.testing.assert_array_equal(np.sort(np.concatenate(disjoint(first, second, LOW))), np.arange(15))


def test_synthetic_rows():
    """3,500 train and 1,500 are the test; of three clients each row has one, of four the last has all of 4,667.

    2,091 are of group 1 and 1,409 of group 0: .5 and .2 of them are 1,045 + 281, the next .3 and .4 627 + 564.
    """
    rows = code_rows("Synthetic")
    assert [len(mine) for mine in rows.clients] == [1326, 1191, 983]
    np.testing.assert_array_equal(np.sort(np.concatenate(rows.clients)), rows.train)
    assert len(rows.test) == 1500
    four = code_rows("Synthetic, 4 clients")
    np.testing.assert_array_equal(np.sort(four.clients[3]), np.arange(4667))
    for mine in four.clients[1:3]:
        np.testing.assert_array_equal(np.sort(mine), np.sort(four.clients[0]))
    with pytest.raises(ValueError, match="data must be"):
        code_rows("Iris")


def test_scales():
    np.testing.assert_allclose(scaled(np.array([[1.0, 4.0], [3.0, 4.0], [2.0, 4.0]])), [[0, 0], [1, 0], [0.5, 0]])


def test_the_stream_is_a_data_loaders():
    """Three epochs of a shuffled loader, a pass through one that is not, noise, and a fourth epoch."""
    torch.manual_seed(7)
    numbers = torch.utils.data.TensorDataset(torch.arange(50))
    loader = torch.utils.data.DataLoader(numbers, batch_size=8, shuffle=True)
    plain = torch.utils.data.DataLoader(numbers, batch_size=8)
    theirs = [torch.cat([batch for (batch,) in loader]) for _ in range(3)]
    list(plain)
    torch.randn(50)
    theirs.append(torch.cat([batch for (batch,) in loader]))
    stream = Stream(7)
    mine = [stream.order(50) for _ in range(3)]
    stream.passed(1)
    stream.noise(50)
    mine.append(stream.order(50))
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("kind", ["mlp", "logistic"])
def test_starts_and_outputs_are_modules(kind):
    """The first parameters are those of nn.Linear after manual_seed, and the outputs a sigmoid of its scores."""
    world = World.of(code_people(), kind)
    torch.manual_seed(5)
    layers = [torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)]
    if kind == "logistic":
        torch.manual_seed(5)
        layers = [torch.nn.Linear(3, 2)]
    module = torch.nn.Sequential(*layers)
    before = torch.get_rng_state()
    (params,) = world.start([5])
    torch.testing.assert_close(torch.get_rng_state(), before)
    with torch.no_grad():
        theirs = torch.sigmoid(module(world.test.x[:, :3]))
        loss = torch.nn.functional.cross_entropy(module(world.test.x[:, :3]), world.test.y, reduction="none")
    torch.testing.assert_close(outputs(world.model, params, world.test), theirs)
    torch.testing.assert_close(losses(world.model, params[None], world.test)[0], loss, rtol=1e-5, atol=1e-6)


def test_adam_is_torchs():
    """Three runs with rates and decays of their own, ten steps on the same gradients."""
    start = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(99))
    rates = torch.tensor([0.001, 0.01, 0.1], dtype=torch.float64)
    params = start.clone()
    decays = torch.tensor([0.02, 0.0, 0.1], dtype=torch.float64)
    mine = Adam(params, rates, decays)
    single = [torch.nn.Parameter(row.clone()) for row in start]
    theirs = [
        torch.optim.Adam([p], lr=float(r), weight_decay=float(d)) for p, r, d in zip(single, rates, decays, strict=True)
    ]
    for step in range(10):
        gradient = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(step))
        mine.step(params, gradient.clone())
        for p, row, optimiser in zip(single, gradient, theirs, strict=True):
            p.grad = row.clone()
            optimiser.step()
    torch.testing.assert_close(params, torch.stack([p.detach() for p in single]), rtol=1e-12, atol=1e-12)


def test_momentum_is_torchs(world):
    """Means of losses over the last, smaller batch too: two epochs of SGD by autograd."""
    sample, start = world.train[0], world.start([1]).double()
    wide, found = Sample(sample.x.double(), sample.y, sample.a), start.clone()
    wide = Sample.join([wide, wide])
    train(world.model, found, wide, 2, Momentum(found, torch.tensor([0.1])), [1], streams([1]))
    param, stream = torch.nn.Parameter(start[0].clone()), Stream(1)
    optimiser = torch.optim.SGD([param], lr=0.1, momentum=0.9)
    for _ in range(2):
        order = stream.order(len(wide))
        assert len(order) > 128
        for rows in order.split(128):
            optimiser.zero_grad()
            world.model.reference(param, wide.x[rows], wide.y[rows]).mean().backward()
            optimiser.step()
    torch.testing.assert_close(found[0], param.detach(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("relative", [False, True])
def test_training_against_a_plain_loop(world, relative):
    """Two seeds in one call are each what one run of autograd and torch's Adam on the same batches gives."""
    sample, table = world.train[0], np.array([[[0.3, 1.7], [0.6, 0.2]]]).repeat(2, 0)
    start, rate = world.start([1, 2]).double(), torch.full((2,), 0.01, dtype=torch.float64)
    wide = Sample(sample.x.double(), sample.y, sample.a)
    found, decay = start.clone(), torch.full((2,), 1e-4, dtype=torch.float64)
    train(world.model, found, wide, 3, Adam(found, rate, decay), [1, 2], streams([1, 2]), table, relative)
    for seed, first, last in zip((1, 2), start, found, strict=True):
        param = torch.nn.Parameter(first.clone())
        optimiser = torch.optim.Adam([param], lr=0.01, weight_decay=1e-4)
        stream = Stream(seed)
        for _ in range(3):
            order = stream.order(len(wide))
            for at in range(0, len(wide), 128):
                rows = order[at : at + 128]
                if relative:
                    stream.noise(len(rows))
                weights = torch.from_numpy(table[0])[wide.a[rows], wide.y[rows]]
                loss = (world.model.reference(param, wide.x[rows], wide.y[rows]) * weights).sum()
                optimiser.zero_grad()
                (loss / weights.sum() if relative else loss).backward()
                optimiser.step()
        torch.testing.assert_close(last, param.detach(), rtol=1e-9, atol=1e-9)


def test_averages_by_hand():
    """Three clients of 2, 3 and 5 people with models 10, 1 and 2: right (20+3+10)/10; the code's (10+3+10)/8, /10.

    With client 1 once: (20+1+10)/7.
    """
    models, sizes = [torch.full((3, 1), v) for v in (10.0, 1.0, 2.0)], np.array([[2.0], [3.0], [5.0]]).repeat(3, 1)
    once = np.array([-1, 0, 1])
    assert average(models, sizes, once, True).ravel().tolist() == pytest.approx([3.3, 23 / 8, 31 / 7])
    assert average(models, sizes, once, False).ravel().tolist() == pytest.approx([3.3, 2.3, 3.1])
