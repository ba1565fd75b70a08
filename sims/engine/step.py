"""A step of local training in place of SGD's: what it sees, and the checks of what it returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

Memory = Mapping[str, Tensor]
"""Rows (A, S) of clients, by name."""
Gradient = Callable[[Tensor], Tensor]
"""The gradients (A, P) at models (A, P) of the clients' objectives on the present batch."""


@dataclass(frozen=True, eq=False)
class Batch:
    """The next batch of A clients that train together; row k is of client k alone.

    Attributes
    ----------
    x : (A, B, ...) inputs; of a linear model or an MLP with a last column of ones.
    y : (A, B) or (A, B, m) targets.
    share : (A, B) of each sample in its client's batch of b <= B: 1 / b, or 0 for padding; times
        the sample's weight where the task has ``sample_weights``.
    anchor : (A, P) w^t.
    memory : each client's rows, as its last step left them.
    lr : (A, 1) learning rates.
    number : the step's number in the round, from 0.
    steps : (A, 1) steps of the round.
    """

    x: Tensor
    y: Tensor
    share: Tensor
    anchor: Tensor
    memory: Memory
    lr: Tensor
    number: int
    steps: Tensor


class LocalStep(Protocol):
    """A client's step: from its model to the next, of A clients at once.

    ``__call__`` takes models ``params`` (A, P), ``gradient``, which gives the gradients at any
    models (A, P), and the ``batch``. The gradient is that of the whole objective of the task:
    ``batch_objective`` or mean loss, ``scale``, weight decay, ``prox`` and ``linear``. It returns
    the next models (A, P), or these and the rows of the memory that change. Row k must depend on
    row k alone. What stays from step to step is in the memory, so that a stopped run goes on.

    Example: sharpness-aware minimisation (Foret et al., ICLR 2021).

    >>> def sharpness_aware(params, gradient, batch):
    ...     uphill = torch.nn.functional.normalize(gradient(params))
    ...     return params - batch.lr * gradient(params + 0.05 * uphill)
    """

    def __call__(
        self, params: Tensor, gradient: Gradient, batch: Batch
    ) -> Tensor | tuple[Tensor, Memory]: ...


def stepped(
    step: LocalStep, params: Tensor, gradient: Gradient, batch: Batch
) -> tuple[Tensor, Memory]:
    """The next models, and copies of the memory that changes; checks what the step did."""

    def checked_gradient(models: Tensor) -> Tensor:
        _check("the models of a gradient", models, params, step)
        return gradient(models.detach())

    inputs = {"params": params, "w^t": batch.anchor, **batch.memory}
    versions = {name: rows._version for name, rows in inputs.items()}
    returned = step(params, checked_gradient, batch)
    if isinstance(returned, tuple) and len(returned) != 2:
        raise ValueError(
            f"step must return models, or models and a memory, got {len(returned)} values from "
            f"{step!r}"
        )
    new, memory = returned if isinstance(returned, tuple) else (returned, {})
    for name, rows in inputs.items():
        if rows._version != versions[name]:
            raise ValueError(f"step must not write into its input {name!r}, got {step!r}")
    _check("the models of a step", new, params, step)
    for name, rows in memory.items():
        if name not in batch.memory:
            raise ValueError(
                f"step must return names of the task's memory, {sorted(batch.memory)}, got "
                f"{name!r} from {step!r}"
            )
        _check(f"memory {name!r} of a step", rows, batch.memory[name], step)
    # copies: a step may exchange its model and a row of its memory
    return new.detach(), {name: rows.detach().clone() for name, rows in memory.items()}


def _check(name: str, rows: object, like: Tensor, step: LocalStep) -> None:
    """ValueError unless ``rows`` is a tensor of the shape, dtype and device of ``like``."""
    if not isinstance(rows, Tensor) or (rows.shape, rows.dtype, rows.device) != (
        like.shape,
        like.dtype,
        like.device,
    ):
        is_tensor = isinstance(rows, Tensor)
        got = f"{rows.dtype} of {tuple(rows.shape)}" if is_tensor else f"{type(rows).__name__}"
        raise ValueError(
            f"{name} must be {like.dtype} of {tuple(like.shape)} on {like.device}, got {got} "
            f"from {step!r}"
        )
