"""What the algorithms for dynamic participants share: FedAvg whose server changes the updates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine.algorithm import Aggregate, Received, Round, State
from fairfl.sims.engine.task import Floats

NORMS = ("layer", "global")
"""Whether each layer of an update has a length of its own, or the update has one."""


@dataclass(frozen=True)
class Dynamic(FedAvg):
    """w^(t+1) = w^t + sum_k p_k u_k, u_k what the rule makes of w_k - w^t.

    The papers' t_1 and t_2 are the first two of ``Round.joins``; while one group is there this is
    FedAvg. The paper has two groups; here a rule that looks at the time of joining looks at the
    last one.
    """

    def server(self, received: Received) -> Aggregate:
        step = self.changed(received).total(received.p)
        return Aggregate(received.p, self.remember(received, step), step)

    @abstractmethod
    def changed(self, received: Received) -> Received:
        """What came back, with the updates changed."""

    def remember(self, received: Received, step: Tensor) -> State:
        """The state after the server's step (P,), before it is multiplied by ``server_lr``."""
        return received.state


def later(round: Round) -> bool:
    """Whether a second group has joined: t >= t_2."""
    return len(round.joins) > 1


def sizes(round: Round, norm: str) -> tuple[int, ...]:
    """Parameters of what has a length of its own."""
    return round.layers if norm == "layer" and round.layers else (len(round.params),)


def with_lengths(part: Received, norm: str, lengths: Callable[[Floats], Floats | float]) -> Tensor:
    """The updates (m, P) with other lengths: ``lengths`` makes them of their norms (m, L). Where a
    norm is 0 there is no direction, and what is 0 stays.
    """
    layers = sizes(part, norm)
    norms = np.sqrt(part.squared_norms_by_layer(layers))
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(norms > 0, lengths(norms) / norms, 0.0)
    rows = part.updates
    # in float32 1 / norm may be too large where its product with the update is not
    large = bool(factors.max(initial=0.0) > torch.finfo(rows.dtype).max)
    dtype = torch.float64 if large else rows.dtype
    given, result = torch.from_numpy(factors).to(rows.device, dtype), torch.empty_like(rows)
    parts = (values.split(list(layers), 1) for values in (rows, result))
    for layer, (before, after) in enumerate(zip(*parts, strict=True)):
        after.copy_(before.to(dtype) * given[:, layer, None])
    return result
