"""LFT+Ensemble: learned against exact points by sample size, and the smallest disparity."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.ensemble_error import missed
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, below, exact
from fairfl.studies.crosscheck.population.learned_rules import Found, from_json
from fairfl.studies.crosscheck.population.worlds import World, by_name, in_words
from fairfl.studies.crosscheck.rates import Rate, rms, told
from fairfl.studies.crosscheck.runs import ENSEMBLE, Plan, spelt
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.told import (
    by_people,
    exact_curve,
    points_of,
    rate_verdict,
    series,
    trade_off,
)
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups

NAME = "ensemble"
TITLE = "LFT+Ensemble's learned points approach its exact frontier"
SEEDS = {"quick": 2, "paper": 10}
SEEN = 4

WORLDS = ("figure-5a", "figure-5d", "figure-9d", "random-3")
"""The smallest disparities of their ensembles are 0.165, 0.508, 0.119 and 0.076."""
SIZES = (500, 2_000, 8_000, 32_000)
PLACES = {"least": 0.0, "middle": 1 / 3}
"""Budgets' places on the exact frontier: the smallest disparity, a third to the largest."""


def units(scale: Scale) -> list[Unit]:
    """Quick: two worlds, up to 8,000 people; paper: four, up to 32,000 (degree 5: 8,000)."""
    plans = []
    for name in WORLDS if scale.paper else ("figure-5a", "random-3"):
        kinds = [(1, SIZES if scale.paper else SIZES[:-1], scale.seeds)]
        kinds += (
            [(5, SIZES[:-1], min(2, scale.seeds))]
            if scale.paper and name.startswith("figure-5")
            else []
        )
        budgets = tuple(targets(by_name(name)).values())
        plans += [
            Plan(by_name(name), ENSEMBLE, degree, size, seed, budgets, None if scale.paper else 50)
            for degree, sizes, seeds in kinds
            for size in sizes
            for seed in range(seeds)
        ]
    return [plan.unit() for plan in plans]


@cache
def targets(world: World) -> dict[str, tuple[float, ...]]:
    """The clients' budgets at ``PLACES`` of the exact frontier, to five digits (1: no limit)."""
    curve = exact(world, "lft_ensemble")
    at = {name: round(place * (len(curve.disparity) - 1)) for name, place in PLACES.items()}
    return {name: tuple(round(float(v), 5) for v in curve.eps[k]) for name, k in at.items()}


@cache
def aim(world: World, budget: str) -> tuple[float, float]:
    """Accuracy and MD, with its sign, of the exact ensemble whose clients have these budgets."""
    found = solve(world.federation, "lft_ensemble", [float(v) for v in budget.split()])
    return found.accuracy, found.mean_difference


def beside(measures: pd.DataFrame) -> pd.DataFrame:
    """The measures with ``place``, ``off``, ``short``, ``own`` and ``others``.

    ``off`` is the distance in (MD, accuracy) from the exact ensemble of the same budgets. ``short``
    is how far |MD| is below the smallest disparity that ensembles of fair clients reach, 0 where it
    is not. ``own`` and ``others`` are the MD missed on the people of each member's own client, and
    on those of the others.
    """
    place, off, short, parts = [], [], [], []
    for row in measures.to_dict("records"):
        world, budget = by_name(row["world"]), row["budget"]
        names = {spelt(eps): name for name, eps in targets(world).items()}
        accuracy, difference = aim(world, budget)
        place.append(names[budget])
        off.append(float(np.hypot(row["accuracy"] - accuracy, row["difference"] - difference)))
        short.append(max(0.0, float(exact(world, "lft_ensemble").disparity[0]) - row["disparity"]))
        members = [from_json(member) for member in json.loads(row["members"])]
        parts.append(missed(world, members, tuple(float(v) for v in budget.split())))
    own, others = np.array(parts).reshape(-1, 2).T
    return measures.assign(place=place, off=off, short=short, own=own, others=others)


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By world, place, degree, size: distance, MD missed (RMS), accuracy missed; and rates."""
    found, lines, speeds = beside(measures), [], []
    for (world, place, degree, budget), mine in groups(
        found, ["world", "place", "degree", "budget"]
    ):
        accuracy, difference = aim(by_name(world), budget)
        key = {"world": world, "place": place, "degree": degree}
        for (size,), part in groups(mine, ["rows"]):
            line = {"people": size, "distance": rms(floats(part, "off"))}
            line |= {"MD exact": difference, "accuracy exact": accuracy}
            line |= {"MD missed": rms(floats(part, "difference") - difference)}
            line |= {
                "on own people": rms(floats(part, "own")),
                "on others'": rms(floats(part, "others")),
            }
            line |= {"accuracy missed": float(floats(part, "accuracy").mean()) - accuracy}
            lines.append(key | line)
        rate = told(Rate.of(floats(mine, "rows"), floats(mine, "off"), mine["world"]))
        speeds.append(key | {"seeds": mine["seed"].nunique(), "distance": rate})
    return {"points": pd.DataFrame(lines), "rates": pd.DataFrame(speeds)}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """A hard one of the members; of ensembles the rate, its cause, the smallest disparity."""
    found = beside(measures)
    return _members(found), *_rates(found), _cause(found), _least(found)


def _members(found: pd.DataFrame) -> Verdict:
    """Each member on its own client, below that client's own frontier."""
    each: list[Array] = []
    for (name,), part in groups(found, ["world"]):
        world = by_name(name)
        for i in range(world.clients):
            own = world.alone(i)
            rules = [
                Found.of(from_json(members[i]), own.federation)
                for members in map(json.loads, part["members"])
            ]
            each.append(
                below(own, [one.disparity for one in rules], [one.accuracy for one in rules])
            )
    short = np.concatenate(each)
    worst = float(short.min())  # NaN where one is, which is no bound
    return Verdict(
        "members-below-their-own-frontier",
        bool(worst >= -TOLERANCE),
        "No member is more accurate on its own client than that client's exact optimum at the "
        "member's own |MD_i|.",
        f"{short.size} members of {len(found)} ensembles: the nearest one is {worst:.2g} below",
        hard=True,
    )


def _rates(found: pd.DataFrame) -> Iterator[Verdict]:
    part = among(found, "degree", [1])
    sizes = floats(part, "rows")
    for name, column, asked in (
        (
            "ensemble-rate",
            "off",
            "The distance of LFT+Ensemble from its exact point shrinks like the root of 1/n.",
        ),
        (
            "own-people-rate",
            "own",
            "What it misses of MD on each member's own people shrinks like the root of 1/n.",
        ),
    ):
        missed = floats(part, column)

        def said(rate: Rate, missed: Array = missed) -> str:
            last = f"with {sizes.max():,.0f} people {rms(missed[sizes == sizes.max()]):.2g}"
            return f"{rate}; {rate.told_by_world()}; {_said(part, sizes)}; {last}"

        yield rate_verdict(name, asked, 0.5, part, missed, said)


def _cause(found: pd.DataFrame) -> Verdict:
    asked = (
        "Small samples miss the exact MD more on the people of other clients than on each "
        "member's own."
    )
    part = among(found, "degree", [1])
    sizes, own, others = (floats(part, name) for name in ("rows", "own", "others"))
    told = ", ".join(
        f"{rms(own[sizes == n]):.2g} and {rms(others[sizes == n]):.2g} with {n:,.0f} people"
        for n in np.unique(sizes)
    )
    small = sizes == sizes.min()
    holds = rms(others[small]) > rms(own[small])
    return Verdict(
        "members-elsewhere", holds, asked, f"own and others': {told}; {_said(part, sizes)}"
    )


def _least(found: pd.DataFrame) -> Verdict:
    asked = (
        "Learned ensembles are no fairer than the smallest exact disparity of ensembles "
        "allows, but for 0.01."
    )
    part = among(among(found, "place", ["least"]), "degree", [1])
    sizes, short = floats(part, "rows"), floats(part, "short")
    told = ", ".join(
        f"{int((short[sizes == n] > 0.01).sum())} of {int((sizes == n).sum())} with {n:,.0f} "
        f"people, by at most {short[sizes == n].max():.2g}"
        for n in np.unique(sizes)
    )
    text = f"more than 0.01 below it are {told}; {_said(part, sizes)}"
    return Verdict("smallest-disparity", bool((short <= 0.01).all()), asked, text)


def _said(part: pd.DataFrame, sizes: Array) -> str:
    return (
        f"{sizes.min():,.0f} to {sizes.max():,.0f} people, {part['world'].nunique()} worlds, "
        f"{part['seed'].nunique()} seeds"
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """The exact ensembles' frontier and points, CFL's above, and the learned points by size."""
    found, parts = among(beside(measures), "degree", [1]), []
    for (name,), mine in groups(found, ["world"]):
        panel = in_words(name)
        for scheme in ("cfl", "lft_ensemble"):
            parts.append(exact_curve(by_name(name), scheme).assign(panel=panel))
        for (size,), part in groups(mine, ["rows"]):
            parts.append(points_of(panel, f"{size:,} people", part))
        aims = [aim(by_name(name), budget) for budget in dict.fromkeys(mine["budget"])]
        x, y = [abs(md) for _, md in aims], [accuracy for accuracy, _ in aims]
        parts.append(series(panel, "exact, of the same budgets", "points", x, y))
    return pd.concat(parts, ignore_index=True)


def shrinking(measures: pd.DataFrame) -> pd.DataFrame:
    """The distance and the missed MD's two parts by size, a curve a world and place; n^-1/2."""
    found, parts = among(beside(measures), "degree", [1]), []
    for column, panel in (
        ("off", "from the exact point"),
        ("own", "MD, own people"),
        ("others", "MD, others' people"),
    ):
        x, levels = np.unique(floats(found, "rows")), []
        for (world, place), mine in groups(found, ["world", "place"]):
            sizes = floats(mine, "rows")
            y = np.array([rms(floats(mine, column)[sizes == n]) for n in x])
            levels.append(np.log(y * np.sqrt(x)).mean())
            parts.append(series(panel, f"{in_words(world)}, {place}", "path", x, y))
        guide = np.exp(np.mean(levels)) / np.sqrt(x)
        parts.append(series(panel, "n^-0.5", "line", x, guide))
    return pd.concat(parts, ignore_index=True)


RATE = "How far LFT+Ensemble is from its exact point, and on whose people"
PICTURES = (
    trade_off("crosscheck-ensemble", "LFT+Ensemble, learned and exact", points),
    by_people("crosscheck-ensemble-rate", RATE, "distance (difference of rates)", shrinking),
)
