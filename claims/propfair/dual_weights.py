"""Section 4.1: is the model that an objective picks FedAvg's model for its own dual weights?"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

T = sympy.Symbol("theta", real=True)
M = sympy.Rational(15, 4)


def least(objective: Any) -> Any:
    """The minimum of a polynomial over [-1, 1]: at an end, or where the slope vanishes."""
    roots: list[Any] = sympy.real_roots(sympy.Poly(sympy.diff(objective, T), T))
    places: list[Any] = [sympy.Integer(-1), sympy.Integer(1), *(r for r in roots if abs(r) <= 1)]
    return min(objective.subs(T, r) for r in places)


def case(instance: dict[str, Any], objective: str = "PropFair") -> Case:
    """f = 2 ± 3θ/2 + b θ² on [-1, 1]: θ = 0 is optimal, and minimises Σ λ_i f_i for its own λ."""
    bend = sympy.Rational(str(instance["bend"]))
    f: list[Any] = [2 + sympy.Rational(3, 2) * side * T + bend * T**2 for side in (1, -1)]
    value = -(M - f[0]) * (M - f[1]) if objective == "PropFair" else f[0] ** 2 + f[1] ** 2
    at = [v.subs(T, 0) for v in f]
    raw = [1 / (M - v) for v in at] if objective == "PropFair" else at  # q-FFL, q = 1
    weights = [w / sum(raw) for w in raw]
    mixed: Any = sum(w * v for w, v in zip(weights, f, strict=True))
    inside = all(least(v) >= 0 and -least(-v) < M for v in f)
    premises = {"optimal": least(sympy.expand(value)) == value.subs(T, 0), "losses": inside}
    relation = Relation(mixed.subs(T, 0), "<=", least(sympy.expand(mixed)), "weighted loss")
    return Case((relation,), premises)


def slopes(power: int = 1) -> dict[str, Any]:
    """d/dθ A(f(θ)) - Σ λ_i f_i' at a point: f_i = c_i + a_i θ there, n = 2, λ as Table 1 has it."""
    c, a = sympy.symbols("c1 c2", positive=True), sympy.symbols("a1 a2", real=True)
    q, alpha, top = sympy.symbols("q alpha M", positive=True)
    f = [x + y * T for x, y in zip(c, a, strict=True)]
    mean = (f[0] ** (q + 1) + f[1] ** (q + 1)) / 2
    tilted = sympy.exp(alpha * f[0]) + sympy.exp(alpha * f[1])
    product = (top - f[0]) * (top - f[1])
    kinds = {
        "q-FFL": (mean ** (1 / (q + 1)), [v**q / (2 * mean ** (q / (q + 1))) for v in f]),
        "TERM": (sympy.log(tilted / 2) / alpha, [sympy.exp(alpha * v) / tilted for v in f]),
        "PropFair": (
            top - sympy.sqrt(product),
            [sympy.sqrt(product) / (2 * (top - v) ** power) for v in f],
        ),
    }
    return {
        name: (sympy.diff(value, T) - sum(w * s for w, s in zip(weights, a, strict=True))).subs(
            T, 0
        )
        for name, (value, weights) in kinds.items()
    }


def convex(sign: int = 1) -> tuple[Any, list[Any]]:
    """Σ λ_i f_i(θ) - Σ λ_i f_i(θ*) for f_i(θ) = f_i(θ*) + a_i (θ - θ*) + r_i, r_i >= 0 by
    convexity, and Σ λ_i a_i = 0.
    """
    lam = sympy.symbols("l1 l2", positive=True)
    rest = sympy.symbols("r1 r2", nonnegative=True)
    a, step = sympy.symbols("a step", real=True)
    slope = (a, -a * lam[0] / lam[1])
    gap = sum(w * (s * step + sign * r) for w, s, r in zip(lam, slope, rest, strict=True))
    return gap, [w * r for w, r in zip(lam, rest, strict=True)]


def check(effort: Effort, bend: Fraction = Fraction(-1, 2)) -> Evidence:
    """Two objectives."""
    shows = "f = 2 ± (3/2) θ - θ²/2 on [-1, 1], {}: θ = 0 is optimal, its λ = (1/2, 1/2), "
    shows += "and 2 - θ²/2 is largest there"
    return Evidence.of(
        *(
            Counterexample.at(Call.of(case, objective=name), shows.format(name + more), bend=bend)
            for name, more in (("PropFair", ", M = 15/4"), ("q-FFL", ", q = 1"))
        )
    )


def check_repaired(effort: Effort, power: int = 1, sign: int = 1) -> Evidence:
    """The gradient, and convexity."""
    point = {"c1": "1/2", "c2": "4/3", "a1": "-1", "a2": "2/3", "q": "2", "alpha": "1/2", "M": "3"}
    spot = {"l1": "1/3", "l2": "2/3", "r1": "1", "r2": "1/2", "a": "-1", "step": "3"}
    return Evidence.of(
        SymbolicZero(Call.of(slopes, power=power), "simplify", (point,)),
        DefiniteForm(Call.of(convex, sign=sign), "expand", (spot,)),
    )


PRINTED = (
    r"After solving the inner maximization problem and suppose we have obtained the dual variable "
    r"$\lambda$, then our fair FL algorithms are essentially FedAvg with a fine-tuned weighting "
    r"vector $\lambda$."
)
CLAIMS = (
    Claim(
        id="propfair/dual-weights",
        whose="reading",
        number="Section 4.1, after (14)",
        line=236,
        title="The optimal model minimises the losses weighted by its own dual variable",
        printed=PRINTED,
        statement=(
            r"If $\theta^*$ minimises $A_s(f(\theta))$ and $\lambda = \nabla A_s(f(\theta^*))$, "
            r"then $\theta^*$ minimises $\sum_i \lambda_i f_i(\theta)$, FedAvg's objective with "
            r"weights $\lambda$."
        ),
        kind="implication",
        hypotheses=(
            ("optimal", "theta* = 0 minimises the objective on [-1, 1]"),
            ("losses", "0 <= f < M on [-1, 1]"),
        ),
        scope="two clients, one parameter; PropFair and q-FFL",
        expected="holds-repaired",
        check=check,
        mutants=(Mutant("convex", "+ θ²/20 for - θ²/2", partial(check, bend=Fraction(1, 20))),),
        reading="For losses of neural networks, for which the paper uses it, convexity is not "
        "given.",
        severity="remark",
        erratum=(
            "For losses that are not convex, theta* is a stationary point of the weighted loss, "
            "and may be its maximum: FedAvg with the right fixed weights then leaves it. The "
            "weights must be recomputed as the model moves, which min over theta of max over "
            "lambda does and a fixed lambda does not. Say 'for convex losses', or 'a stationary "
            "point of'."
        ),
    ),
    Claim(
        id="propfair/dual-weights/repaired",
        number="Section 4.1, after (14)",
        line=236,
        title="The optimal model is stationary for the losses weighted by its dual variable, and "
        "minimises them if they are convex",
        printed=PRINTED,
        statement=(
            r"$\nabla A_s(f(\theta)) = \sum_i \lambda_i \nabla f_i(\theta)$ with the $\lambda$ of "
            r"Table 1; where it vanishes and the $f_i$ are convex, $\sum_i \lambda_i f_i$ is least."
        ),
        kind="implication",
        hypotheses=(("smooth", "differentiable losses, interior theta*; PropFair: f < M"),),
        scope="q-FFL, TERM, PropFair; two clients, whose terms look the same for any number",
        expected="holds",
        check=check_repaired,
        mutants=(
            Mutant(
                "1/(M - f)^2", "squared in PropFair's weights", partial(check_repaired, power=2)
            ),
            Mutant("concave", "losses below their tangents", partial(check_repaired, sign=-1)),
        ),
    ),
)
