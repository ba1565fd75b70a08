"""How far predictions are from the frontiers of a score: what the scheme costs, what training left,
and what of it is sampling.

The predictions have a disparity D and an accuracy. At D the best rule of the score that pools all
data has an accuracy, and the best rule of local training with one budget for all clients another:
the first difference is the scheme's, the second is what training left. Standard errors are those of
the person by person differences of influences (``fairfl.solvers.sensitivity``), D's own among them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.tabular import Tabular
from fairfl.reports.comparison_words import failed, number, percent, points, rates_apart, span
from fairfl.reports.curves import COMPARED, POINTS, Best, best_rules, frontiers
from fairfl.reports.judgement.decided_counts import of_summaries
from fairfl.reports.judgement.drift import MEASURES, Drift, drift_between, drift_words
from fairfl.reports.judgement.parts import Decided, Gap, Number, Part, cell, estimate
from fairfl.reports.people import counted, people_words
from fairfl.reports.question import Question
from fairfl.reports.sampling import Progress
from fairfl.sims.data.frame import check_options, no_table, require, sources
from fairfl.sims.data.table_file import Form, form_of
from fairfl.sims.data.tables.people import read_people
from fairfl.sims.data.tables.table import Dataset
from fairfl.solvers.schemes import CFL, SCHEMES
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import ACCEPTANCE, RATES, Difference, Notion

FOUR_FIFTHS = 0.8
MOST_PARTS = 200
"""Parts of the people that are judged each alone."""


@dataclass(frozen=True)
class Distance:
    """Of one scheme: its smallest disparity; where the predictions' own is at least that, the
    accuracy of its best rule, and how much that is above the predictions', both at their disparity.
    """

    scheme: str
    smallest: float
    accuracy: float | None = None
    above: Number | None = None


@dataclass(frozen=True, repr=False)
class Judgement(Tabular):
    """Of predictions: accuracy and disparity, ``parts`` by client and group, and the schemes'
    distance from them.

    The accuracy is None without a label, the disparity where no two groups can be compared.
    ``rate`` is the key of the rate that is furthest apart. ``below_cfl`` is, for each scheme but
    CFL, how much less its best rule is right than CFL's; ``left_out`` says which rows of the table
    were, ``failures`` why a scheme has no distance, and ``effective`` of people with weights how
    many with equal ones have the same variance. ``drift`` is which of ``n_compared`` numbers
    changed since an earlier judgement.
    """

    people: int
    accuracy: Number | None
    disparity: Number | None
    parts: tuple[Part, ...]
    distances: tuple[Distance, ...] = ()
    below_cfl: dict[str, Number] = field(default_factory=dict)
    left_out: str = ""
    rate: str = ""
    failures: dict[str, str] = field(default_factory=dict)
    effective: float = np.inf
    drift: tuple[Drift, ...] = ()
    n_compared: int = 0
    _most_rows = 60

    @property
    def words(self) -> list[str]:
        return sentences(self)

    def to_json(self) -> str:
        """All numbers, as ``fairfl judge --json`` prints them."""
        return json.dumps(asdict(self), indent=1, allow_nan=False)

    def __repr__(self) -> str:
        return f"Judgement of {self.people:,} people"

    def _columns(self) -> dict[str, ArrayLike]:
        """Of each part its people, and its numbers with the ends of their intervals."""
        names, none = ("client", "group", "by"), Number(np.nan, np.nan, np.nan)
        columns: dict[str, Any] = {n: [getattr(p, n) or "all" for p in self.parts] for n in names}
        columns["people"] = [part.people for part in self.parts]
        for name in MEASURES:
            numbers = [astuple(getattr(part, name) or none) for part in self.parts]
            columns |= zip(
                (name, f"{name}_lower", f"{name}_upper"), np.array(numbers).T, strict=True
            )
        return columns


def judge(
    people: Any,
    *,
    prediction: str | None = None,
    rule: Classifier | str | Path | None = None,
    since: Any = None,
    notion: Notion = "demographic_parity",
    difference: Difference = "pairwise",
    seed: int = 0,
    progress: Progress | None = None,
    **table: Any,
) -> Judgement:
    """How accurate and how fair predictions are, by client and group, with intervals, and how far
    from the best rules of a score; an object with ``parts``, ``words``, ``to_frame()`` (a row for
    each client and group) and ``to_json()``.

    Parameters
    ----------
    people : a table, as a path or a frame of pandas, Polars or Arrow; or paths of sites' summaries.
    prediction : of a table, column of 0 and 1, or of chances of 1.
    rule : of summaries, the :class:`fairfl.Classifier` that decides, or its path.
    since : the study's people in the same form, or their judgement: ``drift`` is what has changed.
    notion, difference : see :func:`fairfl.solve`.
    seed : deals people into parts, on which the frontiers' rules are judged.
    table : ``group`` of a table, its other columns and its form, by the names of the command's
        options: ``label``, without which the notion must compare acceptance alone; ``client``,
        ``weight``, ``categorical``; ``score``, whose frontiers are compared, with its AUC and
        calibration; ``by``, a column of parts of the people, of dates the months; ``sep``, ...

    Raises
    ------
    ValueError : what does not fit.  OSError : a file that cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairfl as ff
    >>> people = pd.DataFrame({"p": [1, 1, 0, 0] * 9, "y": [1, 0] * 18, "a": list("ffmm") * 9})
    >>> judgement = ff.judge(people, prediction="p", label="y", group="a")
    >>> judgement.to_frame()[["group", "accepted", "right"]].values.tolist()
    [['all', 0.5, 0.5], ['f', 1.0, 0.5], ['m', 0.0, 0.5]]
    """
    check_options("judge", table, read_people, Form)
    question = Question(notion, difference)
    options: Any = {"prediction": prediction, "rule": rule, "question": question, "table": table}
    data, decided, judgement = _judged(people, **options)
    gap, _ = decided.gap(question)
    if data is not None and decided.score.size and gap is not None:
        judgement = replace(judgement, **_compared(data, decided, gap, question, seed, progress))
    if since is None:
        return judgement
    earlier = since if isinstance(since, Judgement) else _judged(since, **options)[2]
    drift, count = drift_between(earlier.parts, judgement.parts)
    return replace(judgement, drift=drift, n_compared=count)


def _judged(
    people: Any, prediction: str | None, rule: Any, question: Question, table: dict[str, Any]
) -> tuple[Dataset | None, Decided, Judgement]:
    """The rows of a table, the decisions, and the judgement without distances."""
    (source, *_), paths, kinds = sources(people)
    columns = {"prediction": prediction} | table
    columns = {name: column for name, column in columns.items() if column is not None}
    data = None
    if kinds == {".json"}:
        no_table(columns, "summaries of sites")
        decided, note = of_summaries(paths, rule)
    else:
        require(columns, paths[0], "prediction", "group")
        if rule is not None:
            raise ValueError(f"rule goes with summaries of sites, got the table {paths[0].name}")
        data, decided = _decided(source, question, **columns)
        note = data.note
    gap, _ = decided.gap(question)
    has_label = not np.isnan(decided.y).any()
    return (
        data,
        decided,
        Judgement(
            round(decided.people[0].sum()),
            decided.number(decided.accuracy) if has_label else None,
            gap and decided.number(gap),
            tuple(decided.parts(question)),
            left_out=note,
            rate=gap.rate.key if gap else "",
            effective=decided.effective_size(),
        ),
    )


def _decided(
    source: Any, question: Question, prediction: str, **table: Any
) -> tuple[Dataset, Decided]:
    """The people of a table, and their decisions."""
    score, by, label = (table.setdefault(name, None) for name in ("score", "by", "label"))
    if table.get("categorical") and score is None:
        raise ValueError("categorical goes with a score, got score=None")
    if label is None and (question.counts_labels or score is not None):
        raise ValueError(f"label must be a column for {question.notion} or a score, got none")
    options: Any = {"form": form_of(table), "numbers": {"prediction": [prediction]}}
    data = read_people(source, **options, **table)
    p = data.features[:, -1]
    if (is_outside := (p < 0) | (p > 1)).any():
        row = int(np.argmax(is_outside))
        raise ValueError(
            f"prediction {prediction!r} must be from 0 to 1, got {p[row]:g} in row {row + 1}"
        )
    if by is not None and (count := len(data.by_names)) > MOST_PARTS:
        raise ValueError(f"by {by!r} must have at most {MOST_PARTS} values or months, got {count}")
    w = np.ones(len(data)) if data.weight is None else data.weight
    y = data.label if label else np.full(len(data), np.nan)
    people, names = np.stack([np.ones_like(w), w, w**2]), (data.client_names, data.group_names)
    decided = Decided(data.client, data.group, y, p, people, *names)
    if by is not None and data.by is not None:
        decided = decided._replace(by=data.by, by_names=data.by_names)
    return data, decided if score is None else decided._replace(score=data.features[:, 0])


def _compared(
    data: Dataset,
    decided: Decided,
    gap: Gap,
    question: Question,
    seed: int,
    progress: Progress | None,
) -> dict[str, Any]:
    """The schemes' distances as a ``Judgement`` has them, without schemes that fail."""
    x = data.features[:, 0]
    sample = counted(data, x, question)
    fed = Federation.of_people(sample)
    smallest, rules, failures = {}, {}, {}
    for scheme in COMPARED:
        try:
            curves = frontiers(fed, POINTS, question, progress, [scheme])
            best = best_rules(data, x, sample, fed, curves, [gap.value], question, seed, progress)
        except RuntimeError as error:
            failures[scheme] = str(error)
            continue
        smallest[scheme] = float(curves[scheme].disparity[0])
        for rule in best.values():
            rules[scheme] = rule._replace(influence=rule.influence + rule.slope * gap.influence)
    right = decided.accuracy
    predictions = Best(right.value, right.value, right.influence, 0.0, np.zeros(1))

    def difference(minuend: Best, subtrahend: Best) -> Number:
        gain = minuend.minus(subtrahend)
        return estimate(data.client, gain.held_out, gain.influence, gain.fitted)

    above: dict[str, Any] = {
        s: (rule.held_out, difference(rule, predictions)) for s, rule in rules.items()
    }
    others = rules.items() if CFL.name in rules else ()
    return {
        "distances": tuple(Distance(s, d, *above.get(s, ())) for s, d in smallest.items()),
        "below_cfl": {s: difference(rules[CFL.name], r) for s, r in others if s != CFL.name},
        "failures": failures,
    }


def sentences(judgement: Judgement) -> list[str]:
    """The judgement in plain words."""
    accuracy, disparity = judgement.accuracy, judgement.disparity
    people = people_words(judgement.people, judgement.effective)
    line = f"The predictions for these {people} have"
    whole = judgement.parts[0]
    if accuracy is not None:
        right = cell(accuracy, percent)
        line = f"The predictions are right for {right} of these {people}, at"
    gap = f"an undefined disparity: {' and '.join(whole.undefined)}"
    if disparity is not None:
        gap = f"a disparity of {cell(disparity, number)}: "
        gap += rates_apart(RATES[judgement.rate], whole.ends, whole.undefined)
    out = [*filter(None, [judgement.left_out]), f"{line} {gap}.", *_ratio_words(judgement)]
    for distance in judgement.distances:
        name = SCHEMES[distance.scheme].label
        if distance.above is None or distance.accuracy is None:
            out.append(
                f"{name} does not get so fair: its smallest disparity is "
                f"{number(distance.smallest)}."
            )
            continue
        low, high = distance.above.ends
        head = f"{name}'s best rule of the score is right for {percent(distance.accuracy)} there"
        gap = f"{points(distance.above.value)} ({span((low, high), points)})"
        if low <= 0 <= high:
            out.append(f"{head}: not distinguishable from the predictions, {gap}.")
        elif low > 0:
            out.append(f"{head}: {gap} more than the predictions.")
        else:
            gap = f"{points(-distance.above.value)} ({span((-high, -low), points)}) fewer"
            out.append(f"{head}: {gap} than the predictions, which know more than the score.")
        below_cfl = judgement.below_cfl.get(distance.scheme)
        if below_cfl is not None and below_cfl.low > 0:
            out.append(
                f"Of the distance from pooling the scheme takes {points(below_cfl.value)} "
                f"({span(below_cfl.ends, points)}); training left the rest."
            )
    return [*out, *drift_words(judgement.drift, judgement.n_compared), *failed(judgement)]


def _ratio_words(judgement: Judgement) -> list[str]:
    """The ratio of the rates; of acceptance whether it is below four fifths, the threshold of the
    United States' guidelines on employee selection (1978).
    """
    if (ratio := judgement.parts[0].ratio) is None:
        return []
    verdict = "below" if ratio.high < FOUR_FIFTHS else "not below"
    if ratio.low < FOUR_FIFTHS <= ratio.high:
        verdict = "not distinguishable from"
    verdict = f": {verdict} four fifths" * (judgement.rate == ACCEPTANCE.key)
    return [f"The ratio of these rates is {cell(ratio, number)}{verdict}."]
