"""Model: losses and gradients of many clients at once, parameters as rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

import torch
from torch import Tensor

from fairfl.sims.engine.data import ClientData

Weights = float | Tensor | Callable[[Tensor], Tensor]
"""d objective / d loss of a batch: a number, a tensor (A, B), or a function of losses (A, B)."""
Blocks = Sequence[Tensor]
"""Parameters of A clients as tensors (A, ...): ``Model.blocks``."""


def work_factor(device: torch.device) -> int:
    """How much more work than a CPU the device does while a call of torch starts."""
    return 1 if device.type == "cpu" else 64


@contextmanager
def seeded(key: int) -> Iterator[None]:
    """Within it torch's random numbers depend on the key alone."""
    with torch.random.fork_rng():
        torch.manual_seed(key)
        yield


class Model(ABC):
    """A model whose parameters are a row of ``size`` numbers; A clients are A rows.

    Shapes: ``params`` (A, P), ``x`` (A, B, ...), ``y`` (A, B) or (A, B, m), losses (A,
    B). Rows never mix. A new model is a subclass; ``reference`` is its obvious twin, which the loop
    backend differentiates.
    """

    size: int
    """P, the number of parameters."""
    in_turn: bool = False
    """Whether clients go one after the other, each through all of its steps."""
    by_hand: ClassVar[bool] = False
    """Whether ``add_gradient`` never uses autograd: then on a CPU torch tracks no operation. A
    subclass whose gradient does use it sets False.
    """

    is_random: bool = False
    """Whether the forward of training draws torch's random numbers (dropout): see ``seeded``."""
    trained_blocks: int | None = None
    """How many of the ``blocks`` are parameters, which come first. The others are buffers, which a
    forward of training changes in place; None where there are none.
    """

    @abstractmethod
    def init(self, seed: int) -> Tensor:
        """The first parameters (P,), float64, a function of the seed."""

    @abstractmethod
    def losses(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """Loss of every sample (A, B)."""

    @abstractmethod
    def add_gradient(
        self, blocks: Blocks, x: Tensor, y: Tensor, weights: Weights, out: Blocks, factor: float
    ) -> None:
        """out += factor * gradient of sum_b weights_b loss_b; ``out`` may be the blocks."""

    @abstractmethod
    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """Losses (B,) of one client, params (P,), x (B, ...), written plainly for autograd."""

    @abstractmethod
    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor | None:
        """Which samples (A, B) are classified rightly; None where there are no classes."""

    def blocks(self, rows: Tensor) -> Blocks:
        """Contiguous views (A, ...) of the rows (A, P), each number once, for a kernel."""
        return [rows]

    def gradient(self, params: Tensor, x: Tensor, y: Tensor, weights: Weights) -> Tensor:
        """Gradient (A, P) of sum_b weights_b loss_b, the weights held fixed."""
        gradient = torch.empty_like(params)
        blocks = [view.contiguous() for view in self.blocks(params)]
        slopes = [torch.zeros_like(block) for block in blocks]
        self.add_gradient(blocks, x, y, weights, slopes, 1.0)
        for view, slope in zip(self.blocks(gradient), slopes, strict=True):
            view.copy_(slope)
        return gradient

    def prepare(self, data: ClientData) -> ClientData:
        """The data as the kernels want it, once, before the first round."""
        return data

    def bytes_per_client(self, batch: int, element: int) -> int:
        """Approximate bytes of a client's step without parameters; ``element`` bytes a number."""
        return element * self.size

    @property
    def layers(self) -> tuple[int, ...]:
        """Parameters of each layer, in the order of the row: a layer's weights go with its bias."""
        return (self.size,)

    def describe(self) -> str:
        """The text that a run's configuration records."""
        return repr(self)
