"""q-FFL, figures 3, 6 and 9: q-FedAvg, q-FedSGD and tuned gradient descent on one objective.

q-FedSGD's L and q-FedAvg's learning rate are tuned on q = 0 and kept for q > 0 (section 4.4).
"FedSGD" is gradient descent with a fixed step, the best of a grid: here on the (q + 1)-mean of the
losses, which has the same minimisers (``DualWeighted(QFFL(q))``).
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from fairfl.sims.algorithms.dual_weighted import DualWeighted
from fairfl.sims.algorithms.qfedavg import QFedAvg, QFedSGD
from fairfl.sims.engine import Computing, Replicate
from fairfl.studies.experiment import Experiment, Picture, Scale, Setting, Unit
from fairfl.studies.frames import among, floats, groups, rows
from fairfl.studies.measures import KEYS, rows_of
from fairfl.studies.notes import notes
from fairfl.studies.papers.qffl import qffl_runs
from fairfl.theory.aggregation import QFFL

RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""The grid of fixed steps; the paper does not print its own."""
TUNED_BY = {
    "q-FedAvg": ("FedAvg", 0.0),
    "q-FedSGD": ("FedSGD, q = 0", 0.0),
    "FedSGD": ("FedSGD", None),
}
"""The run whose last objective chooses each curve's rate, and the q of it; None: the curve's q."""
EVERY = 40  # measurements
DROPPING = Computing(non_finite="drop")  # a rate of the grid may diverge: it is then not the best


def units(
    scale: Scale, data: dict[str, tuple[str, str, float]], rounds: dict[str, tuple[int, int]]
) -> list[Unit]:
    """For each label (data set, kind, q): local epochs, and full gradients, with all rates."""
    curves = {"local": ("FedAvg", "q-FedAvg"), "full": ("FedSGD, q = 0", "q-FedSGD", "FedSGD")}
    all_units = []
    for label, (dataset, kind, q) in data.items():
        if dataset not in qffl_runs.at_hand():
            continue
        count = qffl_runs.rounds_of(dataset, scale, rounds[label])
        for seed in range(scale.seeds):
            for steps, named in curves.items():
                name = f"{steps}-{dataset.lower()}-{kind}-q{q:g}-{count}-{seed}"
                setting = partial(make, steps, dataset, kind, q, count, seed, scale.paper)
                objectives = tuple(f"{curve} {rate:g}" for curve in named for rate in RATES)
                all_units.append(Unit(name, label, seed, objectives, setting))
    return all_units


def make(
    steps: str, dataset: str, kind: str, q: float, rounds: int, seed: int, paper: bool
) -> Setting:
    """A replicate a rate; "local": q-FedAvg with 0 and q; "full": q-FedSGD so, and fixed steps."""
    model, parts = qffl_runs.parts_of(dataset, seed, kind, paper)
    training, rules = qffl_runs.training_of(dataset, rounds), [QFedAvg(0.0), QFedAvg(q)]
    if steps == "full":
        training = replace(training, epochs=None, steps=1, batch_size=None)
        rules = [QFedSGD(0.0), QFedSGD(q), DualWeighted(QFFL(q))]
    replicates = tuple(Replicate(rule, seed, lr=rate) for rule in rules for rate in RATES)
    return Setting(model, parts, replicates, training, max(1, rounds // EVERY), DROPPING)


def objective_value(clients: pd.DataFrame, q: float) -> float:
    """(q + 1)-mean of training losses, weighed by samples; infinite where not finite."""
    losses, samples = floats(clients, "loss"), floats(clients, "samples")
    if not np.isfinite(losses).all():
        return np.inf
    return float(QFFL(q, client_weights=samples / samples.sum()).value(losses))


def curves(clients: pd.DataFrame, data: dict[str, tuple[str, str, float]]) -> pd.DataFrame:
    """The rows of the three curves, at the rates tuned by the final training objective."""
    parts = []
    for (label, _), of_run in groups(clients, ["dataset", "seed"]):
        q = data[label][2]
        last = rows(
            of_run, (of_run["part"] == "train") & (of_run["round"] == of_run["round"].max())
        )
        ends = {key[0]: part for key, part in groups(last, ["objective"])}
        names = {}
        for curve, (judge, of) in TUNED_BY.items():
            values_at = {
                r: objective_value(ends[f"{judge} {r:g}"], q if of is None else of) for r in RATES
            }
            names[f"{curve} {min(RATES, key=values_at.__getitem__):g}"] = curve
        tuned = among(of_run, "objective", list(names))
        parts.append(tuned.assign(objective=[names[name] for name in tuned["objective"]]))
    return pd.concat(parts, ignore_index=True)


def values(clients: pd.DataFrame, data: dict[str, tuple[str, str, float]]) -> pd.DataFrame:
    """The training objective at a tenth of the rounds, at half of them and at the end."""
    tuned = curves(clients, data)
    lines = []
    for key, run in groups(among(tuned, "part", ["train"]), KEYS):
        when = np.unique(floats(run, "round"))
        for name, share in (("after 10 %", 0.1), ("after 50 %", 0.5), ("at the end", 1.0)):
            at = when[np.argmin(np.abs(when - share * when[-1]))]
            value = objective_value(among(run, "round", [at]), data[key[0]][2])
            lines += rows_of(key, {name: value})
    return pd.DataFrame(lines)


DATA = {
    3: {name: (name, "non-iid", q) for name, q in qffl_runs.CHOSEN.items()},
    9: {
        "Synthetic-IID": ("Synthetic", "iid", 1.0),
        "Synthetic-Hybrid": ("Synthetic", "hybrid", 1.0),
        "Synthetic-Non-IID": ("Synthetic", "non-iid", 1.0),
    },
}
"""By figure: label -> data set, kind, q."""
ROUNDS = {"Vehicle": (40, 460), "Shakespeare": (2, 80)}
OTHERS = (40, 500)
"""Quick runs, long enough to rank the methods."""


def figure(number: int, title: str, *subjects: str) -> Experiment:
    """The experiment of a figure; its picture shows the rates that tuning chose."""
    data, name = DATA[number], f"qffl-figure-{number}"
    caption = f"q-FFL, figure {number}: test accuracy by round"
    return Experiment(
        name,
        f"q-FFL, {title}, the training objective by round",
        {"quick": 1, "paper": 3},
        lambda scale: units(scale, data, {label: ROUNDS.get(label, OTHERS) for label in data}),
        lambda clients: values(clients, data),
        lambda clients: (
            *qffl_runs.differences({data[name][0] for name in set(clients["dataset"])}),
            *notes("qffl", "tuned rates", *subjects),
        ),
        pictures=(Picture(name, "convergence", caption),),
        shown=lambda clients: curves(clients, data),
    )


EXPERIMENTS = (
    figure(3, "figures 3 and 6: q-FedAvg, q-FedSGD and tuned FedSGD"),
    figure(9, "figure 9: q-FedAvg and q-FedSGD on Synthetic IID, hybrid and non-IID", "IID"),
)
