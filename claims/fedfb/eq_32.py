"""FedFB, equation (32): the disparity of LFT+Ensemble through the local functions g_i."""

from __future__ import annotations

from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates import REALS, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

CLIENTS = (0, 1)
ENSEMBLE = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition pooled (ks : list nat) (share : bool -> R) (r : nat -> bool -> nat -> R)
  (a : bool) (j : nat) : R :=
  sum ks (fun i => share a * r i a j) / sum ks (fun _ => share a).
Theorem ensemble : forall n q r, 0 < q < 1 ->
  let ks := seq 0 (S n) in
  let difference j := pooled ks (fun a : bool => if a then q else 1 - q) r false j
    - pooled ks (fun a : bool => if a then q else 1 - q) r true j in
  (forall j, difference j = sum ks (fun i => r i false j - r i true j) / INR (S n))
  /\ sum ks difference / INR (S n)
     = sum ks (fun j => sum ks (fun i => r i false j - r i true j)) / (INR (S n) * INR (S n)).
"""


def residuals(common: bool = True, quarter: int = 4) -> dict[str, Any]:
    """MD of (f_0 + f_1)/2 on the pooled law, by Bayes' rule, minus Σ_ij g_i(λ_j)/4; and g - (g_0 +
    g_1)/2.

    r_iaj = P(x accepted by client j's rule | a, i), so g_i(λ_j) = r_i0j - r_i1j.
    """
    q = sympy.symbols("q", positive=True)
    shares = (q, q) if common else sympy.symbols("q0 q1", positive=True)
    accept = {
        (i, a, j): sympy.Symbol(f"r{i}{a}{j}") for i in CLIENTS for a in (0, 1) for j in CLIENTS
    }

    def pooled(a: int, j: int) -> Any:
        """P(x accepted by rule j | a), P(i | a) proportional to P(a | i)."""
        weights = [s if a else 1 - s for s in shares]
        return sum(w * accept[i, a, j] for i, w in zip(CLIENTS, weights, strict=True)) / sum(
            weights
        )

    local = {(i, j): accept[i, 0, j] - accept[i, 1, j] for i in CLIENTS for j in CLIENTS}
    ensemble = sum((pooled(0, j) - pooled(1, j)) / 2 for j in CLIENTS)
    return {
        "(32)": ensemble - sum(local.values()) / sympy.Integer(quarter),
        "g": pooled(0, 0) - pooled(1, 0) - (local[0, 0] + local[1, 0]) / 2,
    }


def _check(effort: Effort, common: bool = True, quarter: int = 4) -> Evidence:
    rates = {
        f"r{i}{a}{j}": f"{1 + i + 2 * a + 4 * j}/{9 + i}"
        for i in (0, 1)
        for a in (0, 1)
        for j in (0, 1)
    }
    point = {"q": "1/3", "q0": "1/4", "q1": "2/3", **rates}
    algebra = SymbolicZero(Call.of(residuals, common=common, quarter=quarter), "together", (point,))
    return Evidence.of(KernelProof.of("pooled.v", ENSEMBLE, algebra, axioms=REALS))


CLAIMS = (
    Claim(
        id="fedfb/eq-32",
        number="Eq. (32)",
        line=558,
        title="DP Disp of LFT+Ensemble is |Σ_ij g_i(λ_j)|/4, and g = (g_0 + g_1)/2",
        printed=r"$DP\,Disp(f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1})="
        r"|\frac14(g_0(\lambda_{\varepsilon_0})+g_0(\lambda_{\varepsilon_1})+"
        r"g_1(\lambda_{\varepsilon_0})+g_1(\lambda_{\varepsilon_1}))|$; "
        r"$g(\lambda)=\frac12g_0(\lambda)+\frac12g_1(\lambda)$.",
        statement=r"With two clients of equal weight and a common $q\in(0,1)$, both hold "
        r"identically in the rates $P(\hat y_j=1\mid a,i)$.",
        kind="identity",
        hypotheses=(
            ("common q", "q_0 = q_1 = q in (0, 1)"),
            ("equal weights", "the clients have as much data each"),
        ),
        scope="n = 2, as stated; linear, so the same for any number of clients",
        expected="holds",
        check=_check,
        mutants=(
            Mutant(
                "two shares",
                "q_0 and q_1 differ, pooled by Bayes' rule",
                lambda e: _check(e, common=False),
            ),
            Mutant("a half", "1/2 in place of 1/4", lambda e: _check(e, quarter=2)),
        ),
    ),
)
