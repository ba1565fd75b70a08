"""FedFB, figure 7: client parity, where every group is one client."""

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
from fairfl.sims.experiments.experiment import Picture, Scale, Setting, Unit
from fairfl.sims.experiments.fedfb_data import REAL, fedfb_data
from fairfl.sims.experiments.fedfb_points import trade_off
from fairfl.sims.experiments.fedfb_runs import BATCH, EPOCHS, HIDDEN, LR, MOMENTUM, QUICK, ROUNDS
from fairfl.sims.experiments.frames import floats, groups
from fairfl.sims.experiments.frames import rows as kept_rows
from fairfl.sims.experiments.published import COLUMNS
from fairfl.sims.group_fairness import FairBatch, FedFB

NAME = "fedfb-figure-7"
TITLE = "FedFB, figure 7, people by group: accuracy and client parity"
SEEDS = {"quick": 2, "paper": 5}
PUBLISHED = pd.DataFrame(columns=COLUMNS)
"""The figure's points are not printed as numbers."""
PICTURES = (Picture("figure-7", "tradeoff", TITLE, x="disparity max$_{i,j}$ |L$^{(i)}$ - L$^{(j)}$|"),)
POWERS = (0.1, 1.0, 5.0)
MORE_ROUNDS = "q-FFL, 1 epoch a round"


def methods() -> list[tuple[str, float, Algorithm]]:
    """The figure's five, a few settings of each: name, setting, algorithm."""
    fair = [("FedFB", a, FedFB(FairBatch("cp", a))) for a in (0.05, 0.1, 0.2)]
    bits = [("FedFB (10 bits)", 0.05, FedFB(FairBatch("cp", 0.05), bits=10))]
    powers = [("q-FFL", q, QFedAvg(q)) for q in POWERS]
    pulls = [("GIFAIR", lam, GIFAIR(lam)) for lam in (0.1, 0.3)]
    return [("FedAvg", np.nan, FedAvg()), *fair, *bits, *powers, *pulls, ("Ditto", 1.0, Ditto(1.0))]


def single_epochs() -> list[tuple[str, float, Algorithm]]:
    """q-FFL and FedAvg with as many epochs as all, a round each."""
    return [(MORE_ROUNDS, q, QFedAvg(q)) for q in (0.0, *POWERS)]


SYMBOL = {"GIFAIR": "λ", "Ditto": "λ", "q-FFL": "q", MORE_ROUNDS: "q"}
SCHEDULES = {"cp": methods, "cp-epochs": single_epochs}


def label(name: str, setting: float) -> str:
    """What tables call a method with a setting."""
    return name if np.isnan(setting) else f"{name}, {SYMBOL.get(name, 'α')} = {setting:g}"


def units(scale: Scale) -> list[Unit]:
    """A unit a seed and schedule: the engine's table of clients has the seed of its unit. Quick: the synthetic data."""
    called = {schedule: tuple(label(*method[:2]) for method in listed()) for schedule, listed in SCHEDULES.items()}
    return [
        Unit(f"fedfb-{dataset.lower()}-{schedule}-{scale.profile}-{seed}", dataset, seed, called[schedule],
             partial(make, scale, dataset, schedule, seed))
        for dataset in ("Synthetic", *(REAL if scale.paper else ()))
        for schedule in SCHEDULES
        for seed in range(scale.seeds)
    ]  # fmt: skip


def make(scale: Scale, dataset: str, schedule: str, seed: int) -> Setting:
    """All methods of a schedule with one seed; client a has the people of group a."""
    data = fedfb_data(dataset)
    assert data.group is not None
    parts = Parts.of(replace(data, owner=data.group, n_clients=int(data.group.max()) + 1, client_names=()))
    epochs = EPOCHS if scale.paper else QUICK
    rounds, each = (ROUNDS, epochs) if schedule == "cp" else (ROUNDS * epochs, 1)
    training = Training(rounds=rounds, epochs=each, lr=LR, momentum=MOMENTUM, batch_size=BATCH)
    replicates = tuple(Replicate(algorithm, seed) for _, _, algorithm in SCHEDULES[schedule]())
    model = MLP((parts.train.x.shape[1], HIDDEN, 2))
    return Setting(model, parts, replicates, training, rounds, Computing(device="cpu"))


def measures(clients: pd.DataFrame) -> pd.DataFrame:
    """Accuracy over all people and max_i,j |L^(i) - L^(j)| on test, a row a run; of Ditto those of its own models."""
    rows, personal = [], [str(name).startswith("Ditto") for name in clients["objective"]]
    for which, mine in (("global", np.logical_not(personal)), ("personal", personal)):
        test = last_round(kept_rows(clients, mine), "test", which)
        for key, run in groups(test, ["dataset", "objective", "seed"]):
            accuracy = float(np.average(floats(run, "accuracy"), weights=floats(run, "samples")))
            rows.append((*key, accuracy, float(np.ptp(floats(run, "loss")))))
    return pd.DataFrame(rows, columns=["dataset", "objective", "seed", "Acc.", "CP disp."])


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Every setting is a line."""
    return measures(clients).melt(["dataset", "objective", "seed"], ["Acc.", "CP disp."], "measure", "value")


def points(clients: pd.DataFrame) -> pd.DataFrame:
    """A point a setting. No frontier: the disparity is of log losses, not of decisions."""
    found = measures(clients)
    known = {label(name, setting): (name, setting) for listed in SCHEDULES.values() for name, setting, _ in listed()}
    both = [known[str(name)] for name in found["objective"]]
    test = found.assign(objective=[name for name, _ in both], alpha=[setting for _, setting in both])
    return trade_off(test, PUBLISHED, None, "CP disp.", "Acc.")


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        f"SGD with momentum {MOMENTUM}, lr {LR}; every setting is a line, none is chosen.",
        "FedFB, 10 bits: client losses in [0, 4].",
        f"q-FFL hardly moves in {ROUNDS} rounds: its step is divided by L F^q + q F^(q-1) ||g||^2, and 30 local epochs "
        f"make g, the sum of their gradients, large. '{MORE_ROUNDS}': as many epochs, a round each; then it does move. "
        "On the synthetic data its objective is not to blame, nor of much help: the network that minimises it (L-BFGS, "
        "the best of 4 starts) has losses of the two groups .036 apart in training at q = 0, .033 at q = 1, .032 at 5.",
        "The sum of FedFB's reports for client parity tells every client's loss, as its algorithm 5 does.",
        "Fewer people a group, fewer steps: epochs are of each client's own people.",
    )
