"""(15), (C.4)-(C.8): the conjugates of q-FFL's power mean and of AFL's maximum."""

from collections.abc import Sequence
from fractions import Fraction

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.exact import Instance, ball, dot
from fairfl.claims.forms import Case, Claim, Relation, counterexample, drawn, exactly, proof


def alone(instance: Instance, clipped: bool = False) -> Case:
    """(15) for n = 1: A(f) = f on f >= 0, so A*(lambda) is 0 for lambda <= 1."""
    weight: Fraction = instance["lambda"]
    # any (q+1)/q-norm of one number, and n^(-1/(q+1)) = 1
    is_inside = (weight >= 0 or clipped) and weight <= 1
    value, printed = (sympy.Integer(0) if zero else sympy.oo for zero in (weight <= 1, is_inside))
    return Case((Relation(value, "==", printed, "A*(lambda), and (15)"),))


def power(x: int | Fraction | arb, exponent: Fraction) -> arb:
    """x^exponent for x >= 0."""
    return ball(x) ** ball(exponent) if x > 0 else arb(0)


def norms(weights: list[Fraction], q: Fraction) -> tuple[arb, arb]:
    """||max(x, 0)||_((q+1)/q) and n^(-1/(q+1)), q > 0."""
    r = (q + 1) / q
    norm = sum((power(v, r) for v in weights), arb(0)) ** ball(1 / r)
    return norm, power(len(weights), -1 / (q + 1))


def mean(f: Sequence[Fraction | arb], q: Fraction) -> arb:
    """A(f)."""
    return power(sum((power(v, q + 1) for v in f), arb(0)) / len(f), 1 / (q + 1))


def case(instance: Instance, shift: Fraction = Fraction(0), clip: bool = True) -> Case:
    """(15) with max(lambda, 0): inside, the maximand, homogeneous in f, is at most 0; outside it is
    positive at f_i = max(lambda_i, 0)^(1/q). ``shift`` moves the bound.
    """
    weights, q, f = instance["lambda"], instance["q"], instance["f"]
    norm, limit = norms(weights if clip else [abs(v) for v in weights], q)
    if norm > limit * ball(1 + shift):
        ray = [power(v, 1 / q) for v in weights]
        value = sum((ball(v) * g for v, g in zip(weights, ray, strict=True)), arb(0)) - mean(ray, q)
        return Case((Relation(0, "<", value, "infinite"),))
    value = dot(weights, f)
    slack = ball(Fraction(1, 10**15))
    return Case((Relation(ball(value), "<=", mean(f, q) + slack, "no more than 0"),))


@st.composite
def near_ball(draw: st.DrawFn) -> Instance:
    """Weights of any sign, half near the bound; losses at the maximiser, or any."""
    n = draw(st.integers(1, 4))
    weights = [Fraction(draw(st.integers(-4, 8)), 8) for _ in range(n)]
    q = draw(st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(5)]))
    if max(weights) > 0 and draw(st.booleans()):
        norm, limit = norms(weights, q)
        scale = Fraction(float((limit / norm).mid())).limit_denominator(10**6)
        weights = [
            v * scale * draw(st.sampled_from([Fraction(999, 1000), Fraction(1001, 1000)]))
            for v in weights
        ]
    maximiser = [Fraction(float(power(v, 1 / q).mid())).limit_denominator(10**9) for v in weights]
    losses = [Fraction(draw(st.integers(0, 8))) for _ in range(n)]
    return {"lambda": weights, "q": q, "f": draw(st.sampled_from([maximiser, losses]))}


def maximum(instance: Instance, total: Fraction = Fraction(1)) -> Case:
    """AFL's conjugate at one lambda: 0 inside, the simplex where ``signed``, on R^n, else sum
    max(lambda, 0) <= ``total``; outside the maximand, homogeneous in f, is positive somewhere.
    """
    weights, f, signed = instance["lambda"], instance["f"], instance["signed"]
    n, positive = len(weights), [max(v, Fraction(0)) for v in weights]
    is_inside = sum(weights) == total and min(weights) >= 0 if signed else sum(positive) <= total
    rays = [[int(v > 0) for v in weights]]
    if signed:
        rays += [[1] * n, [-1] * n]
        rays += [[-int(i == k) for i in range(n)] for k in range(n)]
    else:
        f = [abs(v) for v in f]
    gains = [dot(weights, losses) - max(losses) for losses in (f, [Fraction(0)] * n, *rays)]
    if is_inside:
        relations = [Relation(gain, "<=", 0, "Fenchel") for gain in gains]
        return Case((*relations, Relation(gains[1], "==", 0, "f = 0")))
    return Case((Relation(0, "<", max(gains[2:]), "unbounded"),))


@st.composite
def near_simplex(draw: st.DrawFn) -> Instance:
    """Points of the simplex, of sums near one, and with a negative entry."""
    n = draw(st.integers(1, 4))
    counts = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any))
    weights = [Fraction(v, sum(counts)) for v in counts]
    weights[draw(st.integers(0, n - 1))] += draw(st.sampled_from([0, 0, 1, -1])) * Fraction(1, 100)
    if draw(st.booleans()) and n > 1:
        weights[0] -= 1
        weights[1] += 1
    f = [Fraction(draw(st.integers(-9, 9)), 3) for _ in range(n)]
    return {"lambda": weights, "f": f, "signed": draw(st.booleans())}


PRINTED = (
    r"$A_s^*(\lambda) = 0$ if $\lambda \geq \mathbf{0}$ and $\|\lambda\|_{(q+1)/q} \leq "
    r"n^{-\frac{1}{q+1}}$, $\infty$ otherwise; (C.8), $q \to \infty$: $\|\lambda\|_1 \leq 1$"
)


CLAIMS = (
    Claim(
        "propfair/conjugate-qffl",
        240,
        "The conjugate of q-FFL's mean: 0 in a ball with lambda >= 0, infinite otherwise",
        number="Eq. (15), (C.4)-(C.8)",
        printed=PRINTED,
        statement=r"On $f \ge 0$: $A^*(\lambda) = 0$ if $\lambda \ge 0$ and "
        r"$\|\lambda\|_{(q+1)/q} \le n^{-1/(q+1)}$, $\infty$ otherwise.",
        kind="identity",
        scope="n = 1, every q > 0",
        severity="constant",
        check=counterexample(
            alone,
            "n = 1, any q: A*(-1) = sup over f >= 0 of -2f = 0, (15) says infinite",
            {"lambda": Fraction(-1)},
            "0 == oo",
        ),
        mutants={
            "clipped": ("max(lambda, 0) for lambda", {"clipped": True}),
            "lambda = 2": ("a weight that is too large", {"lambda": Fraction(2)}),
        },
        reading="dom f = R^n_+, as (C.4) supposes. (C.7) says: 'for lambda >= 0'.",
        erratum="(15): 'otherwise' includes negative weights, where A* is finite: a negative "
        "lambda_i asks for f_i = 0. Write max(lambda, 0) for lambda, or restrict to lambda >= 0 "
        "as in (C.7). After (C.6) a sum over i is missing before the first term, which may be 0 "
        "for one i (lambda = (1, 0)).",
        repaired=dict(
            title="The conjugate of q-FFL's mean: 0 where max(lambda, 0) is in the ball",
            statement=r"On $f \ge 0$, $q > 0$: $A^*(\lambda) = 0$ if $\|\max(\lambda, "
            r"0)\|_{(q+1)/q} \le n^{-1/(q+1)}$, $\infty$ otherwise.",
            scope="as stated, n >= 1; the norm's bound as one on its power (q+1)/q",
            check=proof("powers.v", "inside outside zero", drawn(case, near_ball, moved="lambda")),
            mutants={
                "100.5 %": ("the bound moved out", {"shift": "1/200"}),
                "99.5 %": ("the bound moved in", {"shift": "-1/200"}),
                "|lambda|": ("absolute values for positive parts", {"clip": False}),
            },
            notes="As q grows the exponents tend to 1 and 0, and the bound to AFL's, sum "
            "max(lambda_i, 0) <= 1: (C.8), see propfair/conjugate-afl.",
        ),
    ),
    Claim(
        "propfair/conjugate-afl",
        240,
        "The conjugate of AFL's maximum: 0 on the simplex, infinite elsewhere; on f >= 0 where "
        "the positive parts sum to at most one",
        number="(C.8), table 1",
        printed=PRINTED,
        statement=r"On $R^n$: $A^*(\lambda) = 0$ if $\lambda \ge 0$ and $\sum\lambda_i = 1$, else "
        r"$\infty$. On $f \ge 0$: $0$ if $\sum\max(\lambda_i, 0) \le 1$, else $\infty$.",
        kind="identity",
        scope="as stated, n >= 1",
        check=proof(
            "afl.v", "inside outside nonnegative", exactly(maximum, near_simplex, moved="lambda f")
        ),
        mutants={
            "101 %": ("sums up to 1.01", {"total": "101/100"}),
            "99 %": ("sums up to 0.99", {"total": "99/100"}),
        },
    ),
)
