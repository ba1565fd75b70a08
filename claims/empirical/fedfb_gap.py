"""The difference in accuracy and MD between FedFB's learned rules and CFL's on the same samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.empirical.crosscheck_files import PARTS, confirmed_on, in_part, load
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import tabulate
from fairfl.studies.crosscheck.population.kept_rules import rule_of
from fairfl.studies.crosscheck.population.learned_rules import Found
from fairfl.studies.crosscheck.population.supporting_line import supporting_line
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.crosscheck.standard_errors import NEAR, OVER, PEOPLE

DATA = "fedfb-gap.json"
SAME = 1e-4
"""Edges are kept to 1e-6 of x."""
AXES = ("distance", "shares", "clients", "concept")


@dataclass(frozen=True)
class Pair:
    """FedFB's rule and CFL's at a point of an axis: accuracy below the supporting line acc* - λ MD,
    and MD.
    """

    along: str
    value: float
    seed: int
    steps: int
    lost: float
    lost_cfl: float
    difference: float
    difference_cfl: float

    @property
    def unfair(self) -> float:
        """By how much FedFB's |MD| is above CFL's."""
        return abs(self.difference) - abs(self.difference_cfl)


@cache
def pairs() -> tuple[Pair, ...]:
    """All that were kept, evaluated exactly."""
    made = []
    for part in load(DATA)["worlds"]:
        federation = World.from_json(part["world"]).federation
        for one in part["rules"]:
            rules = [Found.of(rule_of(one[name]), federation) for name in ("fedfb", "cfl")]
            lost = [supporting_line(federation, rule.difference) - rule.accuracy for rule in rules]
            where = str(one["along"]), float(one["value"]), int(one["seed"]), int(one["steps"])
            made.append(Pair(*where, *lost, *(rule.difference for rule in rules)))
    return tuple(made)


def same(instance: dict[str, Any]) -> Case:
    """FedFB's rule and CFL's with so many local steps: accuracy below the line, and MD, every
    pair.
    """
    mine = [pair for pair in pairs() if pair.steps == instance["steps"]]
    apart = [
        max(abs(one.lost - one.lost_cfl), abs(one.difference - one.difference_cfl)) for one in mine
    ]
    return Case(tuple(Relation(away, "<=", SAME) for away in apart))


def near(instance: dict[str, Any], share: float = 1.0) -> Case:
    """Means over one part of the seeds at one point: accuracy behind CFL's along that line, and
    |MD| apart.
    """
    point = instance["along"], instance["value"]
    mine = [
        pair
        for pair in pairs()
        if (pair.along, pair.value) == point
        and in_part(pair.seed, load(DATA)["runs"], instance["seeds"])
    ]
    behind = float(np.mean([pair.lost - pair.lost_cfl for pair in mine]))
    apart = abs(float(np.mean([pair.unfair for pair in mine])))
    return Case(
        (
            Relation(behind, "<=", share * NEAR, "accuracy"),
            Relation(apart, "<=", share * OVER, "|MD|"),
        )
    )


def _check_same(effort: Effort, steps: int = 1) -> Evidence:
    words = f"pairs of rules learned from one sample with {steps} local step a round"
    return Evidence.of(tabulate(Call.of(same), [{"steps": steps}], words))


def _check_near(effort: Effort, axes: tuple[str, ...] = AXES, share: float = 1.0) -> Evidence:
    points = sorted({(pair.along, pair.value) for pair in pairs() if pair.along in axes})
    words = f"{', '.join(f'{along} {value:g}' for along, value in points)}; {_runs()}"
    grid = [{"along": a, "value": v, "seeds": part} for part in PARTS for a, v in points]
    return Evidence.of(tabulate(Call.of(near, share=share), grid, words))


def _runs() -> str:
    told = confirmed_on(load(DATA)["runs"], load(DATA)["runs"]["seeds"] - 1)
    return f"samples of 5,000 people each, 20 local steps a round; {told}"


CLAIMS = (
    Claim(
        id="empirical/fedfb-one-step-is-cfl",
        number="crosscheck fedfb-gap",
        line=0,
        title="with one local step before every averaging FedFB learns CFL's rule",
        printed="No paper prints it: the average of one full step of each client, by size, is "
        "one full step on all people.",
        statement=r"Accuracies and $\mathrm{MD}$ of both learned rules agree.",
        kind="identity",
        hypotheses=(),
        scope="three clients, shares of group 1 of 0.05, 0.5 and 0.95",
        expected="holds",
        check=_check_same,
        mutants=(Mutant("20 steps", "20 local steps", partial(_check_same, steps=20)),),
    ),
    Claim(
        id="empirical/fedfb-near-cfl",
        number="crosscheck fedfb-gap; FedFB, section 5.3",
        line=0,
        title="FedFB's learned rules are near CFL's however the clients differ, and with up to "
        "50 of them",
        printed="FedFB is observed to be robust to data heterogeneity: it closely mimics the "
        "operation of the centralized FB, which is not affected by data heterogeneity (section "
        "5.3).",
        statement=r"Means over samples, $\lambda$ the multiplier of CFL at $\varepsilon=0$: "
        r"FedFB's $\mathrm{acc}+\lambda\,\mathrm{MD}$ is at most "
        rf"{NEAR:g} below that of CFL's learned rule, and its $|\mathrm{{MD}}|$ within {OVER:g}.",
        kind="bound",
        hypotheses=(),
        scope="group-specific logistic models, ε = 0; three clients whose centres are 0, 1, 3 "
        "apart, or whose shares of group 1 run from 1/2 to 0.05, 0.5, 0.95; 2, 10, 50 clients; η "
        "that differ by ±2 log odds; " + _runs(),
        expected="holds",
        check=_check_near,
        mutants=(
            Mutant("two bits", "the axis of bits, from 2 on", partial(_check_near, axes=("bits",))),
            Mutant("a tenth", "a tenth of both bounds", partial(_check_near, share=0.1)),
        ),
        notes="The bounds are the largest standard errors of an accuracy and of an MD measured "
        f"on {PEOPLE:,} people. "
        "Where the clients share η, all have one minimiser at a common λ: on the population "
        "FedFB is CFL. At equal |MD| in place of that line, as the first version of this claim "
        "had it, a rule whose MD is on the other side of 0 seems to lose 2 |λ MD|, by its sign "
        "alone: uneven shares seemed to cost 0.0054 on seeds 0 and 1, and 0.0037 on 2 to 4. "
        "Seeds 5 to 7 were run after the measure was changed.",
    ),
)
