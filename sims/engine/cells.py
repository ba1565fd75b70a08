"""Sums over the people of one client, group and label: what group-fair algorithms report."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.losses import measure
from fairfl.sims.engine.model import Model
from fairfl.sims.engine.task import Floats


@dataclass(frozen=True, eq=False)
class CellSums:
    """Arrays (k, A, 2), by client, group a and label y: people, sum of their losses, and how many are misclassified.

    ``accepting`` is the sum of the losses that they would have with label 1, for an algorithm that asks for it.
    """

    counts: Floats
    loss: Floats
    wrong: Floats
    accepting: Floats | None = None


class CellIndex:
    """Which cell (client, a, y) every row of the data is in.

    Parameters
    ----------
    data : ClientData
        With ``group``, and labels y in {0, 1}. There are A = max(group) + 1 groups, at least two.

    Errors: ValueError for data without groups, with one group, or with other labels.
    """

    def __init__(self, data: ClientData) -> None:
        if data.group is None:
            raise ValueError("group must be given with the training data for a group-fair algorithm, got None")
        y = data.y.cpu().numpy()
        if y.ndim != 1 or y.dtype.kind not in "iu" or not np.isin(y, (0, 1)).all():
            raise ValueError(f"y must be 0 or 1 for a group-fair algorithm, got {y.dtype} of shape {y.shape}")
        self.groups = int(data.group.max()) + 1
        if self.groups < 2:
            raise ValueError("group must hold at least two groups, got one")
        self.shape = (data.clients, self.groups, 2)
        owner = np.repeat(np.arange(data.clients), data.sizes)
        self.codes: NDArray[np.int64] = (owner * self.groups + data.group) * 2 + y
        self.counts: Floats = self._sum(None)
        self._rows = torch.from_numpy(self.codes).to(data.x.device)
        self._ones = replace(data, y=torch.ones_like(data.y))

    def measure(
        self, model: Model, params: Tensor, data: ClientData, own: bool, memory_limit: int, accepting: bool = False
    ) -> CellSums:
        """Sums of all clients at ``params`` (P,), or each at its own row (K, P) with ``own``."""
        found = measure(model, params, data, np.arange(data.clients), own=own, memory_limit=memory_limit)
        if found.correct is None:
            raise ValueError(f"model must classify for a group-fair algorithm, got {model.describe()}")
        losses, wrong = found.losses.to(torch.float64).cpu().numpy(), ~found.correct.cpu().numpy()
        sums = CellSums(self.counts, self._sum(losses), self._sum(wrong.astype(np.float64)))
        if not accepting:
            return sums
        everyone = np.arange(data.clients)
        found = measure(model, params, self._ones, everyone, own=own, right=False, memory_limit=memory_limit)
        return replace(sums, accepting=self._sum(found.losses.to(torch.float64).cpu().numpy()))

    def spread(self, table: Floats, like: Tensor) -> Tensor:
        """Weights (N,) of the rows, from a table that broadcasts to (K, A, 2)."""
        flat = torch.from_numpy(np.array(np.broadcast_to(table, self.shape)).ravel())
        return flat.to(like.device, like.dtype)[self._rows]

    def _sum(self, values: Floats | None) -> Floats:
        size = int(np.prod(self.shape))
        return np.bincount(self.codes, weights=values, minlength=size).reshape(self.shape).astype(np.float64)
