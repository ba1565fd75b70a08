r"""The gap between FedFB and CFL, by heterogeneity, clients, bits, local steps and people.

Where the clients share a logistic η, all of them have the same minimiser z_a = x + log((2 - ρ_a) /
ρ_a) at a λ that they share, so averages of their minimisers are it, too: on the population FedFB is
CFL with one local step and with local training to its end. What is left is sampling, steps in
between, and η that differ by client.

Accuracies are compared with the supporting line of CFL's optimum
(``population/supporting_line.py``). At equal \|MD\|, as this study first did, a rule seems to lose
accuracy where its MD is on the other side of 0.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfl.studies.crosscheck.population.supporting_line import turn
from fairfl.studies.crosscheck.runs import ALPHA, CFL, FEDFB
from fairfl.studies.crosscheck.standard_errors import NEAR, OVER, PEOPLE
from fairfl.studies.crosscheck.studies.fedfb_gap_runs import BOUND, plans, setups
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.crosscheck.told import series
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import Frame, loose

NAME = "fedfb-gap"
TITLE = (
    "How far FedFB stands from CFL, learned and exact: heterogeneity, clients, bits, local "
    "steps, people"
)
SEEDS = {"quick": 1, "paper": 8}
SEEN = 2

AXES = {
    "distance": "distance of centres, in sd",
    "shares": "spread of P(a = 1 | i)",
    "concept": "spread of log odds",
    "clients": "clients",
    "local steps": "local steps a round",
    "bits": "bits a number",
    "people": "people",
}
FRONTIER, ROUNDING = 1e-9, 1e-6
ROUNDS = {True: 100, False: 60}
"""Steps of λ, at the paper profile and quick."""


def units(scale: Scale) -> list[Unit]:
    """FedFB and CFL at every point of every axis, a seed a sample; shared points run once."""
    found = {
        plan.name: plan.unit()
        for setup in setups(scale.paper)
        for seed in range(scale.seeds)
        for plan in plans(setup, seed, ROUNDS[scale.paper])
    }
    return list(found.values())


def pairs(measures: Frame) -> Frame:
    """A row a point of an axis and seed: FedFB's and CFL's figures side by side."""
    parts, keys = [], ["world", "rows", "seed", "steps"]
    central = measures[measures["scheme"] == CFL].drop_duplicates(keys)
    for setup in setups(_paper(measures)):
        own = measures[
            (measures["scheme"] == FEDFB)
            & (measures["world"] == setup.world.name)
            & (measures["rows"] == setup.rows)
            & (measures["steps"] == setup.steps)
            & (measures["bits"] == (setup.bits or 0))
        ]
        both = own.merge(
            central[[*keys, "accuracy", "disparity", "best", "line", "sample", "rule"]],
            on=keys,
            suffixes=("", "_cfl"),
        )
        parts.append(both.assign(along=setup.axis, value=setup.value, clients=setup.world.clients))
    found = loose(pd).concat(parts, ignore_index=True)
    found["gap"] = found["best"] - found["accuracy"]
    found["gap_cfl"] = found["best_cfl"] - found["accuracy_cfl"]
    found["lost"] = found["line"] - found["accuracy"]
    found["lost_cfl"] = found["line_cfl"] - found["accuracy_cfl"]
    found["behind"] = found["lost"] - found["lost_cfl"]
    found["unfair"] = found["disparity"] - found["disparity_cfl"]
    return found


def _paper(measures: Frame) -> bool:
    return bool(measures["rows"].max() > 2_000)


def tables(measures: Frame) -> dict[str, pd.DataFrame]:
    """By axis and value: mean and standard deviation over seeds."""
    found = pairs(measures)
    columns = [
        "lost",
        "lost_cfl",
        "behind",
        "gap",
        "gap_cfl",
        "disparity",
        "disparity_cfl",
        "unfair",
        "sample",
        "sample_cfl",
    ]
    grouped = found.groupby(["along", "value"], sort=False)[columns]
    mean, deviation = grouped.mean(), grouped.std(ddof=1).add_suffix("_sd")
    order = [name for column in columns for name in (column, f"{column}_sd")]
    return {"gap": mean.join(deviation)[order].reset_index()}


def verdicts(measures: Frame) -> tuple[Verdict, ...]:
    """See each statement."""
    found = pairs(measures)
    seeds = f"{found['seed'].nunique()} seeds"
    return (
        _bound(found),
        _one(found),
        _same(found, seeds),
        _clients(found, seeds),
        _bits(found, seeds, ROUNDS[_paper(measures)]),
        _concept(found, seeds),
    )


def _one(found: Frame) -> Verdict:
    some = found[found["steps"] == 1]
    apart = np.maximum(
        (some["accuracy"] - some["accuracy_cfl"]).abs(), some["unfair"].abs()
    ).to_numpy()
    away = float(apart.max()) if apart.size else np.nan
    return Verdict(
        "one-step-is-cfl",
        bool(away < ROUNDING) if len(some) else None,
        "With one local step a round the average of the clients' steps is the step on all "
        "people: FedFB is CFL.",
        f"{len(some)} pairs of runs: accuracy and |MD| within {away:.1e}",
        hard=True,
    )


def _bound(found: Frame) -> Verdict:
    gaps = found[["gap", "gap_cfl", "lost", "lost_cfl"]].to_numpy()
    least = float(gaps.min())  # NaN where one is: pandas would pass over it
    return Verdict(
        "cfl-is-a-bound",
        least >= -FRONTIER,
        "No learned rule is above CFL's exact frontier at its own |MD|, nor above the line that "
        "supports it at MD = 0.",
        f"{2 * len(found)} rules; the nearest {least:.1e} below",
        hard=True,
    )


ASKED = (
    f"FedFB's learned rules are near CFL's on the same samples: a test on {PEOPLE:,} people "
    "could not well tell them apart (means over samples: accuracy along CFL's line at most "
    f"{NEAR:g} behind, |MD| within {OVER:g})"
)


def _same(found: Frame, seeds: str) -> Verdict:
    some = found[found["along"].isin(["distance", "shares"])]
    by = some.groupby(["along", "value"])[["behind", "unfair"]].mean()
    text = "; ".join(f"{along} {v:g}: {_said(row)}" for (along, v), row in by.iterrows())
    return Verdict(
        "heterogeneity-costs-nothing",
        _near(by),
        "FedFB, section 5.3: however the clients' laws of x and shares of groups differ (one "
        f"η). {ASKED}.",
        f"{seeds}, {int(some['rows'].iloc[0]):,} people, 3 clients; accuracy behind, and |MD| "
        f"more: {text}",
    )


def _clients(found: Frame, seeds: str) -> Verdict:
    by = found[found["along"] == "clients"].groupby("value")[["behind", "unfair"]].mean()
    text = "; ".join(f"{v:.0f} clients: {_said(row)}" for v, row in by.iterrows())
    return Verdict(
        "clients-cost-little",
        _near(by),
        f"As the people are shared out among more clients. {ASKED}.",
        f"{seeds}; accuracy behind, and |MD| more: {text}",
    )


def _concept(found: Frame, seeds: str) -> Verdict:
    by = found[found["along"] == "concept"].groupby("value")[["behind", "unfair"]].mean()
    text = "; ".join(f"±{v:g}: {_said(row)}" for v, row in by.iterrows())
    return Verdict(
        "concepts-cost-little",
        _near(by),
        "Where the clients' η differ, so that averages of local minimisers are not the pooled "
        f"one. {ASKED}.",
        f"{seeds}; accuracy behind, and |MD| more, by the tilt of the log odds: {text}",
    )


def _near(by: Frame) -> bool:
    """Whether every mean is within what a test could tell; False where one is NaN."""
    return bool((by["behind"] <= NEAR).all() and (by["unfair"].abs() <= OVER).all())


def _said(row: Frame) -> str:
    return f"{row['behind']:.4f}, {row['unfair']:+.4f}"


def _bits(found: Frame, seeds: str, rounds: int) -> Verdict:
    some = found[(found["along"] == "bits") & (found["value"] > 0)]
    last = ALPHA / rounds / 2**0.5  # of one λ_a, decay 1
    turns = {
        setup.world.name: turn(setup.world.federation)
        for paper in (False, True)
        for setup in setups(paper)
        if setup.axis == "bits"
    }
    some = some.assign(
        bound=some["clients"] * 2 * BOUND / (2 ** some["value"] - 1)
        + last * some["world"].map(turns).astype(float)
    )
    judged = some[some["bound"] < 1]  # a |MD| is at most 1 anyway
    by = some.groupby("value")[["sample", "bound"]].max()
    text = "; ".join(
        f"{v:.0f} bits: {r['sample']:.4f} ({min(r['bound'], 1.0):.4f})" for v, r in by.iterrows()
    )
    return Verdict(
        "bits-bound-the-disparity",
        bool((judged["sample"] <= judged["bound"]).all()) if len(judged) else None,
        "With b bits a number, λ settles where the sample's |MD| is at most K step + α_T "
        "|dMD/dλ| / √2, step = 2 / (2^b - 1): beyond K step the sign of F is right, and λ's last "
        "step moves MD by the rest.",
        f"Largest |MD| on the sample over {seeds}, and the bound: {text}",
    )


def gaps(measures: Frame) -> Frame:
    """Accuracy lost against CFL's line: mean, least and largest over seeds."""
    return _curves(measures, (("lost", "FedFB"), ("lost_cfl", "CFL, learned")))


def reached(measures: Frame) -> Frame:
    """The |MD| reached on the population, likewise."""
    return _curves(measures, (("disparity", "FedFB"), ("disparity_cfl", "CFL, learned")))


def _curves(measures: Frame, columns: tuple[tuple[str, str], ...]) -> Frame:
    found, parts = pairs(measures), []
    for axis, label in AXES.items():
        some = found[(found["along"] == axis) & ~((axis == "bits") & (found["value"] == 0))]
        for column, name in columns:
            by = some.groupby("value")[column].agg(["mean", "min", "max"]).reset_index()
            bars = {"low": by["min"], "high": by["max"]}
            parts.append(series(label, name, "points", by["value"], by["mean"], **bars))
    return loose(pd).concat(parts, ignore_index=True)


PICTURES = (
    Drawing(
        "fedfb-gap",
        "FedFB against CFL: accuracy below the line acc* - λ MD (mean, least, largest)",
        "",
        "accuracy lost against the line acc* - λ MD (share)",
        gaps,
    ),
    Drawing(
        "fedfb-disparity",
        "FedFB against CFL: disparity reached at ε = 0 (mean, least, largest)",
        "",
        "|MD| (difference of rates)",
        reached,
    ),
)
