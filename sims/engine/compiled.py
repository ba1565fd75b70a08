"""A model whose gradient ``torch.compile`` makes kernels of; the model as it is is the twin."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from fairfl.sims.engine.kernels.module import Module
from fairfl.sims.engine.model import Blocks, Model, Weights

COMPILER = "inductor"


def compiled(model: Model) -> Model:
    """The same model, compiled when it trains first, and again for shapes that the kernels do not
    take: a ``Module``, of which the forward and backward pass of stacked clients are compiled,
    takes one shape at a time. Beyond torch's limit of 8 the model is called as it is.
    """
    result = copy.copy(model)
    if isinstance(model, Module):
        stacked = torch.compile(model.stacked, dynamic=False, backend=COMPILER)
        object.__setattr__(result, "stacked", stacked)
        return result
    made = torch.compile(model.add_gradient, dynamic=True, backend=COMPILER)

    def add_gradient(
        blocks: Blocks, x: Tensor, y: Tensor, weights: Weights, out: Blocks, factor: float
    ) -> None:
        # a number would be a constant of the kernel, made anew for every learning rate
        rates = out[0].new_full(x.shape[:2], factor)
        given = (lambda losses: weights(losses) * rates) if callable(weights) else weights * rates
        made(blocks, x, y, given, out, 1.0)

    object.__setattr__(result, "add_gradient", add_gradient)
    return result
