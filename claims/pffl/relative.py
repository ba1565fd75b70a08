"""The weights depend on the losses through their order alone."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, combinations
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Relation, drawn, proof
from fairfl.theory.aggregation import RankWeighted

PROFILES = {
    "gini": RankWeighted.gini(),
    "linear": RankWeighted.linear(),
    "geometric": RankWeighted.geometric(0.7),
    "harmonic": RankWeighted.harmonic(),
}


def case(instance: dict[str, Any], scheme: str = "rank", strict: bool = True) -> Case:
    """The weight of each client at losses F_i and at h(F_i), for an increasing h."""
    losses, images = instance["losses"], instance["images"]
    before, after = (weights(scheme, instance["profile"], f) for f in (losses, images))
    relations = (Relation(a, "==", b, "weight") for a, b in zip(before, after, strict=True))
    ends = combinations(sorted(zip(losses, images, strict=True)), 2)
    rises = all(
        u < v if strict and x < y else u == v or x < y and u <= v for (x, u), (y, v) in ends
    )
    return Case(tuple(relations), {"losses": min(losses) >= 0, "increasing": rises})


def weights(scheme: str, profile: str, losses: list[Fraction]) -> list[Any]:
    """By rank (tied clients share), or q-FFL's: proportional to the losses themselves."""
    if scheme == "rank":
        return PROFILES[profile].dual_weights([float(v) for v in losses]).tolist()
    total = sum(losses)
    return [v / total if total else Fraction(1, len(losses)) for v in losses]


@st.composite
def instances(draw: st.DrawFn, tied: bool = False) -> dict[str, Any]:
    """Losses in quarters, with ties, and what h makes of them; where ``tied``, of two neighbours
    the same.
    """
    quarters = st.integers(0, 20).map(lambda k: Fraction(k, 4))
    losses = draw(st.lists(quarters, min_size=1, max_size=7))
    levels = sorted(set(losses))
    steps = [Fraction(draw(st.integers(1, 9)), 3) for _ in levels]
    if tied:
        steps[draw(st.integers(0, len(levels) - 1))] = Fraction(0)
    h = dict(zip(levels, accumulate(steps), strict=True))
    profile = draw(st.sampled_from(sorted(PROFILES)))
    return {"losses": losses, "images": [h[v] for v in losses], "profile": profile}


CLAIMS = (
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
        check=proof("order.v", "relative", drawn(case, instances, tolerance=0.0)),
        mutants={
            "q-FFL's weights": (
                "weights proportional to F_i, q-FFL with q = 1",
                {"scheme": "q-FFL"},
            ),
            "one pair tied": ("two losses may become one", {"strict": False, "tied": True}),
        },
        reading="Tied clients share the weights of their ranks evenly; a sort that breaks ties by "
        "index would do too.",
    ),
)
