"""The comparison of the schemes in plain words, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairfl.reports.comparison import ENDS, ZERO, Comparison, Reach
from fairfl.reports.sampling import FEWEST, LEVEL

WORDS = {
    "cfl": "pooling all data",
    "lft_fedavg": "FedAvg with local constraints",
    "lft_ensemble": "an ensemble of locally fair models",
}
TALKED = 0.05
"""The disparity that is put in words: the one nearest to this."""
NEGLIGIBLE = 5e-6
"""Losses of accuracy below this are called none: they print as 0.000 percentage points."""


def sentences(found: Comparison) -> list[str]:
    """The comparison in plain words."""
    cfl = found.reaches["cfl"].frontier
    low, high = (0, 1) if found.rates[0] <= found.rates[1] else (1, 0)
    these = "" if found.people is None else f" for these {found.people:,} people"
    out = [
        f"With no constraint, {_share(found, 'cfl', 2)} of the decisions are right{these}; group "
        f"{found.groups[high]} is accepted at a rate of {number(found.rates[high])}, group "
        f"{found.groups[low]} of {number(found.rates[low])}: a disparity of "
        f"{_disparity(found, 'cfl', 3)}.",
        f"Perfect fairness (disparity 0) costs {points(cfl.accuracy[-1] - cfl.accuracy[0])} when "
        f"the data are pooled: {_share(found, 'cfl', 1)} are right.",
    ]
    out += [_at(found, k) for k in _talked(found)]
    out += [_cost(found, scheme) for scheme in ("lft_fedavg", "lft_ensemble")]
    return [*out, *_sampled(found)]


def _talked(found: Comparison) -> list[int]:
    if found.asked:
        return list(range(len(found.disparities)))
    return (
        [int(np.argmin([abs(np.log(d / TALKED)) for d in found.disparities]))]
        if found.disparities
        else []
    )


def _at(found: Comparison, k: int) -> str:
    parts = []
    best = found.reaches["cfl"].at[k]
    for scheme, reach in found.reaches.items():
        got = reach.at[k]
        if got is None or best is None:
            verb = "was found to reach no less than" if _searched(reach) else "cannot get below"
            parts.append(f"{WORDS[scheme]} {verb} {_disparity(found, scheme, 0)}{_here(found)}")
            continue
        an_accuracy = "an accuracy of " if scheme == "cfl" else ""
        parts.append(f"{WORDS[scheme]} reaches {an_accuracy}{_share(found, scheme, len(ENDS) + k)}")
        if scheme != "cfl":
            how = "" if reach.frontier.exact else " as far as a search found"
            parts[-1] += (
                f", {points(best - got)} less{how}" if best - got > NEGLIGIBLE else ", no less"
            )
    return f"At a disparity of {found.disparities[k]:g}, {'; '.join(parts)}."


def _cost(found: Comparison, scheme: str) -> str:
    reach = found.reaches[scheme]
    who = WORDS[scheme][0].upper() + WORDS[scheme][1:]
    none = "was found no fairer" if _searched(reach) else "gets no fairer"
    fair = f"{none}{_here(found)} than a disparity of {_disparity(found, scheme, 0)}"
    if reach.smallest < ZERO:
        fair = f"reaches perfect fairness{_here(found)}"
    if reach.loss <= NEGLIGIBLE:
        return (
            f"{who} {fair}, and loses no accuracy against pooling at any disparity that it reaches."
        )
    how = "" if reach.frontier.exact else ", as far as a search found: it may be less"
    return (
        f"{who} {fair}, and loses at most "
        f"{points(reach.loss)}{_brackets(found.between(scheme, 4), points)} of accuracy against "
        f"pooling at the same disparity (at {number(reach.loss_at)}){how}."
    )


def _here(found: Comparison) -> str:
    return "" if found.people is None else " on these people"


def _share(found: Comparison, scheme: str, column: int) -> str:
    value = found.reaches[scheme].numbers[column]
    return percent(value) + _brackets(found.between(scheme, column), percent)


def _disparity(found: Comparison, scheme: str, column: int) -> str:
    value = found.reaches[scheme].numbers[column]
    return number(value) + _brackets(found.between(scheme, column), number)


def _sampled(found: Comparison) -> list[str]:
    """What was done about people being a sample."""
    out = []
    if found.spread is not None and np.isfinite(found.spread.interval).any():
        failed = f", {found.spread.failed} more not certified" if found.spread.failed else ""
        out.append(
            f"In brackets and below numbers: approximate {100 * LEVEL:.0f} % intervals for all "
            f"people such as these, from {found.spread.bootstraps} bootstraps{failed} (seed "
            f"{found.spread.seed}): people drawn anew "
            "at each client, P(y = 1 | x) fitted anew, all computed anew."
        )
    elif found.spread is not None:
        out.append(
            f"No intervals, which take {FEWEST} bootstraps: there are {found.spread.bootstraps}. "
            "Where more take "
            "longer than a minute, --bootstraps 200 makes them. For other people than these "
            "numbers may be far off."
        )
    if found.held is not None:
        k = _talked(found)[0] + 1 if _talked(found) else 0
        where = f"at a disparity of {found.disparities[k - 1]:g}" if k else "at disparity 0"
        (right, apart), (held_right, held_apart) = found.held.inside[0, k], found.held.outside[0, k]
        out.append(
            "These rules are fitted to the people they are counted on. Fitted to half of them, "
            "pooling's rule "
            f"{where} is right for {percent(right)} of that half, with a disparity of "
            f"{number(apart)}, and for {percent(held_right)} of the other, with "
            f"{number(held_apart)} (means of {found.held.splits} fits)."
        )
    return out


def percent(value: float) -> str:
    """An accuracy, such as 83.12 %."""
    return f"{100 * value:.2f} %"


def points(value: float) -> str:
    """A difference of accuracies in percentage points, such as 1.12 points."""
    return f"{100 * value:.2f} points" if abs(value) >= 5e-5 else f"{100 * value:.3f} points"


def number(value: float) -> str:
    """A disparity or a rate, three digits; rounding errors are zero."""
    return "0" if abs(value) < ZERO else f"{value:.3g}"


def _searched(reach: Reach) -> bool:
    """Whether its smallest disparity is what a search found; LFT+Ensemble's is known even where its
    curve is not.
    """
    return reach.frontier.scheme == "lft_fedavg" and not reach.frontier.exact


def _brackets(ends: tuple[float, float] | None, show: Callable[[float], str]) -> str:
    """An interval in brackets behind its number, the unit once."""
    return "" if ends is None else f" ({span(ends, show)})"


def span(ends: tuple[float, float], show: Callable[[float], str]) -> str:
    """An interval, such as 71.25 to 73.75; what is shown has its unit beside it."""
    low, high = (show(v).removesuffix(" points").removesuffix(" %") for v in ends)
    return f"{low} to {high}"
