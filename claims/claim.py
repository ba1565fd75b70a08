"""A statement of a paper as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from fairfl.claims.evidence import Evidence
from fairfl.claims.ids import REPAIRED, paper_of
from fairfl.claims.words import KINDS, SEVERITIES, VERDICTS, WHOSE, Kind, Severity, Verdict, Whose

_ID = re.compile(r"[a-z]+(/[A-Za-z0-9.-]+)+\Z")
_PLACE = re.compile(r"([a-z]+)-(\w+(?:\.\d+)*)(?:-[a-z]\w*)*")


Check = Callable[..., Evidence]
"""effort, changed parameters by name -> evidence."""


@dataclass(frozen=True)
class Paper:
    """A paper: ``claims/KEY/__init__.py`` holds one as ``PAPER``.

    Attributes
    ----------
    key : the folder, and the first part of its claims' ids.
    title, authors : as printed.
    text : the text that was read: its version, date and address, where it prints them.
    printed : whether there is such a paper; False for this project's own measurements.
    names : meanings of the names in the instances of its claims that their statements do not
        explain.
    """

    key: str
    title: str
    authors: str
    text: str = ""
    printed: bool = True
    names: Mapping[str, str] = field(default_factory=dict)


Mutants = Mapping[str, tuple[str, Mapping[str, object] | Check]]
"""name -> (change, changed parameters of the claim's check, or a check of its own)."""


Form = Mapping[str, Any]
"""Fields in which a form of a claim differs: title, statement, check, mutants, ..."""


def caption(id: str, line: int, title: str, printed: str, **fields: Any) -> Claim:
    """A sentence about printed numbers; where it has an erratum it is a remark."""
    defaults: dict[str, Any] = {"kind": "figure", "scope": "as printed"}
    defaults |= {"severity": "remark"} if "erratum" in fields else {}
    return Claim(id, line, title, printed=printed, **{**defaults, **fields})


@dataclass(frozen=True)
class Claim:
    """One statement, how it is checked, and what is known of it.

    Attributes
    ----------
    id : "paper/name", or "paper/name/repaired" for the repaired form of a false statement.
    line : of the paper's text file, where the statement begins; 0 where there is no paper.
    title : the statement in a line of plain text.
    number : where the paper has it, "Section 3.2.1"; by default what the id says: "Lemma 7", "Eq.
        (3)".
    printed : as the paper prints it; mathematics in LaTeX between dollars.
    statement : what is checked, in the notation of this project; likewise. By default the title.
    kind : identity, bound, ...
    hypotheses : name -> text; the names are those of the premises of its cases.
    scope : what the evidence covers: "as stated", "n = 2", "box [0, 1]^2".
    size : the fixed n for which alone a statement for any n is shown: "n = 3". Its level says so.
    expected : the verdict that the computed one is compared to. By default "holds"; with an
        erratum "refuted", or "holds-repaired" where there is a repaired form.
    check : effort -> evidence; see :mod:`fairfl.claims.forms` for the usual ones.
    mutants : at least one: a constant nudged, a direction reversed, a hypothesis dropped. It is
        killed when its finding differs from the claim's, or a certificate of it is rejected.
    repaired : the form that holds, where the claim "holds-repaired": our claim with the same
        line, number, printed form, kind and hypotheses unless it says otherwise.
    rests_on : ids of claims that the check takes for granted.
    reading : which reading of an ambiguous statement was chosen, and what the others give.
    erratum : what the authors should change; empty where nothing is wrong.
    severity : of the erratum, see ``SEVERITIES``; None where there is none, or it is ours.
    gap : a false or missing step of the printed proof, under a statement that survives: "the
        statement survives: ...".
    notes : anything else that a referee would want to know.
    whose : whose statement it is: printed as it stands, implied by the printed text, one of several
        readings of it, or ours. Only the printed ones count as errors of the paper.
    """

    id: str
    line: int
    title: str
    _: KW_ONLY
    printed: str
    kind: Kind
    check: Check
    mutants: Mutants
    statement: str = ""
    number: str = ""
    whose: Whose = "printed"
    hypotheses: Mapping[str, str] = field(default_factory=dict)
    scope: str = "as stated"
    size: str = ""
    expected: Verdict | None = None
    repaired: Form | None = None
    rests_on: tuple[str, ...] = ()
    reading: str = ""
    erratum: str = ""
    gap: str = ""
    notes: str = ""
    severity: Severity | None = None

    def __post_init__(self) -> None:
        default = "holds-repaired" if self.repaired else "refuted" if self.erratum else "holds"
        expected = self.expected or default
        object.__setattr__(self, "expected", expected)
        object.__setattr__(self, "number", self.number or _number(self.id))
        object.__setattr__(self, "statement", self.statement or self.title)
        is_false = expected in ("refuted", "holds-repaired")
        severities = SEVERITIES if is_false else ()
        for name, values in (
            ("kind", KINDS),
            ("expected", VERDICTS),
            ("whose", WHOSE),
            ("severity", (None, *severities)),
        ):
            if getattr(self, name) not in values:
                allowed = ", ".join(filter(None, values)) or "None where it holds"
                raise ValueError(
                    f"{name} of {self.id} must be one of {allowed}, got {getattr(self, name)!r}"
                )
        faults = {
            "id must be paper/name with letters, digits, dots and hyphens": not _ID.match(self.id),
            "mutants must be at least one: a check that cannot fail is none": not self.mutants,
            "erratum must say what is wrong where a claim is false, and only there": (
                is_false != bool(self.erratum)
            ),
            "rests_on must not name the claim itself": self.id in self.rests_on,
        }
        for message, is_wrong in faults.items():
            if is_wrong:
                raise ValueError(f"{message}, got {self.id}, {expected}")
        for name in ("number", "title", "printed", "statement", "scope"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} of {self.id} must be given, got an empty text")

    @property
    def paper(self) -> str:
        """The key of its paper."""
        return paper_of(self.id)

    def forms(self) -> tuple[Claim, ...]:
        """The claim, and its repaired form where it has one."""
        if not self.repaired:
            return (self,)
        shared = {n: getattr(self, n) for n in ("line", "number", "printed", "kind", "hypotheses")}
        return self, Claim(self.repaired_id, **{**shared, "whose": "ours", **self.repaired})

    @property
    def repaired_id(self) -> str:
        """The id that its repaired form has, where there is one."""
        return self.id + REPAIRED


def _number(id: str) -> str:
    """What an id says: "Lemma 7" of "fedfb/lemma-7", "Eq. (3)" of "pffl/eq-3"; else nothing."""
    match = _PLACE.fullmatch(id.split("/")[1]) if "/" in id else None
    if match is None:
        return ""
    return f"Eq. ({match[2]})" if match[1] == "eq" else f"{match[1].capitalize()} {match[2]}"
