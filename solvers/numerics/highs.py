"""Small linear programmes: maximise gain·x, low <= table x <= high, below <= x <= above. HiGHS from
the last basis, then that basis solved again in double precision.

A *programme* keeps its table and its last basis, so that it is solved again for other gains and
bounds in a few pivots. HiGHS meets bounds to 1e-10 only. ``refined`` solves the equations of its
last basis, for x and for the prices, and once more for what rounding left of them.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import highspy
import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.tolerances import MIXED_MET, WHOLE

OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
LOOSE = dict.fromkeys(OPTIONS, 1e-7)
TRIES = {"presolve": "off"} | OPTIONS, {"presolve": "choose"} | OPTIONS, LOOSE
"""Presolving takes longer than most of these programmes, but removes what depends on each other.
HiGHS may go in circles where it is asked for 1e-10; with its own 1e-7 it is robust.
"""
ALWAYS = {
    "output_flag": False,
    "threads": 1,  # others would wait in turns, and cost more than they bring
    "solver": "simplex",
    "simplex_scale_strategy": 0,  # callers scale; scaled once more, some take 30 times as long
    "small_matrix_value": 1e-12,
    "simplex_iteration_limit": 30_000,
}
MIXED = {
    "output_flag": False,
    "threads": 1,
    "small_matrix_value": 1e-12,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 1e-10,
    "presolve_rule_off": 1 << 15,  # probing lost the best rule of three clients by 6.4e-4
    "time_limit": 60.0,
}
"""Of mixed-integer programmes. A count of nodes ends them, so that answers are the same on every
machine, but for programmes of many thousands of cells.
"""
MIXED_TRIES = (MIXED_MET, "choose"), (MIXED_MET, "off"), (1e-7, "choose")
"""What they may miss of a row, and so what their bounds are raised by, and whether they are
presolved. HiGHS refuses an optimum of its own that misses a row by more once it is put back into
the programme as it was posed; and its presolve calls some infeasible that are not, where
multipliers are large, so that this is believed of two tries only.
"""
FINE = 1e5, 1e8, 1e8  # how much larger each next programme of a refinement is
MET, BEST = 1e-15, 2e-13  # what a solution may miss of its rows, and of the best value
ENDS = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible
BOUNDED = {ENDS[0], highspy.HighsModelStatus.kSolutionLimit, highspy.HighsModelStatus.kTimeLimit}
"""Where mixed-integer programmes end with a bound: nodes count as a limit of solutions."""

Table = Array | scipy.sparse.csr_array  # Coefficients, dense or sparse


def dense(table: Table) -> Array:
    """A table that may be sparse, as an array."""
    return table if isinstance(table, np.ndarray) else table.toarray()


def inverted(square: Table) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """What multiplies by the inverse of a table, dense or sparse, and of its transpose."""
    if not isinstance(square, np.ndarray):
        from scipy.sparse.linalg import splu  # it loads scipy.special

        factors = splu(square.tocsc())
        return factors.solve, partial(factors.solve, trans="T")
    inverse = np.linalg.inv(square)
    return inverse.__matmul__, inverse.T.__matmul__


class Optimum(NamedTuple):
    """x (n,), prices y (K,) of the rows' values, and the ``value`` gain·x."""

    x: Array
    y: Array
    value: float


class Programme:
    """Programmes of one ``table`` (K, n), dense or sparse."""

    def __init__(self, table: Table) -> None:
        (rows, columns), lp = table.shape, highspy.HighsLp()
        lp.num_row_, lp.num_col_ = rows, columns
        lp.col_cost_ = lp.col_lower_ = lp.col_upper_ = np.zeros(columns)
        lp.row_lower_ = lp.row_upper_ = np.zeros(rows)
        matrix, csc = lp.a_matrix_, scipy.sparse.csc_array(table)
        matrix.start_, matrix.index_, matrix.value_ = csc.indptr, csc.indices, csc.data
        self.table, self.is_infeasible = table, False
        self._model: Any = highspy.Highs()
        self._options: dict[str, object] = {}
        self._set(ALWAYS)
        self._model.passModel(lp)
        self._rows, self._columns = (np.arange(n, dtype=np.int32) for n in (rows, columns))

    def best(
        self, gain: Array, below: Array, above: Array, low: Array, high: Array
    ) -> Optimum | None:
        """The optimum to 1e-10; None where no x is allowed (``is_infeasible``), or HiGHS fails."""
        model = self._model
        model.changeColsCost(gain.size, self._columns, -gain)
        model.changeColsBounds(gain.size, self._columns, below, above)
        model.changeRowsBounds(low.size, self._rows, low, high)
        status = None
        for options in TRIES:
            self._set(options)
            model.run()
            status = model.getModelStatus()
            if status in ENDS:
                break
            model.clearSolver()
        self.is_infeasible = status == ENDS[1]
        if status != ENDS[0]:
            return None
        solution = model.getSolution()
        x = np.minimum(np.maximum(solution.col_value, below), above)
        return Optimum(x, -np.array(solution.row_dual), float(gain @ x))

    def refined(
        self, gain: Array, below: Array, above: Array, low: Array, high: Array
    ) -> Optimum | None:
        """The optimum, to rounding where the last basis of HiGHS is optimal."""
        optimum = self.best(gain, below, above, low, high)
        if optimum is None or not self._model.getNumNz():  # without coefficients there is no basis
            return optimum
        _, basic = self._model.getBasicVariables()
        columns = basic[basic >= 0]
        binds = np.ones(low.size, bool)
        binds[-1 - basic[basic < 0]] = False
        rows = self._rows[binds]  # what limits them holds exactly
        binding_values = _ended(self.table @ optimum.x, low, high)[rows]
        x = _ended(optimum.x, below, above)
        x[columns] = optimum.x[columns]
        y = np.zeros(low.size)
        y[rows] = optimum.y[rows]
        square = self.table[rows][:, columns]
        with suppress(np.linalg.LinAlgError, RuntimeError):
            solve, transposed = inverted(square)
            for _ in range(2):
                x[columns] += solve(binding_values - (self.table @ x)[rows])
                y[rows] += transposed((gain - y @ self.table)[columns])
            if np.isfinite(x).all() and np.isfinite(y).all():
                x = np.clip(x, below, above)
                return Optimum(x, y, float(gain @ x))
        return optimum

    def forget(self) -> None:
        """Begin the next programme without the last basis."""
        self._model.clearSolver()

    def _set(self, options: Mapping[str, object]) -> None:
        for name, value in options.items() - self._options.items():
            self._model.setOptionValue(name, value)
        self._options |= options


class MixedOptimum(NamedTuple):
    """The best x (n,), None where none was found; and an upper ``bound`` of gain·x, minus infinity
    where no x is allowed, infinity where HiGHS gives up.
    """

    x: Array | None
    bound: float


def best_mixed(
    gain: Array,
    box: tuple[Array, Array],
    table: scipy.sparse.csr_array,
    limits: tuple[Array, Array],
    is_whole: Array,
    nodes: int,
    start: Array | None = None,
) -> MixedOptimum:
    """Maximise gain·x, limits[0] <= table x <= limits[1], box[0] <= x <= box[1], with whole x where
    ``is_whole`` (n,): branch and bound over ``nodes`` at most, from the whole entries of ``start``.
    """
    lp, matrix = highspy.HighsLp(), scipy.sparse.csr_array(table)
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_, (lp.col_lower_, lp.col_upper_) = -gain, box
    lp.row_lower_, lp.row_upper_ = limits
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
    lp.integrality_ = [kinds[int(whole)] for whole in is_whole]
    infeasible = 0
    for tolerance, presolve in MIXED_TRIES:
        model: Any = highspy.Highs()
        tolerances = dict.fromkeys((*OPTIONS, "mip_feasibility_tolerance"), tolerance)
        options = MIXED | tolerances | {"mip_max_nodes": nodes, "presolve": presolve}
        for name, value in options.items():
            model.setOptionValue(name, value)
        model.passModel(lp)
        if start is not None:
            whole = np.flatnonzero(is_whole).astype(np.int32)
            model.setSolution(whole.size, whole, start[whole])
        model.run()
        infeasible += model.getModelStatus() == ENDS[1]
        if infeasible == 2:
            return MixedOptimum(None, -np.inf)
        if model.getModelStatus() in BOUNDED:
            information = model.getInfo()
            feasible = highspy.SolutionStatus.kSolutionStatusFeasible
            has_point = information.primal_solution_status == feasible
            x = np.array(model.getSolution().col_value) if has_point else None
            return MixedOptimum(x, tolerance - float(information.mip_dual_bound))
    return MixedOptimum(None, np.inf)


class Rows:
    """Rows of a programme whose unknowns are named blocks."""

    def __init__(self, **sizes: int) -> None:
        self.sizes = sizes
        self.tables: list[list[scipy.sparse.csr_array]] = []
        self.limits: list[Array] = []

    def add(self, low: Array | float, high: Array | float, **tables: Table) -> None:
        """Rows with coefficients ``tables`` (R, size) of some blocks, and their limits (R,)."""
        count = next(iter(tables.values())).shape[0]
        if count:
            blocks = (tables.get(name, (count, size)) for name, size in self.sizes.items())
            self.tables.append([*map(scipy.sparse.csr_array, blocks)])
            self.limits.append(np.stack([np.broadcast_to(v, count) for v in (low, high)]))

    def join(self, default: float = 0.0, **values: Array | float) -> Array:
        """(n,) of all unknowns: the blocks' ``values``, and of others ``default``."""
        named = ((values.get(name, default), size) for name, size in self.sizes.items())
        return np.concatenate([np.broadcast_to(*pair) for pair in named]).astype(np.float64)

    @property
    def stacked(self) -> tuple[scipy.sparse.csr_array, tuple[Array, Array]]:
        """All rows, and their limits."""
        low, high = np.concatenate(self.limits, axis=1)
        return scipy.sparse.csr_array(scipy.sparse.block_array(self.tables)), (low, high)


def picked(cells: Array, size: int) -> scipy.sparse.csr_array:
    """Rows (R, size) that are one at ``cells`` (R,)."""
    ones = np.ones(cells.size), (np.arange(cells.size), cells)
    return scipy.sparse.csr_array(ones, shape=(cells.size, size))


def _ended(x: Array, low: Array, high: Array) -> Array:
    """x (n,) at the nearer of its bounds, where it has one."""
    end = np.where(x - low <= high - x, low, high)
    return np.where(np.isfinite(end), end, x)


def rounded(x: Array, whole: float = WHOLE) -> Array:
    """x (n,) with the entries within ``whole`` of 0 or 1 put there."""
    return np.where(x >= 1.0 - whole, 1.0, np.where(x <= whole, 0.0, x))


def scale(gain: Array, table: Table) -> Array:
    """(n,) powers of two near the unknowns' largest coefficients: HiGHS drops small ones."""
    largest = np.abs(gain)
    if table.shape[0]:
        largest = np.maximum(largest, dense(abs(table).max(axis=0)).ravel())
    return np.ldexp(1.0, np.frexp(largest)[1])


class Maximiser:
    """Maximise gain·x, low <= table x <= high, 0 <= x <= upper, for any limits, one by one."""

    def __init__(self, gain: Array, table: Table, upper: Array | float = 1.0) -> None:
        self.size = scale(gain, table)
        self.gain, self.upper = gain / self.size, upper * self.size
        self.sparse = scipy.sparse.issparse(table)
        inverse = 1.0 / self.size
        self.table = table @ scipy.sparse.diags_array(inverse) if self.sparse else table * inverse
        self.programme = Programme(self.table)

    def best(self, low: Array, high: Array) -> tuple[Array, Array] | None:
        """The best x (n,) and prices y (K,) of the rows' values; None where HiGHS gives up. What
        the last basis misses is a programme of the same table, magnified (iterative refinement:
        Gleixner, Steffy and Wolter, 2016).
        """
        gain, upper, table, zero = self.gain, self.upper, self.table, np.zeros(self.upper.size)
        self.programme.forget()
        optimum = self.programme.refined(gain, zero, upper, low, high)
        if optimum is None:
            return None
        n, correction = upper.size, None
        paddings = (zero, low), (upper, high), (gain, 0.0 * low)
        below, above, gain_of_all = (np.append(*pair) for pair in paddings)
        x, y = np.append(optimum.x, np.clip(table @ optimum.x, low, high)), optimum.y
        best = (np.inf, x, y)
        for magnification in (*FINE, None):
            residual, reduced_cost = x[n:] - table @ x[:n], gain_of_all - np.append(y @ table, -y)
            gap = (reduced_cost * np.where(reduced_cost > 0, above - x, below - x)).sum()
            error = float(np.abs(residual).max(initial=0.0))
            best = min(best, (max(error, gap), x, y), key=lambda tried: tried[0])
            if magnification is None or error <= MET and gap <= BEST:
                break
            if correction is None:  # the rows' values are unknowns too
                join = scipy.sparse if self.sparse else np
                correction = Programme(join.hstack([table, -np.eye(low.size)]))
            arguments = reduced_cost, below - x, above - x, residual, residual
            optimum = correction.best(*(magnification * v for v in arguments))
            if optimum is None:
                break
            x = np.clip(x + optimum.x / magnification, below, above)
            y = y + optimum.y / magnification
        return best[1][:n] / self.size, best[2]
