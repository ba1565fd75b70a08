"""(15), (C.4)-(C.8): the conjugates of q-FFL's power mean and of AFL's maximum."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import CLASSICAL, REALS, Counterexample, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.instances import explore

DEFINITIONS = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition largest (n : nat) (f : nat -> R) (M : R) : Prop :=
  (exists i, In i (seq 0 n) /\ f i = M) /\ forall i, In i (seq 0 n) -> f i <= M.
Definition simplex (n : nat) (v : nat -> R) : Prop :=
  (forall i, In i (seq 0 n) -> 0 <= v i) /\ sum (seq 0 n) v = 1.
"""
INSIDE = (
    DEFINITIONS
    + r"""
Theorem inside : forall n v, simplex n v ->
  (forall f M, largest n f M -> sum (seq 0 n) (fun i => v i * f i) - M <= 0)
  /\ largest n (fun _ => 0) 0 /\ sum (seq 0 n) (fun i => v i * 0) - 0 = 0.
"""
)
OUTSIDE = (
    DEFINITIONS
    + r"""
Theorem outside : forall n v, (0 < n)%nat -> ~ simplex n v ->
  forall B, exists f M, largest n f M /\ B < sum (seq 0 n) (fun i => v i * f i) - M.
"""
)
NONNEGATIVE = (
    DEFINITIONS
    + r"""
Theorem nonnegative : forall n v, (0 < n)%nat ->
  (sum (seq 0 n) (fun i => Rmax (v i) 0) <= 1 ->
     forall f M, (forall i, 0 <= f i) -> largest n f M ->
       sum (seq 0 n) (fun i => v i * f i) - M <= 0)
  /\ (1 < sum (seq 0 n) (fun i => Rmax (v i) 0) ->
     forall B, exists f M, (forall i, 0 <= f i) /\ largest n f M
       /\ B < sum (seq 0 n) (fun i => v i * f i) - M).
"""
)
POWER = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition power (x y : R) : R := if Req_EM_T x 0 then 0 else Rpower x y.
Definition mean (n : nat) (q : R) (f : nat -> R) (A : R) : Prop :=
  0 <= A /\ power A (q + 1) = sum (seq 0 n) (fun i => power (f i) (q + 1)) / INR n.
"""
POWERS = (
    POWER
    + r"""
Theorem inside : forall n q v, (0 < n)%nat -> 0 < q ->
  sum (seq 0 n) (fun i => power (Rmax (v i) 0) ((q + 1) / q)) <= Rpower (INR n) (- / q) ->
  forall f A, (forall i, In i (seq 0 n) -> 0 <= f i) -> mean n q f A ->
  sum (seq 0 n) (fun i => v i * f i) - A <= 0.
Theorem outside : forall n q v, (0 < n)%nat -> 0 < q ->
  Rpower (INR n) (- / q) < sum (seq 0 n) (fun i => power (Rmax (v i) 0) ((q + 1) / q)) ->
  forall B, exists f A, (forall i, In i (seq 0 n) -> 0 <= f i) /\ mean n q f A
    /\ B < sum (seq 0 n) (fun i => v i * f i) - A.
Theorem zero : forall n q, 0 < q -> mean n q (fun _ => 0) 0.
"""
)


def alone(instance: dict[str, Any], clipped: bool = False) -> Case:
    """(15) for one client, n = 1: A(f) = f on f >= 0, so A*(lambda) = sup (lambda - 1) f is 0 for
    lambda <= 1.
    """
    x: Fraction = instance["lambda"]
    value = sympy.Integer(0) if x <= 1 else sympy.oo
    # any (q+1)/q-norm of one number, and n^(-1/(q+1)) = 1
    inside = (x >= 0 or clipped) and max(x, Fraction(0)) <= 1
    return Case(
        (Relation(value, "==", sympy.Integer(0) if inside else sympy.oo, "A*(lambda), and (15)"),)
    )


def check(effort: Effort, clipped: bool = False, at: Fraction = Fraction(-1)) -> Evidence:
    """A negative weight."""
    shows = "n = 1, any q: A*(-1) = sup over f >= 0 of -2f = 0, (15) says infinite"
    return Evidence.of(Counterexample.at(Call.of(alone, clipped=clipped), shows, **{"lambda": at}))


def power(x: Any, exponent: Fraction) -> arb:
    """x^exponent for x >= 0."""
    return ball(x) ** ball(exponent) if x else arb(0)


def norms(x: list[Fraction], q: Fraction) -> tuple[arb, arb]:
    """||max(x, 0)||_((q+1)/q) and n^(-1/(q+1)), q > 0."""
    r = (q + 1) / q
    return sum((power(max(v, Fraction(0)), r) for v in x), arb(0)) ** ball(1 / r), power(
        len(x), -1 / (q + 1)
    )


def mean(f: list[Any], q: Fraction) -> arb:
    """A(f)."""
    total = sum(
        (ball(v) ** ball(q + 1) if not isinstance(v, int) and v != 0 else arb(0) for v in f), arb(0)
    ) / len(f)
    return total ** ball(1 / (q + 1)) if total > 0 else arb(0)


def case(instance: dict[str, Any], shift: Fraction = Fraction(0), clip: bool = True) -> Case:
    """(15) with max(lambda, 0), at one lambda: inside, no f beats 0; outside, f_i = max(lambda_i,
    0)^(1/q) does.

    The maximand is homogeneous in f, so one positive value makes the supremum infinite. ``shift``
    moves the bound.
    """
    x, q, f = instance["lambda"], instance["q"], instance["f"]
    norm, limit = norms(x if clip else [abs(v) for v in x], q)
    limit = limit * ball(1 + shift)
    if norm > limit:
        ray = [power(max(v, Fraction(0)), 1 / q) for v in x]
        value = sum((ball(v) * g for v, g in zip(x, ray, strict=True)), arb(0)) - mean(ray, q)
        return Case((Relation(0, "<", value, "infinite"),))
    value = sum((v * g for v, g in zip(x, f, strict=True)), Fraction(0))
    return Case(
        (Relation(ball(value), "<=", mean(f, q) + ball(Fraction(1, 10**15)), "no more than 0"),)
    )


@st.composite
def weights(draw: st.DrawFn) -> dict[str, Any]:
    """Weights of any sign, one in two scaled to 99 or 101 hundredths of the bound; losses towards
    the maximiser.
    """
    n = draw(st.integers(1, 4))
    x = draw(st.lists(st.integers(-4, 8).map(lambda k: Fraction(k, 8)), min_size=n, max_size=n))
    q = draw(
        st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5)])
    )
    positive = [max(v, Fraction(0)) for v in x]
    if any(positive) and draw(st.booleans()):
        norm, limit = norms(x, q)
        scale = Fraction(float((limit / norm).mid())).limit_denominator(10**6)
        x = [v * scale * draw(st.sampled_from([Fraction(99, 100), Fraction(101, 100)])) for v in x]
    near = [Fraction(float(max(v, Fraction(0)) ** (1 / q))).limit_denominator(1000) for v in x]
    other = draw(st.lists(st.integers(0, 8).map(Fraction), min_size=n, max_size=n))
    return {"lambda": x, "q": q, "f": draw(st.sampled_from([near, other]))}


def residuals(root: int = 1) -> dict[str, sympy.Expr]:
    """(C.6), with S for sum lambda_i^((q+1)/q), and the limits of (C.8).

    For f_i = lambda_i^(1/q) n^(1/(q+1)) t: lambda.f = S n^(1/(q+1)) t, and sum f_i^(q+1) = S n
    t^(q+1).
    """
    q, t, n, S = sympy.symbols("q t n S", positive=True)
    A = (S * n**root * t ** (q + 1) / n) ** (1 / (q + 1))
    return {
        "(C.6)": S * n ** (root / (q + 1)) * t
        - A
        - (S * n ** (1 / (q + 1)) - S ** (1 / (q + 1))) * t,
        "norm": S ** (1 - 1 / (q + 1)) - S ** (q / (q + 1)),
        "(C.8), bound": sympy.limit(n ** (-1 / (q + 1)), q, sympy.oo) - 1,
        "(C.8), exponent": sympy.limit((q + 1) / q, q, sympy.oo) - 1,
    }


def check_repaired(
    effort: Effort,
    shift: Fraction = Fraction(0),
    clip: bool = True,
    root: int = 1,
    proof: str = POWERS,
) -> Evidence:
    """(C.6) and the limits of (C.8); the proof, and what was drawn."""
    spot = {"q": "2", "t": "1/2", "n": "3", "S": "5"}
    run = explore(Call.of(case, shift=shift, clip=clip), Call.of(weights), effort)
    return Evidence.of(
        SymbolicZero(Call.of(residuals, root=root), "simplify", (spot,)),
        KernelProof.of("powers.v", proof, run, axioms=CLASSICAL),
    )


def maximum(instance: dict[str, Any], total: Fraction = Fraction(1)) -> Case:
    """AFL's conjugate at one lambda, A(f) = max f: 0 inside, and somewhere above 1000 outside.

    ``sign`` "any": on R^n, inside is the simplex; "nonnegative": on f >= 0, inside is
    sum max(lambda, 0) <= 1. ``total`` is the sum that counts as inside.
    """
    x, f, signed = instance["lambda"], instance["f"], instance["signed"]
    n, positive = len(x), [max(v, Fraction(0)) for v in x]
    inside = sum(x) == total and min(x) >= 0 if signed else sum(positive) <= total
    far = Fraction(10**9)
    rays = [[far * (v > 0) for v in x]]
    if signed:
        rays += [[far] * n, [-far] * n] + [[-far * (i == k) for i in range(n)] for k in range(n)]
    else:
        f = [abs(v) for v in f]

    def maximand(g: list[Fraction]) -> Fraction:
        return sum((a * b for a, b in zip(x, g, strict=True)), Fraction(0)) - max(g)

    if inside:
        tried = (Relation(maximand(g), "<=", 0, "Fenchel") for g in (f, *rays))
        return Case((*tried, Relation(maximand([Fraction(0)] * n), "==", 0, "f = 0")))
    return Case((Relation(1000, "<", max(map(maximand, rays)), "unbounded"),))


@st.composite
def near_simplex(draw: st.DrawFn) -> dict[str, Any]:
    """Points of the simplex, of sums near one, and with a negative entry."""
    n = draw(st.integers(1, 4))
    w = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any))
    x = [Fraction(v, sum(w)) for v in w]
    x[draw(st.integers(0, n - 1))] += draw(st.sampled_from([0, 0, 1, -1])) * Fraction(1, 100)
    if draw(st.booleans()) and n > 1:
        x[0] -= 1
        x[1] += 1
    f = draw(st.lists(st.integers(-9, 9).map(lambda k: Fraction(k, 3)), min_size=n, max_size=n))
    return {"lambda": x, "f": f, "signed": draw(st.booleans())}


def check_maximum(
    effort: Effort, total: Fraction = Fraction(1), proof: str = NONNEGATIVE
) -> Evidence:
    """The proofs, and what was drawn."""
    run = explore(Call.of(maximum, total=total), Call.of(near_simplex), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("afl.v", INSIDE + OUTSIDE + proof, run, axioms=REALS))


def summand(instance: dict[str, Any], summed: bool = True) -> Case:
    """After (C.6), q = 1: lambda_i^2 sqrt(n) - sqrt(sum lambda_j^2) > 0, or the same with a sum in
    front.
    """
    x: list[Fraction] = instance["lambda"]
    squares = sum((v * v for v in x), Fraction(0))
    root = sympy.sqrt(sympy.Rational(str(squares)))
    first = squares if summed else min(v * v for v in x)
    premises = {"outside": squares > Fraction(1, len(x))}
    left = sympy.Rational(str(first)) * sympy.sqrt(len(x))
    return Case((Relation(root, "<", left, "the coefficient of t"),), premises)


def check_summand(effort: Effort, summed: bool = False) -> Evidence:
    """The printed term without its sum."""
    shows = (
        "q = 1, n = 2, lambda = (1, 0): norm 1 > 1/sqrt 2, and for i = 2 the printed term is 0 - 1"
    )
    return Evidence.of(
        Counterexample.at(
            Call.of(summand, summed=summed), shows, **{"lambda": [Fraction(1), Fraction(0)]}
        )
    )


PRINTED = (
    r"$A_s^*(\lambda) = 0$ if $\lambda \geq \mathbf{0}$ and $\|\lambda\|_{(q+1)/q} \leq "
    r"n^{-\frac{1}{q+1}}$, $\infty$ otherwise; (C.8), $q \to \infty$: $\|\lambda\|_1 \leq 1$"
)
CLAIMS = (
    Claim(
        id="propfair/conjugate-qffl",
        number="Eq. (15), (C.4)-(C.8)",
        line=240,
        title="The conjugate of q-FFL's mean: 0 in a ball of the dual norm with lambda >= 0, "
        "infinite otherwise",
        printed=PRINTED,
        statement=(
            r"On $f \ge 0$: $A^*(\lambda) = 0$ if $\lambda \ge 0$ and $\|\lambda\|_{(q+1)/q} \le "
            r"n^{-1/(q+1)}$, $\infty$ otherwise."
        ),
        kind="identity",
        hypotheses=(),
        scope="n = 1, every q > 0",
        expected="holds-repaired",
        check=check,
        mutants=(
            Mutant("clipped", "max(lambda, 0) for lambda", partial(check, clipped=True)),
            Mutant("lambda = 2", "a weight that is too large", partial(check, at=Fraction(2))),
        ),
        reading="dom f = R^n_+, as (C.4) supposes. (C.7) is careful: 'the convex conjugate for "
        "lambda >= 0 is'.",
        severity="theorem",
        erratum=(
            "(15): 'otherwise' includes negative weights, where A* is finite: a negative "
            "lambda_i asks for f_i = 0. Write max(lambda, 0) for lambda, or restrict to lambda "
            ">= 0 as in (C.7). After (C.6) a sum is missing."
        ),
    ),
    Claim(
        id="propfair/conjugate-qffl/repaired",
        number="Eq. (15), (C.4)-(C.8)",
        line=240,
        title="The conjugate of q-FFL's mean: 0 where the positive part of lambda is in a ball "
        "of the dual norm",
        printed=PRINTED,
        statement=(
            r"On $f \ge 0$, $q > 0$: $A^*(\lambda) = 0$ if $\|\max(\lambda, 0)\|_{(q+1)/q} \le "
            r"n^{-1/(q+1)}$, $\infty$ otherwise. As $q \to \infty$ the bound is $\sum "
            r"\max(\lambda_i, 0) \le 1$ (AFL)."
        ),
        kind="identity",
        hypotheses=(),
        scope="as stated, n >= 1; the norm's bound as one on its power (q+1)/q",
        expected="holds",
        check=check_repaired,
        mutants=(
            Mutant("102 %", "the bound moved out", partial(check_repaired, shift=Fraction(2, 100))),
            Mutant("98 %", "the bound moved in", partial(check_repaired, shift=Fraction(-2, 100))),
            Mutant(
                "|lambda|",
                "absolute values for positive parts",
                partial(check_repaired, clip=False),
            ),
            Mutant(
                "any losses",
                "without f >= 0, in the theorem that is proved",
                partial(
                    check_repaired,
                    proof=POWERS.replace("0 <= f i) -> mean", "0 <= f i * f i) -> mean"),
                ),
            ),
            Mutant("n^(2/(q+1))", "another factor in (C.6)", partial(check_repaired, root=2)),
        ),
    ),
    Claim(
        id="propfair/conjugate-afl",
        number="(C.8), table 1",
        line=240,
        title="The conjugate of AFL's maximum: 0 on the simplex, infinite elsewhere; on f >= 0 "
        "where the positive parts sum to at most one",
        printed=PRINTED,
        statement=(
            r"On $R^n$: $A^*(\lambda) = 0$ if $\lambda \ge 0$ and $\sum\lambda_i = 1$, else "
            r"$\infty$. On $f \ge 0$: $0$ if $\sum\max(\lambda_i, 0) \le 1$, else $\infty$."
        ),
        kind="identity",
        hypotheses=(),
        scope="as stated, n >= 1",
        expected="holds",
        check=check_maximum,
        mutants=(
            Mutant("101 %", "sums up to 1.01", partial(check_maximum, total=Fraction(101, 100))),
            Mutant("99 %", "sums up to 0.99", partial(check_maximum, total=Fraction(99, 100))),
            Mutant(
                "any sign",
                "without f >= 0, in the theorem that is proved",
                partial(
                    check_maximum,
                    proof=NONNEGATIVE.replace(
                        "forall f M, (forall i, 0 <= f i) -> ", "forall f M, "
                    ),
                ),
            ),
        ),
    ),
    Claim(
        id="propfair/eq-C.6",
        number="After (C.6)",
        line=907,
        title="The coefficient of t is positive, as the text after (C.6) prints it",
        printed=(
            r"From $\|\lambda\|_{\frac{q+1}{q}} > n^{-\frac{1}{q+1}}$ we can get "
            r"$\lambda_i^{\frac{q+1}{q}} n^{\frac{1}{q+1}} - (\sum_i "
            r"\lambda_i^{\frac{q+1}{q}})^{\frac{1}{q+1}} > 0$"
        ),
        statement=(
            r"$\|\lambda\|_2 > n^{-1/2}$ implies $\lambda_i^2 \sqrt n - \sqrt{\sum_j "
            r"\lambda_j^2} > 0$ for each $i$ ($q = 1$)."
        ),
        kind="implication",
        hypotheses=(("outside", "||lambda|| > n^(-1/(q+1))"),),
        scope="n = 2, q = 1",
        expected="refuted",
        check=check_summand,
        mutants=(
            Mutant("sum", "with the sum that (C.6) has", partial(check_summand, summed=True)),
        ),
        severity="misprint",
        erratum="A sum over i is missing before the first term. The conclusion stands.",
    ),
)
