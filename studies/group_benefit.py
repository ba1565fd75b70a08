"""Measures of groups that join, by round: group benefit, gaps, spread (dynamic participants, 5)."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfl._support.checks import Array
from fairfl.sims.engine import Joining, Result, Simulation
from fairfl.sims.runs.metrics import Metrics
from fairfl.studies.frames import among, floats, groups, loose, rows
from fairfl.studies.measures import KEYS, rows_of
from fairfl.theory.measures import dynamic

BASELINE = "FedAvg"
BY_ROUND = ("GB (9)", "GB (20)", "least gap", "LS", "accuracy", "loss")
PRINTED, FOLLOWING, GAP, SPREAD, ACCURACY, LOSS = BY_ROUND
"""Equations (9) and (20); the smallest gap between the benefits of two groups
(``fairness_margin``); equation (19); accuracy in percent and mean loss over the samples of all
clients, also of those who have not joined yet: equation (1).
"""
SHOWN = (
    *((measure, part) for measure in (PRINTED, FOLLOWING) for part in ("train", "test")),
    *((SPREAD, "test"), (ACCURACY, "test"), (LOSS, "train")),
)
"""Columns of ``curves``: measure and part."""
MOST = 700.0
"""Largest difference of losses, in nats: exp of more overflows."""
RUN = ["dataset", "objective", "seeds", "round", "groups"]


def with_groups(result: Result) -> pd.DataFrame:
    """The table of clients, first models as round 0, with columns group and join."""
    trained = result.simulation
    first = Simulation(
        trained.model, trained.source, trained.replicates, trained.training, trained.computing
    )
    start = Metrics()
    start.clients += first.evaluate()
    clients = pd.concat([start.table("clients").to_pandas(), result.clients], ignore_index=True)
    schedule = trained.training.participation
    assert isinstance(schedule, Joining)
    joins = np.array(schedule.joins)[schedule.members(trained.data.clients)]
    group = np.unique(joins, return_inverse=True)[1]
    ids = trained.data.names
    position = np.argsort(ids)[np.searchsorted(np.sort(ids), clients["client"].to_numpy())]
    return clients.assign(group=group[position], join=joins[position])


Key = tuple[str, str, int, str]
"""A run: dataset, objective, seed and part."""


def courses(clients: pd.DataFrame) -> dict[Key, tuple[pd.DataFrame, Array, Array]]:
    """Every run on one part of the data, in the order of the table: a row for each measured
    round (T,) with the number of groups that have joined and ``BY_ROUND``; the losses (T, S) of
    the groups, clients weighed by their samples; and the rows (S,) at which the groups join.

    Of one group GB and LS are 0 and the gap is NaN.
    """
    by_run = {}
    for key, run in groups(clients, [*KEYS, "part"]):
        losses, right = (
            run.pivot(index="round", columns="client", values=v) for v in (LOSS, ACCURACY)
        )
        members = run.drop_duplicates("client").sort_values("client")
        rounds, samples = losses.index.to_numpy(), floats(members, "samples")
        group = members["group"].to_numpy()
        joins = np.searchsorted(rounds, np.unique(floats(members, "join")))
        share, client_losses = samples / samples.sum(), losses.to_numpy()
        by_group = dynamic.group_losses(client_losses, group, samples)
        course = {
            **dict(zip([*KEYS, "part"], key, strict=True)),
            "round": rounds,
            "groups": (joins <= np.arange(len(rounds))[:, None]).sum(axis=1),
            PRINTED: dynamic.group_benefit(by_group, joins),
            FOLLOWING: dynamic.group_benefit(by_group, joins, "benefit"),
            GAP: dynamic.fairness_margin(by_group, joins),
            SPREAD: dynamic.within_group_std(client_losses, group, joins),
            ACCURACY: 100 * right.to_numpy() @ share,
            LOSS: client_losses @ share,
        }
        by_run[key] = pd.DataFrame(course), by_group, joins
    return by_run


def by_round(clients: pd.DataFrame) -> pd.DataFrame:
    """A row for each run, part and measured round; columns groups, joined, and ``BY_ROUND``."""
    return pd.concat([course for course, *_ in courses(clients).values()], ignore_index=True)


def curves(clients: pd.DataFrame) -> pd.DataFrame:
    """Mean, least and most over seeds, by round: rows ``RUN``, columns (measure, part, which)."""
    rounds = by_round(clients).assign(seeds=clients["seed"].nunique())
    wide = rounds.pivot(index=[*RUN, "seed"], columns="part", values=list(BY_ROUND))
    return loose(wide)[list(SHOWN)].groupby(level=RUN, sort=False).agg(["mean", "min", "max"])


def groups_of(clients: pd.DataFrame, part: str) -> pd.DataFrame:
    """The rows that the measures are of: global models, training and ``part``, of runs with two
    groups or more that have rows there, and whose losses did not go off.
    """
    measured = among(among(clients, "model", ["global"]), "part", ["train", part])
    measured = rows(measured, (floats(measured, "samples") > 0) & measured["join"].notna())
    runs = []
    for _, run in groups(measured, KEYS):
        counts = loose(run).groupby("part")["group"].nunique()
        has_all = (counts > max(1, floats(run, "group").max())).all()
        if has_all and np.ptp(floats(run, "loss")) < MOST:
            runs.append(run)
    return pd.concat(runs, ignore_index=True) if runs else rows(measured, [False] * len(measured))


def values(clients: pd.DataFrame, part: str = "test") -> pd.DataFrame:
    """Measures of each run after the last round, on the rows of ``part``: ``BY_ROUND``; "above
    FedAvg", by how much its smallest gap is larger than FedAvg's with the same seed, (4); the share
    of measured rounds, in percent, in which all gaps are positive ("fair rounds", definition 2) or
    above FedAvg's ("fairer rounds", (4)); the loss on training rows.
    """
    by_run, lines = courses(clients), []
    for (dataset, objective, seed, of), (course, by_group, joins) in by_run.items():
        if of != part:
            continue
        measures = {name: course[name].iloc[-1] for name in BY_ROUND}
        trained = by_run[dataset, objective, seed, "train"][0]
        measures |= {"training loss": trained[LOSS].iloc[-1], "fair rounds": _share(course[GAP])}
        baseline = by_run.get((dataset, BASELINE, seed, part))
        if baseline is not None and objective != BASELINE:
            ahead = dynamic.relative_margin(by_group, baseline[1], joins)
            measures |= {"above FedAvg": ahead[-1], "fairer rounds": _share(ahead)}
        lines += rows_of((dataset, objective, seed), measures)
    return pd.DataFrame(lines, columns=[*KEYS, "measure", "value"])


def _share(margins: ArrayLike) -> float:
    """Percent of the rounds that have a margin in which it is positive."""
    values = np.asarray(margins, dtype=np.float64)
    return 100 * float((values[~np.isnan(values)] > 0).mean())
