"""Algorithms 1 to 3: a factor L that updates lack, and the sampling of devices."""

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Instance, Relation, Residual, counterexample, identity


def update(w: Any, local: list[Any], losses: list[Any], L: Any, q: int, scaled: bool) -> Any:
    """Lines 6 to 8, in one dimension, for models w-bar; ``scaled``: Delta w = L (w - w-bar)."""
    moves = [(L if scaled else 1) * (w - v) for v in local]
    deltas = [f**q * d for f, d in zip(losses, moves, strict=True)]
    h = [q * f ** (q - 1) * d**2 + L * f**q for f, d in zip(losses, moves, strict=True)]
    return w - sum(deltas) / sum(h)


def case(instance: Instance, scaled: bool = False) -> Case:
    """With q = 0, the new model is the mean of the local ones, as in FedAvg (Algorithm 2)."""
    w, local, L = instance["w"], instance["local"], instance["L"]
    model = update(w, local, [Fraction(1)] * len(local), L, 0, scaled)
    relation = Relation(model, "==", sum(local, Fraction(0)) / len(local), "w^(t+1)")
    return Case((relation,), {"smooth": L > 0})


def residuals(scaled: bool = True) -> dict[str, Residual]:
    """q = 0: the mean of three; q = 1, one local step of size 1/L: q-FedSGD's Delta and h."""
    L, w = sympy.symbols("L w", positive=True)
    v = sympy.symbols("v1:4", real=True)
    f, g = sympy.symbols("f1:4", positive=True), sympy.symbols("g1:4", real=True)
    one_step = [w - x / L for x in g]
    pairs = list(zip(f, g, strict=True))
    sgd = w - sum(a * b for a, b in pairs) / sum(b**2 + L * a for a, b in pairs)
    return {
        "q = 0": (update(w, list(v), list(f), L, 0, scaled), sum(v) / 3),
        "one local step, q = 1": (update(w, one_step, list(f), L, 1, scaled), sgd),
    }


def subset(instance: Instance) -> Case:
    """The probabilities P(k in S) of a subset of K devices add up to K, so they cannot be p_k."""
    p, K = instance["p"], instance["K"]
    premises = {"weights": min(p) >= 0 and sum(p) == 1, "subset": 1 <= K <= len(p)}
    return Case((Relation(sum(p), "==", K, "sum of P(k in S)"),), premises)


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
        scope="two devices, L = 5/2",
        severity="constant",
        check=counterexample(
            case,
            "q = 0, L = 5/2, w = 2/7, local models 1 and 3: the new model, and their mean",
            {"w": "2/7", "local": [1, 3], "L": "5/2"},
            "34/35 == 2",
        ),
        mutants={
            "L (w - w-bar)": ("the update as repaired", {"scaled": True}),
            "L = 1": ("where the factor does not show", {"L": Fraction(1)}),
        },
        erratum="Delta w_k stands in for the gradient in q-FedSGD, whose unit it lacks: write "
        "Delta w_k = L (w - w-bar_k), as the later version of the paper does. As printed the step "
        "is 1/L of the intended one for q = 0.",
        repaired=dict(
            title="With Delta w = L (w - w-bar), q = 0 is FedAvg, one step is q-FedSGD",
            statement=r"With $\Delta w_k = L(w - \bar w_k)$: the mean of the local models for $q "
            r"= 0$; $\bar w_k = w - \nabla F_k/L$ gives Algorithm 3.",
            scope="three devices, one dimension; q = 0 and q = 1",
            size="m = 3",
            check=identity(residuals, "503/252; 1.55688"),
            mutants={"printed": ("w - w-bar", {"scaled": False})},
        ),
    ),
    Claim(
        "qffl/sampling",
        84,
        "A subset of K devices in which device k is with probability p_k",
        number="Algorithms 1 to 3",
        printed=r"Server selects a subset $S_t$ of $K$ devices at random (each device $k$ is "
        r"chosen with prob. $p_k$) [...] $w^{t+1} = \frac{1}{K} \sum_{k \in S_t} w_k^{t+1}$. "
        r"[Section 3.1:] Most prior work solves (1) by sampling a subset of devices with "
        r"probabilities $p_k$ at each round.",
        kind="existence",
        hypotheses={"weights": "p >= 0 with sum one", "subset": "1 <= K <= m"},
        scope="K = 3; the same sum for every K >= 2",
        whose="reading",
        severity="constant",
        check=counterexample(
            subset,
            "K = 3 of four devices: the probabilities of being in S add up to 3, the p_k to 1",
            {"p": ["2/7", "3/7", "1/7", "1/7"], "K": 3},
            "1 == 3",
        ),
        mutants={"K = 1": ("a single device", {"K": 1})},
        erratum=r"The probabilities of being in a subset of K add up to K. Read K independent "
        r"draws, each by p, with repetition: then $\frac1K\sum$ is unbiased for (1). Without "
        r"repetition inclusion by $Kp_k$ needs $p_k \le 1/K$.",
    ),
)
