"""Which orderings make p . phi(F) convex in the losses F: large weights on large losses, and no
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import permutations
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def coefficients(instance: dict[str, Any], turned: bool = False) -> Case:
    """For non-increasing weights the sum by rank is the largest over all assignments, so a maximum
    of linear functions.

    In the gaps g_i of the weights and h_j of the descending losses, sum_k w_k F_[k] - sum_k w_s(k)
    F_[k] has at g_i h_j the coefficient min(i, j) - #{k <= j: s(k) <= i}, for every permutation s.
    All must be non-negative.
    """
    n = instance["n"]
    relations = []
    for s in permutations(range(n)):
        rank = [n - 1 - k if turned else k for k in range(n)]
        least = min(coefficient(rank, s, i, j) for i in range(n) for j in range(n - 1))
        relations.append(Relation(0, "<=", least, f"s = {s}"))
    return Case(tuple(relations))


def coefficient(rank: Sequence[int], s: Sequence[int], i: int, j: int) -> int:
    """Of g_i h_j, for the weights by ``rank`` less those by ``s``; :func:`abel` has the sum."""
    return sum(rank[k] <= i for k in range(j + 1)) - sum(s[k] <= i for k in range(j + 1))


def by_rank(weights: list[Any], losses: list[int]) -> Any:
    """sum_k w_k F_[k]."""
    return sum(w * f for w, f in zip(weights, sorted(losses, reverse=True), strict=True))


def dent(n: int, step: int = 1) -> dict[str, sympy.Expr]:
    """Where w_k < w_(k+1) the function is not convex: twice its value at a midpoint exceeds the sum
    at the ends.

    The ends have 1 and -1 at places k and k+1 in either order, 2 before and -2 behind; in the
    middle both are 0. The excess is 2 (w_(k+1) - w_k), for each k: what is left of it.
    """
    w = list(sympy.symbols(f"w1:{n + 1}", real=True))
    found = {}
    for k in range(n - 1):
        one = [2] * k + [1, -1] + [-2] * (n - k - 2)
        two = [2] * k + [-1, 1] + [-2] * (n - k - 2)
        middle = [(a + b) // 2 for a, b in zip(one, two, strict=True)]
        excess = 2 * by_rank(w, middle) - by_rank(w, one) - by_rank(w, two)
        found[f"k = {k + 1}"] = excess - 2 * step * (w[k + 1] - w[k])
    return found


def abel(n: int, last: int = 1) -> dict[str, sympy.Expr]:
    """The expansion in gaps that ``coefficients`` relies on, for the permutation that turns the
    ranks round.
    """
    g = sympy.symbols(f"g1:{n + 1}", real=True)
    h = sympy.symbols(f"h1:{n + 1}", real=True)
    w = [sum(g[k:]) for k in range(n)]
    f = [sum(h[k:]) for k in range(n)]
    difference = sum(a * b for a, b in zip(w, f, strict=True)) - sum(
        a * b for a, b in zip(w[::-1], f, strict=True)
    )
    expansion = sympy.Integer(0)
    for i in range(n):
        for j in range(n):
            expansion += g[i] * h[j] * (coefficient(range(n), range(n)[::-1], i, j) + last - 1)
    return {"expansion": sympy.Add(difference, -expansion)}


def _check(effort: Effort, turned: bool = False, step: int = 1, last: int = 1) -> Evidence:
    most = effort.pick(5, 7)
    point = {
        **{f"w{k}": f"{k * k + 1}/3" for k in range(1, 9)},
        **{f"{c}{k}": f"{k + 2}/5" for c in "gh" for k in range(9)},
    }
    sizes = range(2, most + 1)
    return Evidence.of(
        *(
            Witness.at(Call.of(coefficients, turned=turned), f"all permutations of {n} ranks", n=n)
            for n in sizes
        ),
        *(SymbolicZero(Call.of(abel, n=n, last=last), "expand", (point,)) for n in sizes),
        *(SymbolicZero(Call.of(dent, n=n, step=step), "expand", (point,)) for n in sizes),
    )


CLAIMS = (
    Claim(
        id="pffl/convexity",
        number="Eq. (6) (the question is ours)",
        line=72,
        title="The objective is convex in the losses iff the weights do not increase on "
        "descending losses",
        printed=r"$\min_w f_p(w) = \mathbf{p}^T \cdot \phi(\mathbf{F}(w))$",
        statement=(
            r"For weights $w_k$ on descending losses, $F \mapsto \sum_k w_k F_{[k]}$ is convex "
            r"on $R^n$ iff $w_1 \ge \dots \ge w_n$. Then it is the maximum of $\sum_k w_{s(k)} "
            r"F_k$ over all permutations $s$; where $w_k < w_{k+1}$, two points and their "
            r"midpoint break convexity by $w_{k+1} - w_k$."
        ),
        kind="equivalence",
        hypotheses=(),
        scope="n <= 5 (deep: 7), all permutations",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("turned", "non-decreasing weights", partial(_check, turned=True)),
            Mutant("twice the dent", "the excess at the midpoint doubled", partial(_check, step=2)),
            Mutant(
                "another coefficient", "min(i, j) + 1 in the expansion", partial(_check, last=2)
            ),
        ),
        notes=(
            "So p-FFL's problem is convex in the model for convex losses that are non-negatively "
            "weighted in this order. The order that section 2.3 prescribes for (6) is the one "
            "that is not convex: see pffl/sort-order. The coefficient of g_i h_j is min(i, j) "
            "less the size of an intersection of sets of i and j elements: non-negative for "
            "every n."
        ),
    ),
)
