"""How devices are drawn: sections 3.1 and 4.3, algorithms 1 to 3."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

M = 3


def subset(instance: dict[str, Any]) -> Case:
    """The probabilities P(k in S) of a subset of K devices add up to K, so they cannot be p_k."""
    p, K = instance["p"], instance["K"]
    premises = {"weights": min(p) >= 0 and sum(p) == 1, "subset": 1 <= K <= len(p)}
    return Case((Relation(sum(p), "==", K, "sum of P(k in S)"),), premises)


def drawn(K: int = 2, over: int = 0) -> dict[str, Any]:
    """E of (1/K) Σ x_k over K independent draws by p, less Σ p_k x_k."""
    p, x = list(sympy.symbols(f"p1:{M}")), sympy.symbols(f"x1:{M + 1}")
    p.append(1 - sum(p))
    mean = sum(
        sympy.prod([p[k] for k in draw]) * sum(x[k] for k in draw) / (K + over)
        for draw in product(range(M), repeat=K)
    )
    return {"(1/K) sum": mean - sum(a * b for a, b in zip(p, x, strict=True))}


def points(kind: str = "share") -> dict[str, Any]:
    """Σ p_k F_k with p_k = n_k/n is the mean loss over all data points; losses by device's sums
    s_k.
    """
    n, s = sympy.symbols(f"n1:{M + 1}", positive=True), sympy.symbols(f"s1:{M + 1}")
    share = [v / sum(n) if kind == "share" else sympy.Rational(1, M) for v in n]
    weighted = sum(w * total / v for w, total, v in zip(share, s, n, strict=True))
    return {"(1)": weighted - sum(s) / sum(n)}


def check(effort: Effort, K: int = 2) -> Evidence:
    """Two of three devices."""
    shows = "K = 2 of three devices: the probabilities of being in S add up to 2, the p_k to 1"
    third = Fraction(1, 3)
    return Evidence.of(Counterexample.at(Call.of(subset), shows, p=[third] * 3, K=K))


def check_drawn(effort: Effort, over: int = 0) -> Evidence:
    """One to three draws."""
    point = {"p1": "1/2", "p2": "1/5", "x1": "3", "x2": "-1", "x3": "2/3"}
    return Evidence.of(
        *(SymbolicZero(Call.of(drawn, K=K, over=over), "expand", (point,)) for K in (1, 2, 3))
    )


def check_points(effort: Effort, kind: str = "share") -> Evidence:
    """The identity."""
    point = {"n1": "3", "n2": "5", "n3": "1", "s1": "2", "s2": "1/2", "s3": "4"}
    return Evidence.of(SymbolicZero(Call.of(points, kind=kind), "together", (point,)))


PRINTED = (
    r"Server selects a subset $S_t$ of $K$ devices at random (each device $k$ is chosen with prob. "
    r"$p_k$) [...] $w^{t+1} = \frac{1}{K} \sum_{k \in S_t} w_k^{t+1}$. [Section 3.1:] Most prior "
    r"work solves (1) by sampling a subset of devices with probabilities $p_k$ at each round."
)
CLAIMS = (
    Claim(
        id="qffl/sampling",
        whose="reading",
        number="Algorithms 1 to 3",
        line=84,
        title="A subset of K devices in which device k is with probability p_k",
        printed=PRINTED,
        statement=r"A random subset of $K$ devices can have $P(k \in S_t) = p_k$, $\sum_k p_k = "
        r"1$.",
        kind="existence",
        hypotheses=(("weights", "p >= 0 with sum one"), ("subset", "1 <= K <= m")),
        scope="K = 2; the same sum for every K >= 2",
        expected="holds-repaired",
        check=check,
        mutants=(Mutant("K = 1", "a single device", partial(check, K=1)),),
        severity="constant",
        erratum=(
            r"The probabilities of being in a subset of K add up to K. Read K independent draws, "
            r"each by p, with repetition: then $\frac1K\sum$ is unbiased for (1). Without "
            r"repetition inclusion by $Kp_k$ needs $p_k \le 1/K$."
        ),
    ),
    Claim(
        id="qffl/sampling/repaired",
        number="Algorithms 1 to 3",
        line=84,
        title="Over K independent draws by p, (1/K) times the sum has the mean of (1)",
        printed=PRINTED,
        statement=r"$E\frac1K\sum_{j=1}^K x_{k_j} = \sum_k p_k x_k$ for $k_j \sim p$, with "
        r"repetition.",
        kind="identity",
        hypotheses=(),
        scope="three devices, K = 1, 2, 3",
        expected="holds",
        check=check_drawn,
        mutants=(Mutant("K + 1", "1/(K + 1) for 1/K", partial(check_drawn, over=1)),),
        notes="Sums that are linear in the draw, as in algorithm 2. The steps of algorithms 1 and "
        "3 are ratios of two sums: for q > 0 their mean over the draws is not the step of all "
        "devices.",
    ),
    Claim(
        id="qffl/data-points",
        number="Section 4.3",
        line=140,
        title="Weighting each data point equally gives the original objective (1)",
        printed="One heuristic is to weight each data point equally, which reduces to the original "
        "objective in (1) (i.e., q-FFL with q = 0). [Section 3.1:] We can set p_k to be n_k/n",
        statement=r"$\sum_k \frac{n_k}{n} F_k$ is the mean loss over all data points.",
        kind="identity",
        hypotheses=(),
        scope="three devices",
        expected="holds",
        check=check_points,
        mutants=(Mutant("1/m", "devices of equal weight", partial(check_points, kind="device")),),
    ),
)
