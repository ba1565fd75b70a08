"""FedFB, section 3's sets, and section 5.3's other definition of DP disparity."""

from __future__ import annotations

from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def outcomes(instance: dict[str, Any]) -> Case:
    """[N] = {0, ..., N - 1} has the two outcomes of a binary y."""
    return Case((Relation(len(range(instance["n"])), "==", 2, "|Y|"),))


def residuals(largest: str = "1-q") -> dict[str, sympy.Expr]:
    """|P(ŷ=1 | a) - P(ŷ=1)| for a = 0 and 1 are q|MD| and (1-q)|MD|: without the absolute
    values.
    """
    q, r0, r1 = sympy.symbols("q r0 r1")
    whole = (1 - q) * r0 + q * r1
    share = 1 - q if largest == "1-q" else q
    return {"a = 0": (r0 - whole) - q * (r0 - r1), "a = 1": (whole - r1) - share * (r0 - r1)}


def _check_printed(effort: Effort, n: int = 1) -> Evidence:
    return Evidence.of(Counterexample.at(Call.of(outcomes), "[1] = {0}", n=n))


def _check_repaired(effort: Effort, n: int = 2) -> Evidence:
    return Evidence.of(Witness.at(Call.of(outcomes), "[2] = {0, 1}", n=n))


def _check_disparity(effort: Effort, largest: str = "1-q") -> Evidence:
    point = {"q": "1/3", "r0": "1/2", "r1": "1/5"}
    return Evidence.of(SymbolicZero(Call.of(residuals, largest=largest), "expand", (point,)))


SETS = (
    r"Denote $[N]:=\{0,1,\dots,N-1\}$ [...] $y\in\mathcal Y=[1]$ is the outcome and "
    r"$a\in\mathcal A=[A]=[1]$."
)

CLAIMS = (
    Claim(
        id="fedfb/notation",
        number="Section 3, problem setting",
        line=75,
        title="the outcome and the group range over [1], with [N] = {0, ..., N-1}",
        printed=SETS,
        statement=r"$[1]$ has two elements.",
        kind="identity",
        hypotheses=(),
        scope="as stated",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(Mutant("[2]", "[2] in place of [1]", lambda e: _check_printed(e, 2)),),
        severity="misprint",
        erratum="[1] = {0}: write [2] for both. Algorithm 4's 'y in [1]' too.",
    ),
    Claim(
        id="fedfb/notation/repaired",
        number="Section 3, problem setting",
        line=75,
        title="the outcome and the group range over [2]",
        printed=SETS,
        statement=r"$[2]=\{0,1\}$.",
        kind="identity",
        hypotheses=(),
        scope="as stated",
        expected="holds",
        check=_check_repaired,
        mutants=(Mutant("[1]", "as printed", lambda e: _check_repaired(e, 1)),),
    ),
    Claim(
        id="fedfb/disparity-5.3",
        number="Section 5.3",
        line=278,
        title="(ours) the DP disparity of the experiments is max(q, 1-q) |MD| for two groups",
        printed=r"We [...] report DP disparity $=\max_{a\in[A]}|P(\hat y=1\mid a=a)-P(\hat "
        r"y=1)|$ [...]. Note that this is slightly different from the definition we used in the "
        r"previous sections.",
        statement=r"$|P(\hat y=1\mid a)-P(\hat y=1)|=P(1-a)|MD|$, so the maximum is "
        r"$\max(q,1-q)|MD|$: between half of the disparity of section 3 and all of it.",
        kind="identity",
        hypotheses=(),
        scope="A = 2",
        expected="holds",
        check=_check_disparity,
        mutants=(Mutant("q", "q in place of 1-q", lambda e: _check_disparity(e, "q")),),
        whose="ours",
    ),
)
