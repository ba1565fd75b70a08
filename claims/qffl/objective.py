"""(22), (23), appendix C: q-FFL as a maximum over a ball of weights, AFL, and alpha-fairness."""

from fractions import Fraction

import sympy
from flint import arb

from fairfl.claims.case import Case, Relation
from fairfl.claims.exact import Instance, ball, dot
from fairfl.claims.forms import Claim, Residual, beside, counterexample, every, identity, witness


def residuals(power: int = 1, conjugate: bool = True) -> dict[str, Residual]:
    """nu_k = F_k^q / ||F^q||_p has norm 1 and value ||F||_(q+1); S = sum F_k^(q+1), and p q = q +
    1.

    So (23) is S^(1/(q+1)), and (22) its power q + 1 over m. Hoelder's inequality by Young's, x y <=
    x^p/p + y^r/r: the tangent of log (propfair/eq-4) at z/mean, weighted by 1/p and 1/r for z = x^p
    and y^r, sums to 0 on the right.
    """
    q, S, m, x, y = sympy.symbols("q S m x y", positive=True)
    p = (q + 1) / q if conjugate else q + 1
    mean = x / p + y / (q + 1)
    scale = S ** (-1 / p)
    value = S**power * scale
    return {
        "1/p + 1/(q+1)": (1 / p + 1 / (q + 1), 1),
        "norm": (S * scale**p, 1),  # sum nu^p = sum F^(q p) scale^p
        "value": (value, S ** (1 / (q + 1))),
        "(22) of (23)": (value ** (q + 1) / m, S / m),
        "Young": ((x / mean - 1) / p, (1 - y / mean) / (q + 1)),
    }


def norm(x: list[Fraction], p: Fraction | None) -> arb:
    """||x||_p, p None for infinity."""
    if p is None:
        return ball(max(map(abs, x)))
    total = sum((ball(abs(v)) ** ball(p) for v in x if v), arb(0))
    return total ** ball(1 / p) if total > 0 else arb(0)


def largest(instance: Instance, share: Fraction = Fraction(1)) -> Case:
    """nu.F <= ||nu||_p ||F||_(q+1), equal at nu_k = F_k^q."""
    F, nu, q = instance["F"], instance["nu"], instance["q"]
    p = (q + 1) / q
    best = [Fraction(float((ball(v) ** ball(q)).mid())) if v else Fraction(0) for v in F]
    values = [ball(dot(v, F)) / norm(v, p) for v in (nu, best)]
    size = norm(F, q + 1) * ball(share)
    return Case(
        (Relation(values[0], "<=", size, "any nu"), Relation(values[1], "==", size, "attained")),
        {"losses": min(F) >= 0 and max(F) > 0 and q > 0 and any(nu)},
    )


AT = {"F": [Fraction(3), Fraction(4)], "nu": [Fraction(1), Fraction(2)], "q": Fraction(1)}


def same_optimum(instance: Instance) -> Case:
    """AFL's optimum minimises sum F^(q+1) too, for F_1 = w^2, F_2 = (k (w - 1))^2, k > 0, at any q.

    Both are convex, so AFL's optimum is where they cross between 0 and 1, w = k/(1 + k), and
    q-FFL's is where sum F^q F' vanishes. At the crossing F_1 = F_2, so F_1' + F_2' must.
    """
    k = instance["k"]
    w = k / (1 + k)
    slopes = [2 * w, 2 * k**2 * (w - 1)]
    relation = Relation(sum(slopes), "==", 0, "sum F^q F' over F^q at AFL's optimum")
    return Case((relation,), {"crossing": w == k * (1 - w) and slopes[0] > 0 > slopes[1]})


def special_cases(shift: int = 0, harmonic: int = 2) -> dict[str, Residual]:
    """U_alpha at 0, 1, 2, of one user, and the optimality terms U_alpha'(y) (v - y) at 1, 2."""
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
        "qffl/eq-22-23",
        369,
        "Minimising mean F^(q+1) is minimising the largest weighted sum over a ball of weights",
        number="Eqs. (22), (23)",
        printed=r"$\min_{w} f_q(w) = \frac{1}{m} \sum_{k=1}^m F_k^{q+1}(w)$, which is equivalent "
        r"to minimizing the empirical loss $\tilde{L}_{q}(h) = \max_{\nu, \|\nu\|_{p} \le 1} "
        r"\sum_{k=1}^{m} \frac{\nu_{i}}{n_{k}} \sum_{j=1}^{n_{k}} l(h(x_{k,j}), y_{k,j})$, "
        r"$\frac{1}{p} + \frac{1}{q+1} = 1$ $(p \ge 1, q \ge 0)$",
        statement=r"$\max_{\|\nu\|_p \le 1} \sum\nu_k F_k = \|F\|_{q+1}$, attained at $\nu_k = "
        r"F_k^q / \|F^q\|_p$, and (22) is its power $q + 1$ over $m$, an increasing function.",
        kind="equivalence",
        hypotheses={"losses": "F_k >= 0"},
        scope="every m and q > 0",
        check=every(
            identity(residuals, "1; 1; 0.652071; 12/25; -91/2955"),
            beside(witness(largest, "F = (3, 4), q = 1", AT, "4.91935 <= 5; 5 == 5")),
        ),
        mutants={
            "squared": ("the value of another weight", {"power": 2}),
            "1 % more": ("1.01 times the norm of F", {"share": "101/100"}),
            "p = q + 1": ("the norm of F for that of nu", {"conjugate": False}),
        },
        rests_on=("propfair/eq-4",),
        notes="Misprints: (23) has nu_i for nu_k. f_q has three definitions: (2), weighted with "
        "1/(q+1); appendix A.1, with the root; and (22). For q = 0, p is infinite.",
    ),
    Claim(
        "qffl/large-q",
        164,
        "AFL is equivalent to q-FFL with a large enough q",
        number="Sections 2, 4.3",
        printed="AFL is equivalent to q-FFL with a large enough q; AFL can in fact be seen as a "
        "special case, with large enough q",
        statement=r"For large $q$, a minimiser of $\max_k F_k$ minimises $\sum_k F_k^{q+1}$.",
        kind="equivalence",
        hypotheses={"crossing": "the losses are equal at AFL's optimum, their slopes opposite"},
        scope="two devices, one parameter, convex quadratics; every q",
        severity="remark",
        check=counterexample(
            same_optimum,
            "F = (w^2, 25/9 (w-1)^2): at AFL's optimum sum F^q F' = -(5/6) F^q for every q",
            {"k": "5/3"},
            "-5/6 == 0",
        ),
        mutants={"k = 1": ("mirrored losses, both optima are 1/2", {"k": Fraction(1)})},
        erratum="For no finite q in general: AFL is the limit (propfair/generalized-means) of "
        "optima. On a finite set of models with different worst losses a finite q is enough.",
    ),
    Claim(
        "qffl/alpha-fairness",
        419,
        "alpha = 0, 1, 2, infinity: zero, proportional, harmonic-mean and max-min fairness",
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
        check=identity(special_cases, "8/7; 0.133531; -13/48; -7/8; -91/384; -0.861114"),
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
