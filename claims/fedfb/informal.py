"""FedFB, the informal statements of section 3.1: lemma 1, corollary 2 and theorem 3."""

from fractions import Fraction

from flint import arb

from fairfl.claims.exact import Instance, ball, phi
from fairfl.claims.fedfb.lemma_20 import spans
from fairfl.claims.fedfb.mean_differences import BOUND
from fairfl.claims.fedfb.worlds import HALF, ONE, ZERO, Clients
from fairfl.claims.forms import Case, Claim, Relation, every, witness

WIDE = [[9, 1, 1, 8], [8, 1, 1, 9]]
NARROW = [[1, 1, 5, 1], [1, 5, 1, 1]]


def above(instance: Instance) -> Case:
    """L = (1/I) Σ_i min{g(0), g(g_i⁻¹(0))} > δ > 0 for this federation."""
    world = Clients.of(instance["laws"], instance["q"])
    premises = {"common q": len(set(world.q)) == 1, "g_i increase": world.positive}
    lower = sum((low for low, _ in spans(world)), ZERO) / len(world.q)
    delta = instance["delta"]
    relations = Relation(ZERO, "<", delta, "δ"), Relation(delta, "<", lower, "L")
    return Case(relations, premises)


def pairs(count: int, delta: Fraction = Fraction(1, 20)) -> Instance:
    """``count`` clients, alternately wide and narrow."""
    return {"laws": ([WIDE, NARROW] * count)[:count], "q": HALF, "delta": delta}


def lower(s: Fraction, k: Fraction, n: Fraction, j: Fraction, turned: bool = False) -> arb:
    """A lower bound of 4 |MD| of two normal clients, in units of σ^(1): s = 1/σ^(0), client 0's
    means m, m + k with any m, and client 1's n + j, n.

    The least MD is [g_0(0) + g_1(0) + g_0(root of g_1)]/4. Those of g_0 are the negative masses of
    intervals of lengths s k and s (j + k), where the density is at most 1/√(2π). ``turned``: client
    0 favours group 0, and g_1 is at the root of g_0.
    """
    root = -k / 2 if turned else ZERO
    masses = ball(s * (2 * k + j)) / (2 * arb.pi()).sqrt()
    return phi(root - n) - phi(-root - n - j) - masses


def spreads(instance: Instance, turned: bool = False) -> Case:
    """DP Disp > ``delta`` if 1/σ^(0) <= ``ratio``, k <= 1, -1 <= n <= -1/2 and 1/2 <= j <= 1.

    The bound is least at one vertex of this box; "vertex" is another (k, n, j). It falls with s and
    with k, it grows with n as |n + j| <= 1/2 <= |n|, and with j as its slope is at least φ(1/2) - s
    φ(0).
    """
    s, delta = instance["ratio"], instance["delta"]
    k, n, j = instance.get("vertex", (ONE, -ONE, HALF))
    relations = (
        Relation(ball(s), "<=", ball(Fraction(-1, 8)).exp(), "slope in j"),
        Relation(4 * ball(delta), "<", lower(s, k, n, j, turned), "4 |MD|"),
    )
    return Case(relations)


COMMON = {"common q": "q_i = q for all clients"}

CLAIMS = (
    Claim(
        "fedfb/lemma-1",
        104,
        "for any number of clients, under conditions, LFT+Ensemble's DP Disp exceeds a δ > 0",
        printed=r"Let $q_i=q$ for all $i\in[I]$, where $q\in(0,1)$ is a constant. Under certain "
        r"conditions, there exists $\delta$ ($\delta>0$) such that "
        r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f_\varepsilon^{LFT+Ensemble})>\delta$. [...] "
        r"Lemma 1 only requires the insensitive attribute distribution ($x$) to be highly "
        r"heterogeneous across the clients.",
        statement=r"If $L=\frac1I\sum_i\min\{g(0),g(g_i^{-1}(0))\}>0$, then $DP\,Disp\ge L>\delta$ "
        r"for all budgets and any $0<\delta<L$; for each $I\ge2$ there are such federations.",
        kind="existence",
        hypotheses={**COMMON, "g_i increase": "each density is positive on (0, 1)"},
        scope="the bound: any I; federations: I = 2, ..., 6",
        check=every(
            *(
                witness(above, f"{n} clients, L > δ", pairs(n), f"0 < 1/20; 1/20 < {low}")
                for n, low in enumerate(("67/760", "1/15", "67/760", "186/2375", "67/760"), 2)
            )
        ),
        mutants={"δ = 1/4": ("more than there is", {"delta": "1/4"})},
        rests_on=("fedfb/lemma-20/range",),
        reading="δ is any number below the least disparity. With lemma 10's own δ the printed > is "
        "=: fedfb/lemma-10. The formal version for I > 2, lemma 20, is false: its condition on two "
        "pooled subsets is not one of these. Heterogeneity of x across clients is not all that it "
        "requires: clients whose two groups have the same law are fair at every budget.",
    ),
    Claim(
        "fedfb/corollary-2",
        110,
        "if one normal client's spread is much larger, under certain assumptions, DP Disp of "
        "LFT+Ensemble stays above some δ > 0",
        printed=r"Let $I=2$ and $q_0=q_1=0.5$, $\eta(x)=\frac1{1+e^{-x}}$, $\mathcal "
        r"P_a^{(i)}=\mathcal N(\mu_a^{(i)},\sigma^{(i)2})$. If one client has much larger variance "
        r"than the other, under certain assumptions, there exists $\delta>0$ such that "
        r"$\min_{\varepsilon_0,\varepsilon_1}DP\,Disp(f_\varepsilon^{LFT+Ensemble})>\delta$.",
        statement=r"$DP\,Disp>0.012$ for all budgets if $\sigma^{(0)}\ge10\sigma^{(1)}$ and, in "
        r"units of $\sigma^{(1)}$, $-1\le\mu_0^{(0)}\le0$, $0\le\mu_1^{(0)}-\mu_0^{(0)}\le1$, "
        r"$-1\le\mu_1^{(1)}\le-\frac12$, $\frac12\le\mu_0^{(1)}-\mu_1^{(1)}\le1$.",
        kind="existence",
        hypotheses={"lemma 10": "δ = min MD = (g_0(0) + g_1(0) + g_0(root of g_1))/4"},
        scope="the box of means, every ratio of spreads from 10 to infinity",
        whose="reading",
        check=witness(
            spreads,
            "at s = 1/10, k = 1, n = -1, j = 1/2 the bound of MD is above 0.0125",
            {"delta": Fraction(12, 1000), "ratio": Fraction(1, 10)},
            "0.1 <= 0.882497; 0.048 < 0.0501467",
        ),
        mutants={
            "0.01268": ("1 % above the least", {"delta": "317/25000"}),
            "any spread": ("σ^(0) >= σ^(1)", {"ratio": ONE}),
            "same group": ("both clients favour group 0", {"turned": True}),
        },
        rests_on=("fedfb/lemma-10",),
        reading="'Certain assumptions' are those of corollary 11; a ratio of spreads alone does "
        "not suffice, however large: fedfb/corollary-11/uniform. Nothing but μ/σ enters, since "
        "g_i(0) and g_i⁻¹(0) are at η⁻¹(1/2) = 0 and at the middle of the two means. The least "
        "disparity over the box is 0.012554...",
    ),
    Claim(
        "fedfb/theorem-3",
        135,
        "under the conditions of lemma 1, min DP Disp of LFT+Ensemble exceeds that of LFT+FedAvg",
        printed=r"Let $q_i=q$ for all $i\in[I]$, where $q\in(0,1)$ is a constant. Under certain "
        r"conditions, "
        r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f_\varepsilon^{LFT+Ensemble})>\min_{\varepsilon"
        r"\in[0,1]^I}DP\,Disp(f_\varepsilon^{LFT+FedAvg})$.",
        statement=r"With a common $q$ and equal weights $MD=\frac1I\sum_iMD_i$, so at "
        r"$\varepsilon=0$, which constant classifiers admit, LFT+FedAvg has $DP\,Disp=0$; "
        r"LFT+Ensemble has at least $L>0$ under the condition of lemma 1.",
        kind="implication",
        hypotheses=COMMON,
        scope="as stated: any number of clients",
        check=BOUND,
        mutants={"q_i": ("shares that differ", {"common": False})},
        rests_on=("fedfb/lemma-1",),
        reading="The condition is L > 0 of fedfb/lemma-1. Under lemma 20's condition the statement "
        "is false for I > 2: fedfb/theorem-21/strict.",
    ),
)
