"""Equal opportunity, equalised odds, three groups: learned rules against exact optima."""

import json
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from fairfl.sims.engine import Result
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.frontier_distance import optimum, supporting_plane
from fairfl.studies.crosscheck.population.learned_rules import Performance
from fairfl.studies.crosscheck.population.worlds import World, by_name, in_words
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.table_rows import (
    bound_verdict,
    by_people,
    by_size,
    points_of,
    rate_verdict,
    series,
    summary,
    trade_off,
)
from fairfl.studies.crosscheck.training_plan import CFL, ENSEMBLE, FEDFB, LEARNERS, Plan
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups, loose
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.notions import Notion

NAME = "notions"
TITLE = "Equal opportunity, equalised odds and three groups below the exact optima"
SEEDS = {"quick": 1, "paper": 4}

NOTIONS: tuple[Notion, ...] = ("dp", "eo", "eodds")
TWO, THREE = ("figure-5d", "figure-9d", "random-0"), ("random-0-2-3", "random-1-3-3")
"""Worlds with two groups, and with three."""
QUESTIONS = (*product(TWO, NOTIONS[1:]), *product(THREE, NOTIONS))
"""Pairs of a world and a notion. Parity of two groups is in the study ``frontier``."""
SMALL = (*product(TWO[:1], NOTIONS[1:]), *product(THREE[:1], NOTIONS[:1]))
RATED: tuple[tuple[str, Notion], ...] = (
    *product(TWO, NOTIONS[1:2]),
    *product(THREE[:1], NOTIONS[:1]),
    (THREE[1], NOTIONS[1]),
)
"""The pairs whose rates are measured."""
SIZES = (500, 1_000, 2_000, 8_000)
BUDGETS = (0.0, 0.1)
FAIR = f"{BUDGETS[0]:g}"
LOST = "below the plane"
TOLD = {"dp": "parity", "eo": "equal opportunity", "eodds": "equalised odds"}


@dataclass(frozen=True)
class NotionPlan(Plan):
    """A run whose rules are compared with the optima that bound them."""

    def measured(self, result: Result) -> pd.DataFrame:
        """The columns of ``Plan.measured``, and how much more accurate than the rule are:
        ``below``, CFL's optimum at its own disparity; ``LOST``, the plane through CFL's at ε = 0;
        ``below locally``, LFT+FedAvg's optimum at its own local disparities; ``members``, of an
        ensemble, a client's own optimum than its member, the least.
        """
        table = super().measured(result)
        lines = [self._beside(row) for row in table.to_dict("records")]
        return table.assign(**loose(pd.DataFrame(lines, index=table.index)))

    def _beside(self, row: dict[Hashable, Any]) -> dict[str, object]:
        world, notion, accuracy = self.world, self.notion, row["accuracy"]
        measures = Performance.of(Classifier.from_json(row["rule"]), world.federation, notion)
        plane = supporting_plane(world.federation, measures.rates, notion)
        local = optimum(world, "lft_fedavg", np.abs(measures.local), notion)
        line = {
            "question": f"{world.name}, {notion}",
            "groups": world.groups,
            "below": optimum(world, "cfl", measures.disparity, notion) - accuracy,
            LOST: plane - accuracy,
            "below locally": local - accuracy,
            "members": np.nan,
        }
        if self.scheme == ENSEMBLE:
            line["members"] = self._nearest(json.loads(row["members"]))
        return line

    def _nearest(self, members: list[str]) -> float:
        short = []
        for i, member in enumerate(members):
            world = self.world.alone(i)
            measures = Performance.of(Classifier.from_json(member), world.federation, self.notion)
            short.append(optimum(world, "cfl", measures.disparity, self.notion) - measures.accuracy)
        return float(min(short))


def units(scale: Scale) -> list[Unit]:
    """Quick: three questions, 1,000 people. Paper: twelve, 2,000; CFL of five with four sizes."""
    if not scale.paper:
        return _units(SMALL, LEARNERS, (1_000,), scale.seeds, 40)
    smallest, smaller, usual, largest = SIZES
    all_units = _units(QUESTIONS, LEARNERS, (usual,), scale.seeds)
    return all_units + _units(RATED, (CFL,), (smallest, smaller, largest), scale.seeds)


def _units(
    questions: tuple[tuple[str, Notion], ...],
    schemes: tuple[str, ...],
    sizes: tuple[int, ...],
    seeds: int,
    rounds: int | None = None,
) -> list[Unit]:
    budgets = tuple((budget,) for budget in BUDGETS)
    return [
        NotionPlan(by_name(world), scheme, 1, size, seed, budgets, rounds, notion=notion).unit()
        for world, notion in questions
        for scheme in schemes
        for size in sizes
        for seed in range(seeds)
    ]


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Table by notion, groups, scheme, people and budget: rules, their loss and disparity."""
    table = summary(measures, ["notion", "groups", "scheme", "rows", "budget"], _means)
    return {"points": table.rename(columns={"rows": "people"})}


def _means(part: pd.DataFrame) -> dict[str, float]:
    columns = ("below", LOST, "below locally", "disparity")
    return {"rules": len(part)} | {f"{n}, mean": float(floats(part, n).mean()) for n in columns}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """Three hard inequalities, and two rates of CFL's at ε = 0, where its class has the optimum."""
    members, part = among(measures, "scheme", [ENSEMBLE]), _rated(measures)
    return (
        bound_verdict(
            "below-cfl",
            "No learned rule is more accurate than the exact CFL optimum at its own disparity, nor "
            "above the plane through CFL's optimum at ε = 0.",
            measures,
            [floats(measures, column) for column in ("below", LOST)],
            "question",
        ),
        bound_verdict(
            "below-lft-fedavg",
            "None is more accurate than LFT+FedAvg's exact optimum at its own local disparities.",
            measures,
            floats(measures, "below locally"),
            "question",
        ),
        bound_verdict(
            "members-below-their-own",
            "No member of an ensemble is more accurate on its own client's law than that client's "
            "exact optimum at the member's own disparity.",
            members,
            floats(members, "members"),
            "question",
        ),
        rate_verdict(
            "plane-rate",
            "CFL's learner of equal opportunity, and of three groups: at ε = 0 its distance below "
            "the plane shrinks like 1/n.",
            1,
            part,
            floats(part, LOST),
            "question",
        ),
        rate_verdict(
            "disparity-rate",
            "And its disparity like the root of 1/n.",
            0.5,
            part,
            floats(part, "disparity"),
            "question",
        ),
    )


def _rated(measures: pd.DataFrame) -> pd.DataFrame:
    """CFL's at ε = 0, of the questions that have several sizes."""
    questions = [f"{world}, {notion}" for world, notion in RATED]
    return among(among(among(measures, "scheme", [CFL]), "budget", [FAIR]), "question", questions)


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """CFL's exact frontier of each question, and the learned rules of one size."""
    parts = []
    size = floats(among(measures, "scheme", [FEDFB]), "rows").max()
    shown = among(measures, "rows", [size])
    for (name, notion), part in groups(shown, ["world", "notion"]):
        if (name, notion) not in SHOWN:
            continue
        panel = f"{in_words(name).removeprefix('random ')}, {TOLD[notion]}"
        parts.append(curve(by_name(name), notion).assign(panel=panel))
        for (scheme,), of_scheme in groups(part, ["scheme"]):
            parts.append(points_of(panel, f"{scheme}, learned", of_scheme))
    return pd.concat(parts, ignore_index=True)


SHOWN = (*SMALL, ("figure-9d", "eo"), ("random-0-2-3", "eo"), ("random-1-3-3", "eodds"))


def curve(world: World, notion: Notion) -> pd.DataFrame:
    """CFL's exact frontier as a series."""
    largest = solve(world.federation, "cfl", np.inf, notion=notion).disparity
    x = np.linspace(0, largest, 25)
    y = [optimum(world, "cfl", v, notion) for v in x]
    return series("", "CFL, exact", "line", x, y)


def shrinking(measures: pd.DataFrame) -> pd.DataFrame:
    """CFL's losses and disparities at ε = 0 by size, root mean squares over worlds and seeds."""
    fair = _rated(measures)
    parts = []
    for panel, column in (
        ("below the plane (accuracy)", LOST),
        ("disparity (of rates)", "disparity"),
    ):
        for (notion, count), part in groups(fair, ["notion", "groups"]):
            name, values = f"{TOLD[notion]}, {count} groups", floats(part, column)
            parts.append(by_size(panel, name, floats(part, "rows"), values))
    return pd.concat(parts, ignore_index=True)


BY_NOTION = "Learned rules and CFL's exact frontier, by notion"
RATE = "CFL's learner at ε = 0 by sample size"
PICTURES = (
    trade_off("crosscheck-notions", BY_NOTION, points, x="disparity"),
    by_people("crosscheck-notions-rate", RATE, "root mean square", shrinking),
)
