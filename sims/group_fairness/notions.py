"""FedFB's notions of fairness: a statistic, the direction and set of λ, people's weights."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.engine.task import Floats, Ints
from fairfl.theory.numerics.projections import onto_box_of_sum, onto_capped_simplex


class BilevelProblem(ABC):
    """λ, μ and the inner objective of FedFB's bilevel problem for one notion and any number of
    groups, group 0 the reference.

    Shapes: K clients, A groups, cells (client, a, y). ``people`` is the sum over clients of their
    first reports (``enrol``), all that the server sees of the people. ``statistics`` are the later
    reports of the clients: ``direction`` takes their sum T (S,). For parity, equal opportunity and
    equalised odds all arrays may have a leading axis of clients, each a problem of its own, where
    ``is_defined``. ``table`` has n times
    the weight of each sample's loss: the inner objective is (1/n) sum_s table[cell of s] loss_s, so
    that FedAvg with weights n_i/n on the clients' mean weighted losses has its gradient, and
    weights of one are FedAvg itself.
    """

    name: ClassVar[str] = ""
    signed: ClassVar[bool] = False
    """Whether a statistic may be negative though losses are not; its size is at most the largest
    loss in both cases.
    """

    def enrol(self, counts: Floats) -> Floats:
        """First reports (K, S0) from the clients' people (K, A, 2): the counts, in a row."""
        return counts.reshape(len(counts), -1)

    def people(self, total: Floats) -> Floats:
        """The enrolments' sum as people n_{a,y} (A, 2); ValueError if undefined there."""
        return total.reshape(-1, 2)

    def is_defined(self, people: Floats) -> NDArray[np.bool_]:
        """Whether every group has the people (..., A, 2) that the statistic counts."""
        return (people.sum(-1) > 0).all(-1)

    @abstractmethod
    def initial(self, people: Floats) -> Floats:
        """The λ that gives all samples the weight one."""

    @abstractmethod
    def project(self, lam: Floats, people: Floats) -> Floats:
        """The point of the set of λ nearest to ``lam``."""

    def project_sum(self, lam: Floats, people: Floats) -> Floats:
        """The nearest point with the sums that steps preserve."""
        return self.project(lam, people)

    @abstractmethod
    def statistics(self, sums: Floats, counts: Floats, clients: Ints, people: Floats) -> Floats:
        """Reports (k, S), of sums of losses and people (k, A, 2) of the listed clients."""

    @abstractmethod
    def direction(self, total: Floats, people: Floats) -> Floats:
        """μ, of the shape of λ, from the sum of the reports (S,)."""

    def gaps(self, direction: Floats) -> Floats:
        """The F_a, one for each constraint, from μ."""
        return direction

    def follow(self, change: Floats) -> Floats:
        """The change of λ for a change of the multipliers."""
        return change

    def free(self, lam: Floats, people: Floats) -> Floats:
        """The multipliers of the constraints: λ minus the initial λ."""
        return lam - self.initial(people)

    @abstractmethod
    def table(self, lam: Floats, people: Floats, counts: Floats) -> Floats:
        """Weights that broadcast to each client's people, ``counts`` (K, A, 2)."""


def check_groups(sizes: Floats, members: str) -> None:
    """ValueError where a group has no ``members``; sizes (A,)."""
    if (sizes <= 0).any():
        raise ValueError(
            f"group {int(np.argmin(sizes))} must have {members} among the training data, got none"
        )


class DemographicParity(BilevelProblem):
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

    def people(self, total: Floats) -> Floats:
        people = super().people(total)
        check_groups(people.sum(1), "people")
        return people

    def initial(self, people: Floats) -> Floats:
        return people.sum(-1) / people.sum((-2, -1))[..., None]

    def project(self, lam: Floats, people: Floats) -> Floats:
        # np.clip takes three times as long
        return np.minimum(np.maximum(lam, 0.0), 2 * self.initial(people))

    def project_sum(self, lam: Floats, people: Floats) -> Floats:
        return onto_box_of_sum(lam, np.zeros_like(lam), 2 * self.initial(people), 1.0)

    def statistics(self, sums: Floats, counts: Floats, clients: Ints, people: Floats) -> Floats:
        return (sums[:, :, 0] - sums[:, :, 1]) / people.sum(-1)

    def direction(self, total: Floats, people: Floats) -> Floats:
        level = total - people[..., 0] / people.sum(-1)
        return self.follow(level[..., 1:] - level[..., :1])

    def gaps(self, direction: Floats) -> Floats:
        return direction[..., 1:]

    def follow(self, change: Floats) -> Floats:
        return np.concatenate([-change.sum(-1, keepdims=True), change], -1)

    def free(self, lam: Floats, people: Floats) -> Floats:
        return super().free(lam, people)[..., 1:]

    def table(self, lam: Floats, people: Floats, counts: Floats) -> Floats:
        negative = lam / self.initial(people)
        return np.stack([negative, 2 - negative], axis=-1)


class EqualOpportunity(BilevelProblem):
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
    appendix B.1 has are taken here too.

    Source: FedFB, appendix B.2.
    """

    name = "eo"
    labels = (1,)

    def people(self, total: Floats) -> Floats:
        people = super().people(total)
        for y in self.labels:
            check_groups(people[:, y], f"people of label {y}")
        return people

    def is_defined(self, people: Floats) -> NDArray[np.bool_]:
        return people[..., self.labels].min((-2, -1)) > 0

    def initial(self, people: Floats) -> Floats:
        counts = np.concatenate([people[..., 1:, y] for y in self.labels], -1)
        return counts / people.sum((-2, -1))[..., None]

    def project(self, lam: Floats, people: Floats) -> Floats:
        caps = [people[..., y].sum(-1) / people.sum((-2, -1)) for y in self.labels]
        parts = zip(self._parts(lam), caps, strict=True)
        return np.concatenate([onto_capped_simplex(part, cap) for part, cap in parts], -1)

    def statistics(self, sums: Floats, counts: Floats, clients: Ints, people: Floats) -> Floats:
        return np.concatenate([sums[:, :, y] / people[..., y] for y in self.labels], axis=1)

    def direction(self, total: Floats, people: Floats) -> Floats:
        return np.concatenate([part[..., 1:] - part[..., :1] for part in self._parts(total)], -1)

    def table(self, lam: Floats, people: Floats, counts: Floats) -> Floats:
        weights, size = np.ones_like(people), people.sum((-2, -1))[..., None]
        for y, part in zip(self.labels, self._parts(lam), strict=True):
            # the reference group's λ; rounding may take it below 0
            share = people[..., y].sum(-1, keepdims=True) / size
            reference = np.maximum(0.0, share - part.sum(-1, keepdims=True))
            weights[..., y] = np.concatenate([reference, part], -1) * size / people[..., y]
        return weights

    def _parts(self, values: Floats) -> list[Floats]:
        """The entries of each label."""
        return np.split(values, len(self.labels), -1)


class EqualisedOdds(EqualOpportunity):
    r"""The same for both labels, λ_{y,a} with a cap n_{y,*}/n for each y; all weights but the λ are
    n_{y,a}/n.

    λ and μ hold label 0's A - 1 entries, then label 1's. Source: FedFB, appendix B.3, algorithm 4,
    with the weights that are missing there as in algorithm 3.
    """

    name = "eodds"
    labels = (0, 1)


class ClientParity(BilevelProblem):
    r"""Each client is a group; the groups of the people are not used.

    .. math::
        \mu^{(i)} = L^{(i)} - L^{(0)}, \quad \lambda \ge 0, \; \sum_{i \ge 1} \lambda^{(i)} \le 1,
        \quad w_\lambda = \arg\min \sum_{i \ge 1} \lambda^{(i)} L^{(i)} + \Bigl(1 - \sum_{i \ge 1}
        \lambda^{(i)}\Bigr) L^{(0)}

    λ has K - 1 entries, clients by rising id; a sample of client i weighs λ^(i) n / n^(i). The
    report has K entries, all 0 but the client's own: here the sum reveals every client's loss and
    size, as algorithm 5 does, which sends them openly.
    Source: FedFB, appendix B.4.
    """

    name = "cp"

    def enrol(self, counts: Floats) -> Floats:
        return np.diag(counts.sum((1, 2)))

    def people(self, total: Floats) -> Floats:
        return total

    def initial(self, people: Floats) -> Floats:
        return people[1:] / people.sum()

    def project(self, lam: Floats, people: Floats) -> Floats:
        return onto_capped_simplex(lam, 1.0)

    def statistics(self, sums: Floats, counts: Floats, clients: Ints, people: Floats) -> Floats:
        reports = np.zeros((len(clients), len(people)))
        reports[np.arange(len(clients)), clients] = sums.sum((1, 2)) / people[clients]
        return reports

    def direction(self, total: Floats, people: Floats) -> Floats:
        return total[1:] - total[0]

    def table(self, lam: Floats, people: Floats, counts: Floats) -> Floats:
        shares = np.append(max(0.0, 1 - lam.sum()), lam)
        return (shares * people.sum() / people)[:, None, None]


NOTIONS: dict[str, BilevelProblem] = {
    notion.name: notion
    for notion in (DemographicParity(), EqualOpportunity(), EqualisedOdds(), ClientParity())
}
""""dp", "eo", "eodds" as in ``theory.populations.notions``, and "cp", client parity."""
