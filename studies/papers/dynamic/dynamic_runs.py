"""The dynamic paper's runs: groups of clients that hold different classes and join one after the
other (section 5).

A unit is a scene (data, model, alpha, when groups join) and an algorithm; its replicates are the
seeds. They share rows and clients: the spread over seeds is that of starts and batches.
"""

import re
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from fairfl.sims.algorithms.dynamic import (
    ClippingFedAvg,
    ModifiedNormalizedFedAvg,
    NormalizedFedAvg,
)
from fairfl.sims.algorithms.dynamic_qfedavg import DynamicQFedAvg
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.data.federated import load_federated
from fairfl.sims.data.partition import two_groups
from fairfl.sims.engine import (
    MLP,
    Joining,
    Model,
    Module,
    Parts,
    Replicate,
    Result,
    Softmax,
    Training,
)
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.models import LeNet, ResNet18GN
from fairfl.studies.experiment import Setting, Unit
from fairfl.studies.group_benefit import with_groups
from fairfl.studies.row_subset import some_rows

LINEAR, LAYERS, LENET, RESNET = "linear", "two layers", "LeNet", "ResNet-18"
HIDDEN = 64
ALPHA = 0.9
TEST = 1 / 7
"""MNIST's own share of test images."""
ALL, LR = 70_000, 0.01
"""The paper's rows, of MNIST, and its learning rate."""
FEWER_LR = 0.1
"""With fewer rows, of which a round makes fewer steps."""
EPOCHS, BATCH = 5, 32
LENGTH = 0.01
"""The paper's eta, the length of algorithm 1's normalised updates."""

NORMALISED = NormalizedFedAvg(length=LENGTH)
MAIN: dict[str, Algorithm] = {
    "FedAvg": FedAvg(),
    "Algorithm 1": NORMALISED,
    "Algorithm 2": ModifiedNormalizedFedAvg(),
}
CLIPPING: dict[str, Algorithm] = {"Algorithm 3": ClippingFedAvg()}
OTHER: dict[str, Algorithm] = {
    "Algorithm 1, global norm": NormalizedFedAvg("global", LENGTH),
    "Algorithm 2, global norm": ModifiedNormalizedFedAvg(norm="global"),
    "Algorithm 1, length 0.1": NormalizedFedAvg(),
    **{f"Algorithm 2, β = {b:g}": ModifiedNormalizedFedAvg(b) for b in (0.25, 0.5, 0.75)},
}
QS: dict[str, Algorithm] = {f"q-FedAvg, q = {q:g}": QFedAvg(q) for q in (0.01, 0.1, 1.0)}
MERGED: dict[str, Algorithm] = {
    "Algorithm 4 on 1": DynamicQFedAvg(rule=NORMALISED),
    "Algorithm 4 on 2": DynamicQFedAvg(rule=ModifiedNormalizedFedAvg()),
    "Algorithm 4 on 2, printed": DynamicQFedAvg(variant="printed", rule=ModifiedNormalizedFedAvg()),
}


@dataclass(frozen=True)
class Scene:
    """A setting of training: data, model, alpha, and the rounds in which the groups join.

    ``rows`` of the data set are drawn once; all clients are measured every ``evaluate_every``
    rounds.
    """

    data: str
    model: str
    joins: tuple[int, ...] = (0, 10)
    rounds: int = 30
    rows: int = 2000
    alpha: float = ALPHA
    evaluate_every: int = 1

    @property
    def title(self) -> str:
        """The scene's name in tables."""
        groups = "two groups" if len(self.joins) == 2 else f"{len(self.joins)} groups"
        return f"{self.data}, {groups}, {self.model}, α = {self.alpha:g}, {self.rows:,} rows"

    @property
    def lr(self) -> float:
        """The paper's where all rows are there."""
        return LR if self.rows == ALL else FEWER_LR

    @property
    def clients(self) -> int:
        """Clients of a group: five where there are two groups, three where there are more."""
        return 5 if len(self.joins) == 2 else 3

    def unit(self, name: str, algorithm: Algorithm, seeds: int) -> Unit:
        """An algorithm with every seed, in one program."""
        title = self.title.replace(",", "")
        words = re.findall(r"[A-Za-z0-9.]+", f"dynamic {title} {self.rounds} rounds {name}")
        return Unit(
            "-".join((*words, str(seeds))).lower(),
            self.title,
            0,
            (name,) * seeds,
            partial(make, self, algorithm, seeds),
            partial(measured, name),
        )


def make(scene: Scene, algorithm: Algorithm, seeds: int) -> Setting:
    """All groups that have joined take part: the paper does not state C."""
    model, parts = data_of(scene)
    training = Training(
        scene.rounds,
        lr=scene.lr,
        batch_size=BATCH,
        epochs=EPOCHS,
        participation=Joining(scene.joins),
    )
    replicates = tuple(Replicate(algorithm, seed) for seed in range(seeds))
    return Setting(model, parts, replicates, training, scene.evaluate_every)


def data_of(scene: Scene) -> tuple[Model, Parts]:
    """The model, and rows of the data set dealt out to groups and clients."""
    federated = some_rows(load_federated(scene.data.lower()), scene.rows, 0)
    shape, classes = federated.x.shape[1:], int(federated.y.max()) + 1
    if scene.model in (LINEAR, LAYERS):
        flat = (federated.x.reshape(scene.rows, -1) / np.float32(255)).astype(np.float32)
        federated = replace(federated, x=flat)
        features = flat.shape[1]
        linear = scene.model == LINEAR
        model = Softmax(features, classes) if linear else MLP((features, HIDDEN, classes))
    elif scene.model == LENET:
        model = Module(partial(LeNet, shape[0], shape[1], classes), name=LENET)
    else:
        model = Module(partial(ResNet18GN, shape[0], classes), name=RESNET)
    groups = len(scene.joins)
    owner = two_groups(federated.y, scene.alpha, scene.clients, groups=groups)
    return model, Parts.of(federated.assigned(owner, groups * scene.clients).split(0.0, TEST))


def measured(name: str, result: Result) -> pd.DataFrame:
    """The table of clients with their groups, a seed for each replicate."""
    clients = with_groups(result)
    return clients.assign(objective=name, seed=clients["replicate"])
