"""Sums over the people of one client, group and label: what group-fair algorithms report."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.model import Model
from fairfl.sims.engine.losses import measure_models
from fairfl.sims.engine.task import Floats, Ints


@dataclass(frozen=True, eq=False)
class CellSums:
    """Arrays (k, A, 2), by client, group a and label y: people, sum of their losses, how many are
    misclassified, and the sum of the losses that they would have with label 1. What an algorithm
    did not ask for (``SumOnly.needs``) is NaN.
    """

    counts: Floats
    loss: Floats
    wrong: Floats
    accepting: Floats


NEEDED = ("loss", "wrong", "accepting")
"""Sums that can be measured."""


class CellIndex:
    """Which cell (client, a, y) every row of the data is in, and sums over cells.

    ``data`` has ``group``, and labels y in {0, 1}. There are A = max(group) + 1 groups, at least
    two. ``by_id`` (K,) are the clients' positions by rising id, ``rank`` (K,) is each client's
    place there. Errors: ValueError for data without groups, with one group, or with other labels.
    """

    def __init__(self, data: ClientData, model: Model, memory_limit: int) -> None:
        self.data, self.model, self.memory_limit = data, model, memory_limit
        if data.group is None:
            raise ValueError(
                "group must be given with the training data for a group-fair algorithm, got None"
            )
        y = data.y.cpu().numpy()
        if y.ndim != 1 or y.dtype.kind not in "iu" or not np.isin(y, (0, 1)).all():
            raise ValueError(
                f"y must be 0 or 1 for a group-fair algorithm, got {y.dtype} of shape {y.shape}"
            )
        self.groups = int(data.group.max()) + 1
        if self.groups < 2:
            raise ValueError("group must hold at least two groups, got one")
        self.shape = (data.clients, self.groups, 2)
        self.by_id = np.argsort(data.names)
        self.rank = np.argsort(self.by_id)
        owner = np.repeat(np.arange(data.clients), data.sizes)
        codes = (owner * self.groups + data.group) * 2 + y
        cells = int(np.prod(self.shape))
        counts = np.bincount(codes, minlength=cells)
        self.counts: Floats = counts.reshape(self.shape).astype(np.float64)
        order = np.argsort(codes, kind="stable")  # a client's rows stay together
        self._cells, self._order, self._lengths = (
            torch.from_numpy(array).to(data.x.device) for array in (codes, order, counts)
        )
        self._ones = replace(data, y=torch.ones_like(data.y))

    def measure(
        self, params: Tensor, clients: Ints, needs: frozenset[str], *, personal: bool
    ) -> Tensor:
        """Sums of the listed clients (k,), rising, at each of R models (R, P), or each at its own
        rows (R, k, P): (n, R, k, A, 2) on the device, what ``needs`` names of NEEDED, in its order.
        """
        data, options = self.data, {"personal": personal, "memory_limit": self.memory_limit}
        measured = partial(measure_models, self.model, params, clients=clients, **options)
        n_models, size = len(params), int(data.sizes[clients].sum())
        rows, lengths, index = self._order, self._lengths, data.index(clients)
        if index is not None:  # places among the rows that are measured, client by client
            rows = rows[index] - index + torch.arange(size, device=index.device)
            lengths = lengths.view(data.clients, -1)[torch.tensor(clients, device=rows.device)]
        lengths = lengths.flatten().repeat(n_models)

        shape = (n_models, len(clients), self.groups, 2)
        parts = list[Tensor]()
        if needs & {"loss", "wrong"}:
            loss, right = "loss" in needs, "wrong" in needs
            measures = measured(data=data, loss=loss, right=right)
            if loss:
                parts.append(_sums(measures.losses, rows, lengths, shape))
            if right:
                if measures.correct is None:
                    model = self.model.describe()
                    raise ValueError(f"model must classify for a group-fair algorithm, got {model}")
                parts.append(_sums(~measures.correct, rows, lengths, shape))
        if "accepting" in needs:
            losses = measured(data=self._ones, right=False).losses
            parts.append(_sums(losses, rows, lengths, shape))
        return torch.stack(parts)

    def cells(self, sums: Floats, clients: Ints, needs: frozenset[str]) -> CellSums:
        """The sums of the listed clients, from those of one model (n, k, A, 2) on the host."""
        counts = self.counts[clients]
        by_name = dict(zip([name for name in NEEDED if name in needs], sums, strict=True))
        missing = np.full_like(counts, np.nan)
        return CellSums(counts, *(by_name.get(name, missing) for name in NEEDED))

    def spread(self, table: Floats) -> Tensor:
        """Weights of the rows (N,), from a table that broadcasts to (K, A, 2)."""
        cells = torch.from_numpy(np.array(np.broadcast_to(table, self.shape)).ravel())
        return cells.to(self.data.x).index_select(0, self._cells)


def _sums(values: Tensor, order: Tensor, lengths: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sums (shape) of samples' values at each model over cells of ``lengths`` in the ``order``."""
    sorted_rows = values.view(shape[0], -1).index_select(1, order).flatten()
    return torch.segment_reduce(sorted_rows.to(torch.float64), "sum", lengths=lengths).view(shape)
