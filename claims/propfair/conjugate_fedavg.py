"""(C.3): the conjugate of the mean."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, DefiniteForm, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore

DEFINITIONS = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition mean (n : nat) (f : nat -> R) : R := sum (seq 0 n) f / INR n.
"""
CONJUGATE = (
    DEFINITIONS
    + r"""
Theorem conjugate : forall n v, (0 < n)%nat ->
  ((forall i, In i (seq 0 n) -> v i = / INR n) ->
     forall f, sum (seq 0 n) (fun i => v i * f i) - mean n f = 0)
  /\ ((exists j, In j (seq 0 n) /\ v j <> / INR n) ->
     forall B, exists f, B < sum (seq 0 n) (fun i => v i * f i) - mean n f).
"""
)
NONNEGATIVE = (
    DEFINITIONS
    + r"""
Theorem nonnegative : forall n v, (0 < n)%nat ->
  ((forall i, In i (seq 0 n) -> v i <= / INR n) ->
     (forall f, (forall i, 0 <= f i) -> sum (seq 0 n) (fun i => v i * f i) - mean n f <= 0)
     /\ sum (seq 0 n) (fun i => v i * 0) - mean n (fun _ => 0) = 0)
  /\ ((exists j, In j (seq 0 n) /\ / INR n < v j) ->
     forall B, exists f, (forall i, 0 <= f i)
       /\ B < sum (seq 0 n) (fun i => v i * f i) - mean n f).
"""
)


def residuals(scale: int = 1) -> dict[str, Any]:
    """Along f = t (lambda - 1/n), the maximand is t ||lambda - 1/n||^2; at lambda = 1/n it is 0 for
    every f. n = 3.
    """
    x, f = sympy.symbols("x1:4", real=True), sympy.symbols("f1:4", real=True)
    t = sympy.symbols("t", positive=True)
    n = 3
    ray = [t * (a - sympy.Rational(scale, n)) for a in x]
    value = sum(a * b for a, b in zip(x, ray, strict=True)) - sum(ray) / n
    return {
        "along the ray": value - t * sum((a - sympy.Rational(1, n)) ** 2 for a in x),
        "at 1/n": sum(a * sympy.Rational(scale, n) for a in f) - sum(f) / n,
    }


def growth() -> tuple[Any, list[Any]]:
    """||lambda - 1/n||^2 >= 0, and 0 only where each square is."""
    x = sympy.symbols("x1:4", real=True)
    third = sympy.Rational(1, 3)
    return sum(a**2 - 2 * a * third + third**2 for a in x), [(a - third) ** 2 for a in x]


def case(instance: dict[str, Any], domain: str = "R^n") -> Case:
    """(C.3) at one lambda: where it says infinite, the maximand exceeds 1000 somewhere on a ray
    inside the domain.
    """
    x: list[Fraction] = instance["lambda"]
    n = len(x)
    ray = [a - Fraction(1, n) for a in x]
    if domain == "f >= 0":
        ray = [max(a, Fraction(0)) for a in ray]
    size = sum(
        (a * b for a, b in zip([v - Fraction(1, n) for v in x], ray, strict=True)), Fraction(0)
    )
    far = 1000 / size + 1 if size else Fraction(1)
    value = far * size
    if all(a == Fraction(1, n) for a in x):
        return Case((Relation(value, "==", 0, "A* = 0"),))
    return Case((Relation(1000, "<=", value, "A* is infinite"),))


def weights() -> st.SearchStrategy[dict[str, Any]]:
    """Any lambda, 1/n among them."""
    one = st.integers(-6, 6).map(lambda k: Fraction(k, 4))
    level = st.integers(1, 4).map(lambda n: [Fraction(1, n)] * n)
    return st.one_of(st.lists(one, min_size=1, max_size=4), level).map(lambda x: {"lambda": x})


def check(effort: Effort, scale: int = 1, domain: str = "R^n") -> Evidence:
    """The proof; beside it the identities for n = 3, and what was drawn."""
    spot = {"x1": "1", "x2": "-1/2", "x3": "1/3", "t": "2", "f1": "1", "f2": "3", "f3": "-2"}
    beside = (
        SymbolicZero(Call.of(residuals, scale=scale), "expand", (spot,)),
        DefiniteForm(Call.of(growth), "expand", ({"x1": "1", "x2": "0", "x3": "2"},)),
        explore(Call.of(case, domain=domain), Call.of(weights), effort, tolerance=0.0),
    )
    return Evidence.of(KernelProof.of("plain_mean.v", CONJUGATE, *beside, axioms=REALS))


CLAIMS = (
    Claim(
        id="propfair/conjugate-fedavg",
        number="(C.3)",
        line=865,
        title="The conjugate of the mean is 0 at lambda = 1/n and infinite elsewhere",
        printed=(
            r"$A_s^*(\lambda) = 0$ if $\lambda_1 = \dots = \lambda_n = \frac{1}{n}$, $\infty$ "
            r"otherwise, where we extend the domain of f to be $\mathbb{R}^n$"
        ),
        statement=(
            r"On $R^n$: the maximand is $0$ for every $f$ at $\lambda = 1/n$, and unbounded for "
            r"every other $\lambda$: it is $t\|\lambda - 1/n\|^2$ along $f = t(\lambda - 1/n)$."
        ),
        kind="identity",
        hypotheses=(),
        scope="as stated, n >= 1",
        expected="holds",
        check=check,
        mutants=(
            Mutant("2/n", "another point", partial(check, scale=2)),
            Mutant(
                "f >= 0",
                "the losses that the paper has, where lambda <= 1/n gives 0",
                partial(check, domain="f >= 0"),
            ),
        ),
        reading="On R^n. On f >= 0 it is 0 wherever lambda <= 1/n: see propfair/table-1.",
    ),
)
