"""The verdicts of `realised-weights`: which algorithms realise their dual weights, and when not."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from fairfl.studies.crosscheck.realised.aims import BEYOND, RANKS, drawn_weights
from fairfl.studies.crosscheck.realised.effective_weights import apart
from fairfl.studies.crosscheck.realised.weights import BATCH, HALF
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.frames import among, floats, groups, rows

EXACT = 1e-9
"""How far off still counts as exact: least squares on gradients that are nearly dependent loses
digits.
"""
CLEAR = 4.0  # of the noise of the draws
FEW = 0.02  # of the weight with the wrong clients: what we call near
LONG = 1000  # rounds before AFL's means are judged


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """What is realised, and what breaks it."""
    return (
        _exact(measures),
        _threshold(measures),
        _broken("local-steps", "5 full steps", measures, "with five local steps on all data"),
        _broken(
            "one-epoch",
            "one epoch, batches of 6",
            measures,
            "with a local epoch in batches of six, on average",
        ),
        _batches(measures),
        _draws(measures),
        _other_ranks(measures),
        _mixture(measures),
    )


def _exact(measures: pd.DataFrame) -> Verdict:
    steps = _steps(measures, beyond=False)
    off, outside = float(floats(steps, "off").max()), float(floats(steps, "outside").max())
    return Verdict(
        "one-full-step-realises-the-dual-weights",
        bool(np.maximum(off, outside) <= EXACT),
        True,
        "With everyone and one local step on all data, the weights in the step are the dual "
        "weights of the objective at the same losses, in proportion, in every round (PropFair: "
        "below its threshold).",
        f"{len(steps)} steps of {len(set(steps['algorithm']))} algorithms on {_where(steps)}: at "
        f"most {off:.1e} of the weight with the wrong clients, {outside:.1e} of a step outside "
        "the span of the gradients",
    )


def _threshold(measures: pd.DataFrame) -> Verdict:
    steps = _steps(measures, beyond=True)
    asked = "PropFair realises the dual weights of its objective beyond its threshold as well."
    if not len(steps):
        return Verdict("propfair-beyond-its-threshold", None, False, asked, "nobody was beyond it")
    off = floats(steps, "off")
    low = sum(_robbed(row) for row in steps.to_dict("records"))
    return Verdict(
        "propfair-beyond-its-threshold",
        bool(off.max() <= EXACT),
        False,
        asked,
        f"{len(steps)} steps on {_where(steps)} with somebody beyond: {off.min():.3f} to "
        f"{off.max():.3f} of the weight with the wrong clients; in {low} of them the client with "
        "the largest loss has less than its dual weight",
    )


def _robbed(row: dict[Any, Any]) -> bool:
    weights, dual = (np.array(json.loads(row[name])) for name in ("weights", "dual"))
    return bool(weights[dual.argmax()] < dual.max())


def _broken(name: str, case: str, measures: pd.DataFrame, how: str) -> Verdict:
    ways = _ways(measures, case)
    own = rows(ways, ways["algorithm"] != "q-FedSGD")  # one full step, whatever is set
    off = floats(own, "off")
    kept = bool((off <= EXACT + CLEAR * floats(own, "noise")).all())
    return Verdict(
        name,
        kept,
        False,
        f"The same {how}.",
        f"{_where(own)}: {np.median(off):.3f} of the weight with the wrong clients in the median "
        f"over algorithms, {off.max():.3f} at most; {np.median(floats(own, 'outside')):.2f} of "
        "the step is outside the gradients' span",
    )


def _batches(measures: pd.DataFrame) -> Verdict:
    ways = among(_ways(measures, BATCH.name), "world", ["quadratic"])
    plain = rows(ways, [name not in ("PropFair", "q-FedSGD") for name in ways["algorithm"]])
    tilted = among(ways, "algorithm", ["PropFair"])
    ratio = floats(plain, "off") / np.maximum(floats(plain, "noise"), 1e-300)
    return Verdict(
        "one-batch",
        bool((ratio <= CLEAR).all()),
        False,
        "With one local step on a batch, weights given by the server are the dual weights on "
        "average over the batches.",
        f"{_most(ways, 'draws')} draws of batches of 6 of 24, {_where(ways)}: off by "
        f"{floats(plain, 'off').max():.3f} at most, {ratio.max():.1f} "
        f"times the noise; PropFair, whose logarithm is inside the batch, by "
        f"{floats(tilted, 'off').max():.3f} (noise {floats(tilted, 'noise').max():.3f})",
    )


def _draws(measures: pd.DataFrame) -> Verdict:
    ways = among(_ways(measures, HALF.name), "world", ["quadratic"])
    off = {
        str(key[0]): float(floats(part, "off").max()) for key, part in groups(ways, ["algorithm"])
    }
    kept = [name for name, value in off.items() if value <= EXACT]
    order = sorted((name for name in off if name not in kept), key=off.__getitem__)
    lost = ", ".join(f"{name} {off[name]:.3f}" for name in order)
    return Verdict(
        "half-of-the-clients",
        len(kept) == len(off),
        False,
        "With half of the clients, over all draws on average, the weights are the dual weights "
        "at everybody's losses.",
        f"All {_most(ways, 'draws')} sets of 3 of 6 clients, {_where(ways)}: exact for "
        f"{', '.join(kept)}; with the wrong clients otherwise: {lost}",
    )


def _other_ranks(measures: pd.DataFrame) -> Verdict:
    ways = among(_ways(measures, HALF.name), "world", ["quadratic"])
    found = []
    for row in ways.to_dict("records"):
        ranks = RANKS.get(row["algorithm"])
        if ranks is None:
            continue
        losses, weights = (np.array(json.loads(row[name])) for name in ("losses", "weights"))
        found.append(apart(weights, drawn_weights(ranks, losses, round(HALF.share * len(losses)))))
    off = float(np.max(found)) if found else np.nan
    return Verdict(
        "p-fedavg-of-draws",
        off <= EXACT if found else None,
        True,
        "p-FedAvg with m of n clients realises, over the draws, other rank weights: sum_j v_j "
        "C(k-1, j-1) C(n-k, m-j) / C(n, m) for the k-th largest loss.",
        f"All sets of 3 of 6 clients, {_where(ways)}: off by {off:.1e} at most",
    )


def _mixture(measures: pd.DataFrame) -> Verdict:
    last = among(measures, "kind", ["mixtures"])
    last = rows(last, floats(last, "round") == _most(last, "round"))
    means = among(last, "case", ["mean"])
    by = {
        str(key[0]): float(floats(part, "off").max()) for key, part in groups(means, ["algorithm"])
    }
    ends = among(last, "case", ["last"])
    lasts = {
        str(key[0]): float(floats(part, "off").max()) for key, part in groups(ends, ["algorithm"])
    }
    said = "; ".join(f"{name}: mean {by[name]:.4f}, last {lasts[name]:.4f}" for name in by)
    return Verdict(
        "afl-means",
        max(by.values()) <= FEW if _most(last, "round") >= LONG else None,
        False,
        f"The mean of AFL's mixtures is near the dual weights of the optimum (within {FEW}).",
        f"{_where(means)}, {_most(last, 'round')} rounds: {said}",
    )


def _steps(measures: pd.DataFrame, beyond: bool) -> pd.DataFrame:
    steps = among(measures, "kind", ["by round"])
    return rows(steps, (floats(steps, "beyond") > 0) == beyond)


def _ways(measures: pd.DataFrame, case: str) -> pd.DataFrame:
    ways = among(among(measures, "kind", ["at one model"]), "case", [case])
    return rows(ways, ways["algorithm"] != BEYOND)


def _most(measures: pd.DataFrame, column: str) -> int:
    """The largest of whole numbers."""
    return int(floats(measures, column).max())


def _where(measures: pd.DataFrame) -> str:
    seeds = f"{int(floats(measures, 'seed').min())} to {_most(measures, 'seed')}"
    return f"{', '.join(dict.fromkeys(measures['world']))} (seeds {seeds})"
