"""The engine against its slow twins: one client after the other, by autograd, or measured alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from every_algorithm import EVERY, GIFAIR, TERM, Ditto, FedAvg, PropFair, QFedAvg
from federations import EXACT, classified, quick, trained
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from fairfl.sims import models
from fairfl.sims.algorithms.term import Tilted
from fairfl.sims.engine import (
    MLP,
    Aggregate,
    ClientData,
    LeastSquares,
    LinearSVM,
    LocalTask,
    Logistic,
    Module,
    Parts,
    Softmax,
    Training,
    Uniform,
    losses,
)

EQUAL, UNEQUAL = (12,) * 6, (1, 17, 4, 9, 30, 8)
MODEL = Softmax(4, 3)


def assert_twins(model, data, algorithms, training, **computing):
    fast, slow = (
        trained(model, data, algorithms, training, replace(EXACT, **options))
        for options in (computing, {"backend": "loop"})
    )
    for r, algorithm in enumerate(algorithms):
        pairs = [(fast.params[r], slow.params[r])]
        assert float(fast.params[r].abs().max()) > 1e-3  # something was learned
        if algorithm.personal(fast.states[r]) is not None:
            pairs.append(tuple(algorithm.personal(run.states[r]) for run in (fast, slow)))
        for ours, plain in pairs:
            close = {"rtol": 1e-12, "atol": 1e-12, "err_msg": repr(algorithm)}
            np.testing.assert_allclose(ours, plain.detach(), **close)


def test_every_algorithm():
    training = quick(lr=0.05, momentum=0.5, participation=Uniform(4), epochs=2, rounds=2)
    assert_twins(MODEL, classified((1, 17, 4, 9, 12, 8)), EVERY, training)


@pytest.mark.parametrize(
    ("kind", "bias"),
    [(LeastSquares, True), (LeastSquares, False), (Logistic, True), (LinearSVM, False)],
)
def test_linear_models(kind, bias):
    data = classified(UNEQUAL, classes=2).train
    y = data.x.sum(1) + data.y if kind is LeastSquares else data.y
    rules, training = [FedAvg(), TERM(0.1, tau=0.2)], quick(lr=0.02, rounds=5)
    assert_twins(kind(4, bias=bias), Parts(replace(data, y=y)), rules, training)
    if kind is LeastSquares:
        two = torch.stack([y, data.x[:, 0]], 1)
        assert_twins(kind(4, 2, bias=bias), Parts(replace(data, y=two)), rules[:1], training)


def network():
    return nn.Sequential(nn.Linear(4, 5), nn.GroupNorm(1, 5), nn.Tanh(), nn.Linear(5, 3))


@pytest.mark.parametrize(
    ("model", "sizes"),
    [(MLP((4, 6, 5, 3)), EQUAL), (MLP((4, 6, 5, 3)), UNEQUAL), (Module(network), UNEQUAL)],
    ids=["mlp, equal", "mlp", "module"],
)
def test_networks(model, sizes):
    rules = [FedAvg(), PropFair(5.0), GIFAIR(0.001), Ditto(0.2)]
    momentum = 0.5 if sizes == UNEQUAL else 0.0
    assert_twins(model, classified(sizes), rules, quick(momentum=momentum, rounds=3))


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
        assert_twins(Module(make), Parts(ClientData(x, y, offsets)), [QFedAvg(1.0)], training)


KERNELS = [(Softmax(4, 3), 3), (Softmax(4, 2), 2), (Logistic(4), 2), (LinearSVM(4), 2)]
KERNELS += [(MLP((4, 5, 3)), 3), (MLP((4, 5, 2)), 2), (Module(network), 3)]


@pytest.mark.parametrize(("model", "classes"), KERNELS[:-1], ids=lambda m: type(m).__name__)
def test_huge_scores_do_not_overflow(model, classes):
    data = model.prepare(classified((8,), classes=classes).train)
    params = 1e4 * torch.linspace(-1, 1, model.size, dtype=torch.float64)[None]
    x, y = data.x[None], data.y[None]
    by_kernel, plain = model.losses(params, x, y), model.reference(params[0], x[0], y[0])
    assert bool(torch.isfinite(by_kernel).all())
    np.testing.assert_allclose(by_kernel[0], plain, rtol=1e-9, atol=1e-9)
    assert bool(torch.isfinite(model.gradient(params, x, y, 0.1)).all())


def test_models_and_algorithms_may_ask_autograd():
    """By a model that says so, a batch objective, and a server of its updates."""

    class Asking(LeastSquares):
        by_hand = False

        def slopes(self, z, y):
            with torch.enable_grad():
                scores = z.clone().requires_grad_()
                losses = (scores - y.view(z.shape)).square().sum(2) / 2
                z.copy_(torch.autograd.grad(losses.sum(), scores)[0])

    class Squares(Tilted):
        @staticmethod
        def __call__(losses, share, tau):
            with torch.enable_grad():
                leaf = losses.clone().requires_grad_()
                value = (share * leaf).sum() + tau.sum()
            return torch.autograd.grad(value, leaf)[0]

    class Asked(FedAvg):
        def client(self, round):
            return (LocalTask(batch_objective=Squares(0.5)),)

        def server(self, received):
            with torch.enable_grad():
                updates = received.updates.requires_grad_()
                total = updates.T @ updates.new_tensor(received.p)
                assert torch.autograd.grad(total.sum(), updates)[0].any()
            return Aggregate(received.p, step=total.detach())

    data = classified(UNEQUAL, classes=2)
    data = Parts(replace(data.train, y=data.train.y.to(torch.float64)))
    expected = trained(LeastSquares(4), data, [FedAvg()], quick(rounds=3)).params
    for model, algorithm in ((Asking(4), FedAvg()), (LeastSquares(4), Asked())):
        params = trained(model, data, [algorithm], quick(rounds=3)).params
        assert not params.is_inference()
        torch.testing.assert_close(params, expected, rtol=1e-12, atol=1e-12)


FEWER = settings(max_examples=max(5, settings().max_examples // 4))


@FEWER
@given(
    sizes=st.lists(st.integers(1, 25), min_size=1, max_size=5),
    batch=st.one_of(st.none(), st.integers(1, 9)),
    work=st.one_of(
        st.fixed_dictionaries({"epochs": st.integers(1, 3)}),
        st.fixed_dictionaries({"steps": st.integers(1, 8)}),
    ),
    momentum=st.sampled_from([0.0, 0.9]),
    decay=st.sampled_from([0.0, 0.1]),
    stragglers=st.sampled_from([0.0, 0.5]),
    algorithm=st.sampled_from([FedAvg(), PropFair(4.0), TERM(1.0, 0.3), GIFAIR(1e-4), Ditto(0.2)]),
    limit=st.sampled_from([1, 4000, 1 << 30]),
)
def test_engine_and_loop_agree(sizes, batch, work, momentum, decay, stragglers, algorithm, limit):
    rates = {"momentum": momentum, "weight_decay": decay, "stragglers": stragglers}
    training = Training(rounds=2, lr=0.05, batch_size=batch, **rates, **work)
    assert_twins(MODEL, classified(sizes), [algorithm], training, memory_limit=limit)


def random_data(sizes, seed=0):
    """Clients of these sizes, some of which may have none."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(np.sum(sizes), 4)), rng.integers(0, 3, np.sum(sizes))
    return ClientData(x, y, np.append(0, np.cumsum(sizes)))


def one_by_one(model, params, data, clients):
    """The definition: every client's rows on its row of parameters."""
    sample_losses, right = [], []
    for row, k in enumerate(clients):
        part = slice(int(data.offsets[k]), int(data.offsets[k + 1]))
        if part.start < part.stop:
            given_ = params[row : row + 1], data.x[None, part], data.y[None, part]
            sample_losses.append(model.losses(*given_)[0])
            right.append(model.correct(*given_)[0])
    return torch.cat(sample_losses), torch.cat(right)


@pytest.mark.parametrize("is_personal", [True, False], ids=["own", "shared"])
@pytest.mark.parametrize(
    "model",
    [Softmax(4, 3), MLP((4, 3, 3)), Module(lambda: nn.Linear(4, 3))],
    ids=["softmax", "mlp", "module"],
)
@FEWER
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=9).filter(any),
    st.integers(1, 4),
    st.integers(0, 1000),
    st.sampled_from([1, 300, 1 << 30]),
    st.sampled_from([1, 2, 32]),
)
def test_several_models_and_clients_are_measured_as_each_alone(
    model, is_personal, sizes, many, seed, limit, model_limit
):
    data, rng = model.prepare(random_data(sizes, seed)), np.random.default_rng(seed)
    clients = rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)]
    shape = (many, len(clients), model.size) if is_personal else (many, 1, model.size)
    params = torch.from_numpy(rng.normal(size=shape))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "LEAST", 1)
        patch.setattr(losses, "MODELS", model_limit)
        rows = params if is_personal else params[:, 0]
        measured = losses.measure_models(
            model, rows, data, clients, personal=is_personal, memory_limit=limit
        )
    assert measured.lengths.tolist() == data.sizes[clients].tolist() * many
    if data.sizes[clients].sum() == 0:
        assert len(measured.losses) == 0 and bool(measured.means().isnan().all())
        return
    rows_of_models = (rows.expand(len(clients), -1) for rows in params.unbind())
    measures = [one_by_one(model, rows, data, clients) for rows in rows_of_models]
    expected, right = (torch.cat(parts) for parts in zip(*measures, strict=True))
    np.testing.assert_allclose(measured.losses, expected, rtol=1e-12, atol=1e-14)
    assert measured.correct is not None and torch.equal(measured.correct, right)


def test_regression_has_no_right_and_wrong():
    model, plain = LeastSquares(4), random_data([2, 0, 3])
    data = model.prepare(replace(plain, y=plain.x.sum(1)))
    zeros = torch.zeros(1, 3, 5, dtype=torch.float64)
    measured = losses.measure_models(model, zeros, data, np.arange(3), personal=True)
    np.testing.assert_allclose(measured.losses, data.y**2 / 2, rtol=1e-14)
    assert measured.correct is None and measured.means()[1].isnan()
