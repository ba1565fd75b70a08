"""Clipping FedAvg: each entry of an update is limited (dynamic participants, algorithm 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from fairfl._support.checks import one_of
from fairfl.sims.algorithms.dynamic import Dynamic, later, layers
from fairfl.sims.engine.algorithm import Algorithm, Received, State


@dataclass(frozen=True)
class ClippingFedAvg(Dynamic):
    """From t_2 on each entry of w_k - w^t is clipped to [-g, g], g a number a layer: the largest
    size of an entry of the server's last step before the group joined.

    Line 5's LM takes the largest entry of w_(t-1) - w_t, not its size: of a layer whose entries all
    grew it is negative, and limits nothing. ``variant="printed"`` takes it, and raises where it is
    negative; as the update's entries of both signs are limited by +-g, the size is meant. With
    several groups g is taken anew when one joins (ours). Without a step before, nothing is clipped.
    A layer that did not move in that step is held from then on, as printed. g is taken before
    ``server_lr``.

    Errors: ValueError for another variant, and for a negative g.
    Source: Fairness of Federated Learning with Dynamic Participants, algorithm 3.
    """

    variant: str = "corrected"
    name: ClassVar[str] = "clipping_fedavg"

    def __post_init__(self) -> None:
        one_of("variant", self.variant, ("corrected", "printed"))

    @classmethod
    def examples(cls) -> Iterable[Algorithm]:
        return [cls()]

    def changed(self, received: Received) -> Received:
        return received if self._limits(received) is None else received.changed(self._clipped)

    def _clipped(self, part: Received) -> Tensor:
        limits = self._limits(part)
        assert limits is not None  # of no part, or of all
        each = zip(limits.to(part.params.dtype), layers(part), strict=True)
        most = torch.cat([g.expand(size) for g, size in each])
        return part.updates.clamp_(-most, most)  # in place: what is clipped stays so

    def ask(self, part: Received) -> None:
        return None

    def factors(self, part: Received) -> None:
        return None

    def remember(self, received: Received, step: Tensor) -> State:
        down = step.abs() if self.variant == "corrected" else -step
        parts = down.to(torch.float64).split(layers(received))
        state = {"last": torch.stack([layer.max() for layer in parts])}
        limits = self._limits(received)
        if limits is not None:
            state |= {"limits": limits, "since": torch.tensor(received.joins[-1])}
        return state

    def _limits(self, received: Received) -> Tensor | None:
        """g (L,) while a second group is there, where a step came before it."""
        state = received.state
        if not later(received):
            return None
        if "since" in state and int(state["since"]) == received.joins[-1]:
            return state["limits"]
        found = state.get("last")
        # once a joining: a limit from abs() is not negative
        if self.variant == "printed" and found is not None and float(found.min()) < 0:
            raise ValueError(
                "variant must be 'corrected' where all entries of a layer grew: the printed limit "
                f"is {float(found.min()):.3g} in round {received.number}"
            )
        return found
