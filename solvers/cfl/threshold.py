"""One fairness constraint on densities, and CFL where η is shared within each group: thresholds and
multiplier, by root finding (FedFB, lemma 7).

Maximise P(ŷ = y) subject to |MD| <= eps. With group masses M_0 + M_1 = 1 and η increasing, the
solution accepts η > 1/2 - λ/(2 M_0) in group 0 and η > 1/2 + λ/(2 M_1) in group 1, with g(λ) = MD
increasing.

λ is m tanh u, m the smaller mass: the logits of the levels are then ∓2u in the group of mass m, and
bounded, or likewise, in the other. So levels keep their digits next to 0 and 1, where thresholds go
to ±inf and λ itself, one double, has too few.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.numerics.roots import increasing_root
from fairfl.solvers.solution import (
    ADVICE,
    LAW_TOLERANCE,
    Certificate,
    CertificationError,
    Solution,
    budget_term,
)
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import MD_FAINT, MD_ROOT
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.eta import Eta
from fairfl.theory.populations.federation import Federation

DOUBLINGS = 60  # of the bracket of u, which starts at 1


@dataclass(frozen=True)
class ThresholdProblem:
    """B problems with one constraint each, of group masses ``mass`` (B, 2), rows summing to one; a
    client of one group has u = 0. ``within`` (I, 2): P(i | a) of the pooled problem, B = 1; None:
    each client's own.
    """

    model: ContinuousModel
    mass: Array
    within: Array | None = None

    @cached_property
    def kinds(self) -> tuple[list[Eta], Array]:
        """The different η, and which of them (B, 2) each group has."""
        pairs = self.model.etas[: len(self.mass)]
        etas = dict.fromkeys(eta for pair in pairs for eta in pair)
        place = {eta: k for k, eta in enumerate(etas)}
        return list(etas), np.array([[place[eta] for eta in pair] for pair in pairs])

    def tail(self, a: int, t: Array, index: Array) -> Array:
        """P(X > t | a), t (B,), of relative accuracy where small."""
        if self.within is None:
            return self.model.sf_of(a, t, index)
        return self.within[:, a] @ self.model.sf(a, t)

    def log_tails(self, a: int, t: Array, index: Array) -> Array:
        """log P(X > t | a), log P(X <= t | a), t (B,): (2, B)."""
        if self.within is None:
            return self.model.log_tails_of(a, t, index)
        tails = self.model.own_log_tails(a, np.broadcast_to(t, (len(self.within), *t.shape)))
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.within[:, a, None])
        return np.logaddexp.reduce(log_weights + tails, axis=1)

    def thresholds(self, u: Array, index: Array) -> Array:
        """The thresholds t_0, t_1 (2, B) at λ = m tanh u, for the problems ``index``."""
        (small, large), twice = self.ends[:, index], 2.0 * np.abs(u)
        # 2 artanh(m/M tanh u) = log(1 + 2m (1 - d)/(M - m + (M + m) d)), d = exp(-2u)
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = -2.0 * small * np.expm1(-twice)
            excess /= large - small + (large + small) * np.exp(-twice)
        log_odds = np.where(self.mass.T[:, index] > small, np.log1p(excess), twice)
        log_odds = np.copysign(log_odds, np.outer([-1.0, 1.0], u))
        etas, kinds = self.kinds
        if len(etas) == 1:
            return etas[0].at_odds(log_odds)
        out, kind = np.empty(log_odds.shape), kinds[index].T
        for k in np.unique(kind):
            out[kind == k] = etas[k].at_odds(log_odds[kind == k])
        return out

    @cached_property
    def ends(self) -> Array:
        """(2, B) the smaller and the larger mass."""
        return np.sort(self.mass, axis=1).T

    @cached_property
    def free(self) -> tuple[Array, Array, Array]:
        """Without budgets: thresholds (2, B), MD and its sign (B,)."""
        rows = np.arange(len(self.mass))
        t = self.thresholds(np.zeros(rows.size), rows)
        md = self.mean_difference(t, rows)
        sign, faint = np.sign(md), np.flatnonzero(np.abs(md) < MD_FAINT)
        if faint.size:  # rounding, or underflow, may have decided the sign
            sign[faint] = np.sign(self.log_odds_difference(t[:, faint], faint))
        return t, md, sign

    def multipliers(self, u: Array, index: Array) -> Array:
        """λ = m tanh u."""
        return self.ends[0, index] * np.tanh(u)

    def mean_difference(self, t: Array, index: Array) -> Array:
        """MD = P_0(X > t_0) - P_1(X > t_1)."""
        return self.tail(0, t[0], index) - self.tail(1, t[1], index)

    def log_odds_difference(self, t: Array, index: Array, md: Array | float = 0.0) -> Array:
        """The sign of MD - md, also where these underflow; a difference of log-odds if md = 0."""
        (above0, below0), (above1, below1) = (self.log_tails(a, t[a], index) for a in (0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            log_fall, log_rise = np.log(np.maximum(-md, 0.0)), np.log(np.maximum(md, 0.0))
            difference = np.logaddexp(above0, log_fall) - np.logaddexp(below0, log_rise)
            difference -= np.logaddexp(above1, log_rise) - np.logaddexp(below1, log_fall)
        bounded = np.minimum(np.maximum(difference, -1e300), 1e300)
        return np.where(np.isnan(difference), 0.0, bounded)

    def left(self, t: Array, md: Array, eps: Array, sign: Array, index: Array) -> Array:
        """eps - |MD|, at a faint eps in log-odds."""
        out, faint = eps - sign * md, np.flatnonzero(eps < MD_FAINT)
        if faint.size:
            eps, sign, index = eps[faint], sign[faint], index[faint]
            out[faint] = -sign * self.log_odds_difference(t[:, faint], index, sign * eps)
        return out


def solve_thresholds(
    problem: ThresholdProblem, eps: Array, index: Array
) -> tuple[Array, Array, Array, Array]:
    """u and λ (B,), thresholds (2, B) and MD (B,) at budgets (B,) of problems ``index`` (B,)."""
    t, md, sign = (v[..., index] for v in problem.free)
    u, left = np.zeros(eps.size), problem.left(t, md, eps, sign, index)
    active = np.flatnonzero(left < 0)
    if active.size:
        budgets = ActiveBudgets(problem, eps[active], sign[active], index[active])
        u[active] = budgets.roots(left[active])
        t = problem.thresholds(u, index)
        md = problem.mean_difference(t, index)
    return u, problem.multipliers(u, index), t, md


@dataclass(frozen=True)
class ActiveBudgets:
    """Budgets (B,) that bind the problems ``index`` (B,), whose MD has a ``sign`` (B,) at u = 0."""

    problem: ThresholdProblem
    eps: Array
    sign: Array
    index: Array

    def left(self, size: Array, k: Array) -> Array:
        """What |u| = ``size`` leaves of the budgets k: it increases with |u|."""
        index, sign = self.index[k], self.sign[k]
        t = self.problem.thresholds(-sign * size, index)
        md = self.problem.mean_difference(t, index)
        return self.problem.left(t, md, self.eps[k], sign, index)

    def roots(self, at_zero: Array) -> Array:
        """u (B,) that leaves nothing, where u = 0 leaves ``at_zero`` (B,)."""
        size = self.eps.size
        low, high, short = np.zeros(size), np.ones(size), np.arange(size)
        at_low, at_high = at_zero, self.left(high, short)
        for _ in range(DOUBLINGS):
            short = np.flatnonzero(at_high < 0.0)
            if not short.size:
                break
            low[short], at_low[short] = high[short], at_high[short]
            high[short] *= 2.0
            at_high[short] = self.left(high[short], short)
        return -self.sign * increasing_root(self.left, low, high, at_low, at_high, MD_ROOT)


def advice(model: ContinuousModel) -> str:
    """What keeps thresholds from being certified, where it is the rounding of x itself."""
    moved, x, step = model.rounding
    if moved <= LAW_TOLERANCE / 2:
        return ADVICE
    return (
        f"x near {x:g} is known to one rounding, {step:.2g}, in which a law passes {moved:.2g} of "
        "its mass: take a constant off x, in the laws and in eta"
    )


def pooled_problem(fed: Federation) -> ThresholdProblem | None:
    """CFL's, if thresholds solve it (laws, two groups, η shared within each), else None."""
    model = fed.model
    if isinstance(model, ContinuousModel) and fed.n_groups == 2 and model.shared_within_group:
        return ThresholdProblem(model, fed.group_mass[None], fed.within)
    return None


def solve_many(fed: Federation, task: Task, problem: ThresholdProblem, eps: Array) -> Array:
    """(E,) the accuracies of CFL(eps) for every eps (E,), each certified as in ``solve_cfl``."""
    accuracy, *missed = _judged(fed, problem, eps)[1:]
    for k in np.flatnonzero(np.abs(missed).max(axis=0) > LAW_TOLERANCE):
        accuracy[k] = solve_cfl(fed, task, problem, eps[k : k + 1]).accuracy
    return accuracy


def _judged(
    fed: Federation, problem: ThresholdProblem, eps: Array
) -> tuple[tuple[Array, Array], Array, Array, Array, Array]:
    """The solutions, accuracies P(y=0) + ∫_{t_0}^∞ u_0 + ∫_{t_1}^∞ u_1 of the rules x > t_a, their
    gaps, violations and errors of integration (E,). Rules maximise their Lagrangian: λ·MD + |λ|·eps
    is the gap.
    """
    _, lam, cuts, md = solve_thresholds(problem, eps, np.zeros(eps.size, int))
    accuracy, error = np.full(eps.size, 1.0 - fed.base_rate), np.zeros(eps.size)
    for a, t in enumerate(cuts):
        accuracy += problem.model.gain(a).above(t, 1)[0]
        error += problem.model.gain(a).errors_at(t)
    gap, violation = lam * md + budget_term(lam, eps), np.maximum(np.abs(md) - eps, 0.0)
    return (cuts, lam), accuracy, gap, violation, error


def solve_cfl(fed: Federation, task: Task, problem: ThresholdProblem, eps: Array) -> Solution:
    """Certified CFL(eps), eps of shape (1,)."""
    (cuts, lam), *figures = _judged(fed, problem, eps)
    accuracy, gap, violation, error = (float(v[0]) for v in figures)
    certificate = Certificate(accuracy, accuracy + gap, violation, error)
    if certificate.worst > LAW_TOLERANCE:  # where η has bounds the optimum may be a mixture
        with suppress(CertificationError):
            return solve_by_dual(fed, task, eps)
    certificate.check(LAW_TOLERANCE, advice(problem.model))
    rule = Classifier.thresholds(cuts[:, 0].tolist())
    return Solution(fed, task, eps, rule, lam, (certificate,))
