"""LocalTask: the settings of a client's SGD in a round, and the terms added to its loss."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import getattr_static
from math import isfinite
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.step import LocalStep, Memory

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def as_floats(tensor: Tensor) -> Floats:
    """A tensor, on any device, as an array."""
    return tensor.cpu().numpy().astype(np.float64)


def as_tensor(array: Floats) -> Tensor:
    """An array as a tensor of float64, a copy."""
    return torch.from_numpy(np.array(array, dtype=np.float64))


def sound(numbers: Tensor) -> bool:
    """Whether all numbers are finite; a finite sum shows it without a mask."""
    return isfinite(numbers.sum()) or bool(torch.isfinite(numbers).all())


class SampleWeights(Protocol):
    """A batch objective that is not the mean loss, by its derivative with respect to each sample's
    loss.

    ``__call__`` takes losses (A, B), the share of each sample in its batch (A, B) (1 / b, and 0
    where a row is shorter than B), and each of ``parameters`` as a tensor (A, 1), the client's own;
    it returns the derivatives (A, B), 0 where the share is. Clients whose objectives are of one
    class are trained together, whatever their parameters.
    """

    @property
    def parameters(self) -> tuple[float, ...]:
        """The numbers that may differ between replicates."""
        ...

    @staticmethod
    def __call__(losses: Tensor, share: Tensor, *parameters: Tensor) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class LocalTask:
    """SGD on the objective of a client, from ``start``, for the round's number of epochs or steps.

    Parameters
    ----------
    prox : mu >= 0 of (mu / 2) ||w - w^t||², added to the objective (FedProx, Ditto).
    linear : (k, P) c_k of the term c_k . w, added to the objective of each client of the round
        (SCAFFOLD, FedDyn).
    batch_objective : in place of the mean loss of a batch.
    scale : (k,) factors >= 0 on the gradient of the loss, one for each client of the round
        (GIFAIR).
    start : (k, P) where each client of the round starts; w^t by default.
    whole : one step on all data of the client, without momentum, in place of the round's epochs
        (FedSGD).
    sample_weights : (N,) a factor >= 0 on the loss of each row of the training data, so that a
        batch's objective is sum_b weight_b loss_b / b (FairBatch); it goes with the mean loss, not
        with ``batch_objective``.
    step : in place of SGD's step, for algorithms that take several gradients a step, mask
        parameters, or train models together: ``LocalStep``. Steps that are equal train together.
    memory : rows (k, S) of each client of the round that the step sees and changes; the server
        receives them as ``received.memory``.
    """

    prox: float = 0.0
    linear: Tensor | None = field(default=None, kw_only=True)
    batch_objective: SampleWeights | None = None
    scale: Floats | None = None
    start: Tensor | None = None
    whole: bool = False
    sample_weights: Tensor | None = None
    step: LocalStep | None = field(default=None, kw_only=True)
    memory: Memory = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        if self.sample_weights is not None and self.batch_objective is not None:
            raise ValueError(
                "sample_weights must not be given with a batch_objective, got "
                f"{self.batch_objective!r}"
            )
        call = getattr_static(type(self.batch_objective), "__call__", None)
        if self.batch_objective is not None and not isinstance(call, staticmethod):
            raise ValueError(
                "batch_objective must have a static __call__ of losses, shares and parameters, for "
                f"clients of one class are trained together, got {self.batch_objective!r}"
            )
        if not isinstance(self.step, (Callable, type(None))) or not isinstance(self.step, Hashable):
            raise ValueError(
                f"step must be a function, or hashable and callable, got {self.step!r}"
            )
        if self.step is None and self.memory:
            raise ValueError(f"memory must go with a step, got {list(self.memory)} without one")

    def check(
        self, owner: object, n_clients: int, size: int, momentum: float, has_buffers: bool
    ) -> None:
        """Refuse rows of other shapes, and momentum or buffers with a step, to the ``owner``."""
        for name, rows in (("start", self.start), ("linear", self.linear)):
            if rows is not None and rows.shape != (n_clients, size):
                raise ValueError(
                    f"{name} must have shape ({n_clients}, {size}), got {tuple(rows.shape)} from "
                    f"{owner!r}"
                )
        for name, rows in self.memory.items():
            if not isinstance(rows, Tensor) or rows.ndim != 2 or len(rows) != n_clients:
                raise ValueError(
                    f"memory {name!r} must be a tensor of shape ({n_clients}, S), got "
                    f"{getattr(rows, 'shape', rows)} from {owner!r}"
                )
        if self.step is not None and has_buffers:
            raise ValueError(f"step must not be given for a module with buffers, got {owner!r}")
        if self.step is not None and momentum and not self.whole:
            raise ValueError(
                "momentum must be 0 for a task with a step, which may keep a velocity in its "
                f"memory, got {momentum} for {owner!r}"
            )


def memory_names(tasks: Sequence[LocalTask]) -> tuple[str, ...]:
    """The names in the memories of a client's tasks; ValueError where two tasks share one."""
    names = tuple(name for task in tasks for name in task.memory)
    if len(set(names)) < len(names):
        raise ValueError(f"memory must have other names in each task, got {list(names)}")
    return names


@dataclass(frozen=True, eq=False)
class Jobs:
    """J rows of work of one kind, trained together; every array has shape (J,).

    ``client`` indexes the data, ``replicate`` the rows of the global parameters; ``keys`` are for
    the minibatches; ``steps`` is the number of SGD steps, on batches of ``batch``; ``rates`` (5, J)
    are lr, momentum, weight decay, prox and the scale of the gradient; ``parameters`` (m, J) go to
    ``objective``. Row ``weights_of[j]`` of ``sample_weights`` (T, N) holds the factors on the
    losses of all rows of the data. Training writes the ``memory`` (J, S) of a ``step``.
    """

    client: Ints
    replicate: Ints
    keys: NDArray[np.uint64]
    sizes: Ints
    steps: Ints
    batch: int
    rates: Floats
    objective: SampleWeights | None = None
    parameters: Floats | None = None
    start: Tensor | None = None
    linear: Tensor | None = None
    sample_weights: Tensor | None = None
    weights_of: Ints | None = None
    step: LocalStep | None = None
    memory: Memory = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.client)

    @cached_property
    def plain(self) -> bool:
        """Whether a step is the loss's gradient alone: no momentum, no decay, no other term."""
        return self.linear is None and not self.rates[1:4].any()

    @cached_property
    def proximal(self) -> bool:
        """Whether a step looks at w^t."""
        return not self.plain and bool(self.rates[3].any())

    def take(self, rows: Ints | slice) -> Jobs:
        """Some of the rows."""
        if isinstance(rows, slice) and rows.indices(len(self)) == (0, len(self), 1):
            return self
        by_row = ("client", "replicate", "keys", "sizes", "steps", "start", "linear", "weights_of")
        arrays = {name: getattr(self, name) for name in by_row}
        taken = {name: None if value is None else value[rows] for name, value in arrays.items()}
        parameters = None if self.parameters is None else self.parameters[:, rows]
        taken |= {"memory": {name: values[rows] for name, values in self.memory.items()}}
        return replace(self, rates=self.rates[:, rows], parameters=parameters, **taken)
