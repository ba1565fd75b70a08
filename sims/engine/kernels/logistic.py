"""Logistic regression of two classes, one score."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fairfl.sims.engine.kernels.linear import Linear
from fairfl.sims.engine.kernels.softmax import (
    classes_between,
    entropy_targets,
    odds_entropies,
    odds_slopes,
)


@dataclass(frozen=True)
class Logistic(Linear):
    """Loss log(1 + exp(-s z)), s = 2 y - 1, y in {0, 1}: softmax of two scores' difference."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_output(self)

    def check_targets(self, y: Tensor) -> None:
        classes_between("Logistic", y, 2)

    def targets(self, y: Tensor, like: Tensor) -> Tensor:
        return entropy_targets(y, 2, like)

    def slopes(self, z: Tensor, y: Tensor, want: bool) -> Tensor | None:
        return odds_slopes(z.squeeze(2), y, want)

    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        return odds_entropies(z.squeeze(1), y)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        target = y.to(x.dtype)
        return torch.nn.functional.binary_cross_entropy_with_logits(
            x @ params, target, reduction="none"
        )

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return (self.scores(params, x).squeeze(1) > 0) == (y == 1)


def one_output(model: Linear) -> None:
    """ValueError unless the model has one score."""
    if model.outputs != 1:
        raise ValueError(f"outputs must be 1 for {type(model).__name__}, got {model.outputs}")
