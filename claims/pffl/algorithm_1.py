"""Algorithm 1: the last line of the server's loop sums the models that came in, not their weighted
mean.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def agreement(instance: dict[str, Any], line_13: bool = True) -> Case:
    """Clients that all return the model u leave it as it is."""
    p, u = [Fraction(v) for v in instance["p"]], Fraction(instance["u"])
    models = [u] * len(p)
    new = sum(models) if line_13 else sum(w * m for w, m in zip(p, models, strict=True))
    return Case((Relation(new, "==", u, "new model"),), {"weights": min(p) >= 0 and sum(p) == 1})


def residuals(c: int, missing: int = 0) -> dict[str, sympy.Expr]:
    """sum p_k w_k less its value where all w_k = u, for c weights with sum one; ``missing`` models
    are left out.
    """
    p = list(sympy.symbols(f"p1:{c}", real=True))
    u = sympy.Symbol("u", real=True)
    weights = [*p, 1 - sum(p)]
    return {"agreement": sum(w * u for w in weights[missing:]) - u}


def _check(effort: Effort, line_13: bool = True) -> Evidence:
    shows = "two clients that both return 1: the server's new model is 2"
    half = Fraction(1, 2)
    return Evidence.of(
        Counterexample.at(Call.of(agreement, line_13=line_13), shows, p=[half, half], u=1)
    )


def _check_repaired(effort: Effort, missing: int = 0) -> Evidence:
    point = {**{f"p{k}": f"{k}/17" for k in range(1, 8)}, "u": "5/3"}
    sizes = range(2, effort.pick(6, 9))
    return Evidence.of(
        *(SymbolicZero(Call.of(residuals, c=c, missing=missing), "expand", (point,)) for c in sizes)
    )


PRINTED = (
    r"12: $\mathbf{w} = \mathbf{p}^T \cdot \mathbf{w}$, 13: $w^{t+1} = \sum_{k=1}^c w_k^{t+1}$, "
    r"after line 6: 'Client returns their trained model $w_k^{t+1}$'"
)
HYPOTHESES = (("weights", "p >= 0 with sum one"),)
CLAIMS = (
    Claim(
        id="pffl/algorithm-1",
        number="Algorithm 1, lines 11-13",
        line=228,
        title="Algorithm 1 leaves a model as it is on which all clients agree",
        printed=PRINTED,
        statement=r"If every client returns $w_k^{t+1} = u$, then $w^{t+1} = u$.",
        kind="implication",
        hypotheses=HYPOTHESES,
        scope="c = 2",
        expected="holds-repaired",
        check=_check,
        mutants=(
            Mutant(
                "without line 13", "the weighted mean of line 12", partial(_check, line_13=False)
            ),
        ),
        reading="w_k^{t+1} in line 13 is what line 6 calls so, the model that client k returns.",
        severity="misprint",
        erratum="Line 13 discards the weights, and c equal models give c times the model. Drop "
        "it: w^{t+1} = p^T w.",
    ),
    Claim(
        id="pffl/algorithm-1/repaired",
        number="Algorithm 1, lines 11-12",
        line=228,
        title="The weighted mean of line 12 leaves a model as it is on which all clients agree",
        printed=PRINTED,
        statement=(
            r"With $w^{t+1} = \sum_k p_k w_{(k)}^{t+1}$, models in the order of the losses: all "
            r"equal to $u$ give $u$."
        ),
        kind="identity",
        hypotheses=HYPOTHESES,
        scope="2 <= c <= 5",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant(
                "a model left out", "the first is not summed", partial(_check_repaired, missing=1)
            ),
        ),
    ),
)
