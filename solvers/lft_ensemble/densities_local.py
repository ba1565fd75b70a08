"""The best budgets of an ensemble on densities next to others, by the clients' tables: sequential
quadratic programming (scipy's SLSQP) on their cubics.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.lft_ensemble.densities_table import Table
from fairfl.solvers.tolerances import MET

NEWTON_STEPS = 3
"""Steps to what meets a disparity: where tables are steep SLSQP ends too early."""


def parts_at(tables: Sequence[Table], eps: Array, order: int = 0) -> Array:
    """What each client adds to everybody's worth and rates, (P, 1 + M, I), by the tables at budgets
    eps (P, I), or its derivatives in the client's own budget.
    """
    return np.stack([t.curve(e, order) for t, e in zip(tables, eps.T, strict=True)], axis=2)


def polished(tables: Sequence[Table], eps: Array, disparity: float | None) -> Array:
    """The best budgets (I,) next to ``eps`` with at most a disparity, or the least (None)."""
    ends = np.array([t.around(float(e)) for t, e in zip(tables, eps, strict=True)])
    low, size = ends[:, 0], np.ptp(ends, axis=1)
    moves, eps = np.flatnonzero(size > 0), np.clip(eps, *ends.T)
    return LocalProgramme(tables, eps, low, size, moves, disparity).best if moves.size else eps


@dataclass(frozen=True, eq=False)
class LocalProgramme:
    """The unknowns x are the places in [0, 1] of the budgets that move, and the disparity.

    Attributes
    ----------
    eps, low, size : (I,) budgets, and where and how wide the stretches are on which nothing jumps.
    moves : (J,) the clients whose budgets may move.
    disparity : what is allowed; None where the least is sought.
    """

    tables: Sequence[Table]
    eps: Array
    low: Array
    size: Array
    moves: Array
    disparity: float | None

    @property
    def limit(self) -> float:
        """The largest disparity allowed."""
        return 1.0 if self.disparity is None else self.disparity

    @property
    def signs(self) -> Array:
        """(1 + 2M, 1 + M) of the worth, which counts where a disparity is given, and of each rate's
        difference and its negative.
        """
        identity = np.eye(self.tables[0].base.size)
        signs = np.concatenate([identity, -identity[1:]])
        signs[0, 0] = self.disparity is not None
        return signs

    def budgets(self, x: Array) -> Array:
        """(I,) at unknowns."""
        out, places = self.eps.copy(), np.clip(x[:-1], 0.0, 1.0)
        out[self.moves] = self.low[self.moves] + places * self.size[self.moves]
        return out

    @lru_cache(maxsize=4)  # noqa: B019 - SLSQP asks for values and slopes at one x by turns
    def model(self, key: bytes) -> tuple[Array, Array]:
        """What is minimised, and what each rate and its negative leave of the disparity at x;
        their slopes.
        """
        x, signs = np.frombuffer(key), self.signs
        limited, eps = signs[:, 0] == 0.0, self.budgets(x)[None]
        value = parts_at(self.tables, eps)[0].sum(axis=1)
        slope = parts_at(self.tables, eps, 1)[0][:, self.moves] * self.size[self.moves]
        return limited * x[-1] - signs @ value, np.column_stack([-signs @ slope, limited])

    def met(self, x: Array) -> Array:
        """Unknowns that meet the disparity, by Newton's method."""
        for _ in range(0 if self.disparity is None else NEWTON_STEPS):
            room, slope = self.model(x.tobytes())
            missed = np.flatnonzero(room[1:] < 0.0) + 1
            if not missed.size:
                break
            box = -x[:-1], 1.0 - x[:-1]
            step = scipy.optimize.lsq_linear(slope[missed, :-1], -room[missed], box, "bvls")
            x = np.append(x[:-1] + step.x, x[-1])
        return x

    def merit(self, x: Array) -> tuple[float, float]:
        """First the disparity, as far as it counts, then what is minimised: larger is better."""
        goal, *room = self.model(x.tobytes())[0]
        floor = 0.0 if self.disparity is None else self.limit + MET / 2.0
        return -max(x[-1] - min(room), floor), -goal

    @property
    def best(self) -> Array:
        """(I,) the best budgets of where SLSQP ends and where it starts: it may end below."""
        moves, limit = self.moves, self.limit
        start = np.append((self.eps - self.low)[moves] / self.size[moves], limit)
        minimum = scipy.optimize.minimize(
            lambda x: self.model(x.tobytes())[0][0],
            start,
            jac=lambda x: self.model(x.tobytes())[1][0],
            bounds=[(0.0, 1.0)] * moves.size + [(limit * (self.disparity is not None), limit)],
            constraints={
                "type": "ineq",
                "fun": lambda x: self.model(x.tobytes())[0][1:],
                "jac": lambda x: self.model(x.tobytes())[1][1:],
            },
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 60},
        )
        ends = [np.clip(x, 0.0, 1.0) for x in (minimum.x, start) if np.isfinite(x).all()]
        return self.budgets(max(map(self.met, ends), key=self.merit))
