r"""How far FedFB stands from CFL: heterogeneity, clients, bits, local steps, people.

Where the clients share a logistic η, all of them have the same minimiser z_a = x + log((2 - ρ_a) / ρ_a) at a λ that
they share, so averages of their minimisers are it, too: on the population FedFB is CFL with one local step and with
local training to its end. What is left is sampling, steps in between, and η that differ by client.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fairfl.sims.crosscheck.frame import Frame, loose
from fairfl.sims.crosscheck.kept import short
from fairfl.sims.crosscheck.runs import CFL, FEDFB
from fairfl.sims.crosscheck.studies.fedfb_gap_runs import BOUND, plans, setups
from fairfl.sims.crosscheck.study import Drawing, Verdict
from fairfl.sims.experiments.experiment import Scale, Unit

NAME = "fedfb-gap"
TITLE = "How far FedFB stands from CFL, learned and exact: heterogeneity, clients, bits, local steps, people"
SEEDS = {"quick": 1, "paper": 5}
SEEN = 2

AXES = {
    "distance": "distance of centres, in sd", "shares": "spread of P(a = 1 | i)",
    "concept": "spread of log odds", "clients": "clients", "local steps": "local steps a round",
    "bits": "bits a number", "people": "people",
}  # fmt: skip
FRONTIER, ROUNDING = 1e-9, 1e-6
SMALL = 0.005


def units(scale: Scale) -> list[Unit]:
    """FedFB and CFL at every point of every axis, a seed a sample; points that axes share are run once."""
    rounds = 100 if scale.paper else 60
    found = {
        plan.name: plan.unit()
        for setup in setups(scale.paper)
        for seed in range(scale.seeds)
        for plan in plans(setup, seed, rounds)
    }
    return list(found.values())


def pairs(measures: Frame) -> Frame:
    """A row a point of an axis and seed: FedFB's and CFL's figures side by side."""
    parts, keys = [], ["world", "rows", "seed", "steps"]
    central = measures[measures["scheme"] == CFL].drop_duplicates(keys)
    paper = bool(measures["rows"].max() > 2_000)
    for setup in setups(paper):
        own = measures[
            (measures["scheme"] == FEDFB) & (measures["world"] == setup.world.name) & (measures["rows"] == setup.rows)
            & (measures["steps"] == setup.steps) & (measures["bits"] == (setup.bits or 0))
        ]  # fmt: skip
        both = own.merge(
            central[[*keys, "accuracy", "disparity", "best", "sample", "rule"]], on=keys, suffixes=("", "_cfl")
        )
        parts.append(both.assign(along=setup.axis, value=setup.value, clients=setup.world.clients))
    found = loose(pd).concat(parts, ignore_index=True)
    found["gap"] = found["best"] - found["accuracy"]
    found["gap_cfl"] = found["best_cfl"] - found["accuracy_cfl"]
    found["behind"] = found["gap"] - found["gap_cfl"]
    found["unfair"] = found["disparity"] - found["disparity_cfl"]
    return found


def tables(measures: Frame) -> dict[str, pd.DataFrame]:
    """By axis and value: mean and standard deviation over seeds."""
    found = pairs(measures)
    columns = ["gap", "gap_cfl", "behind", "disparity", "disparity_cfl", "unfair", "sample", "sample_cfl"]
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
        _bits(found, seeds),
        _concept(found, seeds),
    )


def _one(found: Frame) -> Verdict:
    some = found[found["steps"] == 1]
    apart = np.maximum((some["accuracy"] - some["accuracy_cfl"]).abs(), some["unfair"].abs()).to_numpy()
    away = float(apart.max()) if apart.size else np.nan
    return Verdict(
        "one-step-is-cfl", bool(away < ROUNDING) if len(some) else None, True,
        "With one local step a round the average of the clients' steps is the step on all people: FedFB is CFL.",
        f"{len(some)} pairs of runs: accuracy and |MD| within {away:.1e}",
    )  # fmt: skip


def _bound(found: Frame) -> Verdict:
    least = float(found[["gap", "gap_cfl"]].to_numpy().min())  # NaN where one is: pandas would pass over it
    return Verdict(
        "cfl-is-a-bound",
        least >= -FRONTIER,
        True,
        "No learned rule is above CFL's exact frontier at its own |MD|.",
        f"{2 * len(found)} rules; the nearest {least:.1e} below",
    )


def _same(found: Frame, seeds: str) -> Verdict:
    some = found[found["along"].isin(["distance", "shares"])]
    by = some.groupby(["along", "value"])[["behind", "unfair"]].mean()
    worst, unfair = float(by["behind"].max()), float(by["unfair"].abs().max())
    return Verdict(
        "heterogeneity-costs-nothing",
        worst <= SMALL and unfair <= 2 * SMALL,
        False,
        "FedFB, section 5.3: FedFB is close to CFL however the clients' laws of x and shares of groups differ (one η).",
        f"Mean over {seeds}: accuracy at equal |MD| at most {worst:.4f} behind CFL's, |MD| at most {unfair:.4f} apart, "
        f"over {len(by)} points ({int(some['rows'].iloc[0]):,} people, 3 clients)",
    )


def _clients(found: Frame, seeds: str) -> Verdict:
    some = found[found["along"] == "clients"]
    by = some.groupby("value")[["behind", "unfair"]].mean()
    text = "; ".join(f"{v:.0f} clients: {r['behind']:.4f}, {r['unfair']:+.4f}" for v, r in by.iterrows())
    return Verdict(
        "clients-cost-little",
        bool(by["behind"].max() <= SMALL),
        False,
        "The same as the people are shared out among more clients.",
        f"Accuracy behind CFL's at equal |MD|, and |MD| more than CFL's, mean over {seeds}: {text}",
    )


def _bits(found: Frame, seeds: str) -> Verdict:
    some = found[found["along"] == "bits"]
    worst = some[some["value"] > 0].assign(
        bound=lambda t: t["clients"] * 2 * BOUND / (2 ** t["value"] - 1), over=lambda t: t["sample"] - t["sample_cfl"]
    )
    judged = worst[worst["bound"] < 1]  # a |MD| is at most 1 anyway
    by = worst.groupby("value")[["sample", "bound", "disparity"]].agg(
        {"sample": "max", "bound": "max", "disparity": "mean"}
    )
    text = "; ".join(f"{v:.0f} bits: {r['sample']:.4f} ({min(r['bound'], 1.0):.4f})" for v, r in by.iterrows())
    return Verdict(
        "bits-bound-the-disparity",
        bool((judged["over"] <= judged["bound"]).all()) if len(judged) else None,
        False,
        "With b bits a number, λ settles where the sample's |MD| is at most K step above what plain numbers reach, "
        "step = 2 / (2^b - 1).",
        f"Largest |MD| on the sample over {seeds}, and K step: {text}",
    )


def _concept(found: Frame, seeds: str) -> Verdict:
    some = found[found["along"] == "concept"]
    by = some.groupby("value")[["gap", "gap_cfl", "behind", "unfair"]].mean()
    text = "; ".join(f"±{v:g}: {r['behind']:+.4f}, {r['unfair']:+.4f}" for v, r in by.iterrows())
    return Verdict(
        "concepts-cost-little",
        bool(by["behind"].max() <= SMALL),
        False,
        "The same where the clients' η differ, so that averages of local minimisers are not the pooled one.",
        f"Accuracy behind CFL's learned rule at equal |MD|, and |MD| more, by the tilt of the log odds, mean over "
        f"{seeds}: {text}",
    )


def record(measures: Frame) -> dict[str, Any]:
    """Both rules at every point of every axis and seed, for the claims."""
    found = pairs(measures)
    own = {setup.world.name: setup.world.to_json() for paper in (False, True) for setup in setups(paper)}
    worlds = []
    for name, part in found.groupby("world", sort=False):
        rules = []
        for row in part.to_dict("records"):
            run = {key: row[key] for key in ("along", "value", "rows", "seed", "steps", "bits", "clients")}
            rules.append(run | {"fedfb": short(row["rule"]), "cfl": short(row["rule_cfl"])})
        worlds.append({"world": own[str(name)], "rules": rules})
    return {"runs": {"seeds": int(found["seed"].nunique()), "pairs": len(found)}, "worlds": worlds}


def gaps(measures: Frame) -> Frame:
    """Accuracy below CFL's exact frontier at the own |MD|, mean and standard deviation over seeds."""
    return _curves(measures, (("gap", "FedFB"), ("gap_cfl", "CFL, learned")))


def reached(measures: Frame) -> Frame:
    """The |MD| reached on the population, likewise."""
    return _curves(measures, (("disparity", "FedFB"), ("disparity_cfl", "CFL, learned")))


def _curves(measures: Frame, columns: tuple[tuple[str, str], ...]) -> Frame:
    found, parts = pairs(measures), []
    for axis, label in AXES.items():
        some = found[(found["along"] == axis) & ~((axis == "bits") & (found["value"] == 0))]
        for column, series in columns:
            by = some.groupby("value")[column].agg(["mean", "std"]).reset_index()
            spread = by["std"].fillna(0.0)
            parts.append(
                loose(pd).DataFrame(
                    {
                        "panel": label, "series": series, "kind": "points", "x": by["value"], "y": by["mean"],
                        "low": by["mean"] - spread, "high": by["mean"] + spread,
                    }
                )
            )  # fmt: skip
    return loose(pd).concat(parts, ignore_index=True)


PICTURES = (
    Drawing(
        "fedfb-gap", "FedFB against CFL: accuracy below the exact frontier (mean ± sd over seeds)",
        "", "accuracy lost at equal |MD| (share)", gaps,
    ),
    Drawing(
        "fedfb-disparity", "FedFB against CFL: disparity reached at ε = 0 (mean ± sd over seeds)",
        "", "|MD| (difference of rates)", reached,
    ),
)  # fmt: skip
