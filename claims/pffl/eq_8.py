"""Equation (8): geometric weights, and the index at which they must begin to sum to one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, counterexample, every, identity


def case(instance: dict[str, Any], first: int = 1) -> Case:
    """The weights z^k (z-1)/(z^n-1), n values of k from ``first`` on, decrease and sum to one."""
    z, n = instance["z"], instance["n"]
    p = [z**k * (z - 1) / (z**n - 1) for k in range(first, first + n)]
    ordered = tuple(Relation(b, "<", a, "decreasing") for a, b in zip(p, p[1:], strict=False))
    return Case((Relation(sum(p), "==", 1, "sum"), *ordered), {"term": 0 < z < 1})


def residuals(first: int = 0) -> dict[str, Any]:
    """By induction over n: S_n = z^first (z^n - 1)/(z - 1) is the sum of z^k over n values of k
    from ``first`` on.

    S_0 = 0 and S_(n+1) - S_n = z^(first+n); and S_n (z-1)/(z^n-1) = 1.
    """
    z, n = sympy.symbols("z n", positive=True)

    def total(m: Any) -> Any:
        return z**first * (z**m - 1) / (z - 1)

    return {
        "start": total(sympy.Integer(0)),
        "step": total(n + 1) - total(n) - z ** (first + n),
        "sum of the weights less one": total(n) * (z - 1) / (z**n - 1) - 1,
    }


def limits(first: int = 0) -> dict[str, Any]:
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


CLAIMS = (
    Claim(
        "pffl/eq-8",
        94,
        "Geometric weights sum to one, tend to 1/n as z -> 1, and to the worst client alone as z "
        "-> 0",
        number="Eq. (8), Section 3.2.2",
        printed=r"$p_k = \frac{q^k(q - 1)}{q^n - 1}$; $\lim_{z \rightarrow 1.0} p_k = 1/n$",
        statement=r"For $0 < z < 1$, $k = 1, \dots, n$: $p_k = z^k (z-1)/(z^n - 1)$ sum to one.",
        kind="identity",
        hypotheses={"term": "0 < z < 1; the losses are sorted in descending order"},
        scope="every n",
        whose="implied",
        severity="constant",
        check=counterexample(
            case,
            "one client, z = 1/2: its weight is 1/2, not 1; for any n and k = 1..n the sum is z",
            {"z": Fraction(1, 2), "n": 1},
        ),
        mutants={"k from 0": ("the index runs over 0..n-1: the sum is one", {"first": 0})},
        reading="q is z throughout, and k runs from 1 to n, as in (7) and (9), the other two "
        "families.",
        erratum="As k runs from 1, (8) sums to z, and every weight tends to 0 with z: write "
        "z^{k-1}, or let k run from 0. The q in (8) is the z of the text. (After the normalisation "
        "by the sum that section 3.2 announces the weights are right; the factor (z-1)/(z^n-1) is "
        "that normalisation, so it should be right by itself.) The text says that the trend to the "
        "worst client grows 'as z values rise'; with 0 < z < 1 and descending losses, as the next "
        "sentences fix it, it grows as z falls.",
        repaired=dict(
            title="Geometric weights z^(k-1)(z-1)/(z^n-1) sum to one, tend to 1/n and to the worst "
            "client alone",
            statement=r"For $0 < z < 1$, $k = 0, \dots, n-1$ on descending losses: $p_k = z^k "
            r"(z-1)/(z^n - 1)$ sum to one; $p_k \to 1/n$ as $z \to 1$; $p_0 \to 1$ and all others "
            r"$\to 0$ as $z \to 0$.",
            scope="every n",
            check=every(
                identity(residuals, {"z": "1/3", "n": "4"}, method="simplify"),
                identity(limits, {"n": "3"}, method="simplify"),
            ),
            mutants={
                "k from 1": ("the index as in (7)", {"first": 1}),
                "k from -1": ("the index begins at -1", {"first": -1}),
            },
        ),
    ),
)
