r"""FedFB with some of its clients in each round: how far it stands from CFL, which has everybody.

Reports of those who are present stand for all (``FedFB``), so that λ moves by an estimate of the
disparity. Steps of λ fall like 1/t, so the noise of the draws averages out of λ; the model is the
average of those who trained last, and keeps the noise of its last rounds.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from fairfl.studies.crosscheck.population.worlds import spread
from fairfl.studies.crosscheck.runs import CFL, FEDFB
from fairfl.studies.crosscheck.standard_errors import NEAR, OVER
from fairfl.studies.crosscheck.studies.fedfb_gap_runs import GapPlan
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.crosscheck.told import counted, series, summary
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups

NAME = "clients-away"
TITLE = "FedFB with some of 20 clients in each round, against CFL"
SEEDS = {"quick": 1, "paper": 5}
SEEN = 2

WORLDS = {"alike": spread(20, 0.0, 0.0), "apart": spread(20, 1.5, 0.2)}
"""Clients of two laws that alternate; and with centres and shares of their own."""
PRESENT = (2, 5, 10, 20)
ROWS, ROUNDS = (2_000, 4_000), (40, 100)
FRONTIER = 1e-9
HALF = 10
"""Of the clients: with so many present FedFB is held against CFL."""


def units(scale: Scale) -> list[Unit]:
    """FedFB with 2 to 20 clients present, and CFL, on the same samples."""
    rows, rounds = ROWS[scale.paper], ROUNDS[scale.paper]
    plans = []
    for world in WORLDS.values():
        for seed in range(scale.seeds):
            common = (1, rows, seed, ((0.0,),), rounds)
            plans.append(GapPlan(world, CFL, *common))
            plans += [GapPlan(world, FEDFB, *common, present=count) for count in PRESENT]
    return [plan.unit() for plan in plans]


def lost(measures: pd.DataFrame) -> pd.DataFrame:
    """With ``lost``, the accuracy below CFL's supporting line, and the world in words."""
    names = {world.name: told for told, world in WORLDS.items()}
    told = [names[name] for name in measures["world"]]
    return measures.assign(
        lost=floats(measures, "line") - floats(measures, "accuracy"), clients=told
    )


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By world, scheme and clients present: accuracy lost, and |MD|, on the population."""

    def of(part: pd.DataFrame) -> dict[str, Any]:
        loss, gap = floats(part, "lost"), floats(part, "disparity")
        return {"seeds": len(part), "lost, mean": float(loss.mean()), "lost, most": loss.max()} | {
            "|MD|, mean": float(gap.mean()),
            "|MD|, most": gap.max(),
        }

    return {"away": summary(lost(measures), ["clients", "scheme", "present"], of)}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The line, which nothing exceeds; and how far FedFB is from CFL with half of the clients."""
    found = lost(measures)
    least = float(floats(found, "lost").min())
    return (
        Verdict(
            "below-the-line",
            bool(least >= -FRONTIER),
            True,
            "No rule is above the line through CFL's exact optimum.",
            f"{_what(found)}: the nearest one is {least:.2g} below",
        ),
        _near(found),
        _more(found),
    )


def _means(found: pd.DataFrame, column: str) -> pd.DataFrame:
    """Over seeds: worlds by clients present, and CFL's beside it."""
    fed = among(found, "scheme", [FEDFB])
    table = fed.pivot_table(index="clients", columns="present", values=column)
    return table.assign(cfl=among(found, "scheme", [CFL]).groupby("clients")[column].mean())


def _near(found: pd.DataFrame) -> Verdict:
    more, apart = (
        (table[HALF] - table["cfl"]).to_numpy()
        for table in (_means(found, "lost"), _means(found, "disparity"))
    )
    return Verdict(
        "half-of-the-clients-do",
        bool((more <= NEAR).all() and (apart <= OVER).all()),
        False,
        f"With {HALF} of 20 clients in a round FedFB loses at most {NEAR:g} more accuracy than "
        f"CFL, and its |MD| is at most {OVER:g} larger, in the mean over seeds.",
        f"{_what(found)}: {more.max():.4f} more lost, |MD| {apart.max():+.4f}, at most",
    )


def _more(found: pd.DataFrame) -> Verdict:
    loss, gap = _means(found, "lost"), _means(found, "disparity")
    few, all_ = PRESENT[0], PRESENT[-1]
    text = "; ".join(
        f"{name}: lost {loss.loc[name, few]:.4f} with {few} and {loss.loc[name, all_]:.4f} with "
        f"{all_}, |MD| {gap.loc[name, few]:.3f} and {gap.loc[name, all_]:.3f}"
        for name in loss.index
    )
    return Verdict(
        "fewer-clients-cost-more",
        bool((loss[few] > loss[all_]).all()),
        False,
        f"FedFB loses more accuracy with {few} clients in a round than with all.",
        text,
    )


def _what(found: pd.DataFrame) -> str:
    return counted(found, f"rules, {floats(found, 'rows').max():,.0f} people")


def falling(measures: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, by clients present; the range over seeds as bars; CFL as a line."""
    parts, found = [], lost(measures)
    for label, column in (("accuracy lost", "lost"), ("|MD|", "disparity")):
        for (told,), part in groups(found, ["clients"]):
            panel = f"{label}, clients {told}"
            fed, central = (among(part, "scheme", [scheme]) for scheme in (FEDFB, CFL))
            table = fed.groupby("present")[column].agg(["mean", "min", "max"]).reset_index()
            x, y, low, high = (floats(table, name) for name in ("present", "mean", "min", "max"))
            parts.append(series(panel, FEDFB, "points", x, y, low=low, high=high))
            level = float(floats(central, column).mean())
            parts.append(series(panel, CFL, "line", [PRESENT[0], PRESENT[-1]], [level] * 2))
    return pd.concat(parts, ignore_index=True)


PICTURES = (
    Drawing(
        "crosscheck-clients-away",
        "FedFB with some of 20 clients in each round (mean and range over seeds)",
        "clients in a round",
        "share of people",
        falling,
        "x",
    ),
)
