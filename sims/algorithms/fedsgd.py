"""FedSGD: one gradient step on all data of every client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine.algorithm import Round
from fairfl.sims.engine.task import LocalTask


@dataclass(frozen=True)
class FedSGD(FedAvg):
    """w^(t+1) = w^t - lr sum_k p_k grad F_k(w^t), the full gradient of each client that takes part.

    Source: McMahan et al. (AISTATS 2017), section 2.
    """

    name: ClassVar[str] = "fedsgd"

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        return (LocalTask(whole=True),)
