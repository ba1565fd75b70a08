"""q-FedSGD: q-FedAvg with the full gradient in place of local training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine.algorithm import Algorithm, Round
from fairfl.sims.engine.task import LocalTask


@dataclass(frozen=True)
class QFedSGD(QFedAvg):
    """w^(t+1) = w^t - sum_k p_k F_k^q grad F_k / sum_k p_k (L F_k^q + q F_k^(q-1) ||grad F_k||²),
    at w^t.

    L is 1 / lr unless given; lr has no other meaning here. q = 0 is FedSGD with the learning rate 1
    / L, where q-FedAvg with one full step is FedSGD with lr. It has no ``variant``: what is printed
    is right.

    Errors: as q-FedAvg.
    Source: q-FFL (Li et al., ICLR 2020), algorithm 3, lemma 12.
    """

    name: ClassVar[str] = "qfedsgd"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant != "corrected":
            raise ValueError(f"variant must be left alone for q-FedSGD, got {self.variant!r}")

    @classmethod
    def examples(cls) -> Iterable[Algorithm]:
        return [cls(0.0), cls(1.0), cls(2.0, L=3.0)]

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        return (LocalTask(whole=True),)

    def _unit(self, lr: float, curvature: float) -> float:
        return lr  # the step was lr grad F_k
