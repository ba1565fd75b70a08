"""What the algorithms for dynamic participants share: FedAvg whose server changes the updates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine.algorithm import Aggregate, Received, Round, State, Sum, squared_norms
from fairfl.sims.engine.task import Floats

NORMS = ("layer", "global")
"""Whether each layer of an update has a length of its own, or the update has one."""


@dataclass(frozen=True)
class Dynamic(FedAvg):
    """w^(t+1) = w^t + sum_k p_k u_k, u_k what the rule makes of w_k - w^t: ``changed``, then
    multiplied by layers with ``factors``.

    The papers' t_1 and t_2 are the first two of ``Round.joins``; while one group is there this is
    FedAvg. The paper has two groups; here a rule that looks at the time of joining looks at the
    last one.
    """

    def server(self, received: Received) -> Sum:
        def weigh(part: Received) -> Floats:
            factors = self.factors(part)
            return part.p if factors is None else part.p[:, None] * factors

        def then(step: Tensor) -> Aggregate:
            return Aggregate(received.p, self.remember(received, step), step)

        return Sum(self.changed(received), weigh, then)

    def ask(self, part: Received) -> Tensor | None:
        """Squared norms of the updates by layer, in the first m rows; None where not used."""
        return squared_norms(part.updates, layers(part)) if later(part) else None

    def changed(self, received: Received) -> Received:
        """What came back, with the updates changed."""
        return received

    @abstractmethod
    def factors(self, part: Received) -> Floats | None:
        """Factors on the layers of the updates (m, L); None for ones."""

    def remember(self, received: Received, step: Tensor) -> State:
        """The state after the server's step (P,), before it is multiplied by ``server_lr``."""
        return received.state


def later(round: Round) -> bool:
    """Whether a second group has joined: t >= t_2."""
    return len(round.joins) > 1


def layers(round: Round) -> tuple[int, ...]:
    """Parameters of each layer of the model."""
    return round.layers or (len(round.params),)


def norms_of(squares: Floats, norm: str) -> Floats:
    """Lengths (m, L) from squared lengths by layer, or of the whole update (m, 1)."""
    return np.sqrt(squares if norm == "layer" else squares.sum(1, keepdims=True))


def with_lengths(part: Received, norm: str, lengths: Callable[[Floats], Floats | float]) -> Floats:
    """Factors (m, L) for updates of other ``lengths`` of their norms, (m, L) or (m, 1); 0 stays."""
    squares = part.asked[: len(part.clients)]
    norms = norms_of(squares, norm)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(norms > 0, lengths(norms) / norms, 0.0)
    return np.broadcast_to(factors, squares.shape)
