"""The comparison of the schemes in plain words, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from fairfl._support.checks import listed
from fairfl.reports.comparison import ENDS, ZERO, Comparison, Reach
from fairfl.reports.question import ONES, PLAIN, Question
from fairfl.reports.sampling import LEVEL
from fairfl.solvers.schemes import CFL, SCHEMES
from fairfl.theory.populations.notions import NOTIONS, RATES, rates_named

SEARCHED = "A better rule may exist: this value comes from a search."
SURE = 0.95
"""What fewer samples reach is not said to be reached without their share."""
TOLD = 0.01
"""Where a loss may be further than this from what was found, more people are asked for."""
NEGLIGIBLE = 5e-6
"""Losses below this are called none: of accuracy they print as 0.000 percentage points."""


def sentences(found: Comparison) -> list[str]:
    """The comparison in plain words."""
    question, values = found.question, found.reaches["cfl"].values
    these = "" if found.people is None else f" for these {found.people:,} people"
    best, fair = (_value(found, "cfl", column) for column in (2, 1))
    if question.value == "accuracy":
        best, fair = f"{best} of the decisions are right{these}", f"{fair} are right"
    else:
        best, fair = f"the {question.value}{these} is {best}", f"the {question.value} is {fair}"
    out = [
        f"With no constraint, {best}; {_apart(found)}a disparity of {_disparity(found, 'cfl', 3)}.",
        f"Perfect fairness (disparity 0) costs {_lost(question, values[-1] - values[0])}"
        f"{_between(found, 'cfl', -1)} when the data are pooled: {fair}.",
    ]
    out += [_at(found, k, part) for k in found.talked for part in found.parts if part]
    out += [_cost(found, scheme) for scheme in found.reaches if scheme != CFL.name]
    return [*out, *_sampled(found), *_too_few(found), *failed(found)]


def failed(found: Comparison) -> list[str]:
    """What failed, and why."""
    return [
        f"{SCHEMES[part].label if part in SCHEMES else part} failed: {why}"
        for part, why in found.failures.items()
    ]


def clients(found: Comparison) -> str:
    """The clients with their shares of the people."""
    names = zip(found.clients, found.weight, strict=True)
    return listed([f"{name} ({100 * share:.0f} %)" for name, share in names], 8)


def asked(question: Question) -> list[str]:
    """Notion, costs and visibility in one line; empty for the defaults."""
    if question == PLAIN:
        return []
    gap = "between two groups" if question.difference == "pairwise" else "from the whole population"
    name = question.notion.replace("_", " ")
    rates = rates_named(question.notion)
    parts = [f"{name}: the disparity is the largest difference of {rates} {gap}"]
    if isinstance(question.costs, str):
        parts.append("rules are compared by balanced accuracy")
    elif question.costs != ONES:
        missed, wrong = (" and ".join(f"{c:g}" for c in np.ravel(v)) for v in question.costs)
        by_group = ", by group" if any(map(np.ndim, question.costs)) else ""
        parts.append(
            "rules are compared by utility, minus the expected cost: a missed positive costs "
            f"{missed}, a wrong positive {wrong}{by_group}"
        )
    if question.sees == "x":
        parts.append("rules do not see the group")
    if question.local_eps is not None:
        limit = f"at most {question.local_eps:g}" if question.local_eps < np.inf else "not limited"
        parts.append(f"client-aware: a rule for each client, whose own disparity is {limit}")
    return [f"asked: {'; '.join(parts)}."]


def _apart(found: Comparison) -> str:
    """The groups whose rates make the disparity."""
    rates = np.array(found.rates.by_group)
    low, high = int(np.nanargmin(rates)), len(rates) - 1 - int(np.nanargmax(rates[::-1]))
    ends = [(f"group {found.groups[k]}", float(rates[k])) for k in (high, low)]
    if found.question.difference == "overall":
        of_all = found.rates.of_all
        ends = [max(ends, key=lambda end: abs(end[1] - of_all)), ("the population", of_all)]
    return f"{rates_apart(found.rates.rate, ends, found.rates.undefined)}: "


def rates_apart(rate: str, ends: Sequence[tuple[str, float]], undefined: Sequence[str]) -> str:
    """Two values of a rate, each after the name of whose it is, and which rates are left out."""
    high, low = ends
    row, missing = RATES[rate], f" (left out: {' and '.join(undefined)})" if undefined else ""
    rates = f"is {row.served} at a rate of {number(high[1])}, {low[0]} of {number(low[1])}"
    return f"where {row.event}, " * bool(row.event) + f"{high[0]} {rates}{missing}"


def _at(found: Comparison, k: int, schemes: Sequence[str]) -> str:
    """What the schemes reach at one disparity; how their budgets are set is said once."""
    parts, said = [], ""
    best = found.reaches["cfl"].at[k]
    for scheme in schemes:
        reach = found.reaches[scheme]
        got, row = reach.at[k], SCHEMES[scheme]
        who = row.words if row.budget_words == said else row.in_words
        said = row.budget_words or said
        if got is None or best is None:
            how = _found(found, reach)
            verb = f"{how} to reach no less than" if how else "cannot get below"
            parts.append(f"{who} {verb} {_disparity(found, scheme, 0)}{_here(found)}")
            continue
        value = found.question.value
        a_value = f"a{'n' * (value[0] == 'a')} {value} of " if scheme == CFL.name else ""
        parts.append(f"{who} reaches {a_value}{_value(found, scheme, len(ENDS) + k)}")
        if got - best > NEGLIGIBLE:
            parts[-1] += f", {difference(found.question, got - best)} more"
        elif scheme != CFL.name:
            how = "" if reach.frontier.exact else " (from a search)"
            column = len(ENDS) + len(found.disparities) + k
            parts[-1] += (
                f", {difference(found.question, best - got)} less"
                f"{_between(found, scheme, column)}{how}{_alike(found, scheme, column)}"
                if best - got > NEGLIGIBLE
                else ", the same as pooling"
            )
        share = 1.0 if found.spread is None else found.reached(scheme)[k]
        if share < SURE:
            parts[-1] += f" (about {100 * share:.0f} % of samples such as this one reach it)"
    return f"At a disparity of {found.disparities[k]:g}, {'; '.join(parts)}."


def _cost(found: Comparison, scheme: str) -> str:
    reach = found.reaches[scheme]
    who = SCHEMES[scheme].in_words
    who = who[0].upper() + who[1:]
    value, told = found.question.value, found.question
    least = _found(found, reach)
    none = f"{least} no fairer" if least else "gets no fairer"
    fair = f"{none}{_here(found)} than a disparity of {_disparity(found, scheme, 0)}"
    if reach.smallest < ZERO:
        fair = f"reaches perfect fairness{_here(found)}"
    more = ""
    if reach.gain > NEGLIGIBLE and SCHEMES[scheme].sees_client:
        more = f" It gains up to {_lost(told, reach.gain, always=True)}."
    if reach.loss <= NEGLIGIBLE:
        return (
            f"{who} {fair}, and loses no {value} against pooling at any disparity that it reaches."
            f"{more}"
        )
    how = "" if reach.frontier.exact else f" {SEARCHED}"

    return (
        f"{who} {fair}, and loses up to "
        f"{difference(told, reach.loss)}{_between(found, scheme, 4)} of {value} against "
        f"pooling at the same disparity (at {number(reach.loss_at)})"
        f"{_alike(found, scheme, 4) or _least(found, scheme, 4)}.{how}{more}"
    )


def _between(found: Comparison, scheme: str, column: int) -> str:
    """The interval of a difference of values."""
    return _brackets(found.between(scheme, column), lambda value: difference(found.question, value))


def _alike(found: Comparison, scheme: str, column: int) -> str:
    """Said of a loss whose interval holds zero."""
    ends = found.between(scheme, column)
    return ", not distinguishable from pooling" if ends and ends[0] <= NEGLIGIBLE else ""


def _least(found: Comparison, scheme: str, column: int) -> str:
    """Said of a loss whose interval does not hold zero."""
    ends = found.between(scheme, column)
    return f", at least {difference(found.question, ends[0])} for all such people" if ends else ""


def _here(found: Comparison) -> str:
    return "" if found.people is None else " on these people"


def _value(found: Comparison, scheme: str, column: int) -> str:
    show = shower(found.question)
    value = found.number(scheme, column)
    return show(value) + _brackets(found.between(scheme, column), show)


def _lost(question: Question, value: float, *, always: bool = False) -> str:
    """A difference, and of what it is unless of accuracies."""
    unit = f" of {question.value}" if always or question.value != "accuracy" else ""
    return f"{difference(question, value)}{unit}"


def _disparity(found: Comparison, scheme: str, column: int) -> str:
    value = found.number(scheme, column)
    return number(value) + _brackets(found.between(scheme, column), number)


def _sampled(found: Comparison) -> list[str]:
    """What was done about people being a sample."""
    if found.spread is None:
        return []
    out = [
        f"In brackets and below numbers: approximate {100 * LEVEL:.0f} % intervals for all people "
        "such as these, from the derivatives of the numbers with respect to the people"
        f"{' and from rules held out' * found.judged}; of the disparity of the best rule, from "
        f"{found.spread.bootstraps} bootstraps (seed {found.spread.seed})."
    ]
    if found.judged:
        assert found.spread is not None
        k = found.talked[0] + 1 if found.talked else 0
        where = f"at a disparity of {found.disparities[k - 1]:g}" if k else "at disparity 0"
        value, held = (shower(found.question)(v[0, k, 0]) for v in (found.table, found.spread.held))
        out.append(
            "These rules are fitted to the people they are counted on. Fitted to four fifths of "
            f"them and judged on the others, pooling's rule {where} reaches {held}, not {value}."
        )
    return out


def _too_few(found: Comparison) -> list[str]:
    """How many people are needed, where these are too few to detect differences of ``TOLD``."""
    first = len(ENDS) + len(found.disparities)
    losses = [4, *(first + k for k in found.talked)]
    half = 0.0
    for scheme, column in product(found.reaches, losses):
        if ends := found.between(scheme, column):
            half = max(half, *np.abs(np.array(ends) - found.number(scheme, column)))
    if not found.question.is_share or half <= TOLD or found.people is None:
        return []
    enough = found.people / len(found.clients) * (half / TOLD) ** 2
    return [
        f"These data do not suffice to tell differences of {points(TOLD)} from pooling: about "
        f"{float(f'{enough:.2g}'):,.0f} people at each site would suffice."
    ]


def shower(question: Question) -> Callable[[float], str]:
    """How values are written."""
    return percent if question.is_share else utility


def difference(question: Question, value: float) -> str:
    """A difference of values."""
    return points(value) if question.is_share else number(value)


def utility(value: float) -> str:
    """A utility, five digits."""
    return "0" if abs(value) < ZERO else f"{value:#.5g}"


def percent(value: float) -> str:
    """An accuracy, such as 83.12 %."""
    return f"{100 * value:.2f} %"


def points(value: float) -> str:
    """A difference of accuracies in percentage points, such as 1.12 points."""
    return f"{100 * value:.2f} points" if abs(value) >= 5e-5 else f"{100 * value:.3f} points"


def number(value: float) -> str:
    """A disparity or a rate, three digits; rounding errors are zero."""
    return "undefined" if value != value else "0" if abs(value) < ZERO else f"{value:.3g}"


def _found(found: Comparison, reach: Reach) -> str:
    """Said of a smallest disparity that was searched for; LFT+Ensemble's is known even where its
    curve is not, of two groups with one rate where rules see the group.
    """
    asked = found.question
    rates = [RATES[name] for name in NOTIONS[asked.notion]]
    one = len(found.groups) == 2 and len(rates) == 1 and asked.sees == "xa"
    one = one and rates[0].linear == rates[0].mass
    searched = ("lft_fedavg",) if one else ("lft_fedavg", "lft_ensemble")
    return "was found" if reach.frontier.scheme in searched and not reach.frontier.exact else ""


def _brackets(ends: tuple[float, float] | None, show: Callable[[float], str]) -> str:
    """An interval in brackets behind its number, the unit once."""
    return "" if ends is None else f" ({span(ends, show)})"


def span(ends: tuple[float, float], show: Callable[[float], str]) -> str:
    """An interval, such as 71.25 to 73.75; what is shown has its unit beside it."""
    low, high = (show(v).removesuffix(" points").removesuffix(" %") for v in ends)
    return f"{low} to {high}"
