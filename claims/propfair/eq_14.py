"""Equation (14): every objective as the largest weighted sum of losses minus a penalty on the
weights.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore
from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, PropFair

N = 3
OBJECTIVES = {
    "FedAvg": FedAvg(),
    "q-FFL": QFFL(q=1.5),
    "AFL": AFL(),
    "TERM": TERM(alpha=2.0),
    "PropFair": PropFair(M=2.0),
}

SUPPORTS = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition mean_of (s : R -> R) (p f : nat -> R) (n : nat) (a : R) : Prop :=
  s a = sum (seq 0 n) (fun i => p i * s (f i)).
Theorem supports : forall (D : R -> Prop) s s' p n f g a b,
  (forall x y t, D x -> D y -> 0 <= t <= 1 -> D (x + t * (y - x))) ->
  (forall x y, D x -> D y -> x <= y -> s x <= s y) -> D a -> D b -> 0 < s' a ->
  derivable_pt_lim s a (s' a) -> (forall i,
    In i (seq 0 n) -> derivable_pt_lim s (f i) (s' (f i))) ->
  mean_of s p f n a -> mean_of s p g n b ->
  (forall t, 0 < t <= 1 -> exists c, D c /\ mean_of s p (fun i => f i + t * (g i - f i)) n c
     /\ c <= a + t * (b - a)) ->
  let v := fun i => p i * s' (f i) / s' a in
  sum (seq 0 n) (fun i => v i * g i) - b <= sum (seq 0 n) (fun i => v i * f i) - a.
"""


def residuals(turned: int = 1) -> dict[str, Any]:
    """A(f) = lambda.f - A*(lambda) at lambda = grad A(f), and that this lambda is in the domain of
    A*.

    q-FFL: f_i = g_i, lambda_i = (g_i/A)^q/n. PropFair: M - f_i = w_i^3 for three clients, G = w_1
    w_2 w_3.
    """
    q, alpha, M = sympy.symbols("q alpha M", positive=True)
    f = sympy.symbols(f"f1:{N + 1}", positive=True)
    w = sympy.symbols(f"w1:{N + 1}", positive=True)
    power = sum(x ** (q + 1) for x in f) / N
    A = power ** (1 / (q + 1))
    lq = [x**q / (N * power ** (q / (q + 1))) for x in f]
    total = sum(sympy.exp(alpha * x) for x in f)
    lt = [sympy.exp(alpha * x) / total for x in f]
    penalty = (
        sum(p * (alpha * x - sympy.log(total)) for p, x in zip(lt, f, strict=True)) + sympy.log(N)
    ) / alpha
    G = w[0] * w[1] * w[2]
    lp = [turned * G / (N * x**3) for x in w]
    fp = [M - x**3 for x in w]

    def dot(a: Any, b: Any) -> Any:
        return sum(x * y for x, y in zip(a, b, strict=True))

    return {
        "q-FFL": dot(lq, f) - A,
        # (N lambda_i)^((q+1)/q) = f_i^(q+1)/power
        "q-FFL, norm": sum(x ** (q + 1) for x in f) / (N * power) - 1,
        "TERM": dot(lt, f) - penalty - sympy.log(total / N) / alpha,
        "TERM, sum": sum(lt) - 1,
        "PropFair": dot(lp, fp) - M * (sum(lp) - 1) - (M - G),
        "PropFair, product": sympy.prod([N * x for x in lp]) - 1,
        "FedAvg": sum(f) / N - sum(x / N for x in f),
    }


def case(instance: dict[str, Any], name: str, bound: bool = True) -> Case:
    """Fenchel's inequality at f for another point's weights, and equality at its own; the losses
    are in the domain.
    """
    objective = OBJECTIVES[name]
    f, g = (np.array([float(x) for x in instance[k]]) for k in ("f", "g"))
    other, own = objective.dual_weights(g), objective.dual_weights(f)
    value = float(objective.value(f))
    left = float(other @ f - objective.conjugate(other))
    relations = [
        Relation(left, "<=" if bound else "==", value, "weights of another point"),
        Relation(float(own @ f - objective.conjugate(own)), "==", value, "its own weights"),
        Relation(0.0, "<=", float(own.min()), "weights are non-negative"),
    ]
    return Case(tuple(relations), {"losses": bool(f.min() >= 0 and f.max() < 2), "convex": True})


@st.composite
def pairs(draw: st.DrawFn) -> dict[str, Any]:
    """Two vectors of losses in [0, 2)."""
    n = draw(st.integers(1, 4))
    vector = st.lists(st.integers(0, 15).map(lambda k: Fraction(k, 8)), min_size=n, max_size=n)
    return {"f": draw(vector), "g": draw(vector)}


def check(effort: Effort, turned: int = 1, bound: bool = True, proof: str = SUPPORTS) -> Evidence:
    """The identities of the five, and that a gradient supports every convex generalised mean."""
    spot = {
        "q": "2",
        "alpha": "1/2",
        "M": "9",
        "w1": "1",
        "w2": "2",
        "w3": "3/2",
        "f1": "1",
        "f2": "1/3",
        "f3": "2",
    }
    count = effort.pick(20, 1000)
    runs = (
        explore(
            Call.of(case, name=name, bound=bound),
            Call.of(pairs),
            effort,
            tolerance=1e-9,
            examples=count,
        )
        for name in OBJECTIVES
    )
    return Evidence.of(
        SymbolicZero(Call.of(residuals, turned=turned), "simplify", (spot,)),
        KernelProof.of("fenchel_young.v", proof, *runs, axioms=REALS),
    )


def restricted(instance: dict[str, Any]) -> Case:
    """sup over lambda >= 0 of lambda.f - A*(lambda) against A(f), for A = c.f on f >= 0, a convex
    closed function.

    For any g >= f it is at most lambda.f - (lambda.g - A(g)) <= A(g): so it is at most the least
    A(g) above f.
    """
    c, f, g = instance["c"], instance["f"], instance["g"]
    at = [sum((a * x for a, x in zip(c, v, strict=True)), Fraction(0)) for v in (f, g)]
    premises = {"losses": min(f) >= 0, "above": all(a <= b for a, b in zip(f, g, strict=True))}
    return Case(
        (Relation(at[0], "<=", at[1], "A(f), and what bounds the maximum over lambda >= 0"),),
        premises,
    )


def check_reason(effort: Effort, second: Fraction = Fraction(-1)) -> Evidence:
    """A convex function of f >= 0 that decreases in one loss."""
    shows = (
        "A(f) = f_1 - f_2 on f >= 0: at f = (0, 1) A is -1, the maximum over lambda >= 0 is "
        "at most A(0, 2) = -2"
    )
    data = {
        "c": [Fraction(1), second],
        "f": [Fraction(0), Fraction(1)],
        "g": [Fraction(0), Fraction(2)],
    }
    return Evidence.of(Counterexample.at(Call.of(restricted), shows, **data))


def nonconvex(instance: dict[str, Any], name: str = "log") -> Case:
    """(14) for the geometric mean (s = log) at f, n = 2: lambda.f - A*(lambda) <= (A(g) + A(h))/2
    if f = (g+h)/2.
    """
    f, g, h = instance["f"], instance["g"], instance["h"]
    values = [sympy.sqrt(sympy.Rational(str(v[0] * v[1]))) for v in (f, g, h)]
    if name == "mean":
        values = [sympy.Rational(str(v[0] + v[1])) / 2 for v in (f, g, h)]
    middle = all(a == (b + c) / 2 for a, b, c in zip(f, g, h, strict=True))
    return Case(
        (Relation(values[0], "<=", (values[1] + values[2]) / 2, "A(f)"),), {"losses": middle}
    )


def check_nonconvex(effort: Effort, name: str = "log") -> Evidence:
    """A generalised mean that is not convex."""
    shows = (
        "the geometric mean (s = log): at (5/2, 5/2), midway from (1, 4) to (4, 1), (14) "
        "gives at most 2 for 5/2"
    )
    five = Fraction(5, 2)
    data = {"f": [five, five], "g": [Fraction(1), Fraction(4)], "h": [Fraction(4), Fraction(1)]}
    return Evidence.of(Counterexample.at(Call.of(nonconvex, name=name), shows, **data))


CLAIMS = (
    Claim(
        id="propfair/eq-14",
        number="Eq. (14)",
        line=225,
        title="Minimising A_s is minimising, over the model, the largest weighted sum of losses "
        "less A_s*(lambda)",
        printed=(
            r"$\min_{\theta} A_s(f(\theta)) \equiv \min_{\theta} \max_{\lambda \geq 0} \sum_i "
            r"\lambda_i f_i(\theta) - A_s^*(\lambda)$"
        ),
        statement=(
            r"$A(f) = \max_{\lambda \ge 0} \lambda^\top f - A^*(\lambda)$ for the five "
            r"objectives: $\le$ by the definition of $A^*$, $=$ at $\lambda = \nabla A(f) \ge "
            r"0$, which lies in the domain of $A^*$."
        ),
        kind="identity",
        hypotheses=(
            ("convex", "A_s convex, closed and increasing in each loss, as the five are"),
            ("losses", "f >= 0, and f < M for PropFair (see propfair/proposition-4.1)"),
        ),
        scope="identities for n = 3; that the gradient of a convex mean supports it: as stated",
        expected="holds",
        check=check,
        mutants=(
            Mutant("2 lambda", "twice PropFair's weights", partial(check, turned=2)),
            Mutant("any weights", "equality at every dual weight", partial(check, bound=False)),
            Mutant(
                "not convex",
                "without convexity, in the theorem that is proved",
                partial(check, proof=SUPPORTS.replace("c <= a + t * (b - a)", "True")),
            ),
        ),
        rests_on=(
            "propfair/conjugate-afl",
            "propfair/conjugate-fedavg",
            "propfair/conjugate-qffl/repaired",
            "propfair/conjugate-term",
            "propfair/conjugate-propfair",
        ),
    ),
    Claim(
        id="propfair/eq-14-reason",
        number="Section 4.1, after (14)",
        line=236,
        title="Since f >= 0, it is enough to consider lambda >= 0",
        printed=r"Note that $f \geq \mathbf{0}$ and thus we require $\lambda \geq \mathbf{0}$.",
        statement=(
            r"For every convex closed $A$ on $f \ge 0$: $A(f) = \max_{\lambda \ge 0} "
            r"\lambda^\top f - A^*(\lambda)$."
        ),
        kind="implication",
        hypotheses=(("losses", "f >= 0"), ("above", "g >= f, entry by entry")),
        scope="n = 2, A linear",
        expected="refuted",
        check=check_reason,
        mutants=(Mutant("increasing", "A = f_1 + f_2", partial(check_reason, second=Fraction(1))),),
        reading="The sentence as a reason. (14) itself holds: see propfair/eq-14.",
        severity="step",
        erratum=(
            "lambda >= 0 suffices because A_s increases in each f_i: the maximum over lambda >= "
            "0 is at most the least value of A above f, whatever the domain. That f >= 0 is not "
            "the reason."
        ),
        whose="reading",
    ),
    Claim(
        id="propfair/eq-14-convex",
        number="Eq. (14)",
        line=223,
        title="(14) holds for every generalised mean",
        printed="Applying the convex conjugate of A_s we obtain the equivalent problem",
        statement=r"$A_s(f) = \max_{\lambda \ge 0} \lambda^\top f - A_s^*(\lambda)$ for every "
        r"increasing $s$.",
        kind="implication",
        hypotheses=(("losses", "f is the midpoint of g and h"),),
        scope="n = 2",
        expected="refuted",
        check=check_nonconvex,
        mutants=(Mutant("s(t) = t", "the arithmetic mean", partial(check_nonconvex, name="mean")),),
        reading=(
            "The sentence before (14) gives a criterion for convexity, and does not say that A_s "
            "is supposed convex."
        ),
        severity="remark",
        erratum="Say that A_s is supposed convex; otherwise (14) gives the convex hull of A_s.",
        whose="reading",
    ),
)
