"""Multilayer perceptrons with ReLU and cross entropy, the backward pass written out in batched
products.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from fairfl._support.checks import whole
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.linear import floating
from fairfl.sims.engine.kernels.softmax import classes_between, entropies, entropy_slopes
from fairfl.sims.engine.model import Model, Weights


@dataclass(frozen=True)
class MLP(Model):
    """``widths`` = (features, hidden..., classes): z = W_m relu(... relu(W_1 x + b_1) ...) + b_m,
    cross entropy.

    The row of parameters holds, layer by layer, W (out, in) and then b (out,), as the parameters of
    the matching ``nn.Sequential`` do. Starts as ``nn.Linear`` does: uniform within 1 / sqrt(in).
    Inside, samples come before units, (A, B, out): a product with the transposed weights takes less
    time than one of the weights with transposed inputs.

    Errors: ValueError for fewer than three widths or a width below 1 (classes below 2), and for
    data of another width.
    """

    widths: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.widths) < 3:
            raise ValueError(
                f"widths must be (features, hidden..., classes), at least 3, got {self.widths!r}"
            )
        for k, width in enumerate(self.widths):
            whole(f"widths[{k}]", width, 2 if k == len(self.widths) - 1 else 1)

    @property
    def size(self) -> int:  # type: ignore[override]
        """P, the number of all weights and biases."""
        return sum((i + 1) * o for i, o in self._pairs)

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.widths[:-1], self.widths[1:], strict=True))

    @cached_property
    def _sizes(self) -> list[int]:
        """Numbers in W and in b, layer by layer."""
        return [size for i, o in self._pairs for size in (i * o, o)]

    @property
    def layers(self) -> tuple[int, ...]:
        return tuple((i + 1) * o for i, o in self._pairs)

    def init(self, seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        layers = [
            (2 * torch.rand((i + 1) * o, dtype=torch.float64, generator=generator) - 1) / i**0.5
            for i, o in self._pairs
        ]
        return torch.cat(layers)

    def prepare(self, data: ClientData) -> ClientData:
        if data.x.ndim != 2 or data.x.shape[1] != self.widths[0]:
            raise ValueError(
                f"x must have shape (N, {self.widths[0]}) for {self!r}, got {tuple(data.x.shape)}"
            )
        floating(repr(self), data.x)
        classes_between("MLP", data.y, self.widths[-1])
        return data

    def losses(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return entropies(self.scores(params, x), y, 2)

    def gradient(self, params: Tensor, x: Tensor, y: Tensor, weights: Weights) -> Tensor:
        result = torch.zeros_like(params)
        self._backward(params, x, y, weights, result, 1.0)
        return result

    def descend(self, params: Tensor, x: Tensor, y: Tensor, weights: Weights, step: float) -> None:
        self._backward(params, x, y, weights, params, -step)

    def accumulate(
        self, params: Tensor, x: Tensor, y: Tensor, weights: Weights, out: Tensor
    ) -> None:
        self._backward(params, x, y, weights, out, 1.0)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        layers = list(self._layers(params[None]))
        for k, (weight, bias) in enumerate(layers):
            x = torch.nn.functional.linear(x, weight[0], bias[0, 0])
            x = torch.relu(x) if k < len(layers) - 1 else x
        return torch.nn.functional.cross_entropy(x, y, reduction="none")

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.scores(params, x).argmax(2) == y

    def bytes_per_client(self, batch: int, element: int) -> int:
        kept, most = batch * sum(self.widths[1:-1]), 0
        for k, (i, o) in enumerate(self._pairs):  # the backward pass of each layer
            most = max(most, batch * o + (max(i * o, batch * i) + batch * i if k else (i + 1) * o))
        return element * (batch * self.widths[0] + kept + most) + 8 * batch

    def _layers(self, params: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Views W (A, out, in) and b (A, 1, out) of the rows."""
        rows, parts = len(params), iter(params.split_with_sizes(self._sizes, 1))
        for i, o in self._pairs:
            yield next(parts).view(rows, o, i), next(parts).unsqueeze(1)

    def scores(self, params: Tensor, x: Tensor) -> Tensor:
        """z (A, B, classes) of each row's inputs (A, B, in)."""
        return self._forward(list(self._layers(params)), x)[-1]

    def _forward(self, layers: list[tuple[Tensor, Tensor]], x: Tensor) -> list[Tensor]:
        """Inputs of each layer (A, B, in), and the scores last."""
        values, last = [x], len(layers) - 1
        for k, (weight, bias) in enumerate(layers):
            # not baddbmm, which copies the bias first
            z = torch.baddbmm(bias, values[-1], weight.transpose(1, 2))
            values.append(z.relu_() if k < last else z)
        return values

    def _backward(
        self, params: Tensor, x: Tensor, y: Tensor, weights: Weights, out: Tensor, factor: float
    ) -> None:
        """out += factor * gradient; ``out`` may be ``params``: a layer is changed after its last
        use.
        """
        own = list(self._layers(params))
        *values, slopes = self._forward(own, x)
        losses = entropy_slopes(slopes, y, 2, callable(weights))
        if isinstance(weights, float):
            factor *= weights
        else:
            slopes *= (weights(losses) if callable(weights) else weights).unsqueeze(2)  # type: ignore[arg-type]
        into = own if out is params else list(self._layers(out))
        for k in range(len(own) - 1, -1, -1):
            back = torch.bmm(slopes, own[k][0]) if k else None
            # not baddbmm_, which is slow where the layer is a part of the rows
            into[k][0].add_(torch.bmm(slopes.transpose(1, 2), values[k]), alpha=factor)
            into[k][1].add_(slopes.sum(1, keepdim=True), alpha=factor)
            if back is not None:
                slopes = torch.ops.aten.threshold_backward.default(back, values[k], 0)
