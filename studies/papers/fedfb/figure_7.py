"""FedFB, figure 7: client parity, where every group is one client."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import Algorithm, Parts
from fairfl.sims.group_fairness import FairBatch, FedFB
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import SEEDS, Experiment, Picture, Scale, Setting, Unit
from fairfl.studies.frames import floats, groups, rows
from fairfl.studies.measures import KEYS
from fairfl.studies.notes import notes
from fairfl.studies.papers.fedfb.data import REAL, fedfb_data
from fairfl.studies.papers.fedfb.fedfb_runs import (
    EPOCHS,
    HIDDEN,
    LR,
    MOMENTUM,
    QUICK,
    ROUNDS,
    setting_of,
)
from fairfl.studies.papers.fedfb.points import by_setting, trade_off

TITLE = "FedFB, figure 7, people by group: accuracy and client parity"
LOSSES = "disparity max$_{i,j}$ |L$^{(i)}$ - L$^{(j)}$| of log losses"
PICTURES = (Picture("figure-7", "tradeoff", TITLE, x=LOSSES),)
SYMBOL = {"GIFAIR": "λ/λ₁", "Ditto": "λ", "q-FFL": "q"}
"""Of a method's setting, where it is not α; λ₁ is the largest λ that GIFAIR allows."""


def methods(largest: float = 1.0) -> list[tuple[str, float, Algorithm]]:
    """The figure's five, some settings each: name, setting, algorithm. ``largest``: GIFAIR's λ."""
    fair = [("FedFB", a, FedFB(FairBatch("cp", a))) for a in (0.05, 0.1, 0.2)]
    bits = [("FedFB (10 bits)", 0.05, FedFB(FairBatch("cp", 0.05), bits=10))]
    powers = [("q-FFL", q, QFedAvg(q)) for q in (0.1, 1.0, 5.0)]
    pulls = [("GIFAIR", share, GIFAIR(share * largest)) for share in (0.3, 0.9)]
    return [("FedAvg", np.nan, FedAvg()), *fair, *bits, *powers, *pulls, ("Ditto", 1.0, Ditto(1.0))]


def label(name: str, setting: float) -> str:
    """The name in tables of a method with a setting."""
    return name if np.isnan(setting) else f"{name}, {SYMBOL.get(name, 'α')} = {setting:g}"


def units(scale: Scale) -> list[Unit]:
    """A unit a data set and seed. Quick: the synthetic data."""
    objectives = tuple(label(name, setting) for name, setting, _ in methods())
    planned = []
    for dataset in ("Synthetic", *(REAL if scale.paper else ())):
        for seed in range(scale.seeds):
            name = f"fedfb-{dataset.lower()}-cp-{scale.profile}-{seed}"
            setting = partial(make, scale, dataset, seed)
            planned.append(Unit(name, dataset, seed, objectives, setting))
    return planned


def make(scale: Scale, dataset: str, seed: int) -> Setting:
    """All methods with one seed; client a has the people of group a."""
    data = fedfb_data(dataset)
    assert data.group is not None
    count = int(data.group.max()) + 1
    parts = Parts.of(replace(data, owner=data.group, n_clients=count, client_names=()))
    rules = [algorithm for *_, algorithm in methods(float(parts.p.min()) / (count - 1))]
    length = ROUNDS, EPOCHS if scale.paper else QUICK
    return setting_of(parts, "federated", length, rules, (seed,), HIDDEN)


def measures(clients: pd.DataFrame) -> pd.DataFrame:
    """A row a run at the end: test accuracy, largest gaps of clients' losses and accuracies."""
    lines = []
    is_personal = [str(name).startswith("Ditto") for name in clients["objective"]]
    for model, mask in (("global", np.logical_not(is_personal)), ("personal", is_personal)):
        for key, run in groups(last_round(rows(clients, mask), "test", model), KEYS):
            right, losses = floats(run, "accuracy"), floats(run, "loss")
            mean = np.average(right, weights=floats(run, "samples"))
            lines.append((*key, mean, np.ptp(losses), np.ptp(right)))
    return pd.DataFrame(lines, columns=[*KEYS, "Acc.", "CP disp.", "Acc. gap"])


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Every setting is a line."""
    return measures(clients).melt(KEYS, var_name="measure", value_name="value")


def points(clients: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and max |L_i - L_j|."""
    table = by_setting(measures(clients), methods(), label)
    return trade_off(table, disparity="CP disp.", accuracy="Acc.")


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """Differences from the paper."""
    return notes("fedfb", "figure 7", momentum=MOMENTUM, lr=LR, rounds=ROUNDS)


EXPERIMENTS = (
    Experiment(
        "fedfb-figure-7", TITLE, SEEDS, units, values, differences, pictures=PICTURES, points=points
    ),
)
