"""Modules of linear layers and activations go to the kernel of MLP, and give autograd's numbers."""

from dataclasses import replace

import pytest
import torch
from every_algorithm import FedAvg
from federations import EXACT, classified, trained
from torch import nn

from fairfl.sims import engine
from fairfl.sims.algorithms.propfair import PropFair


class Noisy(nn.ReLU):
    """A subclass may do anything."""


def shared():
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.ReLU(), layer)


def hooked():
    network = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
    network[0].register_forward_hook(lambda layer, inputs, outputs: 2 * outputs)
    return network


def frozen():
    network = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
    nn.init.constant_(network[0].weight.requires_grad_(False), 0.1)
    return network


def smoothed(outputs, y):
    return nn.functional.cross_entropy(outputs, y, reduction="none", label_smoothing=0.1)


LAYERS = [
    lambda: nn.Linear(4, 3),
    lambda: nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3)),
    lambda: nn.Sequential(
        nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 5), nn.Sigmoid(), nn.Linear(5, 3)
    ),
    lambda: nn.Sequential(nn.Sequential(nn.Linear(4, 5), nn.Tanh()), nn.Linear(5, 2)),
]
OTHERS = [
    (hooked, {}),
    (frozen, {}),
    (LAYERS[1], {"loss": smoothed}),
    (lambda: nn.Sequential(nn.Linear(4, 5), Noisy(), nn.Linear(5, 3)), {}),
    (lambda: nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.Linear(5, 3)), {}),
    (lambda: nn.Sequential(nn.Linear(4, 5, bias=False), nn.ReLU(), nn.Linear(5, 3)), {}),
    (lambda: nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Tanh(), nn.Linear(5, 3)), {}),
    (lambda: nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3), nn.Tanh()), {}),
]


@pytest.mark.parametrize(
    ("factory", "options", "by_hand"),
    [*((factory, {}, True) for factory in LAYERS), *((*other, False) for other in OTHERS)],
)
def test_layers_give_what_autograd_does(factory, options, by_hand):
    """Clients of unequal size, in one chunk and in several, beside another objective."""
    parts = classified((7, 12, 3), classes=2)
    training = engine.Training(2, lr=0.3, batch_size=5, momentum=0.5, weight_decay=0.01)
    algorithms, ends = [FedAvg(), PropFair(2.0)], []
    for changes in ({}, {"memory_limit": 100}, {"backend": "loop"}):
        model = engine.Module(factory, **options)
        simulation = trained(model, parts, algorithms, training, replace(EXACT, **changes))
        assert model.by_hand == by_hand
        ends.append(simulation.params)
    for other in ends[1:]:
        torch.testing.assert_close(other, ends[0], rtol=1e-12, atol=1e-12)
    assert (ends[0][0] != ends[0][1]).any()


def test_images_and_shared_layers_are_not_for_the_kernel():
    def mean_entropy(outputs, y):
        return nn.functional.cross_entropy(outputs.mean(1), y, reduction="none")

    data = engine.ClientData(torch.zeros(4, 2, 4), torch.zeros(4, dtype=torch.int64), [0, 4])
    model = engine.Module(LAYERS[1], mean_entropy)
    model.prepare(data)
    assert not model.by_hand
    assert engine.Module(shared)._activations(torch.zeros(1, 4)) is None
