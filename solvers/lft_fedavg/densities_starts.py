"""Starts of the search for LFT+FedAvg's rules on densities: CFL's rules, and penalised rules."""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily, Rules, largest
from fairfl.solvers.lft_fedavg.densities_sqp import derivatives, plain_score
from fairfl.solvers.lft_fedavg.finite_faces import Faces
from fairfl.solvers.lft_fedavg.law_cells import LawCells
from fairfl.solvers.numerics.interior_point import maximise
from fairfl.solvers.tolerances import PROGRAMME_TIED

EVEN, BESIDE = 1000, 1e-6
"""Even cells of a place, and the width of those beside CFL's cuts, over the line's: there scores
are about zero.
"""
SMALLEST = 1e-6  # multipliers and budgets up to this are zero: rounding, and the cells' widths
STEPS = 20  # of Newton's method in a box, at most: starts need not be exact
STRENGTHS = 0.5 ** np.arange(-2.0, 9.0)
"""The first t, decreasing: CFL's multipliers are at most the larger group's mass."""
SPREAD = 1.5  # standard deviation of the logarithm of a random weight
NEARLY = 1e-6  # multipliers no larger than this share of the penalty are zero
GAIN, NOISE = 1e-20, 1e-14  # steps that promise less are not taken; and the rounding of D


def rules_of_cfl(cells: LawCells, disparities: Array) -> Rules:
    """The rules at the budgets that CFL's rules keep at the disparities (P,), where optimal.

    Nothing is better there, and of many clients that is nearly always so. It shows in a linear
    programme: multipliers whose scores have the sign of CFL's in each cell of a fine partition,
    whose ends include CFL's cuts. Other starts lead to the same, in up to five times the time.
    """
    family, cfl, lam, eps = cells.family, cells.cfl_rules(disparities), [], []
    for j in range(disparities.size):
        edges = []
        for sets, ends in zip(cfl.sets, cells.ends(EVEN), strict=True):
            beside = BESIDE * (ends[-1] - ends[0]) * np.array([[-1.0], [0.0], [1.0]])
            edges.append(np.union1d(ends, np.clip(sets.line(j)[0] + beside, ends[0], ends[-1])))
        integrals = cells.integrals(edges)
        faces, f = cells.faces(integrals), cells.reduced(cfl.lam[j], integrals) > 0
        values = faces.local.values(f * 1.0)
        multipliers = _multipliers(faces, f, values)
        if multipliers is not None:
            is_bound = largest((multipliers != 0)[None] * 1.0, family.client) > 0
            local = largest(np.abs(values)[None], family.client)
            lam.append(multipliers)
            eps.append(np.where(is_bound & (local > SMALLEST), local, 1.0 - is_bound)[0])
    start = family.at(np.reshape(lam, (-1, family.client.size)))
    return family.follow(start, np.reshape(eps, (len(eps), -1)))[0] if eps else start


def _multipliers(faces: Faces, f: Array, values: Array) -> Array | None:
    """The smallest multipliers (K,) that a rule (N,) of 0 and 1 is complementary to at the budgets
    that its ``values`` (K,) keep; None where there are none.
    """
    programme, rows, gain = faces.dual
    owner = faces.local.owner
    room = largest(np.abs(values)[None], owner)[0, owner] + np.stack([values, -values])
    low = np.where((room <= PROGRAMME_TIED) & (faces.scale > 0), -1.0, -np.inf).ravel()
    below, above = np.where(f, -np.inf, 0.0), np.where(f, 0.0, np.inf)
    # the multipliers are the prices of the dual programme, which has fewer rows
    solved = programme.refined(gain, below, above, low, np.full(low.size, np.inf))
    lam = None if solved is None else np.subtract(*np.split(-solved.y, 2))
    return None if lam is None else np.where(np.abs(lam) <= SMALLEST, 0.0, lam)


def penalised(family: RuleFamily, free: Rules, disparities: Array, count: int) -> Rules:
    """Rules on the path from the ``free`` one to pooled disparities near those wanted (P,), and at
    ``STRENGTHS`` of ``count`` sets of weights, all but the first random: under an exact ℓ1 penalty
    in place of budgets (Nocedal and Wright, *Numerical Optimization*, chapter 17).

    The rules that maximise accuracy - Σ_k c_k max(σ v_k, 0), v_k the clients' differences of rates,
    have the dual min D(λ) over λ_k between 0 and -σ c_k. A solution also solves LFT+FedAvg for
    budgets of its own: where λ_k is inside, v_k = 0, and at -σ c_k, v_k has the sign of σ. Let c =
    t·w with Σ w_k v_k the pooled difference. While no v_k has changed its sign the rule is CFL's,
    so that few clients are bound. From common budgets instead nine clients lose up to 0.04.
    """
    sign = np.sign(free.md[0]) or 1.0
    pooled = np.hstack(family.pooled)[0]
    weights = np.linalg.lstsq(np.hstack(family.problem.coefficients).T, pooled, rcond=None)[0]
    weights = -sign * np.where(family.bound, weights, 0.0)
    rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
    scales = np.exp(SPREAD * rng.normal(size=(count, STRENGTHS.size, weights.size)))
    scales[0] = 1.0
    penalties = STRENGTHS[:, None] * scales * weights
    on_path = _penalised(family, penalties.reshape(-1, weights.size))
    t = np.interp(disparities, sign * on_path.md[: STRENGTHS.size], STRENGTHS)
    candidates = on_path.join(_penalised(family, np.outer(t, weights)))
    # where λ is inside its interval the client is exactly fair: its budget is 0 but for rounding
    is_inside = largest(candidates.excess, family.client) > 0
    followed, is_solved = family.follow(candidates, np.where(is_inside, 0.0, candidates.budgets))
    rows = np.flatnonzero(is_solved)
    return candidates.replaced(rows, followed.take(rows))


def _penalised(family: RuleFamily, penalties: Array) -> Rules:
    """The rules with the least D(λ), λ between 0 and ``penalties`` (B, K), by Newton's method."""
    scales, best, k = np.abs(penalties), family.at(penalties), penalties.shape[1]
    low, high = np.minimum(penalties, 0.0), np.maximum(penalties, 0.0)
    radius, unfinished = np.ones((len(penalties), 1)), np.arange(len(penalties))
    for _ in range(STEPS):
        rules, scale, trust_radius = best.take(unfinished), scales[unfinished], radius[unfinished]
        gradient = -rules.values * scale
        hessian = derivatives(family, rules, plain_score(rules))[0][:, :k]
        hessian = hessian * scale[:, None] * scale[:, :, None]
        divisor = np.where(scale > 0, scale, np.inf)
        below = np.maximum((low[unfinished] - rules.lam) / divisor, -trust_radius)
        above = np.minimum((high[unfinished] - rules.lam) / divisor, trust_radius)
        no_rows = np.zeros((unfinished.size, 0))
        no_table = no_rows[..., None].repeat(k, 2)
        step, *_ = maximise(gradient, no_table, no_rows, below, above, hessian)
        step = step.clip(below, above)
        curvature = np.einsum("bk,bkl,bl->b", step, hessian, step)
        predicted_gain = (gradient * step).sum(1) - 0.5 * curvature
        # a multiplier that is 0 up to rounding is 0: its constraint does not bind
        lam = rules.lam + scale * step
        lam = np.where(np.abs(lam) <= NEARLY * scale, 0.0, lam)
        candidates = family.at(lam)
        gain = rules.dual(0.0 * lam) - candidates.dual(0.0 * lam)
        is_good = gain > 0.1 * predicted_gain - NOISE
        best = best.replaced(unfinished[is_good], candidates.take(np.flatnonzero(is_good)))
        radius[unfinished] = np.where(is_good[:, None], 2.0, 0.25) * trust_radius
        unfinished = unfinished[(predicted_gain > GAIN) & (radius[unfinished, 0] > 1e-6)]
        if not unfinished.size:
            break
    return best
