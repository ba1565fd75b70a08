"""Local SGD of many clients at once: chunk by chunk, step by step, group by group."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.model import Model, Weights
from fairfl.sims.engine.plan import Group, plan
from fairfl.sims.engine.task import Floats, Jobs

# bytes that a chunk takes on a CPU, unless one client needs more: about what its caches hold
CACHE = 5 << 20


PLANNED = 128  # bytes of the limit for each sample that is planned ahead: it takes half of that


def train(model: Model, data: ClientData, jobs: Jobs, params: Tensor, memory_limit: int) -> Tensor:
    """Updates w - w^t (J, P) of ``jobs``, sorted by work; ``params`` (R, P) are the global
    parameters w^t.

    What a chunk takes is at most ``memory_limit`` bytes, or one client; the updates themselves (J,
    P) come on top.
    """
    updates = torch.empty(len(jobs), model.size, dtype=params.dtype, device=params.device)
    size = chunk_size(model, jobs, params, memory_limit)
    for first in range(0, len(jobs), size):
        part = slice(first, min(first + size, len(jobs)))
        _train_chunk(model, data, jobs.take(part), params, updates[part], memory_limit)
    return updates


def chunk_size(model: Model, jobs: Jobs, params: Tensor, memory_limit: int) -> int:
    """How many clients go together."""
    limit = min(memory_limit, CACHE) if params.device.type == "cpu" else memory_limit
    return max(1, limit // bytes_of_one(model, jobs, params))


def bytes_of_one(model: Model, jobs: Jobs, params: Tensor) -> int:
    """About what the largest of the clients takes at a time, beside its update: of tensors, on
    their device.
    """
    element, rows = params.element_size(), int(jobs.sizes.max())
    momentum, even = bool(jobs.momentum.any()), bool((jobs.scale == 1).all())
    plain = not (momentum or jobs.weight_decay.any() or jobs.prox.any())
    fused = plain or (momentum and even and type(model).accumulate is not Model.accumulate)
    held = 1 + momentum + (not fused) + bool(jobs.prox.any())  # w^t, velocity, gradient, w - w^t
    step = element * model.size * held + model.bytes_per_client(
        int(np.minimum(rows, jobs.batch)), element
    )
    if jobs.sample_weights is None:
        return step + 8 * rows
    # a pass planned, and while it is planned
    return max(step + (8 + element) * rows, (16 + 3 * element) * rows)


def _train_chunk(
    model: Model, data: ClientData, jobs: Jobs, params: Tensor, out: Tensor, memory_limit: int
) -> None:
    """Write the updates of a chunk to ``out`` (A, P)."""
    anchor = params[torch.from_numpy(jobs.replicate).to(params.device)]
    out.copy_(anchor if jobs.start is None else jobs.start)
    simple = not (jobs.momentum.any() or jobs.weight_decay.any() or jobs.prox.any())
    rule = _Plain(jobs, out) if simple else _Full(jobs, out, anchor)
    weigh = _Weighing(jobs, out)
    for step in plan(jobs, data.offsets, out, memory_limit // PLANNED):
        for group in step:  # no name for a batch, which would keep it while the next one is fetched
            span = slice(group.first, group.last)
            rule.step(model, span, _rows(data.x, group), _rows(data.y, group), weigh(group))
    out -= anchor


def _rows(values: Tensor, group: Group) -> Tensor:
    return values.index_select(0, group.rows).view(group.last - group.first, -1, *values.shape[1:])


class _Weighing:
    """d objective / d loss for a group's batch, with nothing where rows are padded.

    What the clients bring is sent to the device once a chunk: within the steps nothing is.
    """

    def __init__(self, jobs: Jobs, like: Tensor) -> None:
        self.like, self.objective = like, jobs.objective
        self.own: list[Tensor] = []
        if jobs.objective is not None:
            assert jobs.parameters is not None  # they come together
            self.own = [column(row, like)[:, None] for row in jobs.parameters]

    def __call__(self, group: Group) -> Weights:
        count = group.last - group.first
        width = len(group.rows) // count
        if self.objective is None:
            return 1.0 / width if group.share is None else group.share
        share = (
            self.like.new_full((count, width), 1.0 / width) if group.share is None else group.share
        )
        objective, own = self.objective, [row[group.first : group.last] for row in self.own]
        return lambda losses: objective(losses, share, *own)


def column(values: Floats, like: Tensor) -> Tensor:
    """Numbers (A,) as a tensor with the dtype and device of ``like``."""
    return torch.from_numpy(np.ascontiguousarray(values)).to(like.device, like.dtype)


class _Plain:
    """w -= lr * scale * gradient."""

    def __init__(self, jobs: Jobs, params: Tensor) -> None:
        rates = jobs.lr * jobs.scale
        self.params = params
        most = torch.finfo(params.dtype).max
        # torch takes no more
        self.one = float(rates[0]) if (rates == rates[0]).all() and rates[0] <= most else None
        self.rates = column(rates, params)

    def step(self, model: Model, span: slice, x: Tensor, y: Tensor, weights: Weights) -> None:
        part = self.params[span]
        if self.one is not None:
            model.descend(part, x, y, weights, self.one)
        else:
            model.descend(part, x, y, scaled(weights, self.rates[span, None], x), 1.0)


class _Full:
    """g = scale * gradient + weight_decay * w + prox * (w - w^t);  v = momentum * v + g;  w -= lr *
    v.
    """

    def __init__(self, jobs: Jobs, params: Tensor, anchor: Tensor) -> None:
        self.params, self.anchor = params, anchor
        self.lr, self.momentum, self.decay, self.prox, self.scale = (
            _Rate(values, params)
            for values in (jobs.lr, jobs.momentum, jobs.weight_decay, jobs.prox, jobs.scale)
        )
        self.even = bool((jobs.scale == 1).all())
        self.shrink, self.proximal = bool(jobs.weight_decay.any()), bool(jobs.prox.any())
        self.velocity = torch.zeros_like(params) if jobs.momentum.any() else None

    def step(self, model: Model, span: slice, x: Tensor, y: Tensor, weights: Weights) -> None:
        part = self.params[span]
        if self.velocity is not None and self.even:
            slope = self.momentum.times(self.velocity[span], span)
            model.accumulate(part, x, y, weights, slope)
            self._pulls(slope, part, span)
        else:
            slope = model.gradient(part, x, y, weights)
            if not self.even:
                self.scale.times(slope, span)
            self._pulls(slope, part, span)
            if self.velocity is not None:
                slope = self.momentum.times(self.velocity[span], span).add_(slope)
        self.lr.add(part, slope, span, -1)

    def _pulls(self, slope: Tensor, part: Tensor, span: slice) -> None:
        """Add what weight decay and the proximal term have of the gradient."""
        if self.shrink:
            self.decay.add(slope, part, span, 1)
        if self.proximal:
            self.prox.add(slope, part - self.anchor[span], span, 1)


class _Rate:
    """A number a client (A,); where all have the same, torch is given the number."""

    def __init__(self, values: Floats, like: Tensor) -> None:
        self.one = float(values[0]) if (values == values[0]).all() else None
        self.each = column(values, like)[:, None]

    def times(self, values: Tensor, span: slice) -> Tensor:
        """values *= rate, rows ``span`` of the clients'."""
        return values.mul_(self.each[span] if self.one is None else self.one)

    def add(self, values: Tensor, change: Tensor, span: slice, sign: int) -> None:
        """values += sign * rate * change."""
        if self.one is None:
            values.addcmul_(change, self.each[span], value=sign)
        else:
            values.add_(change, alpha=sign * self.one)


def scaled(weights: Weights, rates: Tensor, x: Tensor) -> Weights:
    """The weights times a number a client (A, 1)."""
    if callable(weights):
        return lambda losses: weights(losses) * rates
    if isinstance(weights, float):
        return (rates * weights).expand(x.shape[:2])
    return weights * rates
