"""Appendix C: the meaning of alpha = 0, 1, 2 and infinity."""

import sympy

from fairfl.claims.forms import Claim, Residual, identity


def residuals(shift: int = 0, harmonic: int = 2) -> dict[str, Residual]:
    """U_alpha at 0, 1 and 2, and the optimality terms U_alpha'(y) (v - y) at 1 and 2, of one user:
    sums over users add them up, and the sum of 1/y is n over the harmonic mean.
    """
    alpha, near, v, y = sympy.symbols("alpha near v y", positive=True)
    zero, one, two, opposite = (
        y ** (1 - a) / (1 - a)
        for a in (sympy.Integer(-shift), near, sympy.Integer(harmonic), -alpha)
    )
    return {
        "alpha = 0, y": (zero, y),
        "alpha = 1, as a limit": (sympy.Limit(one - 1 / (1 - near), near, 1), sympy.log(y)),
        "alpha = 1, PF's condition": (sympy.Derivative(sympy.log(y), y) * (v - y), (v - y) / y),
        "alpha = 2, -1/y": (two, -1 / y),
        "alpha = 2, its condition": (sympy.Derivative(two, y) * (v - y), (v - y) / y**2),
        "q-FFL is minus U at alpha = -q": (-opposite, -(y ** (alpha + 1)) / (alpha + 1)),
    }


CLAIMS = (
    Claim(
        "qffl/alpha-fairness",
        419,
        "alpha-fairness with alpha = 0, 1, 2, infinity is zero, proportional, harmonic-mean and "
        "max-min fairness",
        number="Appendix C",
        printed=r"$U_{\alpha}(x) = \ln(x)$ if $\alpha = 1$, $\frac{1}{1-\alpha} x^{1-\alpha}$ if "
        r"$\alpha \ge 0, \alpha \neq 1$ ... zero fairness with $\alpha = 0$, proportional fairness "
        r"with $\alpha = 1$, harmonic mean fairness with $\alpha = 2$, and max-min fairness with "
        r"$\alpha = +\infty$",
        statement=r"$\sum U_0 = \sum x$; $U_\alpha - \frac{1}{1-\alpha} \to \ln x$, whose "
        r"optimality condition on a convex set is (1) of proportional fairness; $\sum U_2 = "
        r"-n/HM(x)$; a larger minimum wins for $\alpha > 1 + \log n/\log(\min x/\min y)$.",
        kind="identity",
        scope="as stated",
        check=identity(residuals, "8/7; 0.133531; -13/48; -7/8; -91/384; -0.861114"),
        mutants={
            "alpha = -1": ("for zero fairness", {"shift": 1}),
            "alpha = 3": ("for the harmonic mean", {"harmonic": 3}),
        },
        rests_on=("propfair/alpha-fairness/repaired",),
        notes="The limit is propfair/alpha-fairness/repaired. q-FFL minimises -sum U_alpha(F) with "
        "alpha = -q: costs in a family for utilities, with alpha outside the range alpha >= 0 for "
        "every q > 0. So no q stands for proportional or harmonic fairness of a utility M - F.",
    ),
)
