"""(D.7): alpha-fairness, printed without its sign change at alpha = 1; and its neighbours in
appendix D.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import (
    CLASSICAL,
    Counterexample,
    DefiniteForm,
    KernelProof,
    SymbolicZero,
)
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.instances import explore

EGALITARIAN = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k x => t k + x) 0 ks.
Definition utility (alpha x : R) : R := Rpower x (1 - alpha) / (1 - alpha).

Theorem egalitarian : forall n alpha m l u v, (0 < n)%nat -> 0 < l < m ->
  (forall i, In i (seq 0 n) -> m <= u i /\ 0 < v i) -> (exists j, In j (seq 0 n) /\ v j = l) ->
  1 + ln (INR n) / ln (m / l) < alpha ->
  sum (seq 0 n) (fun i => utility alpha (v i)) < sum (seq 0 n) (fun i => utility alpha (u i)).
"""


def welfare(u: list[Fraction], alpha: Fraction, form: str) -> arb:
    """sum u^alpha ("printed"), or sum U_alpha(u) with U_alpha = u^(1-alpha)/(1-alpha), log u at 1
    ("usual").
    """
    if form == "printed":
        return sum((ball(v) ** ball(alpha) for v in u), arb(0))
    if alpha == 1:
        return sum((ball(v).log() for v in u), arb(0))
    return sum((ball(v) ** ball(1 - alpha) for v in u), arb(0)) / ball(1 - alpha)


def large(instance: dict[str, Any], form: str = "printed") -> Case:
    """For this (large) alpha the egalitarian point has the larger welfare of the two."""
    fair, other, alpha = instance["fair"], instance["other"], instance["alpha"]
    relation = Relation(
        welfare(other, alpha, form), "<", welfare(fair, alpha, form), f"alpha = {alpha}"
    )
    return Case((relation,), {"egalitarian": min(other) < min(fair)})


def residuals() -> dict[str, sympy.Expr]:
    """U_alpha' = u^-alpha for every alpha, and (u^(1-alpha) - 1)/(1-alpha) tends to log u."""
    u, alpha = sympy.symbols("u alpha", positive=True)
    return {
        "slope": sympy.diff(u ** (1 - alpha) / (1 - alpha), u) - u**-alpha,
        "alpha = 1": sympy.limit((u ** (1 - alpha) - 1) / (1 - alpha), alpha, 1) - sympy.log(u),
        "printed slope": sympy.diff(u**alpha, u) - alpha * u ** (alpha - 1),
    }


def bend(form: str = "usual") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """-U_alpha'' >= 0, alpha >= 0."""
    u = sympy.symbols("u", positive=True)
    alpha = sympy.symbols("alpha", nonnegative=True)
    value = u ** (1 - alpha) / (1 - alpha) if form == "usual" else u**alpha
    return -sympy.diff(value, u, 2), [alpha * u ** (-alpha - 1)]


def gap(instance: dict[str, Any], form: str = "usual", slack: Fraction = Fraction(1)) -> Case:
    """The usual form: where min v < min u, u is better once alpha > 1 + log n / log(min u / min v),
    n clients.

    For alpha > 1: sum v^(1-alpha) >= (min v)^(1-alpha) > n (min u)^(1-alpha) >= sum u^(1-alpha),
    and U has a minus.
    """
    u, v = instance["u"], instance["v"]
    n, ratio = len(u), min(u) / min(v) if min(v) < min(u) else Fraction(1)
    if ratio == 1:
        return Case((Relation(0, "<=", 0),), {"egalitarian": False})
    enough = 1 + slack * (
        Fraction(int(float((arb(n).log() / ball(ratio).log()).upper()) * 1000) + 1, 1000)
        if n > 1
        else 0
    )
    alpha = enough + Fraction(1, 1000)
    left, right = welfare(v, alpha, form), welfare(u, alpha, form)
    return Case((Relation(left, "<", right, f"alpha = {alpha}"),), {"egalitarian": True})


@st.composite
def pairs(draw: st.DrawFn) -> dict[str, Any]:
    """Two utility vectors, the first with the larger minimum; one in two the worst case for it."""
    n = draw(st.integers(1, 4))
    low = Fraction(draw(st.integers(1, 8)), 4)
    step = Fraction(draw(st.integers(1, 8)), 4)
    u = [low + step + Fraction(draw(st.integers(0, 8)), 4) for _ in range(n)]
    v = [low + Fraction(draw(st.integers(0, 80)), 4) for _ in range(n)]
    v[0] = low
    if draw(st.booleans()):
        u, v = [low + step] * n, [low] + [Fraction(1000)] * (n - 1)
    return {"u": u, "v": v}


def check(effort: Effort, form: str = "printed") -> Evidence:
    """Two allocations, and three alphas."""
    shows = "U = {{(1, 1), (3, 1/2)}}, alpha = {}: 3^alpha + 2^-alpha > 2, so (3, 1/2) wins"
    one = [Fraction(1)] * 2
    return Evidence.of(
        *(
            Counterexample.at(
                Call.of(large, form=form),
                shows.format(k),
                fair=one,
                other=[Fraction(3), Fraction(1, 2)],
                alpha=Fraction(k),
            )
            for k in (10, 100, 1000)
        )
    )


def limit(
    effort: Effort, form: str = "usual", slack: Fraction = Fraction(1), proof: str = EGALITARIAN
) -> KernelProof:
    """The proof that the larger minimum wins, and what was drawn."""
    run = explore(Call.of(gap, form=form, slack=slack), Call.of(pairs), effort)
    return KernelProof.of("alpha.v", proof, run, axioms=CLASSICAL)


def check_repaired(
    effort: Effort, form: str = "usual", slack: Fraction = Fraction(1), proof: str = EGALITARIAN
) -> Evidence:
    """The certificates."""
    spot = {"u": "3/2", "alpha": "3"}
    return Evidence.of(
        SymbolicZero(Call.of(residuals), "simplify", (spot,)),
        DefiniteForm(Call.of(bend, form=form), "simplify", (spot, {"u": "2", "alpha": "1/2"})),
        limit(effort, form, slack, proof),
    )


def concave(instance: dict[str, Any]) -> Case:
    """sum u^alpha is concave: its value at the midpoint is at least the mean of the ends'."""
    a, b, k = instance["u"], instance["v"], instance["alpha"]
    middle = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
    ends = sum((x**k for x in (*a, *b)), Fraction(0)) / 2
    return Case((Relation(ends, "<=", sum((x**k for x in middle), Fraction(0)), "midpoint"),))


def check_concave(effort: Effort, alpha: int = 2) -> Evidence:
    """One client, alpha = 2."""
    shows = "alpha = 2, one client: 2^2 < (1^2 + 3^2)/2"
    data = {"u": [Fraction(1)], "v": [Fraction(3)], "alpha": alpha}
    return Evidence.of(Counterexample.at(Call.of(concave), shows, **data))


def check_pareto(effort: Effort, sign: int = 1) -> Evidence:
    """The slope of u^alpha is positive."""
    return Evidence.of(
        DefiniteForm(
            Call.of(rise, sign=sign), "simplify", ({"u": "2", "alpha": "3/2"},), strict=True
        )
    )


def rise(sign: int = 1) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """d/du u^alpha > 0 for alpha > 0; ``sign`` -1: of u^-alpha."""
    u, alpha = sympy.symbols("u alpha", positive=True)
    return sympy.diff(u ** (sign * alpha), u), [alpha * u ** (alpha - 1)]


PRINTED = (
    r"$\max_{\theta} \sum_i u_i(\theta)^\alpha, \quad \alpha > 0$. The optimal solution is "
    r"always Pareto optimal. When $\alpha \rightarrow \infty$, the optimal solution corresponds "
    r"to the egalitarian solution (a.k.a. Agnostic FL); when $\alpha = 1$, the optimization "
    r"problem corresponds to the utilitarian rule, i.e., FedAvg."
)
CLAIMS = (
    Claim(
        id="propfair/alpha-fairness",
        number="(D.7)",
        line=1066,
        title="Maximising sum u^alpha tends to the egalitarian solution as alpha grows",
        printed=PRINTED,
        statement=(
            r"For $U = \{u, v\}$ with $\min v < \min u$ and $\alpha$ large enough, $\sum "
            r"u_i^\alpha > \sum v_i^\alpha$."
        ),
        kind="limit",
        hypotheses=(("egalitarian", "u has the larger minimum"),),
        scope="n = 2, alpha = 10, 100, 1000",
        expected="holds-repaired",
        check=check,
        mutants=(Mutant("usual", "sum u^(1-alpha)/(1-alpha)", partial(check, form="usual")),),
        severity="remark",
        erratum=(
            "As alpha grows, sum u^alpha favours the *best-off* client: it is the l_alpha norm. "
            "The family of Mo and Walrand is sum u^(1-alpha)/(1-alpha) (log at alpha = 1), alpha "
            ">= 0: 0 is utilitarian, 1 proportional, 2 harmonic, infinity max-min. (D.7) is its "
            "part with alpha' = 1 - alpha for alpha' < 1 only, and not concave for alpha > 1 "
            "(propfair/alpha-fairness-concave). Losses as powers, as in q-FFL, do tend to the "
            "egalitarian solution."
        ),
    ),
    Claim(
        id="propfair/alpha-fairness/repaired",
        number="(D.7)",
        line=1066,
        title="alpha-fairness, sum u^(1-alpha)/(1-alpha), is concave and increasing, and "
        "egalitarian for large alpha",
        printed=PRINTED,
        statement=(
            r"$U_\alpha(u) = u^{1-\alpha}/(1-\alpha)$, $\log u$ at $\alpha = 1$: $U_\alpha' = "
            r"u^{-\alpha} > 0$, $U_\alpha'' = -\alpha u^{-\alpha-1} \le 0$; and $\min v < \min "
            r"u$ implies $\sum U_\alpha(u) > \sum U_\alpha(v)$ for $\alpha > 1 + \log n / "
            r"\log(\min u / \min v)$."
        ),
        kind="limit",
        hypotheses=(("egalitarian", "u has the larger minimum"),),
        scope="as stated",
        expected="holds",
        check=check_repaired,
        mutants=(
            Mutant("printed", "sum u^alpha", partial(check_repaired, form="printed")),
            Mutant(
                "half",
                "half of the threshold's excess over 1",
                partial(check_repaired, slack=Fraction(1, 2)),
            ),
            Mutant(
                "1 % lower",
                "0.99 of that excess, in the theorem that is proved",
                partial(check_repaired, proof=EGALITARIAN.replace("1 + ln", "1 + 0.99 * ln")),
            ),
        ),
    ),
    Claim(
        id="propfair/alpha-fairness-pareto",
        number="(D.7)",
        line=1070,
        title="Maximisers of sum u^alpha, alpha > 0, are Pareto optimal",
        printed="The optimal solution is always Pareto optimal.",
        statement=r"$\frac{d}{du} u^\alpha = \alpha u^{\alpha-1} > 0$: raising one utility "
        r"raises the sum.",
        kind="implication",
        hypotheses=(("positive", "u > 0"),),
        scope="as stated",
        expected="holds",
        check=check_pareto,
        mutants=(Mutant("-alpha", "a negative power", partial(check_pareto, sign=-1)),),
    ),
    Claim(
        id="propfair/alpha-fairness-concave",
        number="(D.7)",
        line=1068,
        title="(ours) sum u^alpha is concave for every alpha > 0",
        printed=r"$\max_{\theta} \sum_i u_i(\theta)^\alpha, \quad \alpha > 0$",
        statement=r"$\sum_i u_i^\alpha$ is concave on $u > 0$ for every $\alpha > 0$, as the "
        r"maximisation needs.",
        kind="implication",
        hypotheses=(),
        scope="n = 1, alpha = 2",
        expected="refuted",
        check=check_concave,
        mutants=(Mutant("alpha = 1", "the linear one", partial(check_concave, alpha=1)),),
        erratum="Concave for alpha <= 1 only; see propfair/alpha-fairness.",
        whose="ours",
    ),
)
