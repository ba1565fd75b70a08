"""Modified Normalized FedAvg: mixed update lengths (dynamic participants, algorithm 2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from fairfl._support.checks import in_range, one_of
from fairfl.sims.algorithms.dynamic import NORMS, Dynamic, later, layers, norms_of, with_lengths
from fairfl.sims.engine.algorithm import Algorithm, Received, State, squared_norms
from fairfl.sims.engine.task import Floats
from fairfl.theory.bounds.updates import interpolated_length


@dataclass(frozen=True)
class ModifiedNormalizedFedAvg(Dynamic):
    """Updates u_k of length beta G / (1 + t - t_2) + (1 - beta) ||u_k||, layer by layer, for t >
    t_2.

    G is the length of the server's step of round t_2, which is FedAvg's and the first with the new
    group; (7) and line 5 agree on that. beta = 0 is FedAvg. ``norm``: "layer" as algorithm 2 prints
    it, or "global", as (7) and (8) do, of which appendix D.1 says that it does not converge. With
    several groups t_2 is the round of the last joining (ours); where nothing comes back in that
    round, the first in which something does. G is taken before ``server_lr``, which multiplies the
    step once.

    Errors: ValueError for beta outside [0, 1] and another norm.
    Source: Fairness of Federated Learning with Dynamic Participants, algorithm 2, (7) and (8).
    """

    beta: float = 1.0
    norm: str = "layer"
    name: ClassVar[str] = "modified_normalized_fedavg"

    def __post_init__(self) -> None:
        in_range("beta", self.beta, 0.0, 1.0)
        one_of("norm", self.norm, NORMS)

    @classmethod
    def examples(cls) -> Iterable[Algorithm]:
        return [cls(), cls(0.5), cls(0.7, "global")]

    def ask(self, part: Received) -> Tensor | None:
        """G² by layer in one more row."""
        if not self._measured(part):
            return None
        return torch.cat([squared_norms(part.updates, layers(part)), part.state["squares"]])

    def factors(self, part: Received) -> Floats | None:
        if not self._measured(part):
            return None
        scale = norms_of(part.asked[-1:], self.norm)
        rounds = part.number - int(part.state["since"])

        def lengths(norms: Floats) -> Floats:
            return interpolated_length(norms, self.beta, scale, rounds)

        return with_lengths(part, self.norm, lengths)

    def remember(self, received: Received, step: Tensor) -> State:
        if not later(received) or self._measured(received):
            return received.state
        squares = squared_norms(step[None], layers(received))
        return {"squares": squares, "since": torch.tensor(received.number)}

    def _measured(self, received: Received) -> bool:
        """Whether G is there since the last group joined."""
        since = received.state.get("since")
        return later(received) and since is not None and int(since) >= received.joins[-1]
