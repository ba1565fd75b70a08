"""Normal groups of common spread, q = 1/2, logistic η: g_i, its root; example 1, corollary 11."""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx
from hypothesis import strategies as st

from fairfl.claims.case import Case, Operator, Relation
from fairfl.claims.exact import Instance, ball, cut, phi
from fairfl.claims.forms import Claim, counterexample, every, exactly, proof, witness
from fairfl.solvers.api import min_disparity
from fairfl.theory.populations.federation import Federation


@dataclass(frozen=True)
class NormalClient:
    """x | a ~ N(mean[a], sd²), exact numbers."""

    mean: tuple[Fraction, Fraction]
    sd: Fraction

    @property
    def root(self) -> Fraction:
        """t where g_i = 0."""
        return (self.mean[1] - self.mean[0]) / 2

    def g(self, t: Fraction) -> arb:
        """g_i at the λ with η⁻¹(1/2 + λ) = t."""
        return phi((t - self.mean[1]) / self.sd) - phi((-t - self.mean[0]) / self.sd)


def clients(instance: Instance) -> tuple[NormalClient, NormalClient]:
    """The two clients of an instance, in exact numbers."""
    wide, narrow, sd = (tuple(map(Fraction, instance[name])) for name in ("wide", "narrow", "sd"))
    return NormalClient((wide[0], wide[1]), sd[0]), NormalClient((narrow[0], narrow[1]), sd[1])


def ends(first: NormalClient, second: NormalClient) -> tuple[arb, arb]:
    """The least and largest MD = Σ_ij g_i(t_j)/4, for t_0 in [0, root_0] and t_1 in [root_1, 0]."""
    zero = Fraction(0)
    low = first.g(zero) + second.g(zero) + first.g(second.root) + second.g(second.root)
    high = first.g(first.root) + second.g(first.root) + first.g(zero) + second.g(zero)
    return low / 4, high / 4


INSTANCE: Instance = {"wide": (0, 0), "narrow": (3, -1), "sd": (70, 1)}


def condition(instance: Instance, product: Operator = "<") -> Case:
    """Corollary 11's, on the means."""
    first, second = (client.mean for client in clients(instance))
    means = (first[0] - first[1]) * (second[0] - second[1])
    return Case((Relation(means, product, 0, "product of the differences of means"),))


def rounded(instance: Instance, digits: Fraction = Fraction(21, 100)) -> Case:
    """δ rounds to ``digits``, of two decimals."""
    delta, _ = ends(*clients(instance))
    return Case((Relation(abs(delta - ball(digits)), "<=", ball(Fraction(1, 200)), "δ"),))


def exact(instance: Instance, digits: int = 2043003118, shift: str = "0") -> Case:
    """δ has these ten ``digits`` and is in the solver's enclosure, moved by ``shift``."""
    first, second = clients(instance)
    delta, largest = ends(first, second)
    formula = (phi(Fraction(3)) - phi(Fraction(-1)) - 2 * phi(Fraction(1, 35)) + 1) / 4
    means = [[float(m) for m in client.mean] for client in (first, second)]
    federation = Federation.normal(means, [float(first.sd), float(second.sd)], 0.5)
    solution = min_disparity(federation, "lft_ensemble", certify=True)
    assert solution.lower is not None and solution.upper is not None
    return Case(
        (
            Relation(cut(delta, 10), "==", digits, "δ"),
            Relation(abs(formula - delta), "<", ball(Fraction(1, 10**14)), "closed form"),
            Relation(ball(solution.lower) + arb(shift) - arb("1e-14"), "<", delta, "enclosure"),
            Relation(delta, "<", ball(solution.upper) + arb(shift) + arb("1e-14"), "enclosure"),
            Relation(arb(0), "<", largest, "MD > 0"),
        )
    )


ZERO = Fraction(0)
PRECISION = 2000
"""Bits: tails of narrow clients may be as small as exp(-10^3)."""


def premises(instance: Instance) -> dict[str, bool]:
    """Condition 1: client 0 is the wide one and favours group 1, client 1 favours group 0."""
    wide, narrow = instance["wide"], instance["narrow"]
    opposite = (wide[0] - wide[1]) * (narrow[0] - narrow[1]) < 0
    return {"opposite": opposite, "order": narrow[0] > narrow[1]}


def error(instance: Instance, constant: Fraction = Fraction(1), turned: bool = False) -> Case:
    """0 < (g_0(0) + g_1(0))/4 - δ < (Δ_1 + |Δ_0|)/(4 σ_0 √(2π)), Δ_i = |μ_0^(i) - μ_1^(i)|, δ the
    least MD; with ``turned`` the premises are dropped.
    """
    first, second = clients(instance)
    with ctx.workprec(PRECISION):
        low, _ = ends(first, second)
        gap = (first.g(ZERO) + second.g(ZERO)) / 4 - low
        spread = sum(abs(c.mean[0] - c.mean[1]) for c in (first, second))
        bound = ball(constant * spread / first.sd) / (4 * (2 * arb.pi()).sqrt())
        scale = float(bound.mid())
    lower = Relation(arb(0), "<", gap, "δ is below", scale)
    upper = Relation(gap, "<", bound, "by less than", scale)
    return Case((lower, upper), {} if turned else premises(instance))


def positive(instance: Instance) -> Case:
    """LFT+Ensemble's MD, which takes positive values, is positive throughout: |MD| >= δ > 0."""
    low, high = ends(*clients(instance))
    scales = (instance["sd"][1], *map(abs, (*instance["wide"], *instance["narrow"])))
    is_larger = instance["sd"][0] >= 10**6 * max(scales)
    return Case(
        (Relation(arb(0), "<", low, "least MD"), Relation(arb(0), "<", high, "largest MD")),
        {**premises(instance), "much larger": is_larger},
    )


@st.composite
def favouring(draw: st.DrawFn, turned: bool = False) -> Instance:
    """A wide client that favours group 1 (``turned``: 0), and a narrow one that favours 0."""
    position = st.integers(-30, 30).map(lambda k: Fraction(k, 10))
    step = st.integers(1, 30).map(lambda k: Fraction(k, 10))
    wide_mean, narrow_mean, sd = draw(position), draw(position), draw(step)
    return {
        "wide": [wide_mean, wide_mean + (-1 if turned else 1) * draw(step)],
        "narrow": [narrow_mean + draw(step), narrow_mean],
        "sd": [sd * draw(st.sampled_from([3, 10, 100, 10_000])), sd],
    }


PRINTED = (
    r"Let $q=0.5$, $\eta(x)=\frac1{1+e^{-x}}$, $\mathcal P_a^{(i)}=\mathcal "
    r"N(\mu_a^{(i)},\sigma^{(i)2})$ where $(\mu_0^{(0)}-\mu_1^{(0)})(\mu_0^{(1)}-\mu_1^{(1)})<0$. "
    r"Then $DP\,Disp(f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1})\ge\delta\approx\frac14|g_0(0)+"
    r"g_1(0)|>0$ for all $\varepsilon_0,\varepsilon_1\in[0,1]$ if one of the following conditions "
    r"holds: 1. "
    r"$\sigma^{(0)}\gg\sigma^{(1)},|\mu_0^{(0)}|,|\mu_1^{(0)}|,|\mu_0^{(1)}|,|\mu_1^{(1)}|$ and "
    r"$\mu_0^{(1)}>\mu_1^{(1)}$; [2. the mirror image.]"
)
PREMISES = {"opposite": "(μ_0^(0) - μ_1^(0)) (μ_0^(1) - μ_1^(1)) < 0", "order": "μ_0^(1) > μ_1^(1)"}


CLAIMS = (
    Claim(
        "fedfb/example-1",
        116,
        "the example satisfies corollary 2 (= 11), and δ ≈ 0.21",
        printed=r"[An example that satisfies the conditions of Corollary 2:] Let "
        r"$\mu_0^{(0)}=\mu_1^{(0)}=0,\mu_0^{(1)}=3,\mu_1^{(1)}=-1,\sigma^{(0)}=70$ and "
        r"$\sigma^{(1)}=1$. Then, $\delta\approx0.21$.",
        statement=r"$(\mu_0^{(0)}-\mu_1^{(0)})(\mu_0^{(1)}-\mu_1^{(1)})<0$, and $\delta$ rounds "
        r"to $0.21$.",
        kind="figure",
        scope="as stated; q = 1/2, logistic η",
        severity="constant",
        check=every(
            counterexample(
                condition,
                "μ_0^(0) = μ_1^(0) = 0: the product of the differences is 0, not negative",
                INSTANCE,
                "0 < 0",
            ),
            counterexample(rounded, "δ = 0.20430..., not 0.21", INSTANCE, "0.00569969 <= 0.005"),
        ),
        mutants={
            "0.20": ("δ rounds to 0.20", {"digits": "1/5"}),
            "at most 0": ("product <= 0", {"product": "<="}),
        },
        erratum="The means of client 0 are equal, so the product is 0 and the corollary's "
        "condition fails (lemma 10's g_0(0) g_1(0) < 0 as well). δ = 0.2043003...; 0.21 is the "
        "approximation |g_0(0) + g_1(0)|/4 = 0.2099988.",
        notes="The conditions hold for μ_0^(0) < μ_1^(0), and δ is continuous in them.",
        repaired=dict(
            title="the smallest disparity of example 1 is 0.2043003118...",
            statement=r"$\min DP\,Disp=\frac14(\Phi(3)-\Phi(-1)-2\Phi(\frac1{35})+1)\in("
            r"0.2043003118,0.2043003119)$.",
            scope="as stated; q = 1/2, logistic η",
            check=witness(
                exact, "δ = (Φ(3) - Φ(-1) - 2Φ(1/35) + 1)/4", INSTANCE, "2043003118 == 2043003118"
            ),
            mutants={
                "digit": ("0.2043003117...", {"digits": 2043003117}),
                "above": ("an enclosure 1e-12 too high", {"shift": "1e-12"}),
                "below": ("an enclosure 1e-12 too low", {"shift": "-1e-12"}),
            },
        ),
    ),
    Claim(
        "fedfb/corollary-11",
        660,
        "δ ≈ |g_0(0) + g_1(0)|/4 > 0 where one client's spread σ^(0) → ∞, all else fixed",
        printed=PRINTED,
        statement=r"$\delta$, the least mean difference, satisfies "
        r"$0<\frac14(g_0(0)+g_1(0))-\delta<\frac{\Delta_0+\Delta_1}{4\sigma^{(0)}\sqrt{2\pi}}$, "
        r"$\Delta_i=|\mu_0^{(i)}-\mu_1^{(i)}|$, for every $\sigma^{(0)}$; and $\delta>0$ once "
        r"$\sigma^{(0)}\ge(2\Delta_0+\Delta_1)/(\sqrt{2\pi}g_1(0))$, whose right side is fixed.",
        kind="limit",
        hypotheses=PREMISES,
        scope="condition 1 (2 is its mirror); every σ^(0), and those from a bound on",
        whose="reading",
        check=proof("normal.v", "corollary_11", exactly(error, favouring, moved="wide narrow sd")),
        mutants={
            "1 % tighter": ("0.99 of the bound on the error", {"constant": "99/100"}),
            "same order": ("both clients favour the same group", {"turned": True}),
        },
        rests_on=("fedfb/lemma-10",),
        reading="'≫' as a limit, the others fixed. As a condition on ratios it does not suffice, "
        "however large they are: fedfb/corollary-11/uniform.",
        gap="the statement survives, but the proof writes σ^(1) ≫ |μ| and client 1's means and "
        "spread inside g_0 where client 0's belong (after (44), end of case 1); '< 0' for '< 1/2' "
        "(an integral of a law); in case 3 the integral over [-μ_1^(1), ∞) is below 1/2, not above "
        "(read [μ_1^(1), ∞)), and η(1/2 - λ'') stands for η⁻¹. None of the cases is needed: g_1 "
        "has its root at η⁻¹(1/2 + λ) = (μ_1^(1) - μ_0^(1))/2. (43) speaks of the minimum over [0, "
        "1]²; ψ is defined on [0, c]².",
        notes="δ < |g_0(0) + g_1(0)|/4, so the approximation is no lower bound: example 1.",
    ),
    Claim(
        "fedfb/corollary-11/uniform",
        660,
        "δ > 0 whenever σ^(0) is 10^6 times σ^(1) and every mean",
        printed=PRINTED,
        kind="bound",
        hypotheses={
            **PREMISES,
            "much larger": "σ^(0) >= 10^6 max(σ^(1), |μ_0^(0)|, |μ_1^(0)|, |μ_0^(1)|, |μ_1^(1)|)",
        },
        scope="a fixed ratio: 10^6",
        whose="reading",
        severity="theorem",
        check=counterexample(
            positive,
            "σ = (8·10^6, 1), means (0, 10^-30) and (8, 7): MD takes both signs, so LFT+Ensemble "
            "can be perfectly fair",
            {
                "wide": [ZERO, Fraction(1, 10**30)],
                "narrow": [Fraction(8), Fraction(7)],
                "sd": [Fraction(8 * 10**6), Fraction(1)],
            },
            "0 < -1.24666e-08",
        ),
        mutants={"wider still": ("σ^(0) = 8·10^12", {"sd": [Fraction(8 * 10**12), Fraction(1)]})},
        erratum="State it as a limit in σ^(0), or require σ^(0) > (Δ_0 + Δ_1)/(√(2π)(g_0(0) + "
        "g_1(0))), which is enough: g_1(0) can itself be as small as one likes.",
        notes="For ratios beyond any K take means (m + 1, m) for client 1, m large: g_1(0) < "
        "exp(-m²/2), while |g_0(root of g_1)| is of order 1/(K m).",
    ),
)
