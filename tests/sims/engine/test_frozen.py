"""Frozen parameters of a module: they stay, and are no part of what is sent and averaged."""

import copy
from dataclasses import replace

import pytest
import torch
from every_algorithm import FedAvg
from federations import EXACT, classified, quick, trained
from torch import nn

from fairfl.sims.engine import Module, Parts, Replicate, Simulation, simulate

BODY, HEAD = ("0.weight", "0.bias"), ("2.weight", "2.bias")


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


def by_hand(network, parts, rounds, steps, lr):
    """FedAvg by full gradient steps with torch's own optimiser; the row of trained parameters."""
    network, data = network.double(), parts.train
    rows = [slice(*data.offsets[k : k + 2]) for k in range(data.clients)]
    for _ in range(rounds):
        local = [copy.deepcopy(network) for _ in rows]
        for client, part in zip(local, rows, strict=True):
            optimiser = torch.optim.SGD([p for p in client.parameters() if p.requires_grad], lr)
            for _ in range(steps):
                optimiser.zero_grad()
                nn.functional.cross_entropy(client(data.x[part]), data.y[part]).backward()
                optimiser.step()
        for name, value in network.named_parameters():
            parameters = torch.stack([client.get_parameter(name) for client in local])
            weights = torch.tensor(parts.p).view(-1, *[1] * value.dim())
            value.data = (parameters * weights).sum(0).detach()
    left = [value for value in network.parameters() if value.requires_grad]
    return nn.utils.parameters_to_vector(left).detach()


@pytest.mark.parametrize("frozen", [BODY, HEAD, ("0.bias",), ()], ids=str)
@pytest.mark.parametrize("sizes", [(9, 4, 6), (8,)], ids=str)
@pytest.mark.parametrize("backend", ["batched", "loop"])
def test_a_plain_loop_with_torch_gives_the_same(frozen, sizes, backend):
    parts, model = classified(sizes, test=5), Module(probe(frozen))
    training = quick(rounds=3, lr=0.2, batch_size=None, epochs=2)
    simulation = trained(model, parts, [FedAvg()], training, replace(EXACT, backend=backend))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = probe(frozen)()
    expected = by_hand(network, parts, 3, 2, 0.2)
    assert model.size == len(expected) == sum(model.layers)
    torch.testing.assert_close(simulation.params[0].detach(), expected, rtol=1e-12, atol=1e-12)
    part = parts.test
    right = (network(part.x).argmax(1) == part.y).double()
    measured = next(row for row in simulation.evaluate() if row["part"] == "test")
    accuracies = [part_right.mean() for part_right in right.split(part.sizes.tolist())]
    torch.testing.assert_close(torch.from_numpy(measured["accuracy"]), torch.stack(accuracies))


def test_what_is_sent_and_recorded(tmp_path):
    """18 of 43 parameters; a run goes on with the frozen values that it began with alone."""
    parts, training = classified((5, 9)), quick(rounds=2)
    result = simulate(
        Module(probe()), parts, [Replicate(FedAvg())], training, EXACT, folder=tmp_path
    )
    assert set(result.rounds["bytes_up"]) == set(result.rounds["bytes_down"]) == {2 * 18 * 8}
    simulate(
        Module(probe()), parts, [Replicate(FedAvg())], training, EXACT, folder=tmp_path, resume=True
    )

    def altered():
        network = probe()()
        network[0].weight.data[0, 0] += 1
        return network

    for model in (Module(altered, name="probe"), Module(probe(HEAD), name="probe")):
        with pytest.raises(ValueError, match="folder must hold a run of the same configuration"):
            simulate(
                model, parts, [Replicate(FedAvg())], training, EXACT, folder=tmp_path, resume=True
            )


def test_a_module_that_a_function_hands_out_is_not_touched():
    network = probe()()
    before = copy.deepcopy(network.state_dict())
    model = Module(lambda: network)
    simulation = trained(model, classified((5,)), [FedAvg()], quick(rounds=1))
    assert float((simulation.params[0] - model.init(0)).abs().max()) > 1e-3
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_frozen_parameters_that_differ_by_seed_are_refused():
    def make():
        network = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 3))
        network[0].requires_grad_(False)
        return network

    replicates = [Replicate(FedAvg(), seed) for seed in (0, 1)]
    with pytest.raises(ValueError, match=r"same values for every seed .* got others of '0.weight'"):
        Simulation(Module(make), Parts(classified((5, 9)).train), replicates, quick(), EXACT)
