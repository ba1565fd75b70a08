"""Decisions on new people by a rule that was kept as a file; it needs numpy alone."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, listed
from fairfl._support.json_file import read_bounded
from fairfl._support.tabular import Tabular
from fairfl._support.whole_file import of_file
from fairfl.sims.data.frame import check_options
from fairfl.sims.data.score_model import ScoreModel
from fairfl.sims.data.table_file import Form, Table, read_table
from fairfl.theory.populations.classifiers import Classifier, called

Kept = TypeVar("Kept", Classifier, ScoreModel)
ADDED = ("chance", "decision")


@dataclass(frozen=True, eq=False, repr=False)
class Decisions(Tabular):
    """Of people whom a ``rule`` decided on, (n,) each: the number of the row in the table, from 1,
    the group, the chance to be accepted, and the decision, drawn where that is neither 0 nor 1;
    ``left_out`` says which rows have none, ``model`` whose model of features decided.
    """

    rule: Classifier
    row: Array
    group: Array
    chance: Array
    decision: Array
    left_out: str = ""
    model: str = ""

    @property
    def words(self) -> list[str]:
        lines = [*filter(None, (self.left_out, self.model))]
        for name in self.rule.groups:
            accepted = self.decision[self.group == name]
            count = f"{accepted.sum():,} of {accepted.size:,} accepted"
            lines.append(f"{name}: {count}; {self.rule.accepted(name)}")
        return lines

    def added_to(self, name: str, rows: Iterator[Sequence[str]], form: Form) -> str:
        """The ``rows`` of the table ``name`` that were decided, as text with two columns more."""
        values = zip(self.chance, self.decision, strict=True)
        added = dict(zip(self.row.tolist(), values, strict=True))
        header = next(rows)
        if taken := {column.strip() for column in header} & set(ADDED):
            raise ValueError(f"{name} must have no column {min(taken)!r}: it is to be added")
        text = io.StringIO()
        writer = csv.writer(text, delimiter=form.sep, lineterminator="\n")
        writer.writerow([*header, *ADDED])
        for number, row in enumerate(rows, start=1):
            if number in added:
                chance, decision = added[number]
                writer.writerow([*row, f"{chance:.12g}".replace(".", form.decimal), int(decision)])
        return text.getvalue()

    def _columns(self) -> dict[str, ArrayLike]:
        return {name: getattr(self, name) for name in ("row", "group", *ADDED)}

    def __repr__(self) -> str:
        return f"Decisions({self.decision.sum():,} of {self.decision.size:,} people accepted)"


def apply(
    rule: Classifier | str | Path,
    people: Any,
    *,
    group: str | Sequence[str],
    score: str | Sequence[str] | None = None,
    model: ScoreModel | str | Path | None = None,
    client: str | None = None,
    seed: int = 0,
    rows: Iterator[Sequence[str]] | None = None,
    **form: Any,
) -> Decisions:
    """Decide on people by a rule; an object with ``chance`` and ``decision`` (n,), ``words``,
    ``to_frame()`` and ``to_json()``.

    Parameters
    ----------
    rule : a :class:`fairfl.Classifier`, or the path of one, as ``fairfl frontier --out`` writes it.
    people : a table, as a path or a frame of pandas, Polars or Arrow.
    group, score : columns of the groups, and of the score that the rule was made for; or several.
    model : in place of a score that of features: score_model.json beside the rule, or a model that
        ``fairfl simulate people.csv`` trained. Of an ensemble one decides, drawn by its share.
    client : column of the clients, whose own models decide in place of one that is drawn.
    seed : of the draws, where the rule accepts a share.
    rows : of a file that can be read only once, see ``fairfl.sims.data.table_file.table_rows``.
    form : ``sep``, ``decimal``, ``encoding``, ``missing``, as the command's options.

    Raises
    ------
    ValueError : what does not fit.  OSError : a file that cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> import fairfl as ff
    >>> rule = ff.Classifier([[0.6], [0.3]], [[0, 1], [0, 1]], groups=["f", "m"])
    >>> people = pd.DataFrame({"s": [0.5, 0.5, 0.7], "sex": ["f", "m", "f"]})
    >>> ff.apply(rule, people, score="s", group="sex").decision.tolist()
    [False, True, True]
    """
    check_options("apply", form, Form)
    rule = read_rule(rule)
    if (score is None) == (model is None):
        raise ValueError("score or model must be given, and not both")
    model = None if model is None else _read(ScoreModel, model)
    if client is not None and (model is None or not model.shares):
        raise ValueError(f"client goes with a model that has one for each client, got {client!r}")
    groups, inputs = ([v] if isinstance(v, str) else [*(v or ())] for v in (group, score))
    roles = {} if client is None else {"client": [client]}
    if model is not None:
        inputs = [name for name in model.columns if name not in (*groups, client)]
    _check_numbers(rule, inputs, model)
    roles |= {"score": inputs, "group": groups}
    table = read_table(people, Form(**form), roles, rows=rows)
    a = _places("group", table, groups, rule.groups, "rule")
    if model is not None and model.shares:
        chance, words = _by_members(rule, model, table, a, client)
    else:
        if rule.names:
            x = _places("score", table, inputs, rule.names, "rule")
        else:
            columns = [] if model else [table.numbers(column) for column in inputs]
            x = model(table) if model else np.stack(columns, axis=1)
        chance = rule.of_number(rule.level(x[:, 0] if x.shape[1:] == (1,) else x), a)
        words = f"{model.title}." if model and model.title else ""
    decision = np.random.default_rng(seed).random(len(table)) < chance
    columns = table.rows, np.array(rule.groups)[a], chance, decision
    return Decisions(rule, *columns, left_out=table.dropped, model=words)


def _by_members(
    rule: Classifier, ensemble: ScoreModel, table: Table, a: Array, client: str | None
) -> tuple[Array, str]:
    """(n,) chances by members of an ensemble, of each person's ``client`` or drawn; in words."""
    scores = ensemble(table).T
    chances = np.stack([rule.of_number(rule.level(score), a) for score in scores])
    if client is None:
        words = f"one of the models of {listed(ensemble.names)}, drawn for each person"
        return ensemble.shares @ chances, f"{ensemble.title}: by {words}."
    member = _places("client", table, [client], ensemble.names, "model")
    return chances[
        member, np.arange(len(table))
    ], f"{ensemble.title}: by the model of each {client}."


def read_rule(rule: Classifier | str | Path) -> Classifier:
    """A rule, or that of a file, with its groups named as in tables."""
    rule = _read(Classifier, rule)
    return rule.named([called(name) for name in rule.groups])


def _read(kind: type[Kept], kept: Kept | str | Path) -> Kept:
    """An object of a kind, or that of a file."""
    if isinstance(kept, kind):
        return kept
    with of_file(kept):
        return kind.from_json(read_bounded(kept))


def _check_numbers(rule: Classifier, score: Sequence[str], model: ScoreModel | None) -> None:
    """ValueError unless the columns, or the model, give as many numbers as the rule is of."""
    numbers = rule.cells.names if rule.cells else ("the score",)
    labels = score if model is None else ("y",) if model.shares else model.names
    if len(labels) != len(numbers) or (model and rule.names):
        raise ValueError(
            f"{'score' if model is None else 'model'} must have {len(numbers)} numbers of a "
            f"person, as the rule ({listed(numbers)}), got {listed(labels)}"
        )


def _places(
    role: str, table: Table, columns: list[str], known: Sequence[Any], source: str
) -> Array:
    """(n,) which of the names each row has; of several columns with " & " between."""
    parts = zip(
        *([names[k] for k in codes] for codes, names in map(table.categories, columns)), strict=True
    )
    index, positions = {str(name): k for k, name in enumerate(known)}, []
    for row, names in zip(table.rows, parts, strict=True):
        if (name := " & ".join(names)) not in index:
            raise ValueError(
                f"{role} must be one of {listed([*map(repr, index)])} of the {source}, got "
                f"{name!r} in row {row} of {table.path.name}"
            )
        positions.append(index[name])
    return np.array(positions)
