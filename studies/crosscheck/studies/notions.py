"""Equal opportunity, equalised odds, three groups: learned rules against exact optima."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from fairfl.sims.engine import Result
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, optimum
from fairfl.studies.crosscheck.population.learned_rules import Found, from_json
from fairfl.studies.crosscheck.population.supporting_line import supporting_plane
from fairfl.studies.crosscheck.population.worlds import World, by_name, in_words
from fairfl.studies.crosscheck.rates import Rate
from fairfl.studies.crosscheck.runs import CFL, ENSEMBLE, FEDFB, LFT_AVG, Plan
from fairfl.studies.crosscheck.standard_errors import NEAR, OVER
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.told import (
    by_people,
    by_size,
    counted,
    points_of,
    rate_verdict,
    series,
    summary,
    trade_off,
)
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups, loose, rows
from fairfl.theory.populations.notions import Notion

NAME = "notions"
TITLE = "Equal opportunity, equalised odds and three groups below the exact optima"
SEEDS = {"quick": 1, "paper": 4}
SEEN = 2

NOTIONS: tuple[Notion, ...] = ("dp", "eo", "eodds")
TWO, THREE = ("figure-5d", "figure-9d", "random-0"), ("random-0-2-3", "random-1-3-3")
"""Worlds of two groups and of three."""
QUESTIONS = (*product(TWO, NOTIONS[1:]), *product(THREE, NOTIONS))
"""Worlds and notions; parity of two groups is ``frontier``'s."""
SMALL = (*product(TWO[:1], NOTIONS[1:]), *product(THREE[:1], NOTIONS[:1]))
RATED: tuple[tuple[str, Notion], ...] = (
    *product(TWO, NOTIONS[1:2]),
    *product(THREE[:1], NOTIONS[:1]),
    (THREE[1], NOTIONS[1]),
)
"""Questions of the rates."""
EVERYONE = (CFL, ENSEMBLE, LFT_AVG, FEDFB)
SIZES = (500, 1_000, 2_000, 8_000)
BUDGETS = (0.0, 0.1)
FAIR, LOOSE = (f"{v:g}" for v in BUDGETS)
LOST = "below the plane"
TOLD = {"dp": "parity", "eo": "equal opportunity", "eodds": "equalised odds"}


@dataclass(frozen=True)
class NotionPlan(Plan):
    """A run whose rules are measured beside the optima that bound them."""

    def measured(self, result: Result) -> pd.DataFrame:
        """The columns of ``Plan.measured``, and how much more accurate than the rule are:
        ``below``, CFL's optimum at its own disparity; ``LOST``, the plane through CFL's at ε = 0;
        ``below locally``, LFT+FedAvg's optimum at its own local disparities; ``members``, of an
        ensemble, a client's own optimum than its member, the least. ``off``: how far an ensemble's
        disparity is from the exact one's at its budget.
        """
        table = super().measured(result)
        lines = [self._beside(row) for row in table.to_dict("records")]
        return table.assign(**loose(pd.DataFrame(lines, index=table.index)))

    def _beside(self, row: dict[Any, Any]) -> dict[str, Any]:
        world, notion, accuracy = self.world, self.notion, row["accuracy"]
        found = Found.of(from_json(row["rule"]), world.federation, notion)
        plane = supporting_plane(world.federation, found.rates, notion)
        local = optimum(world, "lft_fedavg", np.abs(found.local), notion)
        line = {
            "question": f"{world.name}, {notion}",
            "groups": world.groups,
            "below": optimum(world, "cfl", found.disparity, notion) - accuracy,
            LOST: plane - accuracy,
            "below locally": local - accuracy,
            "members": np.nan,
            "off": np.nan,
        }
        if self.scheme == ENSEMBLE:
            budget = float(row["budget"])
            exact = solve(world.federation, "lft_ensemble", budget, notion=notion).disparity
            line["members"] = self._nearest(json.loads(row["members"]))
            line["off"] = abs(found.disparity - exact)
        return line

    def _nearest(self, members: list[dict[str, Any]]) -> float:
        short = []
        for i, member in enumerate(members):
            own = self.world.alone(i)
            found = Found.of(from_json(member), own.federation, self.notion)
            short.append(optimum(own, "cfl", found.disparity, self.notion) - found.accuracy)
        return float(min(short))


def units(scale: Scale) -> list[Unit]:
    """Quick: three questions, 1,000 people. Paper: twelve, 2,000; CFL of five with four sizes."""
    if not scale.paper:
        return _units(SMALL, EVERYONE, (1_000,), scale.seeds, 40)
    few, less, some, most = SIZES
    found = _units(QUESTIONS, EVERYONE, (some,), scale.seeds)
    return found + _units(RATED, (CFL,), (few, less, most), scale.seeds)


def _units(
    questions: tuple[tuple[str, Notion], ...],
    schemes: tuple[str, ...],
    sizes: tuple[int, ...],
    seeds: int,
    rounds: int | None = None,
) -> list[Unit]:
    each = tuple((budget,) for budget in BUDGETS)
    return [
        NotionPlan(by_name(world), scheme, 1, size, seed, each, rounds, notion=notion).unit()
        for world, notion in questions
        for scheme in schemes
        for size in sizes
        for seed in range(seeds)
    ]


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By notion, groups, scheme, people and budget: rules, what they lose and their disparity."""
    columns = ("below", LOST, "below locally", "disparity", "off")

    def of(part: pd.DataFrame) -> dict[str, Any]:
        return {"rules": len(part)} | {f"{n}, mean": float(floats(part, n).mean()) for n in columns}

    found = summary(measures, ["notion", "groups", "scheme", "rows", "budget"], of)
    return {"points": found.rename(columns={"rows": "people"})}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """Three hard inequalities, and what is learned of several notions and groups."""
    return (
        _bound(
            measures,
            ("below", LOST),
            "below-cfl",
            "No learned rule is more accurate than the exact CFL optimum at its own disparity, nor "
            "above the plane through CFL's optimum at ε = 0.",
        ),
        _bound(
            measures,
            ("below locally",),
            "below-lft-fedavg",
            "None is more accurate than LFT+FedAvg's exact optimum at its own local disparities.",
        ),
        _bound(
            among(measures, "scheme", [ENSEMBLE]),
            ("members",),
            "members-below-their-own",
            "No member of an ensemble is more accurate on its own client's law than that client's "
            "exact optimum at the member's own disparity.",
        ),
        *_speed(measures),
        _fedfb(measures),
        _odds(measures),
        _pairs(measures),
    )


def _bound(found: pd.DataFrame, columns: tuple[str, ...], name: str, asked: str) -> Verdict:
    least = float(np.min([floats(found, column).min() for column in columns]))
    text = f"{_what(found)}: the nearest one is {least:.2g} below"
    return Verdict(name, bool(least >= -TOLERANCE), asked, text, hard=True)


def _rated(found: pd.DataFrame) -> pd.DataFrame:
    """CFL's at ε = 0, of the questions that have several sizes."""
    asked = [f"{world}, {notion}" for world, notion in RATED]
    return among(among(_one_rate(found), "scheme", [CFL]), "question", asked)


def _one_rate(found: pd.DataFrame) -> pd.DataFrame:
    """At ε = 0, of parity and equal opportunity."""
    return among(among(found, "notion", ["dp", "eo"]), "budget", [FAIR])


def _speed(found: pd.DataFrame) -> Iterator[Verdict]:
    """CFL's at ε = 0, where its class contains the optimum."""
    part = _rated(found)

    def said(rate: Rate) -> str:
        return f"{rate}; {rate.told_by_world()}; {_what(part)}"

    asked = (
        "CFL's learner of equal opportunity, and of three groups: at ε = 0 its distance below the "
        "plane shrinks like 1/n."
    )
    yield rate_verdict("plane-rate", asked, 1, part, floats(part, LOST), said, "question")
    asked, apart = "And its disparity like the root of 1/n.", floats(part, "disparity")
    yield rate_verdict("disparity-rate", asked, 0.5, part, apart, said, "question")


def _fedfb(found: pd.DataFrame) -> Verdict:
    """Means over seeds, at the largest size that FedFB ran with."""
    size = floats(among(found, "scheme", [FEDFB]), "rows").max()
    part = among(among(_one_rate(found), "rows", [size]), "scheme", [CFL, FEDFB])
    table = part.pivot_table(index="question", columns="scheme", values=[LOST, "disparity"])
    more = (table[LOST, FEDFB] - table[LOST, CFL]).to_numpy()
    apart = (table["disparity", FEDFB] - table["disparity", CFL]).to_numpy()
    far = [str(name) for name, v in zip(table.index, more, strict=True) if v > NEAR]
    return Verdict(
        "fedfb-near-cfl",
        bool((more <= NEAR).all() and (apart <= OVER).all()),
        f"With ten local steps FedFB is at most {NEAR:g} less accurate than CFL against the plane, "
        f"and its disparity at most {OVER:g} larger, at ε = 0 in the mean over seeds.",
        f"{_what(part)}: {np.median(more):.4f} in the median over questions, at most "
        f"{more.max():.4f} (disparity {apart.max():.4f}); further than that: "
        f"{'; '.join(far) or 'none'}",
    )


def _odds(found: pd.DataFrame) -> Verdict:
    """CFL's at ε = 0 and their largest size; those of one rate with as many people beside."""
    fair = among(among(found, "scheme", [CFL]), "budget", [FAIR])
    part = _largest(among(fair, "notion", ["eodds"]))
    same = among(_one_rate(fair), "rows", part["rows"].tolist())
    mine, others = floats(part, "disparity"), floats(same, "disparity")
    rest = f"those of one rate {others.mean():.3f}" if len(others) else "no others"
    return Verdict(
        "odds-are-kept",
        bool(mine.max() <= 2 * others.max()) if len(mine) and len(others) else None,
        "A learner of equalised odds at ε = 0 leaves no more than twice the largest disparity "
        "that is left by learners of one rate.",
        f"{_what(part)}: {mine.mean():.3f} in the mean, at most {mine.max():.3f}, {rest}; yet it "
        f"is only {floats(part, LOST).mean():.4f} below the plane: it maximises the Lagrangian, "
        "and only a mixture of such rules keeps the budgets"
        if len(mine)
        else "no such runs",
    )


def _pairs(found: pd.DataFrame) -> Verdict:
    """CFL's with three groups at the positive budget."""
    part = _largest(among(among(found, "scheme", [CFL]), "budget", [LOOSE]))
    part = rows(
        among(part, "notion", ["dp", "eo"]),
        floats(among(part, "notion", ["dp", "eo"]), "groups") > 2,
    )
    asked = (
        "With three groups FairBatch's budget |r_a - r_0| <= ε keeps the largest difference of two "
        "groups within ε."
    )
    if not len(part):
        return Verdict("budgets-hold-between-all-pairs", None, asked, "no such runs")
    over = floats(part, "disparity") - float(LOOSE)
    return Verdict(
        "budgets-hold-between-all-pairs",
        bool((over <= OVER).all()),
        asked,
        f"{_what(part)}: {float(LOOSE) + over.max():.3f} at most where ε = {LOOSE}, and "
        f"{floats(part, 'below').mean():.4f} below the frontier in the mean: what it limits is not "
        "what the frontier limits",
    )


def _largest(found: pd.DataFrame) -> pd.DataFrame:
    return (
        rows(found, floats(found, "rows") == floats(found, "rows").max()) if len(found) else found
    )


def _what(found: pd.DataFrame) -> str:
    """Rules, questions, people and seeds."""
    asked, sizes = found[["world", "notion"]].drop_duplicates(), np.unique(floats(found, "rows"))
    span = " to ".join(f"{size:,.0f}" for size in dict.fromkeys((*sizes[:1], *sizes[-1:])))
    return counted(found, f"rules of {len(asked)} worlds and notions, {span} people")


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
        for (scheme,), mine in groups(part, ["scheme"]):
            parts.append(points_of(panel, f"{scheme}, learned", mine))
    return pd.concat(parts, ignore_index=True)


SHOWN = (*SMALL, ("figure-9d", "eo"), ("random-0-2-3", "eo"), ("random-1-3-3", "eodds"))


def curve(world: World, notion: Notion) -> pd.DataFrame:
    """CFL's exact frontier as a series."""
    most = solve(world.federation, "cfl", np.inf, notion=notion).disparity
    x = np.linspace(0, most, 25)
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
