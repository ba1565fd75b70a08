"""Equal opportunity and equalised odds: differences of the mean loss given the label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.engine.task import Floats
from fairfl.sims.group_fairness.notion import Notion, defined
from fairfl.theory.numerics.projections import onto_capped_simplex


class EqualOpportunity(Notion):
    r"""The mean losses of the groups' people of label 1.

    .. math::
        \mu_a = L_{1,a} - L_{1,0}, \quad \lambda \ge 0, \; \sum_{a \ge 1} \lambda_a \le n_{1,*}/n,
        \quad \lambda_a^{(0)} = n_{1,a}/n

        w_\lambda = \arg\min \sum_{a \ge 1} \lambda_a L_{1,a}
        + \Bigl(\tfrac{n_{1,*}}{n} - \sum_{a \ge 1} \lambda_a\Bigr) L_{1,0} + \tfrac{n_{0,*}}{n}
        L_{0,*}

    λ has A - 1 entries, the report A: the clients' sums over the federation's n_{1,a}. Algorithm 3
    prints the unweighted sum of the clients' own differences L_{1,a}^(i) - L_{1,0}^(i), and the
    unweighted local means in the client's objective; their sums are not the problem (89)-(90)
    unless every client has the same share of every n_{1,a}. The weights n_{1,a}^(i) / n_{1,a} that
    appendix B.1 has are taken here too; ``printed.py`` has the others.

    Source: FedFB, appendix B.2.
    """

    name = "eo"
    labels = (1,)

    def known(self, total: Floats) -> Floats:
        people = super().known(total)
        for y in self.labels:
            defined(people, people[:, y], f"people of label {y}")
        return people

    def initial(self, known: Floats) -> Floats:
        return np.concatenate([known[1:, y] for y in self.labels]) / known.sum()

    def project(self, lam: Floats, known: Floats) -> Floats:
        caps = [known[:, y].sum() / known.sum() for y in self.labels]
        parts = zip(self._parts(lam), caps, strict=True)
        return np.concatenate([onto_capped_simplex(part, cap) for part, cap in parts])

    def statistics(
        self, sums: Floats, counts: Floats, clients: NDArray[np.int64], known: Floats
    ) -> Floats:
        return np.concatenate([sums[:, :, y] / known[:, y] for y in self.labels], axis=1)

    def direction(self, total: Floats, known: Floats) -> Floats:
        return np.concatenate([part[1:] - part[0] for part in self._parts(total)])

    def table(self, lam: Floats, known: Floats, counts: Floats) -> Floats:
        weights = np.ones_like(known)
        for y, part in zip(self.labels, self._parts(lam), strict=True):
            # rounding may take it below 0
            rest = max(0.0, known[:, y].sum() / known.sum() - part.sum())
            weights[:, y] = np.append(rest, part) * known.sum() / known[:, y]
        return weights

    def _parts(self, values: Floats) -> list[Floats]:
        """The entries of each label."""
        return np.split(values, len(self.labels))


class EqualisedOdds(EqualOpportunity):
    r"""The same for both labels, λ_{y,a} with a cap n_{y,*}/n for each y; all weights but the λ are
    n_{y,a}/n.

    λ and μ hold label 0's A - 1 entries, then label 1's. Source: FedFB, appendix B.3, algorithm 4,
    with the weights that are missing there as in algorithm 3.
    """

    name = "eodds"
    labels = (0, 1)
