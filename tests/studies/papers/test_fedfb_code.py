"""The published code's steps of λ and methods, by hand and against modules; from data to a table."""


import numpy as np
import pandas as pd
import pytest
import torch
from code_people import code_people

from fairfl.sims.engine import MLP, Softmax
from fairfl.studies.execute import run_unit, run_units
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.papers.fedfb import code as fedfb_code
from fairfl.studies.papers.fedfb import code_rules as fedfb_code_rules
from fairfl.studies.papers.fedfb.code_data import code_rows
from fairfl.studies.papers.fedfb.code_rules import (
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
from fairfl.studies.papers.fedfb.code_search import disparities
from fairfl.studies.papers.fedfb.code_training import (
    Sample,
    World,
    accepted,
    losses,
)


@pytest.fixture(scope="module")
def world():
    """Two clients, two groups, 200 rows, 3 features."""
    return World.of(code_people(), "logistic")


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(fedfb_code_rules, "EPOCHS", 2)
    monkeypatch.setattr(fedfb_code_rules, "ROUNDS", 2)
    monkeypatch.setattr(fedfb_code_rules, "TOTAL", 4)


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
    world, rates = World.of(code_people(groups), "logistic"), np.array([0.01, 0.005])
    alphas = np.array([[0.1, 0.2], [0.5, 0.1]] if method in ("LFT", "Ensemble") else [0.1, 0.5])
    codes = [Code(), Code(first_client=False, every_constant=False, one_cap=False, decay=0.1, other_branch=False)]
    both = final(METHODS[method](Run(world, codes, [1, 2], rates, alphas)))
    for r, seed in enumerate((1, 2)):
        alone = Run(world, codes[r : r + 1], [seed], rates[r : r + 1], alphas[r : r + 1])
        torch.testing.assert_close(both[..., r : r + 1, :], final(METHODS[method](alone)), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(both[..., 0, :], both[..., 1, :])


def test_fedavg_against_modules(short):
    """Two rounds of two clients with torch's modules, loaders and optimiser, averaged as the code does."""
    world, seed = World.of(code_people(), "mlp"), 3
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


def test_from_data_to_a_table(short, monkeypatch):
    monkeypatch.setattr(fedfb_code, "code_rows", lambda name: code_people(n=240))
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
