"""q-FedAvg's rounds grow in proportion to q: a direction in which no client's gradient differs."""

from __future__ import annotations

from functools import partial

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates import DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def one_step() -> dict[str, sympy.Expr]:
    """Algorithm 3's step of y at (0, y), for F_k = ((x -+ 1)² + h y²) / 2, less -y h F / (L F + q
    (1 + h² y²)); F^q divided out. The step of x is 0.
    """
    h, ell, q = sympy.symbols("h L q", positive=True)
    x, y = sympy.symbols("x y", real=True)
    losses = [((x - side) ** 2 + h * y**2) / 2 for side in (1, -1)]
    slopes = [(loss.diff(x), loss.diff(y)) for loss in losses]
    at = {x: 0}
    common = losses[0].subs(at)
    below = sum(
        ell + q / loss.subs(at) * sum(s.subs(at) ** 2 for s in slope)
        for loss, slope in zip(losses, slopes, strict=True)
    )
    step = [-sympy.Add(*(slope[i].subs(at) for slope in slopes)) / below for i in (0, 1)]
    return {
        "x": step[0],
        "y": step[1] + y * h * common / (ell * common + q * (1 + h**2 * y**2)),
        "alike": losses[1].subs(at) - common,
    }


def shrinks(share: str = "1/2") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """``share`` h (1 + h) / q less the part of y that a step takes off, for y² = 1 / (1 + r)."""
    h, ell, q = sympy.symbols("h L q", positive=True)
    r = sympy.symbols("r", nonnegative=True)
    square = 1 / (1 + r)
    loss = (1 + h * square) / 2
    below = ell * loss + q * (1 + h**2 * square)
    expression = sympy.Rational(share) * h * (1 + h) / q - h * loss / below
    over = h / (2 * q * below)
    terms = [over * (1 + h) * ell * loss, over * q * h * r * square]
    return expression, [*terms, over * q * h**2 * square, over * q * h**3 * square]


def _check(effort: Effort, share: str = "1/2") -> Evidence:
    point = {"h": "1/3", "L": "2", "q": "5", "y": "1/2"}
    other = {"h": "1/3", "L": "2", "q": "5", "r": "3"}
    return Evidence.of(
        SymbolicZero(Call.of(one_step), "cancel", (point,)),
        DefiniteForm(Call.of(shrinks, share=share), "cancel", (other,), strict=True),
    )


CLAIMS = (
    Claim(
        id="qffl/rounds-grow",
        number="Section C.1",
        line=354,
        title="Rounds to the optimum grow at least in proportion to q",
        printed=(r"generalizes AFL (a special case of q-FFL with $q \rightarrow \infty$)"),
        statement=(
            r"For $F_{1,2} = ((x \mp 1)^2 + h y^2)/2$, from $x = 0$ and $|y| \le 1$, a round of "
            r"algorithm 3 takes $x$ nowhere and less than $h (1 + h) / (2 q)$ of $y$ off: "
            r"$\delta y$ takes at least $\log(1/\delta) / -\log(1 - h (1 + h)/(2 q))$ rounds."
        ),
        kind="bound",
        hypotheses=(),
        scope="every h > 0, L > 0 and q > 0 with h (1 + h) < 2 q",
        expected="holds",
        check=_check,
        mutants=(Mutant("1 % less", "0.495 h (1 + h) / q", partial(_check, share="99/200")),),
        whose="ours",
        reading=(
            "AFL is reached as q grows, by steps that shrink with q: rounds in proportion to q."
        ),
    ),
)
