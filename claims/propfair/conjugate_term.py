"""(16), (C.9)-(C.14): the conjugate of TERM's mean."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb
from hypothesis import strategies as st

from fairfl.claims.exact import ball
from fairfl.claims.forms import CLASSICAL, Case, Claim, Relation, drawn, proof


def case(instance: dict[str, Any], factor: Fraction = Fraction(1), mean: bool = True) -> Case:
    """(16) in balls: no f beats A*(lambda), zeros in lambda included; and f near its maximiser
    comes close to it. For mutants: ``factor`` of A*, and the sum for the mean in A.
    """
    x, f, alpha = instance["lambda"], instance["f"], ball(instance["alpha"])

    def maximand(f: list[arb]) -> arb:
        total = sum(((alpha * g).exp() for g in f), arb(0)) / (len(f) if mean else 1)
        return sum((ball(v) * g for v, g in zip(x, f, strict=True)), arb(0)) - total.log() / alpha

    penalty = sum((ball(v) * ball(v).log() for v in x if v), arb(0)) + arb(len(x)).log()
    penalty *= ball(factor) / alpha
    most = penalty + ball(Fraction(1, 10**12))
    near = maximand([(ball(v).log() if v else arb(-60)) / alpha for v in x])
    return Case(
        (
            Relation(maximand([ball(g) for g in f]), "<=", most, "bound"),
            Relation(near, "<=", most, "bound, near the maximiser"),
            Relation(penalty - ball(Fraction(1, 10**6)), "<=", near, "approached"),
        ),
        {"simplex": sum(x, Fraction(0)) == 1 and min(x) >= 0},
    )


@st.composite
def weights(draw: st.DrawFn) -> dict[str, Any]:
    """Points of the simplex, zeros among them, and losses of any sign."""
    n = draw(st.integers(1, 4))
    w = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any))
    return {
        "lambda": [Fraction(v, sum(w)) for v in w],
        "alpha": Fraction(draw(st.integers(1, 12)), 4),
        "f": [Fraction(draw(st.integers(-9, 9)), 3) for _ in range(n)],
    }


CLAIMS = (
    Claim(
        "propfair/conjugate-term",
        246,
        "The conjugate of TERM's mean is a relative entropy on the simplex; the weights are "
        "exponential in the losses",
        number="Eq. (16), (C.14)",
        printed=r"$A_s^*(\lambda) = \frac{1}{\alpha} \sum_i \lambda_i \log \lambda_i + "
        r"\frac{1}{\alpha} \log n$, if $\lambda^\top \mathbf{1} = 1, \lambda \geq \mathbf{0}$, "
        r"and $\infty$ otherwise. The maximizer is achieved at $\lambda_i = \frac{\exp(\alpha "
        r"f_i)}{\sum_i \exp(\alpha f_i)}$",
        statement=r"On $R^n$: $A^*(\lambda) - (\lambda^\top f - A(f)) = \frac1\alpha KL(\lambda "
        r"\| softmax(\alpha f)) \ge 0$, which is $0$ at $\lambda = softmax(\alpha f)$ and comes "
        r"near $0$ for every $\lambda$ of the simplex; elsewhere $f = t\mathbf{1}$, or $f_i \to "
        r"-\infty$ for $\lambda_i < 0$, is unbounded.",
        kind="identity",
        hypotheses={"simplex": "lambda >= 0 of sum one; 0 log 0 = 0"},
        scope="as stated, n >= 1",
        check=proof(
            "entropy.v",
            "inside equality approached outside",
            drawn(case, weights),
            axioms=CLASSICAL,
        ),
        mutants={
            "no 1/n": ("the sum for the mean in A", {"mean": False}),
            "1.01 A*": ("the conjugate 1 % larger", {"factor": Fraction(101, 100)}),
            "0.99 A*": ("the conjugate 1 % smaller", {"factor": Fraction(99, 100)}),
        },
        reading="On R^n, as (C.9) says. On f >= 0 it is another one: see propfair/table-1.",
        gap="(C.12) cannot 'always be satisfied': where some lambda_i = 0, as at (1, 0), no f has "
        "these weights; the statement survives: there the supremum is approached as f_i tends to "
        "minus infinity, and has the same value.",
    ),
)
