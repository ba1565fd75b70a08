"""Which orderings make p . phi(F) convex in the losses F: large weights on large losses, and no
other.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Relation, drawn, every, identity, proof


def by_rank(weights: list[Any], losses: list[Any]) -> Any:
    """sum_k w_k F_[k]."""
    return sum(w * f for w, f in zip(weights, sorted(losses, reverse=True), strict=True))


def midpoint(instance: dict[str, Any], turned: bool = False) -> Case:
    """At a midpoint the function is at most the mean of its values at the ends."""
    w, one, two = instance["w"], instance["one"], instance["two"]
    middle = [(a + b) / 2 for a, b in zip(one, two, strict=True)]
    weights = sorted(w, reverse=not turned)
    ends = by_rank(weights, one) + by_rank(weights, two)
    return Case((Relation(2 * by_rank(weights, middle), "<=", ends, "midpoint"),))


@st.composite
def ends(draw: st.DrawFn) -> dict[str, Any]:
    """Weights, and two vectors of losses of any sign."""
    n, one = draw(st.integers(1, 6)), st.integers(-12, 12).map(lambda k: Fraction(k, 4))
    return {key: [draw(one) for _ in range(n)] for key in ("w", "one", "two")}


def dent(n: int, step: int = 1) -> dict[str, Any]:
    """Where w_k < w_(k+1) the function is not convex: twice its value at a midpoint exceeds the sum
    at the ends.

    The ends have 1 and -1 at places k and k+1 in either order, 2 before and -2 behind; in the
    middle both are 0. The excess is 2 (w_(k+1) - w_k), for each k: what is left of it.
    """
    w = list(sympy.symbols(f"w1:{n + 1}", real=True))
    found = {}
    for k in range(n - 1):
        one, two, middle = (
            [2] * k + pair + [-2] * (n - k - 2) for pair in ([1, -1], [-1, 1], [0, 0])
        )
        excess = 2 * by_rank(w, middle) - by_rank(w, one) - by_rank(w, two)
        found[f"k = {k + 1}"] = excess - 2 * step * (w[k + 1] - w[k])
    return found


CLAIMS = (
    Claim(
        "pffl/convexity",
        72,
        "The objective is convex in the losses iff the weights do not increase on descending "
        "losses",
        number="Eq. (6) (the question is ours)",
        printed=r"$\min_w f_p(w) = \mathbf{p}^T \cdot \phi(\mathbf{F}(w))$",
        statement=r"For weights $w_k$ on descending losses, $F \mapsto \sum_k w_k F_{[k]}$ is "
        r"convex on $R^n$ iff $w_1 \ge \dots \ge w_n$. Then it is the maximum of $v^T F$ over the "
        r"$v$ that $w$ majorises; where $w_k < w_{k+1}$, two points and their midpoint break "
        r"convexity by $w_{k+1} - w_k$.",
        kind="equivalence",
        scope="convex for every n; no other weights for n <= 7",
        size="n <= 7",
        whose="ours",
        check=every(
            proof("permutahedron.v", "below attained", drawn(midpoint, ends, tolerance=0.0)),
            *(identity(dent, method="expand", n=n) for n in range(2, 8)),
        ),
        mutants={
            "turned": ("non-decreasing weights", {"turned": True}),
            "twice the dent": ("the excess at the midpoint doubled", {"step": 2}),
        },
        notes="A maximum of linear functions is convex. So p-FFL's problem is convex in the model "
        "for convex losses that are non-negatively weighted in this order. The order that section "
        "2.3 prescribes for (6) is the one that is not convex: see pffl/sort-order.",
    ),
)
