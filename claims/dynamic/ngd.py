"""Normalised gradient descent: the largest benefit of one step, and when the algorithm is fair."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.dynamic.setting import Quadratic, norm, normalised
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore


def parallelogram(share: int = 2) -> dict[str, sympy.Expr]:
    """||u + v||^2 + ||u - v||^2 = 2 ||u||^2 + 2 ||v||^2: so ||u + v|| <= 2 for unit vectors."""
    u, v = (sympy.Matrix(sympy.symbols(f"{c}1:4", real=True)) for c in "uv")
    total, difference = u + v, u - v
    return {
        "parallelogram": total.dot(total)
        + difference.dot(difference)
        - share * (u.dot(u) + v.dot(v))
    }


def residuals(divisor: int = 2) -> dict[str, sympy.Expr]:
    """Smoothness and strong convexity at w - eta g/||g||: f less the quadratic is eta ||g|| - eta^2
    c/2.
    """
    g = sympy.Matrix(sympy.symbols("g1:4", positive=True))
    eta, c = sympy.symbols("eta c", real=True)
    length = sympy.sqrt(g.dot(g))
    step = -eta * g / length
    quadratic = g.dot(step) + c * step.dot(step) / 2
    return {"f(w) less the quadratic": -quadratic - (eta * length - eta**2 * c / divisor)}


def local(instance: dict[str, Any], least: str = "0", convex: bool = True) -> Case:
    """The benefit of a local normalised step is between a half and one of eta ||g||, or at least
    positive.

    ``least``: the claimed lower bound in units of eta ||g||; a premise ||g|| >= eta L goes with a
    positive one.
    """
    loss = Quadratic.of(instance["L"])
    w, eta = instance["w"], instance["eta"]
    g = loss.gradient(w)
    length = norm(g)
    benefit = loss(w) - loss(normalised(w, g, g, eta))
    low = Fraction(least) * eta * length
    relations = [Relation(low, "<=" if low > 0 else "<", benefit, "from below")]
    premises = {"defined": length > 0, "convex": min(loss.curvatures) >= 0}
    if low > 0:
        premises["gradient"] = length >= eta * loss.smoothness
        relations.append(Relation(benefit, "<=", eta * length, "from above"))
    return Case(tuple(relations), premises)


def theta(share: str = "1/2") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """eta ||g|| - eta^2 L/2 >= (1/2) eta ||g|| where ||g|| = eta L + s."""
    eta, ell = sympy.symbols("eta L", positive=True)
    s = sympy.symbols("s", nonnegative=True)
    length = eta * ell + s
    return eta * length - eta**2 * ell / 2 - sympy.Rational(share) * eta * length, [eta * s / 2]


def fair(needed: int = 2) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """The gap of benefits: a head start ``needed`` eta + s, plus the gains of v_1 (>= -eta) less
    v_2 (<= eta).
    """
    eta = sympy.symbols("eta", positive=True)
    s = sympy.symbols("s", positive=True)
    p, q = sympy.symbols("p q", nonnegative=True)
    return (needed * eta + s) + (-eta + p) - (eta - q), [s, p, q]


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """Convex quadratics on a line or with gradients of rational length, ||g|| >= eta L by
    construction.
    """

    def build(c: Fraction, x: Fraction, extra: Fraction, eta: Fraction) -> dict[str, Any]:
        away = eta + extra  # |w - x| >= eta: ||g|| = c |w - x| >= eta c
        return {"L": {"c": [c], "x": [x]}, "w": [x + away], "eta": eta}

    positive = st.integers(1, 24).map(lambda k: Fraction(k, 8))
    return st.builds(build, positive, st.integers(-8, 8).map(Fraction), positive, positive)


def _check_bounds(effort: Effort, share: int = 2, divisor: int = 2) -> Evidence:
    sides = {
        **{f"u{k}": f"{k}/3" for k in (1, 2, 3)},
        **{f"v{k}": f"{7 - k * k}/5" for k in (1, 2, 3)},
    }
    point = {"g1": "1/2", "g2": "3", "g3": "2/7", "eta": "1/3", "c": "5/2"}
    return Evidence.of(
        SymbolicZero(Call.of(parallelogram, share=share), "expand", (sides,)),
        SymbolicZero(Call.of(residuals, divisor=divisor), "simplify", (point,)),
    )


def _check_fair(effort: Effort, needed: int = 2) -> Evidence:
    points = (
        {"eta": "1", "s": "1/1000", "p": "0", "q": "0"},
        {"eta": "2", "s": "1", "p": "1/3", "q": "1/5"},
    )
    return Evidence.of(DefiniteForm(Call.of(fair, needed=needed), "expand", points, strict=True))


def _check_theta(effort: Effort, w: str = "1/8") -> Evidence:
    instance = {"L": {"c": [1], "x": [0]}, "w": [Fraction(w)], "eta": 1}
    shows = "w^2/2 at 1/8, eta = 1: the benefit is -3/8"
    return Evidence.of(Counterexample.at(Call.of(local), shows, **instance))


def _check_theta_repaired(effort: Effort, share: str = "1/2") -> Evidence:
    points = ({"eta": "1/2", "L": "3", "s": "0"}, {"eta": "1/9", "L": "1", "s": "4"})
    edge = {"L": {"c": [2], "x": [0]}, "w": [Fraction(1, 2)], "eta": Fraction(1, 2)}
    return Evidence.of(
        DefiniteForm(Call.of(theta, share=share), "expand", points),
        extra=(
            Witness.at(Call.of(local, least=share), "||g|| = eta L: exactly a half", **edge),
            explore(Call.of(local, least=share), Call.of(instances), effort, tolerance=0.0),
        ),
    )


PRINTED_BOUNDS = (
    r"$L_{v_2}(w_{t_2+1}) - L_{v_2}(w_{t_2}) \le \|w_{t_2+1} - w_{t_2}\|_2 \le 2\eta$, i.e., the "
    r"benefit now is bounded by $\eta$; $\eta \| \nabla_w L_{v_2}(w_{t_2}+q) \|_2 - \frac{\eta^2 "
    r"L}{2} \le L_{v_2}(w_{t_2+q}) - L_{v_2}(\tilde{w}_{t_2+q+1}^2) \le \eta \| \nabla_w "
    r"L_{v_2}(w_{t_2+q}) \|_2 - \frac{\eta^2 \mu}{2}$"
)
PRINTED_FAIR = (
    r"This indicates that as long as the benefit of $v_1$ at $t_2$, i.e., $L_{v_1}(w_{t_1}) - "
    r"L_{v_i}(w_t) > 2\eta$ then the algorithm will be absolutely dynamically fair at $t_2 + 1$."
)
PRINTED_THETA = (
    r"we can see the benefit the $v_i$ group get is $\Theta(\eta \| \nabla_w L_{v_i}(w_{t_2}+q) "
    r"\|_2)$ [...] when $\| \nabla_w L_{v_i}(w_{t_2}+q) \|_2$ becomes sufficiently small then "
    r"since both groups get almost the same benefit in time point $t_2 + q$. Therefore, our "
    r"algorithm is still dynamically fair."
)
DEFINED = ("defined", "g is not 0, else the normalised step is undefined")
CLAIMS = (
    Claim(
        id="dynamic/ngd-bounds",
        number="Section 4, before and after theorem 2",
        line=110,
        title="A normalised step brings at most 2 eta, and locally eta ||g|| less between eta^2 "
        "mu/2 and eta^2 L/2",
        printed=PRINTED_BOUNDS,
        statement=(
            r"For a 1-Lipschitz $f$ and the mean $w'$ of two normalised steps: $|f(w') - f(w)| "
            r"\le \|w' - w\| \le \eta$. For an $L$-smooth, $\mu$-strongly convex $f$ and $\tilde "
            r"w = w - \eta g/\|g\|$: $\eta \|g\| - \eta^2 L/2 \le f(w) - f(\tilde w) \le \eta "
            r"\|g\| - \eta^2 \mu/2$."
        ),
        kind="bound",
        hypotheses=(),
        scope="as stated (three dimensions written out)",
        expected="holds",
        check=_check_bounds,
        mutants=(
            Mutant(
                "no factor 2",
                "||u+v||^2 + ||u-v||^2 = ||u||^2 + ||v||^2",
                partial(_check_bounds, share=1),
            ),
            Mutant("eta^2 L", "without the half", partial(_check_bounds, divisor=1)),
        ),
        reading=(
            "The steps are defined where neither gradient is 0. The first display bounds a loss; "
            "as |.| it bounds the benefit."
        ),
        severity="constant",
        erratum=(
            "2 eta can be eta: ||u + v|| <= 2 for unit vectors, and the step is (eta/2)(u + v). "
            "The text says so in the next line, and 2 eta again after it. The argument of the "
            "gradients is w_{t_2+q}, not w_{t_2}+q."
        ),
    ),
    Claim(
        id="dynamic/ngd-fair",
        number="Section 4, before theorem 2",
        line=112,
        title="If v_1 has gained more than 2 eta, one normalised step leaves the algorithm "
        "absolutely fair",
        printed=PRINTED_FAIR,
        statement=(
            r"For 1-Lipschitz $L_1, L_2$: if $L_1(w_{t_1}) - L_1(w_{t_2}) > 2 \eta$, then the "
            r"benefit of $v_1$ at $t_2 + 1$ exceeds that of $v_2$."
        ),
        kind="implication",
        hypotheses=(),
        scope="as stated",
        expected="holds",
        check=_check_fair,
        mutants=(
            Mutant("eta for 2 eta", "a head start of eta alone", partial(_check_fair, needed=1)),
        ),
        rests_on=("dynamic/ngd-bounds",),
        reading="The second loss is L_{v_1}(w_{t_2}); printed is L_{v_i}(w_t).",
        notes="v_1 may lose eta in the step while v_2 gains eta: both are bounded by the length "
        "of the step.",
    ),
    Claim(
        id="dynamic/ngd-theta",
        number="Section 4, after theorem 2",
        line=124,
        title="What a group gains by a local normalised step is of the order of eta ||g||",
        printed=PRINTED_THETA,
        statement=r"For a smooth convex $f$, $g \ne 0$ and $\tilde w = w - \eta g/\|g\|$: $f(w) "
        r"- f(\tilde w) > 0$.",
        kind="bound",
        hypotheses=(DEFINED, ("convex", "f is convex")),
        scope="d = 1",
        expected="holds-repaired",
        check=_check_theta,
        mutants=(
            Mutant("w = 1", "||g|| = eta L, where the step pays", partial(_check_theta, w="1")),
        ),
        reading="Theta(eta ||g||) is positive, whatever its constants.",
        severity="remark",
        erratum=(
            "The lower bound eta ||g|| - eta^2 L/2 is negative for ||g|| < eta L/2, and so is "
            "the upper one for ||g|| < eta mu/2: near its minimum a group loses by every step of "
            "fixed length. It is of that order where ||g|| >= eta L. 'Almost the same benefit' "
            "does not make the algorithm fair either: (3) is strict."
        ),
    ),
    Claim(
        id="dynamic/ngd-theta/repaired",
        number="Section 4, after theorem 2",
        line=124,
        title="A local normalised step brings between a half and one of eta ||g|| where ||g|| >= "
        "eta L",
        printed=PRINTED_THETA,
        statement=(
            r"For a convex, $L$-smooth $f$ with $\|g\| \ge \eta L$: $\frac12 \eta \|g\| \le f(w) "
            r"- f(\tilde w) \le \eta \|g\|$."
        ),
        kind="tight bound",
        hypotheses=(DEFINED, ("convex", "f is convex"), ("gradient", "||g|| >= eta L")),
        scope="as stated",
        expected="holds",
        check=_check_theta_repaired,
        mutants=(
            Mutant("1 % more", "0.505", partial(_check_theta_repaired, share="101/200")),
            Mutant("3/4", "three quarters from below", partial(_check_theta_repaired, share="3/4")),
        ),
        rests_on=("dynamic/ngd-bounds",),
        notes=(
            "The upper bound is that of dynamic/ngd-bounds with mu = 0; the lower is met with "
            "equality at ||g|| = eta L."
        ),
    ),
)
