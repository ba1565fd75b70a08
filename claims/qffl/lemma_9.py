"""Lemma 9: uniformity by entropy compared with uniformity by ratios of means."""

from fractions import Fraction

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.exact import Instance, ball
from fairfl.claims.forms import Claim, Residual, counterexample, drawn, identity, proof

PIECES = 64


def losses(
    a: list[Fraction], b: list[Fraction], c: Fraction, w: arb
) -> tuple[list[arb], list[arb]]:
    """F_k = a_k + b_k w + c w^2/2, and F_k'/F_k."""
    value = [ball(x) + ball(y) * w + ball(c) * w * w / 2 for x, y in zip(a, b, strict=True)]
    return value, [(ball(y) + ball(c) * w) / v for y, v in zip(b, value, strict=True)]


def tilt(value: list[arb], ratio: list[arb], s: Fraction) -> arb:
    """sum_(i<j) F_i^s F_j^s (g_j - g_i)(log F_j - log F_i) over F_0^s F_1^s, g = F'/F."""
    x, y, z = (v.log() for v in value)
    ratio_0, ratio_1 = (value[2] / value[0]) ** ball(s), (value[2] / value[1]) ** ball(s)
    g, h, k = ratio
    return (h - g) * (y - x) + (k - h) * (z - y) * ratio_0 + (k - g) * (z - x) * ratio_1


def upright(a: list[Fraction], b: list[Fraction], c: Fraction) -> bool:
    """(b), by covering: the tilt is positive for every s >= 1 at every w that is some w_p*, p >= 0.

    w_p* is a mean of the -b_k/c, so at least -max b/c; w_0* = -mean(b)/c. Between the two: F_0 <
    F_1 < F_2, g_2 > g_1, and tilt > 0 at s = 1, so at every s >= 1 (qffl/lemma-9/tilt). So there
    dH(F^s)/dw < 0 for s >= 1, and dw_p*/dp = -(positive) tilt at s = p + 1 < 0: from w_0* on w_p*
    falls, and never leaves the interval. Hence dH(F^s(w_p*))/dp > 0 for all p >= 0, s >= 1, and
    f_t/f_r grows along w_p*.
    """
    low, high = -max(b) / c, -sum(b, Fraction(0)) / (3 * c)
    step = (high - low) / PIECES
    for j in range(PIECES):
        w = ball(low + j * step).union(ball(low + (j + 1) * step))
        value, ratio = losses(a, b, c, w)
        is_rising = value[0] > 0 and value[0] < value[1] and value[1] < value[2]
        if not (is_rising and ratio[2] > ratio[1] and tilt(value, ratio, Fraction(1)) > 0):
            return False
    return low < high


def case(instance: Instance) -> Case:
    """(b) implies dH/dp >= 0 at p = 0: the tilts at s = q and s = 1, times positive factors."""
    a, b, c, q = (instance[k] for k in "abcq")
    w = -sum(b, Fraction(0)) / (3 * c)
    value, ratio = losses(a, b, c, ball(w))
    product = tilt(value, ratio, q) * tilt(value, ratio, Fraction(1))
    premises = {
        "losses": all(y * y < 2 * x * c for x, y in zip(a, b, strict=True)),
        "optimal": sum(y + c * w for y in b) == 0,
        "(b)": upright(a, b, c),
    }
    return Case((Relation(0, "<=", product, "(a) at p = 0"),), premises)


def grows(instance: Instance, lowest: int = 1) -> Case:
    """A positive tilt at s = 1 is positive at every s from ``lowest`` on."""
    value, ratio = ([ball(v) for v in instance[name]] for name in ("F", "ratio"))
    premises = {
        "order": 0 < instance["F"][0] < instance["F"][1] < instance["F"][2],
        "ratios": instance["ratio"][1] < instance["ratio"][2],
        "power": instance["s"] >= lowest,
        "tilt": bool(tilt(value, ratio, Fraction(1)) > 0),
    }
    larger = tilt(value, ratio, instance["s"])
    return Case((Relation(arb(0), "<", larger, "tilt"),), premises)


@st.composite
def tilted(draw: st.DrawFn, lower: int = 1) -> Instance:
    """Three losses in order, ratios with g_3 > g_2, and s > ``lower``."""
    tenths = st.integers(1, 20).map(lambda n: Fraction(n, 10))
    first, second, third, step = (draw(tenths) for _ in range(4))
    h = draw(st.integers(-10, 10)) * Fraction(1, 5)
    g = h + draw(st.integers(-5, 30)) * step / 10
    losses = [first, first + second, first + second + third]
    return {"F": losses, "ratio": [g, h, h + step], "s": lower + draw(tenths)}


def residuals(printed: bool = False, shift: int = 1) -> dict[str, Residual]:
    """d/dq ln f_q = (ln m - H(F^(q+1)))/(q+1)^2, three devices; printed is -H(F^q)."""
    q = sympy.symbols("q", positive=True)
    F = sympy.symbols("F1:4", positive=True)
    log_mean = sympy.log(sum(f ** (q + 1) for f in F) / 3) / (q + 1)
    s = q if printed else q + shift
    total = sum(f**s for f in F)
    entropy = sympy.log(total) - s * sum(f**s * sympy.log(f) for f in F) / total
    right = -entropy if printed else (sympy.log(3) - entropy) / (q + 1) ** 2
    return {"d/dq ln f_q": (sympy.Derivative(log_mean, q), right)}


PRINTED = (
    r"(a) holds if and only if (b) holds where (a) for any $p, q \in \mathbb{R}$, the derivative "
    r"of $H(F^q(w_p^*))$ with respect to p is non-negative, (b) for any $0 \le t \le r, 0 \le v "
    r"\le u$, $\frac{f_t(w_u^*)}{f_r(w_u^*)} \ge \frac{f_t(w_v^*)}{f_r(w_v^*)}$."
)
CLAIMS = (
    Claim(
        "qffl/lemma-9",
        320,
        "More uniform by entropies of all powers iff more uniform by ratios of all power means",
        printed=PRINTED,
        statement=r"(b) implies (a), also with (a) for $p, q \ge 0$ only, as (19) has it.",
        kind="equivalence",
        hypotheses={
            "losses": "F_k > 0, strictly convex",
            "optimal": "w_0* minimises sum F_k",
            "(b)": "certified on a covering of all w_p*, p >= 0",
        },
        scope="m = 3, one parameter, q = 1/4",
        severity="theorem",
        check=counterexample(
            case,
            "F = (1, 2 - 5w, 4 + w), each + 50 w^2: (b) holds, and at p = 0 dH(F^(1/4)(w_p*))/dp < "
            "0",
            {"a": [1, 2, 4], "b": [0, -5, 1], "c": Fraction(100), "q": "1/4"},
            "0 <= -2.33064",
        ),
        mutants={
            "q = 1": ("a power that (b) speaks of", {"q": Fraction(1)}),
            "(b) fails": ("F = (1, 2 - w, 4), each + 50 w^2", {"b": [0, -1, 0]}),
        },
        reading="f_q is the mean of appendix A.1, with exponent q + 1. (a) implies (b) stands; for "
        "m = 2 both directions do, as entropy then falls with the ratio of the losses.",
        erratum="(b) speaks of powers q + 1 >= 1: write (a) for all p >= 0 and all powers q >= 1, "
        "H(F^q). (18) to (19) uses the derivative of ln f_q, which is (ln m - H(F^(q+1)))/(q+1)^2 "
        "and not -H(F^q): equal losses have ln f_q constant and H(F^q) = ln m. In (17) the "
        "integral runs from t to r.",
        repaired=dict(
            title="(b) iff H(F^s(w_p*)) does not decrease in p for any power s >= 1 and p >= 0",
            statement=r"$\frac{\partial}{\partial q}\ln f_q = \frac{\ln m - H(F^{q+1})}{(q+1)^2}$, "
            r"so $\frac{\partial}{\partial p} \ln \frac{f_t}{f_r}(w_p^*) = \int_t^r "
            r"\frac{\partial_p H(F^{q+1}(w_p^*))}{(q+1)^2} dq$: it is $\ge 0$ for all $0 \le t \le "
            r"r$, $p \ge 0$ iff every $\partial_p H(F^s(w_p^*)) \ge 0$, $s \ge 1$, $p \ge 0$.",
            hypotheses={"smooth": "p -> w_p* differentiable, F_k > 0"},
            scope="the identity for m = 3",
            size="m = 3",
            check=identity(residuals, "0.0526229"),
            mutants={
                "printed": ("-H(F^q), as (19) takes it", {"printed": True}),
                "F^q": ("(ln m - H(F^q))/(q+1)^2", {"shift": 0}),
            },
        ),
    ),
    Claim(
        "qffl/lemma-9/tilt",
        320,
        "(ours) a step of the counterexample: the tilt is positive for every power s >= 1",
        printed=PRINTED,
        statement=r"For $0 < F_1 < F_2 < F_3$, $g_i = F_i'/F_i$, $g_3 > g_2$: "
        r"if $\sum_{i<j} F_i^s F_j^s (g_j - g_i)(\log F_j - \log F_i) > 0$ at $s = 1$, then at "
        r"every $s \ge 1$.",
        kind="implication",
        hypotheses={
            "order": "0 < F_1 < F_2 < F_3",
            "ratios": "g_3 > g_2",
            "tilt": "positive at s = 1",
            "power": "s >= 1",
        },
        whose="ours",
        check=proof("tilt.v", "grows", drawn(grows, tilted, moved="F ratio", examples=(60, 999))),
        mutants={"0 <= s": ("every s >= 0", {"lower": 0, "lowest": 0})},
    ),
)
