"""The dual function of λ on densities minimised: by Newton's method in cuts and multipliers, from a
linear programme on cells, and where that fails by one on refined cells.

Newton's method ends at one deterministic rule. Where scores tie on a set of positive mass, or where
the dual is so curved that a rounding of λ breaks a constraint, no such rule meets the budgets. So
each place's line is divided into cells. The programme finds their best rates f in [0, 1], and its
multipliers propose where scores change sign: cells are cut there. The dual at the best multipliers
bounds what any rule is worth.
"""

from functools import partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point, kkt_residual
from fairfl.solvers.numerics.newton import settled
from fairfl.solvers.tolerances import DESCENT_SLACK, ENOUGH, KKT_TOLERANCE, REFINED_MET, WHOLE_RATE

MOST = 20  # times that Newton's method goes on from where it ended
ROUNDS = 80
RECENT = 20  # points of a failed descent whose cuts are the first cells' ends
STEPS = np.array([1.0, 0.3, 0.1, 0.03])
"""Where cuts are proposed between the best known multipliers and the programme's."""
NARROW = 1e-8  # cells are no narrower than this part of a panel: what that loses is of second order
MANY = 300  # ends of cells at a place beyond which neighbours of one rate are joined

Line = tuple[Array, Array]
"""A rule at one place: increasing ends (m,) of cells, and the cells' rates (m + 1,)."""


def minimise_dual(problem: Constraints, eps: Array) -> DualPoint:
    """Minimise D for one budget vector eps (K,)."""
    visited = descend(problem, eps)
    if _residual(visited[-1], eps) <= ENOUGH:
        return visited[-1]
    return refine(problem, eps, visited)[1]


def descend(problem: Constraints, eps: Array, start: Array | None = None) -> list[DualPoint]:
    """The points that Newton's method visits, from ``start`` and the programme; the best last."""
    ends: list[list[DualPoint]] = []
    for first in (start, None)[start is None :]:
        lam = on_cells(problem, eps[None])[0] if first is None else first
        visited = [dual_point(problem, lam[None])]
        while len(visited) <= MOST and _residual(visited[-1], eps) > KKT_TOLERANCE:
            next_point, is_better = settled(problem, visited[-1], eps[None])
            if not is_better[0]:
                break
            visited.append(next_point)
        ends.append(visited)
        if _residual(visited[-1], eps) <= ENOUGH:
            break
    ends.sort(key=lambda visited: -_residual(visited[-1], eps))
    return [point for visited in ends for point in visited]


def on_cells(problem: Constraints, budgets: Array) -> Array:
    """(B, K) multipliers that are nearly optimal for budgets (B, K); 0 where HiGHS gives up."""
    cells = [p.cells() for p in problem.profiles]
    v = [rows @ c[1:] for rows, c in zip(problem.coefficients, cells, strict=True)]
    v, gain = np.concatenate(v, axis=1), np.concatenate([c[0] for c in cells])
    limits, out = budgets + DESCENT_SLACK, np.zeros(budgets.shape)
    binds = np.flatnonzero((np.abs(v @ (gain > 0) + problem.b) > limits).any(axis=1))
    if binds.size:
        size = highs.scale(gain, v)
        programme, objective = highs.Programme(v / size), (gain / size, np.zeros(size.size), size)
        for k in binds:
            programme.forget()  # what was solved before changes no answer
            optimum = programme.best(*objective, -limits[k] - problem.b, limits[k] - problem.b)
            out[k] = 0.0 if optimum is None else -optimum.y
    return out


def _residual(point: DualPoint, eps: Array) -> float:
    return float(kkt_residual(point.lam, point.values, eps[None])[0])


def refine(
    problem: Constraints, eps: Array, visited: list[DualPoint], lines: list[Line] | None = None
) -> tuple[list[Line], DualPoint]:
    """The best rule on cells at budgets eps (K,), and the dual point with the best bound, from dual
    points ``visited``: the most useful rule precedes them. The cells of ``lines``, by default a
    coin toss, are the first; where no rule on these meets the budgets, it is returned.
    """
    bound = partial(_bound, eps)
    best = min(visited[-RECENT:], key=bound)
    proposed = [dual_point(problem, np.zeros((1, problem.count))), *visited[-RECENT:]]
    lines = lines or [(np.empty(0), np.array([0.5]))] * len(problem.profiles)
    for _ in range(ROUNDS):
        cells = [_cut(problem, p, lines[p], proposed) for p in range(len(lines))]
        solution = _programme(problem, eps, cells)
        if solution is None:
            break
        lines, lam, value = solution
        if bound(best) - value <= REFINED_MET:
            break
        # in-out separation: proposals on the way to the best known multipliers are steadier than
        # the programme's own
        centre = best.lam[0]
        steps = dual_point(problem, centre + STEPS[:, None] * (lam - centre))
        candidates = [steps.take(np.array([k])) for k in range(STEPS.size)]
        best = min([best, *candidates], key=bound)
        next_point, is_better = settled(problem, best, eps[None])
        if is_better[0]:
            best = min(best, next_point, key=bound)
        proposed = [best, *candidates]
    return [_joined(*line) for line in lines], best


def _bound(eps: Array, point: DualPoint) -> float:
    """What no rule is worth more than at budgets (K,)."""
    return float(point.dual(eps[None])[0])


def _joined(ends: Array, rates: Array) -> Line:
    """The rule on fewer cells: no neighbours have the same rate."""
    changes = np.diff(rates) != 0
    return ends[changes], rates[np.append(True, changes)]


def _cut(problem: Constraints, p: int, line: Line, proposed: list[DualPoint]) -> Array:
    """The cells' ends (m,) at place p: where the rate changes, and where scores change sign."""
    (ends, rates), profile = line, problem.profiles[p]
    if ends.size > MANY:
        ends, _ = _joined(ends, rates)
    for cut in (point.sets[p].line(0)[0] for point in proposed):
        padded = np.concatenate([[-np.inf], ends, [np.inf]])
        right = np.searchsorted(padded, cut)
        distance = np.minimum(padded[right] - cut, cut - padded[right - 1])
        panel = profile.edges[1:] - profile.edges[:-1]
        ends = np.union1d(ends, cut[distance > NARROW * panel[profile.locate(cut)[0]]])
    return ends


def _programme(
    problem: Constraints, eps: Array, cells: list[Array]
) -> tuple[list[Line], Array, float] | None:
    """The best rule on cells, its multipliers (K,), its worth; None where HiGHS gives up."""
    gains, tables = [], []
    places = zip(problem.profiles, problem.coefficients, problem.nobody, cells, strict=True)
    for profile, rows, nobody, ends in places:
        served = -np.diff(profile.above(np.concatenate([[-np.inf], ends, [np.inf]])))
        gains.append(served[0] * (not nobody))
        tables.append(rows @ served[1:])
    gain, table = np.concatenate(gains), np.concatenate(tables, axis=1)
    bounded = np.isfinite(eps)
    table, budgets, b = table[bounded], eps[bounded], problem.b[bounded]
    solution = highs.Maximiser(gain, table).best(-budgets - b, budgets - b)
    if solution is None:
        return None
    rates = highs.rounded(solution[0], WHOLE_RATE)
    lam = np.zeros(eps.size)
    lam[bounded] = -solution[1]
    rates_of_places = np.split(rates, np.cumsum([ends.size + 1 for ends in cells])[:-1])
    return list(zip(cells, rates_of_places, strict=True)), lam, problem.base + float(gain @ rates)
