"""Algorithm 3: the bound of its clipping."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Relation, counterexample, drawn, proof
from fairfl.theory.bounds.updates import clip_bound, clipped_update


def clip(v: list[Any], bound: Any) -> list[Any]:
    """Each coordinate within [-bound, bound]."""
    return [max(-bound, min(bound, x)) for x in v]


def bounds(instance: dict[str, Any], absolute: bool = False, share: Fraction = Fraction(1)) -> Case:
    """LM of an update is a bound: at least 0, and clipping at ``share`` of it leaves the update as
    it is.
    """
    update = instance["update"]
    bound = share * (max(map(abs, update)) if absolute else max(update))
    relations = [Relation(0, "<=", bound, "bound")]
    if bound >= 0:
        pairs = zip(clip(update, bound), update, strict=True)
        relations += [Relation(a, "==", b, f"coordinate {k}") for k, (a, b) in enumerate(pairs)]
    return Case(tuple(relations))


def by_library(instance: dict[str, Any], variant: str = "repaired") -> Case:
    """The same by the library."""
    update = [float(x) for x in instance["update"]]
    bound = float(clip_bound(update, variant=variant)[0])
    left = clipped_update(update, max(bound, 0.0)).tolist()
    pairs = zip(left, update, strict=True)
    return Case((Relation(0.0, "<=", bound), *(Relation(a, "==", b) for a, b in pairs)))


def updates() -> st.SearchStrategy[dict[str, Any]]:
    """Updates in quarters, of either sign."""
    quarter = st.integers(-12, 12).map(lambda k: Fraction(k, 4))
    return st.fixed_dictionaries({"update": st.lists(quarter, min_size=1, max_size=4)})


CLAIMS = (
    Claim(
        "dynamic/algorithm-3-max",
        310,
        "The largest coordinate of an update is a bound to clip at",
        printed=r"$LM : (w^{[0]}, ..., w^{[L-1]}) \rightarrow (max(w^{[0]}), ..., max(w^{[L-1]}))$ "
        r"is the function to compute the max value of model update at each layer, and $Clip_g$ "
        r"[...] is the function to clip the paramters at each layer with specified value, where "
        r"$threshold(w, \pm g)$ can limit $w$ with $\pm g$.",
        statement=r"$\max_j d_j \ge 0$, and limiting $d$ to $\pm \max_j d_j$ leaves it as it is.",
        kind="bound",
        scope="one layer of two parameters",
        severity="constant",
        check=counterexample(bounds, "update (-1, -2): LM is -1", {"update": [-1, -2]}),
        mutants={"max |d|": ("the largest absolute value", {"absolute": True})},
        erratum="Take max |w|: where all coordinates of a layer fall, the largest one is negative, "
        "and +-g bounds nothing.",
        repaired=dict(
            title="The largest absolute coordinate of an update is a bound to clip at",
            statement=r"$\max_j |d_j| \ge 0$, and limiting $d$ to it leaves $d$ as it is.",
            scope="as stated, any number of parameters",
            check=proof(
                "clip.v",
                "unchanged",
                drawn(bounds, updates, tolerance=0.0, absolute=True),
                drawn(by_library, updates, tolerance=0.0),
            ),
            mutants={
                "max d": ("as printed", {"absolute": False}),
                "99 %": ("0.99 times the largest", {"share": Fraction(99, 100)}),
                "the library": ("its printed form", {"variant": "printed"}),
            },
        ),
    ),
)
