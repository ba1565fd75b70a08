"""How far predictions are from the frontiers of a score: what the scheme costs, what training left,
and what of it is sampling.

The predictions have a disparity D and an accuracy. At D the best rule of the score that pools all
data has an accuracy, and the best rule of local training with one budget for all clients another:
the first difference is the scheme's, the second is what training left. Standard errors are those of
the person by person differences of influences (``fairfl.solvers.sensitivity``), D's own among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fairfl.reports.comparison_words import number, percent, points, rates_apart, span
from fairfl.reports.curves import COMPARED, POINTS, Best, best_rules, frontiers
from fairfl.reports.parts import Decided, Number, Part, Share, estimate
from fairfl.reports.question import Question
from fairfl.reports.sampling import Progress
from fairfl.sims.data.table_file import PLAIN, Form
from fairfl.sims.data.tables.people import read_people
from fairfl.solvers.schemes import SCHEMES
from fairfl.theory.populations.calibration import count_people
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS, RATES


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
    ``rate`` is the key of the rate that is furthest apart, between the two of ``ends``, names and
    values; ``undefined`` are the rates that do not exist, in words. ``below_cfl`` is, for each
    scheme but CFL, how much less its best rule is right than CFL's; ``left_out`` says which rows
    of the table were.
    """

    people: int
    accuracy: Number | None
    disparity: Number | None
    parts: tuple[Part, ...]
    distances: tuple[Distance, ...]
    below_cfl: dict[str, Number]
    left_out: str = ""
    rate: str = ""
    ends: tuple[tuple[str, float], ...] = ()
    undefined: tuple[str, ...] = ()


def judge(
    path: str | Path,
    *,
    prediction: str,
    label: str | None = None,
    group: str | Sequence[str],
    client: str | None = None,
    score: str | None = None,
    categorical: bool = False,
    question: Question,
    seed: int = 0,
    form: Form = PLAIN,
    progress: Progress | None = None,
) -> Judgement:
    """Judge the predictions of a table of people.

    Parameters
    ----------
    path, label, group, client, categorical, form : see
        :func:`fairfl.sims.data.tables.people.read_people`.
        Without a label the notion must compare acceptance alone, and there is no score.
    prediction : column of 0 and 1, or of chances of 1.
    score : column of the score whose frontiers are compared; None: none are.
    question : the notion and the difference.
    seed : deals people into parts, on which the frontiers' rules are judged.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.
    """
    if categorical and score is None:
        raise ValueError("categorical goes with a score, got score=None")
    notion = NOTIONS[question.notion]
    if label is None and (notion.counts_labels or score is not None):
        raise ValueError(f"label must be a column for {question.notion} or a score, got none")
    roles = {"label": label, "group": group, "client": client, "categorical": categorical}
    numbers = {"prediction": [prediction]}
    data = read_people(path, score=score, numbers=numbers, form=form, **roles)
    p = data.features[:, -1]
    if (is_outside := (p < 0) | (p > 1)).any():
        row = int(np.argmax(is_outside))
        raise ValueError(
            f"prediction {prediction!r} must be from 0 to 1, got {p[row]:g} in row {row + 1}"
        )
    people = np.ones(len(data))
    codes = data.client, data.group, data.label if label else np.full(len(data), np.nan)
    decided = Decided(*codes, p, people, data.client_names, data.group_names)
    accuracy, (gap, missing) = float(decided.right.mean()), decided.gap(question)
    centred = decided.right - accuracy  # each person's influence on it
    judgement = Judgement(
        len(data),
        Share("all", accuracy, centred, len(data)).number(data.client) if label else None,
        gap and gap.number(data.client),
        tuple(decided.parts(question)),
        (),
        {},
        data.note,
        gap.rate.key if gap else "",
        tuple((end.of, end.value) for end in gap[1:]) if gap else (),
        missing,
    )
    if score is None or gap is None:
        return judgement
    moved = gap.high.influence - gap.low.influence
    x = data.features[:, 0]
    columns = x, data.label, data.group, data.client
    sample = count_people(*columns, levels=0 if categorical else None)
    fed = Federation.of_people(sample)
    curves = frontiers(fed, POINTS, question, progress, COMPARED)
    best = best_rules(data, x, sample, fed, curves, [gap.value], question, seed, progress)
    predictions, above, below = Best(accuracy, accuracy, centred, 0.0, np.zeros(1)), {}, {}
    rules = {
        scheme: rule._replace(influence=rule.influence + rule.slope * moved)
        for (scheme, _), rule in best.items()
    }
    for scheme, rule in rules.items():
        above[scheme], below[scheme] = (
            estimate(data.client, gain.held_out, gain.influence, gain.fitted)
            for gain in (rule.minus(predictions), next(iter(rules.values())).minus(rule))
        )
    right = {scheme: rule.held_out for scheme, rule in rules.items()}
    distances = tuple(
        Distance(s, float(curves[s].disparity[0]), right.get(s), above.get(s)) for s in COMPARED
    )
    first = next(iter(rules), None)
    return replace(
        judgement, distances=distances, below_cfl={s: d for s, d in below.items() if s != first}
    )


def sentences(judgement: Judgement) -> list[str]:
    """The judgement in plain words."""
    accuracy, disparity = judgement.accuracy, judgement.disparity
    line = f"The predictions for these {judgement.people:,} people have"
    missing = judgement.undefined
    if accuracy is not None:
        right = f"{percent(accuracy.value)} ({span(accuracy.ends, percent)})"
        line = f"The predictions are right for {right} of these {judgement.people:,} people, at"
    gap = f"an undefined disparity: {' and '.join(missing)}"
    if disparity is not None:
        ends = span((max(disparity.low, 0.0), disparity.high), number)
        gap = f"a disparity of {number(disparity.value)} ({ends}): "
        gap += rates_apart(RATES[judgement.rate], judgement.ends, missing)
    out = [*filter(None, [judgement.left_out]), f"{line} {gap}."]
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
    return out
