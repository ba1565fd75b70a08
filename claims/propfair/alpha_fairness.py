"""(D.7): alpha-fairness, printed without its sign change at alpha = 1."""

from fractions import Fraction

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.exact import Instance, ball
from fairfl.claims.forms import Claim, Residual, definite, drawn, every, identity, proof


def welfare(u: list[Fraction], alpha: Fraction) -> arb:
    """sum u^(1-alpha)/(1-alpha), alpha > 1."""
    return sum((ball(v) ** ball(1 - alpha) for v in u), arb(0)) / ball(1 - alpha)


def best_off(form: str = "printed") -> Decomposition:
    """sum u^alpha at (2, 1/2) less that at (1, 1), 2^alpha = 1 + s; minus it for a mutant."""
    s = sympy.symbols("s", positive=True)
    gain = (1 + s) + 1 / (1 + s) - 2
    return gain if form == "printed" else -gain, [s**2 / (1 + s)]


def utility(u: sympy.Expr, alpha: sympy.Expr) -> sympy.Expr:
    """U_alpha."""
    return u ** (1 - alpha) / (1 - alpha)


def residuals() -> dict[str, Residual]:
    """U_alpha' = u^-alpha for every alpha, and U_alpha - 1/(1-alpha) tends to log u."""
    u, alpha, near = sympy.symbols("u alpha near", positive=True)
    return {
        "slope": (sympy.Derivative(utility(u, alpha), u), u**-alpha),
        "alpha = 1": (sympy.Limit(utility(u, near) - 1 / (1 - near), near, 1), sympy.log(u)),
    }


def bend(form: str = "usual") -> Decomposition:
    """-U_alpha'' >= 0, alpha >= 0."""
    u = sympy.symbols("u", positive=True)
    alpha = sympy.symbols("alpha", nonnegative=True)
    value = utility(u, alpha) if form == "usual" else u**alpha
    return -sympy.Derivative(value, u, 2), [alpha * u ** (-alpha - 1)]


def gap(instance: Instance, slack: Fraction = Fraction(1)) -> Case:
    """The usual form: if min v < min u, u is better once alpha > 1 + log n / log(min u / min v),
    n clients.

    For alpha > 1: sum v^(1-alpha) >= (min v)^(1-alpha) > n (min u)^(1-alpha) >= sum u^(1-alpha),
    and U has a minus.
    """
    u, v = instance["u"], instance["v"]
    if not 0 < min(v) < min(u):
        return Case.outside({"egalitarian": False})
    ratio = arb(len(u)).log() / ball(min(u) / min(v)).log()
    alpha = 1 + slack * Fraction(int(float(ratio.upper()) * 1000) + 1, 1000) + Fraction(1, 1000)
    left, right = welfare(v, alpha), welfare(u, alpha)
    relation = Relation(left, "<", right, f"alpha = {alpha}")
    return Case((relation,), {"egalitarian": 0 < min(v) < min(u)})


@st.composite
def pairs(draw: st.DrawFn) -> Instance:
    """Two utility vectors, the first with the larger minimum; in half of them its worst case."""
    n = draw(st.integers(1, 4))
    low, step = (Fraction(draw(st.integers(1, 8)), 4) for _ in range(2))
    u = [low + step + Fraction(draw(st.integers(0, 8)), 4) for _ in range(n)]
    v = [low, *(low + Fraction(draw(st.integers(0, 80)), 4) for _ in range(n - 1))]
    if draw(st.booleans()):
        u, v = [low + step] * n, [low] + [Fraction(1000)] * (n - 1)
    return {"u": u, "v": v}


CLAIMS = (
    Claim(
        "propfair/alpha-fairness",
        1066,
        "Maximising sum u^alpha tends to the egalitarian solution as alpha grows",
        number="(D.7)",
        printed=r"$\max_{\theta} \sum_i u_i(\theta)^\alpha, \quad \alpha > 0$. The optimal "
        r"solution is always Pareto optimal. When $\alpha \rightarrow \infty$, the optimal "
        r"solution corresponds to the egalitarian solution (a.k.a. Agnostic FL); when $\alpha = "
        r"1$, the optimization problem corresponds to the utilitarian rule, i.e., FedAvg.",
        statement=r"For $U = \{u, v\}$ with $\min v < \min u$ and $\alpha$ large enough, $\sum "
        r"u_i^\alpha > \sum v_i^\alpha$.",
        kind="limit",
        hypotheses={"egalitarian": "u has the larger minimum; utilities are positive"},
        scope="U = {(1, 1), (2, 1/2)}: (2, 1/2) is better at every alpha > 0",
        severity="remark",
        check=every(definite(best_off, "4/35", strict=True), negation=True),
        mutants={"usual": ("sum u^(1-alpha)/(1-alpha)", {"form": "usual"})},
        erratum="As alpha grows, sum u^alpha favours the *best-off* client: it is the l_alpha "
        "norm. The family of Mo and Walrand is sum u^(1-alpha)/(1-alpha) (log at alpha = 1), "
        "alpha >= 0: 0 is utilitarian, 1 proportional, 2 harmonic, infinity max-min. (D.7) is its "
        "part with alpha' = 1 - alpha for alpha' < 1 only, and not concave for alpha > 1 (2^2 < "
        "(1^2 + 3^2)/2). Losses as powers, as in q-FFL, do tend to the egalitarian solution.",
        repaired=dict(
            title="sum u^(1-alpha)/(1-alpha) is concave, increasing, egalitarian as alpha grows",
            statement=r"$U_\alpha(u) = u^{1-\alpha}/(1-\alpha)$, $\log u$ at $\alpha = 1$: "
            r"$U_\alpha' = u^{-\alpha} > 0$, $U_\alpha'' = -\alpha u^{-\alpha-1} \le 0$; and "
            r"$\min v < \min u$ implies $\sum U_\alpha(u) > \sum U_\alpha(v)$ for $\alpha > 1 + "
            r"\log n / \log(\min u / \min v)$.",
            check=every(
                identity(residuals, "1.07565; -0.182322"),
                definite(bend, "0.516314"),
                proof("alpha.v", "egalitarian", drawn(gap, pairs, moved="u v")),
            ),
            mutants={
                "printed": ("sum u^alpha", {"form": "printed"}),
                "1 % less": ("0.99 of the threshold's excess over 1", {"slack": "99/100"}),
            },
        ),
    ),
)
