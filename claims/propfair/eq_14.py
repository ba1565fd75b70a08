"""Equation (14): every objective as the largest weighted sum of losses minus a penalty on the
weights.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Relation, drawn, every, identity, proof
from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, PropFair

N = 3
OBJECTIVES = {
    "FedAvg": FedAvg(),
    "q-FFL": QFFL(q=1.5),
    "AFL": AFL(),
    "TERM": TERM(alpha=2.0),
    "PropFair": PropFair(M=2.0),
}


def residuals(turned: int = 1) -> dict[str, Any]:
    """A(f) = lambda.f - A*(lambda) at lambda = grad A(f), and that this lambda is in the domain of
    A*.

    q-FFL: f_i = g_i, lambda_i = (g_i/A)^q/n. PropFair: M - f_i = w_i^3 for three clients, G = w_1
    w_2 w_3.
    """
    q, alpha, M = sympy.symbols("q alpha M", positive=True)
    f = sympy.symbols(f"f1:{N + 1}", positive=True)
    w = sympy.symbols(f"w1:{N + 1}", positive=True)
    power = sum(x ** (q + 1) for x in f) / N
    A = power ** (1 / (q + 1))
    lq = [x**q / (N * power ** (q / (q + 1))) for x in f]
    total = sum(sympy.exp(alpha * x) for x in f)
    lt = [sympy.exp(alpha * x) / total for x in f]
    penalty = (
        sum(p * (alpha * x - sympy.log(total)) for p, x in zip(lt, f, strict=True)) + sympy.log(N)
    ) / alpha
    G = w[0] * w[1] * w[2]
    lp = [turned * G / (N * x**3) for x in w]
    fp = [M - x**3 for x in w]

    def dot(a: Any, b: Any) -> Any:
        return sum(x * y for x, y in zip(a, b, strict=True))

    return {
        "q-FFL": dot(lq, f) - A,
        # (N lambda_i)^((q+1)/q) = f_i^(q+1)/power
        "q-FFL, norm": sum(x ** (q + 1) for x in f) / (N * power) - 1,
        "TERM": dot(lt, f) - penalty - sympy.log(total / N) / alpha,
        "TERM, sum": sum(lt) - 1,
        "PropFair": dot(lp, fp) - M * (sum(lp) - 1) - (M - G),
        "PropFair, product": sympy.prod([N * x for x in lp]) - 1,
        "FedAvg": sum(f) / N - sum(x / N for x in f),
    }


def case(instance: dict[str, Any], name: str, bound: bool = True) -> Case:
    """Fenchel's inequality at f for another point's weights, and equality at its own; the losses
    are in the domain.
    """
    objective = OBJECTIVES[name]
    f, g = (np.array([float(x) for x in instance[k]]) for k in ("f", "g"))
    other, own = objective.dual_weights(g), objective.dual_weights(f)
    value = float(objective.value(f))
    left = float(other @ f - objective.conjugate(other))
    relations = (
        Relation(left, "<=" if bound else "==", value, "weights of another point"),
        Relation(float(own @ f - objective.conjugate(own)), "==", value, "its own weights"),
        Relation(0.0, "<=", float(own.min()), "weights are non-negative"),
    )
    return Case(relations, {"losses": bool(f.min() >= 0 and f.max() < 2), "convex": True})


@st.composite
def pairs(draw: st.DrawFn) -> dict[str, Any]:
    """Two vectors of losses in [0, 2); one in four the same vector twice."""
    n = draw(st.integers(1, 4))
    f, g = ([Fraction(draw(st.integers(0, 15)), 8) for _ in range(n)] for _ in range(2))
    return {"f": f, "g": draw(st.sampled_from([f, g, g, g]))}


CLAIMS = (
    Claim(
        "propfair/eq-14",
        225,
        "Minimising A_s is minimising, over the model, the largest weighted sum of losses less "
        "A_s*(lambda)",
        printed=r"$\min_{\theta} A_s(f(\theta)) \equiv \min_{\theta} \max_{\lambda \geq 0} \sum_i "
        r"\lambda_i f_i(\theta) - A_s^*(\lambda)$",
        statement=r"$A(f) = \max_{\lambda \ge 0} \lambda^\top f - A^*(\lambda)$ for the five "
        r"objectives: $\le$ by the definition of $A^*$, $=$ at $\lambda = \nabla A(f) \ge 0$, "
        r"which lies in the domain of $A^*$.",
        kind="identity",
        hypotheses={
            "convex": "A_s convex, closed and increasing in each loss, as the five are",
            "losses": "f >= 0, and f < M for PropFair (see propfair/proposition-4.1)",
        },
        scope="identities for n = 3; that the gradient of a convex mean supports it: as stated",
        size="n = 3",
        check=every(
            identity(residuals, method="simplify"),
            proof(
                "fenchel_young.v",
                "supports",
                *(drawn(case, pairs, examples=(20, 1000), name=name) for name in OBJECTIVES),
            ),
        ),
        mutants={
            "2 lambda": ("twice PropFair's weights", {"turned": 2}),
            "any weights": ("equality at every dual weight", {"bound": False}),
        },
        rests_on=(
            "propfair/conjugate-afl",
            "propfair/conjugate-fedavg",
            "propfair/conjugate-qffl/repaired",
            "propfair/conjugate-term",
            "propfair/conjugate-propfair",
        ),
        gap="the sentence before (14) does not suppose A_s convex, which (14) needs (the "
        "geometric mean, s = log, is 5/2 at (5/2, 5/2), and (14) gives 2 there); and lambda >= 0 "
        "suffices because A_s increases in each loss, not because f >= 0 (A = f_1 - f_2); the "
        "statement survives: the five objectives are convex and increasing.",
    ),
)
