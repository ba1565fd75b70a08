"""What competes in the arena: its aim, and the settings that it is tuned over, as many for all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fairfl._support.checks import one_of
from fairfl._support.own_parts import own_modules
from fairfl._support.toml_file import read_toml
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.group_fairness.agnostic import AgnosticFair
from fairfl.sims.group_fairness.lft import LocalFairBatch
from fairfl.solvers.schemes import SOLVED
from fairfl.studies.arena.published import FILE, Published
from fairfl.studies.arena.scores import PARETO, PERSONAL, Aim
from fairfl.studies.grid import point_label, points
from fairfl.studies.user_runs.run_file_parts import NamedAlgorithm, algorithm, special
from fairfl.studies.user_runs.toml_section import Section
from fairfl.theory.aggregation import Objective

BUDGET = 0.05
"""The asked budget ε, of |MD| or of each client's."""
TRIES = 4
"""Settings that each entrant is tuned over."""
OF_CLIENTS = (PERSONAL, "client_aware", "lft_ensemble")
"""Aims of which the clients' own models are the answer."""


@dataclass(frozen=True)
class Entrant:
    """One competitor. aim: a scheme, which is asked for ``BUDGET``, or an objective of the clients'
    losses; settings by name, the algorithm's table as in a TOML file's [[algorithm]]; is_end:
    trained without fairness, for comparison, and not ranked; is_pooled: trained on all people at
    one place; is_joining: the second half of the clients joins half-way; only: attributes that a
    federation must have, such as n_groups = 2.
    """

    label: str
    aim: Aim
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_end: bool = False
    is_pooled: bool = False
    is_joining: bool = False
    only: dict[str, Any] = field(default_factory=dict)

    @property
    def is_rule(self) -> bool:
        """Whether it aims at a scheme's optimum."""
        return self.aim in tuple(SOLVED)

    @property
    def question(self) -> str:
        """What it is asked, by which entrants are ranked together."""
        question = str(self.aim)
        if self.is_rule:
            limited = "|MD|" if SOLVED[question].is_pooled else "each |MD_i|"
            start = "told the client, " if self.aim == "client_aware" else ""
            question = f"{start}{limited} at most {BUDGET:g}"
        return f"{question}, half of the clients join" if self.is_joining else question

    @property
    def by_clients(self) -> bool:
        """Whether the clients' own models are scored, and not the global one."""
        algorithms = (self.trained(setting).algorithm for setting in self.settings)
        is_ensemble = any(getattr(algorithm, "is_ensemble", False) for algorithm in algorithms)
        return self.aim in OF_CLIENTS or is_ensemble

    def takes(self, place: Published) -> bool:
        """Whether a federation can ask it: an objective, where no model is the best for all."""
        has_all = all(getattr(place.federation, k) == value for k, value in self.only.items())
        return has_all and (self.is_rule or place.is_split)

    def trained(self, setting: str) -> NamedAlgorithm:
        """The algorithm of a setting, with its rates."""
        return algorithm(Section(self.settings[setting], self.label))


def entrant_of(table: object, where: str) -> Entrant:
    """The entrant of a table; ValueError for a wrong one, and for more or fewer than ``TRIES``."""
    part = Section(table, where)
    label, listed = part.text("label"), part.section("algorithm")
    aim: Any = part.raw("aim", "cfl")
    if isinstance(aim, dict):
        aim = special(Objective, Section(aim, part.at("aim")))
    else:
        one_of(part.at("aim"), aim, (*SOLVED, PARETO, PERSONAL))
    flags = {f"is_{key}": part.flag(key, default=False) for key in ("end", "pooled", "joining")}
    only = part.done(part.section("only", {})).table
    settings = {point_label(chosen): row for row, chosen in points(listed.table, "")}
    if len(settings) != TRIES:
        raise ValueError(
            f"{listed.at('grid')} must have {TRIES} combinations, as every entrant's, got "
            f"{len(settings)} of {label}"
        )
    entrant = Entrant(label, aim, settings, **flags, only=only)
    for setting in settings:
        _check(entrant, entrant.trained(setting).algorithm, part)
    return entrant


def _check(entrant: Entrant, algorithm: Algorithm | AgnosticFair, part: Section) -> None:
    """ValueError where an algorithm cannot be asked what its entrant is."""
    aim, is_ensemble = entrant.aim, getattr(algorithm, "is_ensemble", False)
    personal = getattr(type(algorithm), "personal", Algorithm.personal)
    is_personal = personal not in (Algorithm.personal, LocalFairBatch.personal)
    has_models = is_ensemble or (is_personal and aim != "lft_ensemble")
    if aim in OF_CLIENTS and (entrant.is_pooled or not has_models):
        scored = "ensemble" if aim == "lft_ensemble" else "models of the clients' own"
        raise ValueError(
            f"{part.at('aim')} must be another for {entrant.label!r}, which trains no {scored}, "
            f"got {aim!r}"
        )
    if is_ensemble and not (entrant.is_rule or aim == PERSONAL):
        raise ValueError(
            f"{part.at('aim')} must be a scheme or 'personal' for {entrant.label!r}, which trains "
            f"no global model, got {aim}"
        )
    needs_all = not isinstance(algorithm, Algorithm) or getattr(algorithm, "complete", False)
    if entrant.is_joining and needs_all:
        raise ValueError(
            f"{part.at('joining')} must be false for {entrant.label!r}, which needs every client "
            "in each round, got true"
        )


@cache
def _released() -> tuple[Entrant, ...]:
    """Those of the file."""
    tables = read_toml(FILE.with_suffix(".toml"))["entrant"]
    return tuple(entrant_of(table, f"entrant[{k}]") for k, table in enumerate(tables))


def entrants() -> dict[str, Entrant]:
    """All entrants by label: the released ones, and those of each module's ``ENTRANTS``."""
    listed = list(_released())
    for module in own_modules("algorithms"):
        for k, table in enumerate(getattr(module, "ENTRANTS", ())):
            listed.append(entrant_of(table, f"ENTRANTS[{k}] of {module.__name__}"))
    by_label = {entrant.label: entrant for entrant in listed}
    if len(by_label) < len(listed):
        raise ValueError(f"ENTRANTS must have labels of their own, got {[e.label for e in listed]}")
    return by_label


def chosen(labels: Sequence[str] | None) -> list[Entrant]:
    """The entrants of these labels, by default all; ValueError for another label."""
    by_label = entrants()
    return [by_label[one_of("algorithm", label, tuple(by_label))] for label in labels or by_label]
