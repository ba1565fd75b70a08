"""(C.15)-(C.22): the conjugate of PropFair's mean, and the one on f >= 0 that the paper leaves
uncomputed.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import CLASSICAL, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore

DEFINITIONS = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition product (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k * x) 1 ks.
Definition geometric (n : nat) (u : nat -> R) (G : R) : Prop :=
  0 <= G /\ G ^ n = product (seq 0 n) u.
"""
INSIDE = (
    DEFINITIONS
    + r"""
Theorem inside : forall n v u G, (0 < n)%nat -> (forall i, In i (seq 0 n) -> 0 < v i) ->
  1 <= product (seq 0 n) (fun i => INR n * v i) -> (forall i, In i (seq 0 n) -> 0 <= u i) ->
  geometric n u G -> G <= sum (seq 0 n) (fun i => v i * u i).
"""
)
BEYOND = (
    DEFINITIONS
    + r"""
Theorem beyond : forall n v, (0 < n)%nat -> (forall i, In i (seq 0 n) -> 0 < v i) ->
  product (seq 0 n) (fun i => INR n * v i) < 1 ->
  forall B, exists u G, (forall i, In i (seq 0 n) -> 0 <= u i) /\ geometric n u G
    /\ B < G - sum (seq 0 n) (fun i => v i * u i).
"""
)
SIGNED = (
    DEFINITIONS
    + r"""
Theorem signed : forall n v, (exists j, In j (seq 0 n) /\ v j <= 0) ->
  forall B, exists u G, (forall i, In i (seq 0 n) -> 0 <= u i) /\ geometric n u G
    /\ B < G - sum (seq 0 n) (fun i => v i * u i).
"""
)
CLOSED = (
    DEFINITIONS
    + r"""
Theorem topped : forall n v M, (0 < n)%nat -> 0 < M -> (forall i, In i (seq 0 n) -> 0 < v i) ->
  1 <= product (seq 0 n) (fun i => INR n * v i) ->
  (forall f G, (forall i, In i (seq 0 n) -> f i <= M) -> geometric n (fun i => M - f i) G ->
     sum (seq 0 n) (fun i => v i * f i) - (M - G) <= M * (sum (seq 0 n) v - 1))
  /\ geometric n (fun _ => M - M) 0
  /\ sum (seq 0 n) (fun i => v i * M) - (M - 0) = M * (sum (seq 0 n) v - 1).
Theorem capped : forall n lam v M c, (0 < n)%nat -> 0 < M -> 0 < c ->
  (forall i, In i (seq 0 n) -> v i = Rmax (lam i) c) ->
  product (seq 0 n) (fun i => INR n * v i) = 1 ->
  (forall f G, (forall i, In i (seq 0 n) -> 0 <= f i <= M) -> geometric n (fun i => M - f i) G ->
     sum (seq 0 n) (fun i => lam i * f i) - (M - G) <= M * (sum (seq 0 n) v - 1))
  /\ (forall i, In i (seq 0 n) -> 0 <= M * (1 - c / v i) <= M)
  /\ geometric n (fun i => M - M * (1 - c / v i)) (INR n * M * c)
  /\ sum (seq 0 n) (fun i => lam i * (M * (1 - c / v i))) - (M - INR n * M * c)
     = M * (sum (seq 0 n) v - 1).
Theorem raised : forall n lam, (0 < n)%nat ->
  (forall i, In i (seq 0 n) -> 0 < lam i) /\ 1 <= product (seq 0 n) (fun i => INR n * lam i)
  \/ exists c, 0 < c /\ product (seq 0 n) (fun i => INR n * Rmax (lam i) c) = 1.
"""
)


def residuals(scale: int = 1) -> dict[str, sympy.Expr]:
    """(C.18), and what AM-GM leaves in (C.19); u_i = M - f_i. n = 3, u_i = z_i^3 and n lambda_i =
    y_i^3 for roots.
    """
    M, c = sympy.symbols("M c", positive=True)
    y, z = sympy.symbols("y1:4", positive=True), sympy.symbols("z1:4", positive=True)
    lam = [a**3 / 3 for a in y]

    def maximand(u: list[Any], geometric: Any) -> Any:
        return sum(a * (M - b) for a, b in zip(lam, u, strict=True)) + geometric - M

    ray = [c / (3 * a) for a in lam]
    root = sympy.prod(y)  # (prod n lambda_i)^(1/n)
    plane = M * (sum(lam) - 1)
    lost = sum(a * b**3 for a, b in zip(lam, z, strict=True)) - scale * sympy.prod(z)
    return {
        "(C.18)": maximand(ray, c / root) - plane - (1 / root - 1) * c,
        "(C.19)": maximand([b**3 for b in z], sympy.prod(z)) - plane + lost,
        "at f = M": maximand([sympy.Integer(0)] * 3, sympy.Integer(0)) - plane,
    }


def case(instance: dict[str, Any], threshold: Fraction = Fraction(1)) -> Case:
    """(C.21) at one lambda, in fractions, n-th powers for roots.

    Inside: lambda.u >= G at any u >= 0, so no f beats M (sum lambda - 1), which f = M attains.
    Positive but outside: u = c/(n lambda) gains, as prod n lambda < 1. With some lambda_i <= 0: u_i
    = s^n there, the others 1, gains without bound: G - lambda.u >= s - sum of the other lambda.
    """
    x, u = instance["lambda"], instance["u"]
    n = len(x)
    product = prod(n * v for v in x)
    if min(x) > 0:
        if product >= threshold:
            dot = sum((a * b for a, b in zip(x, u, strict=True)), Fraction(0))
            return Case(
                (Relation(prod(u), "<=", dot**n, "inside: G <= lambda.u", float(dot**n) or 1.0),)
            )
        gained = Fraction(1, 10**12)  # a margin of 0 would pass a test of <
        return Case((Relation(gained, "<=", 1 - product, "outside: the ray gains"),))
    low = x.index(min(x))
    others = sum((v for i, v in enumerate(x) if i != low), Fraction(0))
    size = 1000 + abs(others)
    gain = size - x[low] * size**n - others
    return Case((Relation(1000, "<=", gain, "not positive: unbounded"),))


@st.composite
def weights(draw: st.DrawFn) -> dict[str, Any]:
    """Weights of any sign; or positive ones near prod n lambda = 1, with the utilities 1/lambda of
    equality.
    """
    n = draw(st.integers(1, 3))
    if draw(st.booleans()):
        x = [Fraction(draw(st.integers(1, 12)), 4) for _ in range(n)]
        near = draw(st.sampled_from([Fraction(99, 100), Fraction(1), Fraction(101, 100)]))
        x[-1] = near / (n * prod(n * v for v in x[:-1]))
        return {"lambda": x, "u": [1 / v for v in x]}
    x = [Fraction(draw(st.integers(-2, 12)), 4) for _ in range(n)]
    return {"lambda": x, "u": [Fraction(draw(st.integers(0, 12)), 4) for _ in range(n)]}


def check(
    effort: Effort, scale: int = 1, threshold: Fraction = Fraction(1), inside: str = INSIDE
) -> Evidence:
    """The proofs; beside them (C.18) and (C.19) for n = 3, and what was drawn."""
    spot = {"M": "2", "c": "3", **{f"{v}{k}": str(k + len(v)) for v in "yz" for k in (1, 2, 3)}}
    algebra = SymbolicZero(Call.of(residuals, scale=scale), "expand", (spot,))
    run = explore(Call.of(case, threshold=threshold), Call.of(weights), effort, tolerance=0.0)
    return Evidence.of(
        KernelProof.of("geometric.v", inside + BEYOND + SIGNED, algebra, run, axioms=CLASSICAL)
    )


def level(instance: dict[str, Any]) -> tuple[list[Fraction], Fraction]:
    """v = max(lambda, c) with prod n v_i = 1, the instance giving v and who is raised to c = min
    v.
    """
    return instance["v"], min(instance["v"])


def closed(instance: dict[str, Any], capped: bool = True) -> Case:
    """(C.22) = M (sum v - 1), by a primal and a dual point in fractions.

    Primal: u_i = M c/v_i <= M, so f_i = M - u_i >= 0, and the geometric mean of u is n M c, as prod
    n v = 1. Dual: for 0 <= f <= M, lambda.f <= v.f, and (C.21) at v.
    """
    v, c = level(instance)
    n, M = len(v), instance["M"]
    x = [a - d if a == c else a for a, d in zip(v, instance["lower"], strict=True)]
    u = [M * c / a for a in v] if capped else [M * c / max(a, Fraction(1, 10**9)) for a in x]
    G = n * M * c
    value = sum((a * (M - b) for a, b in zip(x, u, strict=True)), Fraction(0)) + G - M
    return Case(
        (
            Relation(G**n, "==", prod(u), "G is the geometric mean", float(G**n)),
            Relation(value, "==", M * (sum(v, Fraction(0)) - 1), "primal and dual values"),
            Relation(0, "<=", M - max(u), "f >= 0"),
        ),
        {"level": prod(n * a for a in v) == 1 and min(v) > 0, "below": min(instance["lower"]) >= 0},
    )


@st.composite
def levels(draw: st.DrawFn) -> dict[str, Any]:
    """v > 0 with prod n v = 1, the smallest perhaps twice, and how far lambda lies below it there
    (also below 0).
    """
    n = draw(st.integers(1, 4))
    w = [Fraction(draw(st.integers(1, 9)), draw(st.integers(1, 4))) for _ in range(n)]
    if n > 1:
        w[-1] = 1 / (prod(w[:-1]) * n**n)
    else:
        w = [Fraction(1)]
    lower = [Fraction(draw(st.integers(0, 8)), 4) for _ in range(n)]
    return {"v": w, "lower": lower, "M": Fraction(draw(st.integers(1, 6)), 2)}


def check_closed(effort: Effort, capped: bool = True, proof: str = CLOSED) -> Evidence:
    """The proofs, and what was drawn."""
    run = explore(Call.of(closed, capped=capped), Call.of(levels), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("geometric.v", proof, run, axioms=CLASSICAL))


CLAIMS = (
    Claim(
        id="propfair/conjugate-propfair",
        number="(C.21)",
        line=967,
        title="The conjugate of PropFair's mean: M (sum lambda - 1) where prod n lambda_i >= 1, "
        "infinite elsewhere",
        printed=(
            r"$A_s^*(\lambda) = M(\lambda^\top \mathbf{1} - 1)$, if $\lambda \geq \mathbf{0}$ "
            r"and $\prod_{i=1}^n (n\lambda_i) \geq 1$, $\infty$ otherwise"
        ),
        statement=(
            r"On $f \le M$: with $u = M - f$ the maximand is $M(\sum\lambda_i - 1) + G(u) - "
            r"\lambda^\top u$; $\lambda^\top u \ge (\prod n\lambda_i)^{1/n} G(u)$ by AM-GM. "
            r"Outside, $u_i = c/(n\lambda_i)$, or $u_i \to \infty$ where $\lambda_i \le 0$, is "
            r"unbounded."
        ),
        kind="identity",
        hypotheses=(),
        scope="as stated, n >= 1",
        expected="holds",
        check=check,
        mutants=(
            Mutant("2 G", "twice the geometric mean in (C.19)", partial(check, scale=2)),
            Mutant("prod >= 0.99", "a larger domain", partial(check, threshold=Fraction(99, 100))),
            Mutant(
                "prod >= 1.01", "a smaller domain", partial(check, threshold=Fraction(101, 100))
            ),
            Mutant(
                "prod >= 0.9",
                "a larger domain, in the theorem that is proved",
                partial(check, inside=INSIDE.replace("1 <= product", "0.9 <= product")),
            ),
        ),
        gap=(
            "'M_s^*' should be A_s^*, and its domain is closed because every conjugate's "
            "sublevel sets are; the statement survives: both are slips of the pen."
        ),
    ),
    Claim(
        id="propfair/eq-C.22",
        number="(C.22)",
        line=971,
        title="(ours) On 0 <= f <= M the conjugate is M (sum v - 1), v = max(lambda, c), finite "
        "for every lambda",
        printed=(
            r"$\bar{A}_s^*(\lambda) = \inf_{\lambda \leq \gamma} A_s^*(\gamma)$. However, the "
            r"formula for $A_s^*$ suffices for our purpose so we need not compute the above "
            r"explicitly."
        ),
        statement=(
            r"$\bar A^*(\lambda) = M(\sum_i v_i - 1)$, $v = \lambda$ where $\lambda > 0$, $\prod "
            r"n\lambda_i \ge 1$, and else $v = \max(\lambda, c)$ with $c > 0$ such that $\prod n "
            r"v_i = 1$; attained at $f_i = M(1 - c/v_i)$."
        ),
        kind="identity",
        hypotheses=(("level", "prod n v_i = 1"), ("below", "lambda = v, or below c where v = c")),
        scope="as stated, n >= 1",
        expected="holds",
        check=check_closed,
        mutants=(
            Mutant("lambda for v", "f_i = M (1 - c/lambda_i)", partial(check_closed, capped=False)),
            Mutant(
                "wider",
                "losses up to 1.01 M, in the theorem that is proved",
                partial(
                    check_closed, proof=CLOSED.replace("0 <= f i <= M)", "0 <= f i <= 1.01 * M)")
                ),
            ),
        ),
        notes="In the first case f = M attains it, and (C.21) is the bound. "
        "theory.aggregation.PropFair computes it.",
        whose="ours",
    ),
)
