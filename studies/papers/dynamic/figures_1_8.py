"""Dynamic participants, figures 1 to 8 (MNIST, Fashion-MNIST, CIFAR-10)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import pandas as pd

from fairfl.sims.engine.algorithm import Algorithm
from fairfl.studies.experiment import Experiment, Scale, Unit
from fairfl.studies.group_benefit import curves, values
from fairfl.studies.papers.dynamic.dynamic_runs import (
    ALL,
    CLIPPING,
    FEWER_LR,
    HIDDEN,
    LAYERS,
    LENET,
    LENGTH,
    LINEAR,
    LR,
    MAIN,
    MERGED,
    OTHER,
    QS,
    RESNET,
    Scene,
)

SEEDS = {"quick": 2, "paper": 5}
ALPHAS = (0.5, 0.7, 1.0)
"""Values besides 0.9, figure 6."""
EVERY = {**MAIN, **CLIPPING, **OTHER, **QS, **MERGED}
TENS = tuple(range(0, 100, 10))


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
    return (
        f"Rows: all {ALL:,} for two layers in figure 1, as in the paper, else 2,000 "
        "(ResNet-18 500 in figure 1, quick 300), a seventh of them for testing. With fewer rows a "
        f"round has fewer steps, and the local learning rate is {FEWER_LR:g} for the paper's "
        f"{LR:g}. Algorithm 1's length stays {LENGTH:g}: it is taken once a round, "
        "whatever the rows.",
        "The paper names no number of rounds: 30 with two groups (LeNet and ResNet-18 20), 100 "
        "with ten. Figure 2 (but for CIFAR-10) and figures 3 to 7 are of a network with one hidden "
        f"layer of {HIDDEN} in place of LeNet.",
        "Not said: C (all take part), p_k (by samples), alpha but as an example (0.9, 10 groups "
        "too: a class each, the rest spread evenly), the alphas, betas and q of figures 4, 6 and "
        "7, the test rows of a group (split as its training rows), the loss of the linear model "
        "(cross entropy).",
        "t_1 is 0 in section 5, 1 in algorithm 1: 0 here, GB (20) from the first model on.",
        "The seeds share rows, groups and clients: spreads are over starts and batches.",
    )


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
