"""FedFB, theorem 24: convergence of λ for two groups; the updates' boxes, (9), algorithm 5."""

from fractions import Fraction

import sympy
from hypothesis import assume
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates.kernel_proof import constant
from fairfl.claims.fedfb.bilevel import as_printed, instances, outer, slope
from fairfl.claims.fedfb.lemma_23 import FLAT
from fairfl.claims.forms import Claim, Instance, counterexample, exactly, identity, proof, witness

ZERO, THIRD, HALF, ONE = Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)
ROOT, RATIO = sympy.sqrt(2), constant("sign_steps.v", "ratio")


def path(instance: Instance) -> tuple[list[Fraction], list[Fraction], bool]:
    """λ_1 after each update (85), a_t = α_t/√2; F_1 before it; whether all problems were convex."""
    problem = outer("dp", 2, instance["shares"], instance["constants"])
    lam_0, lam_1 = instance["lam"]
    lams, signs, convex = [lam_1], [], True
    for step in instance["steps"]:
        shift = lams[-1] - lam_1
        terms = slope(problem, instance["losses"], [lam_0 - shift, lams[-1]])
        gap, convex = terms["mu"][1], convex and terms["H"] > 0
        signs.append(gap)
        lams.append(lams[-1] + step * ((gap > 0) - (gap < 0)))
    return lams, signs, convex


def printed(instance: Instance, scale: sympy.Expr = ROOT) -> Case:
    """|λ_1^(T) - λ_1*| <= max{|λ_1^(0) - λ_1*| - Σ α_t, α_T}, α_t = ``scale`` a_t."""
    lams, _, convex = path(instance)
    steps = [sympy.Rational(str(a)) for a in instance["steps"]]
    goal = sympy.Rational(str(instance["goal"]))
    start, last = (abs(sympy.Rational(str(v)) - goal) for v in (lams[0], lams[-1]))
    bound = sympy.Max(start - scale * sum(steps), scale * steps[-1])
    premises = {"assumptions": convex, "minimiser": instance["goal"] == instance["zero"]}
    return Case((Relation(last, "<=", bound, f"|λ^({len(steps)}) - λ*|"),), premises)


def bounded(instance: Instance, factor: Fraction = ONE, ratio: Fraction = RATIO) -> Case:
    """d_T <= max{d_0 - Σ_{t<T} a_t, max_{s<T} (a_s - Σ_{s<t<T} a_t)} at every T, where F_1 has its
    zero on the line; with the last step alone where a_t <= ratio a_{t+1}.
    """
    lams, gaps, _ = path(instance)
    goal, steps = instance["goal"], [factor * a for a in instance["steps"]]
    relations = []
    for count in range(1, len(lams)):
        used = steps[:count]
        slowly = all(a <= ratio * b for a, b in zip(used, used[1:], strict=False))
        after = [a - sum(used[s + 1 :], ZERO) for s, a in enumerate(used)][-1 if slowly else 0 :]
        bound = max(abs(lams[0] - goal) - sum(used, ZERO), *after)
        relations.append(Relation(abs(lams[count] - goal), "<=", bound, f"T = {count}"))
    pairs = zip(gaps, lams, strict=False)
    has_zero = all((gap > 0) == (goal > lam) and gap != 0 for gap, lam in pairs)
    is_inside = all(0 <= p <= 2 * instance["shares"][1] for p in lams)
    return Case(tuple(relations), {"zero": has_zero, "inside": is_inside})


THIRDS: Instance = {"shares": [THIRD, 2 * THIRD], "lam": [THIRD, 2 * THIRD]}
RUNAWAY: Instance = {
    **THIRDS,
    "constants": [Fraction(1, 4)],
    "losses": dict.fromkeys(("00", "10", "01", "11"), FLAT),
    "steps": [Fraction(1, t) for t in range(1, 21)],
    "goal": 4 * THIRD,
    "zero": 4 * THIRD,
}
ZEROED: Instance = {
    **THIRDS,
    "constants": [ZERO],
    "losses": {
        **dict.fromkeys(("00", "10"), [ONE, ZERO, ZERO]),
        "01": [ONE, HALF, ZERO],
        "11": [ONE, -HALF, ZERO],
    },
    "goal": 2 * THIRD,
    "zero": 2 * THIRD,
}
"""F_1 = -w, w_λ of the sign of λ_1 - 2/3 on the line λ_0 + λ_1 = 1: a zero at 2/3."""


def started(before: str | Fraction, steps: list[str]) -> Instance:
    """``ZEROED``, with λ_1 at first ``before`` below its zero."""
    lam = [THIRD + Fraction(before), 2 * THIRD - Fraction(before)]
    return {**ZEROED, "lam": lam, "steps": steps}


@st.composite
def lines(draw: st.DrawFn) -> Instance:
    """Quadratics, with the constant of F_1 chosen to make it zero at a given place of the line."""
    instance = draw(instances("dp", 2).filter(lambda d: d["losses"]["01"] != d["losses"]["11"]))
    part = st.sampled_from([1, 1, 10]).flatmap(
        lambda small: st.integers(1, 20).map(lambda k: Fraction(k, 300 * small))
    )
    parts = draw(st.lists(part, min_size=1, max_size=5))
    shares = instance["shares"]
    goal = shares[1] * Fraction(draw(st.integers(2, 8)), 5)
    zero = sum(instance["lam"]) - goal
    assume(0 < zero < 2 * shares[0])
    terms = slope(outer("dp", 2, shares, [ZERO]), instance["losses"], [zero, goal])
    steps = [2 * min(shares) * part for part in parts]
    return {**instance, "constants": [-terms["mu"][1]], "goal": goal, "steps": steps}


def stays_inside(instance: Instance) -> Case:
    """An update leaves each λ in [0, its end]: it moves by α/√2, or by α where there is one λ."""
    count = len(instance["lam"])
    step = instance["sign"] * sympy.Rational(str(instance["alpha"])) / sympy.sqrt(count)
    relations = []
    for k, (lam, end) in enumerate(zip(instance["lam"], instance["ends"], strict=True)):
        moved = sympy.Rational(str(lam)) + (-step if (count, k) == (2, 0) else step)
        relations.append(Relation(sympy.Integer(0), "<=", moved, f"λ_{k} >= 0"))
        relations.append(Relation(moved, "<=", sympy.Rational(str(end)), f"λ_{k} at its end"))
    return Case(tuple(relations))


ASSUMPTIONS = {
    "assumptions": "assumptions 1 to 5; α_t → 0, Σ α_t = ∞; the inner problem is solved exactly",
    "minimiser": "λ* is a zero of F_1 on the line or, where there is none, minimises F_1²",
}

CLAIMS = (
    Claim(
        "fedfb/theorem-24",
        1279,
        "A = 2: |λ_a^(T) - λ_a*| ≤ max{|λ_a^(0) - λ_a*| - Σ α_t, α_T} → 0",
        printed=r"Consider the case of $A=2$. Let Assumption 2, 3, 4, 5 and Assumption 1 hold. "
        r"Choose $\{\alpha_t\}$ such that $\lim\alpha_t=0,\sum_{t=1}^\infty\alpha_t=\infty$. "
        r"Suppose [$k\to\infty$]. We can find sufficiently large $T$ such that with high "
        r"probability, applying update rule (8) leads to "
        r"$|\lambda_a^{(T)}-\lambda_a^\star|\le\max\{|\lambda_a^{(0)}-\lambda_a^\star|-\sum_{t="
        r"1}^T\alpha_t,\alpha_T\}\to0$, where "
        r"$\lambda^\star\in\mathrm{argmin}_\lambda\sum_a[F_a(w_\lambda)]^2$.",
        statement=r"The bound at $T=20$, $\alpha_t=\sqrt2/t$, for the minimiser $\lambda^\star$ "
        r"in the box next to $\lambda^{(T)}$.",
        kind="limit",
        hypotheses=ASSUMPTIONS,
        scope="as stated; one parameter, one client, k → ∞",
        check=counterexample(
            printed,
            "L'_{y,a} = w² for all y, a, and n_00/n_0 - n_01/n_1 = 1/4: F_1 = 1/4 whatever λ is, "
            "so λ_1 grows without end; even from the end of its box, 4/3, it is 2.9 away at T = 20",
            RUNAWAY,
            "2.93107 <= sqrt(2)/20",
        ),
        mutants={"a zero": ("losses of which F_1 has a zero", started("1/20", ["1/20"]))},
        severity="theorem",
        erratum="'By lemma 23, F_dp has minimizer λ* such that μ(λ*) = 0' does not follow: F_1 "
        "may have no zero (here it is 1/4 at every λ, all of them minimisers), and λ then leaves "
        "every bounded set, the box of (6) first. Assume that F_1 has a zero on the line λ_0 + "
        "λ_1 = λ_0^(0) + λ_1^(0) within the box, and ∇F_1(w_λ) ≠ 0 there. The steps of one λ_a "
        "are α_t/√2, so the sum must be Σ α_t/√2 (fedfb/theorem-24/constant). And α_T bounds the "
        "rest only where α falls slowly.",
        notes="λ* is a point of that line, not any minimiser. Theorem 6 inherits this. "
        "Assumption 5 prints E||∇|| < ∞ for a uniform bound on E||∇||².",
        repaired=dict(
            title="A = 2: where F_1 has its zero on the line, d_T ≤ max{d_0 - Σ a_t, max_s (a_s - "
            "Σ_{t>s} a_t)}, a_t = α_t/√2",
            statement=r"$d_T=|\lambda_a^{(T)}-\lambda_a^\star|\le\max\{d_0-\sum_{t<T}a_t,"
            r"\max_{s<T}(a_s-\sum_{s<t<T}a_t)\}$, $a_t=\alpha_t/\sqrt2$; the right side tends to "
            r"$0$ if $a_t\to0$ and $\sum a_t=\infty$. If $\alpha_{t+1}\ge\alpha_t/2$ it is "
            r"$\max\{d_0-\sum a_t,a_{T-1}\}$.",
            kind="bound",
            hypotheses={
                "zero": "F_1 is positive before λ_1* on the line and negative behind it",
                "inside": "λ stays in the box of (6)",
            },
            scope="as stated; exact inner solutions",
            check=proof(
                "sign_steps.v",
                "bound slowly limit signs",
                identity(
                    as_printed,
                    "14694/1925; 4427/2520; -4427/2520; 4427/2520",
                    notion="dp",
                    groups=2,
                ),
                exactly(bounded, lines, moved="steps goal"),
                witness(
                    bounded,
                    "just before the zero the first step goes 0.24 behind it; 1/10 leaves 0.14",
                    started("1/100", ["1/4", "1/10"]),
                    "6/25 <= 1/4; 7/50 <= 3/20",
                ),
                witness(
                    bounded,
                    "1/2000 before the zero: a step of 201/1000 and one of 1/10 leave 0.1005",
                    started("1/2000", ["201/1000", "1/10"]),
                    "401/2000 <= 201/1000; 201/2000 <= 101/1000",
                ),
            ),
            mutants={
                "√2": ("7/5 a_t for a_t, less than α_t", {"factor": "7/5"}),
                "2.01": ("α_{t+1} >= α_t/2.01 for α_t/2", {"ratio": "201/100"}),
            },
        ),
    ),
    Claim(
        "fedfb/theorem-24/constant",
        1305,
        "(88) at every T, where F_1 has its zero on the line",
        number="Eq. (88)",
        printed="see fedfb/theorem-24",
        statement=r"The bound with $\sum\alpha_t$, at $T=2$.",
        kind="bound",
        hypotheses=ASSUMPTIONS,
        scope="before the first change of sign",
        whose="implied",
        check=counterexample(
            printed,
            "F_1 = -w_λ with its zero at λ_1 = 2/3, steps α = √2/4, √2/10 from 1/6: the distance "
            "falls from 1/2 to 3/20, (88) says to √2/10 or less",
            started(HALF, ["1/4", "1/10"]),
            "3/20 <= sqrt(2)/10",
        ),
        mutants={"α/√2": ("Σ α_t/√2 and α_T/√2", {"scale": 1})},
        severity="constant",
        erratum="By (85) a step moves λ_a by α_t √2/2: replace Σ α_t by Σ α_t/√2.",
    ),
    Claim(
        "fedfb/eq-9",
        206,
        "the update (9) stays in the box of (6), for the step sizes of appendix C.1",
        number="Eq. (9), algorithm 2, appendix C.1",
        printed=r"$\min_{\lambda\in[0,2\frac{n_{\star,0}}n]\times\dots\times[0,2\frac{n_{\star,"
        r"A-1}}n]}\sum_a(F_a(w_\lambda))^2$ (6); "
        r"$\lambda_a\leftarrow\lambda_a+\frac{\alpha}{\|\mu(\lambda)\|_2}\mu_a(\lambda)$ (9); "
        r"sample weight learning rates $\alpha\in\{0.001,0.05,0.08,0.1,0.2,0.5,1,2\}$ (C.1).",
        statement=r"$\lambda^{(1)}$ lies in the box, for $A=2$, $\alpha=2$.",
        kind="implication",
        scope="A = 2, α = 2, algorithm 2's initial λ_a = n_a/n",
        whose="implied",
        check=counterexample(
            stays_inside,
            "shares 2/5 and 3/5, α = 2: the first update moves both λ_a by √2",
            {"alpha": 2, "sign": 1, "lam": ["2/5", "3/5"], "ends": ["4/5", "6/5"]},
            "0 <= -1.01421; -1.01421 <= 4/5; 0 <= 2.01421; 2.01421 <= 6/5",
        ),
        mutants={"short": ("a step of α/100", {"alpha": "1/50"})},
        severity="step",
        erratum="Project onto the box. With A = 2 every step moves both λ_a by α/√2; the narrower "
        "side of the box is at most 1 wide, so α = 2 leaves it from wherever λ is, and α = 1 at "
        "the first update. Weights of the inner problem are then negative, and w_λ need not exist.",
        reading="The paper does not say what happens at the boundary.",
    ),
    Claim(
        "fedfb/algorithm-5-region",
        1571,
        "the update of algorithm 5 keeps λ in Λ, for the step sizes of appendix C.1",
        number="Algorithm 5, appendix C.1",
        printed=r"$\Lambda=\{0\le\lambda^{(i)}\le1,\sum_i\lambda^{(i)}\le1\}$; "
        r"$\lambda^{(i)}\leftarrow\lambda^{(i)}+\frac{\alpha_t}{\|\mu\|_2}\mu^{(i)}$; "
        r"$\alpha\in\{0.001,0.05,0.08,0.1,0.2,0.5,1,2\}$.",
        statement=r"$\lambda^{(1)}\in[0,1]$ after the first update, $\alpha=1$.",
        kind="implication",
        scope="I = 2, equal sizes",
        whose="implied",
        check=counterexample(
            stays_inside,
            "two clients, λ^(1) = 2/7, α = 1: the first update gives 9/7 (or -5/7)",
            {"alpha": ONE, "sign": 1, "lam": ["2/7"], "ends": [ONE]},
            "0 <= 9/7; 9/7 <= 1",
        ),
        mutants={"α = 1/2": ("a step that stays inside", {"alpha": HALF})},
        severity="step",
        erratum=r"Project onto $\Lambda$ after each step. Outside of it a client's loss has a "
        r"negative weight, and (126) need have no minimiser.",
    ),
)
