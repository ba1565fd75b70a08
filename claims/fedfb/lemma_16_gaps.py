"""FedFB, lemma 16 where every g_i increases, but supports have gaps: an ensemble that is CFL's
rule.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from fairfl.claims.call import Call
from fairfl.claims.case import Case
from fairfl.claims.certificates import Counterexample
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.lemma_14 import worse
from fairfl.claims.fedfb.worlds import Population, World


def increases(people: Population) -> bool:
    """Whether g, which is piecewise linear, is strictly increasing on [-reach, reach]."""
    values = [g for lam, g in people.nodes if abs(lam) <= people.reach]
    return all(a < b for a, b in zip(values, values[1:], strict=False))


def strict(instance: dict[str, Any]) -> Case:
    """The statement at budgets ε_i = |g_i(λ_i)| where λ_i/q_i is the same for all clients."""
    world = World.of(instance["laws"], instance["q"])
    lams = [instance["step"] * q for q in world.q]
    start = [client.g(Fraction(0)) for client in world.clients]
    local = [client.g(lam) for client, lam in zip(world.clients, lams, strict=True)]
    own = [
        client.multiplier(abs(v)) == lam
        for client, v, lam in zip(world.clients, local, lams, strict=True)
    ]
    eps = abs(world.pooled.g(instance["step"] * world.pooled.q))
    premises = {
        "q_0 ≠ q_1": world.q[0] != world.q[1],
        "ε < |g(0)|": eps < abs(world.pooled.g(Fraction(0))),
        "g_i increase": all(map(increases, (*world.clients, world.pooled))),
        "λ_i solves": all(own) and all(a * b >= 0 for a, b in zip(start, local, strict=True)),
    }
    return Case((worse(world, lams, eps),), premises)


def _check(effort: Effort, middle: int = 0) -> Evidence:
    shows = (
        "q = (1/2, 3/4), nobody of group 0 with 1/4 < η < 3/4, g_i(0) = 1/4: at ε_0 = ε_1 = ε = "
        "3/16 both clients and CFL have one rule, and the same accuracy"
    )
    far = [1, middle, middle, 3]
    even = [1, 1, 1, 1]
    return Evidence.of(
        Counterexample.at(
            Call.of(strict),
            shows,
            laws=[[far, even], [far, even]],
            q=[Fraction(1, 2), Fraction(3, 4)],
            step=Fraction(-1, 8),
        )
    )


CLAIMS = (
    Claim(
        id="fedfb/lemma-16/gaps",
        whose="reading",
        number="Lemma 16",
        line=878,
        title="q_0 ≠ q_1, pooled by Bayes' rule, every g_i strictly increasing: max LFT+Ensemble < "
        "CFL(ε) for all ε < |g(0)|",
        printed=r"Assume $a\sim Bern(q_i)$ in client $i$, and $q_0\ne q_1\in(0,1)$. Then "
        r"$\max_{\varepsilon_0,\varepsilon_1}LFT+Ensemble(\varepsilon_0,\varepsilon_1;"
        r"\varepsilon)<CFL(\varepsilon)$ for all $\varepsilon<|g(0)|$. [Lemma 7: Note that $g$ is "
        r"a strictly monotone increasing function.]",
        statement=r"For every pair of budgets, $DP\,Disp>\varepsilon$ or $Acc<CFL(\varepsilon)$, "
        r"where all $g_i$ and $g$ are strictly increasing and all weights are right.",
        kind="bound",
        hypotheses=(
            ("q_0 ≠ q_1", "the shares differ, both in (0, 1)"),
            ("ε < |g(0)|", "g of the pooled law, by Bayes' rule"),
            ("g_i increase", "g_0, g_1 and g are strictly increasing"),
            ("λ_i solves", "λ_i = g_i⁻¹(sign(g_i(0)) ε_i)"),
        ),
        scope="as stated",
        expected="refuted",
        check=_check,
        mutants=(
            Mutant("no gap", "a few of group 0 with 1/4 < η < 3/4", partial(_check, middle=1)),
        ),
        severity="theorem",
        erratum=r"That $g_i$ increases is not enough: assume that each $\mathcal P_a^{(i)}$ has a "
        r"density that is positive wherever $0<\eta<1$. Where one group has nobody near "
        r"$\eta=\frac12$, only the other group's threshold matters there; $\lambda_i=q_i\lambda/q$ "
        r"gives every client CFL's threshold $\frac12+\frac\lambda{2q}$ in group 1, and the "
        r"thresholds of group 0 differ where nobody is.",
        notes="With a common q this cannot happen: thresholds that agree in one group agree in "
        "both.",
    ),
)
