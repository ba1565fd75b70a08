"""A dynamic-participants algorithm merged with q-FedAvg (dynamic participants, algorithm 4)."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import torch

from fairfl.sims.algorithms.dynamic import Dynamic, NormalizedFedAvg
from fairfl.sims.algorithms.qfedavg import QFedAvg, nonnegative
from fairfl.sims.engine import Aggregate, Floats, Received


@dataclass(frozen=True)
class DynamicQFedAvg(QFedAvg):
    """q-FedAvg of the updates u_k that ``rule`` makes: Normalized, Modified Normalized or Clipping
    FedAvg.

    w^(t+1) = w^t + sum_k p_k F_k^q L u_k / sum_k p_k (L F_k^q + q F_k^(q-1) ||L u_k||²), as
    ``QFedAvg``. Lines 9 to 11 print p_k F_k^q u_k / (F_k^q + q F_k^(q-1) ||u_k||) for each client
    and layer: the norm is not squared, L is left out, and each client is divided by its own h_k, so
    that F_k^q cancels and a larger loss hardly counts more (claim ``dynamic/algorithm-4``).
    ``variant="printed"`` is that. q = 0 is ``rule`` alone, either way.

    Errors: as q-FedAvg, and ValueError for another rule.
    Source: Fairness of Federated Learning with Dynamic Participants, algorithm 4; q-FFL, algorithm
    1.
    """

    q: float = 0.1
    rule: Dynamic = field(default_factory=NormalizedFedAvg)
    name: ClassVar[str] = "dynamic_qfedavg"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.rule, Dynamic):
            raise ValueError(
                "rule must be NormalizedFedAvg, ModifiedNormalizedFedAvg or ClippingFedAvg, got "
                f"{self.rule!r}"
            )

    def server(self, received: Received) -> Aggregate:
        changed = self.rule.changed(received)
        aggregate = self._printed(changed) if self.variant == "printed" else super().server(changed)
        step = torch.zeros_like(received.params) if aggregate.step is None else aggregate.step
        return replace(aggregate, state=self.rule.remember(received, step), step=step)

    def factors_and_squares(self, part: Received) -> tuple[Floats | None, Floats]:
        squares = self._squares(part)
        return self.rule.factors(part), squares.sum(1)

    def _squares(self, part: Received) -> Floats:
        """||u_k||² by layer (m, L)."""
        factors, squares = self.rule.factors(part), part.squares
        return squares if factors is None else (np.sqrt(squares) * factors) ** 2

    def _printed(self, received: Received) -> Aggregate:
        """Lines 9 to 11: weights p_k / (1 + q ||u_k|| / F_k) by layer, 0 where F_k = 0 < q."""
        nonnegative(received.losses, self)
        return Aggregate(received.p, received.state, received.total(self._printed_weights))

    def _printed_weights(self, part: Received) -> Floats:
        losses, p = part.losses[:, None], part.p[:, None]
        norms, factors = np.sqrt(self._squares(part)), self.rule.factors(part)
        weights = np.broadcast_to(p, norms.shape) if factors is None else p * factors
        if self.q == 0:
            return weights
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(losses > 0, weights / (1 + self.q * norms / losses), 0.0)
