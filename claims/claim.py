"""A statement of a paper as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:  # certificates load sympy, which listing the claims need not wait for
    from fairfl.claims.evidence import Evidence


Kind = Literal[
    "identity",
    "bound",
    "tight bound",
    "existence",
    "equivalence",
    "limit",
    "uniqueness",
    "implication",
    "figure",
]
KINDS: tuple[str, ...] = get_args(Kind)
Verdict = Literal["holds", "holds-repaired", "refuted", "open"]
VERDICTS: tuple[str, ...] = get_args(Verdict)
Whose = Literal["printed", "implied", "reading", "ours"]
WHOSE: tuple[str, ...] = get_args(Whose)
Severity = Literal["theorem", "constant", "step", "remark", "misprint"]
SEVERITIES: tuple[str, ...] = get_args(Severity)
"""How much an erratum changes, the most first."""
REPAIRED = "/repaired"
_ID = re.compile(r"[a-z]+(/[A-Za-z0-9.-]+)+\Z")


@dataclass(frozen=True)
class Effort:
    """How hard a check tries.

    Attributes
    ----------
    name : "quick" or "deep".
    examples : instances to draw for a property.
    restarts : starts of an adversarial search.
    shrink : whether a violation is made small for people to read; of a mutant nobody reads it.
    """

    name: str
    examples: int
    restarts: int
    shrink: bool = True

    def pick(self, quick: int, deep: int) -> int:
        """A count of the check's own: ``quick`` or ``deep``."""
        return deep if self.name == "deep" else quick


QUICK = Effort("quick", examples=60, restarts=2)
DEEP = Effort("deep", examples=10_000, restarts=40)

Check = Callable[..., "Evidence"]
"""effort, changed parameters by name -> evidence."""


def paper_of(id: str) -> str:
    """The key of the paper of a claim."""
    return id.partition("/")[0]


@dataclass(frozen=True)
class Paper:
    """A paper: ``claims/KEY/__init__.py`` holds one as ``PAPER``.

    Attributes
    ----------
    key : the folder, and the first part of its claims' ids.
    title, authors : as printed.
    text : which text was read: its version, date and address, as far as it tells them.
    printed : whether there is such a paper; False for what this project has measured itself.
    names : what a name in the instances of its claims stands for, where their statements do not say
        it.
    """

    key: str
    title: str
    authors: str
    text: str = ""
    printed: bool = True
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Mutant:
    """A statement next to the claim's that is wrong, and that the same check must not pass.

    Attributes
    ----------
    name : two or three words.
    change : what was changed: a constant nudged, a direction turned, a hypothesis dropped.
    check : the claim's check, of the changed statement. It is killed when its finding is another
        than the claim's, or a certificate of it is rejected; an exception is a fault, and kills
        nothing.
    """

    name: str
    change: str
    check: Check


Mutants = Mapping[str, tuple[str, Mapping[str, Any] | Check]]
"""name -> (change, what the claim's check is given other values of; or a check of its own)."""


@dataclass(frozen=True, kw_only=True)
class Repaired:
    """The repaired form of a false claim: a claim of ours, ``ID/repaired``, of the same place.

    Attributes
    ----------
    title, statement, check, mutants, ... : as of a claim.
    kind, hypotheses, number : of the claim, where they are not given.
    """

    title: str
    statement: str
    check: Check
    mutants: Mutants
    scope: str = "as stated"
    size: str = ""
    kind: Kind | None = None
    hypotheses: Mapping[str, str] | None = None
    number: str = ""
    rests_on: tuple[str, ...] = ()
    reading: str = ""
    gap: str = ""
    notes: str = ""


def caption(id: str, number: str, line: int, title: str, printed: str, **more: Any) -> Claim:
    """A sentence about printed numbers; where it has an erratum it is a remark, and refuted unless
    it is repaired.
    """
    fixed: dict[str, Any] = {"kind": "figure", "scope": "as printed", "whose": "printed"}
    if "erratum" in more:
        fixed |= {"severity": "remark"} | ({} if "repaired" in more else {"expected": "refuted"})
    return Claim(id, number, line, title, printed=printed, **{**fixed, **more})


@dataclass(frozen=True)
class Claim:
    """One statement, how it is checked, and what is known of it.

    Attributes
    ----------
    id : "paper/name", or "paper/name/repaired" for the repaired form of a false statement.
    number : where the paper has it: "Lemma 7", "Eq. (3)", "Section 3.2.1".
    line : of the paper's text file, where the statement begins; 0 where there is no paper.
    title : the statement in a line of plain text.
    printed : as the paper prints it; mathematics in LaTeX between dollars.
    statement : what is checked, in the notation of this project; likewise.
    kind : identity, bound, ...
    hypotheses : name -> text; the names are those of the premises of its cases.
    scope : for what the evidence speaks: "as stated", "n = 2", "box [0, 1]^2".
    size : of a statement for any n that is shown for fixed n alone: "n = 3". Its level says so.
    expected : the verdict. It is computed, and compared to this. Where it is not given: "holds", or
        "holds-repaired" where there is a repaired form.
    check : effort -> evidence; see :mod:`fairfl.claims.forms` for the usual ones.
    mutants : at least one.
    repaired : the form that holds, where the claim "holds-repaired".
    rests_on : ids of claims that the check takes for granted.
    reading : which reading of an ambiguous statement was chosen, and what the others give.
    erratum : what the authors should change; empty where nothing is wrong.
    severity : of the erratum, see ``SEVERITIES``; None where there is none, or it is ours.
    gap : a false or missing step of the printed proof, under a statement that survives: "the
        statement survives: ...".
    notes : anything else that a referee would want to know.
    whose : whose statement it is: printed as it stands; implied by what is printed; a reading of
        it, one of several; or ours. Only the printed ones count as errors of the paper.
    """

    id: str
    number: str
    line: int
    title: str
    printed: str
    statement: str
    kind: Kind
    check: Check
    mutants: Mutants
    whose: Whose
    hypotheses: Mapping[str, str] = field(default_factory=dict)
    scope: str = "as stated"
    size: str = ""
    expected: Verdict | None = None
    repaired: Repaired | None = None
    rests_on: tuple[str, ...] = ()
    reading: str = ""
    erratum: str = ""
    gap: str = ""
    notes: str = ""
    severity: Severity | None = None

    def __post_init__(self) -> None:
        if self.expected is None:
            object.__setattr__(self, "expected", "holds-repaired" if self.repaired else "holds")
        if not _ID.match(self.id):
            raise ValueError(
                f"id must be paper/name with letters, digits, dots and hyphens, got {self.id!r}"
            )
        if self.kind not in KINDS:
            raise ValueError(
                f"kind of {self.id} must be one of {', '.join(KINDS)}, got {self.kind!r}"
            )
        if self.expected not in VERDICTS:
            raise ValueError(
                f"expected of {self.id} must be one of {', '.join(VERDICTS)}, got {self.expected!r}"
            )
        if self.whose not in WHOSE:
            raise ValueError(
                f"whose of {self.id} must be one of {', '.join(WHOSE)}, got {self.whose!r}"
            )
        false = self.expected in ("refuted", "holds-repaired")
        if self.severity is not None and (self.severity not in SEVERITIES or not false):
            raise ValueError(
                f"severity of {self.id} must be one of {', '.join(SEVERITIES)}, of what is false, "
                f"got {self.severity!r}"
            )
        for name in ("number", "title", "printed", "statement", "scope"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} of {self.id} must be given, got an empty text")
        if not self.mutants:
            raise ValueError(
                f"mutants of {self.id} must be at least one: a check that cannot fail checks "
                "nothing"
            )
        if false != bool(self.erratum):
            raise ValueError(
                f"erratum of {self.id} must say what is wrong where it is false, and only there; "
                f"it is expected to be {self.expected}"
            )
        if self.id in self.rests_on:
            raise ValueError(f"rests_on of {self.id} must not name itself")

    @property
    def paper(self) -> str:
        """The key of its paper."""
        return paper_of(self.id)

    @property
    def near_misses(self) -> tuple[Mutant, ...]:
        """The mutants, each with its check."""
        return tuple(
            Mutant(name, change, how if callable(how) else partial(self.check, **how))
            for name, (change, how) in self.mutants.items()
        )

    def forms(self) -> tuple[Claim, ...]:
        """The claim, and its repaired form where it is nested."""
        form = self.repaired
        if form is None:
            return (self,)
        own = {f.name: getattr(form, f.name) for f in fields(form)}
        own["kind"], own["number"] = form.kind or self.kind, form.number or self.number
        own["hypotheses"] = self.hypotheses if form.hypotheses is None else form.hypotheses
        return (
            self,
            Claim(id=self.repaired_id, line=self.line, printed=self.printed, whose="ours", **own),
        )

    @property
    def repaired_id(self) -> str:
        """The id that its repaired form has, where there is one."""
        return self.id + REPAIRED
