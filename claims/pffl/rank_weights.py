"""Equations (3), (4), (6): the Gini index, weights by rank, convexity, and the conjugate."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.exact import Instance, dot
from fairfl.claims.forms import Case, Claim, Relation, exactly, proof
from fairfl.theory.aggregation import RankWeighted


def case(
    instance: Instance, offset: int = -1, span: Fraction = Fraction(1), power: int = 2
) -> Case:
    """(3) in fractions compared with the sum over pairs, and its range, for one utility vector."""
    u = instance["u"]
    n, total = len(u), sum(u, Fraction(0))
    ranked = enumerate(sorted(u, reverse=True), start=1)
    index = 1 - Fraction(1, n**power) * sum((2 * i + offset) * v for i, v in ranked) / (total / n)
    pairs = sum((abs(a - b) for a in u for b in u), Fraction(0)) / (2 * n * total)
    relations = (
        Relation(index, "==", pairs, "half the relative mean absolute difference"),
        Relation(0, "<=", index, "at least 0"),
        Relation(index, "<=", 1 - span / n, "at most 1 - 1/n"),
    )
    return Case(relations, {"utilities": min(u) >= 0 and total > 0})


def utilities() -> st.SearchStrategy[Instance]:
    """Non-negative vectors with a positive value, ties and zeros among them."""
    quarter = st.integers(0, 12).map(lambda k: Fraction(k, 4))
    return st.lists(quarter, min_size=1, max_size=6).filter(any).map(lambda u: {"u": u})


PROFILES = {
    "gini": RankWeighted.gini(),
    "linear": RankWeighted.linear(),
    "geometric": RankWeighted.geometric(0.7),
    "harmonic": RankWeighted.harmonic(),
}


def kept_order(instance: Instance, scheme: str = "rank", strict: bool = True) -> Case:
    """The weight of each client at losses F_i and at h(F_i), for an increasing h."""
    losses, images = instance["losses"], instance["images"]
    before, after = (weights(scheme, instance["profile"], f) for f in (losses, images))
    relations = (Relation(a, "==", b, "weight") for a, b in zip(before, after, strict=True))
    ends = combinations(sorted(zip(losses, images, strict=True)), 2)
    is_increasing = all(
        u < v if strict and x < y else u == v or x < y and u <= v for (x, u), (y, v) in ends
    )
    return Case(tuple(relations), {"losses": min(losses) >= 0, "increasing": is_increasing})


def weights(scheme: str, profile: str, losses: list[Fraction]) -> list[float] | list[Fraction]:
    """By rank (tied clients share), or q-FFL's: proportional to the losses themselves."""
    if scheme == "rank":
        return PROFILES[profile].dual_weights([float(v) for v in losses]).tolist()
    total = sum(losses)
    return [v / total if total else Fraction(1, len(losses)) for v in losses]


@st.composite
def instances(draw: st.DrawFn, tied: bool = False) -> Instance:
    """Losses in quarters, with ties, and their images under h; ``tied``: two have one image."""
    quarters = st.integers(0, 20).map(lambda k: Fraction(k, 4))
    losses = draw(st.lists(quarters, min_size=1, max_size=7))
    levels = sorted(set(losses))
    steps = [Fraction(draw(st.integers(1, 9)), 3) for _ in levels]
    if tied:
        steps[draw(st.integers(0, len(levels) - 1))] = Fraction(0)
    h = dict(zip(levels, accumulate(steps), strict=True))
    profile = draw(st.sampled_from(sorted(PROFILES)))
    return {"losses": losses, "images": [h[v] for v in losses], "profile": profile}


def by_rank(weights: Sequence[Fraction], losses: Sequence[int | Fraction]) -> Fraction:
    """sum_k w_k F_[k]."""
    return dot(weights, sorted(losses, reverse=True))


def midpoint(instance: Instance, turned: bool = False, step: int = 1) -> Case:
    """For sorted weights the function is at most the mean of its values at two ends, at their
    midpoint; where w_k < w_(k+1), as the weights are drawn, it exceeds that by w_(k+1) - w_k.

    The ends have 1 and -1 at places k and k+1 in either order, 2 before and -2 after them.
    """

    def excess(weights: list[Fraction], first: list[Any], second: list[Any]) -> Fraction:
        middle = [Fraction(a + b) / 2 for a, b in zip(first, second, strict=True)]
        return 2 * by_rank(weights, middle) - by_rank(weights, first) - by_rank(weights, second)

    w = instance["w"]
    in_order = sorted(w, reverse=not turned)
    relations = [Relation(excess(in_order, instance["one"], instance["two"]), "<=", 0, "midpoint")]
    for k, (weight, following) in enumerate(zip(w, w[1:], strict=False)):
        before, after = [2] * k, [-2] * (len(w) - k - 2)
        dent = excess(w, [*before, 1, -1, *after], [*before, -1, 1, *after])
        relations.append(Relation(dent, "==", 2 * step * (following - weight), "dent"))
    return Case(tuple(relations))


@st.composite
def ends(draw: st.DrawFn) -> Instance:
    """Weights, and two vectors of losses of any sign."""
    n, quarter = draw(st.integers(1, 6)), st.integers(-12, 12).map(lambda k: Fraction(k, 4))
    return {key: [draw(quarter) for _ in range(n)] for key in ("w", "one", "two")}


def majorised(instance: Instance, total: bool = True, caps: Fraction = Fraction(1)) -> Case:
    """f*(v) = sup v.F - f(F) is 0 where v is majorised by w, and infinite elsewhere. Majorised: the
    k largest sum to at most ``caps`` times w_1 + ... + w_k, and all of them to w_1 + ... + w_n (if
    ``total``).

    Fenchel's inequality at a drawn F; and where v is not majorised, a ray along which v.F - f(F),
    linear there, grows: the indicator of the k largest v, (1, ..., 1) or its opposite.
    """
    w, v, f = instance["w"], instance["v"], instance["F"]
    n, ranked = len(w), sorted(v, reverse=True)
    is_majorised = all(sum(ranked[:k]) <= caps * sum(w[:k]) for k in range(1, n + 1))
    is_majorised &= not total or sum(v) == sum(w)
    ranking = sorted(range(n), key=lambda i: -v[i])
    rays = [[int(i in ranking[:k]) for i in range(n)] for k in range(1, n + 1)] + [[-1] * n]
    gain = max(dot(v, ray) - by_rank(w, ray) for ray in rays)
    relations = (Relation(0, "<", gain, "unbounded"),)
    if is_majorised:
        relations = (
            Relation(dot(v, f), "<=", by_rank(w, f), "Fenchel"),
            Relation(gain, "<=", 0, "no direction of ascent"),
        )
    weights = w == sorted(w, reverse=True) and min(w) >= 0 and sum(w) == 1
    return Case(relations, {"weights": weights})


@st.composite
def near_permutahedron(draw: st.DrawFn) -> Instance:
    """Weights, dual points near the border of the permutahedron, or beyond; losses with ties."""
    n = draw(st.integers(1, 5))
    vector = st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(any)
    raw = sorted(draw(vector), reverse=True)
    w = [Fraction(x, sum(raw)) for x in raw]
    coefficients = [draw(st.integers(0, 3)) for _ in range(3)]
    parts = [draw(st.permutations(w)) for _ in range(3)]
    weight = sum(coefficients) or 1
    v = [dot(coefficients, [p[i] for p in parts]) / weight for i in range(n)]
    index = st.integers(0, n - 1)
    if draw(st.booleans()):
        v[draw(index)] += Fraction(draw(st.sampled_from(["1/24", "-1/24", "1"])))
    elif draw(st.booleans()):  # move a little between two entries of a vertex: just outside
        v = list(parts[0])
        v[draw(index)] += w[0] / 10_000
        v[draw(index)] -= w[0] / 10_000
    quarters = st.integers(-8, 8).map(lambda k: Fraction(k, 4))
    return {"w": w, "v": v, "F": draw(st.lists(quarters, min_size=n, max_size=n))}


CLAIMS = (
    Claim(
        "pffl/eq-3",
        50,
        "The Gini index is one less a rank-weighted sum over the mean, 0 for equal values",
        number="Eqs. (3), (4)",
        printed=r"$I(\mathbf{u}) = 1 - \frac{1}{n^2} \left( \frac{\sum_1^n (2i - 1) "
        r"\phi(\mathbf{u})_i}{\mu(\mathbf{u})} \right)$, $\phi$ descending; all elements equal: "
        r"$I(\mathbf{u}) = 1 - \mu/\mu = 0$.",
        statement=r"For $u \ge 0$, $u \ne 0$: $1 - \frac{1}{n^2 \mu}\sum_{i=1}^n (2i-1) u_{[i]} = "
        r"\frac{1}{2 n^2 \mu} \sum_{i,j} |u_i - u_j|$, where $u_{[1]} \ge \dots \ge u_{[n]}$; "
        r"hence $0 \le I \le 1 - 1/n$, and $I = 0$ iff all are equal.",
        kind="identity",
        hypotheses={
            "utilities": "u_i >= 0, and not all are 0 (the paper says any vector; mu = 0 divides "
            "by zero)"
        },
        scope="every n",
        check=proof("gini.v", "by_rank", exactly(case, utilities, moved="u")),
        mutants={
            "2i for 2i-1": ("the first n even numbers for the odd ones", {"offset": 0}),
            "below 1 - 1.01/n": ("a smaller range", {"span": "101/100"}),
            "n for n^2": ("n in front of the sum", {"power": 1}),
        },
        reading="The paper admits any vector in R^n. Where the mean is negative, so is the index "
        "of differing values, and for a mean of 0 it is undefined; the verdict is for u >= 0.",
    ),
    Claim(
        "pffl/relative",
        14,
        "The weights depend on the losses only through their order",
        number="Abstract, Section 3.1",
        printed="client loss functions are weighted solely on the basis of their position in the "
        "sorted order",
        statement=r"For every strictly increasing $h$, the weights at $(h(F_1), \dots, h(F_n))$ "
        r"are those at $F$.",
        kind="implication",
        hypotheses={"losses": "F_i >= 0", "increasing": "h strictly increasing on [0, inf)"},
        scope="as stated: any n, any weights, any h that increases; ties shared evenly",
        check=proof("order.v", "relative", exactly(kept_order, instances, moved="losses images")),
        mutants={
            "q-FFL's weights": ("proportional to F_i, q-FFL with q = 1", {"scheme": "q-FFL"}),
            "one pair tied": ("two losses may become one", {"strict": False, "tied": True}),
        },
        reading="Tied clients share their ranks' weights; breaking ties by index would do too.",
    ),
    Claim(
        "pffl/convexity",
        72,
        "The objective is convex iff the weights do not increase on descending losses",
        number="Eq. (6) (the question is ours)",
        printed=r"$\min_w f_p(w) = \mathbf{p}^T \cdot \phi(\mathbf{F}(w))$",
        statement=r"For weights $w_k$ on descending losses, $F \mapsto \sum_k w_k F_{[k]}$ is "
        r"convex on $R^n$ iff $w_1 \ge \dots \ge w_n$. Then it is the maximum of $v^T F$ over the "
        r"$v$ that $w$ majorises; where $w_k < w_{k+1}$, two points and their midpoint break "
        r"convexity by $w_{k+1} - w_k$.",
        kind="equivalence",
        scope="every n",
        whose="ours",
        check=proof(
            "permutahedron.v", "below attained", exactly(midpoint, ends, moved="w one two")
        ),
        mutants={
            "turned": ("non-decreasing weights", {"turned": True}),
            "twice the dent": ("the excess at the midpoint doubled", {"step": 2}),
        },
        notes="A maximum of linear functions is convex. So p-FFL's problem is convex in the model "
        "for convex losses that are non-negatively weighted in this order. The order that section "
        "2.3 prescribes for (6) is the one that is not convex: see pffl/sort-order.",
    ),
    Claim(
        "pffl/conjugate",
        72,
        "The conjugate is 0 where the weights majorise, else infinite; dual weights are by rank",
        number="Eq. (6) (the question is ours)",
        printed=r"$\min_w f_p(w) = \mathbf{p}^T \cdot \phi(\mathbf{F}(w))$",
        statement=r"For $w_1 \ge \dots \ge w_n \ge 0$ with sum one and $f(F) = \sum_k w_k F_{[k]}$ "
        r"on $R^n$: $f^*(v) = 0$ if the $k$ largest $v_i$ sum to at most $w_1 + \dots + w_k$ for "
        r"every $k$, with equality for $k = n$; else $f^*(v) = \infty$. The weights by rank are "
        r"such a $v$, in whichever order ties are ranked, and attain $f(F) = \max_v v^T F$ over "
        r"the permutahedron.",
        kind="identity",
        hypotheses={"weights": "w_1 >= ... >= w_n >= 0 with sum one"},
        whose="ours",
        check=proof(
            "permutahedron.v",
            "below attained exceeded other_total",
            exactly(majorised, near_permutahedron, moved="w v F"),
        ),
        mutants={
            "no total": ("sum v <= 1 in place of sum v = 1", {"total": False}),
            "100.1 %": ("caps 0.1 % too large", {"caps": "1001/1000"}),
            "99.9 %": ("caps 0.1 % too small", {"caps": "999/1000"}),
        },
    ),
)
