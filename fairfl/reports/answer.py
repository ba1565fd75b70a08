"""The answer of ``fairfl frontier``, from Python: frontiers, rules, intervals, words, a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import in_range, one_of
from fairfl._support.tabular import Tabular
from fairfl._support.whole_file import write_whole
from fairfl.reports.comparison import ENDS, Comparison
from fairfl.reports.comparison_intervals import band
from fairfl.reports.comparison_words import sentences
from fairfl.reports.curves import noted
from fairfl.reports.frontier import compared, write
from fairfl.reports.frontier_json import as_data
from fairfl.reports.frontier_page import frontier_page
from fairfl.reports.guarantee import with_guarantee
from fairfl.reports.parts import Decided, Part
from fairfl.reports.people import Read, of_federation, read, read_summaries
from fairfl.reports.question import ONES, Question
from fairfl.reports.sampling import Progress
from fairfl.reports.scores import Scored, compare_scores
from fairfl.sims.data.frame import table_path
from fairfl.sims.data.table_file import form_of
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.schemes import SCHEMES
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import Difference, Notion


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Tabular):
    """What schemes reach, and what it costs not to pool the data.

    Attributes
    ----------
    comparison : all numbers, see :class:`fairfl.reports.comparison.Comparison`.
    read : the federation, its people, and ``notes``, what was done to their table, in words.
    title : of the page and the picture.
    settings : ``bootstraps`` and ``seed`` of the intervals.
    scores : of scores that are compared, see ``compare_scores``.
    parts : by scheme, the people by client and group, decided by its rule, where it was asked for.
    frontiers : by scheme, with ``lower`` and ``upper`` where there are intervals.
    rules : by scheme, of those with one rule for all clients, see :class:`fairfl.Classifier`; None
        where no rule with the guarantee was found.
    words : the answer in sentences.
    """

    comparison: Comparison
    read: Read
    title: str
    settings: dict[str, Any]
    scores: Sequence[Scored] = ()
    parts: dict[str, list[Part]] | None = None
    _most_rows = 60

    @property
    def rules(self) -> dict[str, Classifier]:
        return self.comparison.classifiers

    @property
    def words(self) -> list[str]:
        return sentences(self.comparison)

    @cached_property
    def frontiers(self) -> dict[str, Frontier]:
        comparison, people = self.comparison, self.read.people
        curves = {scheme: reach.frontier for scheme, reach in comparison.reaches.items()}
        if people is None or comparison.spread is None:
            return curves
        ends = partial(band, comparison, self.read.federation, people, **self.settings)
        return {s: replace(curve, band=partial(ends, s)) for s, curve in curves.items()}

    def page(self, progress: Progress | None = None) -> str:
        """A page with a slider, for a browser, as HTML that loads nothing."""
        read = self.read.federation, self.read.people, self.read.notes
        options = {"title": self.title, "progress": progress, **self.settings}
        return frontier_page(self.comparison, *read, **options)

    def write(self, out: str | Path) -> list[Path]:
        """Write picture, data and rules into a folder, and the model of a score that was made of
        features.
        """
        files = write(self.comparison, self.title, Path(out))
        if self.read.model is not None:
            model = self.read.model().to_json()
            files.append(write_whole(Path(out) / "score_model.json", model))
        return files

    def to_json(self, files: Sequence[Path] = ()) -> str:
        """All numbers, as ``fairfl frontier --json`` prints them."""
        extra: dict[str, Any] = {"notes": [*self.read.notes], "files": [*map(str, files)]}
        if self.scores:
            extra["scores"] = [asdict(scored) for scored in self.scores]
        if self.parts:
            extra["by_client"] = {s: [asdict(part) for part in p] for s, p in self.parts.items()}
        return json.dumps(as_data(self.comparison) | extra, indent=1, allow_nan=False)

    def __repr__(self) -> str:
        people = self.comparison.people
        of = "laws" if people is None else f"{people:,} people"
        return f"Answer({self.title!r}: {', '.join(self.rules)} on {of})"

    def _columns(self) -> dict[str, ArrayLike]:
        """Of each scheme its rules at the smallest disparity, at the disparities of the comparison,
        and of the best value; "below_cfl" is what is lost against CFL at the same disparity.
        """
        comparison, value = self.comparison, self.comparison.question.value.replace(" ", "_")
        count, rows = len(comparison.disparities), []
        for scheme in comparison.reaches:
            places = [("smallest disparity", 0, 1, None), (f"best {value}", 3, 2, None)]
            places[1:1] = [
                (f"disparity {d:g}", None, len(ENDS) + k, len(ENDS) + count + k)
                for k, d in enumerate(comparison.disparities)
            ]
            for k, (rule, *columns) in enumerate(places):
                row: dict[str, Any] = {"scheme": scheme, "rule": rule}
                for name, column in zip(("disparity", value, "below_cfl"), columns, strict=True):
                    number, ends = np.nan, None
                    if column is not None:
                        number = comparison.number(scheme, column)
                        ends = comparison.between(scheme, column)
                    elif name == "disparity":
                        number = comparison.disparities[k - 1]
                    row[name] = number
                    row[f"{name}_lower"], row[f"{name}_upper"] = ends or (np.nan, np.nan)
                rows.append(row)
        return {name: [row[name] for row in rows] for name in rows[0]}


def compare(
    people: Any,
    *,
    at: Sequence[float] | None = None,
    notion: Notion = "demographic_parity",
    difference: Difference = "pairwise",
    costs: Any = ONES,
    sees: Any = "xa",
    monotone: bool = False,
    local_eps: float | None = None,
    schemes: Sequence[str] = (),
    guarantee: float | None = None,
    by_client: str | None = None,
    points: int = 60,
    bootstraps: int | None = None,
    seed: int | None = None,
    calibrate: str = "auto",
    progress: Progress | None = None,
    **table: Any,
) -> Answer:
    """What CFL, LFT+FedAvg and LFT+Ensemble reach on a federation, with intervals, and what it
    costs not to pool the data: all that ``fairfl frontier`` says.

    Parameters
    ----------
    people : a :class:`fairfl.Federation`; or a table with a row for each person, as a path (.csv,
        .parquet) or a frame of pandas, Polars or Arrow; or the paths of sites' summaries (.json);
        or the path of a federation of laws (.toml).
    at : disparities to compare accuracies at; the first also of the rules. Default: round ones.
    notion, difference, costs, sees, monotone, local_eps : see :func:`fairfl.solve`; with
        ``local_eps`` "cfl_local" and "client_aware" are compared, too.
    schemes : of those to solve, with "cfl", such as "lft_fedavg_common" (one budget for all
        clients) or "lft_fedavg" (a budget for each); none named: all.
    guarantee : a probability, such as 0.95, with which the rules keep the first disparity among all
        such people.
    by_client : a scheme, whose rule's decisions are shown by client and group (``parts``).
    points : of each frontier.
    bootstraps : 0: no intervals; else draws for that of the best rule's disparity, default 100.
    seed : of the draws and of the parts, default 0.
    calibrate : of a table or of summaries, see :meth:`fairfl.Federation.from_samples`.
    table : columns and form of a table: ``label`` and ``group``, which it must have, ``client``,
        ``score`` or ``features``, ``weight``, ``compare_score``, ``group_pair``, ``blind``,
        ``levels``, ``categorical``, and ``sep``, ``decimal``, ``encoding``, ``missing``,
        ``pos_label``, as docs/people.md has them.

    Returns
    -------
    Answer
        With ``frontiers``, ``rules``, ``words``, ``page()``, ``write(folder)``, ``to_frame()`` and
        ``to_json()``; see :class:`fairfl.reports.answer.Answer`.

    Raises
    ------
    ValueError : what does not fit.  OSError : a file that cannot be read.  RuntimeError : CFL
        cannot be certified; why other schemes fail is in ``comparison.failures``.

    Examples
    --------
    >>> import fairfl as ff
    >>> answer = ff.compare(ff.Federation.normal(mean=[[3, 5], [1, -1]]), at=[0.2], points=5)
    >>> answer.to_frame().loc[1, ["disparity", "accuracy"]].astype(float).round(4).tolist()
    [0.2, 0.839]
    """
    schemes = (schemes,) if isinstance(schemes, str) else tuple(schemes)
    question = Question(notion, difference, costs, sees, local_eps, schemes, monotone)
    score = table.get("score")
    if monotone and not isinstance(score, str) and len(score or ()) > 1:
        names = ", ".join(score)
        raise ValueError(f"monotone needs one score, several have no order, got {names}")
    if by_client is not None:
        shared = [name for name in question.schemes if not SCHEMES[name].sees_client]
        one_of("by_client", by_client, shared)
    if guarantee is not None:
        in_range("guarantee", guarantee, 0, 1, open_low=True, open_high=True)
    if progress is not None:
        progress("reading", 0, 1)
    draws = {"bootstraps": bootstraps, "seed": seed}
    data, title = _read(people, table, draws, question, calibrate, guarantee is not None)
    settings = draws | {"seed": seed or 0}
    question, left_out = question.for_groups(data.federation.n_groups, by_client)
    data = data._replace(notes=[*data.notes, *left_out])
    options: Any = {"question": question, "at": at, "count": points, "progress": progress}
    comparison = compared(data.federation, data.people, **options, **settings)
    if guarantee is not None:
        comparison = with_guarantee(comparison, data, guarantee, progress)
    parts = None
    if by_client in comparison.rules:
        if data.people is None:
            raise ValueError("by_client goes with people, got a federation of laws")
        rule: Any = comparison.rules[by_client].solution.classifier
        parts = {by_client: Decided.by_rule(data.people, rule).parts(question)}
    scores: Sequence[Scored] = []
    with noted("scores", comparison.failures):
        scores = compare_scores(data, comparison, seed or 0, progress) if data.rows else []
    return Answer(comparison, data, title, settings, scores, parts)


def _read(
    source: Any,
    table: dict[str, Any],
    draws: dict[str, Any],
    question: Question,
    calibrate: str,
    tests: bool,
) -> tuple[Read, str]:
    """What is to be compared, and its title: a table of people, summaries of sites, or a federation
    of laws, which takes no ``draws``; ``tests``: whether rules are tested by people who did not
    make them.
    """
    table = {name: value for name, value in table.items() if value is not None}
    if isinstance(source, Federation):
        _no_table(table, "a federation")
        return of_federation(source, question), "federation"
    files = source if isinstance(source, (list, tuple)) else [source]
    paths = [table_path(file) for file in files]
    kinds = {path.suffix.lower() for path in paths}
    if len(files) != 1 and kinds != {".json"}:
        names = ", ".join(path.name for path in paths)
        raise ValueError(f"several files must be summaries of sites (.json), got {names}")
    if kinds == {".json"}:
        _no_table(table, "summaries of sites")
        return read_summaries(paths, calibrate, question), paths[0].stem
    if kinds == {".toml"}:
        from fairfl.studies.user_runs.federation_file import read_federation

        name = f"the federation {paths[0].name}"
        if tests:
            raise ValueError(f"guarantee goes with people, got {name}")
        draws = {"calibrate": None if calibrate == "auto" else calibrate} | draws
        _no_table(table | {k: value for k, value in draws.items() if value is not None}, name)
        return Read(read_federation(paths[0])), paths[0].stem
    for name in ("label", "group"):
        if name not in table:
            raise ValueError(f"{name} must be a column of {paths[0].name}, got none")
    form = form_of(table)
    score = table.pop("score", None)
    if score is not None:  # one of a list is one
        table["score"] = score[0] if not isinstance(score, str) and len(score) == 1 else score
    options = {"calibrate": calibrate, "tests": tests, "question": question, "form": form}
    return read(files[0], **table, **options), paths[0].stem


def _no_table(options: dict[str, Any], source: str) -> None:
    """ValueError where options of a table of people are given without one."""
    if options:
        raise ValueError(f"{', '.join(options)} goes with a table of people, got {source}")
