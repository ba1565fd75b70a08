"""Modules that ``torch.func`` cannot stack: clients go in turn, to the same numbers."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from every_algorithm import Ditto, FedAvg, QFedAvg
from federations import EXACT, quick, trained
from torch import nn

from fairfl.sims.engine import ClientData, Module, Parts, Replicate, Simulation

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
        Simulation(Module(factory), people(), [Replicate(FedAvg())], quick(), EXACT)
    assert torch.equal(torch.get_rng_state(), before)
