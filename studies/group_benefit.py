"""Measures of groups that join, by round: group benefit, gaps, spread (dynamic participants, 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.engine import Joining, Result, Simulation
from fairfl.sims.runs.metrics import Metrics
from fairfl.studies.frames import among, floats, groups, loose, rows
from fairfl.studies.measures import KEYS
from fairfl.theory.measures import dynamic

BASELINE = "FedAvg"
BY_ROUND = ("GB (9)", "GB (20)", "least gap", "LS", "accuracy", "loss")
PRINTED, FOLLOWING, GAP, SPREAD, ACCURACY, LOSS = BY_ROUND
"""(9) and (20); the least gap between the benefits of two groups (``fairness_margin``); (19);
accuracy in percent and mean loss over all clients' samples, those included who have yet to join:
(1).
"""
SHOWN = (
    *((measure, part) for measure in (PRINTED, FOLLOWING) for part in ("train", "test")),
    *((SPREAD, "test"), (ACCURACY, "test"), (LOSS, "train")),
)
"""Of ``curves``: measure and part."""
MOST = 700.0
"""Nats between losses: exp of a larger gap is no number."""
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
    at = clients["client"].to_numpy()
    return clients.assign(group=group[at], join=joins[at])


@dataclass(frozen=True, eq=False)
class Course:
    """One run on one part of the data, T measured rounds, K clients, S groups.

    rounds (T,); losses and accuracies (T, K); joins (S,), rows at which the groups join; samples
    and group (K,).
    """

    rounds: Array
    losses: Array
    accuracies: Array
    joins: Array
    samples: Array
    group: Array

    @property
    def by_group(self) -> Array:
        """(T, S) losses of the groups, clients weighed by their samples."""
        return dynamic.group_losses(self.losses, self.group, self.samples)

    @property
    def measures(self) -> dict[str, Array]:
        """``BY_ROUND``, (T,) each; of one group, 0 for GB and LS and NaN for the gap."""
        share = self.samples / self.samples.sum()
        return {
            PRINTED: dynamic.group_benefit(self.by_group, self.joins),
            FOLLOWING: dynamic.group_benefit(self.by_group, self.joins, "benefit"),
            GAP: dynamic.fairness_margin(self.by_group, self.joins),
            SPREAD: dynamic.within_group_std(self.losses, self.group, self.joins),
            ACCURACY: 100 * self.accuracies @ share,
            LOSS: self.losses @ share,
        }

    @property
    def joined(self) -> Array:
        """(T,) how many groups have joined."""
        return (self.joins <= np.arange(len(self.rounds))[:, None]).sum(axis=1)


Key = tuple[str, str, int, str]
"""Dataset, objective, seed and part."""


def courses(clients: pd.DataFrame) -> dict[Key, Course]:
    """Every run's, in the order of the table."""
    found = {}
    for key, run in groups(clients, [*KEYS, "part"]):
        losses, right = (
            run.pivot(index="round", columns="client", values=v) for v in (LOSS, ACCURACY)
        )
        one = run.drop_duplicates("client").sort_values("client")
        rounds = losses.index.to_numpy()
        joins = np.searchsorted(rounds, np.unique(floats(one, "join")))
        fixed = floats(one, "samples"), one["group"].to_numpy()
        found[key] = Course(rounds, losses.to_numpy(), right.to_numpy(), joins, *fixed)
    return found


def by_round(clients: pd.DataFrame) -> pd.DataFrame:
    """A row a run, part and measured round; columns groups, joined, and ``BY_ROUND``."""
    return pd.concat(
        [
            pd.DataFrame(
                {**_named(key), "part": key[3], "round": one.rounds, "groups": one.joined}
                | one.measures
            )
            for key, one in courses(clients).items()
        ],
        ignore_index=True,
    )


def curves(clients: pd.DataFrame) -> pd.DataFrame:
    """Mean, least and most over seeds, by round: rows ``RUN``, columns (measure, part, which)."""
    rounds = by_round(clients).assign(seeds=clients["seed"].nunique())
    wide = rounds.pivot(index=[*RUN, "seed"], columns="part", values=list(BY_ROUND))
    return loose(wide)[list(SHOWN)].groupby(level=RUN, sort=False).agg(["mean", "min", "max"])


def groups_of(clients: pd.DataFrame, part: str) -> pd.DataFrame:
    """The rows of ``clients`` that the measures are of: global models, training rows and those of
    ``part``; of runs with two groups at least, all of which have rows there, and whose losses did
    not go off.
    """
    found = among(among(clients, "model", ["global"]), "part", ["train", part])
    found = rows(found, (floats(found, "samples") > 0) & found["join"].notna())
    kept = [
        run
        for _, run in groups(found, KEYS)
        if np.ptp(floats(run, "loss")) < MOST
        and (
            loose(run).groupby("part")["group"].nunique() > max(1, floats(run, "group").max())
        ).all()
    ]
    return pd.concat(kept, ignore_index=True) if kept else rows(found, [False] * len(found))


def values(clients: pd.DataFrame, part: str = "test") -> pd.DataFrame:
    """Of each run after the last round, on the rows of ``part``: ``BY_ROUND``; "above FedAvg", how
    much its gaps are above those of FedAvg with the same seed, the least over the pairs of groups,
    (4); and in what share of the measured rounds, in percent, all gaps are positive ("fair rounds",
    definition 2) and all are above FedAvg's ("fairer rounds", (4)). And the loss on training rows.
    """
    every, parts = courses(clients), []
    for key, one in every.items():
        dataset, _, seed, of = key
        if of != part:
            continue
        by_round = one.measures
        last = {name: float(value[-1]) for name, value in by_round.items()}
        last["training loss"] = float(every[(*key[:3], "train")].measures[LOSS][-1])
        last["fair rounds"] = _share(by_round[GAP])
        other = every.get((dataset, BASELINE, seed, part))
        if other is not None and key[1] != BASELINE:
            ahead = dynamic.relative_margin(one.by_group, other.by_group, one.joins)
            last |= {"above FedAvg": float(ahead[-1]), "fairer rounds": _share(ahead)}
        columns = {"measure": list(last), "value": list(last.values())}
        parts.append(pd.DataFrame({**_named(key), **columns}))
    return pd.concat(parts, ignore_index=True)


def _named(key: Key) -> dict[str, Any]:
    return dict(zip(KEYS, key, strict=False))


def _share(margins: Array) -> float:
    """Percent of the rounds that have a margin in which it is positive."""
    return 100 * float((margins[~np.isnan(margins)] > 0).mean())
