"""The published code's procedure: its streams and optimiser against torch's, its averages and steps of λ by hand."""

from itertools import count

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.engine import MLP, Softmax
from fairfl.sims.experiments import Scale, fedfb_code, fedfb_code_rules, run_units
from fairfl.sims.experiments.execute import run_unit
from fairfl.sims.experiments.experiment import Unit
from fairfl.sims.experiments.fedfb_code_data import LOW, CodeRows, code_rows, disjoint, overlapping, scaled
from fairfl.sims.experiments.fedfb_code_rules import (
    Code,
    Run,
    accepting,
    by_differences,
    cfl,
    cfl_first,
    complement,
    ensemble,
    fedavg,
    fedfb,
    fedfb_first,
    final,
    lft_fedavg,
    signed,
    skipped_client,
    vote,
)
from fairfl.sims.experiments.fedfb_code_search import Grid, Trials, best, disparities, measures
from fairfl.sims.experiments.fedfb_code_training import (
    KEPT,
    Adam,
    Momentum,
    Sample,
    Stream,
    World,
    accepted,
    average,
    losses,
    outputs,
    streams,
    train,
)


def people(groups=2, n=200, clients=2):
    """Rows of two features and the group; three quarters train."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, groups, n)
    x = np.column_stack([rng.normal(size=(n, 2)), a]).astype(np.float64)
    y = (x[:, 0] + rng.normal(size=n) > 0).astype(int)
    known, owner = np.arange(3 * n // 4), rng.integers(0, clients, 3 * n // 4)
    return CodeRows(x, y, a, tuple(known[owner == k] for k in range(clients)), known, np.arange(len(known), n))


@pytest.fixture(scope="module")
def world():
    """Two clients, two groups, 200 rows, 3 features."""
    return World.of(people(), "logistic")


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(fedfb_code_rules, "EPOCHS", 2)
    monkeypatch.setattr(fedfb_code_rules, "ROUNDS", 2)
    monkeypatch.setattr(fedfb_code_rules, "TOTAL", 4)


def test_the_split(world):
    """A client's first nine tenths train, in its order; so do the first nine tenths of all rows."""
    rows = people()
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
    world = World.of(people(), kind)
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


def test_who_is_skipped():
    """The first of the permutation that the code draws afresh in every round."""
    for seed in range(5):
        np.random.seed(seed)  # noqa: NPY002 - the code's own stream
        assert skipped_client(seed, 3) == np.random.choice(range(3), 3, replace=False)[0]  # noqa: NPY002


def test_signed_steps_by_hand():
    """λ all .5, step .1. y=0 says more: λ(0,0) falls and λ(1,0) rises. Else λ(0,0) rises, and λ(1,0) falls, or in
    the code λ(0,1) falls, and λ(1,0) is 1 - λ(0,0), λ(1,1) 1 - λ(0,1).
    """
    lam, step = np.full((1, 2, 2), 0.5), np.array([0.1])
    more = np.array([[[0.9, 0.2], [0.1, 0.2]]])  # group a, label y
    code, mended = np.array([True]), np.array([False])
    np.testing.assert_allclose(signed(lam, more, step, code), [[[0.4, 0.6], [0.6, 0.4]]])
    np.testing.assert_allclose(signed(lam, -more, step, mended), [[[0.6, 0.4], [0.4, 0.6]]])
    np.testing.assert_allclose(signed(lam, -more, step, code), [[[0.6, 0.4], [0.4, 0.6]]])
    uneven = np.array([[[0.2, 0.8], [0.7, 0.3]]])
    np.testing.assert_allclose(signed(uneven, -more, step, mended), [[[0.3, 0.7], [0.6, 0.4]]])
    np.testing.assert_allclose(signed(uneven, -more, step, code), [[[0.3, 0.7], [0.7, 0.3]]])


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


METHODS = {
    "FedAvg": fedavg, "FedFB": fedfb, "first": fedfb_first, "LFT": lft_fedavg, "Ensemble": ensemble,
    "CFL": lambda run: cfl(run, 2), "CFL first": lambda run: cfl_first(run, 4),
}  # fmt: skip


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_runs_do_not_mix(groups, short, method):
    """A run is the same alone and beside another, of another seed, rate, α and code."""
    world, rates = World.of(people(groups), "logistic"), np.array([0.01, 0.005])
    alphas = np.array([[0.1, 0.2], [0.5, 0.1]] if method in ("LFT", "Ensemble") else [0.1, 0.5])
    codes = [Code(), Code(first_client=False, every_constant=False, one_cap=False, decay=0.1, other_branch=False)]
    both = final(METHODS[method](Run(world, codes, [1, 2], rates, alphas)))
    for r, seed in enumerate((1, 2)):
        alone = Run(world, codes[r : r + 1], [seed], rates[r : r + 1], alphas[r : r + 1])
        torch.testing.assert_close(both[..., r : r + 1, :], final(METHODS[method](alone)), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(both[..., 0, :], both[..., 1, :])


def test_fedavg_against_modules(short):
    """Two rounds of two clients with torch's modules, loaders and optimiser, averaged as the code does."""
    world, seed = World.of(people(), "mlp"), 3
    assert isinstance(world.model, MLP)
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    skipped = skipped_client(seed, 2)
    for _ in range(2):
        start, ended = [p.detach().clone() for p in module.parameters()], []
        for sample in world.train:
            for p, value in zip(module.parameters(), start, strict=True):
                p.data = value.clone()
            torch.manual_seed(seed)
            pairs = torch.utils.data.TensorDataset(sample.x, sample.y)
            loader = torch.utils.data.DataLoader(pairs, batch_size=128, shuffle=True)
            optimiser = torch.optim.Adam(module.parameters(), lr=0.01, weight_decay=1e-4)
            for _ in range(2):
                for x, y in loader:
                    optimiser.zero_grad()
                    torch.nn.functional.cross_entropy(module(x), y, reduction="sum").backward()
                    optimiser.step()
            ended.append([p.detach().clone() for p in module.parameters()])
        other = ended[1 - skipped]
        size = float(world.sizes[1 - skipped])
        for p, once, often in zip(module.parameters(), ended[skipped], other, strict=True):
            p.data = (once + size * often) / size
    theirs = torch.cat([p.detach().reshape(-1) for p in module.parameters()])
    mine = final(fedavg(Run(world, [Code()], [seed], np.array([0.01]), np.zeros(1))))[0]
    torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_the_notebooks_log(monkeypatch):
    """FedAvg's first rounds as the code's authors ran them: seed 0, rates .001 and .002, little heterogeneity.

    The accuracies (means over clients), disparities and the last client's losses are those that their notebook of
    table 2 printed on 24 September 2021 (GitHub: yzeng58/Improving-Fairness-via-Federated-Learning, table2.ipynb).
    """
    monkeypatch.setattr(fedfb_code_rules, "ROUNDS", 2)
    world = World.of(code_rows("Synthetic, low"), "mlp")
    held, printed = Sample.join(world.held), (
        ((0.8663793103448275, 0.8776819923371647), (0.38289141414141414, 0.38545380273321445), (37.3024, 29.6490)),
        ((0.877682, 0.883333), None, (28.9527, 27.7302)),
    )  # fmt: skip
    run = Run(world, [Code()] * 2, [0, 0], np.array([0.001, 0.002]), np.zeros(2))
    for params, (accuracy, gap, loss) in zip(fedavg(run), printed, strict=True):
        found = [(accepted(world.model, params, mine) == mine.y.numpy()).mean(1) for mine in world.held]
        np.testing.assert_allclose(np.mean(found, 0), accuracy, atol=1e-6)
        np.testing.assert_allclose(losses(world.model, params, world.held[-1]).sum(1), loss, atol=2e-3)
        if gap is not None:
            np.testing.assert_allclose(disparities(accepted(world.model, params, held), held), gap, atol=1e-12)


def test_one_group_of_votes(world):
    """Two models that disagree: the client with more people decides."""
    yes, no = (torch.tensor([[0.0, 0.0, 0.0, -s, 0.0, 0.0, 0.0, s]]) for s in (9.0, -9.0))
    assert isinstance(world.model, Softmax)
    assert (accepted(world.model, yes, world.test) == 1).all()
    larger = int(np.argmax(world.sizes))
    models = torch.stack([yes if k == larger else no for k in range(2)])
    assert (vote(world, models, world.test) == 1).all()
    assert (vote(world, models.flip(0), world.test) == 0).all()


def test_who_is_stopped_by_hand():
    """Marks at the rung 3, 1, 2, 0.5 and at the end 0.4, 0.9, 0.1, 0.6.

    The first is never stopped; the second is better than it; the third is above the quartile 1.5 of (3, 1) and
    stopped at 2; the fourth is below that of (3, 1, 2). So the last marks are 0.4, 0.9, 2, 0.6.
    """
    rung, end = np.array([3.0, 1.0, 2.0, 0.5]), np.array([0.4, 0.9, 0.1, 0.6])
    assert best(np.stack([rung, end])) == (0, 1)
    assert best(np.stack([rung, end + [1.0, 0, 0, 1]])) == (1, 1)
    assert best(np.stack([rung - [0, 0, 0.9, 0], end + 2])) == (2, 1)
    assert best(np.stack([np.array([0.0, 0.3, 0.2]), np.array([0.9, 0.0, 0.0])])) == (2, 0)
    assert best(end[None]) == (2, 0)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9))
def test_the_best_of_those_left(pairs):
    """The slow twin: a loop over trials, each of which looks at all before it."""
    marks, last = np.array(pairs).T, []
    for t in range(len(pairs)):
        goes_on = t == 0 or marks[0, t] <= np.quantile(marks[0, :t], 0.25)
        last.append(marks[1, t] if goes_on else marks[0, t])
    at, when = best(marks)
    assert marks[when, at] == min(last)
    assert at == last.index(min(last))


def test_trials(world):
    """Models are kept at the stops, and no iteration is asked for beyond the last; the nearest is by test measures."""
    asked = count(1)
    starts = [world.start([1, 2, 3]) * t for t in (1, 2, 3)]

    def runs():
        for params in starts:
            next(asked)
            yield params

    grid: Grid = [(0.1, 1.0), (0.2, 2.0), (0.3, 3.0)]
    trials = Trials.of(world, grid, runs(), (1, 2), world.test)
    assert next(asked) == 3
    found = accepted(world.model, starts[1], world.test)
    np.testing.assert_allclose(trials.marks[1], disparities(found, world.test))
    at, when = best(trials.marks)
    assert (trials.rungs, len(trials.models)) == (2, 2)
    choice = trials.chosen()
    assert choice.point == grid[at]
    torch.testing.assert_close(choice.model, starts[when][at : at + 1])
    assert choice.stopped == (1 if when == 0 else 0)
    for r in range(3):
        accuracy = (found[r] == world.test.y.numpy()).mean()
        published = np.array([accuracy, disparities(found[r : r + 1], world.test)[0]])
        near = trials.near(world, published, np.array([0.01, 0.0]))
        assert near[0].mark == pytest.approx(0)
        np.testing.assert_array_equal(accepted(world.model, near[0].model, world.test)[0], found[r])
        # spreads: .01 of the accuracy, and the least one, .005, of the disparity
        away = [np.hypot(*((measures(world, row[None])[0] - published) / [0.01, 0.005])) for row in found]
        assert [choice.mark for choice in near] == pytest.approx(sorted(away))
    longer = Trials.of(world, grid, iter(starts), (1, 2, 3), world.test, rungs=2).chosen()
    assert (longer.point, longer.stopped) == (grid[at], (1, 2)[when])


def test_from_data_to_a_table(short, monkeypatch):
    monkeypatch.setattr(fedfb_code, "code_rows", lambda name: people(n=240))
    case = ("Adult", "logistic")
    monkeypatch.setattr(fedfb_code, "CASES", {case: fedfb_code.CASES[case]})
    monkeypatch.setattr(fedfb_code, "ROUNDS", 2)
    monkeypatch.setattr(fedfb_code, "RUNG", 1)
    monkeypatch.setattr(fedfb_code, "TOTAL", 4)
    monkeypatch.setattr(fedfb_code, "CFL_RUNG", 1)
    monkeypatch.setattr(fedfb_code, "LONGEST", 2)
    monkeypatch.setattr(fedfb_code, "CFL_STEPS", (1, 2))
    found = run_units(fedfb_code.units(Scale("paper", 2)))
    values = fedfb_code.values(found)
    counts = values[values["measure"] == "Acc."].groupby("objective")["value"].count().to_dict()
    assert counts.pop("LFT+Ensemble, mean of the grid") == 9 + 1
    assert counts.pop("all 0") == counts.pop("all 1") == 1
    assert set(counts.values()) == {2}
    assert {"FedFB, nearest trial", "FedFB, constants once", "CFL, signed step mended"} < set(counts)
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
