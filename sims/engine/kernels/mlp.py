"""Multilayer perceptrons with ReLU and cross entropy, the backward pass written out in batched
products.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from fairfl._support.checks import whole
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.linear import floating
from fairfl.sims.engine.kernels.softmax import classes_between, entropies, entropy_slopes
from fairfl.sims.engine.model import Blocks, Model, Weights


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

    def blocks(self, rows: Tensor) -> Blocks:
        """W and b (A, 1, out) of each layer: W is (A, in, out), and of the last one (A, out, in),
        where products take the least time.
        """
        parts = iter(rows.split_with_sizes(self._sizes, 1))
        result = list[Tensor]()
        for k, (i, o) in enumerate(self._pairs, 1):
            weight = next(parts).view(len(rows), o, i)
            result += [weight.mT if k < len(self._pairs) else weight, next(parts).unsqueeze(1)]
        return result

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
        return entropies(self.scores(params, x), y)

    def add_gradient(
        self, blocks: Blocks, x: Tensor, y: Tensor, weights: Weights, out: Blocks, factor: float
    ) -> None:
        values = self._inputs(blocks, x)
        slopes = torch.baddbmm(blocks[-1], values[-1], blocks[-2].mT)
        losses = entropy_slopes(slopes, y, callable(weights))
        if isinstance(weights, float):
            factor *= weights
        else:
            slopes *= (weights(losses) if callable(weights) else weights).unsqueeze(2)  # type: ignore[arg-type]
        for k in reversed(range(len(values))):  # a layer is changed after its last use
            last = k == len(values) - 1
            weight = blocks[2 * k] if last else blocks[2 * k].mT
            back = torch.bmm(slopes, weight) if k else None
            pair = (slopes.mT, values[k]) if last else (values[k].mT, slopes)
            out[2 * k].baddbmm_(*pair, alpha=factor)
            out[2 * k + 1].add_(slopes.sum(1, keepdim=True), alpha=factor)
            if back is not None:
                slopes = torch.ops.aten.threshold_backward.default(back, values[k], 0)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        parts = iter(params.split_with_sizes(self._sizes))
        for k, (i, o) in enumerate(self._pairs, 1):
            x = torch.nn.functional.linear(x, next(parts).view(o, i), next(parts))
            x = torch.relu(x) if k < len(self._pairs) else x
        return torch.nn.functional.cross_entropy(x, y, reduction="none")

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.scores(params, x).argmax(1) == y

    def bytes_per_client(self, batch: int, element: int) -> int:
        # inputs of all layers, and the backward pass of one: its slopes and those of its inputs
        most = max(o + 2 * i * (k > 0) for k, (i, o) in enumerate(self._pairs))
        return batch * (element * (sum(self.widths[:-1]) + most) + 8)

    def scores(self, params: Tensor, x: Tensor) -> Tensor:
        """z (A, classes, B) of each row's inputs (A, B, in)."""
        blocks = self.blocks(params)
        return torch.baddbmm(blocks[-1].mT, blocks[-2], self._inputs(blocks, x)[-1].mT)

    def _inputs(self, blocks: Blocks, x: Tensor) -> list[Tensor]:
        """Of each layer (A, B, in)."""
        values = [x]
        for k in range(0, len(blocks) - 2, 2):
            values.append(torch.baddbmm(blocks[k + 1], values[-1], blocks[k]).relu_())
        return values
