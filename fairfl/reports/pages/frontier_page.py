"""A comparison as one HTML page that loads nothing, with a slider for the disparity."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from fairfl.reports.comparison import ENDS, Comparison, at_disparities, chosen
from fairfl.reports.comparison_intervals import with_intervals
from fairfl.reports.comparison_words import clients, headline, question_lines, sentences
from fairfl.reports.curves import noted
from fairfl.reports.pages.html_page import as_json, html_page
from fairfl.reports.people import Read
from fairfl.reports.rules import Chosen, budgets
from fairfl.reports.sampling import Progress
from fairfl.solvers.schemes import SCHEMES
from fairfl.solvers.tolerances import PROVEN
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS

STEPS = 24
"""Positions of the slider, at least, where the most accurate rule's disparity is not zero."""
UNITS = (1.0, 2.0, 5.0)
"""A position of the slider is a multiple of one of these times a power of ten."""


def frontier_page(
    comparison: Comparison,
    read: Read,
    *,
    title: str,
    progress: Progress | None = None,
    **draws: Any,
) -> str:
    """The page, with intervals of these ``draws``."""
    federation, notes, sample = read[:3]
    curves = {scheme: reach.frontier for scheme, reach in comparison.reaches.items()}
    steps = positions(float(curves["cfl"].disparity[-1]))
    question, failures = comparison.question, comparison.failures
    dense = at_disparities(federation, question, curves, steps, True, failures)
    if sample is not None:
        with noted("intervals", failures):
            dense = with_intervals(dense, federation, sample, progress=progress, **draws)
    schemes = []
    for k, scheme in enumerate(dense.reaches):
        if progress is not None:
            progress(f"rules of {SCHEMES[scheme].label}", k, len(dense.reaches))
        with noted(scheme, failures):
            schemes.append(_scheme(dense, federation, scheme))
    data = {
        "steps": list(steps),
        "groups": list(comparison.groups),
        "share": question.is_share,
        "value": question.value,
        "by": comparison.by_score,
        "rates": _rates(comparison),
        "schemes": schemes,
    }
    return html_page(
        Path(__file__).with_suffix(".html"),
        title=escape(title),
        question=escape(question.title(len(comparison.clients))),
        headline=escape(headline(comparison)),
        about=escape(about(comparison)),
        sentences=_items(sentences(comparison)),
        notes=_items([*notes, *KNOW]),
        data=as_json(data),
    )


KNOW = (
    "Ranges are approximate 95 % intervals for all people such as these, where the input is a "
    "table of people; bands show them at the positions of the slider.",
    "Curves show the best rules of each scheme. What training finds in practice may be worse.",
)


def positions(top: float) -> tuple[float, ...]:
    """Positions of the slider: multiples of a round number from 0 to ``top`` or the next above."""
    if top <= 0.0:
        return (0.0,)
    power = 10.0 ** np.floor(np.log10(top / STEPS))
    unit = max(u * power for u in UNITS if u * power <= top / STEPS)
    return tuple(float(f"{min(k * unit, 1.0):.10g}") for k in range(int(np.ceil(top / unit)) + 1))


def about(comparison: Comparison) -> str:
    """Whose data these are, and what a disparity is."""
    people = "" if comparison.people is None else f"{comparison.people:,} people; "
    rate_names = NOTIONS[comparison.question.notion].rate_names
    plain = f"The disparity is the largest difference of {rate_names} between groups."
    lines = question_lines(comparison.question) or [plain]
    groups = ", ".join(comparison.groups)
    return f"{people}sites: {clients(comparison)}; groups: {groups}. {' '.join(lines)}"


def _rates(comparison: Comparison) -> list[str]:
    """What groups' rates count."""
    rates = NOTIONS[comparison.question.notion].rates
    return [f"with {r.event} are {r.served}" if r.event else f"are {r.served}" for r in rates]


def _scheme(dense: Comparison, federation: Federation, scheme: str) -> dict[str, Any]:
    """One scheme: its curve, and what it reaches at each position, None where it does not."""
    reach, look = dense.reaches[scheme], SCHEMES[scheme]
    at = []
    for k, (d, value) in enumerate(zip(dense.disparities, reach.values_at, strict=True)):
        if value is None:
            at.append(None)
            continue
        below = len(ENDS) + len(dense.disparities) + k
        rule = chosen(federation, dense.question, scheme, reach.frontier, d)
        at.append(
            {
                "value": _round(value),
                "interval": _round(dense.between(scheme, len(ENDS) + k)),
                "below": _round(dense.number(scheme, below)),
                "below_interval": _round(dense.between(scheme, below)),
                "budget": budgets(rule.solution),
                "rates": _round(rule.rates),
                "accepted": _accepted(rule),
            }
        )
    curve = np.stack([reach.frontier.disparity, reach.values], axis=-1)
    return {
        "scheme": scheme,
        "budgets": "" if look.is_pooled else "common" if look.one_budget else "each",
        **look.in_browser,
        "curve": _round(curve),
        "proven": (reach.gap <= PROVEN).tolist(),
        "smallest_interval": _round(dense.between(scheme, 0)),
        "value_interval": _round(dense.between(scheme, 1)),
        "at": at,
    }


def _accepted(rule: Chosen) -> list[str]:
    """Who of each group is accepted."""
    classifier = rule.solution.classifier
    if isinstance(classifier, ClientClassifiers):
        return ["by site"] * rule.rates.shape[1]
    return [classifier.accepted(group) for group in classifier.groups]


def _round(values: Any) -> Any:
    """Values rounded to six decimals; None for NaN."""
    if values is None:
        return None
    numbers = np.asarray(values, float)
    return np.where(np.isnan(numbers), None, np.round(numbers, 6)).tolist()


def _items(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>\n" if lines else ""
