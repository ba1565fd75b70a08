"""FedFB: λ converges as theorem 24 says, and its rule is as good as that of CFL's learner."""

from dataclasses import replace
from functools import partial
from math import sqrt

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.engine import as_floats
from fairfl.sims.group_fairness.lft import LAM
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck import prediction
from fairfl.studies.crosscheck.population.frontier_distance import supporting_plane
from fairfl.studies.crosscheck.population.learned_rules import Performance
from fairfl.studies.crosscheck.population.worlds import World, by_name
from fairfl.studies.crosscheck.practice import ALPHA, CFL, FEDFB, Practice
from fairfl.studies.crosscheck.prediction import ONE_STEP, SAMPLED, TRAINED, causes, limit_verdict
from fairfl.studies.crosscheck.study import Drawing, Verdict, series
from fairfl.studies.frames import among, floats

NAME, TITLE = "fedfb", "FedFB's λ converges as theorem 24 says, to a rule as good as CFL's"
SEEDS = {"quick": 8, "paper": 40}
WORLD = "figure-5d"
CASES = prediction.cases_of(FEDFB)
CASES[ONE_STEP] = replace(CASES[SAMPLED], steps=1, lr=1.5, momentum=0.0)


def rows(case: str, seeds: int) -> pd.DataFrame:
    """A row a sample and step of λ: ``off`` = |λ_1 - λ_1*|, the repaired bound of theorem 24, and
    by how much it is exceeded; the accuracy ``lost`` at the end against the plane through CFL's
    optimum at ε = 0, and how far that is ``behind`` CFL's learner on the same people.
    """
    world, practice = by_name(WORLD), CASES[case]
    count = seeds if practice.is_sampled else prediction.EVEN_SEEDS
    lost, path = _trained(world, practice, count)
    cfl, _ = _trained(world, replace(practice, scheme=CFL, steps=10, lr=0.5, momentum=0.9), count)
    start = float(solve(world.federation, "cfl", 0.0).multipliers[0])
    off = np.abs(path - world.shares[:, 1] @ np.array(world.weight) - start)
    limits = np.tile(bound(abs(start), len(path))[:, None], count)
    step, seed = np.indices(off.shape)
    columns = {"seed": seed, "round": step + 1, "off": off, "bound": limits}
    columns |= {"distance": np.maximum(0.0, off - limits), "lost": lost[seed]}
    columns["behind"] = (lost - cfl)[seed]
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()})


def _trained(world: World, practice: Practice, seeds: int) -> tuple[Array, Array]:
    """Accuracy that each sample's rule loses, and λ_1 after each step (steps, samples)."""
    budgets = [(0.0,)]
    (samples,) = practice.trained(world, budgets, seeds)
    states = practice.path(world, budgets, seeds)[1:]  # λ moves in every round but the first
    path = [as_floats(state[LAM]).reshape(seeds, -1, 2)[:, 0, 1] for state in states]
    worth = [Performance.of(member, world.federation) for (member,) in samples]
    lost = [supporting_plane(world.federation, rule.rates) - rule.accuracy for rule in worth]
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
    limit, even = 2 / sqrt(CASES[TRAINED].people), "theorem-24-without-sampling"
    plane = "No FedFB rule is above the plane through CFL's optimum at ε = 0."
    path = "In the mean of all steps |λ_1 - λ_1*| is at most max{d_0 - Σ α_t/√2, α_T/√2}, λ* of the"
    gap = "FedFB with ten local steps loses no more accuracy than CFL's learner on the same people."
    return (
        prediction.hard_verdict("below-the-plane", plane, floats(measures, "lost")),
        limit_verdict("theorem-24-on-samples", f"{path} laws, up to 2/√n.", measures, limit),
        limit_verdict(even, f"{path} laws.", measures, prediction.IDEAL, SAMPLED),
        limit_verdict("gap-to-cfl", gap, measures, prediction.NEAR, column="behind"),
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """λ's distance by round, and the bound."""
    shown, panel = among(measures, "case", [TRAINED, SAMPLED]), "FedFB's λ"
    rounds = shown.drop_duplicates("round")
    limit = floats(rounds, "round"), floats(rounds, "bound")
    bands = prediction.banded(panel, shown, "round", "off", "round")
    return pd.concat([series(panel, prediction.THEORY, "line", *limit), bands], ignore_index=True)


PICTURES = (Drawing("crosscheck-fedfb", TITLE, "steps of λ", "distance of λ from λ*", points),)
units = partial(prediction.units_of, NAME, CASES, rows)
