"""Algorithms for dynamic participants: FedAvg whose server changes the updates."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from fairfl._support.checks import in_range, one_of, positive
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Aggregate, Floats, Round, State, as_floats
from fairfl.sims.engine.round import Received, squared_norms

NORMS = ("layer", "global")
"""Norm of each layer of an update, or of the whole update."""


@dataclass(frozen=True)
class Dynamic(FedAvg):
    """w^(t+1) = w^t + sum_k p_k u_k, u_k the update w_k - w^t that the rule changes
    (``changed``) and multiplies by layers (``factors``).

    The paper's t_1 and t_2 are the first two of ``Round.joins``; with one group this is FedAvg. The
    paper has two groups; with more, a rule that depends on the time of joining takes the last one.
    """

    def server(self, received: Received) -> Aggregate:
        step = self.changed(received).total(self._weights)
        return Aggregate(received.p, self.remember(received, step), step)

    def _weights(self, part: Received) -> Floats:
        factors = self.factors(part)
        return part.p if factors is None else part.p[:, None] * factors

    def changed(self, received: Received) -> Received:
        """What the server received, with the updates changed."""
        return received

    @abstractmethod
    def factors(self, part: Received) -> Floats | None:
        """Factors on the layers of the updates (m, L); None for ones."""

    def remember(self, received: Received, step: Tensor) -> State:
        """The state after the server's step (P,), before it is multiplied by ``server_lr``."""
        return received.state


def has_joined(round: Round) -> bool:
    """Whether a second group has joined: t >= t_2."""
    return len(round.joins) > 1


def layers(round: Round) -> tuple[int, ...]:
    """Parameters of each layer of the model."""
    return round.layers or (len(round.params),)


def norms_of(squares: Floats, norm: str) -> Floats:
    """Lengths (m, L) from squared lengths by layer, or of the whole update (m, 1)."""
    return np.sqrt(squares if norm == "layer" else squares.sum(1, keepdims=True))


def rescaled(part: Received, norms: Floats, lengths: Floats | float) -> Floats:
    """Factors (m, L) from ``norms`` (m, L) or (m, 1) to other ``lengths``; an update of 0 stays."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(norms > 0, lengths / norms, 0.0)
    return np.broadcast_to(factors, part.squares.shape)


@dataclass(frozen=True)
class NormalizedFedAvg(Dynamic):
    """w^(t+1) = w^t + length sum_k p_k u_k / ||u_k||, u_k = w_k - w^t, once a second group has
    joined (t >= t_2).

    ``norm="layer"`` divides each layer (weights with their bias) by its own norm, "global" the
    whole update. Line 8 prints the norm without saying which; the text below it says layers, since
    a global norm "could lead to non-convergence". ``length`` is the clients' learning rate in the
    round unless given: line 8's eta_t. With local steps lr / c on losses times c the updates stay,
    and so does the step if ``length`` is given; with one step on all data it does so too at the
    same lr. An update of 0 has no direction, and stays.

    Errors: ValueError for another norm and for length <= 0.
    Source: Fairness of Federated Learning with Dynamic Participants, algorithm 1.
    """

    norm: str = "layer"
    length: float | None = None
    name: ClassVar[str] = "normalized_fedavg"

    def __post_init__(self) -> None:
        one_of("norm", self.norm, NORMS)
        if self.length is not None:
            positive("length", self.length)

    def factors(self, part: Received) -> Floats | None:
        if not has_joined(part):
            return None
        length = part.lr if self.length is None else self.length
        return rescaled(part, norms_of(part.squares, self.norm), length)


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

    def factors(self, part: Received) -> Floats | None:
        if not self._measured(part):
            return None
        norms = norms_of(part.squares, self.norm)
        scale = norms_of(as_floats(part.state["squares"]), self.norm)
        rounds = part.number - int(part.state["since"])
        lengths = self.beta * scale / (1 + rounds) + (1 - self.beta) * norms  # (8); (7): beta = 1
        return rescaled(part, norms, lengths)

    def remember(self, received: Received, step: Tensor) -> State:
        if not has_joined(received) or self._measured(received):
            return received.state
        squares = squared_norms(step[None], layers(received))
        return {"squares": squares, "since": torch.tensor(received.number)}

    def _measured(self, received: Received) -> bool:
        """Whether G has been measured since the last group joined."""
        since = received.state.get("since")
        return has_joined(received) and since is not None and int(since) >= received.joins[-1]


@dataclass(frozen=True)
class ClippingFedAvg(Dynamic):
    """From t_2 on each entry of w_k - w^t is clipped to [-g, g]. For each layer g is the largest
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

    def changed(self, received: Received) -> Received:
        return received if self._limits(received) is None else received.changed(self._clipped)

    def _clipped(self, part: Received) -> Tensor:
        limits = self._limits(part)
        assert limits is not None  # limits exist for no part, or for all
        limit_sizes = zip(limits.to(part.params.dtype), layers(part), strict=True)
        bounds = torch.cat([g.expand(size) for g, size in limit_sizes])
        return part.updates.clamp_(-bounds, bounds)  # in place: the updates stay clipped

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
        """g (L,) once a second group has joined, if a step came before it; else None."""
        state = received.state
        if not has_joined(received):
            return None
        if "since" in state and int(state["since"]) == received.joins[-1]:
            return state["limits"]
        limits = state.get("last")
        # once a joining: a limit from abs() is not negative
        if self.variant == "printed" and limits is not None and float(limits.min()) < 0:
            raise ValueError(
                "variant must be 'corrected' where all entries of a layer grew: the printed limit "
                f"is {float(limits.min()):.3g} in round {received.number}"
            )
        return limits
