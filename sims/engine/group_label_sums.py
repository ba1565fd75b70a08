"""Sums over the people of one client, group and label: what group-fair algorithms report."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.losses import measure_models
from fairfl.sims.engine.model import Model
from fairfl.sims.engine.task import Floats


@dataclass(frozen=True, eq=False)
class CellSums:
    """Arrays (k, A, 2), by client, group a and label y: people, sum of their losses, and how many
    are misclassified.

    ``accepting`` is the sum of the losses that they would have with label 1. What an algorithm did
    not ask for (``SumOnly.needs``) is NaN, or None.
    """

    counts: Floats
    loss: Floats
    wrong: Floats
    accepting: Floats | None = None

    @classmethod
    def of(cls, parts: list[CellSums]) -> CellSums:
        """Those of some clients after those of others."""
        if len(parts) == 1:
            return parts[0]
        counts, loss, wrong = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("counts", "loss", "wrong")
        )
        accepting = [part.accepting for part in parts if part.accepting is not None]
        return cls(counts, loss, wrong, np.concatenate(accepting) if accepting else None)


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
        owner = np.repeat(np.arange(data.clients), data.sizes)
        self.codes: NDArray[np.int64] = (owner * self.groups + data.group) * 2 + y
        cells = int(np.prod(self.shape))
        self.counts: Floats = (
            np.bincount(self.codes, minlength=cells).reshape(self.shape).astype(np.float64)
        )
        self._rows = torch.from_numpy(self.codes).to(data.x.device)
        self._ones = replace(data, y=torch.ones_like(data.y))

    def measure(
        self,
        model: Model,
        params: Tensor,
        data: ClientData,
        clients: NDArray[np.int64],
        *,
        own: bool,
        memory_limit: int,
        needs: frozenset[str] = frozenset(("loss", "wrong")),
    ) -> list[CellSums]:
        """Sums of the listed clients (k,), rising, at each of R models (R, P), or each at its own
        rows (R, k, P).

        ``needs`` names what is measured, of "loss", "wrong" and "accepting".
        """
        many, cells = len(params), int(np.prod(self.shape))
        codes = self.codes if len(clients) == data.clients else self.codes[data.rows(clients)]
        codes = (codes + cells * np.arange(many)[:, None]).ravel()
        counts = self.counts[clients]

        def summed(values: Tensor) -> Floats:
            weights = values.to(torch.float64).cpu().numpy()
            sums = np.bincount(codes, weights, many * cells).astype(np.float64, copy=False)
            return sums.reshape(many, *self.shape)[:, clients]

        loss = wrong = np.broadcast_to(np.nan, (many, *counts.shape))
        accepting: list[Floats] | list[None] = [None] * many
        if needs & {"loss", "wrong"}:
            right = "wrong" in needs
            found = measure_models(
                model, params, data, clients, own=own, right=right, memory_limit=memory_limit
            )
            loss = summed(found.losses)
            if right:
                if found.correct is None:
                    raise ValueError(
                        f"model must classify for a group-fair algorithm, got {model.describe()}"
                    )
                wrong = summed(~found.correct)
        if "accepting" in needs:
            found = measure_models(
                model, params, self._ones, clients, own=own, right=False, memory_limit=memory_limit
            )
            accepting = list(summed(found.losses))
        return [CellSums(counts, *one) for one in zip(loss, wrong, accepting, strict=True)]

    def spread(self, table: Floats, like: Tensor) -> Tensor:
        """Weights (N,) of the rows, from a table that broadcasts to (K, A, 2)."""
        flat = torch.from_numpy(np.array(np.broadcast_to(table, self.shape)).ravel())
        return flat.to(like.device, like.dtype).index_select(0, self._rows)
