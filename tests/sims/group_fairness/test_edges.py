"""Groups missing on a client, one class, a group of one: all run, or say what is wrong."""

from types import SimpleNamespace

import federations
import numpy as np
import pytest
import torch

from fairfl.sims import engine
from fairfl.sims.engine.group_label_sums import CellIndex
from fairfl.sims.engine.task import as_floats
from fairfl.sims.group_fairness import AgnosticFair, FairBatch, FairFed, FedFB, LocalFairBatch
from fairfl.sims.group_fairness.lft import LAM, MODELS


def people(cells, seed=0):
    """Clients with so many people of each (group, label): cells[k][a][y]."""
    rng = np.random.default_rng(seed)
    parts, groups = [], []
    for client in cells:
        counts = np.ravel(client)
        a, y = np.repeat(np.arange(len(client)), 2).repeat(counts), np.tile([0, 1], len(client))
        y = y.repeat(counts)
        x = rng.normal(size=(len(y), 2)) + y[:, None]
        parts.append((torch.from_numpy(x), torch.from_numpy(y)))
        groups.append(a)
    plain = engine.ClientData.from_clients(parts)
    return engine.Parts(
        engine.ClientData(plain.x, plain.y, plain.offsets, group=np.concatenate(groups))
    )


CASES = {
    "a group is missing on each client": [[[3, 4], [0, 0]], [[0, 0], [5, 2]], [[2, 2], [2, 2]]],
    "a client has one class": [[[3, 0], [4, 0]], [[2, 3], [2, 3]]],
    "a group of one person": [[[3, 4], [0, 0]], [[4, 4], [0, 1]]],
    "a client of one person": [[[0, 1], [0, 0]], [[4, 4], [3, 3]]],
}
ALGORITHMS = [
    *(FedFB(FairBatch(notion, 0.3)) for notion in ("dp", "eo", "cp")),
    *(FedFB(FairBatch(notion, 0.3), evaluated="local") for notion in ("dp", "eo", "cp")),
    *(FedFB(FairBatch(name, 0.3, surrogate="acceptance"), bits=8) for name in ("dp", "eo", "cp")),
    *(
        FedFB(FairBatch(notion, 0.3, surrogate="zero_one", budget=0.05))
        for notion in ("dp", "eo", "cp")
    ),
    FedFB(FairBatch("dp", 0.3, projection="sum")),
    LocalFairBatch(FairBatch("dp", 0.3)),
    LocalFairBatch(FairBatch("eodds", 0.3, surrogate="acceptance"), 3),
    LocalFairBatch(FairBatch("eo", 0.3), 2),
    FairFed(0.5),
    FairFed(0.5, "eo", "none"),
]


def trained(parts, *algorithms, rounds=4):
    settings = engine.Training(rounds=rounds, lr=0.2, batch_size=3, epochs=2)
    return federations.trained(engine.Logistic(2), parts, algorithms, settings)


@pytest.mark.parametrize("case", sorted(CASES))
def test_runs(case):
    simulation = trained(people(CASES[case]), *ALGORITHMS)
    assert bool(torch.isfinite(simulation.params).all())
    for algorithm, state in zip(ALGORITHMS, simulation.states, strict=True):
        for name in {*state} - {"own.gap"}:
            assert np.isfinite(as_floats(state[name])).all(), (algorithm, name)
    (fit,) = AgnosticFair(kernels=3).fit(engine.Logistic(2), people(CASES[case]), 4, 0.2)
    assert bool(torch.isfinite(fit.params).all())


@pytest.mark.parametrize("case", sorted(CASES))
def test_odds_run_or_name_the_cell_of_nobody(case):
    """Both labels of every group are wanted, of the federation, not of a client."""
    people_of = np.array(CASES[case]).sum(0)
    algorithm = FedFB(FairBatch("eodds", 0.3))
    if (people_of > 0).all():
        assert bool(torch.isfinite(trained(people(CASES[case]), algorithm).params).all())
    else:
        y, a = np.argwhere(people_of.T == 0)[0]
        message = f"group {a} must have people of label {y} among the training data"
        with pytest.raises(ValueError, match=message):
            trained(people(CASES[case]), algorithm)
    alone = trained(people(CASES[case]), LocalFairBatch(FairBatch("eodds", 0.3)))
    assert bool(torch.isfinite(alone.states[0][MODELS]).all())


def test_one_class_in_all_has_parity_alone():
    """Nobody of label 1: parity runs on those accepted; the others say whom they lack."""
    parts = people([[[3, 0], [4, 0]], [[2, 0], [5, 0]]])
    assert bool(torch.isfinite(trained(parts, FedFB(FairBatch("dp", 0.3))).params).all())
    for notion in ("eo", "eodds"):
        with pytest.raises(ValueError, match="group 0 must have people of label 1"):
            trained(parts, FedFB(FairBatch(notion)))


def test_a_client_alone_with_one_group_trains_on_the_plain_loss():
    """LFT: no F is defined there, its λ does not move and its model is that of plain training."""
    parts = people(CASES["a group is missing on each client"])
    fair, plain = (trained(parts, LocalFairBatch(FairBatch("dp", alpha))) for alpha in (0.3, 1e-12))
    first, second, both = fair.states[0][MODELS] - plain.states[0][MODELS]
    assert first.abs().max() == second.abs().max() == 0 and both.abs().max() > 1e-3
    assert (as_floats(fair.states[0][LAM])[:2] == 0).all()


@pytest.mark.exact
@pytest.mark.parametrize("third", [[[2, 2], [2, 2]], [[3, 4], [0, 0]]], ids=["both", "one group"])
def test_fairfed_weighs_by_hand(third):
    """ω_k moves by -β (Δ_k - mean Δ) from n_k / n; the sum stays one; β = 0: FedAvg. A client of
    one group has the difference of accuracies.
    """
    parts = people([[[3, 4], [3, 3]], [[4, 1], [1, 6]], third])
    sizes = parts.train.sizes / parts.train.sizes.sum()
    np.testing.assert_allclose(trained(parts, FairFed(0.0)).weights[0][1], sizes, atol=1e-10)
    simulation = trained(parts, FairFed(0.1), rounds=2)
    gap, right = as_floats(simulation.states[0]["own.gap"])
    gap_of_all, right_of_all = as_floats(simulation.states[0]["global"])
    assert np.isnan(gap).tolist() == [False, False, third[1] == [0, 0]]
    delta = np.where(np.isnan(gap), np.abs(right_of_all - right), np.abs(gap_of_all - gap))
    expected = sizes - 0.1 * (delta - delta.mean())
    assert delta.max() > delta.min()
    np.testing.assert_allclose(simulation.weights[0][1], expected, atol=1e-9)


def test_fairfed_makes_group_and_label_independent():
    """Weighed people of each client, by group and label: n_a n_y / n."""
    data = people([[[3, 4], [3, 3]], [[4, 1], [1, 6]], [[3, 4], [0, 0]]]).train
    index = CellIndex(data, engine.Logistic(2), 1 << 30)
    (task,) = FairFed().client(SimpleNamespace(index=index))
    cells = np.zeros((3, 2, 2))
    owner = np.repeat(np.arange(3), data.sizes)
    np.add.at(cells, (owner, data.group, data.y.numpy()), task.sample_weights.numpy())
    expected = [np.outer(n.sum(1), n.sum(0)) / n.sum() for n in index.counts]
    np.testing.assert_allclose(cells, expected, rtol=1e-12)


def test_fairfed_wants_two_groups():
    with pytest.raises(ValueError, match="two groups for FairFed, got 3"):
        trained(people([[[3, 4], [3, 3], [1, 1]]]), FairFed())


@pytest.mark.exact
def test_agnostic_without_choice_and_constraint_is_gradient_descent():
    """cap = 1 and a flat kernel: θ = 1, and a round is a step on the mean loss."""
    parts, model = people([[[3, 4], [3, 3]], [[4, 1], [1, 6]]]), engine.Logistic(2)
    rule = AgnosticFair(kernels=1, width=1e6, cap=1.0, dual_rate=0.0, penalty=0.0)
    params = rule.fit(model, parts, 5, 0.4)[0].params.numpy()
    x = np.hstack([parts.train.x.numpy(), np.ones((len(parts.train.x), 1))])
    w = np.zeros(3)
    for _ in range(5):
        w -= 0.4 * x.T @ (1 / (1 + np.exp(-x @ w)) - parts.train.y.numpy()) / len(x)
    np.testing.assert_allclose(params, w, atol=1e-8)


def test_agnostic_gradient_is_that_of_its_lagrangian():
    """Against autograd on ℓ + pull (a - mean) z."""
    from fairfl.sims.group_fairness.agnostic import _Runs

    parts, model = people([[[3, 4], [3, 3]]]), engine.MLP((2, 3, 2))
    run = _Runs(AgnosticFair(kernels=3), model, parts.train, [0], "cpu")
    alpha, w = np.array([0.5, 1.0, 2.0]), model.init(3).requires_grad_()
    x, y = run.data.x, run.data.y
    theta = run.kernel[0] @ torch.from_numpy(alpha) / len(x)
    first, second, last = torch.split(w, [9, 6, 2])
    z = torch.relu(x @ first.view(3, 3)) @ second.view(3, 2) + last
    score = z[:, 1] - z[:, 0]
    value = (theta * (model.reference(w, x, y) + 0.7 * run.away[0] * score)).sum()
    expected = torch.autograd.grad(value, w)[0]
    with torch.no_grad():
        gradient = run._slopes(w[None], alpha[None], np.array([[0.7]]))[0]
        np.testing.assert_allclose(gradient.numpy(), expected.numpy(), atol=1e-12)
