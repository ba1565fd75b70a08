"""TERM: exponentially tilted risks, over the clients and over the samples of each client."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from fairfl._support.checks import in_range
from fairfl.sims.engine import Aggregate, Algorithm, LocalTask, Received, Round


@dataclass(frozen=True)
class Tilted:
    """(1/tau) log sum_b share_b exp(tau loss_b) of a batch, by its derivatives, a softmax."""

    tau: float

    @property
    def parameters(self) -> tuple[float, ...]:
        """tau, != 0."""
        return (self.tau,)

    @staticmethod
    def __call__(losses: Tensor, share: Tensor, *parameters: Tensor) -> Tensor:
        scaled = losses * parameters[0]
        tilted = share * (scaled - scaled.amax(1, keepdim=True)).exp()
        return tilted / tilted.sum(1, keepdim=True)


@dataclass(frozen=True)
class TERM(Algorithm):
    """Updates weighed by p_k exp(alpha R_k), normalised: descent on (1/alpha) log sum_k p_k
    exp(alpha R_k(w)).

    tau = 0: R_k = F_k(w^t), the mean loss, and clients train on it (client level). tau != 0: R_k =
    (1/tau) log mean exp(tau loss) on all data of the client, and clients train on the tilted risk
    of their batches (hierarchical); a batch's tilted risk is biased for the client's, and exact
    where a batch is all data. alpha -> 0 is FedAvg.

    Weights come from exact losses at w^t in place of the running estimates of the paper's
    stochastic algorithms. Errors: ValueError for alpha < 0 or infinite, or tau infinite.
    Source: Li, Beirami, Sanjabi and Smith, Tilted empirical risk minimization (ICLR 2021): t-tilted
    loss, and hierarchical multi-objective tilting; PropFair, appendix B.2, uses tau = 0.
    """

    alpha: float = 1.0
    tau: float = 0.0
    name: ClassVar[str] = "term"
    needs_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        in_range("alpha", self.alpha, 0.0, 1e300)
        in_range("tau", self.tau, -1e300, 1e300)

    @property
    def tilt(self) -> float:
        return self.tau

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        return (LocalTask(batch_objective=Tilted(self.tau) if self.tau else None),)

    def server(self, received: Received) -> Aggregate:
        losses = received.losses
        tilted = received.p * np.exp(self.alpha * (losses - losses.max()))
        return Aggregate(tilted / tilted.sum(), received.state)
