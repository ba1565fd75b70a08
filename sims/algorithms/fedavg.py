"""FedAvg: local SGD, then the weighted mean of the clients' models; FedSGD: one full step."""

from dataclasses import dataclass
from typing import ClassVar

from fairfl.sims.engine import Aggregate, Algorithm, LocalTask, Received, Round


@dataclass(frozen=True)
class FedAvg(Algorithm):
    """w^(t+1) = sum_k p_k w_k.

    Source: McMahan et al., Communication-efficient learning of deep networks from decentralized
    data (AISTATS 2017), algorithm 1; q-FFL, algorithm 2.
    """

    name: ClassVar[str] = "fedavg"

    def server(self, received: Received) -> Aggregate:
        return Aggregate(received.p, received.state)


@dataclass(frozen=True)
class FedSGD(FedAvg):
    """w^(t+1) = w^t - lr sum_k p_k grad F_k(w^t), the full gradient of each client that takes part.

    Source: McMahan et al. (AISTATS 2017), section 2.
    """

    name: ClassVar[str] = "fedsgd"

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        return (LocalTask(whole=True),)
