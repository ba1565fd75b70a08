"""The claims by id, from every module of a paper's folder that has ``CLAIMS``."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import fairfl.claims
from fairfl._support.own_parts import own_modules
from fairfl.claims.claim import Claim, Paper
from fairfl.claims.ids import REPAIRED, matching, paper_of
from fairfl.claims.lemma import Lemma

ROOT = "fairfl.claims."


@dataclass(frozen=True)
class Entry:
    """A claim, and the module that defines it."""

    claim: Claim
    module: str
    source: Path


@cache
def papers() -> dict[str, Paper]:
    """The papers by key: the packages below claims/ with a ``PAPER``, and a user's own keys."""
    packages = [module.name for module in iter_modules(fairfl.claims.__path__) if module.ispkg]
    candidates = (getattr(import_module(ROOT + name), "PAPER", None) for name in packages)
    by_key: dict[str, Paper] = {paper.key: paper for paper in candidates if paper}
    for module in own_modules("claims"):
        for claim in _claims(module):
            user_paper = Paper(claim.paper, f"claims of {module.__name__}.py", "", printed=False)
            if by_key.setdefault(claim.paper, user_paper).printed:
                place = f"id of a claim in {module.__name__}"
                raise ValueError(f"{place} must not begin as those of a paper do, got {claim.id}")
    return dict(sorted(by_key.items()))


@cache
def registered(*keys: str) -> dict[str, Entry]:
    """Every claim by id, sorted, a repaired form right after its claim; of the papers ``keys`` and
    those that they rest on: importing all takes seconds. ValueError: an id taken twice or in the
    wrong folder, ``rests_on`` that leads nowhere or in a circle, a repaired form that is missing.
    """
    entries: dict[str, Entry] = {}
    todo, done = set(keys or papers()), set[str]()
    while todo:
        paper = todo.pop()
        done.add(paper)
        for module in _modules(paper):
            name, file = module.__name__, Path(str(module.__file__))
            for claim in _claims(module):
                if claim.paper != paper and not name.startswith(ROOT):
                    continue  # a user's file may have claims of several keys
                if claim.paper != paper:
                    raise ValueError(f"id of a claim in {name} must begin with {paper}/")
                if claim.id in entries:
                    taken = entries[claim.id].module
                    raise ValueError(f"id must be new, got {claim.id} in {name}, taken by {taken}")
                entries[claim.id] = Entry(claim, name, file)
                todo |= set(map(paper_of, claim.rests_on)) & papers().keys() - done
    order([entry.claim for entry in entries.values()])
    return dict(sorted(entries.items()))


def _modules(paper: str) -> Iterator[ModuleType]:
    """The modules with a paper's claims: its package's, or a user's own."""
    if find_spec(f"{ROOT}{paper}") is None:
        yield from (m for m in own_modules("claims") if any(c.paper == paper for c in _claims(m)))
        return
    package = import_module(f"{ROOT}{paper}")
    for name in sorted(module.name for module in iter_modules(package.__path__)):
        yield import_module(f"{ROOT}{paper}.{name}")


def _claims(module: ModuleType) -> list[Claim]:
    """Those of a module's ``CLAIMS``, and of a user's lemmas."""
    claims = list(getattr(module, "CLAIMS", ()))
    if not module.__name__.startswith(ROOT):
        claims += [value.claim() for value in vars(module).values() if isinstance(value, Lemma)]
    return [form for claim in claims for form in claim.forms()]


def order(claims: Sequence[Claim]) -> list[str]:
    """The ids, each after those that it rests on. ValueError: one that is missing, or a circle."""
    by_id = {claim.id: claim for claim in claims}
    for id, claim in by_id.items():
        repaired = claim.repaired_id in by_id
        if (claim.expected == "holds-repaired") != repaired and not id.endswith(REPAIRED):
            raise ValueError(
                f"{id} is expected to be {claim.expected}, but {claim.repaired_id} is "
                f"{'' if repaired else 'not '}there"
            )
        if id.endswith(REPAIRED) and id.removesuffix(REPAIRED) not in by_id:
            raise ValueError(f"{id} repairs a claim that is not there")
        for dependency in claim.rests_on:
            if dependency not in by_id:
                raise ValueError(f"rests_on of {id} must name claims, got {dependency!r}")
    try:
        return list(TopologicalSorter({c.id: c.rests_on for c in claims}).static_order())
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise ValueError(f"rests_on must not run in a circle, got {circle}") from None


def find(ids: Iterable[str] | None = None) -> list[Entry]:
    """The claims of these ids or beginnings of ids, see :func:`fairfl.claims.ids.matching`."""
    ids = list(ids or ())
    keys = {paper_of(id) for id in ids}
    entries = registered(*sorted(keys)) if keys <= papers().keys() else registered()
    return [entries[id] for id in matching(ids, entries)]
