"""FedFB, equation (32): the disparity of LFT+Ensemble through the local functions g_i."""

from __future__ import annotations

from itertools import product
from typing import Any

import sympy

from fairfl.claims.forms import Claim, identity, proof


def residuals(common: bool = True, quarter: int = 4) -> dict[str, Any]:
    """MD of (f_0 + f_1)/2 on the pooled law, by Bayes' rule, minus Σ_ij g_i(λ_j)/4; and g - (g_0 +
    g_1)/2.

    r_iaj = P(x accepted by client j's rule | a, i), so g_i(λ_j) = r_i0j - r_i1j.
    """
    q = sympy.symbols("q", positive=True)
    shares = (q, q) if common else sympy.symbols("q0 q1", positive=True)
    r = {key: sympy.Symbol(f"r{key}") for key in product(range(2), repeat=3)}
    local = {(i, j): r[i, 0, j] - r[i, 1, j] for i in range(2) for j in range(2)}

    def pooled(a: int, j: int) -> Any:
        """P(x accepted by rule j | a), P(i | a) proportional to P(a | i)."""
        weights = [s if a else 1 - s for s in shares]
        return sum(w * r[i, a, j] for i, w in enumerate(weights)) / sum(weights)

    ensemble = sum((pooled(0, j) - pooled(1, j)) / 2 for j in (0, 1))
    return {
        "(32)": ensemble - sum(local.values()) / sympy.Integer(quarter),
        "g": pooled(0, 0) - pooled(1, 0) - (local[0, 0] + local[1, 0]) / 2,
    }


CLAIMS = (
    Claim(
        "fedfb/eq-32",
        558,
        "DP Disp of LFT+Ensemble is |Σ_ij g_i(λ_j)|/4, and g = (g_0 + g_1)/2",
        printed=r"$DP\,Disp(f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1})="
        r"|\frac14(g_0(\lambda_{\varepsilon_0})+g_0(\lambda_{\varepsilon_1})+"
        r"g_1(\lambda_{\varepsilon_0})+g_1(\lambda_{\varepsilon_1}))|$; "
        r"$g(\lambda)=\frac12g_0(\lambda)+\frac12g_1(\lambda)$.",
        statement=r"With two clients of equal weight and a common $q\in(0,1)$, both hold "
        r"identically in the rates $P(\hat y_j=1\mid a,i)$.",
        kind="identity",
        hypotheses={
            "common q": "q_0 = q_1 = q in (0, 1)",
            "equal weights": "the clients have as much data each",
        },
        scope="as stated; the proof: any number of clients",
        check=proof("pooled.v", "ensemble", identity(residuals)),
        mutants={
            "two shares": ("q_0 and q_1 differ, pooled by Bayes' rule", {"common": False}),
            "a half": ("1/2 in place of 1/4", {"quarter": 2}),
        },
    ),
)
