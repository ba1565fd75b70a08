"""Algorithm 1: the last line of the server's loop sums the models that came in, not their weighted
mean.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, counterexample, every, identity


def agreement(instance: dict[str, Any], line_13: bool = True) -> Case:
    """Clients that all return the model u leave it as it is."""
    p, u = instance["p"], instance["u"]
    new = sum(u if line_13 else w * u for w in p)
    return Case((Relation(new, "==", u, "new model"),), {"weights": min(p) >= 0 and sum(p) == 1})


def residuals(c: int, missing: int = 0) -> dict[str, Any]:
    """sum p_k w_k less its value where all w_k = u, for c weights with sum one; ``missing`` models
    are left out.
    """
    p, u = list(sympy.symbols(f"p1:{c}", real=True)), sympy.Symbol("u", real=True)
    weights = [*p, 1 - sum(p)]
    return {"agreement": sum(w * u for w in weights[missing:]) - u}


CLAIMS = (
    Claim(
        "pffl/algorithm-1",
        228,
        "Algorithm 1 leaves a model as it is on which all clients agree",
        number="Algorithm 1, lines 11-13",
        printed=r"12: $\mathbf{w} = \mathbf{p}^T \cdot \mathbf{w}$, 13: $w^{t+1} = \sum_{k=1}^c "
        r"w_k^{t+1}$, after line 6: 'Client returns their trained model $w_k^{t+1}$'",
        statement=r"If every client returns $w_k^{t+1} = u$, then $w^{t+1} = u$.",
        kind="implication",
        hypotheses={"weights": "p >= 0 with sum one"},
        scope="c = 2",
        severity="misprint",
        check=counterexample(
            agreement,
            "two clients that both return 1: the server's new model is 2",
            {"p": [Fraction(1, 2)] * 2, "u": 1},
        ),
        mutants={"without line 13": ("the weighted mean of line 12", {"line_13": False})},
        reading="w_k^{t+1} in line 13 is what line 6 calls so, the model that client k returns.",
        erratum="Line 13 discards the weights, and c equal models give c times the model. Drop it: "
        "w^{t+1} = p^T w.",
        repaired=dict(
            number="Algorithm 1, lines 11-12",
            title="The weighted mean of line 12 leaves a model as it is on which all clients agree",
            statement=r"With $w^{t+1} = \sum_k p_k w_{(k)}^{t+1}$, models in the order of the "
            r"losses: all equal to $u$ give $u$.",
            kind="identity",
            size="c = 2, ..., 5",
            check=every(*(identity(residuals, method="expand", c=c) for c in range(2, 6))),
            mutants={"a model left out": ("the first is not summed", {"missing": 1})},
        ),
    ),
)
