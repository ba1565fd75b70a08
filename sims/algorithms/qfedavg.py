"""q-FedAvg and q-FedSGD: weights losses^q, and a step size from a curvature estimate (q-FFL)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from fairfl._support.checks import in_range, one_of, positive
from fairfl.sims.engine import Aggregate, Algorithm, Floats, LocalTask, Round, as_floats
from fairfl.sims.engine.round import Received, squared_norms

NO_RATE = 1e-300
"""Learning rates below this count as zero."""


@dataclass(frozen=True)
class QFedAvg(Algorithm):
    """g_k = L (w^t - w_k);  w^(t+1) = w^t - sum_k p_k F_k^q g_k / sum_k p_k (L F_k^q + q F_k^(q-1)
    ||g_k||²).

    F_k = F_k(w^t) on all data of the client, >= 0. L stands for the Lipschitz constant of the
    gradients, and is 1 / lr unless given: a local step of 1 / L has g_k = grad F_k, which is
    q-FedSGD (lemma 12). L cancels but for its factor on q F_k^(q-1) ||w^t - w_k||²: q = 0 is FedAvg
    whatever L and lr are, and for q > 0 a larger L makes the step shorter. If all losses are
    multiplied by c, lr is divided by c, and L, where it is given, multiplied by c, the step stays.

    Algorithm 1, line 6, prints Delta w_k = w^t - w_k for g_k, without the factor L: then q = 0 is
    FedAvg for L = 1 alone, and the step changes with the unit of the losses (claims
    ``qffl/algorithm-1`` and ``.../repaired``). ``variant="printed"`` is line 6 as it stands.

    A client with F_k = 0 has F_k^(q-1) = inf for q < 1. If its update is 0 it adds nothing; else
    the step is 0, the limit.

    Errors: ValueError for q < 0 or infinite, L <= 0, another variant, and for a loss below 0.
    Source: q-FFL (Li et al., ICLR 2020), algorithm 1, lemma 12.
    """

    q: float = 1.0
    L: float | None = None
    variant: str = "corrected"
    name: ClassVar[str] = "qfedavg"
    needs_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        in_range("q", self.q, 0.0, 1e300)
        if self.L is not None:
            positive("L", self.L)
        one_of("variant", self.variant, ("corrected", "printed"))

    def server(self, received: Received) -> Aggregate:
        losses = nonnegative(received.losses, self)
        # a rate that a schedule took to 0: no client moved, and 1 / lr is not finite
        if received.lr < NO_RATE:
            return Aggregate(np.zeros_like(received.p), received.state)
        curvature = 1 / received.lr if self.L is None else self.L
        unit = self._unit(received.lr, curvature)
        top, squares = losses.max(), list[Floats]()

        def weigh(part: Received) -> Floats:
            factors, part_squares = self.factors_and_squares(part)
            with np.errstate(over="ignore"):  # an L near the largest double: then the step is 0
                squares.append(part_squares / unit / unit)  # unit² may underflow
            weights = powers(self.q, part.p, part.losses, top)
            return weights if factors is None else weights[:, None] * factors

        total = received.total(weigh).to(torch.float64)
        size = step_size(self.q, received.p, losses, np.concatenate(squares), curvature) / unit
        weights = size * powers(self.q, received.p, losses, top)
        return Aggregate(weights, received.state, total * size)

    def factors_and_squares(self, part: Received) -> tuple[Floats | None, Floats]:
        """Factors on the updates (m, L), if any, and the squared norms (m,) after them."""
        one_layer = (len(part.params),)
        return None, as_floats(squared_norms(part.updates, one_layer))[:, 0]

    def _unit(self, lr: float, curvature: float) -> float:
        """(w^t - w_k) / g_k."""
        return 1 / curvature if self.variant == "corrected" else 1.0


def powers(q: float, p: Floats, losses: Floats, top: float) -> Floats:
    """p_k F_k^q, losses in units of the largest; if all are 0, p_k where q = 0 (FedAvg), else 0."""
    return p * (losses / top if top > 0 else losses) ** q


def step_size(q: float, p: Floats, losses: Floats, squares: Floats, curvature: float) -> float:
    """1 / sum_k p_k (L F_k^q + q F_k^(q-1) squares_k), in the same units; 0 if not finite."""
    top = losses.max()
    total = curvature * powers(q, p, losses, top).sum()
    moving = squares > 0
    if q > 0 and top > 0 and moving.any():
        x = losses[moving] / top
        with np.errstate(divide="ignore"):
            total += p[moving] @ (q * x ** (q - 1) * squares[moving] / top)
    return 1 / total if total > 0 else 0.0


def nonnegative(losses: Floats, owner: Algorithm) -> Floats:
    """The losses; ValueError where one is below 0, where powers have no meaning."""
    if (losses < 0).any():
        raise ValueError(f"losses must be >= 0 for {owner!r}, got {losses.min()}")
    return losses


@dataclass(frozen=True)
class QFedSGD(QFedAvg):
    """w^(t+1) = w^t - sum_k p_k F_k^q grad F_k / sum_k p_k (L F_k^q + q F_k^(q-1) ||grad F_k||²),
    at w^t.

    L is 1 / lr unless given; lr has no other meaning here. q = 0 is FedSGD with the learning rate 1
    / L, where q-FedAvg with one full step is FedSGD with lr. It has no ``variant``: what is printed
    is right.

    Errors: as q-FedAvg.
    Source: q-FFL (Li et al., ICLR 2020), algorithm 3, lemma 12.
    """

    name: ClassVar[str] = "qfedsgd"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant != "corrected":
            raise ValueError(f"variant must be left alone for q-FedSGD, got {self.variant!r}")

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        return (LocalTask(whole=True),)

    def _unit(self, lr: float, curvature: float) -> float:
        return lr  # the step was lr grad F_k
