"""Dual weights and conjugates by maximising PropFair's eq. (14) in cvxpy: slow, and independent of
`theory`.

    A(f) = max over λ of λ.f - A*(λ),

with A* and the set where it is finite written as Table 1 has them (repaired where it needs that:
see the objectives), and handed to an interior-point code. Nothing is shared with ``value``,
``dual_weights`` and ``conjugate``.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import cvxpy as cp
import numpy as np

from fairfl._support.checks import Array, finite, one_of
from fairfl.solvers.minimax import conic
from fairfl.solvers.minimax.rank_projection import client_shares
from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, Objective, PropFair, RankWeighted


def maximise_dual(losses: Any, objective: Objective, domain: str = "native") -> tuple[float, Array]:
    """(A(f), λ) for one loss vector f (n,), by maximising λ.f - A*(λ) over λ; to about 1e-8, and λ
    to its root.

    On the domain "nonnegative" A*(λ) = min over v >= λ of the native A*(v), so that both are
    unknowns there. Errors: ValueError for f outside the domain, or an objective other than the six
    of the paper (client weights may be given); CertificationError where the code fails.
    """
    f = finite("losses", losses)
    objective.value(f)  # its checks
    if f.ndim != 1:
        raise ValueError(f"losses must be one vector of shape (n,), got shape {f.shape}")
    one_of("domain", domain, ("native", "nonnegative"))
    n = len(f)
    v = cp.Variable(n)
    conjugate, limits = dual_form(objective, v, client_shares(objective, n))
    weights = v
    if domain == "nonnegative" and np.any(objective.domain.lower != 0):
        weights = cp.Variable(n)
        limits = [*limits, weights <= v]
    answer = conic.minimise(conjugate - weights @ f, limits, f"the inner maximum of {objective!r}")
    return -answer.value, np.asarray(weights.value, dtype=np.float64)


@singledispatch
def dual_form(objective: Objective, w: Any, p: Array) -> tuple[Any, list[Any]]:
    """(A*(w) as a convex expression, the constraints under which it is finite) on the native
    domain.
    """
    raise ValueError(
        "objective must be one of FedAvg, QFFL, AFL, TERM, PropFair, RankWeighted, got "
        f"{objective!r}"
    )


@dual_form.register
def _fedavg(objective: FedAvg, w: Any, p: Array) -> tuple[Any, list[Any]]:
    return cp.Constant(0.0), [w == p]


@dual_form.register
def _qffl(objective: QFFL, w: Any, p: Array) -> tuple[Any, list[Any]]:
    """The native domain is f >= 0 here: the positive part of w counts."""
    q = objective.q
    if q == 0:
        return cp.Constant(0.0), [w <= p]
    r: Any = (q + 1) / q  # cvxpy's annotation knows whole powers only
    return cp.Constant(0.0), [
        cp.pnorm(cp.multiply(p ** (1 / r - 1), cp.pos(w)), r, approx=False) <= 1
    ]


@dual_form.register
def _afl(objective: AFL, w: Any, p: Array) -> tuple[Any, list[Any]]:
    return cp.Constant(0.0), [w >= 0, cp.sum(w) == 1]


@dual_form.register
def _term(objective: TERM, w: Any, p: Array) -> tuple[Any, list[Any]]:
    return cp.sum(cp.rel_entr(w, p)) / objective.alpha, [cp.sum(w) == 1]


@dual_form.register
def _propfair(objective: PropFair, w: Any, p: Array) -> tuple[Any, list[Any]]:
    return objective.M * (cp.sum(w) - 1), [p @ cp.log(w) >= float(p @ np.log(p))]


@dual_form.register
def _rank_weighted(objective: RankWeighted, w: Any, p: Array) -> tuple[Any, list[Any]]:
    """The permutahedron, or its weighted sister: w(S) <= W(p(S)) for all S, W the least of some
    lines a x + b.
    """
    n = len(p)
    if (p == p[0]).all():
        caps = np.cumsum(objective.rank_weights(n))
        return cp.Constant(0.0), [
            cp.sum(w) == 1,
            *(cp.sum_largest(w, k) <= caps[k - 1] for k in range(1, n)),
        ]
    at, height = objective._knots(n)
    slopes = np.diff(height) / np.diff(at)
    lines = zip(slopes, height[1:] - slopes * at[1:], strict=True)
    return cp.Constant(0.0), [cp.sum(w) == 1, *(cp.sum(cp.pos(w - a * p)) <= b for a, b in lines)]
