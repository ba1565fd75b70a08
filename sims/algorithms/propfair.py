"""PropFair: local training on the logarithm of the utility, by batch (PropFair, algorithm 1)."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from fairfl._support.checks import one_of, positive
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import LocalTask, Round


@dataclass(frozen=True)
class BatchLog:
    """-factor log(M - l) of a batch's mean loss l where gap = M - l >= epsilon, by its derivative
    factor / gap; below epsilon the derivative is factor (level + slope gap).
    """

    M: float
    epsilon: float
    factor: float
    level: float
    slope: float

    @property
    def parameters(self) -> tuple[float, ...]:
        """All five."""
        return self.M, self.epsilon, self.factor, self.level, self.slope

    @staticmethod
    def __call__(losses: Tensor, share: Tensor, *parameters: Tensor) -> Tensor:
        M, epsilon, factor, level, slope = parameters
        gap = M - (share * losses).sum(1, keepdim=True)
        is_log = gap >= epsilon
        log = 1 / torch.where(is_log, gap, torch.ones_like(gap))
        return share * factor * torch.where(is_log, log, level + slope * gap)


@dataclass(frozen=True)
class PropFair(FedAvg):
    """Clients run SGD on -log(M - l) of each batch's mean loss l; the server averages by p_k.

    Where M - l < epsilon, ``variant`` says what follows: "paper" l / M, whose gradient is smaller
    by epsilon / M than just before, for exactly the clients that are worst off; "linear" and
    "quadratic" continue the logarithm smoothly, so that the derivative does not drop. With
    ``rescale`` the objective is multiplied by M: then M -> inf is FedAvg at the same lr, and
    without it at lr / M.

    A batch's log is not the client's: E log(M - l_S) < log(M - F_k) (Jensen), so small batches tilt
    within clients too; ``DualWeighted(PropFair(M))`` has the weights of full losses.
    Errors: ValueError unless 0 < epsilon < M < inf, and for another variant.
    Source: PropFair, algorithm 1, lines 8-11. The paper prints no value of epsilon; 0.2 is ours.
    """

    M: float = 2.0
    epsilon: float = 0.2
    variant: str = "paper"
    rescale: bool = False
    name: ClassVar[str] = "propfair"

    def __post_init__(self) -> None:
        positive("M", self.M)
        positive("epsilon", self.epsilon)
        if self.epsilon >= self.M:
            raise ValueError(f"epsilon must be below M = {self.M:g}, got {self.epsilon:g}")
        one_of("variant", self.variant, ("paper", "linear", "quadratic"))

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        M, epsilon = self.M, self.epsilon
        level, slope = {
            "paper": (1 / M, 0.0),
            "linear": (1 / epsilon, 0.0),
            "quadratic": (2 / epsilon, -1 / epsilon**2),
        }[self.variant]
        factor = M if self.rescale else 1.0
        return (LocalTask(batch_objective=BatchLog(M, epsilon, factor, level, slope)),)
