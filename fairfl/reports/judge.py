"""How far predictions are from the frontiers of a score: what the scheme costs, what training left,
and what of it is sampling.

The predictions have a disparity D and an accuracy. At D the best rule of the score that pools all
data has an accuracy, and the best rule of local training with one budget for all clients another:
the first difference is the scheme's, the second is what training left. Standard errors are those of
the person by person differences of influences (``fairfl.solvers.sensitivity``), D's own among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairfl.reports.comparison_words import failed, number, percent, points, rates_apart, span
from fairfl.reports.curves import COMPARED, POINTS, Best, best_rules, frontiers
from fairfl.reports.parts import Decided, Gap, Number, Part, cell, estimate
from fairfl.reports.people import counted, people_words
from fairfl.reports.question import Question
from fairfl.reports.sampling import Progress
from fairfl.sims.data.table_file import PLAIN, Form
from fairfl.sims.data.tables.people import read_people
from fairfl.sims.data.tables.table import Dataset
from fairfl.solvers.schemes import CFL, SCHEMES
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import ACCEPTANCE, RATES

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


@dataclass(frozen=True)
class Judgement:
    """Of predictions: accuracy and disparity, ``parts`` by client and group, and the schemes'
    distance from them.

    The accuracy is None without a label, the disparity where no two groups can be compared.
    ``rate`` is the key of the rate that is furthest apart. ``below_cfl`` is, for each scheme but
    CFL, how much less its best rule is right than CFL's; ``left_out`` says which rows of the table
    were, ``failures`` why a scheme has no distance, and ``effective`` of people with weights how
    many with equal ones have the same variance.
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


def judge(
    path: str | Path,
    *,
    prediction: str,
    label: str | None = None,
    group: str | Sequence[str],
    client: str | None = None,
    weight: str | None = None,
    score: str | None = None,
    by: str | None = None,
    categorical: bool = False,
    question: Question,
    seed: int = 0,
    form: Form = PLAIN,
    progress: Progress | None = None,
) -> Judgement:
    """Judge the predictions of a table of people.

    Parameters
    ----------
    path, label, group, client, weight, categorical, form : see
        :func:`fairfl.sims.data.tables.people.read_people`.
        Without a label the notion must compare acceptance alone, and there is no score.
    prediction : column of 0 and 1, or of chances of 1.
    score : column of the score whose frontiers are compared; None: none are.
    by : column of parts of the people that are judged as well, each alone; of dates the months.
    question : the notion and the difference.
    seed : deals people into parts, on which the frontiers' rules are judged.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.
    """
    if categorical and score is None:
        raise ValueError("categorical goes with a score, got score=None")
    if label is None and (question.counts_labels or score is not None):
        raise ValueError(f"label must be a column for {question.notion} or a score, got none")
    roles = {"label": label, "group": group, "client": client, "categorical": categorical}
    options: Any = {"numbers": {"prediction": [prediction]}, "weight": weight}
    data = read_people(path, score=score, by=by, form=form, **options, **roles)
    p = data.features[:, -1]
    if (is_outside := (p < 0) | (p > 1)).any():
        row = int(np.argmax(is_outside))
        raise ValueError(
            f"prediction {prediction!r} must be from 0 to 1, got {p[row]:g} in row {row + 1}"
        )
    if by is not None and (count := len(data.by_names)) > MOST_PARTS:
        raise ValueError(f"by {by!r} must have at most {MOST_PARTS} values or months, got {count}")
    w = np.ones(len(data)) if data.weight is None else data.weight
    codes = data.client, data.group, data.label if label else np.full(len(data), np.nan)
    parts: Any = () if by is None else (data.by, data.by_names)
    people = np.stack([np.ones_like(w), w, w**2])
    decided = Decided(*codes, p, people, data.client_names, data.group_names, *parts)
    gap, _ = decided.gap(question)
    judgement = Judgement(
        len(data),
        decided.accuracy.number(data.client) if label else None,
        gap and gap.number(data.client),
        tuple(decided.parts(question)),
        left_out=data.note,
        rate=gap.rate.key if gap else "",
        effective=decided.effective_size(),
    )
    if score is None or gap is None:
        return judgement
    return replace(judgement, **_compared(data, decided, gap, question, seed, progress))


def _compared(
    data: Dataset,
    decided: Decided,
    gap: Gap,
    question: Question,
    seed: int,
    progress: Progress | None,
) -> dict[str, Any]:
    """The schemes' distances from the predictions, as a ``Judgement`` has them; a scheme that fails
    is left out, with the reason.
    """
    moved = gap.high.influence - gap.low.influence
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
            rules[scheme] = rule._replace(influence=rule.influence + rule.slope * moved)
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
    return [*out, *failed(judgement)]


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
