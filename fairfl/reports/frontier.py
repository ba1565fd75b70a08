"""What `fairfl frontier` prints and writes: notes, tables and words; a CSV and a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from fairfl._support.whole_file import write_whole
from fairfl.reports.bootstrap import FEWEST, MOST_BOOTSTRAPS
from fairfl.reports.comparison import ENDS, Comparison, compare
from fairfl.reports.comparison_intervals import with_intervals
from fairfl.reports.comparison_words import clients, number, question_lines, sentences, shower, span
from fairfl.reports.counted import counted_lines, excesses, level_share
from fairfl.reports.curves import noted
from fairfl.reports.guarantee import exceeded
from fairfl.reports.judgement.parts import Part
from fairfl.reports.judgement.parts import table as parts_table
from fairfl.reports.question import PLAIN, Question
from fairfl.reports.rules import budgets
from fairfl.reports.sampling import Progress
from fairfl.reports.scores import Scored
from fairfl.reports.scores import tables as score_tables
from fairfl.reports.terminal import tell, tell_table
from fairfl.solvers.schemes import SCHEMES
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS

if TYPE_CHECKING:
    from fairfl.figures.lib.frontier_panels import Axes

BY_SCORE = " by rules of this score"
AGREED = "One budget for all clients: what they can agree on"
PLANNED = "A budget for each client: the best that a planner who knew all data could choose"


def compared(
    federation: Federation,
    sample: Counted | None = None,
    *,
    question: Question = PLAIN,
    at: Sequence[float] | None = None,
    count: int = 60,
    bootstraps: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare the schemes; ``sample``: the people that the federation was made of, None for laws.

    ValueError: some bootstraps, but too few for an interval, or too many to end.
    """
    if bootstraps and not FEWEST <= bootstraps <= MOST_BOOTSTRAPS:
        raise ValueError(
            f"bootstraps must be 0, or from {FEWEST} to {MOST_BOOTSTRAPS}, got {bootstraps}"
        )
    comparison = compare(federation, question=question, at=at, count=count, progress=progress)
    if sample is None:
        return comparison
    comparison = replace(
        comparison,
        counted=excesses(comparison, federation, sample),
        level_share=level_share(sample, question.notion),
        by_score=BY_SCORE * (question.sees == "x" and sample.cells is None),
    )
    with noted("intervals", comparison.failures):
        comparison = with_intervals(
            comparison, federation, sample, bootstraps=bootstraps, seed=seed, progress=progress
        )
    return replace(comparison, promises=exceeded(comparison, sample))


def show(
    comparison: Comparison,
    notes: Sequence[str],
    scores: Sequence[Scored],
    parts_by_scheme: Mapping[str, Sequence[Part]],
) -> None:
    """Print notes, the tables and the words."""
    plural = "clients" if len(comparison.clients) > 1 else "client"
    for line in [
        f"{plural}: {clients(comparison)}",
        f"groups: {_groups(comparison)}",
        *notes,
        *question_lines(comparison.question),
        *counted_lines(comparison),
    ]:
        tell(line, "  ")
    # names are text; as wide as the terminal, or COLUMNS, or 80
    console = Console(color_system=None, markup=False, emoji=False)
    parts = [part for part in zip(comparison.parts, (AGREED, PLANNED), strict=True) if part[0]]
    for schemes, title in parts:
        console.print(table(comparison, schemes, title))
    console.print(rules_table(comparison))
    for line in sentences(comparison):
        tell(line, "  ")
    if comparison.judged:
        for schemes, title in parts:
            console.print(held_out_table(comparison, schemes, title))
    for scores_table in score_tables(scores, comparison.question):
        console.print(scores_table)
    for scheme, rows in parts_by_scheme.items():
        about = "on the people that it was fitted to, counted by their labels:"
        tell(f"{SCHEMES[scheme].label}: its rule {about}")
        tell_table(parts_table(rows, "client", "group"))


def _groups(comparison: Comparison) -> str:
    """Two groups by name, more also by their share of the people."""
    if len(comparison.groups) == 2:
        return " and ".join(comparison.groups)
    return ", ".join(
        f"{name} ({100 * share:.2g} %)"
        for name, share in zip(comparison.groups, comparison.shares, strict=True)
    )


def rules_table(comparison: Comparison) -> Table:
    """Budgets, thresholds and rates by group of the rules at one disparity."""
    level = comparison.disparities[comparison.worded[0]] if comparison.worded else None
    where = "no constraint" if level is None else f"a disparity of {level:g}, or the smallest above"
    out = Table(title=f"The rules at {where}", title_justify="left")
    rate_names = NOTIONS[comparison.question.notion].rate_names
    for name in ("", "budget", "group", "accepted", rate_names):
        out.add_column(name, overflow="fold")
    for scheme, chosen in comparison.rules.items():
        rule = chosen.solution.classifier
        by_client = isinstance(rule, ClientClassifiers)
        for a, group in enumerate(comparison.groups):
            rates = " and ".join(number(rate) for rate in chosen.rates[:, a])
            accepted = "by client" if by_client else rule.accepted(rule.groups[a])
            first = ("", "") if a else (SCHEMES[scheme].label, budgets(chosen.solution))
            out.add_row(*first, group, accepted, rates, end_section=a == len(comparison.groups) - 1)
    return out


def table(comparison: Comparison, schemes: Sequence[str], title: str) -> Table:
    """A column for each scheme, so that 80 characters do; intervals stand below the numbers."""
    out = _headed(schemes, "", title)
    value, shown = comparison.question.value, shower(comparison.question)

    def row(name: str, column: int, show: Callable[[float], str], end: bool = False) -> None:
        cells, several = [], False
        for scheme in schemes:
            value, ends = comparison.number(scheme, column), comparison.between(scheme, column)
            cells.append("-" if np.isnan(value) else show(value))
            if ends is not None and not np.isnan(value):
                cells[-1] += f"\n{span(ends, show)}"
                several = True
        out.add_row(f"{name}\n" if several else name, *cells, end_section=end)

    row("smallest disparity", 0, number)
    row(f"{value} there", 1, shown, True)
    last = len(comparison.disparities) - 1
    for k, d in enumerate(comparison.disparities):
        row(f"{value} at disparity {d:g}", len(ENDS) + k, shown, k == last)
    row(f"best {value}", 2, shown)
    row("disparity there", 3, number)
    return out


def held_out_table(comparison: Comparison, schemes: Sequence[str], title: str) -> Table:
    """Values on these people, and held out, at the same disparity; at the ends also disparities."""
    assert comparison.spread is not None
    out = _headed(schemes, "these people → held out", title)
    show, value = shower(comparison.question), comparison.question.value
    names = [f"disparity {d:g}" for d in comparison.disparities]
    for k, name in enumerate(["smallest disparity", *names, f"best {value}"]):
        end, cells = k in (0, len(names) + 1), []
        for scheme in schemes:
            row = list(comparison.reaches).index(scheme)
            fitted, fitted_disparity = comparison.table[row, k]
            judged, judged_disparity = comparison.spread.held_out[row, k]
            cell = f"{show(fitted).removesuffix(' %')} → {show(judged)}"
            cell += f"\n{fitted_disparity:.3f} → {judged_disparity:.3f}" * end
            cells.append("-" if np.isnan(fitted) else cell)
        out.add_row(name + "\n" * end, *cells)
    return out


def _headed(schemes: Sequence[str], first: str, title: str | None = None) -> Table:
    out = Table(title=title, title_justify="left")
    out.add_column(first)
    for scheme in schemes:
        out.add_column(SCHEMES[scheme].heading, justify="right")
    return out


def write(comparison: Comparison, title: str, out: Path) -> list[Path]:
    """Write frontier.csv, the pictures drawn from it alone, and the rules."""
    from fairfl.figures.lib import frontier_panels, style
    from fairfl.figures.lib.saved import save

    data = frontier_panels.rows(
        title, {scheme: reach.frontier for scheme, reach in comparison.reaches.items()}
    )
    axes = _axes(comparison.question)
    if axes.column not in data:  # balanced accuracy; accuracy where half of the people have y = 1
        data[axes.column] = 1.0 + data["utility"] if "utility" in data else data["accuracy"]
    with style.sheet():
        figure = frontier_panels.draw(
            data.assign(panel=style.plain(title)), columns=1, height=5.6, losses=True, axes=axes
        )
        files = save("frontier", title, data, figure, out)
    for scheme, rule in comparison.classifiers.items():
        files.append(write_whole(out / f"rule_{scheme}.json", rule.to_json()))
    return files


def _axes(question: Question) -> Axes:
    from fairfl.figures.lib.frontier_panels import Axes

    words: dict[str, Any] = {}
    if (question.notion, question.difference) != (PLAIN.notion, PLAIN.difference):
        words["disparity"] = NOTIONS[question.notion].axis_label(question.difference)
    if question.value != PLAIN.value:
        words |= {"column": question.value.replace(" ", "_"), "value": question.value}
    if not question.is_share:
        words |= {
            "value": "utility (minus expected cost)",
            "loss": "below CFL (utility)",
            "unit": 1.0,
        }
    return Axes(**words)
