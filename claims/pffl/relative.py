"""The weights depend on the losses through their order alone."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore
from fairfl.theory.aggregation import RankWeighted

ORDER = r"""
Definition above (n : nat) (F : nat -> R) (i : nat) : nat :=
  length (filter (fun j => if Rlt_dec (F i) (F j) then true else false) (seq 0 n)).
Definition tied (n : nat) (F : nat -> R) (i : nat) : nat :=
  length (filter (fun j => if Req_EM_T (F i) (F j) then true else false) (seq 0 n)).
Definition weight (n : nat) (w : nat -> R) (F : nat -> R) (i : nat) : R :=
  fold_right (fun k s => w k + s) 0 (seq (above n F i) (tied n F i)) / INR (tied n F i).
Theorem relative : forall n w (D : R -> Prop) h F,
  (forall x y, D x -> D y -> x < y -> h x < h y) -> (forall j, In j (seq 0 n) -> D (F j)) ->
  forall i, In i (seq 0 n) -> weight n w (fun j => h (F j)) i = weight n w F i.
"""
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
}


def case(instance: dict[str, Any], scheme: str = "rank") -> Case:
    """The weight of each client before and after a strictly increasing transform of all losses (x
    >= 0).
    """
    losses = [Fraction(v) for v in instance["losses"]]
    moved = [TRANSFORMS[instance["transform"]](v) for v in losses]
    before, after = (weights(scheme, instance["profile"], f) for f in (losses, moved))
    return Case(
        tuple(
            Relation(a, "==", b, f"client {k}")
            for k, (a, b) in enumerate(zip(before, after, strict=True))
        ),
        {"losses": min(losses) >= 0},
    )


def weights(scheme: str, profile: str, losses: list[Fraction]) -> list[Any]:
    """By rank (tied clients share), or q-FFL's: proportional to the losses themselves."""
    if scheme == "rank":
        return PROFILES[profile].dual_weights([float(v) for v in losses]).tolist()
    total = sum(losses)
    return [v / total if total else Fraction(1, len(losses)) for v in losses]


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """Losses in quarters, with ties."""
    one = st.integers(0, 20).map(lambda k: Fraction(k, 4))
    return st.fixed_dictionaries(
        {
            "losses": st.lists(one, min_size=1, max_size=7),
            "transform": st.sampled_from(sorted(TRANSFORMS)),
            "profile": st.sampled_from(sorted(PROFILES)),
        }
    )


def _check(effort: Effort, scheme: str = "rank", proof: str = ORDER) -> Evidence:
    run = explore(Call.of(case, scheme=scheme), Call.of(instances), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("order.v", proof, run, axioms=REALS))


CLAIMS = (
    Claim(
        id="pffl/relative",
        number="Abstract, Section 3.1",
        line=14,
        title="The weights depend on the losses only through their order",
        printed="client loss functions are weighted solely on the basis of their position in the "
        "sorted order",
        statement=r"For every strictly increasing $h$, the weights at $(h(F_1), \dots, h(F_n))$ "
        r"are those at $F$.",
        kind="implication",
        hypotheses=(("losses", "F_i >= 0; h strictly increasing on [0, inf)"),),
        scope="as stated: any n, any weights, any h that increases; ties shared evenly",
        expected="holds",
        check=_check,
        mutants=(
            Mutant(
                "q-FFL's weights",
                "weights proportional to F_i, q-FFL with q = 1",
                partial(_check, scheme="q-FFL"),
            ),
            Mutant(
                "weakly increasing",
                "h need not be strict, in the theorem that is proved",
                partial(_check, proof=ORDER.replace("h x < h y", "h x <= h y")),
            ),
        ),
        reading="Tied clients share the weights of their ranks evenly; a sort that breaks ties "
        "by index would do too.",
    ),
)
