"""FedMGDA+: a common descent direction, by the least-norm convex combination of gradients."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from fairfl._support.checks import in_range
from fairfl.sims.algorithms.min_norm import min_norm_weights
from fairfl.sims.engine import Aggregate, Algorithm, as_floats
from fairfl.sims.engine.round import PART, Received


@dataclass(frozen=True)
class FedMGDA(Algorithm):
    """w^(t+1) = w^t + server_lr sum_k v_k g_k, v on the simplex of least ||sum_k v_k g_k||², |v_k -
    p_k| <= epsilon.

    g_k = (w_k - w^t) / ||w_k - w^t||, or without ``normalize`` the update itself. A client whose
    update is 0 is at its optimum: with epsilon = 1 it gets all weight, and the step is 0, for
    the point is Pareto stationary. With normalised updates the step's length depends on the
    training's ``server_lr``, not on the local learning rate. epsilon = 0 without ``normalize`` is
    FedAvg. A client drawn j times counts as j clients: |v_k - p_k| <= j epsilon. The inner
    products of all pairs need all updates in memory at once.

    Errors: ValueError for epsilon outside [0, 1].
    Source: Hu, Shaloudegi, Zhang and Yu, Federated learning meets multi-objective optimization
    (IEEE TNSE 2022): FedMGDA+ is epsilon < 1 with normalisation, FedMGDA epsilon = 1 without.
    """

    epsilon: float = 0.1
    normalize: bool = True
    name: ClassVar[str] = "fedmgda"

    def __post_init__(self) -> None:
        in_range("epsilon", self.epsilon, 0.0, 1.0)

    def server(self, received: Received) -> Aggregate:
        gram = as_floats(products(received.updates))
        norms = np.sqrt(gram.diagonal())
        units = np.where(norms > 0, norms, 1.0) if self.normalize else np.ones_like(norms)
        gram = gram / np.outer(units, units)
        # The problem is the same for all multiples of the updates: solve it in units of the
        # longest.
        largest = gram.diagonal().max()
        if largest > 0:
            gram = gram / largest
        radius = self.epsilon * received.draws.astype(np.float64)
        return Aggregate(min_norm_weights(gram, received.p, radius) / units, received.state)


def products(updates: Tensor) -> Tensor:
    """Inner products of all pairs of updates (m, m)."""
    total = updates.new_zeros(2 * updates.shape[:1], dtype=torch.float64)
    for columns in updates.split(PART, 1):
        block = columns.to(torch.float64)
        total += block @ block.T
    return total
