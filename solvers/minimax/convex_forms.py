"""Each objective as a convex cvxpy expression in the losses, by disciplined convex programming.

A new objective registers its form: ``@convex_form.register`` on a function (objective, t, p).
"""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import Any

import cvxpy as cp
import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.aggregation import (
    AFL,
    QFFL,
    TERM,
    FedAvg,
    KolmogorovMean,
    Objective,
    PropFair,
    RankWeighted,
)
from fairfl.theory.aggregation.calculus import Transformed

# the largest denominator of a power that is written as second-order cones; other powers take power
# cones
CONES = 1024


@singledispatch
def convex_form(objective: Objective, t: Any, p: Array) -> Any:
    """A convex expression in ``t`` (n,) with the minimisers of A(t) over any set of t in the
    domain.

    It *is* A(t), except for PropFair, where it is the increasing function -sum_i p_i log(M - A) of
    it; ``p`` (n,) are the client weights. Where the domain has a lower bound (q-FFL: t >= 0), the
    caller adds it as a constraint. Errors: ValueError for an objective without such a form.
    """
    raise ValueError(
        "objective must have a form by the rules of disciplined convex programming, got "
        f"{objective!r}; "
        "give the losses as functions instead, or register a form with convex_form.register"
    )


@convex_form.register
def _fedavg(objective: FedAvg, t: Any, p: Array) -> Any:
    return p @ t


@convex_form.register
def _afl(objective: AFL, t: Any, p: Array) -> Any:
    return cp.max(t)


@convex_form.register
def _qffl(objective: QFFL, t: Any, p: Array) -> Any:
    power: Any = objective.q + 1  # cvxpy's annotation knows whole powers only
    if power == 1:
        return p @ t
    exact = float(Fraction(power).limit_denominator(CONES)) == power
    return cp.pnorm(cp.multiply(p ** (1 / power), t), power, max_denom=CONES, approx=exact)


@convex_form.register
def _term(objective: TERM, t: Any, p: Array) -> Any:
    return cp.log_sum_exp(objective.alpha * t + np.log(p)) / objective.alpha


@convex_form.register
def _propfair(objective: PropFair, t: Any, p: Array) -> Any:
    return -(p @ cp.log(objective.M - t))  # exponential cones; geo_mean would need rational weights


@convex_form.register
def _rank_weighted(objective: RankWeighted, t: Any, p: Array) -> Any:
    """A mixture of CVaRs: means of the k largest; under client weights as Rockafellar and Uryasev
    write them.
    """
    n = t.shape[0]
    if (p == p[0]).all():
        w = objective.rank_weights(n)
        steps = w - np.append(w[1:], 0.0)
        return cp.sum([c * cp.sum_largest(t, k) for k, c in enumerate(steps, start=1) if c > 0])
    at, height = objective._knots(n)
    slopes = np.append(np.diff(height) / np.diff(at), 0.0)
    parts: list[Any] = []
    for share, drop in zip(at[1:], slopes[:-1] - slopes[1:], strict=True):
        # W is the sum of drop * min(x, share), each a CVaR of the worst ``share`` times drop *
        # share
        if drop > 0:
            level = cp.Variable()
            parts.append(drop * (share * level + p @ cp.pos(t - level)))
    return cp.sum(parts)


@convex_form.register
def _kolmogorov(objective: KolmogorovMean, t: Any, p: Array) -> Any:
    case = objective.special_case
    if case is None:
        raise ValueError(
            "objective must be a named mean (linear, power, exponential or logarithmic s) for "
            f"losses of cvxpy, got {objective!r}; give the losses as functions instead"
        )
    return convex_form(case, t, p)


@convex_form.register
def _transformed(objective: Transformed, t: Any, p: Array) -> Any:
    g = (t - np.asarray(objective.shift)) / objective.unit
    return objective.factor * objective.unit * convex_form(objective.inner, g, p)
