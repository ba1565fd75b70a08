"""Model: losses and gradients of many clients at once, parameters as rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from torch import Tensor

from fairfl.sims.engine.data import ClientData

Weights = float | Tensor | Callable[[Tensor], Tensor]
"""d objective / d loss of each sample of a batch: one number, a tensor (A, B), or a function of the
losses (A, B).
"""


class Model(ABC):
    """A model whose parameters are a row of ``size`` numbers; A clients are A rows.

    Shapes: ``params`` (A, P) contiguous, ``x`` (A, B, ...), ``y`` (A, B) or (A, B, m), losses (A,
    B). Rows never mix. A new model is a subclass; ``reference`` is its obvious twin, which the loop
    backend differentiates.
    """

    size: int
    """P, the number of parameters."""

    @abstractmethod
    def init(self, seed: int) -> Tensor:
        """The first parameters (P,), float64, a function of the seed."""

    @abstractmethod
    def losses(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """Loss of every sample (A, B)."""

    @abstractmethod
    def gradient(self, params: Tensor, x: Tensor, y: Tensor, weights: Weights) -> Tensor:
        """Gradient (A, P) of sum_b weights_b loss_b, the weights held fixed."""

    @abstractmethod
    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """Losses (B,) of one client, params (P,), x (B, ...), written plainly for autograd."""

    @abstractmethod
    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor | None:
        """Which samples (A, B) are classified rightly; None where there are no classes."""

    def descend(self, params: Tensor, x: Tensor, y: Tensor, weights: Weights, step: float) -> None:
        """params -= step * gradient, in place: what plain SGD needs, and a kernel may do in one
        go.
        """
        params.add_(self.gradient(params, x, y, weights), alpha=-step)

    def accumulate(
        self, params: Tensor, x: Tensor, y: Tensor, weights: Weights, out: Tensor
    ) -> None:
        """out += gradient, ``out`` (A, P) with contiguous rows: what momentum needs, and a kernel
        may do in one go.
        """
        out.add_(self.gradient(params, x, y, weights))

    def prepare(self, data: ClientData) -> ClientData:
        """The data as the kernels want it, once, before the first round (linear models append a
        one).
        """
        return data

    def bytes_per_client(self, batch: int, element: int) -> int:
        """About what one client's step takes beside its parameters and, with momentum, its
        gradient: inputs, targets and what is between, of a batch; ``element`` bytes a number.
        """
        return element * self.size

    @property
    def layers(self) -> tuple[int, ...]:
        """Parameters of each layer, in the order of the row: a layer's weights go with its bias."""
        return (self.size,)

    def describe(self) -> str:
        """What a run's configuration records."""
        return repr(self)
