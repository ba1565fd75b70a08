"""The engine against its slow twin: one client after the other, by autograd."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from federations import EXACT, classified, quick, trained
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from fairfl.sims import models
from fairfl.sims.algorithms import algorithms
from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.algorithms.term import TERM, Tilted
from fairfl.sims.engine import (
    MLP,
    Aggregate,
    ByWeight,
    ClientData,
    Given,
    LeastSquares,
    LinearSVM,
    LocalTask,
    Logistic,
    Module,
    Parts,
    Polynomial,
    Softmax,
    Training,
    Uniform,
)
from fairfl.sims.engine.task import Jobs
from fairfl.sims.engine.train import CACHE, chunk_size

LOOP = replace(EXACT, backend="loop")
EQUAL, UNEQUAL = (12,) * 6, (1, 17, 4, 9, 30, 8)
MODEL = Softmax(4, 3)


def assert_twins(model, data, algorithm, training):
    fast, slow = (
        trained(model, data, [algorithm], training, computing) for computing in (EXACT, LOOP)
    )
    assert float(fast.params.abs().max()) > 1e-3  # something was learned
    np.testing.assert_allclose(
        fast.params.numpy(), slow.params.detach().numpy(), rtol=1e-12, atol=1e-12
    )
    own = algorithm.personal(fast.states[0])
    if own is not None:
        np.testing.assert_allclose(
            own.numpy(), algorithm.personal(slow.states[0]).numpy(), rtol=1e-12, atol=1e-12
        )
    return fast


@pytest.mark.parametrize("sizes", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"momentum": 0.9, "lr": 0.03},
        {"weight_decay": 0.01, "momentum": 0.5, "epochs": 2, "rounds": 10},
        {"participation": Uniform(3)},
        {"participation": ByWeight(4)},
        {"participation": ByWeight(4, replace=False), "momentum": 0.5},
        {
            "participation": Given(
                np.array([[True, False, True, True, False, True], [False] * 5 + [True]])
            )
        },
        {"steps": 7, "batch_size": 3},
        {"batch_size": None, "epochs": 3},
        {"dropout": 0.3, "stragglers": 0.5, "epochs": 3, "rounds": 10},
        {"schedule": Polynomial(0.5, 2.0), "server_lr": 0.7},
    ],
    ids=str,
)
def test_fedavg_in_every_setting(sizes, changes):
    assert_twins(MODEL, classified(sizes), FedAvg(), quick(**changes))


EVERY = [algorithm for kind in algorithms().values() for algorithm in kind.examples()]


@pytest.mark.parametrize("algorithm", EVERY, ids=repr)
def test_every_algorithm(algorithm):
    training = quick(lr=0.05, momentum=0.5, participation=Uniform(4), epochs=2, rounds=20)
    assert_twins(MODEL, classified(UNEQUAL), algorithm, training)


@pytest.mark.parametrize("variant", ["paper", "linear", "quadratic"])
def test_propfair_below_its_threshold(variant):
    # log 3 is the first loss: M - l < epsilon at once, and not later
    assert_twins(MODEL, classified(UNEQUAL), PropFair(1.2, 0.3, variant), quick(lr=0.02))


def shifted(kind, sizes):
    """Data whose targets suit the model."""
    data = classified(sizes, classes=2).train
    if kind is LeastSquares:
        return Parts(ClientData(data.x, data.x.sum(1) + data.y, data.offsets))
    return Parts(data)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", [LeastSquares, Logistic, LinearSVM])
def test_linear_models(kind, bias):
    assert_twins(kind(4, bias=bias), shifted(kind, UNEQUAL), FedAvg(), quick(lr=0.02))
    assert_twins(
        kind(4, bias=bias), shifted(kind, UNEQUAL), TERM(0.1, tau=0.2), quick(lr=0.02, rounds=5)
    )


def test_several_outputs():
    data = classified(UNEQUAL).train
    targets = torch.stack([data.x.sum(1), data.x[:, 0]], 1)
    assert_twins(
        LeastSquares(4, 2),
        Parts(ClientData(data.x, targets, data.offsets)),
        FedAvg(),
        quick(lr=0.02),
    )


def network():
    return nn.Sequential(nn.Linear(4, 5), nn.GroupNorm(1, 5), nn.Tanh(), nn.Linear(5, 3))


@pytest.mark.parametrize("model", [MLP((4, 6, 5, 3)), Module(network)], ids=["mlp", "module"])
@pytest.mark.parametrize(
    "algorithm", [FedAvg(), PropFair(5.0), GIFAIR(0.001), Ditto(0.2)], ids=repr
)
def test_networks(model, algorithm):
    assert_twins(model, classified(UNEQUAL), algorithm, quick(momentum=0.5, rounds=8))
    assert_twins(model, classified(EQUAL), algorithm, quick(rounds=8))


def test_the_larger_models():
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(9, 1, 28, 28, generator=generator)
    letters = torch.randint(0, 20, (9, 7), generator=generator)
    offsets, training = np.array([0, 4, 7, 9]), quick(rounds=2, lr=0.05, batch_size=3)
    for make, x, classes in (
        (models.LeNet, images, 10),
        (lambda: models.CharLSTM(20, 4, 6, 1), letters, 20),
    ):
        y = torch.randint(0, classes, (9,), generator=generator)
        assert_twins(Module(make), Parts(ClientData(x, y, offsets)), QFedAvg(1.0), training)


def test_the_mlp_is_the_module_of_its_name():
    by_hand = MLP((4, 6, 3))
    module = Module(by_hand.sequential)
    data = classified(UNEQUAL).train
    params = torch.stack([module.init(seed) for seed in range(2)])
    x, y = data.x[:24].view(2, 12, 4), data.y[:24].view(2, 12)
    own, ones = params[:, by_hand.places], by_hand.prepare(data).x[:24].view(2, 12, 5)
    for weights in (0.25, torch.rand(2, 12, dtype=torch.float64), torch.exp):
        np.testing.assert_allclose(
            by_hand.gradient(own, ones, y, weights),
            module.gradient(params, x, y, weights)[:, by_hand.places],
        )
    np.testing.assert_allclose(by_hand.losses(own, ones, y), module.losses(params, x, y))
    assert torch.equal(by_hand.correct(own, ones, y), module.correct(params, x, y))


KERNELS = [
    (Softmax(4, 3), 3),
    (Softmax(4, 2), 2),
    (Logistic(4), 2),
    (LinearSVM(4), 2),
    (MLP((4, 5, 3)), 3),
    (MLP((4, 5, 2)), 2),
    (Module(network), 3),
]


@pytest.mark.parametrize(("model", "classes"), KERNELS, ids=lambda m: type(m).__name__)
def test_losses_gradients_and_steps_against_autograd(model, classes):
    data = model.prepare(classified(UNEQUAL, classes=classes).train)
    generator = torch.Generator().manual_seed(1)
    params = torch.randn(3, model.size, dtype=torch.float64, generator=generator)
    x, y = data.x[:30].view(3, 10, -1), data.y[:30].view(3, 10)
    share = torch.rand(3, 10, dtype=torch.float64, generator=generator)
    rows = [params[k].clone().requires_grad_() for k in range(3)]
    losses = torch.stack([model.reference(rows[k], x[k], y[k]) for k in range(3)])
    np.testing.assert_allclose(model.losses(params, x, y), losses.detach(), rtol=1e-12, atol=1e-14)
    for weights, used in ((0.1, 0.1), (share, share), (lambda f: f.exp(), losses.detach().exp())):
        slopes = torch.stack(torch.autograd.grad((used * losses).sum(), rows, retain_graph=True))
        np.testing.assert_allclose(
            model.gradient(params, x, y, weights), slopes, rtol=1e-11, atol=1e-13
        )
        expected = [block.clone() for block in model.blocks(slopes)]
        before = [block.contiguous() for block in model.blocks(params)]
        moved, sums = ([block + 0 for block in before] for _ in range(2))
        targets = model.targets(y, params)
        model.add_gradient(moved, x, targets, weights, moved, -0.3)
        model.add_gradient(before, x, targets, weights, sums, 1.0)
        for old, new, sum, slope in zip(before, moved, sums, expected, strict=True):
            np.testing.assert_allclose(new, old - 0.3 * slope, rtol=1e-11, atol=1e-13)
            np.testing.assert_allclose(sum, old + slope, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    "model", [Softmax(4, 3), Softmax(4, 2), Logistic(4), LinearSVM(4), MLP((4, 5, 2))], ids=repr
)
def test_huge_scores_do_not_overflow(model):
    classes = 3 if model == Softmax(4, 3) else 2
    data = model.prepare(classified((8,), classes=classes).train)
    params = torch.full((1, model.size), 1e4, dtype=torch.float64) * torch.linspace(
        -1, 1, model.size
    )
    x, y = data.x[None], data.y[None]
    losses = model.losses(params, x, y)
    assert bool(torch.isfinite(losses).all())
    np.testing.assert_allclose(
        losses[0], model.reference(params[0].double(), x[0], y[0]), rtol=1e-9, atol=1e-9
    )
    assert bool(torch.isfinite(model.gradient(params, x, y, 0.1)).all())


def test_models_and_algorithms_may_ask_autograd():
    """By a model that says so, a batch objective, and a server of its updates."""

    class Asking(LeastSquares):
        by_hand = False

        def slopes(self, z, y, want):
            with torch.enable_grad():
                own = z.clone().requires_grad_()
                losses = (own - y.view(z.shape)).square().sum(2) / 2
                z.copy_(torch.autograd.grad(losses.sum(), own)[0])
            return losses.detach() if want else None

    class Squares(Tilted):
        @staticmethod
        def __call__(losses, share, tau):
            with torch.enable_grad():
                own = losses.clone().requires_grad_()
                value = (share * own).sum() + tau.sum()
            return torch.autograd.grad(value, own)[0]

    class Asked(FedAvg):
        def client(self, round):
            return (LocalTask(batch_objective=Squares(0.5)),)

        def server(self, received):
            with torch.enable_grad():
                own = received.updates.requires_grad_()
                total = own.T @ own.new_tensor(received.p)
                assert torch.autograd.grad(total.sum(), own)[0].any()
            return Aggregate(received.p, step=total.detach())

    data = classified(UNEQUAL, classes=2)
    data = Parts(replace(data.train, y=data.train.y.to(torch.float64)))
    expected = trained(LeastSquares(4), data, [FedAvg()], quick(rounds=3)).params
    for model, algorithm in ((Asking(4), FedAvg()), (LeastSquares(4), Asked())):
        found = trained(model, data, [algorithm], quick(rounds=3)).params
        assert not found.is_inference()
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


ALGORITHMS = (FedAvg(), PropFair(4.0), TERM(1.0, 0.3), GIFAIR(1e-4), Ditto(0.2))


@given(
    sizes=st.lists(st.integers(1, 25), min_size=1, max_size=7),
    batch=st.one_of(st.none(), st.integers(1, 9)),
    work=st.one_of(
        st.fixed_dictionaries({"epochs": st.integers(1, 3)}),
        st.fixed_dictionaries({"steps": st.integers(1, 8)}),
    ),
    momentum=st.sampled_from([0.0, 0.9]),
    decay=st.sampled_from([0.0, 0.1]),
    stragglers=st.sampled_from([0.0, 0.5]),
    algorithm=st.sampled_from(ALGORITHMS),
    limit=st.sampled_from([1, 4000, 1 << 30]),
)
def test_engine_and_loop_agree(sizes, batch, work, momentum, decay, stragglers, algorithm, limit):
    training = Training(
        rounds=2,
        lr=0.05,
        batch_size=batch,
        momentum=momentum,
        weight_decay=decay,
        stragglers=stragglers,
        **work,
    )
    data = classified(sizes)
    fast = trained(MODEL, data, [algorithm], training, replace(EXACT, memory_limit=limit))
    slow = trained(MODEL, data, [algorithm], training, replace(EXACT, backend="loop"))
    np.testing.assert_allclose(
        fast.params.numpy(), slow.params.detach().numpy(), rtol=1e-12, atol=1e-13
    )
    own = algorithm.personal(fast.states[0])
    if own is not None:
        np.testing.assert_allclose(
            own, algorithm.personal(slow.states[0]).detach(), rtol=1e-12, atol=1e-13
        )


@given(st.integers(1, 500), st.integers(1, 64), st.integers(1, 1 << 34))
def test_chunks_keep_to_the_limit_and_one_client_always_goes(size, batch, limit):
    many = np.full(3, size)
    whole = np.zeros(3, np.int64)
    jobs = Jobs(whole, whole, whole.astype(np.uint64), many, many, batch, np.zeros((5, 3)))
    params = trained(
        MODEL, classified((2,)), [FedAvg()], Training(rounds=1), EXACT, rounds=0
    ).params
    count = chunk_size(MODEL, jobs, params, limit, size)
    least = 8 * MODEL.size + 8 * min(size, batch) * 5  # parameters and one batch, in float64
    assert count >= 1 and (count == 1 or count * least <= min(limit, CACHE))
