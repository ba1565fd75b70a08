"""Notion of fairness for FairBatch: a statistic, λ's direction and set, people's weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.engine.task import Floats


class Notion(ABC):
    """λ, μ and the inner objective of one bilevel problem of FedFB, any number of groups, group 0
    the reference.

    Shapes: K clients, A groups, cells (client, a, y). ``known`` is the sum over clients of what
    ``enrol`` gives, all that the server knows of the people. ``statistics`` are what clients
    report: their sum T (S,) is what ``direction`` takes. ``table`` weighs the loss of each sample,
    times n: the inner objective is
    (1/n) sum_s table[cell of s] loss_s, so that FedAvg with weights n_i/n on the clients' mean
    weighted losses has its gradient, and weights of one are FedAvg itself.
    """

    name: ClassVar[str] = ""
    signed: ClassVar[bool] = False
    """Whether a statistic of losses, which are not negative, may be; its size is at most the
    largest, either way.
    """

    def enrol(self, counts: Floats) -> Floats:
        """What clients report once (K, S0), of their people (K, A, 2): those, in a row."""
        return counts.reshape(len(counts), -1)

    def known(self, total: Floats) -> Floats:
        """The enrolments' sum as people n_{a,y} (A, 2); ValueError if undefined there."""
        return total.reshape(-1, 2)

    @abstractmethod
    def initial(self, known: Floats) -> Floats:
        """λ whose weights are all one."""

    @abstractmethod
    def project(self, lam: Floats, known: Floats) -> Floats:
        """The point of the set of λ nearest to ``lam``."""

    def project_sum(self, lam: Floats, known: Floats) -> Floats:
        """The nearest point that keeps the sums which steps keep, too."""
        return self.project(lam, known)

    @abstractmethod
    def statistics(
        self, sums: Floats, counts: Floats, clients: NDArray[np.int64], known: Floats
    ) -> Floats:
        """Reports (k, S), of sums of losses and people (k, A, 2) of the listed clients."""

    @abstractmethod
    def direction(self, total: Floats, known: Floats) -> Floats:
        """μ, of the shape of λ, from the sum of the reports (S,)."""

    def gaps(self, direction: Floats) -> Floats:
        """The F_a, one a constraint, from μ."""
        return direction

    def follow(self, change: Floats) -> Floats:
        """A change of λ, from one of the multipliers of the constraints."""
        return change

    def free(self, lam: Floats, known: Floats) -> Floats:
        """The multipliers of the constraints: λ less that whose weights are all one."""
        return lam - self.initial(known)

    @abstractmethod
    def table(self, lam: Floats, known: Floats, counts: Floats) -> Floats:
        """Weights that broadcast to each client's people, ``counts`` (K, A, 2)."""


def defined(known: Floats, mass: Floats, what: str) -> None:
    """ValueError where nobody is in a group (A,)."""
    if (mass <= 0).any():
        raise ValueError(
            f"group {int(np.argmin(mass))} must have {what} among the training data, got none"
        )
