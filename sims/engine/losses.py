"""F_k(w^t) on all data of each client, before training, for the algorithms that need it; its
samples are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.model import Model

ROWS = 1 << 14  # samples in a forward pass at most
MODELS = 32  # models in a forward pass at most
# bytes that a forward may always take: with a tighter limit its last bits would depend on it
LEAST = 64 << 20


@dataclass(frozen=True)
class SampleMeasures:
    """Loss, and whether it is classified rightly (None without classes), of every sample of the
    clients asked for.
    """

    losses: Tensor
    correct: Tensor | None
    lengths: Tensor

    def means(self) -> NDArray[np.float64]:
        """F_k, the mean loss of each client (k,), summed in float64; NaN for a client without
        samples.
        """
        return _per_client(self.losses.to(torch.float64), self.lengths)

    def accuracies(self) -> NDArray[np.float64] | None:
        """Share of samples classified rightly (k,)."""
        return (
            None
            if self.correct is None
            else _per_client(self.correct.to(torch.float64), self.lengths)
        )

    def tilted(self, tau: float) -> NDArray[np.float64]:
        """(1/tau) log mean exp(tau loss) of each client (k,), for tau != 0; TERM, section 2."""
        scaled = self.losses.to(torch.float64) * tau
        top = torch.segment_reduce(scaled, "max", lengths=self.lengths)
        mean = _per_client(
            (scaled - torch.repeat_interleave(top, self.lengths)).exp(), self.lengths
        )
        return (top.cpu().numpy() + np.log(mean)) / tau


def measure(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    *,
    own: bool = False,
    right: bool = True,
    memory_limit: int = 1 << 30,
) -> SampleMeasures:
    """Measures of the listed clients, on the same parameters (P,) or, with ``own``, on a row (k, P)
    each.
    """
    return measure_models(
        model, params[None], data, clients, own=own, right=right, memory_limit=memory_limit
    )


def measure_models(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    *,
    own: bool = False,
    right: bool = True,
    memory_limit: int = 1 << 30,
) -> SampleMeasures:
    """The same of R models (R, P), or with ``own`` of R rows a client (R, k, P), one after the
    other in the result.
    """
    everyone = np.tile(clients, len(params))
    if own:
        return _measure_own(model, params.flatten(0, 1), data, everyone, right, memory_limit)
    lengths = _tensor(data.sizes[everyone], params)
    whole = len(clients) == data.clients and (clients == np.arange(data.clients)).all()
    index = None if whole else _index(data, clients)
    some = models_at_once(model, params)
    losses, correct = [], []
    for part in params.split(some):
        found, fine = _measure_shared(model, part, data, index, right, memory_limit)
        losses += found
        correct += fine
    return SampleMeasures(
        _join(losses, params), _join(correct, params) if correct else None, lengths
    )


def _measure_shared(
    model: Model,
    params: Tensor,
    data: ClientData,
    index: Tensor | None,
    right: bool,
    memory_limit: int,
) -> tuple[list[Tensor], list[Tensor]]:
    """Losses (R n,) of some models on the same rows, and where they are right: each in a list, or
    none where there are no rows, no classes, or nobody asked.
    """
    many, count = len(params), len(data.x) if index is None else len(index)
    step = rows_at_once(model, params, memory_limit)
    losses, correct = [], []
    for first in range(0, count, step):
        part = slice(first, min(first + step, count))
        if index is None:
            x, y = data.x[part], data.y[part]
        else:
            x, y = data.x.index_select(0, index[part]), data.y.index_select(0, index[part])
        x, y = x.expand(many, *x.shape), y.expand(many, *y.shape)
        losses.append(model.losses(params, x, y))
        found = model.correct(params, x, y) if right else None
        if found is not None:
            correct.append(found)
    return _joined(losses), _joined(correct)


def models_at_once(model: Model, params: Tensor) -> int:
    """Models of a forward pass of shared samples: as many as are small together."""
    return max(1, min(len(params), MODELS, LEAST // max(1, _alone(model, params)[0])))


def rows_at_once(model: Model, params: Tensor, memory_limit: int) -> int:
    """Samples of a forward pass of all models (R, P): what they take comes on top of the
    parameters, there once.
    """
    many, (own, each) = len(params), _alone(model, params)
    room = (max(memory_limit, LEAST) - many * own) // max(1, many * each)
    return max(1, min(ROWS // many, room))


def _alone(model: Model, params: Tensor) -> tuple[int, int]:
    """Bytes that one model takes, and each sample besides."""
    one, two = (model.bytes_per_client(batch, params.element_size()) for batch in (1, 2))
    return 2 * one - two, two - one


def _measure_own(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    right: bool,
    memory_limit: int,
) -> SampleMeasures:
    """Each client on its own row: clients of one size go together, as many as the memory has room
    for.
    """
    sizes = data.sizes[clients]
    places = np.cumsum(sizes) - sizes
    losses, correct = params.new_empty(int(sizes.sum())), None
    for size in np.unique(sizes[sizes > 0]):
        alike = np.flatnonzero(sizes == size)
        one = (
            model.bytes_per_client(int(size), params.element_size())
            + params.element_size() * model.size
        )
        step = max(1, max(memory_limit, LEAST) // max(1, one))
        for first in range(0, len(alike), step):
            part = alike[first : first + step]
            within = np.arange(size)
            out = _tensor((places[part, None] + within).ravel(), params)
            begin = data.offsets[clients[part]]
            if (begin == begin[0]).all():  # one client's rows, of several models
                x, y = (
                    t[begin[0] : begin[0] + size].expand(len(part), *t[:size].shape)
                    for t in (data.x, data.y)
                )
            else:
                rows = _tensor((begin[:, None] + within).ravel(), params)
                x, y = (
                    t.index_select(0, rows).view(len(part), int(size), *t.shape[1:])
                    for t in (data.x, data.y)
                )
            own = params[_tensor(part, params)]
            losses[out] = model.losses(own, x, y).reshape(-1)
            found = model.correct(own, x, y) if right else None
            if found is not None:
                correct = torch.empty_like(losses, dtype=torch.bool) if correct is None else correct
                correct[out] = found.reshape(-1)
    return SampleMeasures(losses, correct, _tensor(sizes, params))


def _index(data: ClientData, clients: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(data.rows(clients)).to(data.x.device)


def _join(parts: list[Tensor], like: Tensor) -> Tensor:
    return torch.cat(parts) if parts else like.new_empty(0)


def _joined(parts: list[Tensor]) -> list[Tensor]:
    """Pieces (R, b) as one run after the other, (R n,)."""
    return [torch.cat(parts, 1).flatten()] if parts else []


def _tensor(numbers: NDArray[np.int64], like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(numbers)).to(like.device)


def _per_client(values: Tensor, lengths: Tensor) -> NDArray[np.float64]:
    """Means of consecutive runs; a client's mean depends on its own samples alone."""
    return torch.segment_reduce(values, "mean", lengths=lengths).cpu().numpy()
