"""What the searches over all budgets of LFT+Ensemble share, on densities and on a finite X: the
frontier and the least disparate ensemble, from the best ensembles at given disparities.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import Frontier, Points, build, fitting


class EnsembleSearch(ABC):
    """A search that finds the best ensembles at disparities."""

    @abstractmethod
    def attained(self, disparities: Sequence[float | None]) -> Points:
        """The best certified ensembles with at most the disparities, or the least disparate."""

    def answers(self, disparities: Sequence[float]) -> Points:
        """As ``attained``, and no answer depends on another question."""
        return self.attained(disparities)

    @property
    def exact(self) -> bool:
        """Whether no other ensemble is better."""
        return False

    def frontier(self, points: int) -> Frontier:
        """Up to ``points`` of it, at even steps."""
        ends = self.attained([None, 1.0])
        last = ends.disparity[ends.worth.argmax()]
        targets = np.linspace(ends.disparity.min(), last, points)
        attained = self.attained(targets.tolist()).join(ends)
        evaluate = partial(self._best_of, attained)
        return build("lft_ensemble", fitting(attained, targets), evaluate, self.exact)

    def _best_of(self, attained: Points, disparity: Array) -> Points:
        """The best with at most the disparities (P,), of the answers and what was attained."""
        return fitting(self.answers(disparity.tolist()).join(attained), disparity)

    def minimum(self) -> Points:
        """The least disparate ensemble, of several the most useful."""
        fairest = self.attained([None])
        return fairest.join(self.attained([float(fairest.disparity.min())])).least_disparate
