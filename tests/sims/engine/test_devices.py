"""On a GPU, pretended or real: the CPU's end, nothing mixed, no step that waits for the host."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from every_algorithm import AFL, EVERY, TERM, Ditto, FedAvg, PropFair, QFedAvg
from federations import EXACT, begun, classified, quick
from grouped import people
from pretended_gpu import GPU, pretended_gpu, real_gpu
from torch import nn

from fairfl.sims import models
from fairfl.sims.engine import (
    MLP,
    ClientData,
    Computing,
    LeastSquares,
    LinearSVM,
    Logistic,
    Module,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Uniform,
    plan,
    simulate,
)
from fairfl.sims.group_fairness.agnostic import AgnosticFair
from fairfl.sims.group_fairness.fedfb import FedFB

DATA = classified((1, 17, 4, 9, 30, 8), test=3)


def network():
    return nn.Sequential(nn.Linear(4, 5), nn.GroupNorm(1, 5), nn.Tanh(), nn.Linear(5, 3))


REAL = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")


@pytest.fixture(params=[pretended_gpu, pytest.param(real_gpu, marks=REAL)])
def on_gpu(request, monkeypatch):
    """The context in which every ``Computing`` is on the GPU, where minibatches are drawn, too."""
    monkeypatch.setattr(plan, "FEW", 0)
    return partial(request.param, monkeypatch)


def on_both(on_gpu, model, data, replicates, training, computing=EXACT, rounds=2):
    """Some rounds and measures on the GPU, which must be the CPU's."""

    def ended():
        simulation = Simulation(model, data, replicates, training, computing)
        rows = [row for _ in range(rounds) for row in simulation.step()]
        measured = np.concatenate([row["loss"] for row in simulation.evaluate()])
        return simulation.params, simulation.params.cpu().numpy(), measured, rows

    with on_gpu() as gpu:
        gpu_params, params, measured, rows = ended()
    cpu_params, *expected = ended()
    assert gpu_params.device.type == gpu.place.type and cpu_params.device.type == "cpu"
    assert gpu.operations > 10
    assert float(np.abs(params).max()) > 1e-4
    for replicate, on_gpu_row, on_cpu_row in zip(replicates, params, expected[0], strict=True):
        np.testing.assert_allclose(
            on_gpu_row, on_cpu_row, rtol=gpu.close, atol=gpu.close / 10, err_msg=repr(replicate)
        )
    np.testing.assert_allclose(measured, expected[1], rtol=gpu.close)
    for on_gpu_row, on_cpu_row in zip(rows, expected[2], strict=True):
        assert on_gpu_row == pytest.approx(on_cpu_row, rel=100 * gpu.close)


MIXED = [Replicate(rule, k) for k, rule in enumerate((FedAvg(), PropFair(4.0), Ditto(0.2)))]
MIXED.append(Replicate(TERM(1.0, 0.3)))


def two_classes(kind):
    """A linear model of one score, and data for it."""
    data = classified((1, 17, 4), classes=2).train
    y = data.x.sum(1) if kind is LeastSquares else data.y
    return kind(4), Parts(replace(data, y=y)), [Replicate(QFedAvg(1.0))], quick(lr=0.02)


def overflowing():
    """Data of which the second client's losses are not finite."""
    data = classified((6, 6, 6)).train
    x = data.x.clone()
    x[6:12] *= 1e200
    return Parts(ClientData(x, x.sum(1) * 0 + 1, data.offsets))


ALL = quick(lr=0.05, epochs=2, momentum=0.5, participation=Uniform(4), dropout=0.1, stragglers=0.3)
FEW, TWO = classified((1, 9, 4), test=2), quick(momentum=0.5)
DROP = replace(EXACT, non_finite="drop")
SUMS = Logistic(2), people((30, 20, 25)), [Replicate(FedFB())], quick(rounds=3)
CASES = {"every algorithm": (Softmax(4, 3), DATA, [Replicate(rule) for rule in EVERY], ALL)}
CASES |= {"mlp": (MLP((4, 5, 3)), FEW, MIXED, TWO)}
CASES |= {"mlp in chunks": (MLP((4, 5, 3)), FEW, MIXED[1:3], TWO, replace(EXACT, memory_limit=1))}
CASES |= {"module": (Module(network), FEW, MIXED, TWO)}
CASES |= {
    "module in chunks": (Module(network), FEW, MIXED[2:], TWO, replace(EXACT, memory_limit=1))
}
CASES |= {**{kind.__name__: two_classes(kind) for kind in (LeastSquares, Logistic, LinearSVM)}}
CASES |= {"dropped": (LeastSquares(4), overflowing(), [Replicate(FedAvg())], quick(lr=1e-3), DROP)}
CASES |= {"sums": (*SUMS, EXACT, 3), "masked sums": (*SUMS, replace(EXACT, masked_updates=True), 3)}


@pytest.mark.parametrize("case", CASES)
def test_it_ends_where_the_cpu_does(case, on_gpu):
    on_both(on_gpu, *CASES[case])


def test_the_larger_models(on_gpu):
    generator = torch.Generator().manual_seed(0)
    offsets, training = np.array([0, 3, 5]), quick(batch_size=3, lr=0.05)
    cases = (
        (lambda: models.LeNet(), torch.rand(5, 1, 28, 28, generator=generator), 10),
        (lambda: models.ResNet18GN(width=4), torch.rand(5, 3, 8, 8, generator=generator), 10),
        (lambda: models.CharLSTM(9, 3, 4, 1), torch.randint(0, 9, (5, 6), generator=generator), 9),
    )
    for make, x, classes in cases:
        data = Parts(ClientData(x, torch.randint(0, classes, (5,), generator=generator), offsets))
        on_both(on_gpu, Module(make), data, [Replicate(FedAvg())], training, rounds=1)


@pytest.mark.parametrize(
    ("model", "algorithm"),
    [
        (Softmax(4, 3), FedAvg()),
        (Softmax(4, 3), Ditto(0.1)),
        (MLP((4, 5, 3)), TERM(1.0, 0.3)),
        (Module(network), PropFair(4.0)),
    ],
    ids=lambda part: type(part).__name__,
)
def test_steps_neither_wait_nor_send(algorithm, model, on_gpu):
    """Traffic is the same for 2 local steps as for 8, and for 3 clients as for 8."""

    def traffic(sizes, steps):
        with on_gpu() as gpu:
            simulation = begun(model, classified(sizes), [algorithm], quick(steps=steps))
            simulation.step()
            before = gpu.operations
            gpu.sent.clear(), gpu.waited.clear()
            simulation.step()
            return gpu.sent, gpu.waited, gpu.operations - before, gpu.waits

    few = traffic((1, 17, 9), 2)
    long = traffic((1, 17, 9), 8)
    wide = traffic((1, 17, 9, 8) * 2, 2)
    assert few[:2] == long[:2] == wide[:2] and few[2] < long[2]
    assert few[1].total() <= few[3] and few[0].total() <= 24


def test_agnostic_fair_ends_there_as_on_the_cpu(on_gpu):
    """A round waits and sends as often, however many seeds and clients."""
    rule = AgnosticFair(kernels=3, momentum=0.5)

    def run(sizes, rounds, seeds, device):
        return rule.fit(Logistic(2), people(sizes), rounds, 0.2, range(seeds), device)

    traffic = set()
    for sizes, seeds in (((9, 20), 1), ((9, 20), 3), ((5,) * 9, 3)):
        counts = []
        with on_gpu() as gpu:
            for rounds in (2, 5):
                gpu.sent.clear(), gpu.waited.clear()
                gpu_fits = run(sizes, rounds, seeds, gpu.place)
                counts.append((gpu.sent.total(), gpu.waited.total()))
            ends = torch.stack([fit.params for fit in gpu_fits]).cpu()
        cpu_fits = run(sizes, 5, seeds, "cpu")
        torch.testing.assert_close(ends, torch.stack([fit.params for fit in cpu_fits]))
        for fit, twin in zip(gpu_fits, cpu_fits, strict=True):
            np.testing.assert_allclose(fit.alpha, twin.alpha, atol=1e-9)
        traffic.add(tuple(b - a for a, b in zip(*counts, strict=True)))
    assert len(traffic) == 1  # of three rounds more
    alone = [rule.fit(Logistic(2), people((9, 20)), 5, 0.2, (seed,))[0] for seed in range(3)]
    for fit, twin in zip(run((9, 20), 5, 3, "cpu"), alone, strict=True):
        torch.testing.assert_close(fit.params, twin.params, rtol=1e-12, atol=1e-14)


def test_a_run_is_kept_and_taken_up_there(on_gpu, tmp_path):
    """States lie where they lay: Ditto's models on the GPU, AFL's mixture on the host."""

    def run(folder, progress=None):
        replicates, options = [Replicate(Ditto(0.1)), Replicate(AFL(0.1))], {"checkpoint_every": 2}
        arguments = Softmax(4, 3), DATA, replicates, quick(rounds=4), EXACT
        return simulate(*arguments, folder=folder, resume=True, progress=progress, **options)

    def stop(done, rounds):
        if done == 2:
            raise KeyboardInterrupt

    with on_gpu() as gpu:
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "run", stop)
        resumed, whole = run(tmp_path / "run"), run(tmp_path / "whole")
        rounding = gpu.close * (gpu.place != GPU)  # a real one need not agree with itself
        np.testing.assert_allclose(resumed.params, whole.params, rtol=rounding, atol=0)
        personal = resumed.simulation.states[0]["personal"]
        mixture = resumed.simulation.states[1]["mixture"]
        assert personal.device.type == gpu.place.type and mixture.device.type == "cpu"
    with pytest.raises(ValueError, match=f"with device = '{gpu.place.type}.*', not 'cpu'"):
        run(tmp_path / "run")


@REAL
@pytest.mark.parametrize("limit", [1 << 26, 1 << 28])
def test_a_limit_of_memory_holds_on_a_real_gpu(limit):
    """480,000 samples of 60 numbers, two models each: a fifth more, and what a few calls take."""
    data = classified((50,) * 9600, features=60, classes=10)
    computing = Computing(device="cuda", memory_limit=limit)
    simulation = begun(Softmax(60, 10), data, [FedAvg(), TERM(1.0, 0.3)], quick(), computing)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    simulation.step()
    taken = torch.cuda.max_memory_allocated() - before
    assert 0.1 * limit < taken < 1.2 * limit + (1 << 26), (taken, limit)
