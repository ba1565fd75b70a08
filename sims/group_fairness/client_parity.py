"""Client parity: equal mean losses of the clients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.engine.task import Floats
from fairfl.sims.group_fairness.notion import Notion
from fairfl.theory.numerics.projections import onto_capped_simplex


class ClientParity(Notion):
    r"""Each client is a group; the groups of the people are not used.

    .. math::
        \mu^{(i)} = L^{(i)} - L^{(0)}, \quad \lambda \ge 0, \; \sum_{i \ge 1} \lambda^{(i)} \le 1,
        \quad w_\lambda = \arg\min \sum_{i \ge 1} \lambda^{(i)} L^{(i)} + \Bigl(1 - \sum_{i \ge 1}
        \lambda^{(i)}\Bigr) L^{(0)}

    λ has K - 1 entries; a sample of client i weighs λ^(i) n / n^(i). The report has K entries, all
    0 but the client's own: here the sum tells every client's loss and size, as algorithm 5, which
    sends them openly.
    Source: FedFB, appendix B.4.
    """

    name = "cp"

    def enrol(self, counts: Floats) -> Floats:
        return np.diag(counts.sum((1, 2)))

    def known(self, total: Floats) -> Floats:
        return total

    def initial(self, known: Floats) -> Floats:
        return known[1:] / known.sum()

    def project(self, lam: Floats, known: Floats) -> Floats:
        return onto_capped_simplex(lam, 1.0)

    def statistics(
        self, sums: Floats, counts: Floats, clients: NDArray[np.int64], known: Floats
    ) -> Floats:
        reports = np.zeros((len(clients), len(known)))
        reports[np.arange(len(clients)), clients] = sums.sum((1, 2)) / known[clients]
        return reports

    def direction(self, total: Floats, known: Floats) -> Floats:
        return total[1:] - total[0]

    def table(self, lam: Floats, known: Floats, counts: Floats) -> Floats:
        shares = np.append(max(0.0, 1 - lam.sum()), lam)
        return (shares * known.sum() / known)[:, None, None]
