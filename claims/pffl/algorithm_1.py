"""Algorithm 1: the last line of the server's loop sums the models that came in, not their weighted
mean.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fairfl.claims.forms import Case, Claim, Relation, counterexample


def agreement(instance: dict[str, Any], line_13: bool = True) -> Case:
    """Clients that all return the model u leave it as it is."""
    p, u = instance["p"], instance["u"]
    new = sum(u if line_13 else w * u for w in p)
    return Case((Relation(new, "==", u, "new model"),), {"weights": min(p) >= 0 and sum(p) == 1})


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
        expected="refuted",
    ),
)
