"""The published code's procedure: its optimiser against torch's, its averages and steps of λ by hand, its lines."""

import numpy as np
import pandas as pd
import pytest
import torch

from fairfl.sims.engine import Softmax
from fairfl.sims.experiments import Scale, fedfb_code, fedfb_code_rules, run_units
from fairfl.sims.experiments.execute import run_unit
from fairfl.sims.experiments.experiment import Unit
from fairfl.sims.experiments.fedfb_code_rules import (
    Code,
    Run,
    accepting,
    by_differences,
    complement,
    ensemble,
    fedavg,
    fedfb,
    fedfb_first,
    lft_fedavg,
    signed,
    vote,
)
from fairfl.sims.experiments.fedfb_code_training import KEPT, Adam, Sample, World, accepted, average, train
from fairfl.sims.federated.data import FederatedData


@pytest.fixture
def world():
    """Two clients, two groups, 200 rows, 3 features."""
    n, rng = 200, np.random.default_rng(0)
    a = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=(n, 2)), a])
    y = (x[:, 0] + rng.normal(size=n) > 0).astype(int)
    part = np.where(np.arange(n) < 150, np.where(np.arange(n) % 5 == 0, 1, 0), 2).astype(np.int8)
    return World.of(FederatedData("d", x, y, rng.integers(0, 2, n), 2, part, a), "logistic")


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(fedfb_code_rules, "EPOCHS", 2)
    monkeypatch.setattr(fedfb_code_rules, "ROUNDS", 2)
    monkeypatch.setattr(fedfb_code_rules, "TOTAL", 4)


def test_the_split(world):
    sizes = [len(s) + len(h) for s, h in zip(world.train, world.held, strict=True)]
    assert [len(s) for s in world.train] == [int(KEPT * n) for n in sizes]
    assert sum(sizes) == 150
    assert world.people.sum() == 150
    assert len(world.test) == 50


def test_adam_is_torchs():
    """Three runs with rates of their own, ten steps on the same gradients."""
    start = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(99))
    rates = torch.tensor([0.001, 0.01, 0.1], dtype=torch.float64)
    params = start.clone()
    mine = Adam(params, rates, 0.02)
    single = [torch.nn.Parameter(row.clone()) for row in start]
    theirs = [torch.optim.Adam([p], lr=float(r), weight_decay=0.02) for p, r in zip(single, rates, strict=True)]
    for step in range(10):
        gradient = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(step))
        mine.step(params, gradient.clone())
        for p, row, optimiser in zip(single, gradient, theirs, strict=True):
            p.grad = row.clone()
            optimiser.step()
    torch.testing.assert_close(params, torch.stack([p.detach() for p in single]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("relative", [False, True])
def test_training_against_a_plain_loop(world, relative):
    """Two seeds in one call are each what one run of autograd and torch's Adam on the same batches gives."""
    sample, table = world.train[0], np.array([[[0.3, 1.7], [0.6, 0.2]]]).repeat(2, 0)
    start, rate = world.start([1, 2]).double(), torch.full((2,), 0.01, dtype=torch.float64)
    wide = Sample(sample.x.double(), sample.y, sample.a)
    found = start.clone()
    train(world.model, found, wide, 3, Adam(found, rate, 1e-4), [1, 2], 5, table, relative)
    for seed, first, last in zip((1, 2), start, found, strict=True):
        param = torch.nn.Parameter(first.clone())
        optimiser = torch.optim.Adam([param], lr=0.01, weight_decay=1e-4)
        stream = np.random.default_rng([seed, 5])
        for _ in range(3):
            order = stream.permutation(len(wide))
            for at in range(0, len(wide), 128):
                rows = torch.from_numpy(order[at : at + 128])
                weights = torch.from_numpy(table[0])[wide.a[rows], wide.y[rows]]
                loss = (world.model.reference(param, wide.x[rows], wide.y[rows]) * weights).sum()
                optimiser.zero_grad()
                (loss / weights.sum() if relative else loss).backward()
                optimiser.step()
        torch.testing.assert_close(last, param.detach(), rtol=1e-9, atol=1e-9)


def test_averages_by_hand():
    """Three clients of 2, 3 and 5 people with models 10, 1 and 2: right (20+3+10)/10; the code's (10+3+10)/8, /10."""
    models, sizes = [torch.tensor([[v]]) for v in (10.0, 1.0, 2.0)], np.array([[2.0], [3.0], [5.0]])
    assert float(average(models, sizes)) == pytest.approx(3.3)
    assert float(average(models, sizes, "others")) == pytest.approx(23 / 8)
    assert float(average(models, sizes, "all")) == pytest.approx(2.3)


def test_signed_steps_by_hand():
    """λ all .5, step .1. y=0 says more: λ(0,0) falls and λ(1,0) rises. Else λ(0,0) rises, and λ(1,0) falls, or in
    the code λ(0,1) falls, and λ(1,0) is 1 - λ(0,0), λ(1,1) 1 - λ(0,1).
    """
    lam, step = np.full((1, 2, 2), 0.5), np.array([0.1])
    more = np.array([[[0.9, 0.2], [0.1, 0.2]]])  # group a, label y
    np.testing.assert_allclose(signed(lam, more, step, True), [[[0.4, 0.6], [0.6, 0.4]]])
    np.testing.assert_allclose(signed(lam, -more, step, False), [[[0.6, 0.4], [0.4, 0.6]]])
    np.testing.assert_allclose(signed(lam, -more, step, True), [[[0.6, 0.4], [0.4, 0.6]]])
    uneven = np.array([[[0.2, 0.8], [0.7, 0.3]]])
    np.testing.assert_allclose(signed(uneven, -more, step, False), [[[0.3, 0.7], [0.6, 0.4]]])
    np.testing.assert_allclose(signed(uneven, -more, step, True), [[[0.3, 0.7], [0.7, 0.3]]])


def test_differences_by_hand():
    """Three groups with D = 1, .5, 2: λ_1 rises by .5 α, λ_2 falls by α, λ_0 takes minus their sum; clipped."""
    lam = complement(np.array([[0.3, 0.3, 0.4]]), np.array([0.6, 0.6, 0.8]))
    found = by_differences(lam, np.array([[1.0, 0.5, 2.0]]), np.array([0.1]), np.array([0.6, 0.6, 0.8]))
    np.testing.assert_allclose(found[0, :, 0], [0.35, 0.35, 0.3])
    np.testing.assert_allclose(found.sum(2), [[0.6, 0.6, 0.8]])
    far = by_differences(lam, np.array([[1.0, 0.5, 2.0]]), np.array([9.0]), np.array([0.6, 0.6, 0.8]))
    np.testing.assert_allclose(far[0, :, 0], [0.6, 0.6, 0.0])


def test_losses_of_being_accepted(world):
    params, mass = world.start([3]), world.people.sum(1)
    found = accepting(world, params, world.test, mass)
    chance = torch.softmax(world.test.x @ params[0].view(2, -1).T, 1)[:, 1].numpy()
    for a in (0, 1):
        for y in (0, 1):
            mine = (world.test.a.numpy() == a) & (world.test.y.numpy() == y)
            assert found[0, a, y] == pytest.approx(-np.log(chance[mine]).sum() / mass[a], rel=1e-5)


@pytest.mark.parametrize("method", [fedavg, fedfb, fedfb_first, lft_fedavg, ensemble])
def test_runs_do_not_mix(world, short, method):
    """A run is the same alone and beside another."""
    alphas = np.array([[0.1, 0.2], [0.5, 0.1]]) if method in (lft_fedavg, ensemble) else np.array([0.1, 0.5])
    both = method(Run(world, Code(), [1, 2], np.array([0.01, 0.005]), alphas))
    for r, seed in enumerate((1, 2)):
        alone = method(Run(world, Code(), [seed], np.array([0.01, 0.005])[r : r + 1], alphas[r : r + 1]))
        torch.testing.assert_close(both[..., r : r + 1, :], alone, rtol=1e-4, atol=1e-5)


def test_one_group_of_votes(world):
    """Two models that disagree: the client with more people decides."""
    yes, no = (torch.tensor([[0.0, 0.0, 0.0, s, 0.0, 0.0, 0.0, -s]]) for s in (-9.0, 9.0))
    assert isinstance(world.model, Softmax)
    assert (accepted(world.model, yes, world.test) == 1).all()
    larger = int(np.argmax([len(s) for s in world.train]))
    models = torch.stack([yes if k == larger else no for k in range(2)])
    assert (vote(world, models, world.test) == 1).all()


def test_from_data_to_a_table(short, monkeypatch):
    rows = np.random.default_rng(1)
    n = 240
    a, x = rows.integers(0, 2, n), rows.normal(size=(n, 2))
    y, part = (x[:, 0] > 0).astype(int), np.where(np.arange(n) < 160, 0, 2).astype(np.int8)
    data = FederatedData("d", np.column_stack([x, a]), y, np.arange(n) % 2, 2, part, a)
    monkeypatch.setattr(fedfb_code, "fedfb_data", lambda name: data)
    case = ("Adult", "logistic")
    monkeypatch.setattr(fedfb_code, "CASES", {case: fedfb_code.CASES[case]})
    found = run_units(fedfb_code.units(Scale("paper", 2)))
    values = fedfb_code.values(found)
    counts = values[values["measure"] == "Acc."].groupby("objective")["value"].count().to_dict()
    assert counts.pop("LFT+Ensemble, mean of the grid") == 9 + 1
    assert counts.pop("all 0") == counts.pop("all 1") == 1
    assert set(counts.values()) == {2}
    theirs = fedfb_code.PUBLISHED[fedfb_code.PUBLISHED["dataset"] == "Adult, table 4"]
    assert set(counts) < set(theirs["objective"])
    assert all(line.endswith(".") for line in fedfb_code.differences(found))


def test_what_does_not_run_in_the_engine_is_kept(tmp_path):
    """Measured once: with resume the file is read, and ``make`` not called."""
    calls = []

    def make():
        calls.append(1)
        return pd.DataFrame({"round": [0], "part": ["test"], "objective": ["o"], "seed": [0], "accuracy": [0.5]})

    unit = Unit("u", "D", 0, ("o",), make)
    first = run_unit(unit, tmp_path, False)
    pd.testing.assert_frame_equal(run_unit(unit, tmp_path, True), first)
    assert len(calls) == 1
    run_unit(unit, tmp_path, False)
    assert len(calls) == 2
