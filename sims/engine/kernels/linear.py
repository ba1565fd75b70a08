"""Linear models: a step is two batched products."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from fairfl._support.checks import whole
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.model import Blocks, Model, Weights


def ready(model: Model, data: ClientData, features: int, *, bias: bool = True) -> ClientData:
    """The data, with a ``bias`` a column of ones beside the inputs, which are checked."""
    x = data.x
    if x.ndim != 2 or x.shape[1] != features:
        raise ValueError(f"x must have shape (N, {features}) for {model!r}, got {tuple(x.shape)}")
    if not x.is_floating_point():
        raise ValueError(
            f"x must be floating point for {model!r}, got {x.dtype}: scale pixels or codes first"
        )
    return replace(data, x=torch.cat([x, x.new_ones(len(x), bias)], 1))


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

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        """P = outputs (features + 1)."""
        return self.outputs * self.columns

    def init(self, seed: int) -> Tensor:
        return torch.zeros(self.size, dtype=torch.float64)

    def prepare(self, data: ClientData) -> ClientData:
        self.check_targets(data.y)
        return ready(self, data, self.features, bias=self.bias)

    @abstractmethod
    def check_targets(self, y: Tensor) -> None:
        """ValueError for targets that the loss has no meaning for."""

    @abstractmethod
    def slopes(self, z: Tensor, y: Tensor) -> None:
        """Turn scores ``z`` (A, outputs, B) into d loss / d z in place."""

    @abstractmethod
    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        """Losses (A, B) of scores ``z`` (A, outputs, B), which may be overwritten."""

    def scores(self, params: Tensor, x: Tensor) -> Tensor:
        """z (A, outputs, B), the fast layout; ``x`` has its column of ones."""
        return class_scores(self.blocks(params)[0], x)

    def losses(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.sample_losses(self.scores(params, x), y)

    def blocks(self, rows: Tensor) -> Blocks:
        return [rows.view(rows.shape[0], self.outputs, self.columns)]

    def add_gradient(
        self, blocks: Blocks, x: Tensor, y: Tensor, weights: Weights, out: Blocks, factor: float
    ) -> None:
        z = class_scores(blocks[0], x)
        if callable(weights):
            weights = weights(self.sample_losses(z.clone(), y))
        self.slopes(z, y)
        out[0].baddbmm_(z, x, alpha=factor * weighed(z, weights))

    def bytes_per_client(self, batch: int, element: int) -> int:
        return batch * (element * (self.columns + 2 * self.outputs + 2) + 8)


@dataclass(frozen=True)
class Softmax(Linear):
    """Cross entropy log(sum_c exp z_c) - z_y over ``outputs`` classes, y in 0..outputs-1; natural
    logarithms.
    """

    outputs: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.outputs < 2:
            raise ValueError(f"outputs must be at least 2 classes, got {self.outputs}")

    def check_targets(self, y: Tensor) -> None:
        classes_between("Softmax", y, self.outputs)

    def slopes(self, z: Tensor, y: Tensor) -> None:
        entropy_slopes(z, y)

    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        return entropies(z, y)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return torch.nn.functional.cross_entropy(
            x @ params.view(self.outputs, -1).T, y, reduction="none"
        )

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.scores(params, x).argmax(1) == y


@dataclass(frozen=True)
class TwoClasses(Linear):
    """One score z of two classes, y in {0, 1}; s = 2 y - 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.outputs != 1:
            raise ValueError(f"outputs must be 1 for {type(self).__name__}, got {self.outputs}")

    def check_targets(self, y: Tensor) -> None:
        classes_between(type(self).__name__, y, 2)

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return (self.scores(params, x).squeeze(1) > 0) == (y == 1)


@dataclass(frozen=True)
class Logistic(TwoClasses):
    """Loss log(1 + exp(-s z)): softmax of two scores' difference."""

    def slopes(self, z: Tensor, y: Tensor) -> None:
        odds_slopes(z.squeeze(1), y)

    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        return odds_entropies(z.squeeze(1), y)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        target = y.to(x.dtype)
        return torch.nn.functional.binary_cross_entropy_with_logits(
            x @ params, target, reduction="none"
        )


@dataclass(frozen=True)
class LinearSVM(TwoClasses):
    """Hinge loss max(0, 1 - s z); its slope at the kink is 0."""

    def slopes(self, z: Tensor, y: Tensor) -> None:
        score = z.squeeze(1)
        score.copy_(torch.where(margin(score, y) < 1, 1 - 2 * y, 0))

    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        return (1 - margin(z.squeeze(1), y)).clamp_(min=0)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        sign = 2 * y.to(x.dtype) - 1
        return torch.relu(1 - sign * (x @ params))


@dataclass(frozen=True)
class LeastSquares(Linear):
    """Loss (1/2) ||z - y||², y of shape (N,) for one output, else (N, outputs)."""

    def check_targets(self, y: Tensor) -> None:
        shape = (self.outputs,) if y.ndim == 2 else ()
        if not y.is_floating_point() or y.shape[1:] != shape or (self.outputs > 1 and y.ndim != 2):
            expected = "(N,)" if self.outputs == 1 else f"(N, {self.outputs})"
            raise ValueError(
                f"y must be floats of shape {expected}, got {y.dtype} of {tuple(y.shape)}"
            )

    def slopes(self, z: Tensor, y: Tensor) -> None:
        z -= y.view(len(z), -1, self.outputs).mT

    def sample_losses(self, z: Tensor, y: Tensor) -> Tensor:
        return z.sub_(y.view(len(z), -1, self.outputs).mT).square_().sum(1).mul_(0.5)

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        z = x @ params.view(self.outputs, -1).T
        return ((z - y.reshape(z.shape)) ** 2).sum(1) / 2

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> None:
        return None


def class_scores(weights: Tensor, x: Tensor) -> Tensor:
    """W xᵀ (A, C, B); where C > B by x Wᵀ: products with longer rows take less time."""
    if weights.shape[1] > x.shape[1]:
        return torch.bmm(x, weights.mT).mT.contiguous()
    return torch.bmm(weights, x.mT)


def margin(score: Tensor, y: Tensor) -> Tensor:
    """s z with s = 2 y - 1."""
    return torch.where(y == 1, score, -score)


def weighed(slopes: Tensor, weights: float | Tensor) -> float:
    """Multiply ``slopes`` (A, C, B) by weights (A, B) in place; the factor that is left to do."""
    if isinstance(weights, int | float):
        return weights
    slopes *= weights.unsqueeze(1)
    return 1.0


def entropy_slopes(z: Tensor, y: Tensor) -> None:
    """Turn scores ``z`` (A, classes, B) into d loss / d z in place."""
    if z.size(1) > 2:
        torch.softmax(z, 1, out=z).scatter_(1, y.unsqueeze(1), -1.0, reduce="add")
        return
    other_class, odds = z.unbind(1)  # by the log odds: half the operations
    odds -= other_class
    odds_slopes(odds, y)
    torch.neg(odds, out=other_class)


def entropies(z: Tensor, y: Tensor) -> Tensor:
    """Losses (A, B) of scores ``z`` (A, classes, B), which are overwritten."""
    if z.shape[1] == 2:
        none, odds = z.unbind(1)
        return odds_entropies(odds - none, y)
    z -= z.amax(1, keepdim=True)
    label_scores = z.gather(1, y.unsqueeze(1)).squeeze(1)
    return z.exp_().sum(1).log_().sub_(label_scores)


def odds_slopes(z: Tensor, y: Tensor) -> None:
    """Turn log odds ``z`` (A, B) into d loss / d z = 1 / (1 + exp(-z)) - y in place."""
    # written out, as the losses are: the bits of torch's sigmoid and softplus depend on where in
    # the tensor a number stands
    z.neg_().exp_().add_(1.0).reciprocal_().sub_(y)


def odds_entropies(z: Tensor, y: Tensor) -> Tensor:
    """log(1 + exp(-s z)), s = 2 y - 1."""
    z = z * (1 - 2 * y)
    return z.abs().neg_().exp_().log1p_().add_(z.clamp_(min=0))


def classes_between(owner: str, y: Tensor, classes: int) -> None:
    """ValueError unless ``y`` (N,) holds whole numbers in 0..classes-1."""
    if y.ndim != 1 or y.is_floating_point():
        raise ValueError(
            f"y must be whole numbers of shape (N,) for {owner}, got {y.dtype} of {tuple(y.shape)}"
        )
    if len(y) and (int(y.min()) < 0 or int(y.max()) >= classes):
        raise ValueError(
            f"y must be in 0..{classes - 1} for {owner}, got {int(y.min())} to {int(y.max())}"
        )
