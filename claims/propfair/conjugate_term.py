"""(16), (C.9)-(C.14): the conjugate of TERM's mean, and the weights that (C.12) says always
exist.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import (
    CLASSICAL,
    Counterexample,
    DefiniteForm,
    KernelProof,
    SymbolicZero,
)
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.instances import explore

DEFINITIONS = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition term (n : nat) (a : R) (f : nat -> R) : R :=
  ln (sum (seq 0 n) (fun i => exp (a * f i)) / INR n) / a.
Definition xlogx (x : R) : R := if Req_EM_T x 0 then 0 else x * ln x.
Definition penalty (n : nat) (a : R) (v : nat -> R) : R :=
  (sum (seq 0 n) (fun i => xlogx (v i)) + ln (INR n)) / a.
"""
INSIDE = (
    DEFINITIONS
    + r"""
Theorem inside : forall n a v, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> 0 <= v i) ->
  sum (seq 0 n) v = 1 ->
  forall f, sum (seq 0 n) (fun i => v i * f i) - term n a f <= penalty n a v.
"""
)
EQUALITY = (
    DEFINITIONS
    + r"""
Theorem equality : forall n a f, (0 < n)%nat -> 0 < a ->
  let v := fun i => exp (a * f i) / sum (seq 0 n) (fun i => exp (a * f i)) in
  sum (seq 0 n) (fun i => v i * f i) - term n a f = penalty n a v.
"""
)
APPROACHED = (
    DEFINITIONS
    + r"""
Theorem approached : forall n a v eps, (0 < n)%nat -> 0 < a -> 0 < eps ->
  (forall i, In i (seq 0 n) -> 0 <= v i) -> sum (seq 0 n) v = 1 ->
  exists f, penalty n a v - eps < sum (seq 0 n) (fun i => v i * f i) - term n a f.
"""
)
OUTSIDE = (
    DEFINITIONS
    + r"""
Theorem outside : forall n a v, (0 < n)%nat -> 0 < a ->
  sum (seq 0 n) v <> 1 \/ (exists j, In j (seq 0 n) /\ v j < 0) ->
  forall B, exists f, B < sum (seq 0 n) (fun i => v i * f i) - term n a f.
"""
)
NONNEGATIVE = (
    DEFINITIONS
    + r"""
Theorem nonnegative : forall n a v, (0 < n)%nat -> 0 < a ->
  (forall i, In i (seq 0 n) -> 0 <= v i) -> sum (seq 0 n) v = 1 ->
  forall eps, 0 < eps -> exists f, (forall i, In i (seq 0 n) -> 0 <= f i)
    /\ penalty n a v - eps < sum (seq 0 n) (fun i => v i * f i) - term n a f.
Theorem raised : forall n a v, (0 < n)%nat -> 0 < a -> (forall i, In i (seq 0 n) -> 0 <= v i) ->
  sum (seq 0 n) v < 1 ->
  exists c, 0 < c /\ sum (seq 0 n) (fun i => Rmax (v i) c) = 1
  /\ (forall f, (forall i, In i (seq 0 n) -> 0 <= f i) ->
       sum (seq 0 n) (fun i => v i * f i) - term n a f <= penalty n a (fun i => Rmax (v i) c))
  /\ exists f, (forall i, In i (seq 0 n) -> 0 <= f i)
       /\ sum (seq 0 n) (fun i => v i * f i) - term n a f = penalty n a (fun i => Rmax (v i) c).
"""
)
BEYOND = "sum (seq 0 n) v <> 1 \\/ (exists j, In j (seq 0 n) /\\ v j < 0) ->"


def residuals(sign: int = 1, mean: bool = True) -> dict[str, sympy.Expr]:
    """A*(lambda) less the maximand is the divergence of lambda from softmax(alpha f), over alpha. n
    = 3.

    lambda = (x_1, x_2, 1 - x_1 - x_2). Outside the simplex: along f = t 1 the maximand is (sum
    lambda - 1) t.
    """
    alpha = sympy.symbols("alpha", positive=True)
    f = sympy.symbols("f1:4", real=True)
    x1, x2, t = sympy.symbols("x1 x2 t", positive=True)
    x = [x1, x2, 1 - x1 - x2]
    total = sum(sympy.exp(alpha * v) for v in f)
    A = sympy.log(total / (3 if mean else 1)) / alpha
    penalty = (sum(v * sympy.log(v) for v in x) + sympy.log(3)) / alpha
    divergence = sum(
        v * (sympy.log(v) - (alpha * g - sympy.log(total))) for v, g in zip(x, f, strict=True)
    )
    equal = sympy.log(sympy.exp(alpha * t)) / alpha  # A(t, ..., t)
    y = sympy.symbols("y1:4", real=True)
    return {
        "divergence": penalty
        - (sum(v * g for v, g in zip(x, f, strict=True)) - A)
        - sign * divergence / alpha,
        "along 1": sum(v * t for v in y) - equal - (sum(y) - 1) * t,
    }


def tangent() -> tuple[sympy.Expr, list[sympy.Expr]]:
    """The divergence's derivative: p log(p/s) - p + s = s k(p/s), k(z) = z log z - z + 1, k' = log
    z, k'' = 1/z > 0.
    """
    z = sympy.symbols("z", positive=True)
    return sympy.diff(z * sympy.log(z) - z + 1, z, 2), [1 / z]


def case(instance: dict[str, Any], factor: Fraction = Fraction(1)) -> Case:
    """(16) in balls: no f beats A*(lambda), zeros in lambda included; and f near its maximiser
    comes close to it.
    """
    x, alpha, f = instance["lambda"], instance["alpha"], instance["f"]
    penalty = sum((ball(v) * ball(v).log() for v in x if v), arb(0)) + arb(len(x)).log()
    penalty = ball(factor) * penalty / ball(alpha)
    near = [ball(v).log() / ball(alpha) if v else ball(Fraction(-60)) / ball(alpha) for v in x]
    room = ball(Fraction(1, 10**12))
    return Case(
        (
            Relation(maximand(x, [ball(g) for g in f], alpha), "<=", penalty + room, "bound"),
            Relation(maximand(x, near, alpha), "<=", penalty + room, "bound, near the maximiser"),
            Relation(
                penalty - ball(Fraction(1, 10**6)), "<=", maximand(x, near, alpha), "approached"
            ),
        ),
        {"simplex": sum(x, Fraction(0)) == 1 and min(x) >= 0},
    )


def maximand(x: list[Fraction], f: list[arb], alpha: Fraction) -> arb:
    """lambda.f - A(f)."""
    total = sum(((ball(alpha) * g).exp() for g in f), arb(0)) / len(f)
    return sum((ball(v) * g for v, g in zip(x, f, strict=True)), arb(0)) - total.log() / ball(alpha)


@st.composite
def weights(draw: st.DrawFn) -> dict[str, Any]:
    """Points of the simplex, zeros among them, and losses of any sign."""
    n = draw(st.integers(1, 4))
    w = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any))
    f = draw(st.lists(st.integers(-9, 9).map(lambda k: Fraction(k, 3)), min_size=n, max_size=n))
    return {
        "lambda": [Fraction(v, sum(w)) for v in w],
        "alpha": Fraction(draw(st.integers(1, 12)), 4),
        "f": f,
    }


def check(
    effort: Effort,
    sign: int = 1,
    mean: bool = True,
    factor: Fraction = Fraction(1),
    outside: str = OUTSIDE,
) -> Evidence:
    """The proofs; beside them the identities for n = 3, and what was drawn."""
    spot = {"alpha": "2", "f1": "1", "f2": "-1/3", "f3": "2", "x1": "1/4", "x2": "1/3", "t": "1/2"}
    spot |= {"y1": "1", "y2": "-2", "y3": "1/2"}
    beside = (
        SymbolicZero(Call.of(residuals, sign=sign, mean=mean), "simplify", (spot,)),
        DefiniteForm(Call.of(tangent), "simplify", ({"z": "1/2"},), strict=True),
        explore(Call.of(case, factor=factor), Call.of(weights), effort),
    )
    return Evidence.of(
        KernelProof.of(
            "entropy.v", INSIDE + EQUALITY + APPROACHED + outside, *beside, axioms=CLASSICAL
        )
    )


def attained(instance: dict[str, Any]) -> Case:
    """(C.12) has a solution f: the right side is positive, so every lambda_i must be."""
    x: list[Fraction] = instance["lambda"]
    premises = {"simplex": sum(x, Fraction(0)) == 1 and min(x) >= 0}
    return Case((Relation(0, "<", min(x), "e^(alpha f_i) / sum > 0 = lambda_i"),), premises)


def check_attained(effort: Effort, first: Fraction = Fraction(1)) -> Evidence:
    """A corner of the simplex."""
    shows = "lambda = (1, 0): e^(alpha f_2) / (e^(alpha f_1) + e^(alpha f_2)) is not 0 for any f"
    return Evidence.of(
        Counterexample.at(Call.of(attained), shows, **{"lambda": [first, 1 - first]})
    )


CLAIMS = (
    Claim(
        id="propfair/conjugate-term",
        number="Eq. (16), (C.14)",
        line=246,
        title=(
            "The conjugate of TERM's mean is a relative entropy on the simplex; the weights are "
            "exponential in the losses"
        ),
        printed=(
            r"$A_s^*(\lambda) = \frac{1}{\alpha} \sum_i \lambda_i \log \lambda_i + "
            r"\frac{1}{\alpha} \log n$, if $\lambda^\top \mathbf{1} = 1, \lambda \geq "
            r"\mathbf{0}$, and $\infty$ otherwise. The maximizer is achieved at $\lambda_i = "
            r"\frac{\exp(\alpha f_i)}{\sum_i \exp(\alpha f_i)}$"
        ),
        statement=(
            r"On $R^n$: $A^*(\lambda) - (\lambda^\top f - A(f)) = \frac1\alpha KL(\lambda \| "
            r"softmax(\alpha f)) \ge 0$, which is $0$ at $\lambda = softmax(\alpha f)$ and comes "
            r"near $0$ for every $\lambda$ of the simplex; elsewhere $f = t\mathbf{1}$, or $f_i "
            r"\to -\infty$ for $\lambda_i < 0$, is unbounded."
        ),
        kind="identity",
        hypotheses=(("simplex", "lambda >= 0 of sum one; 0 log 0 = 0"),),
        scope="as stated, n >= 1",
        expected="holds",
        check=check,
        mutants=(
            Mutant("sign", "minus the divergence", partial(check, sign=-1)),
            Mutant("no 1/n", "the sum for the mean in A", partial(check, mean=False)),
            Mutant(
                "1.01 A*", "the conjugate 1 % larger", partial(check, factor=Fraction(101, 100))
            ),
            Mutant(
                "0.99 A*", "the conjugate 1 % smaller", partial(check, factor=Fraction(99, 100))
            ),
            Mutant(
                "everywhere",
                "infinite everywhere, in the theorem that is proved",
                partial(check, outside=OUTSIDE.replace(BEYOND, "")),
            ),
        ),
        reading="On R^n, as (C.9) says. On f >= 0 it is another one: see propfair/table-1.",
        gap=(
            "(C.12) is not always solvable (propfair/eq-C.12); the statement survives: where "
            "some lambda_i = 0 the supremum is approached as f_i tends to minus infinity, and "
            "has the same value."
        ),
    ),
    Claim(
        id="propfair/eq-C.12",
        number="(C.12)",
        line=935,
        title="For every lambda of the simplex, the stationarity condition (C.12) has a solution f",
        printed=(
            r"$\lambda_i = \frac{e^{\alpha f_i}}{\sum_i e^{\alpha f_i}}$, which can always be "
            r"satisfied with our assumption."
        ),
        statement=(
            r"For every $\lambda \ge 0$ with $\sum\lambda_i = 1$ there is $f \in R^n$ with "
            r"$\lambda = softmax(\alpha f)$."
        ),
        kind="existence",
        hypotheses=(("simplex", "lambda >= 0 of sum one"),),
        scope="n = 2",
        expected="refuted",
        check=check_attained,
        mutants=(
            Mutant("inside", "lambda = (1/2, 1/2)", partial(check_attained, first=Fraction(1, 2))),
        ),
        severity="step",
        erratum="It holds for lambda > 0; (C.14) extends to zeros by closure, as conjugates are "
        "closed.",
    ),
)
