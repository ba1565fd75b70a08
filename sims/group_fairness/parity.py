"""Demographic parity: FedFB's F_a, its box and its weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.engine.task import Floats
from fairfl.sims.group_fairness.notion import Notion, defined
from fairfl.theory.numerics.projections import onto_box_of_sum


class DemographicParity(Notion):
    r"""F_a = P(ŷ=1 | a) - P(ŷ=1 | 0) where the loss is 0-1, and a surrogate of it else.

    .. math::
        F_a &= D_a - D_0 + \tfrac{n_{0,0}}{n_{*,0}} - \tfrac{n_{0,a}}{n_{*,a}}, \quad
        D_a = L'_{0,a} - L'_{1,a}, \quad
        L'_{y,a} = \tfrac{1}{n_{*,a}} \sum_{y, a} \ell \\
        \mu_a &= F_a, \quad \mu_0 = -\sum_{a \ge 1} F_a, \quad \lambda_a \in [0, 2 n_{*,a}/n], \quad
        \lambda_a^{(0)} = n_{*,a}/n \\
        w_\lambda &= \arg\min \sum_a \lambda_a L'_{0,a} + (2 n_{*,a}/n - \lambda_a) L'_{1,a}

    Clients report D_a^(i), their own sums over the federation's n_{*,a}, of which the D_a are the
    sums: the constant is the server's to add, once. So nothing need be subtracted (I - 1) times, as
    algorithm 1 does.

    λ has A entries, and the report A. A sample of label 0 in group a weighs n λ_a / n_{*,a}, one of
    label 1 two less that. Where λ_a rises, group a is accepted less.

    Source: FedFB, section 4, appendix B.1. Section 4 calls L_{y,a} the *sum* of the losses, and L'
    = n_{y,a} L_{y,a} / n_{*,a}; then F_a = 0 is not demographic parity, even for 0-1 loss. Appendix
    B has the mean, which is taken here. Algorithm 2 starts λ_a for a >= 1 only; λ_0 starts
    likewise.
    """

    name = "dp"
    signed = True

    def known(self, total: Floats) -> Floats:
        people = super().known(total)
        defined(people, people.sum(1), "people")
        return people

    def initial(self, known: Floats) -> Floats:
        return known.sum(1) / known.sum()

    def project(self, lam: Floats, known: Floats) -> Floats:
        # np.clip takes three times as long
        return np.minimum(np.maximum(lam, 0.0), 2 * self.initial(known))

    def project_sum(self, lam: Floats, known: Floats) -> Floats:
        return onto_box_of_sum(lam, np.zeros_like(lam), 2 * self.initial(known), 1.0)

    def statistics(
        self, sums: Floats, counts: Floats, clients: NDArray[np.int64], known: Floats
    ) -> Floats:
        return (sums[:, :, 0] - sums[:, :, 1]) / known.sum(1)

    def direction(self, total: Floats, known: Floats) -> Floats:
        level = total - known[:, 0] / known.sum(1)
        return self.follow(level[1:] - level[0])

    def gaps(self, direction: Floats) -> Floats:
        return direction[1:]

    def follow(self, change: Floats) -> Floats:
        return np.concatenate([[-change.sum()], change])

    def free(self, lam: Floats, known: Floats) -> Floats:
        return super().free(lam, known)[1:]

    def table(self, lam: Floats, known: Floats, counts: Floats) -> Floats:
        negative = lam / self.initial(known)
        return np.stack([negative, 2 - negative], axis=1)
