"""FedFB, figure 7 on the synthetic data: client parity, where every client is one group."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import MLP, Computing, Parts, Replicate, Training
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.experiments.execute import last_round
from fairfl.sims.experiments.experiment import Scale, Setting, Unit
from fairfl.sims.experiments.fedfb_data import fedfb_data
from fairfl.sims.experiments.fedfb_runs import BATCH, EPOCHS, HIDDEN, LR, MOMENTUM, QUICK, ROUNDS
from fairfl.sims.experiments.frames import floats, groups
from fairfl.sims.experiments.frames import rows as kept_rows
from fairfl.sims.experiments.published import COLUMNS
from fairfl.sims.group_fairness import FairBatch, FedFB

NAME = "fedfb-figure-7"
TITLE = "FedFB, figure 7, synthetic data by group: accuracy and client parity"
PUBLISHED = pd.DataFrame(columns=COLUMNS)
"""The figure's points are not printed as numbers."""


def methods() -> list[tuple[str, Algorithm]]:
    """The figure's five, a few settings of each."""
    fair = [(f"FedFB, α = {a:g}", FedFB(FairBatch("cp", a))) for a in (0.05, 0.1, 0.2)]
    bits = [("FedFB (10 bits), α = 0.05", FedFB(FairBatch("cp", 0.05), bits=10))]
    powers = [(f"q-FFL, q = {q:g}", QFedAvg(q)) for q in (0.1, 1.0, 5.0)]
    pulls = [(f"GIFAIR, λ = {lam:g}", GIFAIR(lam)) for lam in (0.1, 0.3)]
    return [("FedAvg", FedAvg()), *fair, *bits, *powers, *pulls, ("Ditto, λ = 1", Ditto(1.0))]


def units(scale: Scale) -> list[Unit]:
    """A unit a seed: the engine's table of clients has the seed of its unit."""
    names = tuple(name for name, _ in methods())
    return [
        Unit(f"fedfb-synthetic-cp-{scale.profile}-{seed}", "Synthetic", seed, names, partial(make, scale, seed))
        for seed in range(scale.seeds)
    ]


def make(scale: Scale, seed: int) -> Setting:
    """All methods with one seed; client 0 has the people of group 0, client 1 those of group 1."""
    data = fedfb_data("Synthetic")
    assert data.group is not None
    parts = Parts.of(replace(data, owner=data.group, n_clients=2, client_names=()))
    training = Training(
        rounds=ROUNDS, epochs=EPOCHS if scale.paper else QUICK, lr=LR, momentum=MOMENTUM, batch_size=BATCH
    )
    replicates = tuple(Replicate(algorithm, seed) for _, algorithm in methods())
    return Setting(MLP((3, HIDDEN, 2)), parts, replicates, training, ROUNDS, Computing(device="cpu"))


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Accuracy over all people and max_i,j |L^(i) - L^(j)| on test; of Ditto that of its personal models."""
    rows, personal = [], [str(name).startswith("Ditto") for name in clients["objective"]]
    for which, mine in (("global", np.logical_not(personal)), ("personal", personal)):
        test = last_round(kept_rows(clients, mine), "test", which)
        for key, run in groups(test, ["dataset", "objective", "seed"]):
            accuracy = float(np.average(floats(run, "accuracy"), weights=floats(run, "samples")))
            gap = float(np.ptp(floats(run, "loss")))
            for measure, value in (("Acc.", accuracy), ("CP disp.", gap)):
                rows.append((*key, measure, value))
    return pd.DataFrame(rows, columns=["dataset", "objective", "seed", "measure", "value"])


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        f"SGD with momentum {MOMENTUM}, lr {LR}; every setting is a line, none is chosen.",
        "FedFB, 10 bits: client losses in [0, 4].",
        "q-FFL hardly moves in 10 rounds: its step is divided by L F^q + q F^(q-1) ||g||^2, and 30 local epochs make "
        "g, the sum of their gradients, large.",
        "The sum of FedFB's reports for client parity tells every client's loss, as its algorithm 5 does.",
    )
