"""Equation (8): geometric weights, and the index at which they must begin to sum to one."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def weights(z: Fraction, n: int, first: int) -> list[Fraction]:
    """z^k (z-1)/(z^n-1) for n values of k from ``first`` on."""
    return [z**k * (z - 1) / (z**n - 1) for k in range(first, first + n)]


def case(instance: dict[str, Any], first: int = 1) -> Case:
    """The weights are non-negative, decrease, and sum to one."""
    z, n = Fraction(instance["z"]), instance["n"]
    p = weights(z, n, first)
    ordered = tuple(Relation(b, "<", a, "decreasing") for a, b in zip(p, p[1:], strict=False))
    return Case(
        (Relation(sum(p), "==", 1, "sum"), *ordered, Relation(0, "<", p[-1])), {"term": 0 < z < 1}
    )


def residuals(first: int = 0) -> dict[str, sympy.Expr]:
    """By induction over n: S_n = z^first (z^n - 1)/(z - 1) is the sum of z^k over n values of k
    from ``first`` on.

    S_0 = 0 and S_(n+1) - S_n = z^(first+n); and S_n (z-1)/(z^n-1) = 1.
    """
    z, n = sympy.symbols("z n", positive=True)

    def total(m: sympy.Expr) -> sympy.Expr:
        return z**first * (z**m - 1) / (z - 1)

    return {
        "start": total(sympy.Integer(0)),
        "step": total(n + 1) - total(n) - z ** (first + n),
        "sum of the weights less one": total(n) * (z - 1) / (z**n - 1) - 1,
    }


def limits(first: int = 0) -> dict[str, sympy.Expr]:
    """The limits of the weights at z -> 1 and z -> 0 less 1/n, and less 1 for the first and 0 for a
    later one.
    """
    z, n, k = sympy.symbols("z n k", positive=True)
    factor = (z - 1) / (z**n - 1)
    return {
        "z to 1": sympy.limit(z ** (first + k) * factor, z, 1) - 1 / n,
        "z to 0, the first": sympy.limit(z**first * factor, z, 0, "+") - 1,
        "z to 0, k places later": sympy.limit(z ** (first + k) * factor, z, 0, "+"),
    }


def near_limits(instance: dict[str, Any], first: int = 0) -> Case:
    """Close to the ends of (0, 1) the weights are close to their limits, in fractions."""
    n = instance["n"]
    near = Fraction(1, 10**6)
    to_one, to_zero = weights(1 - near, n, first), weights(near, n, first)
    relations = [Relation(abs(p - Fraction(1, n)), "<=", n * near, "z to 1") for p in to_one]
    relations += [Relation(abs(p - (k == 0)), "<=", near, "z to 0") for k, p in enumerate(to_zero)]
    return Case(tuple(relations))


def _check(effort: Effort, first: int = 1) -> Evidence:
    shows = "one client, z = 1/2: its weight is 1/2, not 1; for any n and k = 1..n the sum is z"
    return Evidence.of(Counterexample.at(Call.of(case, first=first), shows, z=Fraction(1, 2), n=1))


def _check_repaired(effort: Effort, first: int = 0) -> Evidence:
    points = ({"z": "1/3", "n": "4"}, {"z": "7/10", "n": "9"})
    sizes = range(1, effort.pick(5, 20))
    return Evidence.of(
        SymbolicZero(Call.of(residuals, first=first), "simplify", points),
        SymbolicZero(Call.of(limits, first=first), "simplify", ({"n": "3"},)),
        extra=tuple(
            Witness.at(Call.of(near_limits, first=first), f"z = 1e-6 and 1 - 1e-6, n = {n}", n=n)
            for n in sizes
        ),
    )


HYPOTHESES = (("term", "0 < z < 1; the losses are sorted in descending order"),)
CLAIMS = (
    Claim(
        id="pffl/eq-8",
        number="Eq. (8), Section 3.2.2",
        line=94,
        title="Geometric weights sum to one, tend to 1/n as z -> 1, and to the worst client "
        "alone as z -> 0",
        printed=r"$p_k = \frac{q^k(q - 1)}{q^n - 1}$; $\lim_{z \rightarrow 1.0} p_k = 1/n$",
        statement=r"For $0 < z < 1$, $k = 1, \dots, n$: $p_k = z^k (z-1)/(z^n - 1)$ sum to one.",
        kind="identity",
        hypotheses=HYPOTHESES,
        scope="every n",
        expected="holds-repaired",
        check=_check,
        mutants=(
            Mutant(
                "k from 0", "the index runs over 0..n-1: the sum is one", partial(_check, first=0)
            ),
        ),
        reading="q is z throughout, and k runs from 1 to n, as in (7) and (9), the other two "
        "families.",
        whose="implied",
        severity="constant",
        erratum=(
            "As k runs from 1, (8) sums to z, and every weight tends to 0 with z: write z^{k-1}, "
            "or let k run from 0. The q in (8) is the z of the text. (After the normalisation by "
            "the sum that section 3.2 announces the weights are right; the factor (z-1)/(z^n-1) "
            "is that normalisation, so it should be right by itself.) The text says that the "
            "trend to the worst client grows 'as z values rise'; with 0 < z < 1 and descending "
            "losses, as the next sentences fix it, it grows as z falls."
        ),
    ),
    Claim(
        id="pffl/eq-8/repaired",
        number="Eq. (8), Section 3.2.2",
        line=94,
        title="Geometric weights z^(k-1)(z-1)/(z^n-1) sum to one, tend to 1/n and to the worst "
        "client alone",
        printed=r"$p_k = \frac{q^k(q - 1)}{q^n - 1}$; $\lim_{z \rightarrow 1.0} p_k = 1/n$",
        statement=(
            r"For $0 < z < 1$, $k = 0, \dots, n-1$ on descending losses: $p_k = z^k (z-1)/(z^n - "
            r"1)$ sum to one; $p_k \to 1/n$ as $z \to 1$; $p_0 \to 1$ and all others $\to 0$ as "
            r"$z \to 0$."
        ),
        kind="identity",
        hypotheses=HYPOTHESES,
        scope="every n",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant("k from 1", "the index as in (7)", partial(_check_repaired, first=1)),
            Mutant("k from -1", "the index begins at -1", partial(_check_repaired, first=-1)),
        ),
    ),
)
