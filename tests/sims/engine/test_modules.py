"""Modules: layers that go to the kernel of MLP, and what ``torch.func`` cannot stack, whose clients
go in turn; the numbers are the plain loop's.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from every_algorithm import Ditto, FedAvg, PropFair, QFedAvg
from federations import EXACT, classified, quick, trained
from torch import nn

from fairfl.sims.engine import ClientData, Module, Parts, Training

STEPS, FEATURES = 5, 3


class Recurrent(nn.Module):
    """Scores of two classes from the last state of torch's own layer."""

    def __init__(self, kind, **settings):
        super().__init__()
        self.layer, self.scores = kind(FEATURES, 4, batch_first=True, **settings), nn.Linear(4, 2)

    def forward(self, x):
        return self.scores(self.layer(x)[0][:, -1])


class Chosen(nn.Module):
    """A row's largest number says which layer it goes through: control flow by data."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.Linear(STEPS * FEATURES, 2), nn.Linear(STEPS * FEATURES, 2)]
        )

    def forward(self, x):
        return torch.stack([self.layers[int(row.argmax()) % 2](row) for row in x.flatten(1)])


class Pooled(nn.Module):
    """Layers on the mean over the steps, ``last`` on their outputs."""

    def __init__(self, last):
        super().__init__()
        self.layer, self.last = nn.Linear(FEATURES, 2), last

    def forward(self, x):
        return self.last(self.layer(x)).mean(1)


IN_TURN = {
    "lstm": Module(lambda: Recurrent(nn.LSTM)),
    "gru": Module(lambda: Recurrent(nn.GRU, num_layers=2)),
    "data": Module(Chosen),
    "vmap's own loop": Module(
        lambda: Pooled(nn.TransformerEncoderLayer(2, 1, 3, 0.0, batch_first=True))
    ),
}


def people(sizes=(4, 6, 1)):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(sum(sizes), STEPS, FEATURES, dtype=torch.float64, generator=generator)
    y = (x.sum((1, 2)) > 0).long()
    data = ClientData(x, y, np.cumsum([0, *sizes]))
    return Parts(data, data)


@pytest.mark.parametrize("model", IN_TURN.values(), ids=IN_TURN)
def test_the_same_as_the_plain_loop(model):
    """Alone, in the loop, with the least memory, and beside others; measures too."""

    def ended(rules, **options):
        training = quick(rounds=2, momentum=0.5)
        return trained(
            model, people(), rules, training, replace(EXACT, **options), seeds=[1, 0][: len(rules)]
        )

    together, slow = (
        ended([Ditto(0.2), QFedAvg(1.0)], backend=backend) for backend in ("batched", "loop")
    )
    assert model.in_turn and float(together.params.abs().max()) > 1e-3
    small, alone = ended([Ditto(0.2), QFedAvg(1.0)], memory_limit=1), ended([Ditto(0.2)])
    for params in (slow.params.detach(), small.params):
        np.testing.assert_allclose(together.params, params, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(alone.params[0], together.params[0], rtol=1e-12, atol=1e-12)
    for row, slow_row in zip(together.evaluate(), slow.evaluate(), strict=True):
        np.testing.assert_allclose(row["loss"], slow_row["loss"], rtol=1e-11)
        np.testing.assert_array_equal(row["accuracy"], slow_row["accuracy"])


def test_what_can_be_stacked_is():
    for module in (
        lambda: Pooled(nn.Tanh()),
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(STEPS * FEATURES, 2)),
    ):
        model = Module(module)
        model.prepare(people().train)
        assert not model.in_turn


class Centred(nn.Module):
    def forward(self, x):
        return x - x.mean(0)


BATCH_NORM = nn.BatchNorm1d(STEPS * FEATURES, track_running_stats=False)


class Cut(Pooled):
    def forward(self, x):
        return super().forward(x).detach()


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (lambda: Pooled(Centred()), "which mixes those of a batch"),
        (lambda: nn.Sequential(nn.Flatten(), BATCH_NORM), "data must fit"),
        (lambda: Pooled(nn.BatchNorm1d(STEPS, momentum=None)), "have a momentum"),
        (lambda: Cut(nn.Tanh()), "a module with a gradient"),
    ],
)
def test_what_cannot_be_done_is_told_before_any_work(factory, message):
    before = torch.get_rng_state()
    with pytest.raises(ValueError, match=message):
        trained(Module(factory), people(), [FedAvg()], quick(), rounds=0)
    assert torch.equal(torch.get_rng_state(), before)


class Noisy(nn.ReLU):
    """A subclass may do anything."""


def layers(*between, bias=True):
    return nn.Sequential(nn.Linear(4, 5, bias=bias), *between, nn.Linear(5, 3))


def shared():
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.ReLU(), layer)


def hooked():
    network = layers(nn.ReLU())
    network[0].register_forward_hook(lambda layer, inputs, outputs: 2 * outputs)
    return network


def frozen():
    network = layers(nn.ReLU())
    nn.init.constant_(network[0].weight.requires_grad_(False), 0.1)
    return network


def smoothed(outputs, y):
    return nn.functional.cross_entropy(outputs, y, reduction="none", label_smoothing=0.1)


LAYERS = [
    lambda: nn.Linear(4, 3),
    lambda: layers(nn.ReLU()),
    lambda: nn.Sequential(
        nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 5), nn.Sigmoid(), nn.Linear(5, 3)
    ),
    lambda: nn.Sequential(nn.Sequential(nn.Linear(4, 5), nn.Tanh()), nn.Linear(5, 2)),
]
OTHERS = [(hooked, {}), (frozen, {}), (LAYERS[1], {"loss": smoothed})]
OTHERS += [(lambda: layers(Noisy()), {}), (lambda: layers(nn.GELU()), {})]
OTHERS += [(lambda: layers(nn.ReLU(), bias=False), {}), (lambda: layers(nn.ReLU(), nn.Tanh()), {})]
OTHERS.append((lambda: nn.Sequential(layers(nn.ReLU()), nn.Tanh()), {}))


@pytest.mark.parametrize(
    ("factory", "options", "by_hand"),
    [*((factory, {}, True) for factory in LAYERS), *((*other, False) for other in OTHERS)],
)
def test_layers_give_what_autograd_does(factory, options, by_hand):
    """Clients of unequal size, in one chunk and in several, beside another objective."""
    parts = classified((7, 12, 3), classes=2)
    training = Training(2, lr=0.3, batch_size=5, momentum=0.5, weight_decay=0.01)
    algorithms, ends = [FedAvg(), PropFair(2.0)], []
    for changes in ({}, {"memory_limit": 100}, {"backend": "loop"}):
        model = Module(factory, **options)
        simulation = trained(model, parts, algorithms, training, replace(EXACT, **changes))
        assert model.by_hand == by_hand
        ends.append(simulation.params)
    for other in ends[1:]:
        torch.testing.assert_close(other, ends[0], rtol=1e-12, atol=1e-12)
    assert (ends[0][0] != ends[0][1]).any()


def test_images_and_shared_layers_are_not_for_the_kernel():
    def mean_entropy(outputs, y):
        return nn.functional.cross_entropy(outputs.mean(1), y, reduction="none")

    data = ClientData(torch.zeros(4, 2, 4), torch.zeros(4, dtype=torch.int64), [0, 4])
    model = Module(LAYERS[1], mean_entropy)
    model.prepare(data)
    assert not model.by_hand
    assert Module(shared)._activations(torch.zeros(1, 4)) is None
