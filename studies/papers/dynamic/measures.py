"""What the dynamic paper's figures show, by round: group benefit in both printed forms, the least
gap of two groups, spread within groups, accuracy and loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.studies.frames import floats, groups
from fairfl.studies.measures import KEYS
from fairfl.theory.measures import dynamic

BASELINE = "FedAvg"
PRINTED, FOLLOWING, GAP, SPREAD, ACCURACY, LOSS = BY_ROUND = (
    "GB (9)",
    "GB (20)",
    "least gap",
    "LS",
    "accuracy",
    "loss",
)
"""(9) and (20); the least gap between the benefits of two groups (``fairness_margin``); (19);
accuracy in percent and mean loss over all clients' samples, those included who have yet to join:
(1).
"""


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
        """``BY_ROUND``, (T,) each; where there is one group, 0 for GB and LS and NaN for the
        gap.
        """
        share = self.samples / self.samples.sum()
        return {
            PRINTED: dynamic.group_benefit(self.by_group, self.joins),
            FOLLOWING: dynamic.group_benefit(self.by_group, self.joins, "benefit"),
            GAP: dynamic.fairness_margin(self.by_group, self.joins),
            SPREAD: dynamic.within_group_std(self.losses, self.group, self.joins),
            ACCURACY: 100 * self.accuracies @ share,
            LOSS: self.losses @ share,
        }


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
    """A row a dataset, objective, seed, part and measured round; columns of ``BY_ROUND``."""
    return pd.concat(
        [
            pd.DataFrame({**_named(key), "part": key[3], "round": one.rounds, **one.measures})
            for key, one in courses(clients).items()
        ],
        ignore_index=True,
    )


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Of each run after the last round, on test rows: ``BY_ROUND``; "above FedAvg", how much its
    gaps are above those of FedAvg with the same seed, the least over the pairs of groups, (4); and
    in what share of the measured rounds, in percent, all gaps are positive ("fair rounds",
    definition 2) and all are above FedAvg's ("fairer rounds", (4)). And the loss on training rows.
    """
    every, parts = courses(clients), []
    for key, one in every.items():
        dataset, _, seed, part = key
        if part != "test":
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
