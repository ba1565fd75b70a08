"""Dynamic participants, figures 1 to 8: groups of clients that hold different classes and join one
after the other (section 5). A unit is a scene and an algorithm; its replicates are the seeds, which
share rows and clients.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from fairfl.sims import engine
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
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.models import LeNet, ResNet18GN
from fairfl.studies.experiment import Experiment, Scale, Setting, Unit
from fairfl.studies.group_benefit import curves, values, with_groups
from fairfl.studies.notes import notes
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
EVERY: dict[str, Algorithm] = {
    **MAIN,
    **CLIPPING,
    "Algorithm 1, global norm": NormalizedFedAvg("global", LENGTH),
    "Algorithm 2, global norm": ModifiedNormalizedFedAvg(norm="global"),
    "Algorithm 1, length 0.1": NormalizedFedAvg(),
    **{f"Algorithm 2, β = {b:g}": ModifiedNormalizedFedAvg(b) for b in (0.25, 0.5, 0.75)},
    **{f"q-FedAvg, q = {q:g}": QFedAvg(q) for q in (0.01, 0.1, 1.0)},
    "Algorithm 4 on 1": DynamicQFedAvg(rule=NORMALISED),
    "Algorithm 4 on 2": DynamicQFedAvg(rule=ModifiedNormalizedFedAvg()),
    "Algorithm 4 on 2, printed": DynamicQFedAvg(variant="printed", rule=ModifiedNormalizedFedAvg()),
}
SEEDS = {"quick": 2, "paper": 5}
ALPHAS = (0.5, 0.7, 1.0)
"""Values besides 0.9, figure 6."""
TENS = tuple(range(0, 100, 10))


@dataclass(frozen=True)
class Scene:
    """A setting of training: data, of which ``rows`` are drawn once, model, alpha, the rounds in
    which the groups join, and in all; measured every ``evaluate_every`` rounds.
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
        folder, setting = "-".join((*words, str(seeds))), partial(make, self, algorithm, seeds)
        measure = partial(measured, name)
        return Unit(folder.lower(), self.title, 0, (name,) * seeds, setting, measure)


def make(scene: Scene, algorithm: Algorithm, seeds: int) -> Setting:
    """All groups that have joined take part: the paper does not state C."""
    (model, parts), joining = data_of(scene), engine.Joining(scene.joins)
    training = engine.Training(
        scene.rounds, lr=scene.lr, batch_size=BATCH, epochs=EPOCHS, participation=joining
    )
    replicates = tuple(engine.Replicate(algorithm, seed) for seed in range(seeds))
    return Setting(model, parts, replicates, training, scene.evaluate_every)


def data_of(scene: Scene) -> tuple[engine.Model, engine.Parts]:
    """The model, and rows of the data set dealt out to groups and clients."""
    federated = some_rows(load_federated(scene.data.lower()), scene.rows, 0)
    shape, classes = federated.x.shape[1:], int(federated.y.max()) + 1
    if scene.model in (LINEAR, LAYERS):
        flat = (federated.x.reshape(scene.rows, -1) / np.float32(255)).astype(np.float32)
        federated = replace(federated, x=flat)
        features = flat.shape[1]
        linear = scene.model == LINEAR
        model = (
            engine.Softmax(features, classes) if linear else engine.MLP((features, HIDDEN, classes))
        )
    elif scene.model == LENET:
        model = engine.Module(partial(LeNet, shape[0], shape[1], classes), name=LENET)
    else:
        model = engine.Module(partial(ResNet18GN, shape[0], classes), name=RESNET)
    groups = len(scene.joins)
    owner = two_groups(federated.y, scene.alpha, scene.clients, groups=groups)
    federated = federated.assigned(owner, groups * scene.clients)
    return model, engine.Parts.of(federated.split(0.0, TEST))


def measured(name: str, result: engine.Result) -> pd.DataFrame:
    """The table of clients with their groups, a seed for each replicate."""
    clients = with_groups(result)
    return clients.assign(objective=name, seed=clients["replicate"])


def two(data: str) -> tuple[Scene, Mapping[str, Algorithm]]:
    """Figure 1."""
    model, rows = (RESNET, 500) if data == "CIFAR-10" else (LENET, 2000)
    return Scene(data, model, rounds=20, rows=rows), MAIN


def many(data: str) -> tuple[Scene, Mapping[str, Algorithm]]:
    """Figures 2 and 3(b)."""
    model = RESNET if data == "CIFAR-10" else LAYERS
    return Scene(data, model, TENS, 100, evaluate_every=2), {**MAIN, **CLIPPING}


def scenes(data: str) -> Iterator[tuple[Scene, Mapping[str, Algorithm]]]:
    """The scenes and algorithms of a data set."""
    yield two(data)
    yield many(data)
    if data != "MNIST":
        return
    yield Scene(data, LAYERS, rows=ALL), MAIN  # figure 1
    yield Scene(data, LAYERS), EVERY  # figures 3(a), 4, 5, 6 at alpha = 0.9, 7, 8(b)
    for alpha in ALPHAS:
        yield Scene(data, LAYERS, alpha=alpha), MAIN
    yield Scene(data, LINEAR), MAIN


def units(data: str, scale: Scale) -> list[Unit]:
    """A unit a scene and algorithm."""
    by_name = {}
    for scene, algorithms in scenes(data):
        small = replace(scene, rows=300, rounds=max(scene.joins) + 4)
        shown = scene if scale.paper else small
        scene_units = (shown.unit(name, rule, scale.seeds) for name, rule in algorithms.items())
        by_name |= {unit.name: unit for unit in scene_units}  # small scenes of two sizes are one
    return list(by_name.values())


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """Differences from the paper, and settings that it leaves open."""
    values = {"every": ALL, "fewer": FEWER_LR, "lr": LR, "length": LENGTH, "hidden": HIDDEN}
    return notes("dynamic", "differences", **values)


def _experiment(data: str, subject: str) -> Experiment:
    return Experiment(
        f"dynamic-{data.lower()}",
        f"Dynamic participants, {subject}, on {data}: two groups and ten that join one after the "
        "other",
        SEEDS,
        partial(units, data),
        values,
        differences,
        curves=curves,
    )


EXPERIMENTS = (
    _experiment("MNIST", "figures 1 to 8"),
    _experiment("Fashion-MNIST", "figures 1(b) and 2(b)"),
    _experiment("CIFAR-10", "figures 1(c) and 2(c)"),
)
