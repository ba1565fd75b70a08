"""Softmax regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fairfl.sims.engine.kernels.linear import Linear


@dataclass(frozen=True)
class Softmax(Linear):
    """Cross entropy log(sum_c exp z_c) - z_y over ``outputs`` classes, y in 0..outputs-1; natural
    logarithms.

    The exponentials are summed explicitly: ``softmax(-1)`` over few classes takes ten times as
    long.
    """

    outputs: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.outputs < 2:
            raise ValueError(f"outputs must be at least 2 classes, got {self.outputs}")

    def check_targets(self, y: Tensor) -> None:
        classes_between("Softmax", y, self.outputs)

    def targets(self, y: Tensor, like: Tensor) -> Tensor:
        return entropy_targets(y, self.outputs, like)

    def slopes(self, z: Tensor, y: Tensor, want: bool) -> Tensor | None:
        return entropy_slopes(z, y, want)

    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        return entropies(z, y)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return torch.nn.functional.cross_entropy(
            x @ params.view(self.outputs, -1).T, y, reduction="none"
        )

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.scores(params, x).argmax(1) == y


def entropy_targets(y: Tensor, classes: int, like: Tensor) -> Tensor:
    """For ``entropy_slopes``: minus the classes' probabilities (..., classes), or the second's."""
    if classes == 2:
        return y.to(like.dtype)
    return like.new_zeros(*y.shape, classes).scatter_(-1, y.unsqueeze(-1), -1.0)


def entropy_slopes(z: Tensor, y: Tensor, want: bool) -> Tensor | None:
    """Turn scores ``z`` (A, B, classes) into d loss / d z in place; losses (A, B) if wanted."""
    if z.size(2) == 2:  # by the log odds: half the operations
        none, odds = z.unbind(2)
        odds -= none
        losses = odds_slopes(odds, y, want)
        torch.neg(odds, out=none)
        return losses
    z -= z.amax(2, keepdim=True)
    chosen = (z * y).sum(2) if want else None
    total = z.exp_().sum(2, keepdim=True)
    torch.addcdiv(y, z, total, out=z)
    return None if chosen is None else total.squeeze(2).log_().add_(chosen)


def entropies(z: Tensor, y: Tensor) -> Tensor:
    """Losses (A, B) of scores ``z`` (A, classes, B), which are overwritten."""
    if z.shape[1] == 2:
        none, odds = z.unbind(1)
        return odds_entropies(odds - none, y)
    z -= z.amax(1, keepdim=True)
    chosen = z.gather(1, y.unsqueeze(1)).squeeze(1)
    return z.exp_().sum(1).log_().sub_(chosen)


def odds_slopes(z: Tensor, y: Tensor, want: bool) -> Tensor | None:
    """Turn log odds ``z`` (A, B) into d loss / d z = 1 / (1 + exp(-z)) - y in place; the losses
    where they are wanted.

    Written out, as the losses are: the bits of torch's ``sigmoid`` and ``softplus`` depend on where
    in the tensor a number stands.
    """
    losses = odds_entropies(z, y) if want else None
    z.neg_().exp_().add_(1).reciprocal_().sub_(y)
    return losses


def odds_entropies(z: Tensor, y: Tensor) -> Tensor:
    """log(1 + exp(-s z)), s = 2 y - 1."""
    z = z * (1 - 2 * y)
    return z.abs().neg_().exp_().log1p_().add_(z.clamp_(min=0))


def classes_between(owner: str, y: Any, classes: int) -> None:
    """ValueError unless ``y`` (N,) holds whole numbers in 0..classes-1."""
    if y.ndim != 1 or y.is_floating_point():
        raise ValueError(
            f"y must be whole numbers of shape (N,) for {owner}, got {y.dtype} of {tuple(y.shape)}"
        )
    if len(y) and (int(y.min()) < 0 or int(y.max()) >= classes):
        raise ValueError(
            f"y must be in 0..{classes - 1} for {owner}, got {int(y.min())} to {int(y.max())}"
        )
