"""Algorithm 1: where it is normalised gradient descent, and whom its weights forget."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, counterexample, identity


def one_step(local: int = 1, length: str = "1") -> dict[str, sympy.Expr]:
    """Line 8 after ``local`` steps of gradient descent on two curvatures, less the normalised step
    ``length`` eta g/||g||; g = c w at a w > 0.
    """
    curvatures, w = sympy.symbols("c1:3", positive=True), sympy.symbols("w1:3", positive=True)
    eta = sympy.symbols("eta", positive=True)
    slope = [c * x for c, x in zip(curvatures, w, strict=True)]
    moved = [x - x * (1 - eta * c) ** local for c, x in zip(curvatures, w, strict=True)]

    def normed(v: list[sympy.Expr]) -> list[sympy.Expr]:
        size = sympy.sqrt(sum(x**2 for x in v))
        return [eta * x / size for x in v]

    pairs = zip(normed(moved), normed(slope), strict=True)
    return {f"coordinate {k}": a - sympy.Rational(length) * b for k, (a, b) in enumerate(pairs)}


def unmoved(instance: dict[str, Any]) -> Case:
    """Line 9 keeps the model where no client moves it: sum over S_t of p_k w is w."""
    found = sum(instance["p"][k] * instance["w"] for k in instance["chosen"])
    return Case(
        (Relation(found, "==", instance["w"], "model"),), {"weights": sum(instance["p"]) == 1}
    )


CLAIMS = (
    Claim(
        "dynamic/algorithm-1",
        126,
        "With one full local step, algorithm 1 is normalised gradient descent",
        printed="our method could be thought of as a normalized version of Fedavg where we use the "
        "normalized SGD instead of SGD for local training",
        statement=r"After one local step of gradient descent line 8 moves a client by $\eta_t "
        r"g/\|g\|$.",
        kind="identity",
        scope="quadratics of any two curvatures",
        size="d = 2",
        check=identity(one_step, method="simplify"),
        mutants={
            "two local steps": ("on two curvatures", {"local": 2}),
            "1 % longer": ("1.01 eta", {"length": "101/100"}),
        },
        notes="So theorem 2 speaks of algorithm 1 with E = 1 and full batches only; multiplying a "
        "client's loss by a constant changes nothing then. After more local steps the two differ: "
        "algorithm 1 normalises their sum once, which is then eta long, n normalised steps n eta.",
    ),
    Claim(
        "dynamic/algorithm-1-sampling",
        131,
        "Line 9 keeps the model where no client moves it",
        number="Algorithm 1, line 9",
        printed=r"$w_{t+1} \leftarrow \sum_{k \in S_t} p_k^i w_{t+1}^k$",
        statement=r"If $w_{t+1}^k = w_t$ for all $k \in S_t$, then $w_{t+1} = w_t$.",
        kind="identity",
        hypotheses={"weights": "the weights of all clients sum to 1"},
        scope="one of two clients",
        severity="constant",
        check=counterexample(
            unmoved,
            "two clients of weight 1/2, one of them drawn: the model 1 becomes 1/2",
            {"p": [Fraction(1, 2)] * 2, "chosen": [0], "w": 1},
        ),
        mutants={"everybody": ("both clients are drawn", {"chosen": [0, 1]})},
        reading="p_k^i is a weight among all who have joined (p_k = n_k/sum n in (1)), S_t a "
        "random part of them.",
        erratum="With C < 1 the weights of those who are drawn do not sum to one, and line 9 "
        "shrinks the model towards 0 in every round (algorithms 2 to 4 likewise; C also leaves C "
        "|v| clients, which need not be a whole number). Divide by their sum, or add updates "
        "instead of models.",
        expected="refuted",
    ),
)
