"""Algorithm 3: the bound of its clipping, whether clipping is fairer, and what becomes of it
later.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, DefiniteForm, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.dynamic.setting import HALF, dot
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore
from fairfl.theory.bounds.updates import clip_bound, clipped_update

UNCHANGED = r"""
Definition largest (d : list R) : R := fold_right (fun x m => Rmax (Rabs x) m) 0 d.
Definition limit (bound x : R) : R := Rmax (- bound) (Rmin bound x).
Theorem unchanged : forall d, 0 <= largest d /\ map (limit (largest d)) d = d.
"""


def clip(v: list[Any], bound: Any) -> list[Any]:
    """Each coordinate within [-bound, bound]."""
    return [max(-bound, min(bound, x)) for x in v]


def bounds(instance: dict[str, Any], absolute: bool = False) -> Case:
    """LM of an update is a bound: at least 0, and clipping at it leaves the update as it is."""
    update = [Fraction(x) for x in instance["update"]]
    bound = max(map(abs, update)) if absolute else max(update)
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


def lead(g: list[Any], h: list[Any], bound: Any) -> Any:
    """The lead of v_2 over v_1 by the mean of their clipped updates, one curvature, in units of
    eta; ``bound`` in those of g and h.
    """
    mean = [HALF * (x + y) for x, y in zip(clip(g, bound), clip(h, bound), strict=True)]
    return dot([y - x for x, y in zip(g, h, strict=True)], mean)


def no_less_fair(instance: dict[str, Any], inside: bool = False) -> Case:
    """Clipping does not raise the lead of v_2; ``inside``: where v_1's update is within the
    bound.
    """
    g, h = ([Fraction(x) for x in instance[name]] for name in "gh")
    bound = Fraction(instance["bound"])
    premises = {"order": dot(g, g) < dot(h, h)}
    if inside:
        premises = {"inside": max(map(abs, g)) <= bound}
    far = max(map(abs, [*g, *h]))
    return Case((Relation(lead(g, h, bound), "<=", lead(g, h, far), "lead of v_2"),), premises)


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


def alike_later(instance: dict[str, Any]) -> Case:
    """Twenty rounds after t_2 algorithm 3 is within 1/100 of FedAvg: L_1 = w^2/2, L_2 = (w-1)^2/2,
    eta = 1/2, v_1 trained from w = 1 for ``alone`` rounds, the bound that of its last update.
    """
    half = Fraction(1, 2)
    start = half ** instance["alone"]
    bound = start  # the last update: from 2 start to start
    clipped = plain = start
    for _ in range(20):
        plain = plain - half * (plain + (plain - 1)) / 2
        steps = clip([half * clipped, half * (clipped - 1)], bound)
        clipped = clipped - sum(steps) / 2
    return Case((Relation(abs(clipped - plain), "<=", Fraction(1, 100), "distance"),))


def updates() -> st.SearchStrategy[dict[str, Any]]:
    """Updates in quarters, of either sign."""
    quarter = st.integers(-12, 12).map(lambda k: Fraction(k, 4))
    return st.fixed_dictionaries({"update": st.lists(quarter, min_size=1, max_size=4)})


def clipped_pairs() -> st.SearchStrategy[dict[str, Any]]:
    """A bound, an update of v_1 within it, and any of v_2."""

    def build(bound: Fraction, shares: list[Fraction], h: list[Fraction]) -> dict[str, Any]:
        return {"bound": bound, "g": [bound * s for s in shares], "h": h}

    three = partial(st.lists, min_size=3, max_size=3)
    share = st.integers(-8, 8).map(lambda k: Fraction(k, 8))
    size = st.integers(-12, 12).map(lambda k: Fraction(k, 2))
    return st.builds(
        build, st.integers(0, 8).map(lambda k: Fraction(k, 2)), three(share), three(size)
    )


def _check_bound(effort: Effort, absolute: bool = False) -> Evidence:
    call = Call.of(bounds, absolute=absolute)
    return Evidence.of(Counterexample.at(call, "update (-1, -2): LM is -1", update=[-1, -2]))


def _check_absolute(
    effort: Effort, absolute: bool = True, variant: str = "repaired", proof: str = UNCHANGED
) -> Evidence:
    runs = (
        explore(Call.of(bounds, absolute=absolute), Call.of(updates), effort, tolerance=0.0),
        explore(Call.of(by_library, variant=variant), Call.of(updates), effort, tolerance=0.0),
    )
    return Evidence.of(KernelProof.of("clip.v", proof, *runs, axioms=REALS))


def _check_fair(effort: Effort, size: str = "5/2") -> Evidence:
    shows = "g_1 = (0, 0, 5/2), g_2 = (2, 2, 0), bound 2: the lead is 3/2, and 7/8 without clipping"
    instance = {"g": [0, 0, Fraction(size)], "h": [2, 2, 0], "bound": 2}
    return Evidence.of(Counterexample.at(Call.of(no_less_fair), shows, **instance))


def _check_inside(effort: Effort, factor: str = "1") -> Evidence:
    points = ({"m": "1", "r": "0", "s": "1/100"}, {"m": "0", "r": "3", "s": "2"})
    call = Call.of(no_less_fair, inside=True)
    return Evidence.of(
        DefiniteForm(Call.of(coordinate, factor=factor), "expand", points, strict=True),
        extra=(explore(call, Call.of(clipped_pairs), effort, tolerance=0.0),),
    )


def _check_later(effort: Effort, alone: int = 10) -> Evidence:
    shows = "v_1 trained for ten rounds: algorithm 3 is nearer to 0 than FedAvg"
    return Evidence.of(Counterexample.at(Call.of(alike_later), shows, alone=alone))


PRINTED_LM = (
    r"$LM : (w^{[0]}, ..., w^{[L-1]}) \rightarrow (max(w^{[0]}), ..., max(w^{[L-1]}))$ is the "
    r"function to compute the max value of model update at each layer, and $Clip_g$ [...] is the "
    r"function to clip the paramters at each layer with specified value, where $threshold(w, \pm "
    r"g)$ can limit $w$ with $\pm g$."
)
PRINTED_FAIR = (
    "We find that clipping can also improve the fairness via experiments. [...] we found that on "
    "the whole training stage, it is hard to argue that clipping can improve the fairness of the "
    "algorithm."
)
PRINTED_LATER = (
    "although algorithm 3 can maintain a high level of fairness in the early stage after new group "
    "joins, it is not significantly different from Fedavg in the later stage."
)
CLAIMS = (
    Claim(
        id="dynamic/algorithm-3-max",
        number="Algorithm 3",
        line=310,
        title="The largest coordinate of an update is a bound to clip at",
        printed=PRINTED_LM,
        statement=r"$\max_j d_j \ge 0$, and limiting $d$ to $\pm \max_j d_j$ leaves it as it is.",
        kind="bound",
        hypotheses=(),
        scope="one layer of two parameters",
        expected="holds-repaired",
        check=_check_bound,
        mutants=(
            Mutant("max |d|", "the largest absolute value", partial(_check_bound, absolute=True)),
        ),
        severity="constant",
        erratum="Take max |w|: where all coordinates of a layer fall, the largest one is negative, "
        "and +-g bounds nothing.",
    ),
    Claim(
        id="dynamic/algorithm-3-max/repaired",
        number="Algorithm 3",
        line=310,
        title="The largest absolute coordinate of an update is a bound to clip at",
        printed=PRINTED_LM,
        statement=r"$\max_j |d_j| \ge 0$, and limiting $d$ to it leaves $d$ as it is.",
        kind="bound",
        hypotheses=(),
        scope="as stated, any number of parameters",
        expected="holds",
        check=_check_absolute,
        mutants=(
            Mutant("max d", "as printed", partial(_check_absolute, absolute=False)),
            Mutant(
                "99 %",
                "0.99 times the largest, in the theorem that is proved",
                partial(
                    _check_absolute, proof=UNCHANGED.replace("(largest d))", "(0.99 * largest d))")
                ),
            ),
            Mutant("the library", "its printed form", partial(_check_absolute, variant="printed")),
        ),
    ),
    Claim(
        id="dynamic/algorithm-3-fair",
        number="Algorithm 3",
        line=302,
        title="Clipping is no less fair than FedAvg",
        printed=PRINTED_FAIR,
        statement=r"If $\|g_1\| < \|g_2\|$ and the losses have one curvature, clipping both "
        r"updates does not raise the lead of $v_2$.",
        kind="bound",
        hypotheses=(("order", "||g_1|| < ||g_2||"),),
        scope="d = 3",
        expected="holds-repaired",
        check=_check_fair,
        mutants=(Mutant("within the bound", "g_1 = (0, 0, 2)", partial(_check_fair, size="2")),),
        reading="Section 4 says that clipping improves fairness, appendix B that it is hard to "
        "argue so. The stronger of the two is checked.",
        severity="remark",
        whose="reading",
        erratum=(
            "Clipping takes from single coordinates: where v_1 has a large one and v_2 many "
            "middling ones, it takes from v_1. It is fair where v_1's update stays within the "
            "bound."
        ),
    ),
    Claim(
        id="dynamic/algorithm-3-fair/repaired",
        number="Algorithm 3",
        line=302,
        title="Clipping is no less fair than FedAvg where it leaves v_1's update as it is",
        printed=PRINTED_FAIR,
        statement=(
            r"If $|g_{1,j}| \le g$ for all $j$ and the losses have one curvature, clipping at $g$ "
            r"lowers the lead of $v_2$ by $\frac{\eta}{2} (g_{2,j} - g_{1,j})(g_{2,j} \mp g)$ for "
            r"each $|g_{2,j}| > g$, which is positive."
        ),
        kind="bound",
        hypotheses=(("inside", "|g_1| <= g in every coordinate"),),
        scope="as stated",
        expected="holds",
        check=_check_inside,
        mutants=(
            Mutant("1 % less", "0.99 of FedAvg's lead", partial(_check_inside, factor="99/100")),
        ),
        notes="The bound is v_1's own last update, and its updates shrink: the hypothesis is what "
        "algorithm 3 aims at.",
    ),
    Claim(
        id="dynamic/algorithm-3-late",
        number="Appendix B, figure 3",
        line=302,
        title="In the later stage algorithm 3 is close to FedAvg",
        printed=PRINTED_LATER,
        statement="Twenty rounds after $t_2$ the models of algorithm 3 and of FedAvg differ by at "
        "most 1/100.",
        kind="limit",
        hypotheses=(),
        scope="d = 1, eta = 1/2, v_1 trained for ten rounds",
        expected="refuted",
        check=_check_later,
        mutants=(
            Mutant("one round", "a bound that limits nothing", partial(_check_later, alone=1)),
        ),
        reading="A remark on figure 3; taken as a statement on the algorithm.",
        severity="remark",
        whose="reading",
        erratum=(
            "The better v_1 was trained, the smaller the bound, and it never grows: a model that "
            "was at v_1's minimum does not move again. What is seen later depends on the noise in "
            "v_1's last update. Decay the clipping, or measure the bound earlier."
        ),
    ),
)
