"""FedFB, equations (32), (51) and (56): the mean differences of an ensemble, and of a client."""

from fractions import Fraction
from itertools import product

import sympy

from fairfl.claims.exact import Instance, dot
from fairfl.claims.forms import Case, Claim, Relation, counterexample, identity, proof


def pooled_difference(common: bool = True, quarter: int = 4) -> dict[str, sympy.Expr]:
    """MD of (f_0 + f_1)/2 on the pooled law, by Bayes' rule, minus Σ_ij g_i(λ_j)/4; and g - (g_0 +
    g_1)/2.

    r_iaj = P(x accepted by client j's rule | a, i), so g_i(λ_j) = r_i0j - r_i1j.
    """
    q = sympy.symbols("q", positive=True)
    shares = (q, q) if common else sympy.symbols("q0 q1", positive=True)
    r = {key: sympy.Symbol(f"r{key}") for key in product(range(2), repeat=3)}
    local = {(i, j): r[i, 0, j] - r[i, 1, j] for i in range(2) for j in range(2)}
    pooled = {}  # P(x accepted by rule j | a), P(i | a) proportional to P(a | i)
    for a, j in product(range(2), repeat=2):
        weights = [s if a else 1 - s for s in shares]
        accepted = sympy.Add(*(w * r[i, a, j] for i, w in enumerate(weights)))
        pooled[a, j] = accepted / sympy.Add(*weights)
    ensemble = sympy.Add(*((pooled[0, j] - pooled[1, j]) / 2 for j in (0, 1)))
    return {
        "(32)": ensemble - sympy.Add(*local.values()) / sympy.Integer(quarter),
        "g": pooled[0, 0] - pooled[1, 0] - (local[0, 0] + local[1, 0]) / 2,
    }


def printed(instance: Instance, divide: bool = True) -> Case:
    """(51): Σ_x [f(x,0) P(x | a=0, i)/P(a=0) - f(x,1) P(x | a=1, i)/P(a=1)] is MD_i."""
    rates = [dot(rule, law) for rule, law in zip(instance["f"], instance["law"], strict=True)]
    shares = (1 - instance["q"], instance["q"]) if divide else (1, 1)
    formula = rates[0] / shares[0] - rates[1] / shares[1]
    return Case((Relation(formula, "==", rates[0] - rates[1], "MD_i"),))


def local_difference(local: bool = True) -> dict[str, sympy.Expr]:
    """(56): E_a E_{x ~ P_a^(i)} [f(x,0) 1{a=0}/(1-q_i) - f(x,1) 1{a=1}/q_i] - MD_i, where r_a is
    the mean of f(x,a) under P_a^(i).
    """
    q, pooled, r0, r1 = sympy.symbols("q other r0 r1", positive=True)
    divisor = q if local else pooled
    return {"(56)": (1 - q) * r0 / (1 - divisor) - q * r1 / divisor - (r0 - r1)}


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
        check=proof("pooled.v", "ensemble", identity(pooled_difference)),
        mutants={
            "two shares": ("q_0 and q_1 differ, pooled by Bayes' rule", {"common": False}),
            "a half": ("1/2 in place of 1/4", {"quarter": 2}),
        },
    ),
    Claim(
        "fedfb/eq-51",
        978,
        "MD_i = Σ_x [f(x,0) P(x|a=0,i)/P(a=0) - f(x,1) P(x|a=1,i)/P(a=1)]",
        printed=r"(51): $P(\hat y=1\mid a=0,i)-P(\hat y=1\mid a=1,i)=\sum_x[f(x,0)\frac{P(x\mid "
        r"a=0,i)}{P(a=0)}-f(x,1)\frac{P(x\mid a=1,i)}{P(a=1)}]$. (56): $=E_aE_{x\sim\mathcal "
        r"P_a^{(i)}}[f(x,0)\frac{[[a=0]]}{1-q}-f(x,1)\frac{[[a=1]]}q]$.",
        statement="The formula (51).",
        kind="identity",
        severity="constant",
        check=counterexample(
            printed,
            "accept everyone, q = 1/4: MD_i = 0, and (51) gives -8/3",
            {"q": "1/4", "f": [[1], [1]], "law": [[Fraction(1)], [Fraction(1)]]},
        ),
        mutants={"no division": ("without dividing by P(a)", {"divide": False})},
        erratum="P(x | a, i) is conditional on a already: drop the division by P(a), or write "
        "P(x, a | i)/P(a | i). The v_i defined from (51) inherit it, so that (52)-(54) is "
        "another programme than LFT+FedAvg(ε). (53) also prints one side of the constraint only: "
        "-ε_i <= v_i·f is missing.",
        notes="(56) is right, with q = q_i, and lemma 18 is derived from that.",
        repaired=dict(
            number="Eq. (56)",
            title="MD_i = E_a E_x [f(x,0) 1{a=0}/(1-q_i) - f(x,1) 1{a=1}/q_i]",
            statement=r"The formula (56), $a\sim Bern(q_i)$.",
            check=identity(local_difference),
            mutants={"another q": ("the pooled q for q_i", {"local": False})},
        ),
    ),
)
