"""Algorithms 3 and 4 as printed: clients' own means, unweighted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.engine.task import Floats
from fairfl.sims.group_fairness.opportunity import EqualisedOdds, EqualOpportunity


class PrintedOpportunity(EqualOpportunity):
    r"""μ_a is the sum over clients of L_{1,a}^(i) - L_{1,0}^(i), and client i descends on

    .. math::
        \sum_{a \ge 1} \lambda_a L_{1,a}^{(i)}
        + \Bigl(\tfrac{n_{1,*}}{n} - \sum_{a \ge 1} \lambda_a\Bigr) L_{1,0}^{(i)} +
        \tfrac{n_{0,*}}{n} L_{0,*}^{(i)},

    all L^(i) means over the client's own people. The problem so solved is (89)-(90) where every
    client has the same share of every cell, and another one elsewhere. A mean over nobody is taken
    as 0, and a difference with one, too. Source: FedFB, algorithm 3.
    """

    name = "eo-printed"
    signed = True

    def statistics(
        self, sums: Floats, counts: Floats, clients: NDArray[np.int64], known: Floats
    ) -> Floats:
        rows = []
        for y in self.labels:
            mean = sums[:, :, y] / np.maximum(counts[:, :, y], 1)
            both = (counts[:, :, y] > 0) & (counts[:, :1, y] > 0)
            rows.append(np.where(both, mean - mean[:, :1], 0.0))
        return np.concatenate(rows, axis=1)

    def table(self, lam: Floats, known: Floats, counts: Floats) -> Floats:
        own = counts.sum((1, 2))
        weights = np.empty_like(counts)
        for y in (0, 1):
            share = known[:, y].sum() / known.sum()
            weights[:, :, y] = (share * own / np.maximum(counts[:, :, y].sum(1), 1))[:, None]
        for y, part in zip(self.labels, self._parts(lam), strict=True):
            rest = max(0.0, known[:, y].sum() / known.sum() - part.sum())
            weights[:, :, y] = np.append(rest, part) * own[:, None] / np.maximum(counts[:, :, y], 1)
        return weights


class PrintedOdds(PrintedOpportunity):
    """The same for both labels. Source: FedFB, algorithm 4."""

    name = "eodds-printed"
    labels = EqualisedOdds.labels
