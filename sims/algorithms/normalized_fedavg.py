"""Normalized FedAvg: updates of one length (dynamic participants, algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from fairfl._support.checks import one_of, positive
from fairfl.sims.algorithms.dynamic import NORMS, Dynamic, later, with_lengths
from fairfl.sims.engine.algorithm import Algorithm, Received
from fairfl.sims.engine.task import Floats


@dataclass(frozen=True)
class NormalizedFedAvg(Dynamic):
    """w^(t+1) = w^t + length sum_k p_k u_k / ||u_k||, u_k = w_k - w^t, once a second group has
    joined (t >= t_2).

    ``norm="layer"`` divides each layer (weights with their bias) by its own norm, "global" the
    whole update. Line 8 prints the norm without saying which; the text below it says layers, since
    a global norm "could lead to non-convergence". ``length`` is the clients' learning rate in the
    round unless given: line 8's eta_t. With local steps lr / c on losses times c the updates stay,
    and so does the step if ``length`` is given; with one step on all data it does so too at the
    same lr. An update of 0 has no direction, and stays.

    Errors: ValueError for another norm and for length <= 0.
    Source: Fairness of Federated Learning with Dynamic Participants, algorithm 1.
    """

    norm: str = "layer"
    length: float | None = None
    name: ClassVar[str] = "normalized_fedavg"

    def __post_init__(self) -> None:
        one_of("norm", self.norm, NORMS)
        if self.length is not None:
            positive("length", self.length)

    @classmethod
    def examples(cls) -> Iterable[Algorithm]:
        return [cls(), cls("global"), cls(length=0.2)]

    def factors(self, part: Received) -> Floats | None:
        if not later(part):
            return None
        length = part.lr if self.length is None else self.length
        return with_lengths(part, self.norm, lambda norms: length)
