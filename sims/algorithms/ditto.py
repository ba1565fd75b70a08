"""Ditto: personal models with a proximal term towards a global model."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from fairfl._support.checks import in_range
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Aggregate, Floats, LocalTask, Received, Round, State


@dataclass(frozen=True)
class Ditto(FedAvg):
    """FedAvg; each client that takes part also runs SGD on F_k(v) + (lam / 2) ||v - w^t||² from its
    own v_k.

    The personal models v_k (K, P) start at w^0, stay on the clients' axis, and take as many steps,
    at the same rates, as the global one. lam = 0 is training alone; as lam grows v_k follows w^t
    (stable for lam * lr < 2). Errors: ValueError for lam < 0 or infinite.
    Source: Li, Hu, Beirami and Smith, Ditto: fair and robust federated learning through
    personalization (ICML 2021), algorithm 1.
    """

    lam: float = 0.1
    name: ClassVar[str] = "ditto"

    def __post_init__(self) -> None:
        in_range("lam", self.lam, 0.0, 1e300)

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        return {"personal": params.repeat(clients, 1)}

    def personal(self, state: State) -> Tensor:
        return state["personal"]

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        personal = round.state["personal"][round.rows]
        return LocalTask(), LocalTask(prox=self.lam, start=personal)

    def server(self, received: Received) -> Aggregate:
        personal = received.state["personal"].clone()

        def update_personal(part: Received) -> Floats:
            personal[part.rows] = part.params + part.further[0]
            return part.p

        step = received.total(update_personal)
        return Aggregate(received.p, {"personal": personal}, step)
