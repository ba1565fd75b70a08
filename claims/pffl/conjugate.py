"""The conjugate of a rank-weighted mean and its dual weights: majorisation."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore
from fairfl.theory.aggregation import RankWeighted

FAR = 10**6
"""How far along a direction of ascent one has to go to see that the supremum is infinite."""


def by_rank(w: list[Fraction], f: list[Fraction]) -> Fraction:
    """sum_k w_k F_[k]."""
    return sum((a * b for a, b in zip(w, sorted(f, reverse=True), strict=True)), Fraction(0))


def majorised(v: list[Fraction], w: list[Fraction], total: bool) -> bool:
    """The k largest v sum to at most w_1 + ... + w_k; and all, to w_1 + ... + w_n, where
    ``total``.
    """
    ranked = sorted(v, reverse=True)
    below = all(sum(ranked[:k]) <= sum(w[:k]) for k in range(1, len(w) + 1))
    return below and (not total or sum(v) == sum(w))


def case(instance: dict[str, Any], total: bool = True) -> Case:
    """f*(v) = sup v.F - f(F) is 0 where v is majorised by w, and infinite elsewhere; the code says
    the same.

    Fenchel's inequality at a drawn F; and where v is not majorised, an F at which v.F - f(F) is as
    large as one likes: along the indicators of the k largest v, or along (1, ..., 1) or its
    opposite.
    """
    w, v, f = ([Fraction(x) for x in instance[name]] for name in "wvF")
    n = len(w)
    inside = majorised(v, w, total)
    place = sorted(range(n), key=lambda i: -v[i])
    rays = [[Fraction(i in place[:k]) for i in range(n)] for k in range(1, n + 1)] + [
        [Fraction(-1)] * n
    ]
    gain = max(_dot(v, ray) - by_rank(w, ray) for ray in rays)
    weights = RankWeighted(weights=tuple(float(x) for x in w))
    found = weights.conjugate([float(x) for x in v]).item()
    relations = [Relation(found, "==", 0.0 if inside else float("inf"), "conjugate, as computed")]
    if np.isinf(found) and not inside:
        relations = [Relation(1, "<=", FAR * gain, "unbounded")]
    elif inside:
        relations.append(Relation(_dot(v, f), "<=", by_rank(w, f), "Fenchel"))
        relations.append(Relation(gain, "<=", 0, "no direction of ascent"))
    return Case(
        tuple(relations), {"weights": w == sorted(w, reverse=True) and min(w) >= 0 and sum(w) == 1}
    )


def dual(instance: dict[str, Any], worst: int = 0) -> Case:
    """The dual weights of F are majorised by w, and v.F = f(F): they attain the supremum over the
    permutahedron.
    """
    w, f = ([Fraction(x) for x in instance[name]] for name in "wF")
    weights = RankWeighted(weights=tuple(float(x) for x in w))
    v = weights.dual_weights([float(x) for x in f])
    caps = np.cumsum([float(x) for x in w])
    tops = np.cumsum(np.sort(v)[::-1])
    relations = [
        Relation(float(a), "<=", float(b), f"k = {k}")
        for k, (a, b) in enumerate(zip(tops, caps, strict=True))
    ]
    value = (
        float(np.sort(v)[::-1] @ np.sort([float(x) for x in f]))
        if worst
        else float(v @ [float(x) for x in f])
    )
    relations += [
        Relation(float(v.sum()), "==", 1.0, "sum"),
        Relation(value, "==", float(by_rank(w, f)), "attained"),
    ]
    return Case(
        tuple(relations), {"weights": w == sorted(w, reverse=True) and min(w) >= 0 and sum(w) == 1}
    )


@st.composite
def instances(draw: st.DrawFn) -> dict[str, Any]:
    """Weights in 1/24, dual points near and on the border of the permutahedron, or beyond; losses
    with ties.
    """
    n = draw(st.integers(1, 5))
    raw = sorted(
        draw(st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(any)), reverse=True
    )
    w = [Fraction(x, sum(raw)) for x in raw]
    mixed = [draw(st.integers(0, 3)) for _ in range(3)]
    parts = [draw(st.permutations(w)) for _ in range(3)]
    weight = sum(mixed) or 1
    v = [
        sum((m * p[i] for m, p in zip(mixed, parts, strict=True)), Fraction(0)) / weight
        for i in range(n)
    ]
    if draw(st.booleans()):
        v[draw(st.integers(0, n - 1))] += draw(
            st.sampled_from([Fraction(1, 24), Fraction(-1, 24), Fraction(1)])
        )
    losses = draw(
        st.lists(st.integers(-8, 8).map(lambda k: Fraction(k, 4)), min_size=n, max_size=n)
    )
    return {"w": w, "v": v, "F": losses}


def _check(effort: Effort, total: bool = True, worst: int = 0) -> Evidence:
    return Evidence.of(
        explore(Call.of(case, total=total), instances(), effort),
        explore(Call.of(dual, worst=worst), instances(), effort, tolerance=1e-12),
    )


def _dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


CLAIMS = (
    Claim(
        id="pffl/conjugate",
        number="Eq. (6) (the question is ours)",
        line=72,
        title=(
            "The conjugate is 0 on the vectors majorised by the weights, infinite elsewhere; "
            "dual weights are by rank"
        ),
        printed=r"$\min_w f_p(w) = \mathbf{p}^T \cdot \phi(\mathbf{F}(w))$",
        statement=(
            r"For $w_1 \ge \dots \ge w_n \ge 0$ with sum one and $f(F) = \sum_k w_k F_{[k]}$ on "
            r"$R^n$: $f^*(v) = 0$ if the $k$ largest $v_i$ sum to at most $w_1 + \dots + w_k$ "
            r"for every $k$, with equality for $k = n$; else $f^*(v) = \infty$. The weights by "
            r"rank, ties shared evenly, are such a $v$, and attain $f(F) = \max_v v^T F$."
        ),
        kind="identity",
        hypotheses=(("weights", "w_1 >= ... >= w_n >= 0 with sum one"),),
        scope="n <= 5, weights in fractions",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("no total", "sum v <= 1 in place of sum v = 1", partial(_check, total=False)),
            Mutant("turned", "the largest weight on the smallest loss", partial(_check, worst=1)),
        ),
        rests_on=("pffl/convexity",),
    ),
)
