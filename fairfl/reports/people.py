"""A federation from a table of people: read, and counted on levels of the score."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairfl._support.checks import Array, listed
from fairfl.reports.question import PLAIN as PLAIN_QUESTION
from fairfl.reports.question import Question
from fairfl.sims.data import joined_summaries
from fairfl.sims.data.frame import table_path
from fairfl.sims.data.score_model import ScoreModel
from fairfl.sims.data.summary import Summary
from fairfl.sims.data.table_file import PLAIN, Form
from fairfl.sims.data.tables.people import read_people
from fairfl.sims.data.tables.score import cross_fitted_score, fitted_model
from fairfl.sims.data.tables.table import Dataset
from fairfl.theory.populations.calibration import AUTO, Counted, ScoreWarning
from fairfl.theory.populations.count_people import count_people
from fairfl.theory.populations.federation import Federation

FEW = 30
"""A group of fewer people is warned of: the standard error of its rates is up to 0.09."""
OF_THIS_SCORE = (
    "What follows is true of rules of this score: rules that do not see the group can be better "
    "with more numbers of a person, such as P(a | x) (repeat --score{})."
)
ACCURACIES = "accuracies count the fitted P(y = 1 | x)."


class Read(NamedTuple):
    """A federation; what was done to a table of people, in words; its people; and where scores are
    compared the rows, whose features they are, the federation's first, and the levels asked for;
    and what fits the model of a score that is made of features; and where rules are to be tested
    the people's scores, labels, groups and clients, (n,) or (n, d) each.
    """

    federation: Federation
    notes: Sequence[str] = ()
    people: Counted | None = None
    rows: Dataset | None = None
    levels: int | None = None
    model: Callable[[], ScoreModel] | None = None
    columns: Sequence[Array] = ()


class Scores(NamedTuple):
    """Numbers of people (n,) or (n, d), their source, their names, and what fits their model."""

    numbers: Array
    source: str
    names: tuple[str, ...]
    model: Callable[[], ScoreModel] | None = None


def read(
    path: Any,
    *,
    label: str,
    group: str | Sequence[str],
    client: str | None = None,
    weight: str | None = None,
    score: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    group_pair: str | None = None,
    levels: int | None = None,
    calibrate: str = AUTO,
    question: Question = PLAIN_QUESTION,
    blind: bool = False,
    categorical: bool = False,
    compare_score: Sequence[str] = (),
    tests: bool = False,
    form: Form = PLAIN,
) -> Read:
    """Read a file or a frame as a federation, see :func:`fairfl.compare`.

    The columns and ``form`` are those of :func:`fairfl.sims.data.tables.people.read_people`;
    without a score one is made from the features. ``group_pair``: "A,B", the two groups to keep.
    ``compare_score``: columns of other scores. ``tests``: whether rules are to be tested by people
    who did not make them. RuntimeError : no score could be fitted.
    """
    options = {"score": score, "features": features, "blind": blind, "categorical": categorical}
    scores = [score] if isinstance(score, str) else [*(score or ())]
    if question.monotone and len(scores) > 1:
        raise ValueError(
            f"monotone goes with one score, several have no order, got {', '.join(scores)}"
        )
    if compare_score:
        if len(scores) != 1:
            raise ValueError(f"compare_score goes with one score, got score={score!r}")
        options["numbers"] = {"compare_score": compare_score}
    if tests and score is None:
        raise ValueError(
            "guarantee goes with a score, since one of the features here is made of all people, "
            "also of those who test; FairThresholds(guarantee=...) makes one of the others"
        )
    roles = {"label": label, "group": group, "client": client, "weight": weight}
    data = read_people(path, **roles, form=form, **options)
    if categorical and (levels, group_pair) != (None, None):
        raise ValueError(
            "levels and group_pair must not be given together with a categorical score, each value "
            "of which is a level"
        )
    made = _score(data, table_path(path).name, question)
    is_selected, left_out = _selected(data, group_pair)
    rows, x = data if is_selected.all() else data.select(is_selected), made.numbers[is_selected]
    people = counted(rows, x, question, calibrate, levels)
    people = replace(people, cells=people.cells and replace(people.cells, names=made.names))
    federation, doubts = federation_of(people)
    source = f"score: {made.source}; {_levels(people)}"
    positive = f"{label} = {data.label_names[1]}"
    notes = _notes(people, source, positive, [data.note, *left_out])
    lines = [*notes, *_warned(data, federation, question), *_of_score(people, question), *doubts]
    columns = (x, rows.label, rows.group, rows.client) if tests else ()
    compared = rows if compare_score else None
    return Read(federation, lines, people, compared, levels, made.model, columns)


def counted(
    data: Dataset, x: Array, question: Question, calibrate: str = AUTO, levels: int | None = None
) -> Counted:
    """The people of a table with scores (n,), or numbers (n, d), calibrated for the question."""
    levels = 0 if data.score_names else levels
    columns = x, data.label, data.group, data.client, calibrate, levels
    people = count_people(*columns, weight=data.weight)
    groups = tuple(data.group_names[code] for code in people.groups)
    clients = tuple(data.client_names[code] for code in people.clients)
    people = replace(people, names=data.score_names, groups=groups, clients=clients)
    return people.calibrated(counts_labels=question.counts_labels)


def of_federation(federation: Federation, question: Question) -> Read:
    """As :func:`read`, of a federation, with the people that it was made of. Those who were given
    other weights as clients are no sample of it: then it counts as laws.
    """
    people = federation.sample
    if people is None:
        return Read(federation)
    size = people.counts.sum(axis=(1, 2, 3))
    if not np.allclose(federation.weight, size / size.sum()):
        return Read(federation)
    people = people.calibrated(counts_labels=question.counts_labels)
    whole, doubts = federation_of(people)
    source = f"as counts; levels of the score: {len(people.points)}"
    return Read(whole, [*_notes(people, source), *_of_score(people, question), *doubts], people)


def read_summaries(paths: Sequence[Path], calibrate: str, question: Question) -> Read:
    """As :func:`read`, of the files that ``fairfl summarize`` wrote, one for each site."""
    summaries = joined_summaries.read_summaries(paths)
    people = joined_summaries.people_of(summaries, calibrate, counts_labels=question.counts_labels)
    federation, doubts = federation_of(people)
    source = f"as counts; sites: {len(summaries)}; levels of the score: {len(people.points)}"
    first = summaries[0]
    noisy_sites = [summary for summary in summaries if summary.noise_words]
    lines = [
        *_notes(people, source, f"{first.label} = {first.labels[1]}"),
        *_of_score(people, question),
        *(f"Withheld by {s.site}: {_withheld(s)}." for s in summaries if s.withheld.any()),
        *(f"Counts of {s.site} {s.noise_words}; intervals count it." for s in noisy_sites),
        *doubts,
    ]
    return Read(federation, lines, people)


def _notes(
    people: Counted, source: str, positive: str = "label 1", before: Sequence[str] = ()
) -> list[str]:
    """How many people, where they are from, how η is fitted, and what y = 1 is."""
    calibration = people.calibration and f"{people.calibration}."
    size = people_words(people.people, float(people.effective_sizes()))
    of_label = f"y = 1 stands for {positive}; {ACCURACIES}"
    return [*filter(None, [f"{size}; {source}.", *before, calibration, of_label])]


def _of_score(people: Counted, question: Question) -> list[str]:
    """Said of rules that do not see the group where people have a single number each."""
    line = OF_THIS_SCORE.format(", without --monotone" * question.monotone)
    return [line] if question.sees == "x" and people.cells is None else []


def people_words(people: int, effective: float) -> str:
    """How many people, and of people with weights how many with equal ones have their variance."""
    weights = f" with weights, as good as {effective:,.0f} of equal ones" * (effective < people)
    return f"{people:,} people{weights}"


def _levels(people: Counted) -> str:
    """What was done to scores to make levels."""
    if people.cells is None:
        return str(people.merged)
    fewest = int(people.persons.sum(axis=(0, 1, 2)).min())
    return (
        f"they make {len(people.cells)} cells of {fewest:,} people or more, by a classification "
        "tree for y and the group whose size was chosen on folds"
    )


def _withheld(summary: Summary) -> str:
    hidden = int(summary.withheld.sum())
    people = summary.people - int(summary.counts[summary.counts >= 0].sum())
    return (
        f"{hidden} counts of {people:,} people in all ({100 * people / summary.people:.1f} %), "
        "which are taken to be equal; intervals reach over all counts that they can be"
    )


def federation_of(people: Counted) -> tuple[Federation, list[str]]:
    """The federation with its names, and warnings about its score and its small groups."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ScoreWarning)
        federation = Federation.of_people(people)
    effective = "effective " * (people.weighted is not None)
    notes = [f"Warning: {warning.message}." for warning in caught]
    for name, size in zip(people.groups, people.effective_sizes((0, 2, 3)), strict=True):
        if size < FEW:
            notes.append(
                f"Warning: the {effective}number of people in group {name} is {size:.0f}: their "
                "rates are mostly chance, and so are disparities that count them."
            )
    return federation, notes


def _warned(data: Dataset, federation: Federation, question: Question) -> list[str]:
    """Clients that no local constraint binds, and a score that tells blind rules the group."""
    lines = []
    lonely = [
        name for name, ok in zip(federation.client_names, federation.defined, strict=True) if not ok
    ]
    if lonely and federation.n_groups == 2:
        lines.append(
            f"Without people of both groups, and so bound by no local constraint: {listed(lonely)}."
        )
    elif lonely:
        lines.append(f"Clients without people of some of the groups: {listed(lonely)}.")
    made_of = set(data.columns["group"]) & set(data.columns["features"])
    if question.sees == "x" and made_of:
        lines.append(
            f"The score is made of {', '.join(sorted(made_of))} too, and so tells rules that do "
            "not see the group something of it: --blind."
        )
    return lines


def _score(data: Dataset, file: str, question: Question) -> Scores:
    """Of all people: columns, or models of the features, with a fixed seed. Rules that do not see
    the group, and are not monotone in a score, get the chances of the groups too, and with y = 1
    where the notion counts labels.
    """
    if "score" in data.columns:
        names = f", {len(data.score_names)} names" if data.score_names else ""
        columns = data.columns["score"]
        if len(columns) > 1:
            return Scores(data.features, f"columns {listed(list(map(repr, columns)))}", columns)
        return Scores(data.features[:, 0], f"column {columns[0]!r}{names}", columns)
    targets = {"y": data.label == 1}
    if question.sees == "x" and not question.monotone:
        for k, name in enumerate(data.group_names[1:], start=1):
            targets[f"group {name}"] = data.group == k
            if question.counts_labels:
                targets[f"group {name} with y = 1"] = (data.group == k) & (data.label == 1)
    strata: Any = {"group": data.group, "client": data.client}
    try:
        scores = [
            cross_fitted_score(data.features, target, **strata, weight=data.weight)
            for target in targets.values()
        ]
    except ValueError as error:
        raise ValueError(
            f"no score can be made from the {len(data)} rows of {file}: {error}"
        ) from error
    several = f"s of {listed([*targets])}" * (len(scores) > 1)
    source = (
        f"logistic regression{several} on {listed(data.columns['features'])}, 5-fold "
        "cross-fitted (seed 0)"
    )
    numbers = scores[0] if len(scores) == 1 else np.stack(scores, axis=1)
    return Scores(numbers, source, tuple(targets), partial(fitted_model, data, targets))


def _selected(data: Dataset, pair: str | None) -> tuple[np.ndarray, list[str]]:
    """Which rows to keep, and what to say about the others."""
    names = data.group_names
    if pair is None:
        return np.ones(len(data), bool), []
    pairs = [groups for groups in permutations(names, 2) if ",".join(groups) == pair]
    if not pairs:  # a name may hold commas
        raise ValueError(
            f"--group-pair must be two of {listed(names)} with a comma between, got {pair!r}"
        )
    is_selected = np.isin(data.group, [names.index(name) for name in pairs[0]])
    left_out = len(data) - int(is_selected.sum())
    return is_selected, [f"{left_out:,} people of other groups are left out."] if left_out else []
