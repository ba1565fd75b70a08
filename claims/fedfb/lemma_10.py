"""FedFB, lemma 10 and remark 6: where the clients' ERMs disagree, LFT+Ensemble cannot be fair."""

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from fairfl.claims.fedfb.worlds import HALF, ONE, ZERO, Clients, Population, parts
from fairfl.claims.forms import Case, Claim, Instance, Relation, counterexample, exactly, proof

Pair = tuple[Population, Population]


def addend(pair: Pair, shares: Sequence[Fraction], i: int, e: Fraction) -> Fraction:
    """The part of ψ that depends on ε_i; of several g_i⁻¹(v) the closest to 0."""
    s, j = 1 if pair[i].g(ZERO) > 0 else -1, shares[i]
    return shares[0] * shares[1] * pair[1 - i].g(pair[i].multiplier(e)) + j**2 * s * e


def psi(pair: Pair, shares: Sequence[Fraction], eps: Sequence[Fraction]) -> Fraction:
    """(33), or (62) for ``shares`` other than a half."""
    return addend(pair, shares, 0, eps[0]) + addend(pair, shares, 1, eps[1])


def conditions(
    world: Clients, split: Sequence[Sequence[int]] = ((0,), (1,))
) -> tuple[dict[str, bool], Fraction, Pair]:
    """Lemma 10's premises, or lemma 20's, for the two pooled subsets of a ``split``; min |ψ|; and
    the subsets. ψ, a sum of a monotone function of each budget, is extreme at the corners.
    """
    pair = world.pool(split[0]), world.pool(split[1])
    shares = [Fraction(len(part), len(world.q)) for part in split]
    start = [population.g(ZERO) for population in pair]
    budgets = ZERO, min(map(abs, start))
    first, second = ([addend(pair, shares, i, e) for e in budgets] for i in (0, 1))
    values = [a + b for a in first for b in second]
    premises = {
        "common q": len(set(world.q)) == 1,
        "opposite": start[0] * start[1] < 0,
        "ψ": all(v * sum(start) > 0 for v in values),
        "g_i increase": world.positive,
    }
    return premises, min(map(abs, values)), pair


def bound(instance: Instance, factor: Fraction = ONE) -> Case:
    """|MD| >= δ > 0 at any budgets; reached with ε = 1 for the fairer client, 0 for the other."""
    world = Clients.of(instance["laws"], instance["q"])
    premises, delta, _ = conditions(world)
    premises["budgets"] = min(instance["eps"]) >= 0
    fairer = min(world.clients, key=lambda client: abs(client.g(ZERO)))
    ends = [ZERO if client is fairer else client.multiplier(ZERO) for client in world.clients]
    choices = world.multipliers(instance["eps"]), ends
    disparity, smallest = (abs(world.ensemble(lams)[0]) for lams in choices)
    relations = (
        Relation(ZERO, "<", delta, "δ"),
        Relation(factor * delta, "<=", disparity, "DP Disp"),
        Relation(factor * delta, "==", smallest, "reached"),
    )
    return Case(relations, premises)


def choices(instance: Instance) -> Case:
    """The bound with λ_i any point of g_i⁻¹(...): every one of them solves the client's problem."""
    world = Clients.of(instance["laws"], instance["q"])
    premises, delta, _ = conditions(world)
    del premises["g_i increase"]
    premises["λ_i solves"] = world.solved_by(instance["eps"], instance["lams"])
    disparity = abs(world.ensemble(instance["lams"])[0])
    return Case((Relation(delta, "<=", disparity, "DP Disp"),), premises)


@st.composite
def opposed(draw: st.DrawFn) -> Instance:
    """A wide, nearly fair client and a narrow, unfair one, which often satisfy the conditions."""
    outer, inner, large = st.integers(40, 60), st.integers(1, 2), st.integers(20, 60)
    small, middle = st.integers(1, 3), st.integers(1, 9)
    ends = sorted(draw(st.tuples(outer, outer)))
    wide = [[*draw(st.tuples(outer, inner, inner)), end] for end in ends]
    wide[0][0] += draw(middle)
    low, high = (
        draw(st.tuples(*cells))
        for cells in ((small, large, middle, small), (small, middle, large, small))
    )
    laws, q = [wide, [high, low]], [Fraction(draw(st.integers(3, 5)), 8)] * 2
    if draw(st.booleans()):
        laws = laws[::-1]
    if draw(st.booleans()):
        laws = [pair[::-1] for pair in laws]
    eps = [draw(parts(40)) ** draw(st.sampled_from([1, 3])) for _ in (0, 1)]
    return {"laws": laws, "q": q, "eps": eps}


PRINTED = (
    r"Let $q\in(0,1)$. Let $c=\min\{|g_0(0)|,|g_1(0)|\}$. Define "
    r"$\psi:[0,c]\times[0,c]\to[-1,1]$ as "
    r"$\psi(\varepsilon_0,\varepsilon_1)=\frac14g_0(g_1^{-1}(\mathrm{sign}(g_1(0))\varepsilon_1))+"
    r"\frac14g_1(g_0^{-1}(\mathrm{sign}(g_0(0))\varepsilon_0))+"
    r"\frac14\mathrm{sign}(g_0(0))\varepsilon_0+\frac14\mathrm{sign}(g_1(0))\varepsilon_1$. "
    r"If $g_0(0)g_1(0)<0$ and $\psi(\varepsilon_0,\varepsilon_1)(g_0(0)+g_1(0))>0$ for all "
    r"$\varepsilon_0,\varepsilon_1\in[0,c]$, then for all $\varepsilon_0,\varepsilon_1\in[0,1]$, "
    r"$DP\,Disp(f^{LFT+Ensemble})\ge\delta=\min\{|\psi(\varepsilon_0,"
    r"\varepsilon_1)|:\varepsilon_0,\varepsilon_1\in[0,c]\}>0$."
)
PREMISES = {
    "common q": "q_i = q for all clients",
    "opposite": "g_0(0) g_1(0) < 0: the clients' ERMs favour different groups",
    "ψ": "ψ (g_0(0) + g_1(0)) > 0 on [0, c]²",
}
INCREASE = {
    "g_i increase": "each g_i is strictly increasing, as the proof of lemma 7 says",
    "budgets": "ε_i >= 0",
}


def favoured(instance: Instance, by: str = "ERM", sign: int = 1) -> Case:
    """c is the smallest local disparity of the ERM, and at budgets in [0, c]² the MD of the
    ensemble is ψ, of the sign of the MD of the ERM.

    ``by``: "ERM", of all people, or "client 0", the ERM there. ``sign`` multiplies its MD.
    """
    world = Clients.of(instance["laws"], instance["q"])
    premises, _, pair = conditions(world)
    premises["budgets"] = 0 <= min(instance["eps"]) <= max(instance["eps"]) <= 1
    local = [client.difference(client.rule(ZERO)) for client in world.clients]
    c = min(abs(client.g(ZERO)) for client in world.clients)
    eps = [c * share for share in instance["eps"]]
    ensemble = world.ensemble(world.multipliers(eps))[0]
    erm = world.ensemble([ZERO, ZERO])[0] if by == "ERM" else local[0]
    return Case(
        (
            Relation(min(map(abs, local)), "==", c, "c"),
            Relation(ensemble, "==", psi(pair, (HALF, HALF), eps), "MD of the ensemble"),
            Relation(ZERO, "<", sign * erm * ensemble, "the same group"),
        ),
        premises,
    )


CLAIMS = (
    Claim(
        "fedfb/lemma-10",
        568,
        "if ERMs favour different groups and ψ keeps its sign, min LFT+Ensemble is δ > 0",
        printed=PRINTED,
        statement=r"$|MD|\ge\delta$ for all $\varepsilon_0,\varepsilon_1\in[0,1]$; with "
        r"$g_0(0)=-c<0<g_1(0)$, $MD\ge\psi(c,0)=\delta$ because all four $g_i(\lambda_j)$ are "
        r"least there. It is reached at $\varepsilon_0=1$, $\varepsilon_1=0$.",
        kind="tight bound",
        hypotheses={**PREMISES, **INCREASE},
        scope="each g_i strictly increasing",
        check=proof(
            "ensemble_gap.v", "gap", exactly(bound, opposed, examples=(20, 3000), moved="q eps")
        ),
        mutants={
            "above δ": ("DP Disp >= 1.01 δ", {"factor": "101/100"}),
            "below δ": ("0.99 δ is reached", {"factor": "99/100"}),
        },
        rests_on=("fedfb/eq-32",),
        reading="g_i⁻¹ is a function. With gaps it is not, and it fails: fedfb/lemma-10/gaps.",
        gap="the statement survives, but: cases 1, 2, 4 and 5 write ψ(g_0(0), 0), whose argument "
        "is negative: read ψ(|g_0(0)|, 0). Case 3's step (36) to (37) is false for ε_1 < ε_0 (the "
        "mean difference is ψ(ε_0, ε_1) for ε_1 <= c, and at least ψ(ε_0, c) beyond); its mirror "
        "(g_1(0) < 0) puts ε_1 > c into ψ, outside of its domain. Mirrored case 5 prints '=' for "
        "'<'. Cases 2 and 4 print '>' where equality happens (ε_0 = |g_0(0)|, ε_1 = 0). ε_1 = "
        "|g_1(0)| with ε_0 > |g_0(0)| is in no case.",
        notes="The condition on ψ need only be checked at one corner, (c, 0) for |g_0(0)| < "
        "|g_1(0)|: there |ψ| is least. As δ is reached, lemma 1's strict inequality (min DP Disp > "
        "δ) is false for it.",
    ),
    Claim(
        "fedfb/lemma-10/gaps",
        568,
        "lemma 10 for whichever solutions of their own problems the clients return",
        printed=PRINTED,
        statement=r"$DP\,Disp\ge\delta$ for every choice of $\lambda_i\in g_i^{-1}(\cdot)$, each "
        r"of which solves client $i$'s problem.",
        kind="bound",
        hypotheses={**PREMISES, "λ_i solves": "λ_i gives a solution of LFT+Ensemble(i, ε_i)"},
        scope="densities with gaps, n = 2",
        whose="reading",
        severity="theorem",
        check=counterexample(
            choices,
            "q = 1/2, ε = (1, 0): λ_0 = -1/8 gives client 0 the same rule on its own law as λ_0 = "
            "0, and makes MD = 0",
            {
                "laws": [[[1, 0, 0, 1], [1, 0, 2, 0]], [[1, 0, 2, 0], [1, 0, 0, 0]]],
                "q": HALF,
                "eps": [ONE, ZERO],
                "lams": [-HALF / 4, -HALF / 2],
            },
            "1/12 <= 0",
        ),
        mutants={"nearest": ("λ_i the point of g_i⁻¹ next to 0", {"lams": [0, "-1/4"]})},
        erratum="Assume that every client's law has full support (or fix which solution a client "
        "returns off its own support): rules where the client has no data count.",
    ),
    Claim(
        "fedfb/remark-6",
        654,
        "under lemma 10's conditions LFT+Ensemble at budgets in [0, c] favours the group that the "
        "ERM favours, and is not fair",
        printed=r"Note that $c$ is the smallest local demographic disparity the ERM achieves on "
        r"clients. The condition $g_0(0)g_1(0)<0$ implies that the ERM is favoring different "
        r"groups in different clients. The condition "
        r"$\psi(\varepsilon_0,\varepsilon_1)(g_0(0)+g_1(0))>0$ for all "
        r"$\varepsilon_0,\varepsilon_1\in[0,c]$ implies that "
        r"$f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1}$ favors the same group as ERM when the "
        r"constraint is very tight. [...] In particular, if the conditions above hold, "
        r"LFT+Ensemble fails to achieve perfect demographic parity.",
        statement=r"For $\varepsilon_0,\varepsilon_1\in[0,c]$: "
        r"$MD(f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1})=\psi(\varepsilon_0,\varepsilon_1)$, "
        r"and $MD(f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1})\,MD(f^{ERM})>0$; "
        r"$c=\min_i|MD_i(f^{ERM})|$.",
        kind="implication",
        hypotheses={**PREMISES, **INCREASE, "budgets": "ε_0, ε_1 in [0, c]"},
        scope="each g_i strictly increasing",
        size="n = 2",
        check=exactly(favoured, opposed, examples=(20, 3000), moved="q eps"),
        mutants={
            "client 0": ("the ERM of client 0 in place of that of all people", {"by": "client 0"}),
            "other group": ("the other group than the ERM", {"sign": -1}),
        },
        rests_on=("fedfb/eq-32",),
    ),
)
