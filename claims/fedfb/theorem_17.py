"""FedFB, theorems 17 and 21: with a common q, LFT+FedAvg is as fair as its budgets."""

from fractions import Fraction

import sympy

from fairfl.claims.certificates import Decomposition
from fairfl.claims.fedfb.lemma_20 import COUNTER, PREMISES, printed
from fairfl.claims.fedfb.mean_differences import mean
from fairfl.claims.forms import Claim, counterexample, definite, identity, proof


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
        "fedfb/theorem-17",
        940,
        "common q: LFT+FedAvg(ε, ε) has DP Disp ≤ ε; so min LFT+Ensemble > min LFT+FedAvg = 0 "
        "under lemma 10",
        printed=r"Let $q\in(0,1)$. For all $\varepsilon\in[0,1]$, there exists "
        r"$\varepsilon_0,\varepsilon_1\in[0,1]$ such that "
        r"$DP\,Disp(f^{LFT+FedAvg}_{\varepsilon_0,\varepsilon_1})\le\varepsilon$. Thus under the "
        r"condition in Lemma 10, $\min DP\,Disp(f^{LFT+Ensemble})>\min "
        r"DP\,Disp(f^{LFT+FedAvg})=0$.",
        statement=r"$MD=\frac12(MD_0+MD_1)$ for every $f$, so $|MD|\le\varepsilon$ where "
        r"$|MD_i|\le\varepsilon_i\le\varepsilon$; $\varepsilon=0$ gives $0$, and lemma 10 the "
        r"rest.",
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
        "under lemma 20's condition: min DP Disp(LFT+Ensemble) > min DP Disp(LFT+FedAvg) = 0, for "
        "I clients",
        printed=r"Thus under the condition in Lemma 20, we have "
        r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f^{LFT+Ensemble})>"
        r"\min_{\varepsilon\in[0,1]^I}DP\,Disp(f^{LFT+FedAvg})=0$.",
        kind="bound",
        hypotheses=PREMISES,
        scope="I = 3, as stated",
        check=counterexample(
            printed,
            "the three clients of fedfb/lemma-20: LFT+Ensemble reaches MD = 0 too",
            COUNTER,
            "0 < 0",
            least=0,
        ),
        mutants={"negative": ("> -1 in place of > 0", {"least": -1})},
        severity="theorem",
        erratum="False for I > 2, since lemma 20 is: LFT+Ensemble may be perfectly fair under "
        "its condition. It holds where 0 is outside of the range [L, U] of fedfb/lemma-20/range.",
    ),
)
