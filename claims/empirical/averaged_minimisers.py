"""The accuracy that averaging the clients' own minimisers loses on samples, and not on the
population.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Effort
from fairfl.claims.evidence import Evidence
from fairfl.claims.forms import grid
from fairfl.sims.data.federated.population import sample
from fairfl.studies.crosscheck.population.learned_rules import Found
from fairfl.studies.crosscheck.population.local_minimisers import learned
from fairfl.studies.crosscheck.population.supporting_line import supporting_line
from fairfl.studies.crosscheck.population.worlds import spread

FIRST = 1000
"""Of the seeds; the bounds were set on seeds 0 to 59."""
PEOPLE, SAMPLES = 5_000, 20
WORLDS = {"uneven shares": (1.5, 0.45), "distant centres": (3.0, 0.0)}
"""Distance of the centres and spread of the shares of three clients: see ``spread``."""


@cache
def losses(world: str, people: int, count: int) -> tuple[float, float]:
    """Mean accuracy below the supporting line acc* - λ MD: of averaged local minimisers, and of
    pooled ones.
    """
    federation, lost = spread(3, *WORLDS[world]).federation, []
    for seed in range(FIRST, FIRST + count):
        data = sample(federation, people, seed)
        found = [Found.of(learned(data, averaged).rule, federation) for averaged in (True, False)]
        lost.append([supporting_line(federation, one.difference) - one.accuracy for one in found])
    averaged, pooled = np.mean(lost, axis=0)
    return float(averaged), float(pooled)


def dearer(instance: dict[str, Any], times: float = 3.0, share: float = 0.5) -> Case:
    """Averages lose more than ``times`` what pooled people do; and with four times the people the
    difference is less than ``share`` of it.
    """
    world, count = instance["world"], instance["samples"]
    averaged, pooled = losses(world, PEOPLE, count)
    more, rest = losses(world, 4 * PEOPLE, count // 2)
    return Case(
        (
            Relation(times * pooled, "<", averaged, "averaged and pooled"),
            Relation(more - rest, "<", share * (averaged - pooled), "four times the people"),
        )
    )


def dearer_in_both(effort: Effort, **changes: float) -> Evidence:
    """On samples of both federations."""
    count = effort.pick(SAMPLES, 10 * SAMPLES)
    words = (
        f"{count} samples of {PEOPLE:,} and {count // 2} of {4 * PEOPLE:,} people, seeds from "
        f"{FIRST} on"
    )
    instances = [{"world": world, "samples": count} for world in WORLDS]
    return grid(dearer, instances, words)(effort, **changes)


CLAIMS = (
    Claim(
        "empirical/averaged-minimisers-cost-samples",
        "crosscheck fedfb-gap",
        0,
        "FedFB with local training to its end loses more than CFL on the same sample, and less the "
        "more people",
        printed="FedFB closely mimics the operation of the centralized FB (section 5.3).",
        statement=r"Clients that share a logistic $\eta$, group-specific logistic models, "
        r"$\mathrm{MD}=0$ on the sample: the rule of averaged local minimisers is on average "
        r"more than three times as far below the line $\mathrm{acc}^*-\lambda\,\mathrm{MD}$ as "
        r"the rule of pooled people; with four times the people the difference is less than half.",
        kind="bound",
        scope="three clients, shares of group 1 of 0.05, 0.5, 0.95, or centres 3 apart; "
        f"{PEOPLE:,} people",
        whose="ours",
        check=dearer_in_both,
        mutants={
            "hundredfold": ("a hundred times as far", {"times": 100.0}),
            "a tenth": ("less than a tenth of the difference", {"share": 0.1}),
        },
        notes="A client with 83 people of a group counts as much for that group's parameters as "
        "one with 1,583: averages weigh by people, not by information. No training stands "
        "between the sample and the rule here.",
    ),
)
