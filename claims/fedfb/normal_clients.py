"""Two normal groups of common spread, q = 1/2, logistic η: g_i and its root; example 1."""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from fairfl.claims.exact import Instance, ball, cut, phi
from fairfl.claims.forms import Case, Claim, Operator, Relation, counterexample, every, witness
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
    """The least and the largest MD of LFT+Ensemble for g_0(0) <= 0 <= g_1(0): t_0 in [0, root_0],
    t_1 in [root_1, 0].

    MD = Σ_ij g_i(t_j)/4, each term increasing in t_j.
    """
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
        notes="With μ_0^(0) slightly below μ_1^(0) the conditions hold, and δ is continuous in "
        "them.",
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
)
