"""FedOpt: an optimiser on the server: momentum, Adagrad, Yogi, Adam; its gradient: the update."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from fairfl._support.checks import in_range, one_of, positive
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Aggregate, Floats, Received, State

KINDS = ("momentum", "adagrad", "yogi", "adam")


@dataclass(frozen=True)
class FedOpt(FedAvg):
    """w^(t+1) = w^t + server_lr m / (sqrt(v) + tau), d = sum_k p_k (w_k - w^t), entry by entry.

    m <- beta_1 m + (1 - beta_1) d, and v <- v + d² (Adagrad), v - (1 - beta_2) d² sign(v - d²)
    (Yogi), beta_2 v + (1 - beta_2) d² (Adam); m = 0 and v = tau² before. ``kind="momentum"``,
    FedAvgM: m <- beta_1 m + d, w^(t+1) = w^t + server_lr m. Without bias correction, as published.

    Errors: ValueError for another kind, betas outside [0, 1) and tau <= 0.
    Source: Reddi et al., Adaptive federated optimization (ICLR 2021), algorithm 2; FedAvgM: Hsu, Qi
    and Brown, Measuring the effects of non-identical data distribution (2019).
    """

    kind: str = "adam"
    beta_1: float = 0.9
    beta_2: float = 0.99
    tau: float = 1e-3
    name: ClassVar[str] = "fedopt"

    def __post_init__(self) -> None:
        one_of("kind", self.kind, KINDS)
        for name in ("beta_1", "beta_2"):
            in_range(name, getattr(self, name), 0.0, 1.0, open_high=True)
        positive("tau", self.tau)

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        m = {"m": torch.zeros_like(params)}
        return m if self.kind == "momentum" else m | {"v": torch.full_like(params, self.tau**2)}

    def server(self, received: Received) -> Aggregate:
        d, m = received.total(received.p), self.beta_1 * received.state["m"]
        if self.kind == "momentum":
            m = m + d
            return Aggregate(received.p, {"m": m}, m)
        m, v = m + (1 - self.beta_1) * d, received.state["v"]
        if self.kind == "adagrad":
            v = v + d.square()
        elif self.kind == "yogi":
            v = v - (1 - self.beta_2) * d.square() * torch.sign(v - d.square())
        else:
            v = self.beta_2 * v + (1 - self.beta_2) * d.square()
        return Aggregate(received.p, {"m": m, "v": v}, m / (v.sqrt() + self.tau))
