"""The comparison of the schemes in plain words, and how its numbers are written."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from fairfl._support.checks import listed
from fairfl.reports.comparison import ENDS, ZERO, Comparison, Reach
from fairfl.reports.question import ONES, PLAIN, Question
from fairfl.reports.sampling import LEVEL
from fairfl.solvers.schemes import CFL, CFL_LOCAL, CLIENT_AWARE, SCHEMES
from fairfl.solvers.tolerances import PROVEN
from fairfl.theory.populations.notions import NOTIONS, Rate

SURE = 0.95
"""What fewer samples reach is not said to be reached without their share."""
DETECTABLE = 0.01
"""Where an interval of a loss reaches further from its estimate, more people are needed."""
NEGLIGIBLE = 5e-6
"""Losses below this are called none: of accuracy they print as 0.000 percentage points."""


def sentences(comparison: Comparison) -> list[str]:
    """The comparison in plain words."""
    question, values = comparison.question, comparison.reaches["cfl"].values
    sample = "" if comparison.people is None else f" for these {comparison.people:,} people"
    best, fair = (_value(comparison, "cfl", column) for column in (2, 1))
    if question.value == "accuracy":
        best, fair = f"{best} of the decisions are right{sample}", f"{fair} are right"
    else:
        best, fair = f"the {question.value}{sample} is {best}", f"the {question.value} is {fair}"
    best += _order_cost(comparison, "cfl", len(comparison.disparities), values[-1])
    out = [
        f"With no constraint, {best}; {_extreme_groups(comparison)}"
        f"a disparity of {_disparity(comparison, 'cfl', 3)}.",
        f"{_price(comparison, ' (disparity 0)')} when the data are pooled: {fair}.",
    ]
    pairs = product(comparison.worded, filter(None, comparison.parts))
    out += [_values_at(comparison, k, schemes) for k, schemes in pairs]
    out += [_cost(comparison, scheme) for scheme in comparison.reaches if scheme != CFL.name]
    out += [*_sampled(comparison), *_too_few(comparison), *comparison.promises]
    return [*out, *failed(comparison)]


def headline(comparison: Comparison) -> str:
    """What perfect fairness costs, and how near to it sites come that agree on one budget."""
    price = _price(comparison)
    local = {s: reach for s, reach in comparison.reaches.items() if SCHEMES[s].one_budget}
    if len(comparison.clients) == 1 or not local:
        return f"{price}."
    scheme, reach = min(local.items(), key=lambda row: row[1].smallest)
    if reach.smallest < ZERO:
        loss = f"{difference(comparison.question, reach.loss)}{_between(comparison, scheme, 4)}"
        end = f"gets as fair, and loses up to {loss} against pooling"
    else:
        search_note = " that was found" * bool(_search_verb(comparison, reach))
        end = f"has the smallest disparity{search_note}, {_disparity(comparison, scheme, 0)}"
    return (
        f"{price} when the data are pooled; if they are not, and all sites "
        f"have one budget, {SCHEMES[scheme].heading} {end}."
    )


def _price(comparison: Comparison, level: str = "") -> str:
    """What perfect fairness costs with pooled data."""
    values = comparison.reaches["cfl"].values
    loss = _lost(comparison.question, values[-1] - values[0])
    ends = _between(comparison, "cfl", -1)
    return f"Perfect fairness{level}{comparison.by_score} costs {loss}{ends}"


def failed(report: Any) -> list[str]:
    """What failed, and why, of a report with ``failures``."""
    return [
        f"{SCHEMES[part].label if part in SCHEMES else part} failed: {why}"
        for part, why in report.failures.items()
    ]


def clients(comparison: Comparison) -> str:
    """The clients with their shares of the people."""
    names = zip(comparison.clients, comparison.weight, strict=True)
    return listed([f"{name} ({100 * share:.0f} %)" for name, share in names], 8)


def question_lines(question: Question) -> list[str]:
    """Notion, costs and visibility in one line; empty for the defaults."""
    if question == PLAIN:
        return []
    gap = "between two groups" if question.difference == "pairwise" else "from the whole population"
    notion = NOTIONS[question.notion]
    rates = notion.rate_names
    parts = [f"{notion.words}: the disparity is the largest difference of {rates} {gap}"]
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
    if question.monotone:
        parts.append("rules are monotone: within a group a larger score is never accepted less")
    if question.local_eps is not None:
        limit = f"at most {question.local_eps:g}" if question.local_eps < np.inf else "not limited"
        if CFL_LOCAL.name in question.schemes:
            parts.append(f"CFL with local budgets: one rule, each client's disparity {limit}")
        if CLIENT_AWARE.name in question.schemes:
            parts.append(f"client-aware: a rule for each client, whose own disparity is {limit}")
    return [f"asked: {'; '.join(parts)}."]


def _extreme_groups(comparison: Comparison) -> str:
    """The groups whose rates make the disparity."""
    rates = np.array(comparison.rates.by_group)
    low, high = int(np.nanargmin(rates)), len(rates) - 1 - int(np.nanargmax(rates[::-1]))
    ends = [(f"group {comparison.groups[k]}", float(rates[k])) for k in (high, low)]
    if comparison.question.difference == "overall":
        of_all = comparison.rates.of_all
        ends = [max(ends, key=lambda end: abs(end[1] - of_all)), ("the population", of_all)]
    return f"{rates_apart(comparison.rates.rate, ends, comparison.rates.undefined)}: "


def rates_apart(rate: Rate, ends: Sequence[tuple[str, float]], undefined: Sequence[str]) -> str:
    """Two values of a rate, each after the name of whose it is, and which rates are left out."""
    high, low = ends
    missing = f" (left out: {' and '.join(undefined)})" if undefined else ""
    rates = f"is {rate.served} at a rate of {number(high[1])}, {low[0]} of {number(low[1])}"
    return f"where {rate.event}, " * bool(rate.event) + f"{high[0]} {rates}{missing}"


def _values_at(comparison: Comparison, k: int, schemes: Sequence[str]) -> str:
    """What the schemes reach at one disparity; how their budgets are set is said once."""
    parts, budget_words = [], ""
    best = comparison.reaches["cfl"].values_at[k]
    for scheme in schemes:
        reach = comparison.reaches[scheme]
        reached, row = reach.values_at[k], SCHEMES[scheme]
        subject = row.words if row.budget_words == budget_words else row.in_words
        budget_words = row.budget_words or budget_words
        if reached is None or best is None:
            search_verb = _search_verb(comparison, reach)
            verb = f"{search_verb} to reach no less than" if search_verb else "cannot get below"
            smallest = _disparity(comparison, scheme, 0)
            parts.append(f"{subject} {verb} {smallest}{_on_people(comparison)}")
            continue
        value = comparison.question.value
        a_value = f"a{'n' * (value[0] == 'a')} {value} of " if scheme == CFL.name else ""
        parts.append(f"{subject} reaches {a_value}{_value(comparison, scheme, len(ENDS) + k)}")
        parts[-1] += _order_cost(comparison, scheme, k, reached)
        if reached - best > NEGLIGIBLE:
            parts[-1] += f", {difference(comparison.question, reached - best)} more"
        elif scheme != CFL.name:
            standing = _best(comparison.question, reach.gaps_at[k] or 0.0, best - reached)
            column = len(ENDS) + len(comparison.disparities) + k
            parts[-1] += (
                f", {difference(comparison.question, best - reached)} less"
                f"{_between(comparison, scheme, column)} ({standing})"
                f"{_near_pooling(comparison, scheme, column)}"
                if best - reached > NEGLIGIBLE
                else ", the same as pooling"
            )
        share = 1.0 if comparison.spread is None else comparison.reached(scheme)[k]
        if share < SURE:
            parts[-1] += f" (about {100 * share:.0f} % of samples such as this one reach it)"
    where = f"At a disparity of {comparison.disparities[k]:g}{comparison.by_score}"
    return f"{where}, {'; '.join(parts)}."


def _order_cost(comparison: Comparison, scheme: str, k: int, value: float) -> str:
    """How far a value of monotone rules is below that of rules that need not be."""
    loss = comparison.any_rule[scheme][k] - value if scheme in comparison.any_rule else np.nan
    if np.isnan(loss):
        return ""
    words = f"{difference(comparison.question, abs(loss))} less than any rule"
    if loss <= NEGLIGIBLE:  # clients' budgets of their own have other optima without an order
        words = "as good as any rule" if loss >= -NEGLIGIBLE else words.replace("less", "more")
    return f" (monotone rules: {words})"


def _cost(comparison: Comparison, scheme: str) -> str:
    reach = comparison.reaches[scheme]
    subject = SCHEMES[scheme].in_words
    subject = subject[0].upper() + subject[1:]
    value, question = comparison.question.value, comparison.question
    search_verb = _search_verb(comparison, reach)
    none = f"{search_verb} no fairer" if search_verb else "gets no fairer"
    on_people = f"{_on_people(comparison)}{comparison.by_score}"
    fair = f"{none}{on_people} than a disparity of {_disparity(comparison, scheme, 0)}"
    if reach.smallest < ZERO:
        fair = f"reaches perfect fairness{on_people}"
    gain = ""
    if reach.gain > NEGLIGIBLE and SCHEMES[scheme].sees_client:
        gain = f" It gains up to {_lost(question, reach.gain, with_unit=True)}."
    if reach.loss <= NEGLIGIBLE:
        return (
            f"{subject} {fair}, and loses no {value} against pooling at any disparity that it "
            f"reaches.{gain}"
        )
    gap = float(reach.gap.max()) if reach.frontier.is_bounded else reach.loss
    standing = _best(question, gap, reach.loss)
    return (
        f"{subject} {fair}, and loses up to "
        f"{difference(question, reach.loss)}{_between(comparison, scheme, 4)} of {value} against "
        f"pooling at the same disparity (at {number(reach.loss_at)})"
        f"{_near_pooling(comparison, scheme, 4) or _lower_bound(comparison, scheme, 4)}."
        f" Its {value.removesuffix('y')}ies are {standing}.{gain}"
    )


def _best(question: Question, gap: float, loss: float) -> str:
    """The best, or what values lack to it at most, rounded up; never more than to pooling."""
    if gap <= PROVEN:
        return "the best"
    unit = 1e-5 if gap < 5e-5 else 1e-4
    above = difference(question, np.ceil(gap / unit) * unit) if gap < loss - unit else "as much"
    return f"the best of a search, at most {above} below the best"


def _between(comparison: Comparison, scheme: str, column: int) -> str:
    """The interval of a difference of values."""
    return _brackets(comparison.between(scheme, column), partial(difference, comparison.question))


def _near_pooling(comparison: Comparison, scheme: str, column: int) -> str:
    """Said of a loss whose interval holds zero."""
    ends = comparison.between(scheme, column)
    return ", not distinguishable from pooling" if ends and ends[0] <= NEGLIGIBLE else ""


def _lower_bound(comparison: Comparison, scheme: str, column: int) -> str:
    """Said of a loss whose interval does not hold zero."""
    ends = comparison.between(scheme, column)
    bound = ends and difference(comparison.question, ends[0])
    return f", at least {bound} for all such people" if bound else ""


def _on_people(comparison: Comparison) -> str:
    return "" if comparison.people is None else " on these people"


def _value(comparison: Comparison, scheme: str, column: int) -> str:
    show = shower(comparison.question)
    value = comparison.number(scheme, column)
    return show(value) + _brackets(comparison.between(scheme, column), show)


def _lost(question: Question, value: float, *, with_unit: bool = False) -> str:
    """A difference, and of what it is unless of accuracies."""
    unit = f" of {question.value}" if with_unit or question.value != "accuracy" else ""
    return f"{difference(question, value)}{unit}"


def _disparity(comparison: Comparison, scheme: str, column: int) -> str:
    value = comparison.number(scheme, column)
    return number(value) + _brackets(comparison.between(scheme, column), number)


def _sampled(comparison: Comparison) -> list[str]:
    """What was done about people being a sample."""
    if comparison.spread is None:
        return []
    out = [
        f"In brackets and below numbers: approximate {100 * LEVEL:.0f} % intervals for all people "
        "such as these, from the derivatives of the numbers with respect to the people"
        f"{' and from rules held out' * comparison.judged}; of the disparity of the best rule, "
        f"from {comparison.spread.bootstraps} bootstraps (seed {comparison.spread.seed})."
    ]
    if comparison.judged:
        k = comparison.worded[0] + 1 if comparison.worded else 0
        where = f"at a disparity of {comparison.disparities[k - 1]:g}" if k else "at disparity 0"
        tables, show = (comparison.table, comparison.spread.held_out), shower(comparison.question)
        value, held_out = (show(table[0, k, 0]) for table in tables)
        out.append(
            "These rules are fitted to the people they are counted on. Fitted to four fifths of "
            f"them and judged on the others, pooling's rule {where} reaches {held_out}, "
            f"not {value}."
        )
    return out


def _too_few(comparison: Comparison) -> list[str]:
    """How many people would tell whether a loss at a disparity in words is ``DETECTABLE``."""
    first, half, subject = len(ENDS) + len(comparison.disparities), DETECTABLE, ""
    for scheme, k in product(comparison.reaches, comparison.worded):
        low, high = comparison.between(scheme, first + k) or (0.0, 0.0)
        loss = comparison.number(scheme, first + k)
        if low < DETECTABLE < high and max(high - loss, loss - low) > half:
            half = max(high - loss, loss - low)
            subject = f"{SCHEMES[scheme].in_words} loses {points(DETECTABLE)}"
            level = f"{comparison.disparities[k]:g}{comparison.by_score}"
            subject = f"At a disparity of {level}, whether {subject}"
    if not (comparison.question.is_share and comparison.people and subject):
        return []
    sufficient = comparison.people / len(comparison.clients) * (half / DETECTABLE) ** 2
    return [
        f"{subject} or more against pooling, these data do not suffice to tell: about "
        f"{float(f'{sufficient:.2g}'):,.0f} people at each site would suffice."
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


def _search_verb(comparison: Comparison, reach: Reach) -> str:
    """Said of a smallest disparity that was searched for; LFT+Ensemble's is known even where its
    curve is not, of two groups with one rate where rules see the group.
    """
    question = comparison.question
    rates = NOTIONS[question.notion].rates
    has_formula = len(comparison.groups) == 2 and len(rates) == 1 and question.sees == "xa"
    has_formula = has_formula and rates[0].linear == rates[0].mass
    searched = ("lft_fedavg",) if has_formula else ("lft_fedavg", "lft_ensemble")
    return "was found" if reach.frontier.scheme in searched and not reach.frontier.exact else ""


def _brackets(ends: tuple[float, float] | None, show: Callable[[float], str]) -> str:
    """An interval in brackets behind its number, the unit once."""
    return "" if ends is None else f" ({span(ends, show)})"


def span(ends: tuple[float, float], show: Callable[[float], str]) -> str:
    """An interval, such as 71.25 to 73.75; what is shown has its unit beside it."""
    low, high = (show(v).removesuffix(" points").removesuffix(" %") for v in ends)
    return f"{low} to {high}"
