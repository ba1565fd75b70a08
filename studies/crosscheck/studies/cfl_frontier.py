"""Learned rules against the exact CFL frontier: none above it; CFL's distance by size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.solvers.schemes import LABELS
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, below, exact
from fairfl.studies.crosscheck.population.worlds import by_name, in_words
from fairfl.studies.crosscheck.rates import Rate, rms, told
from fairfl.studies.crosscheck.runs import BOXED, CFL, ENSEMBLE, FEDFB, LFT_AVG, Plan
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.told import (
    by_people,
    by_size,
    exact_curve,
    points_of,
    rate_verdict,
    series,
    trade_off,
)
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups, rows

NAME = "frontier"
TITLE = "Learned rules of four schemes below the exact CFL frontier"
SEEDS = {"quick": 1, "paper": 4}
SEEN = 2

EVERYONE = (CFL, ENSEMBLE, LFT_AVG, FEDFB)
BUDGETS = (0.0, 0.05, 0.15, 0.4)
FIGURES = tuple(f"figure-{number}{panel}" for number in (5, 9) for panel in "abcd")
RANDOM = tuple(f"random-{seed}" for seed in range(6))
SHOWN = ("figure-5a", "figure-5d", "figure-9d", "random-0")
"""Of the picture and of the rates."""
RATED = (0.1, 0.2)
"""Budgets whose rate is measured: not 0, where |MD| has a kink."""
SIZES = (250, 1_000, 4_000, 16_000)
FAR = 0.05
"""Rules whose accuracy is this far below all the curves are counted in the picture, not drawn."""


def units(scale: Scale) -> list[Unit]:
    """Quick: two worlds, 1,000 people. Paper: 14 worlds, up to 100,000; CFL for the rates."""
    plans = _paper(scale.seeds) if scale.paper else _quick(scale.seeds)
    return [plan.unit() for plan in plans]


def _quick(seeds: int) -> list[Plan]:
    worlds, budgets = ("figure-5d", "random-0"), (0.0, 0.15)
    plans = _plans(worlds, EVERYONE, (1, 5), 1_000, range(seeds), budgets, 50)
    plans += _plans(("random-0",), (BOXED,), (1,), 1_000, range(seeds), budgets, 50)
    for size in (250, 1_000, 4_000):
        plans += _plans(worlds, (CFL,), (1,), size, range(seeds), RATED, 50)
    return plans


def _paper(seeds: int) -> list[Plan]:
    each = range(seeds)
    plans = _plans(FIGURES + RANDOM, EVERYONE, (1,), 1_000, each, BUDGETS)
    plans += _plans(("figure-5d", "figure-9d", "random-0"), EVERYONE, (5,), 1_000, each, BUDGETS)
    plans += _plans(("figure-9d",), EVERYONE, (7,), 1_000, each, BUDGETS)
    plans += _plans(RANDOM, (BOXED,), (1,), 1_000, each, BUDGETS)
    plans += _plans(("figure-5d",), (CFL,), (1,), 100_000, each, RATED[:1])
    for size in SIZES:
        plans += _plans(SHOWN, (CFL,), (1,), size, each, RATED)
    return plans


def _plans(
    worlds: tuple[str, ...],
    schemes: tuple[str, ...],
    degrees: tuple[int, ...],
    size: int,
    seeds: range,
    budgets: tuple[float, ...],
    rounds: int | None = None,
) -> list[Plan]:
    each = tuple((budget,) for budget in budgets)
    return [
        Plan(by_name(world), scheme, degree, size, seed, each, rounds)
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
        mine = where == name
        part = rows(measures, mine)
        short[mine] = below(by_name(name), floats(part, "disparity"), floats(part, "accuracy"))
    return measures.assign(below=short)


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By scheme, degree, size: rules, how far below (mean, least), their mean |MD|; rates."""
    found = beside(measures)
    lines = [
        {
            "scheme": scheme,
            "degree": degree,
            "people": size,
            "rules": len(part),
            "below, mean": float(floats(part, "below").mean()),
            "below, least": float(floats(part, "below").min()),
            "|MD|, mean": float(floats(part, "disparity").mean()),
        }
        for (scheme, degree, size), part in groups(found, ["scheme", "degree", "rows"])
    ]
    return {"points": pd.DataFrame(lines), "rates": _rates(found)}


def rated(found: pd.DataFrame) -> pd.DataFrame:
    """CFL's rows with one of the budgets of the rates."""
    return among(among(found, "scheme", [CFL]), "budget", [f"{v:g}" for v in RATED])


def _rates(found: pd.DataFrame) -> pd.DataFrame:
    lines = []
    for (world, degree), part in groups(rated(found), ["world", "degree"]):
        sizes = floats(part, "rows")
        short, over = (
            told(Rate.of(sizes, d, part["world"])) for d in (floats(part, "below"), _missed(part))
        )
        line = {"world": world, "degree": degree, "people": int(sizes.max()), "below": short}
        lines.append(line | {"||MD| - ε|": over})
    return pd.DataFrame(lines)


def _missed(part: pd.DataFrame) -> Array:
    """How far |MD| is from its budget, or from the free optimum's where that is within it."""
    most = np.array([exact(by_name(name)).disparity[-1] for name in part["world"]])
    return np.abs(
        floats(part, "disparity") - np.minimum(np.asarray(part["budget"], dtype=float), most)
    )


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, and three soft ones."""
    found = beside(measures)
    return _bound(found), *_speed(found), _clipped(found)


def _bound(found: pd.DataFrame) -> Verdict:
    short = floats(found, "below")
    least = float(short.min())
    worlds, sizes = found["world"].nunique(), floats(found, "rows")
    text = (
        f"{len(found)} rules of {worlds} worlds, {found['scheme'].nunique()} schemes, degrees "
        f"{_list(found, 'degree')}, {sizes.min():,.0f} to {sizes.max():,.0f} people, seeds "
        f"{_list(found, 'seed')}: the nearest one is {least:.2g} below its frontier"
    )
    return Verdict(
        "below-cfl-frontier",
        bool(least >= -TOLERANCE),
        "No learned rule is more accurate than the exact CFL optimum at its own |MD|.",
        text,
        hard=True,
    )


def _speed(found: pd.DataFrame) -> Iterator[Verdict]:
    part = among(rated(found), "degree", [1])
    sizes = floats(part, "rows")
    for name, asked, distances, power in (
        (
            "cfl-regret-rate",
            "CFL's learner, its class containing the optimum: its distance below the frontier "
            "shrinks like 1/n.",
            floats(part, "below"),
            1,
        ),
        (
            "cfl-budget-rate",
            "And its |MD| misses the budget by the order of the root of 1/n.",
            _missed(part),
            0.5,
        ),
    ):

        def said(rate: Rate, distances: Array = distances) -> str:
            most = max(rate.sizes)
            return (
                f"{rate}, over {min(rate.sizes):,.0f} to {most:,.0f} people, seeds "
                f"{_list(part, 'seed')}, degree 1; {rate.told_by_world()}; at {most:,.0f}: "
                f"{rms(distances[sizes == most]):.2g}"
            )

        yield rate_verdict(name, asked, power, part, distances, said)


def _clipped(found: pd.DataFrame) -> Verdict:
    """Runs on the same samples with and without the plane."""
    keys = ["world", "rows", "seed", "budget", "degree"]
    clipped, plane = (among(found, "scheme", [scheme]) for scheme in (BOXED, CFL))
    pairs = clipped.merge(plane, on=keys, suffixes=("", "_plane"))
    asked = (
        "FairBatch with λ clipped to the box of FedFB's (6) ends as near to the frontier as "
        "with λ on the plane."
    )
    if len(pairs) == 0:
        return Verdict("clipped-multipliers", None, asked, "no such runs")
    more = floats(pairs, "below") - floats(pairs, "below_plane")
    worst = int(np.argmax(more))
    said = pairs.iloc[worst]
    text = (
        f"of {len(pairs)} runs on {pairs['world'].nunique()} random worlds, "
        f"{int((more > 1e-3).sum())} end more than 0.001 further below; the worst, "
        f"{said['world']} with budget {said['budget']}, is {more[worst]:.3f} less accurate at "
        f"|MD| {said['disparity']:.3f}"
    )
    return Verdict("clipped-multipliers", bool((more <= 1e-3).all()), asked, text)


def _list(found: pd.DataFrame, column: str) -> str:
    return ", ".join(f"{v:g}" for v in np.unique(floats(found, column)))


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """Three exact frontiers a world, and the largest sample's rules: panel, series, kind, x, y."""
    parts = []
    for (world,), found in groups(among(measures, "world", SHOWN), ["world"]):
        four = among(among(found, "degree", [1]), "scheme", EVERYONE)
        size = _common(four)
        shown = among(four, "rows", [size])
        curves = [exact_curve(by_name(world), scheme) for scheme in LABELS]
        far = floats(shown, "accuracy") < min(float(floats(one, "y").min()) for one in curves) - FAR
        panel = f"{in_words(world)}, {size:,} people" + (
            f" ({far.sum()} far below)" if far.any() else ""
        )
        parts += [one.assign(panel=panel) for one in curves]
        for (scheme,), part in groups(rows(shown, ~far), ["scheme"]):
            parts.append(points_of(panel, f"{scheme}, learned", part))
    return pd.concat(parts, ignore_index=True)


def _common(found: pd.DataFrame) -> int:
    """The largest size that all four schemes ran with."""
    sizes = [set(floats(part, "rows").tolist()) for _, part in groups(found, ["scheme"])]
    return int(max(set.intersection(*sizes)))


def shrinking(measures: pd.DataFrame) -> pd.DataFrame:
    """CFL's distances by size: RMS over budgets and seeds, and the lines n^-1 and n^-1/2."""
    part = rated(beside(measures))
    parts = []
    for (world, degree), mine in groups(part, ["world", "degree"]):
        sizes, name = floats(mine, "rows"), f"{in_words(world)}, degree {degree}"
        parts.append(by_size("below the frontier", name, sizes, floats(mine, "below")))
        parts.append(by_size("from the budget", name, sizes, _missed(mine)))
    table = pd.concat(parts, ignore_index=True)
    guides = []
    for panel, power in (("below the frontier", -1.0), ("from the budget", -0.5)):
        mine = among(table, "panel", [panel])
        x = np.unique(floats(mine, "x"))
        level = float(
            np.exp(np.mean(np.log(floats(mine, "y")) - power * np.log(floats(mine, "x"))))
        )
        guides.append(series(panel, f"n^{power:g}", "line", x, level * x**power))
    order = pd.concat([table, *guides], ignore_index=True)
    return order.sort_values("panel", kind="stable", ignore_index=True)


RATE, DISTANCE = "CFL's learner by sample size", "distance (share of people)"
PICTURES = (
    trade_off("crosscheck-frontier", "Learned rules and the exact frontiers", points),
    by_people("crosscheck-frontier-rate", RATE, DISTANCE, shrinking),
)
