"""How devices are drawn: section 3.1, algorithms 1 to 3."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, counterexample, every, identity


def subset(instance: dict[str, Any]) -> Case:
    """The probabilities P(k in S) of a subset of K devices add up to K, so they cannot be p_k."""
    p, K = instance["p"], instance["K"]
    premises = {"weights": min(p) >= 0 and sum(p) == 1, "subset": 1 <= K <= len(p)}
    return Case((Relation(sum(p), "==", K, "sum of P(k in S)"),), premises)


def drawn(K: int, over: int = 0) -> dict[str, Any]:
    """E of (1/K) Σ x_k over K independent draws by p, less Σ p_k x_k."""
    p, x = list(sympy.symbols("p1:3")), sympy.symbols("x1:4")
    p.append(1 - sum(p))
    mean = sum(
        sympy.prod([p[k] for k in draw]) * sum(x[k] for k in draw) / (K + over)
        for draw in product(range(3), repeat=K)
    )
    return {"(1/K) sum": mean - sum(a * b for a, b in zip(p, x, strict=True))}


CLAIMS = (
    Claim(
        "qffl/sampling",
        84,
        "A subset of K devices in which device k is with probability p_k",
        number="Algorithms 1 to 3",
        printed=r"Server selects a subset $S_t$ of $K$ devices at random (each device $k$ is "
        r"chosen with prob. $p_k$) [...] $w^{t+1} = \frac{1}{K} \sum_{k \in S_t} w_k^{t+1}$. "
        r"[Section 3.1:] Most prior work solves (1) by sampling a subset of devices with "
        r"probabilities $p_k$ at each round.",
        statement=r"A random subset of $K$ devices can have $P(k \in S_t) = p_k$, $\sum_k p_k = "
        r"1$.",
        kind="existence",
        hypotheses={"weights": "p >= 0 with sum one", "subset": "1 <= K <= m"},
        scope="K = 2; the same sum for every K >= 2",
        whose="reading",
        severity="constant",
        check=counterexample(
            subset,
            "K = 2 of three devices: the probabilities of being in S add up to 2, the p_k to 1",
            {"p": [Fraction(1, 3)] * 3, "K": 2},
        ),
        mutants={"K = 1": ("a single device", {"K": 1})},
        erratum=r"The probabilities of being in a subset of K add up to K. Read K independent "
        r"draws, each by p, with repetition: then $\frac1K\sum$ is unbiased for (1). Without "
        r"repetition inclusion by $Kp_k$ needs $p_k \le 1/K$.",
        repaired=dict(
            title="Over K independent draws by p, (1/K) times the sum has the mean of (1)",
            statement=r"$E\frac1K\sum_{j=1}^K x_{k_j} = \sum_k p_k x_k$ for $k_j \sim p$, with "
            r"repetition.",
            kind="identity",
            hypotheses={},
            scope="three devices, K = 1, 2, 3",
            size="m = 3",
            check=every(*(identity(drawn, method="expand", K=K) for K in (1, 2, 3))),
            mutants={"K + 1": ("1/(K + 1) for 1/K", {"over": 1})},
            notes="Sums that are linear in the draw, as in algorithm 2. The steps of algorithms 1 "
            "and 3 are ratios of two sums: for q > 0 their mean over the draws is not the step of "
            "all devices.",
        ),
    ),
)
