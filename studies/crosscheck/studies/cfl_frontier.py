"""Learned rules against the exact CFL frontier: none above it; CFL's distance by size."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.solvers.schemes import LABELS
from fairfl.studies.crosscheck.population.frontier_distance import below, exact
from fairfl.studies.crosscheck.population.worlds import by_name, in_words
from fairfl.studies.crosscheck.rates import Rate, rate_text
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.table_rows import (
    bound_verdict,
    by_people,
    by_size,
    exact_curve,
    guided,
    points_of,
    rate_verdict,
    summary,
    trade_off,
)
from fairfl.studies.crosscheck.training_plan import CFL, LEARNERS, Plan
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups, rows

NAME = "frontier"
TITLE = "Learned rules of four schemes below the exact CFL frontier"
SEEDS = {"quick": 1, "paper": 4}

BUDGETS = (0.0, 0.05, 0.15, 0.4)
FIGURES = tuple(f"figure-{number}{panel}" for number in (5, 9) for panel in "abcd")
RANDOM = tuple(f"random-{seed}" for seed in range(6))
SHOWN = ("figure-5a", "figure-5d", "figure-9d", "random-0")
"""Worlds in the picture and in the fit of the rates."""
RATED = (0.1, 0.2)
"""Budgets at which the rate is measured. Budget 0 is left out, since |MD| has a kink there."""
SIZES = (250, 1_000, 4_000, 16_000)
PANELS = {"below the frontier": -1.0, "from the budget": -0.5}
"""Panels of the picture of rates, each with the power of n that is tested."""


def units(scale: Scale) -> list[Unit]:
    """Quick: two worlds, 1,000 people, no rates. Paper: 14, up to 100,000; CFL for the rates."""
    seeds = range(scale.seeds)
    if scale.paper:
        planned = _units(FIGURES + RANDOM, LEARNERS, (1,), 1_000, seeds, BUDGETS)
        planned += _units(
            ("figure-5d", "figure-9d", "random-0"), LEARNERS, (5,), 1_000, seeds, BUDGETS
        )
        planned += _units(("figure-9d",), LEARNERS, (7,), 1_000, seeds, BUDGETS)
        planned += _units(("figure-5d",), (CFL,), (1,), 100_000, seeds, RATED[:1])
        return planned + [u for n in SIZES for u in _units(SHOWN, (CFL,), (1,), n, seeds, RATED)]
    return _units(("figure-5d", "random-0"), LEARNERS, (1, 5), 1_000, seeds, (0.0, 0.15), 50)


def _units(
    worlds: Iterable[str],
    schemes: Iterable[str],
    degrees: Iterable[int],
    size: int,
    seeds: Iterable[int],
    budgets: Iterable[float],
    rounds: int | None = None,
) -> list[Unit]:
    settings = tuple((budget,) for budget in budgets)
    return [
        Plan(by_name(world), scheme, degree, size, seed, settings, rounds).unit()
        for world in worlds
        for degree in degrees
        for scheme in schemes
        for seed in seeds
    ]


def beside(measures: pd.DataFrame) -> pd.DataFrame:
    """The measures with ``below``: how much better the exact CFL optimum at the same |MD| is."""
    short = np.empty(len(measures))
    where = np.asarray(measures["world"], dtype=object)
    for name in dict.fromkeys(where):
        mask = where == name
        part = rows(measures, mask)
        short[mask] = below(by_name(name), floats(part, "disparity"), floats(part, "accuracy"))
    return measures.assign(below=short)


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables by scheme, degree, size: rules, how far below (mean, least), mean |MD|; rates."""
    compared = beside(measures)
    by_scheme = summary(compared, ["scheme", "degree", "rows"], _distances)
    by_world = summary(rated(compared), ["world", "degree"], _rates)
    tables = {"points": by_scheme.rename(columns={"rows": "people"}), "rates": by_world}
    return {name: table for name, table in tables.items() if len(table)}


def _distances(part: pd.DataFrame) -> dict[str, float]:
    """How far rules are below the frontier, and their disparity."""
    short = floats(part, "below")
    numbers = {"rules": len(part), "below, mean": short.mean(), "below, least": short.min()}
    return numbers | {"|MD|, mean": floats(part, "disparity").mean()}


def _rates(part: pd.DataFrame) -> dict[str, int | str]:
    """Powers of n by which distances shrink."""
    sizes, world = floats(part, "rows"), part["world"]
    return {
        "people": int(sizes.max()),
        "below": rate_text(Rate.of(sizes, floats(part, "below"), world)),
        "||MD| - ε|": rate_text(Rate.of(sizes, _missed(part), world)),
    }


def rated(measures: pd.DataFrame) -> pd.DataFrame:
    """CFL's rows with one of the budgets of the rates."""
    return among(among(measures, "scheme", [CFL]), "budget", [f"{v:g}" for v in RATED])


def _missed(part: pd.DataFrame) -> Array:
    """How far |MD| is from its budget, or from the free optimum's where that is within it."""
    largest = np.array([exact(by_name(name)).disparity[-1] for name in part["world"]])
    return np.abs(
        floats(part, "disparity") - np.minimum(np.asarray(part["budget"], dtype=float), largest)
    )


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, and two rates where there are runs for them."""
    compared = beside(measures)
    part = among(rated(compared), "degree", [1])
    bound = bound_verdict(
        "below-cfl-frontier",
        "No learned rule is more accurate than the exact CFL optimum at its own |MD|.",
        compared,
        floats(compared, "below"),
    )
    if part.empty:
        return (bound,)
    return (
        bound,
        rate_verdict(
            "cfl-regret-rate",
            "CFL's learner, its class containing the optimum: its distance below the frontier "
            "shrinks like 1/n.",
            1,
            part,
            floats(part, "below"),
        ),
        rate_verdict(
            "cfl-budget-rate",
            "And its |MD| misses the budget by the order of the root of 1/n.",
            0.5,
            part,
            _missed(part),
        ),
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """Rows panel, series, kind, x, y: three exact frontiers for each world, and the learned rules
    of the largest sample.
    """
    parts = []
    for (world,), world_rows in groups(among(measures, "world", SHOWN), ["world"]):
        degree_one = among(world_rows, "degree", [1])
        size = _common(degree_one)
        largest = among(degree_one, "rows", [size])
        panel = f"{in_words(world)}, {size:,} people"
        for scheme in LABELS:
            parts.append(exact_curve(by_name(world), scheme).assign(panel=panel))
        for (scheme,), part in groups(largest, ["scheme"]):
            parts.append(points_of(panel, f"{scheme}, learned", part))
    return pd.concat(parts, ignore_index=True)


def _common(measures: pd.DataFrame) -> int:
    """The largest size that all four schemes ran with."""
    sizes = [set(floats(part, "rows").tolist()) for _, part in groups(measures, ["scheme"])]
    return int(max(set.intersection(*sizes)))


def shrinking(measures: pd.DataFrame) -> pd.DataFrame:
    """CFL's distances by size: RMS over budgets and seeds, and the lines n^-1 and n^-1/2; empty
    where there are no runs for the rates.
    """
    parts = []
    for (world, degree), part in groups(rated(beside(measures)), ["world", "degree"]):
        sizes, name = floats(part, "rows"), f"{in_words(world)}, degree {degree}"
        for panel, distances in zip(PANELS, (floats(part, "below"), _missed(part)), strict=True):
            parts.append(by_size(panel, name, sizes, distances))
    return guided(pd.concat(parts, ignore_index=True), PANELS) if parts else pd.DataFrame()


RATE, DISTANCE = "CFL's learner by sample size", "distance (share of people)"
PICTURES = (
    trade_off("crosscheck-frontier", "Learned rules and the exact frontiers", points),
    by_people("crosscheck-frontier-rate", RATE, DISTANCE, shrinking),
)
