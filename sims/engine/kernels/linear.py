"""What linear models share: weights (A, outputs, features + 1), a step two batched products."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from fairfl._support.checks import whole
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.model import Blocks, Model, Weights


def floating(owner: str, x: Tensor) -> None:
    """ValueError for inputs that are whole numbers or truth values."""
    if not x.is_floating_point():
        raise ValueError(
            f"x must be floating point for {owner}, got {x.dtype}: scale pixels or codes first"
        )


def ready(model: Model, data: ClientData, bias: bool = True) -> ClientData:
    """The data with the model's targets, and with a ``bias`` a column of ones."""
    x = torch.cat([data.x, data.x.new_ones(len(data.x), bias)], 1)
    return replace(data, x=x, targets=model.targets(data.y, x))


@dataclass(frozen=True)
class Linear(Model):
    """Scores z = W x + b of a sample x (features,), and a loss of z and y; the bias is the last
    column of W.

    The row of parameters is W with its bias column, output by output. They start at zero, where the
    loss is convex and the seed does not matter.

    Errors: ValueError for ``features`` or ``outputs`` below 1, and for data of another width.
    """

    features: int
    outputs: int = 1
    bias: bool = True
    by_hand: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole("features", self.features, 1)
        whole("outputs", self.outputs, 1)

    @property
    def columns(self) -> int:
        """Features, and one for the bias."""
        return self.features + self.bias

    @property
    def size(self) -> int:  # type: ignore[override]
        """P = outputs (features + 1)."""
        return self.outputs * self.columns

    def init(self, seed: int) -> Tensor:
        return torch.zeros(self.size, dtype=torch.float64)

    def prepare(self, data: ClientData) -> ClientData:
        if data.x.ndim != 2 or data.x.shape[1] != self.features:
            raise ValueError(
                f"x must have shape (N, {self.features}) for {self!r}, got {tuple(data.x.shape)}"
            )
        floating(repr(self), data.x)
        self.check_targets(data.y)
        return ready(self, data, self.bias)

    @abstractmethod
    def check_targets(self, y: Tensor) -> None:
        """ValueError for targets that the loss has no meaning for."""

    @abstractmethod
    def slopes(self, z: Tensor, y: Tensor, want: bool) -> Tensor | None:
        """Turn scores ``z`` (A, B, outputs) into d loss / d z in place; losses (A, B) if wanted."""

    @abstractmethod
    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        """Losses (A, B) of scores ``z`` (A, outputs, B), which may be overwritten."""

    def scores(self, params: Tensor, x: Tensor) -> Tensor:
        """z (A, outputs, B), the fast layout; ``x`` has its column of ones."""
        return torch.bmm(x, self.blocks(params)[0].mT).mT.contiguous()

    def losses(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.sample_losses(self.scores(params, x), y)

    def blocks(self, rows: Tensor) -> Blocks:
        return [rows.view(rows.shape[0], self.outputs, self.columns)]

    def add_gradient(
        self, blocks: Blocks, x: Tensor, y: Tensor, weights: Weights, out: Blocks, factor: float
    ) -> None:
        z = torch.bmm(x, blocks[0].mT)
        losses = self.slopes(z, y, callable(weights))
        if isinstance(weights, float):
            factor *= weights
        else:
            z *= (weights(losses) if callable(weights) else weights).unsqueeze(2)  # type: ignore[arg-type]
        out[0].baddbmm_(z.mT, x, alpha=factor)

    def bytes_per_client(self, batch: int, element: int) -> int:
        return batch * (element * (self.columns + 2 * self.outputs + 2) + 8)
