"""FedAvg: local SGD, then the weighted mean of the clients' models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairfl.sims.engine.algorithm import Aggregate, Algorithm, Received, Sum


@dataclass(frozen=True)
class FedAvg(Algorithm):
    """w^(t+1) = sum_k p_k w_k.

    Source: McMahan et al., Communication-efficient learning of deep networks from decentralized
    data (AISTATS 2017), algorithm 1; q-FFL, algorithm 2.
    """

    name: ClassVar[str] = "fedavg"

    def server(self, received: Received) -> Aggregate | Sum:
        return Aggregate(received.p, received.state)
