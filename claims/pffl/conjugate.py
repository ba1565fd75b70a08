"""The conjugate of a rank-weighted mean and its dual weights: majorisation."""

from fractions import Fraction

from hypothesis import strategies as st

from fairfl.claims.exact import Instance, dot
from fairfl.claims.forms import Case, Claim, Relation, drawn, proof
from fairfl.claims.pffl.rank_weights import by_rank


def case(instance: Instance, total: bool = True, caps: Fraction = Fraction(1)) -> Case:
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
def instances(draw: st.DrawFn) -> Instance:
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
        "pffl/conjugate",
        72,
        "The conjugate is 0 on the vectors majorised by the weights, infinite elsewhere; dual "
        "weights are by rank",
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
            drawn(case, instances, tolerance=0.0, moved="w v F"),
        ),
        mutants={
            "no total": ("sum v <= 1 in place of sum v = 1", {"total": False}),
            "100.1 %": ("caps 0.1 % too large", {"caps": "1001/1000"}),
            "99.9 %": ("caps 0.1 % too small", {"caps": "999/1000"}),
        },
    ),
)
