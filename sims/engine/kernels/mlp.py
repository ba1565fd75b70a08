"""Multilayer perceptrons with cross entropy, the backward pass in batched products."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from fairfl._support.checks import shown, whole
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.linear import (
    class_scores,
    classes_between,
    entropies,
    entropy_slopes,
    ready,
    weighed,
)
from fairfl.sims.engine.kernels.model import Blocks, Model, Weights


def _relu_slopes(slopes: Tensor, values: Tensor) -> Tensor:
    return slopes.mul_(values.sign_())  # ``threshold_backward`` takes half as long again


def _tanh_slopes(slopes: Tensor, values: Tensor) -> Tensor:
    return torch.ops.aten.tanh_backward.grad_input(slopes, values, grad_input=slopes)


def _sigmoid_slopes(slopes: Tensor, values: Tensor) -> Tensor:
    return torch.ops.aten.sigmoid_backward.grad_input(slopes, values, grad_input=slopes)


Activation = type[nn.Module]
ACTIVATIONS: dict[Activation, tuple[Any, Any]] = {
    nn.ReLU: (torch.relu_, _relu_slopes),
    nn.Tanh: (torch.tanh_, _tanh_slopes),
    nn.Sigmoid: (torch.sigmoid_, _sigmoid_slopes),
}
"""The function, and d loss / d inputs from that of its values and these, which are overwritten."""


def perceptron_activations(module: nn.Module) -> tuple[Activation, ...] | None:
    """What is between the layers of a ``Sequential`` of ``Linear`` with biases; None for others."""
    modules = [part for _, part in module.named_modules(remove_duplicate=False)]
    if any(part._forward_hooks or part._forward_pre_hooks for part in modules):
        return None
    parts = [part for part in modules if type(part) is not nn.Sequential]
    layers, between = parts[::2], parts[1::2]
    is_linear = [type(layer) is nn.Linear and layer.bias is not None for layer in layers]
    if len(parts) % 2 == 0 or not all(is_linear) or not {*map(type, between)} <= {*ACTIVATIONS}:
        return None
    return tuple(map(type, between))


def layer_inputs(blocks: Blocks, x: Tensor, activations: Sequence[Activation]) -> list[Tensor]:
    """The inputs of each layer (A, B, in). Blocks are Wᵀ (A, in, out) and b (A, 1, out) of each
    layer but the last, which has W (A, out, in); the first layer's b may be in its Wᵀ.
    """
    values = [x]
    for k, activation in enumerate(activations):
        weight = max(0, len(blocks) - 2 * (len(activations) + 1 - k))
        if k == 0 and len(blocks) % 2:
            outputs = torch.bmm(x, blocks[0])
        else:
            outputs = torch.baddbmm(blocks[weight + 1], values[-1], blocks[weight])
        values.append(ACTIVATIONS[activation][0](outputs))
    return values


def add_entropy_gradient(
    blocks: Blocks,
    x: Tensor,
    y: Tensor,
    weights: Weights,
    out: Blocks,
    factor: float,
    activations: Sequence[Activation],
) -> None:
    """``Model.add_gradient`` of layers, as ``layer_inputs`` takes them, and cross entropy."""
    values = layer_inputs(blocks, x, activations)
    slopes = class_scores(blocks[-2], values[-1]).add_(blocks[-1].mT)
    if callable(weights):
        weights = weights(entropies(slopes.clone(), y))
    entropy_slopes(slopes, y)
    factor *= weighed(slopes, weights)
    for k in range(len(values) - 1, -1, -1):  # a layer is changed after its last use
        weight, is_last = max(0, len(blocks) - 2 * (len(values) - k)), k == len(values) - 1
        factors = (slopes, values[k]) if is_last else (values[k].mT, slopes)
        slopes = slopes.mT if is_last else slopes
        back = torch.bmm(slopes, blocks[weight] if is_last else blocks[weight].mT) if k else slopes
        out[weight].baddbmm_(*factors, alpha=factor)
        if k or len(blocks) % 2 == 0:
            sums = factors[0].sum(2) if is_last else slopes.sum(1)
            out[weight + 1].add_(sums.unsqueeze(1), alpha=factor)
        slopes = ACTIVATIONS[activations[k - 1]][1](back, values[k]) if k else slopes


def perceptron_bytes(widths: Sequence[int], batch: int, element: int) -> int:
    """``Model.bytes_per_client`` of layers of these widths."""
    # inputs of all layers, and the backward pass of one: its slopes and those of its inputs
    shapes = enumerate(zip(widths[:-1], widths[1:], strict=True))
    backward = max(o + 2 * i * (k > 0) for k, (i, o) in shapes)
    return batch * (element * (1 + sum(widths[:-1]) + backward) + 8)


@dataclass(frozen=True)
class MLP(Model):
    """``widths`` = (features, hidden..., classes): z = W_m relu(... relu(W_1 x + b_1) ...) + b_m,
    cross entropy.

    The row of parameters holds, layer by layer, Wᵀ (in, out) and then b (out,). Starts as the
    matching ``nn.Sequential`` does: uniform within 1 / sqrt(in). Inside, samples come before units,
    (A, B, out): a product with the transposed weights takes less time than one of the weights with
    transposed inputs. The data's column of ones makes the first bias a row of the weights.

    Errors: ValueError for fewer than three widths or a width below 1 (classes below 2), and for
    data of another width.
    """

    widths: tuple[int, ...]
    by_hand: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.widths) < 3:
            raise ValueError(
                "widths must be (features, hidden..., classes), at least 3, got "
                f"{shown(self.widths)}"
            )
        for k, width in enumerate(self.widths):
            whole(f"widths[{k}]", width, 2 if k == len(self.widths) - 1 else 1)

    def describe(self) -> str:  # a run whose rows are in another order is not this one
        return f"{self!r}, rows of (in, out) and b"

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        """P, the number of all weights and biases."""
        return sum((i + 1) * o for i, o in self._shapes)

    @cached_property
    def _shapes(self) -> list[tuple[int, int]]:
        return list(zip(self.widths[:-1], self.widths[1:], strict=True))

    def blocks(self, rows: Tensor) -> Blocks:
        """First layer (A, in + 1, out), then Wᵀ and b (A, 1, out) each; the last W (A, out, in)."""
        parts = zip(self._shapes, rows.split_with_sizes(self.layers, 1), strict=True)
        first_layer, *later_layers = [part.view(len(rows), i + 1, o) for (i, o), part in parts]
        blocks = [first_layer]
        for layer in later_layers:
            blocks += [layer[:, :-1], layer[:, -1:]]
        blocks[-2] = blocks[-2].mT
        return blocks

    @cached_property
    def layers(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple((i + 1) * o for i, o in self._shapes)

    @cached_property
    def places(self) -> Tensor:
        """Where each number of the row (P,) stands in the matching ``nn.Sequential``'s vector."""
        parts = zip(self._shapes, torch.arange(self.size).split(self.layers), strict=True)
        return torch.cat(
            [torch.cat([p[: i * o].view(o, i).T.flatten(), p[i * o :]]) for (i, o), p in parts]
        )

    def sequential(self) -> nn.Sequential:
        """The matching module."""
        parts = [part for i, o in self._shapes for part in (nn.Linear(i, o), nn.ReLU())]
        return nn.Sequential(*parts[:-1])

    def init(self, seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        layers = [
            (2 * torch.rand((i + 1) * o, dtype=torch.float64, generator=generator) - 1) / i**0.5
            for i, o in self._shapes
        ]
        return torch.cat(layers)[self.places]

    def prepare(self, data: ClientData) -> ClientData:
        classes_between("MLP", data.y, self.widths[-1])
        return ready(self, data, self.widths[0])

    def losses(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return entropies(self.scores(params, x), y)

    def add_gradient(
        self, blocks: Blocks, x: Tensor, y: Tensor, weights: Weights, out: Blocks, factor: float
    ) -> None:
        add_entropy_gradient(blocks, x, y, weights, out, factor, self._activations)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self._shapes, params.split(self.layers), strict=True)
        first_layer, *later_layers = [part.view(i + 1, o) for (i, o), part in parts]
        x = x @ first_layer
        for layer in later_layers:
            x = torch.relu(x) @ layer[:-1] + layer[-1]
        return torch.nn.functional.cross_entropy(x, y, reduction="none")

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.scores(params, x).argmax(1) == y

    def bytes_per_client(self, batch: int, element: int) -> int:
        return perceptron_bytes(self.widths, batch, element)

    def scores(self, params: Tensor, x: Tensor) -> Tensor:
        """z (A, classes, B) of each row's inputs (A, B, in + 1), the last of them one."""
        blocks = self.blocks(params)
        values = layer_inputs(blocks, x, self._activations)
        return class_scores(blocks[-2], values[-1]).add_(blocks[-1].mT)

    @cached_property
    def _activations(self) -> list[Activation]:
        return [nn.ReLU] * (len(self.widths) - 2)
