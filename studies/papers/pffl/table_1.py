"""p-FFL, table 1 and figures 1 to 6: rank weights against q-FedAvg."""

from fractions import Fraction
from functools import partial

import pandas as pd

from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import MLP, Algorithm, Replicate, Training
from fairfl.studies.beside_published import published
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Experiment, Picture, Scale, Setting, Unit
from fairfl.studies.measures import statistics
from fairfl.studies.notes import notes
from fairfl.studies.papers.qffl import qffl_runs, three_classes
from fairfl.studies.published_numbers import PFFL_TABLES
from fairfl.theory.aggregation import RankWeighted

TITLE = "p-FFL, table 1, figures 1 to 6: rank weights (Gini, harmonic, geometric) against q-FedAvg"
SEEDS = {"quick": 1, "paper": 3}
SQUARED_PERCENT = 10_000
STATISTICS = ("average", "worst 10%", "best 10%", "variance")
RANKS = {
    "Gini": RankWeighted.gini(),
    "Harmonic": RankWeighted.harmonic(),
    "Geo = 0.5": RankWeighted.geometric(0.5),
    "Geo = 0.85": RankWeighted.geometric(0.85),
}
PUBLISHED = published(
    {
        (three_classes.FASHION if data == "FMNIST" else data, row): {
            **cells,
            "variance": (str(SQUARED_PERCENT * Fraction(cells["variance"][0])), None),
        }
        for (data, row), cells in PFFL_TABLES["1"].items()
    }
)
"""Variances are printed for accuracies as shares: here in squared percent, as q-FFL's."""
BEST_Q = {**qffl_runs.CHOSEN, three_classes.FASHION: 15.0, three_classes.DIGITS: 15.0}
SHOWN = ("q = 0", "q = 1", "q = 5", *RANKS)
SPREAD = "p-FFL, figures 1, 2, 5, 6: test accuracies"
COURSE = "p-FFL, figures 3 and 4: test accuracy by round"
PICTURES = (
    Picture("pffl-figures-1-2-5-6", "distribution", SPREAD, "test", SHOWN),
    Picture("pffl-figures-3-4", "convergence", COURSE, "test", SHOWN),
)
ROUNDS = {"Synthetic": (200, 2000), "Vehicle": qffl_runs.ROUNDS["Vehicle"]}
"""The whole Vehicle has q-FFL's own rounds."""
CLASS_ROUNDS, CLASS_ROWS, HIDDEN = (20, 100), (1500, 3000), 64


def algorithms(q: float) -> dict[str, Algorithm]:
    """q-FedAvg with 0 and q, and the four rank weights, as the table names them."""
    powers = {qffl_runs.name_of(value): QFedAvg(value) for value in (0.0, q)}
    return {**powers, **{name: PFedAvg(rank) for name, rank in RANKS.items()}}


def units(scale: Scale) -> list[Unit]:
    """Synthetic and Vehicle as in q-FFL's tables, and three classes."""
    planned: list[Unit] = []
    for dataset, rounds in ROUNDS.items():
        rules = algorithms(qffl_runs.CHOSEN[dataset])
        planned += qffl_runs.units("ranks", scale, (dataset,), rules, rounds=rounds)
    dataset, rounds = three_classes.which(), CLASS_ROUNDS[scale.paper]
    q = BEST_Q[dataset]
    for seed in range(scale.seeds):
        folder = f"{dataset.lower().replace(', ', '-').replace(' ', '-')}-ranks-{rounds}-{seed}"
        setting = partial(make_classes, dataset, q, rounds, CLASS_ROWS[scale.paper], seed)
        planned.append(Unit(folder, dataset, seed, tuple(algorithms(q)), setting))
    return planned


def make_classes(dataset: str, q: float, rounds: int, rows: int, seed: int) -> Setting:
    """A network of one hidden layer on three clients, one class each."""
    parts = three_classes.parts(dataset, equal=True, seed=seed, rows=rows)
    replicates = tuple(Replicate(algorithm, seed) for algorithm in algorithms(q).values())
    training = Training(rounds, lr=0.001, batch_size=64, epochs=1)
    return Setting(MLP((784, HIDDEN, 3)), parts, replicates, training, max(1, rounds // 20))


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test accuracies."""
    return statistics(last_round(clients, "test"), STATISTICS)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """Differences from the paper."""
    *standing, classes = notes("pffl", "differences", hidden=HIDDEN)
    if three_classes.DIGITS in set(clients["dataset"]):
        classes = " ".join((*notes("pffl", "digits"), classes))
    common = (note for note in qffl_runs.differences() if "Shakespeare" not in note)
    return (*common, *standing, classes)


EXPERIMENTS = (
    Experiment("pffl-table-1", TITLE, SEEDS, units, values, differences, PUBLISHED, PICTURES),
)
