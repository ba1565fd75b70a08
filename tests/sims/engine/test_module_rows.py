"""Rows of modules with frozen parameters or batch normalisation, averaged or each client's own,
beside torch's optimiser; dropout.
"""

import copy
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from every_algorithm import FedAvg
from federations import EXACT, classified, quick, trained
from torch import nn

from fairfl.sims import engine

BODY, HEAD = ("0.weight", "0.bias"), ("2.weight", "2.bias")


def normalised():
    return nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3))


def probe(frozen=BODY):
    """A factory of networks 4-5-3 whose ``frozen`` parameters are the same for every seed."""

    def make():
        network = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
        generator = torch.Generator().manual_seed(7)
        for name in frozen:
            parameter = network.get_parameter(name).requires_grad_(False)
            parameter.data = torch.randn(parameter.shape, generator=generator)
        return network

    return make


MODEL = engine.Module(normalised)
NORMS = torch.zeros(MODEL.size, dtype=torch.bool)
for name, place in MODEL.places.items():
    NORMS[place] = name.startswith("1.")
PARTS, ALONE = classified((9, 4, 6), test=5), classified((8,), test=5)
TRAINING = engine.Training(3, lr=0.2, batch_size=None, epochs=3, momentum=0.5, weight_decay=0.1)


@dataclass(frozen=True)
class FedBN(engine.Algorithm):
    """Li et al. (ICLR 2021): layers of batch normalisation stay with their clients."""

    def start(self, clients, weights, params):
        return {"models": params.repeat(clients, 1)}

    def personal(self, state):
        return state["models"]

    def client(self, round):
        own = torch.where(NORMS, round.state["models"][round.rows], round.params)
        return (engine.LocalTask(start=own),)

    def server(self, received):
        step = torch.where(NORMS, 0, received.total(received.p))
        models = received.params + received.updates
        shared = torch.where(NORMS, models, received.params + step)
        return engine.Aggregate(received.p, {"models": shared}, step)


def plain(make, parts, averages_norms):
    """The clients' networks after the rounds, by torch's own optimiser."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        first = make().double()
    data, p = parts.train, torch.tensor(parts.p)
    networks = [copy.deepcopy(first) for _ in p]
    for _ in range(3):
        for k, network in enumerate(networks):
            rows = slice(*data.offsets[k : k + 2])
            parameters = [value for value in network.parameters() if value.requires_grad]
            optimiser = torch.optim.SGD(parameters, 0.2, 0.5, weight_decay=0.1)
            for _ in range(3):
                optimiser.zero_grad()
                nn.functional.cross_entropy(network(data.x[rows]), data.y[rows]).backward()
                optimiser.step()
        states = [network.state_dict() for network in networks]
        for name, value in first.state_dict().items():
            if value.is_floating_point() and (averages_norms or not name.startswith("1.")):
                mean = sum(p[k] * state[name] for k, state in enumerate(states))
                for state in states:
                    state[name].copy_(mean)
    return networks


CASES = [(normalised, PARTS, FedAvg(), "global"), (normalised, PARTS, FedBN(), "personal")]
CASES += [(probe(frozen), PARTS, FedAvg(), "global") for frozen in (BODY, HEAD, ("0.bias",), ())]
CASES.append((probe(), ALONE, FedAvg(), "global"))


@pytest.mark.parametrize("backend", ["batched", "loop"])
@pytest.mark.parametrize(("make", "parts", "algorithm", "kind"), CASES)
def test_rows_are_torch_s(make, parts, algorithm, kind, backend):
    model = engine.Module(make)
    simulation = trained(model, parts, [algorithm], TRAINING, replace(EXACT, backend=backend))
    rows = [row for row in simulation.evaluate() if row["part"] == "test"]
    measured, test = next(row for row in rows if row["model"] == kind), parts.test
    for k, network in enumerate(plain(make, parts, kind == "global")):
        values = dict(network.named_parameters()) | dict(network.named_buffers())
        expected = torch.cat([values[name].detach().flatten() for name in model.places])
        row = simulation.params[0] if kind == "global" else simulation.states[0]["models"][k]
        torch.testing.assert_close(row.detach(), expected, rtol=1e-12, atol=1e-12)
        of_client = slice(*test.offsets[k : k + 2])
        outputs, y = network.eval()(test.x[of_client]), test.y[of_client]
        loss = nn.functional.cross_entropy(outputs, y).item()
        assert measured["loss"][k] == pytest.approx(loss, rel=1e-12)
        assert measured["accuracy"][k] == (outputs.argmax(1) == y).double().mean()
    assert model.size == len(expected) == sum(model.layers)
    if make is normalised:
        assert model.in_turn and model.size == 5 * 5 + 4 * 5 + 6 * 3 and NORMS.sum() == 20
        has_moved = (simulation.params[0, -10:] != model.init(0)[-10:]).any()
        assert has_moved == (kind == "global")


def test_buffers_that_training_leaves_are_stacked():
    """A constant, such as a mask of inputs, costs no speed and does not move."""

    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 3)
            self.register_buffer("mask", torch.tensor([1.0, 1.0, 0.0, 1.0]))

        def forward(self, x):
            return self.layer(x * self.mask)

    model = engine.Module(Masked)
    training = engine.Training(2, lr=0.2, weight_decay=0.1)
    ends = [
        trained(model, PARTS, [FedAvg()], training, replace(EXACT, backend=backend)).params[0]
        for backend in ("batched", "loop")
    ]
    torch.testing.assert_close(*ends, rtol=1e-12, atol=1e-12)
    assert not model.in_turn and ends[0][model.places["mask"]].tolist() == [1, 1, 0, 1]


def test_what_is_sent_and_recorded(tmp_path):
    """18 of 43 parameters; a run goes on with the frozen values that it began with alone."""

    def run(model, **options):
        arguments = model, classified((5, 9)), [engine.Replicate(FedAvg())], quick(rounds=2), EXACT
        return engine.simulate(*arguments, folder=tmp_path, **options)

    def altered():
        network = probe()()
        network[0].weight.data[0, 0] += 1
        return network

    result = run(engine.Module(probe()))
    assert set(result.rounds["bytes_up"]) == set(result.rounds["bytes_down"]) == {2 * 18 * 8}
    run(engine.Module(probe()), resume=True)
    for make in (altered, probe(HEAD)):
        with pytest.raises(ValueError, match="folder must hold a run of the same configuration"):
            run(engine.Module(make, name="probe"), resume=True)


def test_a_module_that_a_function_hands_out_is_not_touched():
    network = probe()()
    before = copy.deepcopy(network.state_dict())
    model = engine.Module(lambda: network)
    simulation = trained(model, classified((5,)), [FedAvg()], quick(rounds=1))
    assert float((simulation.params[0] - model.init(0)).abs().max()) > 1e-3
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_frozen_parameters_that_differ_by_seed_are_refused():
    def make():
        network = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 3))
        network[0].requires_grad_(False)
        return network

    model = engine.Module(make)
    with pytest.raises(ValueError, match=r"same values for every seed .* got others of '0.weight'"):
        trained(model, PARTS, [FedAvg(), FedAvg()], quick(), seeds=[0, 1])


def test_dropout_depends_on_seed_round_and_client_alone():
    """Beside other replicates, in another order, by the other backend: the same masks."""
    layers = nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3)
    model = engine.Module(lambda: nn.Sequential(*copy.deepcopy(layers)))
    training, before = quick(rounds=2, batch_size=3, epochs=2), torch.get_rng_state()

    def end(seeds, parts=PARTS, **changes):
        rules, computing = [FedAvg()] * len(seeds), replace(EXACT, **changes)
        return trained(model, parts, rules, training, computing, seeds=seeds).params[-1]

    alone = end([5])
    order = [2, 0, 1]
    parts = engine.Parts(PARTS.train.take(order), weights=PARTS.p[order])
    for other in (end([5], backend="loop"), end([1, 5]), end([5], parts), end([5], memory_limit=9)):
        torch.testing.assert_close(other, alone, rtol=1e-12, atol=1e-12)
    assert torch.equal(end([5]), alone) and torch.equal(torch.get_rng_state(), before)
    assert model.in_turn and model.is_random


def test_dropout_drops_the_share_it_says():
    """With inputs of one and outputs of the input: the mean gradient of a step is the same as
    without dropout, and masks differ by client, round and task.
    """
    clients, rounds = 60, 5
    x, y = torch.ones(clients, 20, dtype=torch.float64), torch.ones(clients, dtype=torch.float64)
    data = engine.Parts(engine.ClientData(x, y, np.arange(clients + 1)))

    def linear():
        network = nn.Sequential(nn.Dropout(0.25), nn.Linear(20, 1, bias=False))
        nn.init.zeros_(network[1].weight)
        return network

    masks = []

    @dataclass(frozen=True)
    class Looking(engine.Algorithm):
        def client(self, round):
            return engine.LocalTask(), engine.LocalTask()

        def server(self, received):
            masks.extend(rows != 0 for rows in (received.updates, received.further[0]))
            return engine.Aggregate(0 * received.p)

    model = engine.Module(linear, lambda outputs, y: -outputs[:, 0] * y, classes=False)
    trained(model, data, [Looking()], engine.Training(rounds, batch_size=None))
    kept = torch.stack(masks).double()
    assert kept.mean() == pytest.approx(0.75, abs=4 * (0.75 * 0.25 / kept.numel()) ** 0.5)
    assert len(torch.unique(kept.flatten(0, 1), dim=0)) > 0.95 * 2 * rounds * clients


def test_a_step_of_one_s_own_takes_no_buffers():
    class Stepping(FedAvg):
        def client(self, round):
            return (engine.LocalTask(step=lambda params, gradient, batch: params),)

    with pytest.raises(ValueError, match="step must not be given for a module with buffers"):
        trained(MODEL, PARTS, [Stepping()], quick(rounds=1))
