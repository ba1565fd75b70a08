"""FedFB: λ converges as theorem 24 says, and its rule is as good as CFL's learner's."""

from dataclasses import replace
from functools import partial
from math import sqrt

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.engine import as_floats
from fairfl.sims.group_fairness.lft import LAM
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, supporting_plane
from fairfl.studies.crosscheck.population.learned_rules import Performance
from fairfl.studies.crosscheck.population.practice import Practice
from fairfl.studies.crosscheck.population.worlds import by_name
from fairfl.studies.crosscheck.prediction import (
    ONE_STEP,
    SAMPLED,
    THEORY,
    TRAINED,
    banded,
    causes,
    hard_verdict,
    near_verdict,
    units_of,
)
from fairfl.studies.crosscheck.reached import EVEN_SEEDS, IDEAL, cases_of
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.crosscheck.table_rows import series
from fairfl.studies.crosscheck.training_plan import ALPHA, CFL, FEDFB
from fairfl.studies.frames import among, floats

NAME = "fedfb"
TITLE = "FedFB's λ converges as theorem 24 says, to a rule as good as CFL's"
SEEDS = {"quick": 8, "paper": 40}
WORLD = "figure-5d"
FAIR = (0.0,)
CASES = cases_of(FEDFB)
CASES[ONE_STEP] = replace(CASES[SAMPLED], steps=1, lr=1.5, momentum=0.0)
NEAR = 0.005
"""Accuracy that a test on 10,000 people could not tell."""


def rows(case: str, seeds: int) -> pd.DataFrame:
    """A row a sample and step of λ: ``off`` = |λ_1 - λ_1*|, the repaired bound of theorem 24, by
    how much it is exceeded, and for the last model the accuracy ``lost`` against CFL's supporting
    plane, also by CFL's learner on the same people.
    """
    world, practice = by_name(WORLD), CASES[case]
    count = seeds if practice.is_sampled else EVEN_SEEDS
    lost, path = _trained(practice, count)
    cfl, _ = _trained(
        replace(CASES[TRAINED if practice.is_sampled else SAMPLED], scheme=CFL), count
    )
    start = float(solve(world.federation, "cfl", 0.0).multipliers[0])
    off = np.abs(path - world.shares[:, 1] @ np.array(world.weight) - start)
    limits = bound(abs(start), len(path))
    lines = []
    for seed in range(count):
        for k, limit in enumerate(limits):
            line = {"seed": seed, "round": k + 1, "off": off[k, seed], "bound": limit}
            line |= {"lost": lost[seed], "behind": lost[seed] - cfl[seed]}
            lines.append(line | {"distance": max(0.0, off[k, seed] - limit)})
    return pd.DataFrame(lines)


def _trained(practice: Practice, seeds: int) -> tuple[Array, Array]:
    """Accuracy that each sample's rule loses, and λ_1 after each step (steps, samples)."""
    world = by_name(WORLD)
    simulation = practice.simulation(world, [FAIR], seeds)
    path = []
    while not simulation.done:
        simulation.step()
        if simulation.round > 1:  # λ moves at the start of every round but the first
            path.append(as_floats(simulation.states[0][LAM]).reshape(seeds, -1, 2)[:, 0, 1].copy())
    lost = [
        supporting_plane(world.federation, worth.rates) - worth.accuracy
        for (rule,) in practice.members(world, simulation)[0]
        for worth in [Performance.of(rule, world.federation)]
    ]
    return np.array(lost), np.array(path)


def bound(start: float, steps: int) -> Array:
    """max{d_0 - Σ a_t, a_(T-1)}, a_t = α_t/√2, after T = 1, 2, ... steps: theorem 24, repaired."""
    lengths = ALPHA / np.arange(1, steps + 1) / sqrt(2)
    return np.maximum(start - np.cumsum(lengths), lengths)


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By how much the bound is exceeded, and how far FedFB is behind CFL's learner."""
    return {"cases": causes(measures), "behind": causes(measures, "behind")}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, λ's bound, and the gap."""
    people = CASES[TRAINED].people
    text = "|λ_1 - λ_1*| is at most max{d_0 - Σ α_t/√2, α_T/√2}, λ* of the laws"
    return (
        hard_verdict(
            "below-supporting-plane",
            "No FedFB rule is above the plane through CFL's optimum at ε = 0.",
            floats(measures, "lost"),
            TOLERANCE,
        ),
        near_verdict(
            "theorem-24-on-samples",
            f"{text}, up to 2/√n on samples of {people:,} people, in the mean of all steps.",
            measures,
            2 / sqrt(people),
        ),
        near_verdict(
            "theorem-24-without-sampling", f"{text}, without sampling.", measures, IDEAL, SAMPLED
        ),
        near_verdict(
            "gap-to-cfl",
            "FedFB with ten local steps loses no more accuracy than CFL's learner on the same "
            "people.",
            measures,
            NEAR,
            column="behind",
        ),
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """λ's distance by round, and the bound."""
    shown = among(measures, "case", [TRAINED, SAMPLED])
    one = among(among(shown, "case", [SAMPLED]), "seed", [0])
    limit = series(PANEL, THEORY, "line", floats(one, "round"), floats(one, "bound"))
    return pd.concat([limit, banded(PANEL, shown, "round", "off", "round")], ignore_index=True)


PANEL = "FedFB's λ"
PICTURES = (Drawing("crosscheck-fedfb", TITLE, "steps of λ", "distance of λ from λ*", points),)
units = partial(units_of, NAME, CASES, rows)
