"""The weights depend on the losses through their order alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim
from fairfl.claims.forms import drawn, proof
from fairfl.theory.aggregation import RankWeighted

PROFILES = {
    "gini": RankWeighted.gini(),
    "linear": RankWeighted.linear(),
    "geometric": RankWeighted.geometric(0.7),
    "harmonic": RankWeighted.harmonic(),
}
TRANSFORMS = {
    "affine": lambda x: 3 * x + 1,
    "square": lambda x: x * x,
    "cube": lambda x: x**3,
    "reciprocal": lambda x: -1 / (1 + x),
    "flat": lambda x: min(x, Fraction(1)),
}
INCREASING = ("affine", "cube", "reciprocal", "square")


def case(instance: dict[str, Any], scheme: str = "rank") -> Case:
    """The weight of each client before and after a strictly increasing transform of all losses (x
    >= 0).
    """
    losses = instance["losses"]
    moved = [TRANSFORMS[instance["transform"]](v) for v in losses]
    before, after = (weights(scheme, instance["profile"], f) for f in (losses, moved))
    relations = (Relation(a, "==", b, "weight") for a, b in zip(before, after, strict=True))
    return Case(tuple(relations), {"losses": min(losses) >= 0})


def weights(scheme: str, profile: str, losses: list[Fraction]) -> list[Any]:
    """By rank (tied clients share), or q-FFL's: proportional to the losses themselves."""
    if scheme == "rank":
        return PROFILES[profile].dual_weights([float(v) for v in losses]).tolist()
    total = sum(losses)
    return [v / total if total else Fraction(1, len(losses)) for v in losses]


def instances(transforms: Sequence[str] = INCREASING) -> st.SearchStrategy[dict[str, Any]]:
    """Losses in quarters, with ties."""
    one = st.integers(0, 20).map(lambda k: Fraction(k, 4))
    return st.fixed_dictionaries(
        {
            "losses": st.lists(one, min_size=1, max_size=7),
            "transform": st.sampled_from(transforms),
            "profile": st.sampled_from(sorted(PROFILES)),
        }
    )


CLAIMS = (
    Claim(
        "pffl/relative",
        "Abstract, Section 3.1",
        14,
        "The weights depend on the losses only through their order",
        printed="client loss functions are weighted solely on the basis of their position in the "
        "sorted order",
        statement=r"For every strictly increasing $h$, the weights at $(h(F_1), \dots, h(F_n))$ "
        r"are those at $F$.",
        kind="implication",
        hypotheses={"losses": "F_i >= 0; h strictly increasing on [0, inf)"},
        scope="as stated: any n, any weights, any h that increases; ties shared evenly",
        whose="printed",
        check=proof("order.v", "relative", drawn(case, instances, tolerance=0.0)),
        mutants={
            "q-FFL's weights": (
                "weights proportional to F_i, q-FFL with q = 1",
                {"scheme": "q-FFL"},
            ),
            "weakly increasing": ("h need not be strict", {"transforms": ["flat"]}),
        },
        reading="Tied clients share the weights of their ranks evenly; a sort that breaks ties by "
        "index would do too.",
    ),
)
