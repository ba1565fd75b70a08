"""FedProx: local objectives with a proximal term towards the global model."""

from dataclasses import dataclass
from typing import ClassVar

from fairfl._support.checks import in_range
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import LocalTask, Round


@dataclass(frozen=True)
class FedProx(FedAvg):
    """Clients run SGD on F_k(w) + (mu / 2) ||w - w^t||²; the server averages by p_k. mu = 0 is
    FedAvg.

    Partial work is the training's ``stragglers``. Errors: ValueError for mu < 0 or infinite.
    Source: Li et al., Federated optimization in heterogeneous networks (MLSys 2020), algorithm 2,
    eq. (2).
    """

    mu: float = 0.1
    name: ClassVar[str] = "fedprox"

    def __post_init__(self) -> None:
        in_range("mu", self.mu, 0.0, 1e300)

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        return (LocalTask(prox=self.mu),)
