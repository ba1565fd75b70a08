"""Algorithm 3: the bound of its clipping, and whether clipping is fairer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Repaired
from fairfl.claims.dynamic.setting import HALF, dot
from fairfl.claims.forms import counterexample, definite, drawn, proof
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


def lead(g: list[Any], h: list[Any], bound: Any) -> Any:
    """The lead of v_2 over v_1 by the mean of their clipped updates, one curvature, in units of
    eta; ``bound`` in those of g and h.
    """
    mean = [HALF * (x + y) for x, y in zip(clip(g, bound), clip(h, bound), strict=True)]
    return dot([y - x for x, y in zip(g, h, strict=True)], mean)


def no_less_fair(instance: dict[str, Any]) -> Case:
    """Clipping does not raise the lead of v_2."""
    g, h, bound = instance["g"], instance["h"], instance["bound"]
    far = max(map(abs, [*g, *h]))
    return Case(
        (Relation(lead(g, h, bound), "<=", lead(g, h, far), "lead of v_2"),),
        {"order": dot(g, g) < dot(h, h)},
    )


def coordinate(factor: str = "1") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """``factor`` times FedAvg's part of the lead less that of clipping, of a coordinate with |x| <=
    g < y, times 2: x = m - g, y = g + s.

    (y - x)(x + y) - (y - x)(x + g); a negative y is the same with all signs turned.
    """
    m, rest = sympy.symbols("m r", nonnegative=True)
    s = sympy.symbols("s", positive=True)
    g = (m + rest) / 2  # x = m - g >= -g, and g - x = 2g - m = r >= 0
    x, y = m - g, g + s
    value = sympy.Rational(factor) * (y - x) * (x + y) - (y - x) * (x + g)
    return value, [rest * s, s**2]


CLAIMS = (
    Claim(
        "dynamic/algorithm-3-max",
        "Algorithm 3",
        310,
        "The largest coordinate of an update is a bound to clip at",
        printed=r"$LM : (w^{[0]}, ..., w^{[L-1]}) \rightarrow (max(w^{[0]}), ..., max(w^{[L-1]}))$ "
        r"is the function to compute the max value of model update at each layer, and $Clip_g$ "
        r"[...] is the function to clip the paramters at each layer with specified value, where "
        r"$threshold(w, \pm g)$ can limit $w$ with $\pm g$.",
        statement=r"$\max_j d_j \ge 0$, and limiting $d$ to $\pm \max_j d_j$ leaves it as it is.",
        kind="bound",
        scope="one layer of two parameters",
        whose="printed",
        severity="constant",
        check=counterexample(bounds, "update (-1, -2): LM is -1", {"update": [-1, -2]}),
        mutants={"max |d|": ("the largest absolute value", {"absolute": True})},
        erratum="Take max |w|: where all coordinates of a layer fall, the largest one is negative, "
        "and +-g bounds nothing.",
        repaired=Repaired(
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
    Claim(
        "dynamic/algorithm-3-fair",
        "Algorithm 3",
        302,
        "Clipping is no less fair than FedAvg",
        printed="We find that clipping can also improve the fairness via experiments. [...] we "
        "found that on the whole training stage, it is hard to argue that clipping can improve the "
        "fairness of the algorithm.",
        statement=r"If $\|g_1\| < \|g_2\|$ and the losses have one curvature, clipping both "
        r"updates does not raise the lead of $v_2$.",
        kind="bound",
        hypotheses={"order": "||g_1|| < ||g_2||"},
        scope="d = 3",
        whose="reading",
        severity="remark",
        check=counterexample(
            no_less_fair,
            "g_1 = (0, 0, 5/2), g_2 = (2, 2, 0), bound 2: the lead is 3/2, and 7/8 without it",
            {"g": [0, 0, Fraction(5, 2)], "h": [2, 2, 0], "bound": 2},
        ),
        mutants={"within the bound": ("g_1 = (0, 0, 2)", {"g": [0, 0, 2]})},
        reading="Section 4 says that clipping improves fairness, appendix B that it is hard to "
        "argue so. The stronger of the two is checked.",
        erratum="Clipping takes from single coordinates: where v_1 has a large one and v_2 many "
        "middling ones, it takes from v_1. It is fair where v_1's update stays within the bound.",
        repaired=Repaired(
            title="Clipping is no less fair than FedAvg where it leaves v_1's update as it is",
            statement=r"If $|g_{1,j}| \le g$ for all $j$ and the losses have one curvature, "
            r"clipping at $g$ lowers the lead of $v_2$ by $\frac{\eta}{2} (g_{2,j} - "
            r"g_{1,j})(g_{2,j} \mp g)$ for each $|g_{2,j}| > g$, which is positive.",
            hypotheses={},
            check=definite(coordinate, strict=True),
            mutants={"1 % less": ("0.99 of FedAvg's lead", {"factor": "99/100"})},
            notes="The bound is v_1's own last update, and its updates shrink: the hypothesis is "
            "what algorithm 3 aims at. It never grows either: a model that was at v_1's minimum "
            "does not move again.",
        ),
    ),
)
