"""The verdicts of `local-constraints`: reached or not, by regime and active constraints."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfl.studies.crosscheck.standard_errors import (
    NEAR,
    OVER,
    PEOPLE,
    accuracy_error,
    difference_error,
)
from fairfl.studies.crosscheck.studies.local_constraints_runs import LABELS
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.frames import Frame, loose

STEADY = 2 * OVER
"""A run settles where MD ranges over no more in its last quarter: an error up and one down."""
DUAL = 1e-8
"""Of the bound by multipliers: solutions are certified to 1e-10, rates exact to 1e-13."""
ERRORS, MOST = 2, 0.95
"""Nineteen of twenty measurements are within two standard errors."""


def final(measures: Frame) -> Frame:
    """The last round of every run, the optimum, and how much the last quarter ranged."""
    runs = measures[measures["regime"] != "frontier"]
    last = runs[runs["rule"] != ""].reset_index(drop=True)
    return last.astype({"boxed": bool, "pure": bool, "binding": int})


def reached(last: Frame, people: float = PEOPLE) -> Frame:
    """Whether the end is LFT+FedAvg(ε)'s optimum as far as a test on ``people`` of each client
    could tell.

    No |MD_i| more than the largest standard error above ε, the accuracy no more than one away.
    """
    return (last["excess"] <= difference_error(people)) & (
        last["shortfall"].abs() <= accuracy_error(people)
    )


def verdicts(measures: Frame) -> tuple[Verdict, ...]:
    """See each statement."""
    last = final(measures)
    exact = loose(pd).DataFrame(last[last["rows"] == 0])
    return (
        _lagrangian(exact),
        _bought(last),
        _pooled(exact),
        _box(exact),
        _one_binds(exact),
        _many_steps(exact),
        _fading(exact),
        _own(exact),
        *_samples(last),
    )


def _bought(last: Frame) -> Verdict:
    """Hard: weak duality."""
    short = (last["shortfall"] + last["price"] * last["excess"]).to_numpy()
    least = float(short.min())  # NaN where one is
    return Verdict(
        "broken-budgets-buy-no-more",
        least >= -DUAL,
        "No end is more accurate than LFT+FedAvg(ε)'s optimum by more than Σ_i |multiplier_i| "
        "times its largest |MD_i| - ε.",
        f"{len(last)} ends: the nearest one is {least:.1e} below",
        hard=True,
    )


def _lagrangian(exact: Frame) -> Verdict:
    """Hard: a theorem."""
    some = exact.drop_duplicates(["world", "budget"])
    some = some[some["pure"]]
    worst = float(some["lagrangian"].to_numpy().max()) if len(some) else np.nan
    return Verdict(
        "weights-are-multipliers",
        bool(worst < 1e-8) if len(some) else None,
        "At δ_i = multiplier_i / π_i the pooled weighted loss is least, over all functions, at "
        "LFT+FedAvg(ε)'s rule.",
        f"{len(some)} budgets of {some['world'].nunique()} federations: accuracies and MD_i "
        f"within {worst:.1e}",
        hard=True,
    )


def _pooled(exact: Frame) -> Verdict:
    some = loose(pd).DataFrame(exact[(exact["regime"] == "pooled-any") & ~exact["boxed"]])
    right = reached(some)
    return Verdict(
        "one-step-reaches-it",
        _all(right),
        "One local step before every averaging, many to a step of λ, over all functions: "
        "LFT+FedAvg(ε)'s optimum, where its multipliers are in FairBatch's box.",
        f"{int(right.sum())} of {len(right)} ends within {NEAR} of its accuracy and budgets; the "
        f"furthest {_worst(some)}",
    )


def _box(exact: Frame) -> Verdict:
    some = loose(pd).DataFrame(exact[(exact["regime"] == "pooled-any") & exact["boxed"]])
    line = loose(pd).DataFrame(exact[exact["regime"] == "pooled-any-sum"])
    right = reached(some)
    text = (
        f"{int(right.sum())} of {len(right)}; the furthest {_worst(some)}. With λ kept on "
        "its line (projection 'sum') "
    )
    text += f"{int(reached(line).sum())} of {len(line)}; the furthest {_worst(line)}"
    return Verdict(
        "box-does-no-harm",
        _all(right),
        "The same where the optimum's multipliers are outside of the box [0, 2 n_a/n] of λ.",
        text if len(some) else "No such budget here",
    )


def _one_binds(exact: Frame) -> Verdict:
    follow = ~exact["regime"].isin(["locally-fair"])
    some = loose(pd).DataFrame(exact[(exact["binding"] <= 1) & ~exact["boxed"] & follow])
    right = reached(some)
    return Verdict(
        "one-constraint-is-easy",
        _all(right),
        "Where at most one client's constraint binds, the optimum is by thresholds, and every "
        "regime in which λ follows the averaged model ends near it.",
        f"{int(right.sum())} of {len(right)} ends: {_by_regime(some)}. The furthest {_worst(some)}",
    )


def _many_steps(exact: Frame) -> Verdict:
    some = loose(pd).DataFrame(
        exact[(exact["binding"] >= 2) & exact["regime"].isin(["steps-20", "converged"])]
    )
    right, settled = reached(some), some["range"] <= STEADY
    return Verdict(
        "many-local-steps-reach-it",
        _all(right),
        "FedFB, section 3.1: FedAvg with local constraints is equivalent to LFT+FedAvg(ε); here "
        "with 20 local steps or local training to its end, where two or more constraints bind.",
        f"{int(right.sum())} of {len(right)} reach it, {int(settled.sum())} settle at all "
        f"({_by_regime(some)}); the furthest {_worst(some)}",
    )


def _fading(exact: Frame) -> Verdict:
    """Distances to the optimum in accuracy or over the budget, whichever is larger."""
    some = exact[exact["binding"] >= 2].assign(far=_far)
    middle = some.groupby("regime")["far"].median()
    constant = float(middle.get("steps-20", np.nan))
    falling = float(middle.get("steps-20-fading", np.nan))
    return Verdict(
        "falling-rates-bring-it-nearer",
        bool(falling < constant) if len(some) else None,
        "Remark 9 leans on Li et al., whose learning rates fall: the same 20 local steps with "
        "rates 1 / (1 + t / 10).",
        f"Where two or more constraints bind, the median end is {falling:.3f} off, with constant "
        f"rates {constant:.3f}, with local training to its end "
        f"{float(middle.get('converged', np.nan)):.3f}, with pooled gradients "
        f"{float(middle.get('pooled-any', np.nan)):.3f} (accuracy, or max |MD_i| - ε)",
    )


def _own(exact: Frame) -> Verdict:
    some = loose(pd).DataFrame(exact[exact["regime"] == "locally-fair"])
    kept = some["excess"] <= OVER
    return Verdict(
        "averages-of-fair-models-are-fair",
        _all(kept),
        "Clients that are each fair to the end, then averaged (their thresholds are averaged), "
        "keep |MD_i| <= ε.",
        f"{int(kept.sum())} of {len(kept)} keep it; the furthest {_worst(some)}",
    )


def _samples(last: Frame) -> tuple[Verdict, Verdict]:
    """Engine against population, where the population settles."""
    rows = []
    for _, one in last[last["rows"] > 0].iterrows():
        same = last[
            (last["rows"] == 0)
            & (last["world"] == one["world"])
            & (last["regime"] == one["regime"])
            & (last["budget"] == one["budget"])
            & (last["range"] <= STEADY)
        ]
        if len(same):
            away = max(
                abs(one["accuracy"] - same["accuracy"].iloc[0]),
                abs(one["difference"] - same["difference"].iloc[0]),
            )
            rows.append(
                (one["world"], int(one["rows"]), one["regime"] != "locally-fair", float(away))
            )
    found = loose(pd).DataFrame(rows, columns=["world", "rows", "follows", "away"])
    seeds = len(set(last.loc[last["rows"] > 0, "seed"]))
    where = (
        f"{', '.join(dict.fromkeys(found['world']))}, {seeds} seeds"
        if len(found)
        else "No such run"
    )
    return _nearer(found, where), _by_sampling(found, where)


def _nearer(found: Frame, where: str) -> Verdict:
    """Medians of two sizes next to each other, over the federations that have both."""
    sizes, falls = sorted(set(found["rows"])), []
    for less, more in zip(sizes, sizes[1:], strict=False):
        both = set(found.loc[found["rows"] == less, "world"]) & set(
            found.loc[found["rows"] == more, "world"]
        )
        if both:
            middle = found[found["world"].isin(both)].groupby("rows")["away"].median()
            falls.append(bool(middle[more] < middle[less]))
    text = "; ".join(
        f"{n:,} people: median {part.median():.3f}, largest {part.max():.3f}, {len(part)} runs"
        for n, part in found.groupby("rows")["away"]
    )
    return Verdict(
        "samples-follow-the-population",
        all(falls) if falls else None,
        "The engine's LocalFairBatch on a sample ends where the population ends, the nearer the "
        "more people.",
        f"Distance in accuracy or MD, where the population settles: {text}; {where}"
        if len(found)
        else where,
    )


def _by_sampling(found: Frame, where: str) -> Verdict:
    near = found["away"] <= ERRORS * found["rows"].map(difference_error)
    parts = found.assign(near=near).groupby(["follows", "rows"])["near"].agg(["sum", "size"])
    told = "; ".join(
        f"{'λ at the average' if follows else 'fair to the end'}, {n:,} people: {r['sum']:.0f} "
        f"of {r['size']:.0f} within {ERRORS * difference_error(n):.3f}"
        for (follows, n), r in parts.iterrows()
    )
    return Verdict(
        "samples-miss-by-sampling",
        bool(near.mean() >= MOST) if len(found) else None,
        f"And in 19 of 20 runs by no more than {ERRORS} standard errors of an MD measured on as "
        f"many people, {ERRORS} / root n.",
        f"{told}; {where}" if len(found) else where,
    )


def _by_regime(some: Frame) -> str:
    """How many reach the optimum, in each regime."""
    right = (
        some.assign(right=reached(some)).groupby("regime", sort=False)["right"].agg(["sum", "size"])
    )
    return ", ".join(
        f"{LABELS[name]} {row['sum']:.0f} of {row['size']:.0f}" for name, row in right.iterrows()
    )


def _all(right: Frame) -> bool | None:
    return bool(right.all()) if len(right) else None


def _far(some: Frame) -> Frame:
    """How far from the optimum: accuracy away from it, or the worst client above its budget."""
    return loose(pd).Series(np.maximum(some["excess"], some["shortfall"].abs()), index=some.index)


def _worst(some: Frame) -> str:
    if not len(some):
        return "none"
    far = some.loc[_far(some).idxmax()]
    return (
        f"on {far['world']} at ε = {far['budget']:g}: {far['accuracy']:.4f} for {far['best']:.4f}, "
        f"max |MD_i| {far['excess'] + far['budget']:.3f}"
    )
