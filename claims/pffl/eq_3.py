"""Equation (3): the Gini index by rank is half the relative mean absolute difference."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore

BY_RANK = r"""
Definition sum (l : list R) : R := fold_right Rplus 0 l.
Fixpoint ranked (k : R) (l : list R) : R :=
  match l with nil => 0 | x :: t => (2 * k - 1) * x + ranked (k + 1) t end.
Definition pairs (l : list R) : R :=
  sum (map (fun x => sum (map (fun y => Rabs (x - y)) l)) l).
Definition gini (u phi : list R) : R :=
  1 - / (INR (length u) ^ 2) * (ranked 1 phi / (sum u / INR (length u))).
Theorem by_rank : forall u phi, Permutation u phi -> StronglySorted Rge phi ->
  (forall x, In x u -> 0 <= x) -> 0 < sum u ->
  gini u phi = pairs u / (2 * INR (length u) ^ 2 * (sum u / INR (length u)))
  /\ 0 <= gini u phi <= 1 - / INR (length u)
  /\ (gini u phi = 0 <-> forall x y, In x u -> In y u -> x = y).
"""


def residuals(offset: int = -1, power: int = 2) -> dict[str, sympy.Expr]:
    """What is left of (3) against its definition, coefficient by coefficient of the descending
    values phi_i.

    n^2 mu I = sum_i (n - (2i-1)) phi_i, while sum_{i<j} (phi_i - phi_j) has phi_i n-i times with +,
    i-1 times with -.
    """
    n, i = sympy.symbols("n i", positive=True, integer=True)
    total = sympy.summation(2 * i + offset, (i, 1, n))
    return {
        "coefficient of phi_i": (n ** (power - 1) - (2 * i + offset)) - ((n - i) - (i - 1)),
        "sum of the coefficients of (4), which is n^2": total - n**power,
    }


def case(instance: dict[str, Any], offset: int = -1) -> Case:
    """(3) in fractions against pairs, and its range, for one vector of utilities."""
    u = [Fraction(v) for v in instance["u"]]
    n, total = len(u), sum(u)
    index = printed(u, offset)
    pairs = sum((abs(a - b) for a in u for b in u), Fraction(0)) / (2 * n * total)
    return Case(
        (
            Relation(index, "==", pairs, "half the relative mean absolute difference"),
            Relation(0, "<=", index, "at least 0"),
            Relation(index, "<=", 1 - Fraction(1, n), "at most 1 - 1/n"),
        ),
        {"utilities": min(u) >= 0 and total > 0},
    )


def printed(u: list[Fraction], offset: int = -1) -> Fraction:
    """(3), as printed."""
    n = len(u)
    ranked = sorted(u, reverse=True)
    weighted = sum((2 * i + offset) * v for i, v in enumerate(ranked, start=1))
    return 1 - Fraction(1, n**2) * (weighted / (sum(u, Fraction(0)) / n))


def utilities(n_max: int = 6) -> st.SearchStrategy[dict[str, Any]]:
    """Non-negative vectors, one value positive, ties and zeros among them."""
    one = st.integers(0, 12).map(lambda k: Fraction(k, 4))
    return st.lists(one, min_size=1, max_size=n_max).filter(any).map(lambda u: {"u": u})


def _check(effort: Effort, offset: int = -1, power: int = 2, proof: str = BY_RANK) -> Evidence:
    coefficients = SymbolicZero(
        Call.of(residuals, offset=offset, power=power),
        "simplify",
        ({"n": "5", "i": "2"}, {"n": "7", "i": "7"}),
    )
    run = explore(Call.of(case, offset=offset), Call.of(utilities), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("gini.v", proof, coefficients, run, axioms=REALS))


CLAIMS = (
    Claim(
        id="pffl/eq-3",
        number="Eqs. (3), (4)",
        line=50,
        title="The Gini index is one less the rank-weighted sum over the mean, and 0 when all "
        "values are equal",
        printed=(
            r"$I(\mathbf{u}) = 1 - \frac{1}{n^2} \left( \frac{\sum_1^n (2i - 1) "
            r"\phi(\mathbf{u})_i}{\mu(\mathbf{u})} \right)$, $\phi$ descending; all elements "
            r"equal: $I(\mathbf{u}) = 1 - \mu/\mu = 0$."
        ),
        statement=(
            r"For $u \ge 0$, $u \ne 0$: $1 - \frac{1}{n^2 \mu}\sum_{i=1}^n (2i-1) u_{[i]} = "
            r"\frac{1}{2 n^2 \mu} \sum_{i,j} |u_i - u_j|$, where $u_{[1]} \ge \dots \ge u_{[n]}$; "
            r"hence $0 \le I \le 1 - 1/n$, and $I = 0$ iff all are equal."
        ),
        kind="identity",
        hypotheses=(
            (
                "utilities",
                "u_i >= 0, and not all are 0 (the paper says any vector; mu = 0 divides by zero)",
            ),
        ),
        scope="every n",
        expected="holds",
        check=_check,
        mutants=(
            Mutant(
                "2i for 2i-1",
                "the first n even numbers for the odd ones",
                partial(_check, offset=0),
            ),
            Mutant(
                "below 1 - 1.01/n",
                "a smaller range, in the theorem that is proved",
                partial(_check, proof=BY_RANK.replace("<= 1 - / INR", "<= 1 - 1.01 / INR")),
            ),
            Mutant("n for n^2", "the sum of the odd numbers is called n", partial(_check, power=1)),
        ),
        reading=(
            "The paper admits any vector in R^n. Where the mean is negative, so is the index of "
            "differing values, and for a mean of 0 it is undefined; the verdict is for "
            "non-negative utilities."
        ),
    ),
)
