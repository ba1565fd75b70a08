"""Appendix C: the meaning of alpha = 0, 1, 2 and infinity."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates import SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.propfair.alpha_fairness import limit


def residuals(shift: int = 0, harmonic: int = 2) -> dict[str, Any]:
    """U_alpha at 0, 1 and 2, and the optimality terms U_alpha'(x) (v - x) at 1 and 2; three
    users.
    """
    alpha = sympy.symbols("alpha", positive=True)
    x = sympy.symbols("x1:4", positive=True)
    v = sympy.symbols("v", positive=True)

    def family(a: sympy.Expr, y: sympy.Expr) -> sympy.Expr:
        return y ** (1 - a) / (1 - a)

    total = sum(family(sympy.Integer(harmonic), y) for y in x)
    mean = 3 / sum(1 / y for y in x)  # harmonic
    y = x[0]
    return {
        "alpha = 0, the sum": sum(family(sympy.Integer(0 - shift), z) for z in x) - sum(x),
        "alpha = 1, as a limit": sympy.limit(family(alpha, y) - 1 / (1 - alpha), alpha, 1)
        - sympy.log(y),
        "alpha = 1, PF's condition": sympy.diff(sympy.log(y), y) * (v - y) - (v - y) / y,
        "alpha = 2, through the harmonic mean": total + 3 / mean,
        "alpha = 2, its condition": sympy.diff(family(sympy.Integer(2), y), y) * (v - y)
        - (v - y) / y**2,
        "q-FFL is minus U at alpha = -q": -family(-alpha, y) + y ** (alpha + 1) / (alpha + 1),
    }


def check(
    effort: Effort, shift: int = 0, harmonic: int = 2, slack: Fraction = Fraction(1)
) -> Evidence:
    """The certificates; the limit alpha to infinity is the one of
    propfair/alpha-fairness/repaired.
    """
    spot = {"alpha": "3", "x1": "2", "x2": "1/3", "x3": "5", "v": "1"}
    return Evidence.of(
        SymbolicZero(Call.of(residuals, shift=shift, harmonic=harmonic), "simplify", (spot,)),
        limit(effort, slack=slack),
    )


CLAIMS = (
    Claim(
        id="qffl/alpha-fairness",
        number="Appendix C",
        line=419,
        title="alpha-fairness with alpha = 0, 1, 2, infinity is zero, proportional, "
        "harmonic-mean and max-min fairness",
        printed=(
            r"$U_{\alpha}(x) = \ln(x)$ if $\alpha = 1$, $\frac{1}{1-\alpha} x^{1-\alpha}$ if "
            r"$\alpha \ge 0, \alpha \neq 1$ ... zero fairness with $\alpha = 0$, proportional "
            r"fairness with $\alpha = 1$, harmonic mean fairness with $\alpha = 2$, and max-min "
            r"fairness with $\alpha = +\infty$"
        ),
        statement=(
            r"$\sum U_0 = \sum x$; $U_\alpha - \frac{1}{1-\alpha} \to \ln x$, whose optimality "
            r"condition on a convex set is (1) of proportional fairness; $\sum U_2 = -n/HM(x)$; "
            r"a larger minimum wins for $\alpha > 1 + \log n/\log(\min x/\min y)$."
        ),
        kind="identity",
        hypotheses=(("egalitarian", "the first allocation has the larger minimum"),),
        scope="identities for three users, whose sums look the same for any; the limit: as stated",
        expected="holds",
        check=check,
        mutants=(
            Mutant("alpha = -1", "for zero fairness", partial(check, shift=1)),
            Mutant("alpha = 3", "for the harmonic mean", partial(check, harmonic=3)),
            Mutant(
                "half",
                "half of the threshold's excess over 1",
                partial(check, slack=Fraction(1, 2)),
            ),
        ),
        notes=(
            "q-FFL minimises -sum U_alpha(F) with alpha = -q: costs in a family for utilities, "
            "with alpha outside the range alpha >= 0 for every q > 0. So no q stands for "
            "proportional or harmonic fairness of a utility M - F."
        ),
    ),
)
