"""The words of a claim: kind, verdict, level, whose statement it is, severity of an erratum."""

from typing import Literal, get_args

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
KINDS: tuple[Kind, ...] = get_args(Kind)
Finding = Literal["holds", "refuted"]
Verdict = Literal["holds", "holds-repaired", "refuted", "open"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Level = Literal["proved", "symbolic", "certified", "property", "numeric"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Levels of evidence, the strongest first."""
Whose = Literal["printed", "implied", "reading", "ours"]
WHOSE: tuple[Whose, ...] = get_args(Whose)
Severity = Literal["theorem", "constant", "step", "remark", "misprint"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""Severities of errata, the most severe first."""
