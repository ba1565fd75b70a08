"""Algorithm 1: a factor L that the updates lack."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, counterexample, identity


def update(w: Any, local: list[Any], losses: list[Any], L: Any, q: int, scaled: bool) -> Any:
    """Lines 6 to 8, in one dimension, of local models w-bar; ``scaled``: Delta w = L (w -
    w-bar).
    """
    moves = [(L if scaled else 1) * (w - v) for v in local]
    deltas = [f**q * d for f, d in zip(losses, moves, strict=True)]
    h = [q * f ** (q - 1) * d**2 + L * f**q for f, d in zip(losses, moves, strict=True)]
    return w - sum(deltas) / sum(h)


def case(instance: dict[str, Any], scaled: bool = False) -> Case:
    """With q = 0, the new model is the mean of the local ones, as in FedAvg (Algorithm 2)."""
    w, local, L = instance["w"], instance["local"], instance["L"]
    found = update(w, local, [Fraction(1)] * len(local), L, 0, scaled)
    relation = Relation(found, "==", sum(local, Fraction(0)) / len(local), "w^(t+1)")
    return Case((relation,), {"smooth": L > 0})


def residuals(scaled: bool = True) -> dict[str, Any]:
    """q = 0: the mean of three; q = 1, one local step of size 1/L: q-FedSGD's Delta and h."""
    L, w = sympy.symbols("L w", positive=True)
    v = sympy.symbols("v1:4", real=True)
    f, g = sympy.symbols("f1:4", positive=True), sympy.symbols("g1:4", real=True)
    one_step = [w - x / L for x in g]
    pairs = list(zip(f, g, strict=True))
    sgd = w - sum(a * b for a, b in pairs) / sum(b**2 + L * a for a, b in pairs)
    return {
        "q = 0": update(w, list(v), list(f), L, 0, scaled) - sum(v) / 3,
        "one local step, q = 1": update(w, one_step, list(f), L, 1, scaled) - sgd,
    }


CLAIMS = (
    Claim(
        "qffl/algorithm-1",
        79,
        "With q = 0, q-FedAvg is FedAvg",
        printed=r"$\Delta w_k^t = w^t - \bar w_k^{t+1}$, $\Delta_k^t = F_k^q(w^t) \Delta w_k^t$, "
        r"$h_k^t = qF_k^{q-1}(w^t) \|\Delta w_k^t\|^2 + LF_k^q(w^t)$, $w^{t+1} = w^t - "
        r"\frac{\sum_{k \in S_t} \Delta_k^t}{\sum_{k \in S_t} h_k^t}$; 'FedAvg (i.e., solving "
        r"q-FFL with q = 0)'",
        statement=r"For $q = 0$ line 8 gives the mean of the local models, $w^{t+1} = "
        r"\frac1K\sum \bar w_k^{t+1}$ (Algorithm 2).",
        kind="identity",
        hypotheses={"smooth": "L > 0"},
        scope="two devices, L = 2",
        severity="constant",
        check=counterexample(
            case,
            "q = 0, L = 2, w = 0, local models 1 and 3: the new model is 1, their mean is 2",
            {"w": Fraction(0), "local": [Fraction(1), Fraction(3)], "L": Fraction(2)},
        ),
        mutants={
            "L (w - w-bar)": ("the update as repaired", {"scaled": True}),
            "L = 1": ("where the factor does not show", {"L": Fraction(1)}),
        },
        erratum="Delta w_k stands in for the gradient in q-FedSGD, whose unit it lacks: write "
        "Delta w_k = L (w - w-bar_k), as the later version of the paper does. As printed the step "
        "is 1/L of the intended one for q = 0.",
        repaired=dict(
            title="With Delta w = L (w - w-bar), q-FedAvg is FedAvg for q = 0, and q-FedSGD for "
            "one local step of size 1/L",
            statement=r"With $\Delta w_k = L(w - \bar w_k)$: the mean of the local models for $q "
            r"= 0$; $\bar w_k = w - \nabla F_k/L$ gives Algorithm 3.",
            scope="three devices, one dimension; q = 0 and q = 1",
            size="m = 3",
            check=identity(residuals),
            mutants={"printed": ("w - w-bar", {"scaled": False})},
        ),
    ),
)
