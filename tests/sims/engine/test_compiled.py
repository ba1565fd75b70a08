"""The engine with compiled steps, beside its twin without."""

from dataclasses import replace

import pytest
import torch
from federations import EXACT, classified
from torch import nn
from torch._dynamo.utils import counters

from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.engine import (
    MLP,
    Logistic,
    Module,
    Replicate,
    Simulation,
    Softmax,
    Training,
    compiled,
)
from fairfl.sims.engine.schedule import Exponential

COMPILED = replace(EXACT, backend="compiled")


def network():
    return nn.Sequential(nn.Linear(4, 5), nn.GroupNorm(1, 5), nn.Tanh(), nn.Linear(5, 3))


def ends_where_the_other_does(model, algorithm):
    torch._dynamo.reset()
    counters.clear()
    data = classified((8, 8, 8, 3), classes=2 if isinstance(model, Logistic) else 3)
    settings = Training(4, lr=0.1, batch_size=4, schedule=Exponential(0.9))
    there, here = (
        Simulation(model, data, [Replicate(algorithm)], settings, how) for how in (COMPILED, EXACT)
    )
    graphs = []
    for _ in range(4):
        there.step(), here.step()
        graphs.append(counters["stats"]["unique_graphs"])
    torch.testing.assert_close(there.params, here.params, rtol=1e-10, atol=1e-12)
    assert float((here.params - model.init(0)).abs().max()) > 1e-3
    assert graphs[0] > 0 and graphs[1] == graphs[3]  # a learning rate is not compiled in


@pytest.mark.parametrize(
    ("model", "algorithm"),
    [
        (Softmax(4, 3), FedAvg()),
        (Logistic(4), PropFair(4.0)),
        (MLP((4, 5, 3)), Ditto(0.2)),
        (Module(network), PropFair(4.0)),
    ],
    ids=["softmax", "logistic", "mlp", "module"],
)
def test_compiled_steps_end_where_the_others_do(model, algorithm, monkeypatch):
    monkeypatch.setattr(compiled, "COMPILER", "aot_eager")
    ends_where_the_other_does(model, algorithm)


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # the compiler's own
def test_with_kernels_of_the_compiler():
    ends_where_the_other_does(MLP((4, 5, 3)), FedAvg())
    ends_where_the_other_does(Module(network), FedAvg())
