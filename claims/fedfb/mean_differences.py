"""FedFB, (32), (51), (56), theorems 17, 21: mean differences, of a common q the clients' mean."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.exact import Instance, dot
from fairfl.claims.fedfb import lemma_20
from fairfl.claims.forms import Claim, Residual, counterexample, definite, identity, proof


def pooled_rates(shares: Sequence[Any], rates: Sequence[Sequence[Any]]) -> list[Any]:
    """P(accepted | a) on the pooled law by Bayes' rule, from P(a = 1 | i) and rates[i][a]."""
    weights = [1 - s for s in shares], shares
    return [dot(w, r) / sum(w) for w, r in zip(weights, zip(*rates, strict=True), strict=True)]


def mean(clients: int = 3, common: bool = True) -> dict[str, Residual]:
    """MD of any f on the pooled law, and the mean of the MD_i. For shares that differ, the law of
    total probability: the mean of P(accepted | i) is Σ_a P(a) P(accepted | a).
    """
    q, other = sympy.Symbol("q", positive=True), sympy.symbols(f"q0:{clients}", positive=True)
    rates = [sympy.symbols(f"r{i}_:2") for i in range(clients)]
    pooled = pooled_rates([q] * clients if common else other, rates)
    share, accepted = sum(other) / clients, pooled_rates(other, rates)
    locally = sum((1 - s) * r[0] + s * r[1] for s, r in zip(other, rates, strict=True))
    return {
        "MD": (pooled[0] - pooled[1], sum(r[0] - r[1] for r in rates) / clients),
        "people": (locally / clients, dot((1 - share, share), accepted)),
    }


def pooled_difference(common: bool = True, quarter: int = 4) -> dict[str, Residual]:
    """MD of (f_0 + f_1)/2, and Σ_ij g_i(λ_j)/4, rates[j][i][a] = P(accepted by rule j | a, i)."""
    q = sympy.symbols("q", positive=True)
    shares = (q, q) if common else sympy.symbols("q0 q1", positive=True)
    rates = [[sympy.symbols(f"r{j}{i}_:2") for i in range(2)] for j in range(2)]
    ensemble = sum(dot((1, -1), pooled_rates(shares, rule)) for rule in rates) / 2
    local = sum(a - b for rule in rates for a, b in rule)
    return {"(32)": (ensemble, local / sympy.Integer(quarter)), **mean(2, common)}


def printed(instance: Instance, divide: bool = True) -> Case:
    """(51): Σ_x [f(x,0) P(x | a=0, i)/P(a=0) - f(x,1) P(x | a=1, i)/P(a=1)] is MD_i."""
    rates = [dot(rule, law) for rule, law in zip(instance["f"], instance["law"], strict=True)]
    shares = (1 - instance["q"], instance["q"]) if divide else (1, 1)
    formula = rates[0] / shares[0] - rates[1] / shares[1]
    return Case((Relation(formula, "==", rates[0] - rates[1], "MD_i"),))


def local_difference(local: bool = True) -> dict[str, Residual]:
    """(56) less MD_i, r_a the mean of f(x,a) under P_a^(i); its error with another share."""
    q, other, r0, r1 = sympy.symbols("q other r0 r1", positive=True)
    right, wrong = ((1 - q) * r0 / (1 - d) - q * r1 / d for d in (q if local else other, other))
    error = (other - q) * (r0 / (1 - other) + r1 / other)
    return {"(56)": (right, r0 - r1), "another share": (wrong - (r0 - r1), error)}


def within(clients: int = 2, budget: Fraction = Fraction(1)) -> Decomposition:
    """ε - mean MD_i as the mean of (ε - ε_i) + (ε_i - MD_i), all non-negative; -MD the same."""
    eps = sympy.Symbol("eps", nonnegative=True)
    budget_slack = sympy.symbols(f"s0:{clients}", nonnegative=True)
    local_slack = sympy.symbols(f"t0:{clients}", nonnegative=True)
    local = [eps - s - t for s, t in zip(budget_slack, local_slack, strict=True)]
    share = sympy.Rational(str(budget))
    return share * eps - sum(local) / clients, [v / clients for v in (*budget_slack, *local_slack)]


BOUND = proof(
    "pooled.v",
    "ensemble within",
    *(identity(mean, clients=count) for count in (2, 5)),
    *(definite(within, clients=count) for count in (2, 5)),
)
MUTANTS = {
    "different shares": ("the q_i differ", {"common": False}),
    "below ε": ("DP Disp <= 99/100 ε", {"budget": Fraction(99, 100)}),
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
        check=proof(
            "pooled.v", "ensemble", identity(pooled_difference, "-0.102109; -83/1368; 4583/2128")
        ),
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
        kind="identity",
        severity="constant",
        check=counterexample(
            printed,
            "q = 2/9, rules and laws on two points: (51) and MD_i",
            {
                "q": "2/9",
                "f": [["1/5", "2/3"], ["3/4", "1/9"]],
                "law": [["2/7", "5/7"], ["3/11", "8/11"]],
            },
            "-1843/3080 == 491/1980",
        ),
        mutants={"no division": ("without dividing by P(a)", {"divide": False})},
        erratum="P(x | a, i) is conditional on a already: drop the division by P(a), or write P(x, "
        "a | i)/P(a | i). The v_i defined from (51) inherit it, so that (52)-(54) is another "
        "programme than LFT+FedAvg(ε). (53) lacks -ε_i <= v_i·f.",
        repaired=dict(
            number="Eq. (56)",
            title="MD_i = E_a E_x [f(x,0) 1{a=0}/(1-q_i) - f(x,1) 1{a=1}/q_i]",
            statement=r"The formula (56), $a\sim Bern(q_i)$.",
            check=identity(local_difference, "-13/56; -4667/2016"),
            mutants={"another q": ("the pooled q for q_i", {"local": False})},
        ),
    ),
    Claim(
        "fedfb/theorem-17",
        940,
        "common q: LFT+FedAvg(ε, ε) is ≤ ε; by lemma 10 min LFT+Ensemble > min LFT+FedAvg = 0",
        printed=r"Let $q\in(0,1)$. For all $\varepsilon\in[0,1]$, there exists "
        r"$\varepsilon_0,\varepsilon_1\in[0,1]$ such that "
        r"$DP\,Disp(f^{LFT+FedAvg}_{\varepsilon_0,\varepsilon_1})\le\varepsilon$. Thus under the "
        r"condition in Lemma 10, $\min DP\,Disp(f^{LFT+Ensemble})>\min "
        r"DP\,Disp(f^{LFT+FedAvg})=0$.",
        statement=r"$MD=\frac12(MD_0+MD_1)$ for every $f$, so $|MD|\le\varepsilon$ where "
        r"$|MD_i|\le\varepsilon_i\le\varepsilon$; lemma 10 gives the rest.",
        kind="existence",
        hypotheses={"common q": "q_0 = q_1 = q in (0, 1)"},
        scope="as stated; the proof: any number of clients",
        check=BOUND,
        mutants=MUTANTS,
        rests_on=("fedfb/lemma-10",),
    ),
    Claim(
        "fedfb/theorem-21",
        1115,
        "common q, I clients: ε_i ≤ ε for all i implies DP Disp(LFT+FedAvg) ≤ ε",
        printed=r"Let $q_i=q\in(0,1)$ for all $i\in[I]$. For all $\varepsilon\in[0,1]$, let "
        r"$\varepsilon_i\le\varepsilon$ "
        r"for all $i\in[I]$, then $DP\,Disp(f^{LFT+FedAvg}_{\varepsilon})\le\varepsilon$.",
        statement=r"$MD=\frac1I\sum_iMD_i$ for every $f$, so "
        r"$|MD|\le\frac1I\sum_i\varepsilon_i\le\varepsilon$.",
        kind="bound",
        hypotheses={"common q": "q_i = q in (0, 1) for all clients"},
        scope="as stated: any number of clients",
        check=BOUND,
        mutants=MUTANTS,
        gap="the statement survives: the proof's last '= ε' should be '<= ε'.",
    ),
    Claim(
        "fedfb/theorem-21/strict",
        1115,
        "under lemma 20's condition, I clients: min LFT+Ensemble > min LFT+FedAvg = 0",
        printed=r"Thus under the condition in Lemma 20, we have "
        r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f^{LFT+Ensemble})>"
        r"\min_{\varepsilon\in[0,1]^I}DP\,Disp(f^{LFT+FedAvg})=0$.",
        kind="bound",
        hypotheses=lemma_20.PREMISES,
        scope="I = 3, as stated",
        check=counterexample(
            lemma_20.printed,
            "the three clients of fedfb/lemma-20: LFT+Ensemble reaches MD = 0 too",
            lemma_20.COUNTER,
            "0 < 0",
            least=0,
        ),
        mutants={"negative": ("> -1 in place of > 0", {"least": -1})},
        severity="theorem",
        erratum="False for I > 2, since lemma 20 is: LFT+Ensemble may be perfectly fair under "
        "its condition. It holds where 0 is outside of the range [L, U] of fedfb/lemma-20/range.",
    ),
)
