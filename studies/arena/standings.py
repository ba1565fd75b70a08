"""Tables of the arena: tuned settings, scores with intervals, paired differences, and ranks."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from fairfl.solvers.schemes import SOLVED
from fairfl.studies.arena.entrants import Entrant
from fairfl.studies.arena.published import federations
from fairfl.studies.arena.scores import CLOSED
from fairfl.studies.beside_published import COVERAGE, half_interval
from fairfl.studies.crosscheck.study import Drawing, series, trade_off
from fairfl.studies.frames import Frame, floats, groups, loose

NEAR = 0.01
"""Rounds and bytes are counted until a model is within this of its optimum."""
MEASURES = ("score", "below_cfl", "below_scheme", "violation", "accuracy", "disparity")
PAIRS = ("question", "first", "second", "difference", "±", "samples", "apart")


def tuned(rows: pd.DataFrame) -> dict[tuple[Any, ...], list[str]]:
    """(federation, entrant) -> the setting of the least mean score; never one that failed."""
    best = {}
    for key, part in groups(_last(rows), ["federation", "entrant"]):
        by_setting = part.groupby("setting", sort=False)["score"]
        means = loose(by_setting.agg(lambda scores: scores.mean(skipna=False)).dropna())
        best[key] = [str(means.idxmin())] if len(means) else []
    return best


def _last(rows: pd.DataFrame) -> Frame:
    """The rows after the last round, and those of units that failed."""
    return loose(rows)[rows["round"].isna() | (rows["round"] == rows["round"].max())]


def standings(rows: pd.DataFrame, entrants: Mapping[str, Entrant]) -> pd.DataFrame:
    """A row for each entrant, those of one question together and the best first: means over
    federations and samples, ± half of the 95 % interval of the mean over samples. Rank "2 to 4":
    one entrant is better, and two are not told apart from it (``differences``). ``rounds`` and
    ``kB``: medians until the model is within ``NEAR`` of its optimum and budget, in the share
    ``reached``.
    """
    lines, pairs = [], differences(rows, entrants)
    for (label,), part in groups(rows, ["entrant"]):
        last, entrant = _last(part), entrants[label]
        line: dict[str, object] = {"question": entrant.question, "entrant": label}
        line["rank"] = _rank(entrant, pairs)
        for name in MEASURES:
            by_seed = last.groupby("seed")[name].mean().dropna()
            line |= {name: by_seed.mean(), f"± {name}": half_interval(by_seed.std(), len(by_seed))}
        line |= _speed(part) | {"federations": last["federation"].nunique()}
        lines.append(line | {"samples": last["seed"].nunique(), "settings": _settings(last)})
    table: Frame = pd.DataFrame(lines)
    order = [entrant.question for entrant in entrants.values()]
    is_end = [entrants[label].is_end for label in table["entrant"]]
    keys = {"first": table["question"].map(order.index), "is_end": is_end}
    ranked = table.assign(**keys).sort_values([*keys, "score"], kind="stable")
    return ranked.drop(columns=[*keys]).reset_index(drop=True)


def differences(rows: pd.DataFrame, entrants: Mapping[str, Entrant]) -> pd.DataFrame:
    """A row for each pair of a question: the mean of the first's score less the second's on the
    same samples, and half of its interval, which hold together with 95 % (Bonferroni); ``apart``
    without 0.
    """
    table = _last(rows).pivot_table(index=["federation", "seed"], columns="entrant", values="score")
    questions: dict[str, list[str]] = {}
    for label in table:
        if not entrants[label].is_end:
            questions.setdefault(entrants[label].question, []).append(label)
    lines = []
    for question, labels in questions.items():
        pairs = list(combinations(labels, 2))
        for pair in pairs:
            lead = (table[pair[0]] - table[pair[1]]).dropna().groupby("seed").mean()
            tail, n = (1 - COVERAGE) / (2 * len(pairs)), len(lead)
            half = stats.t.isf(tail, max(n - 1, 1)) * lead.std() / np.sqrt(max(n, 1))
            is_apart = abs(lead.mean()) > half + CLOSED
            lines.append((question, *pair, lead.mean(), half, n, is_apart))
    return pd.DataFrame(lines, columns=list(PAIRS))


def _rank(entrant: Entrant, pairs: Frame) -> str:
    """The ranks that it may have; none where nobody is asked the same on the same samples."""
    pairs = pairs[(pairs["first"] == entrant.label) | (pairs["second"] == entrant.label)]
    pairs = pairs[pairs["samples"] > 0]
    is_behind = (floats(pairs, "difference") > 0) == (pairs["first"] == entrant.label)
    is_apart = pairs["apart"].astype(bool)
    low, high = 1 + int((is_apart & is_behind).sum()), 1 + int((~is_apart | is_behind).sum())
    if entrant.is_end or not len(pairs):
        return ""
    return f"{low}" if low == high else f"{low} to {high}"


def _speed(part: Frame) -> dict[str, float]:
    """Share of the samples that come near, and medians of the rounds and kB until then."""
    units = ["federation", "seed"]
    distance, excess = part["below_scheme"].fillna(part["score"]), part["violation"].fillna(0.0)
    first = part[(distance <= NEAR) & (excess <= NEAR)].groupby(units).first()
    share = len(first) / len(part[units].drop_duplicates())
    rounds, kilobytes = first["round"].median(), first["bytes"].median() / 1000
    return {"reached": share, "rounds": rounds, "kB": kilobytes}


def _settings(last: Frame) -> str:
    """The tuned settings, each with the number of federations that it is best on."""
    counts = last.drop_duplicates("federation")["setting"].value_counts(sort=False)
    return "; ".join(f"{text} ({n})" for text, n in counts.items())


def points(rows: pd.DataFrame) -> pd.DataFrame:
    """The exact frontiers of the file, and each rule's mean over samples."""
    parts, rules = [], _last(rows).dropna(subset=["accuracy"])
    for (name,), place in groups(rules, ["federation"]):
        curves = federations()[name].frontiers
        for scheme in sorted(curves, key="client_aware".__ne__):  # under CFL's, which it may equal
            curve = curves[scheme]
            label = f"{SOLVED[scheme].label}, exact"
            parts.append(series(name, label, "line", curve["disparity"], curve["accuracy"]))
        for (label,), part in groups(place, ["entrant"]):
            x, y = part["disparity"].mean(), floats(part, "accuracy")
            half, mean = half_interval(y.std(ddof=1), len(y)), y.mean()
            bars = {"low": [mean - half], "high": [mean + half]}
            parts.append(series(name, label, "points", [x], [mean], **bars))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


PICTURE: Drawing = trade_off("arena", "Learned rules and what is attainable", points)
