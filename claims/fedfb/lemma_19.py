"""FedFB, lemmas 19, 22 and 4: where the shares q_i differ, LFT+FedAvg cannot be fair."""

from fractions import Fraction
from itertools import combinations

import sympy
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.exact import Instance, dot
from fairfl.claims.fedfb.finite_worlds import FiniteWorld, federation_of, finite
from fairfl.claims.fedfb.mean_differences import pooled_rates
from fairfl.claims.forms import Claim, Residual, drawn, every, identity, proof, witness
from fairfl.solvers.api import solve

ZERO, HALF = Fraction(0), Fraction(1, 2)


def segregated(
    instance: Instance, mixed: bool = False, off: tuple[float, ...] = (0.0, 0.0, 0.0)
) -> Case:
    """fairfl on a finite X, every q_i in {0, 1}: DP Disp(LFT+FedAvg(ε)) = DP Disp(CFL(1)) > 0, min
    DP Disp(CFL) = 0; ``off`` are errors added to the three values. ``mixed``: q_i = 1/2.
    """
    premises = {"segregated": mixed or set(instance["q"]) == {0, 8}}
    if not all(premises.values()):
        return Case.outside(premises)
    shares = [4] * len(instance["q"]) if mixed else instance["q"]
    federation, eps = federation_of({**instance, "q": shares})
    erm = float(disparity(instance))
    premises |= {"unfair": erm > 1e-6, "η": all(v != 5 for v in instance["eta"])}
    ours = solve(federation, "lft_fedavg", eps).disparity
    alone, fairest = (solve(federation, "cfl", budget).disparity for budget in (1.0, 0.0))
    relations = (
        Relation(alone, "==", erm + off[0], "CFL(1) is ERM"),
        Relation(ours, "==", erm + off[1], "LFT+FedAvg"),
        Relation(fairest, "==", off[2], "CFL"),
        Relation(1e-6, "<=", ours - fairest, "CFL is fairer"),
    )
    return Case(relations, premises)


def disparity(instance: Instance) -> Fraction:
    """|MD| of ERM on the pooled law, each client of one group only: accept if η > 1/2."""
    is_accepted = [eta > 5 for eta in instance["eta"]]
    means = []
    for a in (0, 1):
        laws = [m[a] for m, q in zip(instance["masses"], instance["q"], strict=True) if q == 8 * a]
        rates = (Fraction(dot(law, is_accepted), sum(law)) for law in laws)
        means.append(sum(rates, ZERO) / len(laws))
    return abs(means[0] - means[1])


def mixtures(clients: int) -> st.SearchStrategy[Instance]:
    """η on both sides of 1/2, q_i in {0, 1}; some with one law for all, η = 1/2 or q_i = 1/2."""
    tenths = st.sampled_from([1, 2, 3, 4, 6, 7, 8, 9] * 5 + [5])
    eta = st.lists(tenths, min_size=4, max_size=4).filter(lambda e: min(e) < 5 < max(e))
    rest = st.lists(st.sampled_from([0, 8] * 4 + [4]), min_size=clients - 2, max_size=clients - 2)
    drawn = finite(clients, eta=eta, q=rest.flatmap(lambda q: st.permutations([0, 8, *q])))
    one_law = {"masses": [[[1, 2, 3, 4]] * 2] * clients}
    return st.tuples(drawn, st.sampled_from([{}] * 9 + [one_law])).map(lambda x: x[0] | x[1])


def simpson(instance: Instance) -> Case:
    """ERM is fair on both clients, so it solves LFT+FedAvg(ε) at every ε; pooled it is unfair."""
    law, q = instance["law"], instance["q"]
    world = FiniteWorld(law, q, [HALF, HALF], instance["eta"])
    erm = {(a, k): Fraction(int(world.eta[k] > HALF)) for a, k in world.cells}
    points = range(len(world.eta))
    rates = [[sum(erm[a, k] * law[i][a][k] for k in points) for a in (0, 1)] for i in (0, 1)]
    pooled = pooled_rates(q, rates)
    relations = [Relation(world.local(erm, i), "==", 0, f"MD_{i} of ERM") for i in (0, 1)]
    unique = [Relation(e, "!=", HALF, "η: ERM is unique") for e in world.eta]
    unfair = Relation(0, "<", abs(pooled[0] - pooled[1]), "DP Disp of ERM")
    return Case((*relations, *unique, unfair))


def gap(power: int = 2) -> dict[str, Residual]:
    """A rule accepts a share q_i of both groups: MD = -Σ_{i<j} (q_i - q_j)²/(Σ q_i Σ (1 - q_i))."""
    q = sympy.symbols("q0:3")
    ones, zeros = sympy.Add(*q), sympy.Add(*(1 - v for v in q))
    difference = sum((1 - v) * v for v in q) / zeros - sum(v * v for v in q) / ones
    spread = sum((a - b) ** power for a, b in combinations(q, 2))
    return {"MD": (difference, -spread / (ones * zeros))}


PREMISES = {
    "segregated": "every q_i is 0 or 1, and both occur",
    "unfair": "DP Disp(f_1^CFL) > 0",
    "η": "η ≠ 1/2: ERM is unique",
}


def _segregated(
    id: str, line: int, clients: int, title: str, printed: str, statement: str, reading: str
) -> Claim:
    """Lemma 19 for two clients, and lemma 22 for any number, of which four are drawn."""
    return Claim(
        f"fedfb/lemma-{id}",
        line,
        f"{title}: min DP Disp(LFT+FedAvg) = DP Disp(f_1^CFL) > min DP Disp(CFL) = 0",
        number=f"Lemma {id}",
        printed=printed,
        statement=statement,
        kind="implication",
        hypotheses=PREMISES,
        scope="as stated; undefined rates bound nothing, and MD is a difference of two rates",
        check=proof(
            "segregated.v",
            "segregated",
            drawn(segregated, mixtures, tolerance=1e-8, clients=clients),
        ),
        mutants={
            "half and half": ("q_i = 1/2", {"mixed": True}),
            "free": ("DP Disp(CFL(1)) is 0.01 more", {"off": (0.01, 0.0, 0.0)}),
            "found": ("DP Disp(LFT+FedAvg) is 0.01 more", {"off": (0.0, 0.01, 0.0)}),
            "fair": ("DP Disp(CFL(0)) is 0.01 more", {"off": (0.0, 0.0, 0.01)}),
        },
        reading=reading,
    )


CLAIMS = (
    _segregated(
        "19",
        1025,
        2,
        "q = (0, 1)",
        r"When $a\mid i=0\sim Bern(0)$, $a\mid i=1\sim Bern(1)$ and $DP\,Disp(f_1^{CFL})>0$, we "
        r"have $\min_{\varepsilon_0,\varepsilon_1}DP\,Disp(f^{LFT+FedAvg}_{\varepsilon_0,"
        r"\varepsilon_1})=DP\,Disp(f_1^{CFL})>\min_\varepsilon DP\,Disp(f_\varepsilon^{CFL})=0$. "
        r"[Proof: the constraints vanish.]",
        r"$DP\,Disp(f^{LFT+FedAvg}_\varepsilon)=DP\,Disp(f_1^{CFL})$ for every $\varepsilon$; "
        r"$DP\,Disp(f_0^{CFL})=0$.",
        "A rate in a group that a client lacks is undefined, and its constraint 'vanishes', as "
        "the proof says: (3) as printed is undefined for q_i in {0, 1}. With the rate taken as 0 "
        "the lemma is false: for η = 3/4 and 1/4 the budgets ε = (0, 0) then reject everyone, "
        "which is perfectly fair.",
    ),
    _segregated(
        "22",
        1130,
        4,
        "every q_i in {0, 1}, I clients",
        r"Let $a\mid i=i\sim Bern(0)$ or $a\mid i=i\sim Bern(1)$ for all $i\in[I]$. When "
        r"$DP\,Disp(f_1^{CFL})>0$, we have "
        r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f^{LFT+FedAvg}_\varepsilon)=DP\,Disp(f_1^{CFL})>"
        r"\min_\varepsilon DP\,Disp(f_\varepsilon^{CFL})=0$.",
        "As lemma 19.",
        "As lemma 19. Both values must occur among the q_i, else DP Disp itself is undefined.",
    ),
    Claim(
        "fedfb/lemma-4",
        162,
        "for any q_i in (0, 1), not all equal, some laws have min LFT+FedAvg > min CFL = 0",
        printed=r"When there exist $i\ne j\in[I]$ s.t. $q_i\ne q_j$, there exists a distribution "
        r"such that "
        r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f^{LFT+FedAvg}_\varepsilon)>\min_\varepsilon "
        r"DP\,Disp(f^{CFL}_\varepsilon)=0$.",
        statement=r"ERM accepts a share $q_i$ of both groups of client $i$: it solves "
        r"LFT+FedAvg($\varepsilon$) at every $\varepsilon$, and "
        r"$MD=-\frac{\sum_{i<j}(q_i-q_j)^2}{\sum_iq_i\sum_i(1-q_i)}\ne0$.",
        kind="existence",
        scope="three clients, whose sums look the same for any number; every q_i; a finite X, "
        "which a density around each point makes continuous",
        check=every(
            identity(gap, "-36842/65369"),
            witness(
                simpson,
                "q = (2/5, 3/5), rates 2/5 and 3/5 in both groups: MD_0 = MD_1 = 0 for ERM, |MD| = "
                "1/25",
                {
                    "law": [[["3/5", "2/5"]] * 2, [["2/5", "3/5"]] * 2],
                    "q": ["2/5", "3/5"],
                    "eta": ["1/4", "3/4"],
                },
                "0 == 0; 0 == 0; 1/4 != 1/2; 3/4 != 1/2",
            ),
        ),
        mutants={
            "no square": ("Σ (q_i - q_j) in MD", {"power": 1}),
            "common q": ("q_0 = q_1 = 1/2", {"q": [HALF, HALF]}),
        },
        gap="the formal version (lemma 19) treats q in {0, 1} only, where the local constraints "
        "are undefined; Simpson's paradox gives all others.",
        notes="LFT+Ensemble is the same classifier here: with different q_i, LFT+FedAvg need not "
        "be fairer than it (remark 2 conjectures that theorem 3 extends to different q_i).",
    ),
)
