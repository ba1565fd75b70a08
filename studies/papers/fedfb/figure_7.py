"""FedFB, figure 7: client parity, where every group is one client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import MLP, Computing, Parts, Replicate, Training
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.group_fairness import FairBatch, FedFB
from fairfl.studies.beside_published import COLUMNS
from fairfl.studies.experiment import Picture, Scale, Setting, Unit
from fairfl.studies.frames import among, floats
from fairfl.studies.frames import rows as kept_rows
from fairfl.studies.papers.fedfb.data import REAL, SYNTHETIC, fedfb_data
from fairfl.studies.papers.fedfb.parity_limits import best_by_group, levelling_down
from fairfl.studies.papers.fedfb.parity_measures import LEVELLED, by_client, measures
from fairfl.studies.papers.fedfb.points import trade_off
from fairfl.studies.papers.fedfb.runs import BATCH, EPOCHS, HIDDEN, LR, MOMENTUM, QUICK, ROUNDS

NAME = "fedfb-figure-7"
TITLE = "FedFB, figure 7, people by group: accuracy and client parity"
SEEDS = {"quick": 2, "paper": 5}
PUBLISHED = pd.DataFrame(columns=COLUMNS)
"""The figure's points are not printed as numbers."""
POWERS = (0.1, 1.0, 5.0)
PULLS = (0.3, 0.9)
"""Of the largest λ that GIFAIR allows, which shrinks with the smallest group."""
MORE_ROUNDS = "q-FFL, 1 epoch a round"


def methods(largest: float = 1.0) -> list[tuple[str, float, Algorithm]]:
    """The figure's five, some settings each: name, setting, algorithm. ``largest``: GIFAIR's λ."""
    fair = [("FedFB", a, FedFB(FairBatch("cp", a))) for a in (0.05, 0.1, 0.2)]
    bits = [("FedFB (10 bits)", 0.05, FedFB(FairBatch("cp", 0.05), bits=10))]
    powers = [("q-FFL", q, QFedAvg(q)) for q in POWERS]
    pulls = [("GIFAIR", share, GIFAIR(share * largest)) for share in PULLS]
    return [("FedAvg", np.nan, FedAvg()), *fair, *bits, *powers, *pulls, ("Ditto", 1.0, Ditto(1.0))]


def single_epochs(largest: float = 1.0) -> list[tuple[str, float, Algorithm]]:
    """q-FFL and FedAvg with as many epochs as all, a round each."""
    return [(MORE_ROUNDS, q, QFedAvg(q)) for q in (0.0, *POWERS)]


SYMBOL = {"GIFAIR": "λ/λ₁", "Ditto": "λ", "q-FFL": "q", MORE_ROUNDS: "q"}
SCHEDULES = {"cp": methods, "cp-epochs": single_epochs}


def label(name: str, setting: float) -> str:
    """What tables call a method with a setting."""
    return name if np.isnan(setting) else f"{name}, {SYMBOL.get(name, 'α')} = {setting:g}"


def units(scale: Scale) -> list[Unit]:
    """A unit a seed and schedule. Quick: the synthetic data."""
    called = {
        schedule: tuple(label(*method[:2]) for method in listed())
        for schedule, listed in SCHEDULES.items()
    }
    return [
        Unit(
            f"fedfb-{dataset.lower()}-{schedule}-{scale.profile}-{seed}",
            dataset,
            seed,
            called[schedule],
            partial(make, scale, dataset, schedule, seed),
            partial(by_client, called[schedule], seed, synthetic=dataset in SYNTHETIC),
        )
        for dataset in ("Synthetic", *(REAL if scale.paper else ()))
        for schedule in SCHEDULES
        for seed in range(scale.seeds)
    ]


def make(scale: Scale, dataset: str, schedule: str, seed: int) -> Setting:
    """All methods of a schedule with one seed; client a has the people of group a."""
    data = fedfb_data(dataset)
    assert data.group is not None
    parts = Parts.of(
        replace(data, owner=data.group, n_clients=int(data.group.max()) + 1, client_names=())
    )
    epochs = EPOCHS if scale.paper else QUICK
    rounds, each = (ROUNDS, epochs) if schedule == "cp" else (ROUNDS * epochs, 1)
    training = Training(rounds=rounds, epochs=each, lr=LR, momentum=MOMENTUM, batch_size=BATCH)
    largest = float(parts.p.min()) / (len(parts.p) - 1)
    replicates = tuple(
        Replicate(algorithm, seed) for _, _, algorithm in SCHEDULES[schedule](largest)
    )
    model = MLP((parts.train.x.shape[1], HIDDEN, 2))
    return Setting(model, parts, replicates, training, rounds, Computing(device="cpu"))


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Every setting is a line."""
    found = measures(clients)
    named = [name for name in found.columns if name not in ("dataset", "objective", "seed")]
    table = found.melt(["dataset", "objective", "seed"], named, "measure", "value")
    return kept_rows(table, np.isfinite(floats(table, "value")))


def points(clients: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and max |L_i - L_j|; the frontier's is ``parity_limits.levelled_margins``."""
    return _points(
        clients, "CP disp.", lambda share, best, gaps: np.full(len(gaps), float(share @ best))
    )


def error_points(clients: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and the groups' largest difference of error rates; levelling down's frontier."""
    return _points(clients, "Acc. gap", levelling_down)


def _points(
    clients: pd.DataFrame, gap: str, curve: Callable[[Array, Array, Array], Array]
) -> pd.DataFrame:
    """Points by setting; where P(y=1 | x) is known accuracies, and their differences, are the
    expected ones.

    Left out are q-FFL's 10 rounds, untrained and far from all else, lines that a constant is more
    accurate than, and levelled scores where decisions alone count.
    """
    found = measures(clients)
    hidden = {label("q-FFL", q) for q in POWERS} | ({LEVELLED} if gap == "Acc. gap" else set())
    found = among(
        found, "objective", [name for name in found["objective"].unique() if name not in hidden]
    )
    mean = np.asarray(
        found.groupby(["dataset", "objective"])["Acc."].transform("mean"), dtype=np.float64
    )
    found = kept_rows(found, mean >= [constant(str(name)) for name in found["dataset"]])
    known = {
        label(name, setting): (name, setting)
        for listed in SCHEDULES.values()
        for name, setting, _ in listed()
    }
    both = [known.get(str(name), (str(name), np.nan)) for name in found["objective"]]
    shown = {"Acc.": "E Acc.", "Acc. gap": "E gap"}
    for drawn, expected in shown.items():
        there = floats(found, expected)
        found[drawn] = np.where(np.isnan(there), floats(found, drawn), there)
    test = found.assign(
        objective=[name for name, _ in both], alpha=[setting for _, setting in both]
    )

    def limit(name: str) -> tuple[Array, Array]:
        share, best = best_by_group(name)
        widest = float(floats(among(found, "dataset", [name]), gap).max())
        gaps = np.unique(np.concatenate([[0.0, widest], np.minimum(best - best.min(), widest)]))
        return gaps, curve(share, best, gaps)

    return trade_off(test, PUBLISHED, limit, gap, "Acc.")


@lru_cache(maxsize=8)
def constant(name: str) -> float:
    """The accuracy of the better constant on the test people."""
    data = fedfb_data(name)
    share = float(data.y[data.rows("test")].mean())
    return max(share, 1 - share)


PICTURES = (
    Picture(
        "figure-7",
        "tradeoff",
        TITLE,
        x="disparity max$_{i,j}$ |L$^{(i)}$ - L$^{(j)}$| of log losses",
    ),
    Picture(
        "figure-7-errors",
        "tradeoff",
        f"{TITLE} of error rates",
        x="difference of error rates",
        points=error_points,
    ),
)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        f"SGD with momentum {MOMENTUM}, lr {LR}; every setting is a line, none is chosen.",
        "Clients are the groups, as in the published code; in the text they are the data's own.",
        "FedFB, 10 bits: client losses in [0, 4].",
        "GIFAIR: λ₁ is its largest λ, the smallest share of people over the number of groups "
        "less one.",
        f"'{LEVELLED}': FedAvg's decisions with the scores 1/2 ± t, t a group chosen on "
        "validation such that the log "
        "losses agree. They can always be made to, so that in log losses parity costs no accuracy.",
        f"q-FFL hardly moves in {ROUNDS} rounds: its step is divided by L F^q + q F^(q-1) "
        "||g||^2, and 30 local epochs make g, the sum of their gradients, large. "
        f"'{MORE_ROUNDS}': as many epochs, a round each; then it does move. "
        "On the synthetic data its objective is not to blame, nor of much help: it hardly "
        "depends on q.",
        "The pictures leave out q-FFL's 10 rounds, and lines that a constant is more accurate "
        "than.",
        "The sum of FedFB's reports for client parity tells every client's loss, as its "
        "algorithm 5 does.",
        "Fewer people a group, fewer steps: epochs are of each client's own people.",
        "Acc. gap: the largest difference of two groups' accuracies; best E Acc.: the exact "
        "frontier's at the E gap, which is levelling down. In the pictures of real data the "
        "frontier is that of thresholds, one a group, on a cross-fitted logistic score of the "
        "same test people: no bound for classifiers that see the features.",
    )
