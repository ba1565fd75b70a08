"""The linear support vector machine, two classes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fairfl.sims.engine.kernels.linear import Linear
from fairfl.sims.engine.kernels.logistic import one_output
from fairfl.sims.engine.kernels.softmax import classes_between


@dataclass(frozen=True)
class LinearSVM(Linear):
    """Hinge loss max(0, 1 - s z), s = 2 y - 1, y in {0, 1}; its slope at the kink is 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_output(self)

    def check_targets(self, y: Tensor) -> None:
        classes_between("LinearSVM", y, 2)

    def slopes(self, z: Tensor, y: Tensor, want: bool) -> Tensor | None:
        score = z.squeeze(2)
        gap = 1 - margin(score, y)
        score.copy_(torch.where(gap > 0, 1 - 2 * y, 0))
        return gap.clamp_(min=0) if want else None

    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        return (1 - margin(z.squeeze(1), y)).clamp_(min=0)

    def bytes_per_client(self, batch: int, element: int) -> int:
        return super().bytes_per_client(batch, element) + 16 * batch  # whole numbers between

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        sign = 2 * y.to(x.dtype) - 1
        return torch.relu(1 - sign * (x @ params))

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return (self.scores(params, x).squeeze(1) > 0) == (y == 1)


def margin(score: Tensor, y: Tensor) -> Tensor:
    """s z with s = 2 y - 1."""
    return torch.where(y == 1, score, -score)
