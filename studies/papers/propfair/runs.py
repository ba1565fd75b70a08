"""PropFair's experiments on what is at hand: MNIST by a Dirichlet law in place of CIFAR-10, and
q-FFL's Synthetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.algorithms.term import TERM
from fairfl.sims.data.federated import load_federated, synthetic
from fairfl.sims.data.partition import dirichlet
from fairfl.sims.engine import MLP, Model, Parts, Replicate, Softmax, Training
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.studies.experiment import Scale, Setting, Unit
from fairfl.studies.row_subset import some_rows

DATASETS = ("MNIST", "Synthetic")
CLIENTS, BETA, LEAST = 10, 0.5, 30
ROWS = {False: 2000, True: 10_000}
ROUNDS = {False: 12, True: 40}
RATES = {"MNIST": 0.1, "Synthetic": 0.1}
TRAIN = 0.6  # of each client's rows; the rest is for testing
HIDDEN = 64

ALGORITHMS: dict[str, Algorithm] = {
    "FedAvg": FedAvg(),
    "q-FFL": QFedAvg(0.1),
    "AFL": AFL(0.1),
    "TERM": TERM(0.01),
    "PropFair": PropFair(5.0, rescale=True),
}
"""With the parameters of appendix B.2 for CIFAR-10: q = 0.1, gamma_lambda = 0.1, alpha = 0.01, M =
5.

PropFair's objective is multiplied by M, so that one learning rate suits all: its own steps are 1 /
(M - l) of FedAvg's, and the paper's tuned rate for it is the larger one.
"""


def data_of(dataset: str, rows: int, seed: int) -> tuple[Model, Parts]:
    """60 % of each client's rows to train on, 40 % to test; the seed draws rows, partition and
    split.
    """
    if dataset == "Synthetic":
        return Softmax(60, 10), Parts.of(
            synthetic(clients=CLIENTS * 2, seed=seed).split(0.0, 1 - TRAIN, seed)
        )
    found = some_rows(load_federated("mnist"), rows, seed)
    found = replace(found, x=(found.x.reshape(rows, -1) / np.float32(255)).astype(np.float32))
    owner = dirichlet(found.y, CLIENTS, BETA, min_size=LEAST, seed=seed)
    return MLP((784, HIDDEN, 10)), Parts.of(
        found.assigned(owner, CLIENTS).split(0.0, 1 - TRAIN, seed)
    )


def make(
    dataset: str, rows: int, rounds: int, batch: int, algorithms: tuple[Algorithm, ...], seed: int
) -> Setting:
    """Everyone takes part, one local epoch (section 5.1)."""
    model, parts = data_of(dataset, rows, seed)
    training = Training(rounds, lr=RATES[dataset], batch_size=batch, epochs=1)
    replicates = tuple(Replicate(algorithm, seed) for algorithm in algorithms)
    return Setting(model, parts, replicates, training, max(1, rounds // 12))


def units(
    label: str,
    scale: Scale,
    algorithms: dict[str, Algorithm],
    batches: Sequence[int] = (64,),
    by_batch: bool = False,
) -> list[Unit]:
    """A unit a data set, batch size and seed; ``by_batch`` names the data by the batch size too."""
    rounds, rows = ROUNDS[scale.paper], ROWS[scale.paper]
    found = []
    for dataset in DATASETS:
        for batch in batches:
            for seed in range(scale.seeds):
                made = partial(make, dataset, rows, rounds, batch, tuple(algorithms.values()), seed)
                shown = f"{dataset}, batch {batch}" if by_batch else dataset
                folder = f"{dataset.lower()}-{label}-{rounds}-b{batch}-{seed}"
                found.append(Unit(folder, shown, seed, tuple(algorithms), made))
    return found


def differences() -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        "CIFAR-10/100, CINIC-10, Shakespeare and StackOverflow are not at hand, nor the hours "
        "that ResNet-18 takes. "
        f"MNIST (10,000 rows, quick 2,000; {CLIENTS} clients, Dirichlet({BETA:g}), a hidden "
        f"layer of {HIDDEN}) and "
        "q-FFL's Synthetic (20 clients, softmax regression) stand in: numbers cannot be compared, "
        "only who is ahead of whom.",
        "Parameters are the paper's for CIFAR-10 (q = 0.1, alpha = 0.01, M = 5, gamma_lambda = "
        "0.1); one learning rate for all, where the paper tunes one each, and PropFair's "
        "objective times M to suit it.",
        "Each seed draws rows, partition and split anew; the paper has one partition, and its "
        "spread is over starts.",
    )
