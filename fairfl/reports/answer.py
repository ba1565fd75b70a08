"""The answer of ``fairfl frontier``, from Python: frontiers, rules, intervals, words, a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import in_range, listed, one_of
from fairfl._support.tabular import Tabular
from fairfl._support.whole_file import write_whole
from fairfl.reports.comparison import ENDS, Comparison
from fairfl.reports.comparison_intervals import band
from fairfl.reports.comparison_words import sentences
from fairfl.reports.curves import noted
from fairfl.reports.frontier import compared, write
from fairfl.reports.frontier_json import as_data
from fairfl.reports.guarantee import with_guarantee
from fairfl.reports.judgement.parts import Decided, Part
from fairfl.reports.pages.card import card
from fairfl.reports.pages.frontier_page import frontier_page
from fairfl.reports.people import Read, of_federation, read, read_summaries
from fairfl.reports.question import ONES, Question
from fairfl.reports.sampling import Progress
from fairfl.reports.scores import Scored, compare_scores
from fairfl.sims.data.frame import check_options, no_table, require, sources
from fairfl.sims.data.table_file import Form, form_of
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.schemes import SCHEMES
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import Difference, Notion


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Tabular):
    """All numbers, in ``comparison``; what was ``read``, with notes; ``settings`` of the intervals;
    the ``scores`` that were compared; and ``parts``, by scheme, the people by client and group.
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
        """By scheme, of those with one rule for all clients."""
        return self.comparison.classifiers

    @property
    def words(self) -> list[str]:
        return sentences(self.comparison)

    @cached_property
    def frontiers(self) -> dict[str, Frontier]:
        """By scheme, with ``lower`` and ``upper`` where there are intervals."""
        comparison, people = self.comparison, self.read.people
        curves = {scheme: reach.frontier for scheme, reach in comparison.reaches.items()}
        if people is None or comparison.spread is None:
            return curves
        ends = partial(band, comparison, self.read.federation, people, **self.settings)
        return {s: replace(curve, band=partial(ends, s)) for s, curve in curves.items()}

    def page(self, progress: Progress | None = None) -> str:
        """A page with a slider, for a browser, as HTML that loads nothing."""
        options: Any = {"title": self.title, "progress": progress, **self.settings}
        return frontier_page(self.comparison, self.read, **options)

    def card(self) -> str:
        """A model card of the rules, as Markdown."""
        return card(self.comparison, self.read, self.title)

    def write(self, out: str | Path) -> list[Path]:
        """Write picture, data, rules, and the model of a score of features, into a folder."""
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
        return f"Answer({self.title!r}: {', '.join(self.comparison.reaches)})"

    def _columns(self) -> dict[str, ArrayLike]:
        """Of each scheme its rules at the smallest disparity, at those of the comparison, and of
        the best value, with the ends of the values' intervals, NaN where there are none.
        """
        comparison = self.comparison
        first, count = len(ENDS), len(comparison.disparities)
        places = product(comparison.reaches, (1, *range(first, first + count), 2))
        ends = [comparison.between(*place) or (np.nan, np.nan) for place in places]
        table = comparison.table[:, :-2]
        table[:, 1:-1, 1] = comparison.disparities
        value, disparity = table.reshape(-1, 2).T
        lower, upper = np.transpose(ends)
        columns = {"scheme": np.repeat([*comparison.reaches], count + 2), "disparity": disparity}
        columns |= {comparison.question.value.replace(" ", "_"): value}
        return columns | {"lower": lower, "upper": upper}


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
    """What the schemes reach on a federation, with intervals, and what it costs not to pool the
    data: the answer of ``fairfl frontier``, an object with ``frontiers``, ``rules``, ``words``,
    ``page()``, ``card()``, ``write(folder)``, ``to_frame()`` and ``to_json()``.

    Parameters
    ----------
    people : a :class:`fairfl.Federation`; a table with a row for each person, as a path or a frame
        of pandas, Polars or Arrow; paths of sites' summaries (.json); or that of laws (.toml).
    at : disparities to compare accuracies at; the first also of the rules. Default: round ones.
    notion, difference, costs, sees, monotone, local_eps : see :func:`fairfl.solve`.
    schemes : to solve, besides "cfl", such as "lft_fedavg_common" (one budget for all clients) or
        "lft_fedavg" (a budget for each). None named: all.
    guarantee : a probability with which rules keep the first disparity among all such people.
    by_client : a scheme, whose decisions are in ``parts`` by client and group.
    points : of each frontier.
    bootstraps, seed : 0: no intervals; else draws for the best rule's disparity, default 100.
    calibrate : see :meth:`fairfl.Federation.from_samples`.
    table : ``label`` and ``group`` of a table, and its other columns and form, by the names of the
        command's options: ``client``, ``score``, ``features``, ``weight``, ``sep``, ...

    Raises
    ------
    ValueError : what does not fit.  OSError : a file that cannot be read.  RuntimeError : CFL
        cannot be certified; ``comparison.failures`` says why others are not.

    Examples
    --------
    >>> import fairfl as ff
    >>> answer = ff.compare(ff.Federation.normal(mean=[[3, 5], [1, -1]]), at=[0.2], points=5)
    >>> answer.to_frame().loc[1, ["disparity", "accuracy"]].astype(float).round(4).tolist()
    [0.2, 0.839]
    """
    check_options("compare", table, read, Form)
    schemes = (schemes,) if isinstance(schemes, str) else tuple(schemes)
    question = Question(notion, difference, costs, sees, local_eps, schemes, monotone)
    _check_rules(question, by_client, guarantee)
    draws = {"bootstraps": bootstraps, "seed": seed}
    data, title = _read(people, table, draws, question, calibrate, guarantee is not None)
    question, left_out = question.for_groups(data.federation.n_groups, by_client)
    data = data._replace(notes=[*data.notes, *left_out])
    settings: Any = draws | {"seed": seed or 0}
    options: Any = {"question": question, "at": at, "count": points, "progress": progress}
    comparison = compared(data.federation, data.people, **options, **settings)
    if guarantee is not None:
        comparison = with_guarantee(comparison, data, guarantee, progress)
    parts = _by_client(comparison, data, by_client)
    scores: Sequence[Scored] = []
    with noted("scores", comparison.failures):
        scores = compare_scores(data, comparison, seed or 0, progress) if data.rows else []
    return Answer(comparison, data, title, settings, scores, parts)


def _check_rules(question: Question, by_client: str | None, guarantee: float | None) -> None:
    """ValueError unless ``by_client`` names a shared rule, and ``guarantee`` is a probability."""
    if by_client is not None:
        shared = [name for name in question.schemes if not SCHEMES[name].sees_client]
        one_of("by_client", by_client, shared)
    if guarantee is not None:
        in_range("guarantee", guarantee, 0, 1, open_low=True, open_high=True)


def _by_client(
    comparison: Comparison, data: Read, scheme: str | None
) -> dict[str, list[Part]] | None:
    """The people by client and group, as the rule of a scheme, if any, decides on them."""
    if scheme not in comparison.rules:
        return None
    if data.people is None:
        raise ValueError("by_client goes with people, got a federation of laws")
    rule: Any = comparison.rules[scheme].solution.classifier
    return {scheme: Decided.by_rule(data.people, rule).parts(comparison.question)}


def _read(
    source: Any,
    table: dict[str, Any],
    draws: dict[str, Any],
    question: Question,
    calibrate: str,
    tests: bool,
) -> tuple[Read, str]:
    """People, summaries of sites, or a federation; and its title; ``tests`` as in ``read``."""
    table = {name: value for name, value in table.items() if value is not None}
    if isinstance(source, Federation):
        no_table(table, "a federation")
        return of_federation(source, question), "federation"
    files, paths, kinds = sources(source)
    if kinds == {".json"}:
        no_table(table, "summaries of sites")
        data = read_summaries(paths, calibrate, question)
        return data, listed(data.federation.client_names)
    if kinds == {".toml"}:
        from fairfl.studies.user_runs.federation_file import read_federation

        name = f"the federation {paths[0].name}"
        if tests:
            raise ValueError(f"guarantee goes with people, got {name}")
        draws = {"calibrate": None if calibrate == "auto" else calibrate} | draws
        no_table(table | {k: value for k, value in draws.items() if value is not None}, name)
        return Read(read_federation(paths[0])), paths[0].stem
    form = form_of(table)
    require(table, paths[0], "label", "group")
    options = {"calibrate": calibrate, "tests": tests, "question": question, "form": form}
    return read(files[0], **table, **options), paths[0].stem
