"""The conjugate of a rank-weighted mean and its dual weights: majorisation."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore
from fairfl.theory.aggregation import RankWeighted

FAR = 10**6
"""How far along a direction of ascent one has to go to see that the supremum is infinite."""
RANKED = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition ranking (n : nat) (F : nat -> R) (s : list nat) : Prop :=
  Permutation s (seq 0 n)
  /\ forall k, (S k < n)%nat -> F (nth (S k) s 0%nat) <= F (nth k s 0%nat).
Definition rank_mean (w F : nat -> R) (s : list nat) : R :=
  sum (seq 0 (length s)) (fun k => w k * F (nth k s 0%nat)).
"""
MAJORISED = r"""
Definition majorised (n : nat) (w v : nat -> R) : Prop :=
  (forall c, NoDup c -> incl c (seq 0 n) -> sum c v <= sum (seq 0 (length c)) w)
  /\ sum (seq 0 n) v = sum (seq 0 n) w.
"""
BELOW = r"""
Theorem below : forall n w v F s, ranking n F s -> majorised n w v ->
  sum (seq 0 n) (fun i => v i * F i) <= rank_mean w F s.
"""
ATTAINED = r"""
Theorem attained : forall n w F s, (forall k, (S k < n)%nat -> w (S k) <= w k) -> ranking n F s ->
  exists v, majorised n w v /\ sum (seq 0 n) (fun i => v i * F i) = rank_mean w F s.
"""
EXCEEDED = r"""
Theorem exceeded : forall n w v c, NoDup c -> incl c (seq 0 n) ->
  sum (seq 0 (length c)) w < sum c v ->
  forall B, exists F s, ranking n F s /\ B < sum (seq 0 n) (fun i => v i * F i) - rank_mean w F s.
"""
OTHER_TOTAL = r"""
Theorem other_total : forall n w v, sum (seq 0 n) v <> sum (seq 0 n) w ->
  forall B, exists F s, ranking n F s /\ B < sum (seq 0 n) (fun i => v i * F i) - rank_mean w F s.
"""


ORDERED = "(forall k, (S k < n)%nat -> w (S k) <= w k) -> "


def by_rank(w: list[Fraction], f: list[Fraction]) -> Fraction:
    """sum_k w_k F_[k]."""
    return sum((a * b for a, b in zip(w, sorted(f, reverse=True), strict=True)), Fraction(0))


def majorised(v: list[Fraction], w: list[Fraction], total: bool, caps: Fraction) -> bool:
    """The k largest v sum to at most ``caps`` times w_1 + ... + w_k; and all, to w_1 + ... + w_n,
    where ``total``.
    """
    ranked = sorted(v, reverse=True)
    below = all(sum(ranked[:k]) <= caps * sum(w[:k]) for k in range(1, len(w) + 1))
    return below and (not total or sum(v) == sum(w))


def case(instance: dict[str, Any], total: bool = True, caps: Fraction = Fraction(1)) -> Case:
    """f*(v) = sup v.F - f(F) is 0 where v is majorised by w, and infinite elsewhere; the code says
    the same.

    Fenchel's inequality at a drawn F; and where v is not majorised, an F at which v.F - f(F) is as
    large as one likes: along the indicators of the k largest v, or along (1, ..., 1) or its
    opposite.
    """
    w, v, f = ([Fraction(x) for x in instance[name]] for name in "wvF")
    n = len(w)
    inside = majorised(v, w, total, caps)
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
    elif draw(st.booleans()):  # a hundredth moved between two entries of a vertex: just outside
        v = list(parts[0])
        move = min(w[0], Fraction(1)) / 100
        v[draw(st.integers(0, n - 1))] += move
        v[draw(st.integers(0, n - 1))] -= move
    losses = draw(
        st.lists(st.integers(-8, 8).map(lambda k: Fraction(k, 4)), min_size=n, max_size=n)
    )
    return {"w": w, "v": v, "F": losses}


def _check(
    effort: Effort, total: bool = True, caps: Fraction = Fraction(1), attained: str = ATTAINED
) -> Evidence:
    run = explore(Call.of(case, total=total, caps=caps), Call.of(instances), effort)
    theorems = RANKED + MAJORISED + BELOW + attained + EXCEEDED + OTHER_TOTAL
    return Evidence.of(KernelProof.of("permutahedron.v", theorems, run, axioms=REALS))


def _check_dual(effort: Effort, worst: int = 0) -> Evidence:
    return Evidence.of(
        explore(Call.of(dual, worst=worst), Call.of(instances), effort, tolerance=1e-12)
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
            r"rank are such a $v$, in whichever order ties are ranked, and attain "
            r"$f(F) = \max_v v^T F$ over the permutahedron."
        ),
        kind="identity",
        hypotheses=(("weights", "w_1 >= ... >= w_n >= 0 with sum one"),),
        scope="as stated",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("no total", "sum v <= 1 in place of sum v = 1", partial(_check, total=False)),
            Mutant("101 %", "caps 1 % too large", partial(_check, caps=Fraction(101, 100))),
            Mutant("99 %", "caps 1 % too small", partial(_check, caps=Fraction(99, 100))),
            Mutant(
                "any weights",
                "attained for weights of any order, in the theorem that is proved",
                partial(_check, attained=ATTAINED.replace(ORDERED, "")),
            ),
        ),
        whose="ours",
    ),
    Claim(
        id="pffl/dual-weights",
        number="Eq. (6) (the question is ours)",
        line=72,
        title="(ours) weights by rank, ties shared evenly, are dual weights as the code has them",
        printed=r"$\min_w f_p(w) = \mathbf{p}^T \cdot \phi(\mathbf{F}(w))$",
        statement=(
            r"The weights by rank, ties shared evenly, are majorised by $w$, and attain "
            r"$f(F) = \max_v v^T F$."
        ),
        kind="identity",
        hypotheses=(("weights", "w_1 >= ... >= w_n >= 0 with sum one"),),
        scope="n <= 5, weights in fractions; fairfl's RankWeighted",
        expected="holds",
        check=_check_dual,
        mutants=(
            Mutant(
                "turned", "the largest weight on the smallest loss", partial(_check_dual, worst=1)
            ),
        ),
        whose="ours",
    ),
)
