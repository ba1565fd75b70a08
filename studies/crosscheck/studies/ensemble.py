"""LFT+Ensemble: learned against exact points by sample size."""

import json
from functools import cache

import numpy as np
import pandas as pd

from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.frontier_distance import below, exact
from fairfl.studies.crosscheck.population.learned_rules import Performance
from fairfl.studies.crosscheck.population.worlds import World, by_name, in_words
from fairfl.studies.crosscheck.rates import Rate, rate_text, rms
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.table_rows import (
    bound_verdict,
    by_people,
    by_size,
    exact_curve,
    guided,
    points_of,
    rate_verdict,
    series,
    trade_off,
)
from fairfl.studies.crosscheck.training_plan import ENSEMBLE, Plan, spelt
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import floats, groups
from fairfl.theory.populations.classifiers import Classifier

NAME = "ensemble"
TITLE = "LFT+Ensemble's learned points approach its exact frontier"
SEEDS = {"quick": 2, "paper": 10}

WORLDS = ("figure-5a", "figure-5d", "figure-9d", "random-3")
"""The smallest disparities of their exact ensembles are 0.165, 0.508, 0.119 and 0.076."""
SIZES = (500, 2_000, 8_000, 32_000)
PLACES = {"least": 0.0, "middle": 1 / 3}
"""Points of the exact frontier: the smallest disparity, and a third of the way to the largest."""
PANEL = "from the exact point"


def units(scale: Scale) -> list[Unit]:
    """Quick: two worlds, up to 8,000 people; paper: four, up to 32,000."""
    worlds, sizes, rounds = ("figure-5a", "random-3"), SIZES[:-1], 50
    if scale.paper:
        worlds, sizes, rounds = WORLDS, SIZES, None
    return [
        Plan(world, ENSEMBLE, 1, size, seed, tuple(targets(world).values()), rounds).unit()
        for world in map(by_name, worlds)
        for size in sizes
        for seed in range(scale.seeds)
    ]


@cache
def targets(world: World) -> dict[str, tuple[float, ...]]:
    """The clients' budgets at ``PLACES`` of the exact frontier, to five digits (1: no limit)."""
    curve = exact(world, "lft_ensemble")
    indices = {name: round(place * (len(curve.disparity) - 1)) for name, place in PLACES.items()}
    return {name: tuple(round(float(v), 5) for v in curve.eps[k]) for name, k in indices.items()}


@cache
def aim(world: World, budget: str) -> tuple[float, float]:
    """Accuracy and MD, with its sign, of the exact ensemble whose clients have these budgets."""
    solution = solve(world.federation, "lft_ensemble", [float(v) for v in budget.split()])
    return solution.accuracy, solution.mean_difference


def beside(measures: pd.DataFrame) -> pd.DataFrame:
    """The measures with ``place`` and ``off``, the distance in (MD, accuracy) from the exact
    ensemble of the same budgets.
    """
    places, distances = [], []
    for row in measures.to_dict("records"):
        world, budget = by_name(row["world"]), row["budget"]
        names = {spelt(eps): name for name, eps in targets(world).items()}
        accuracy, difference = aim(world, budget)
        places.append(names[budget])
        missed = row["accuracy"] - accuracy, row["difference"] - difference
        distances.append(float(np.hypot(*missed)))
    return measures.assign(place=places, off=distances)


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables by world, place and size: distance, MD missed (RMS), accuracy missed; and rates."""
    lines, speeds = [], []
    for (world, place, budget), of_budget in groups(beside(measures), ["world", "place", "budget"]):
        accuracy, difference = aim(by_name(world), budget)
        key = {"world": world, "place": place}
        for (size,), part in groups(of_budget, ["rows"]):
            line = {"people": size, "distance": rms(floats(part, "off"))}
            line |= {"MD exact": difference, "accuracy exact": accuracy}
            line |= {"MD missed": rms(floats(part, "difference") - difference)}
            line |= {"accuracy missed": float(floats(part, "accuracy").mean()) - accuracy}
            lines.append(key | line)
        rate = rate_text(
            Rate.of(floats(of_budget, "rows"), floats(of_budget, "off"), of_budget["world"])
        )
        speeds.append(key | {"seeds": of_budget["seed"].nunique(), "distance": rate})
    return {"points": pd.DataFrame(lines), "rates": pd.DataFrame(speeds)}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """A hard one of the members, and the ensembles' rate."""
    compared = beside(measures)
    return (
        bound_verdict(
            "members-below-their-own-frontier",
            "No member is more accurate on its own client than that client's exact optimum at the "
            "member's own |MD_i|.",
            compared,
            _members(compared),
        ),
        rate_verdict(
            "ensemble-rate",
            "The distance of LFT+Ensemble from its exact point shrinks like the root of 1/n.",
            0.5,
            compared,
            floats(compared, "off"),
        ),
    )


def _members(compared: pd.DataFrame) -> list[float]:
    """How far each member is, on its own client, below that client's own frontier."""
    distances: list[float] = []
    for (name,), part in groups(compared, ["world"]):
        world = by_name(name)
        for i in range(world.clients):
            world_of_client = world.alone(i)
            texts = [members[i] for members in map(json.loads, part["members"])]
            rules = [
                Performance.of(Classifier.from_json(text), world_of_client.federation)
                for text in texts
            ]
            worth = (
                [measures.disparity for measures in rules],
                [measures.accuracy for measures in rules],
            )
            distances += below(world_of_client, *worth).tolist()
    return distances


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """The exact ensembles' frontier and points, CFL's above, and the learned points by size."""
    parts = []
    for (name,), of_world in groups(beside(measures), ["world"]):
        panel = in_words(name)
        for scheme in ("cfl", "lft_ensemble"):
            parts.append(exact_curve(by_name(name), scheme).assign(panel=panel))
        for (size,), part in groups(of_world, ["rows"]):
            parts.append(points_of(panel, f"{size:,} people", part))
        aims = [aim(by_name(name), budget) for budget in dict.fromkeys(of_world["budget"])]
        x, y = [abs(md) for _, md in aims], [accuracy for accuracy, _ in aims]
        parts.append(series(panel, "exact, of the same budgets", "points", x, y))
    return pd.concat(parts, ignore_index=True)


def shrinking(measures: pd.DataFrame) -> pd.DataFrame:
    """The distance by size, a curve per world and place; n^-1/2."""
    parts = [
        by_size(
            PANEL, f"{in_words(world)}, {place}", floats(of_place, "rows"), floats(of_place, "off")
        )
        for (world, place), of_place in groups(beside(measures), ["world", "place"])
    ]
    return guided(pd.concat(parts, ignore_index=True), {PANEL: -0.5})


RATE = "How far LFT+Ensemble is from its exact point"
PICTURES = (
    trade_off("crosscheck-ensemble", "LFT+Ensemble, learned and exact", points),
    by_people("crosscheck-ensemble-rate", RATE, "distance (difference of rates)", shrinking),
)
