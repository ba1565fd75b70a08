"""LFT+FedAvg's smallest disparity for two clients enclosed in ball arithmetic, for normal laws and
logistic η (FedFB, lemma 18), by branch and bound over the multipliers.

As in ``multiplier_boxes``; MD_k and the pooled MD increase in every λ_k, so that over a box they
lie between their values at two corners. Here these are balls: s = Σ_i p_i (M_i tanh((slope x +
intercept)/2) ± λ_i) has a certain sign on all parts of the line but a few narrow ones and the
tails, whose masses are added to the balls. The λ of solutions are bounded: Σ λ_k MD_k(f) <= 1 for
every rule f and 1 - f. Two rules give a parallelogram.
"""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from flint import arb, ctx, fmpq

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.frontier import SLACK_BUDGET
from fairfl.solvers.lft_ensemble.enclosure import (
    ExactClient,
    above,
    exact_clients,
    outward,
    pooled_difference,
)
from fairfl.solvers.numerics.descent import minimise_dual
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.federation import Federation

BITS = 96  # working precision
TAIL = 9
"""Standard deviations around all means within which the sign of s is sought: beyond is 1e-18."""
COARSE, FINE = 2.0**-30, 2.0**-46
"""Parts of the line this narrow, over its length, are in doubt: for boxes, for the upper bound."""
BOXES = 20_000  # boxes after which the search gives up
MARGINS = (1e-12, 1e-10, 1e-8)  # what MD_k is moved by, away from 0, to have a certain sign

Corner = tuple[float, ...]
Terms = tuple[arb, arb, arb, arb]


@dataclass(frozen=True)
class BallRules:
    """MD_k of the clients and the pooled MD of f_λ, in balls."""

    clients: list[ExactClient]
    computed: dict[tuple[Corner, float], tuple[list[arb], arb]] = field(default_factory=dict)
    parts: dict[tuple[int, float, float], list[Terms]] = field(default_factory=dict)

    def at(self, lam: Corner, width: float = COARSE) -> tuple[list[arb], arb]:
        """MD_k, 0 where a client has one group, and MD at the doubles ``lam``."""
        if (lam, width) not in self.computed:
            rates = [self.rates(a, lam, width) for a in (0, 1)]
            local = [
                first - second if client.bound else arb(0)
                for client, first, second in zip(self.clients, *rates, strict=True)
            ]
            self.computed[lam, width] = local, pooled_difference(self.clients, rates)
        return self.computed[lam, width]

    def rates(self, a: int, lam: Corner, width: float) -> list[arb]:
        """The clients' acceptance rates in group a; 0 where nobody is."""
        laws = [c.laws[a] for c in self.clients]
        ends = [float(m) + k * float(sd) for m, sd in filter(None, laws) for k in (-TAIL, TAIL)]
        stack, sure = [(min(ends), max(ends))], []
        narrow = width * (max(ends) - min(ends))
        doubt = [(-math.inf, min(ends)), (max(ends), math.inf)]
        while stack:
            low, high = stack.pop()
            middle = (low + high) / 2
            s, slope = self.score(a, lam, low, high)
            if not (s > 0 or s < 0):  # by the mean value theorem: next to gaps far narrower
                part = arb(low).union(arb(high))
                s = self.score(a, lam, middle, middle)[0] + slope * (part - arb(middle))
            if s > 0:
                if sure and sure[-1][0] == high:  # parts come from the right
                    _, high = sure.pop()
                sure.append((low, high))
            elif not s < 0:
                if high - low <= narrow:
                    doubt.append((low, high))
                else:
                    stack += [(low, middle), (middle, high)]
        return [
            arb(0) if law is None else _mass(law, sure) + arb(0).union(_mass(law, doubt))
            for law in laws
        ]

    def score(self, a: int, lam: Corner, low: float, high: float) -> tuple[arb, arb]:
        """s and its derivative on ``low`` to ``high``, over a positive constant."""
        total = rise = arb(0)
        for multiplier, (gain, gain_slope, z, density) in zip(
            lam, self.terms(a, low, high), strict=True
        ):
            level = gain + (1 - 2 * a) * arb(multiplier)
            total = total + level * density
            rise = rise + (gain_slope - level * z) * density
        return total, rise

    def terms(self, a: int, low: float, high: float) -> list[Terms]:
        """What the score has of each client on an interval, the same for all multipliers."""
        if (a, low, high) not in self.parts:
            x = arb(low).union(arb(high))
            self.parts[a, low, high] = [_terms(client, a, x) for client in self.clients]
        return self.parts[a, low, high]


def _terms(client: ExactClient, a: int, x: arb) -> Terms:
    """m tanh(logit η / 2) of a client's group, its derivative, -(log p)' and the density p."""
    law, (slope, intercept) = client.laws[a], client.etas[a]
    if law is None:
        return arb(0), arb(0), arb(0), arb(0)
    mean, sd = law
    mass, t = client.weight * client.masses[a], ((slope * x + intercept) / 2).tanh()
    z = (x - mean) / sd
    return mass * t, mass * slope / 2 * (1 - t * t), z / sd, (-z * z / 2).exp() / sd


def _mass(law: tuple[fmpq, fmpq], intervals: list[tuple[float, float]]) -> arb:
    """The law's mass of disjoint intervals."""
    return sum((_tail(law, low) - _tail(law, high) for low, high in intervals), arb(0))


def _tail(law: tuple[fmpq, fmpq], x: float) -> arb:
    """The law's mass above x, which may be infinite."""
    return arb(int(x < 0)) if math.isinf(x) else above(law, arb(x))


def enclose_two_clients(
    fed: Federation, lam: Array, tolerance: float = 1e-6
) -> tuple[float, float]:
    """(lower, upper) around the smallest disparity of two clients, at most ``tolerance`` apart;
    ``lam`` (2,) are the multipliers of a rule that attains it nearly.

    The bounds hold for the federation whose parameters are exactly the doubles that it stores, its
    weights normalised without rounding. ValueError without normal laws and logistic η;
    CertificationError where the bounds cannot be brought so close.
    """
    rules = BallRules(exact_clients(fed))
    with ctx.workprec(BITS):
        upper = _attained(fed, rules, lam)
        lower = math.nextafter(upper - tolerance, -math.inf)
        if lower > 0:
            exclude(rules, _reach(fed, rules), lower)
        return max(lower, 0.0), upper


def exclude(rules: BallRules, reach: Corner, lower: float) -> None:
    """Prove that no solution with multipliers within ±``reach`` has a disparity below ``lower``, or
    raise CertificationError: boxes are too many, or one is too narrow.
    """
    stack, bound = [], arb(lower)
    for signs in itertools.product(*((-1, 1) if r > 0 else (1,) for r in reach)):
        far = [s * r for s, r in zip(signs, reach, strict=True)]
        stack.append((tuple(min(x, 0.0) for x in far), tuple(max(x, 0.0) for x in far), signs))
    for _ in range(BOXES):
        if not stack:
            return
        low, high, signs = stack.pop()
        own_low, md_low = rules.at(low)
        if md_low >= bound or any(s > 0 and v > 0 for s, v in zip(signs, own_low, strict=True)):
            continue
        own_high, md_high = rules.at(high)
        if md_high <= -bound or any(s < 0 and v < 0 for s, v in zip(signs, own_high, strict=True)):
            continue
        ends = zip(low, high, own_low, own_high, strict=True)
        k = int(np.argmax([(b - a) * float((v - u).mid()) for a, b, u, v in ends]))
        middle = (low[k] + high[k]) / 2
        if not low[k] < middle < high[k]:
            break
        for_high, for_low = list(high), list(low)
        for_high[k] = for_low[k] = middle
        stack += [(low, tuple(for_high), signs), (tuple(for_low), high, signs)]
    raise CertificationError(f"no proof that the smallest disparity is at least {lower:.12g}")


def _reach(fed: Federation, rules: BallRules) -> Corner:
    """|λ_k| of solutions is at most this: V λ within ±1 for the MD_k in the rows of V."""
    problem, bound = RuleFamily.of(fed).problem, np.flatnonzero(fed.defined)
    rows = [
        rules.at(tuple(float(v) for v in minimise_dual(problem, np.eye(2)[k]).lam[0]))[0]
        for k in bound
    ]
    out = [0.0, 0.0]
    if len(rows) == 1:
        out[bound[0]] = outward(1 / abs(rows[0][bound[0]]))[1]
    elif rows:
        (a, b), (c, d) = rows
        determinant, sums = abs(a * d - b * c), (abs(d) + abs(b), abs(a) + abs(c))
        out = [outward(column_sum / determinant)[1] for column_sum in sums]
    if not all(map(math.isfinite, out)):
        raise CertificationError("the multipliers of solutions are not bounded: twin clients")
    return tuple(out)


def _attained(fed: Federation, balls: BallRules, lam: Array) -> float:
    """An upper bound of |MD| of a rule next to f_λ that certainly solves some budgets."""
    family = RuleFamily.of(fed)
    rules = family.at(lam[None])
    for margin in MARGINS:  # Newton's method, to |MD_k| of at least the margin, of the right sign
        size = np.maximum(-np.sign(lam) * rules.values, margin)
        multipliers = (
            family.follow(rules, np.where(lam != 0, size, SLACK_BUDGET))[0].lam[0].tolist()
        )
        local, md = balls.at(tuple(multipliers), FINE)
        if all(v == 0 or v * m < 0 for v, m in zip(multipliers, local, strict=True)):
            return outward(abs(md))[1]
    raise CertificationError("no rule certainly attains the smallest disparity")
