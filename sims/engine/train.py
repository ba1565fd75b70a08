"""Local SGD of many clients at once: chunk by chunk, run by run, step by step."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.model import Blocks, Model, Weights, seeded
from fairfl.sims.engine.plan import Run, plan
from fairfl.sims.engine.step import Batch, stepped
from fairfl.sims.engine.task import Floats, Ints, Jobs, SampleWeights

CACHE = 5 << 20
"""Bytes of a chunk on a CPU, about its caches; a chunk of one client may take more."""
FETCHED = 1 << 20
"""Bytes of samples fetched for several steps together; at most an eighth of the memory limit."""
PLANNED = 128
"""Bytes of the memory limit per sample planned at a time; planning uses half of them."""


def train(
    model: Model,
    data: ClientData,
    jobs: Jobs,
    params: Tensor,
    memory_limit: int,
    order: Ints | slice = slice(None),
) -> Tensor:
    """Updates w - w^t (J, P) of ``jobs``, which are sorted by work; that of job j goes to row
    order[j], or j. ``params`` (R, P) are the global parameters w^t.

    What a chunk takes is at most ``memory_limit`` bytes, or one client; the updates themselves (J,
    P) come on top.
    """
    updates = params.new_empty(len(jobs), model.size)
    rows = None if isinstance(order, slice) else torch.from_numpy(order).to(params.device)
    largest_size = np.maximum.accumulate(jobs.sizes[::-1])[::-1]  # of the remaining jobs
    # without autograd, which an objective may use, torch tracks no operation
    plain = model.by_hand and jobs.objective is None and jobs.step is None
    plain = plain and params.device.type == "cpu"
    with torch.inference_mode() if plain else torch.no_grad():
        last = 0
        while last < len(jobs):
            size = chunk_size(model, jobs, params, memory_limit, int(largest_size[last]))
            part = slice(last, last := min(last + size, len(jobs)))
            part_rows = part if rows is None else rows[part]
            # clients whose training is random go in turn
            with seeded(int(jobs.keys[part.start])) if model.is_random else nullcontext():
                _train_chunk(model, data, jobs.take(part), params, updates, part_rows, memory_limit)
    return updates


def chunk_size(model: Model, jobs: Jobs, params: Tensor, memory_limit: int, rows: int) -> int:
    """How many clients of at most so many rows go together, a pass planned at a time."""
    if model.in_turn:
        return 1
    limit = min(memory_limit, CACHE) if params.device.type == "cpu" else memory_limit
    room = limit - fetched(memory_limit)
    planned = memory_limit // (PLANNED * rows)
    return max(1, min(planned, room // bytes_of_one(model, jobs, params, rows)))


def fetched(memory_limit: int) -> int:
    """Bytes of samples that are fetched together, unless one step has more."""
    return min(FETCHED, memory_limit // 8)


def bytes_of_one(model: Model, jobs: Jobs, params: Tensor, rows: int) -> int:
    """Approximate bytes of a client with ``rows`` samples on the device, without its update."""
    element = params.element_size()
    # w, w^t, velocity, w - w^t; a linear term is in memory already
    copies = 1 + (params.shape[0] > 1) + (not jobs.plain) + jobs.proximal
    if jobs.step is not None:  # and a gradient with its parts, and three models of the step's
        copies = 8
    step = element * model.size * copies + model.bytes_per_client(min(rows, jobs.batch), element)
    if jobs.sample_weights is None:
        return step + 8 * rows
    # a pass planned, and while it is planned
    return max(step + (8 + element) * rows, (16 + 3 * element) * rows)


def _train_chunk(
    model: Model,
    data: ClientData,
    jobs: Jobs,
    params: Tensor,
    updates: Tensor,
    update_rows: Tensor | slice,
    memory_limit: int,
) -> None:
    """Write the updates of a chunk to the rows ``update_rows`` of ``updates``."""
    n_clients, anchor = len(jobs), params
    if len(params) > 1:
        anchor = params.index_select(0, torch.tensor(jobs.replicate, device=params.device))
    anchors = model.blocks(anchor)
    starts = anchors if jobs.start is None else model.blocks(jobs.start)
    if jobs.step is None:
        # blocks become contiguous before they are repeated for the clients
        blocks = [part.contiguous().expand(n_clients, *part.shape[1:]) for part in starts]
        blocks = [block.clone(memory_format=torch.contiguous_format) for block in blocks]
        sgd = _Rule(model, jobs, blocks, anchors if jobs.proximal else ())
    else:
        sgd = _Steps(model, jobs, anchor)
        blocks = model.blocks(sgd.params)
    # sent to the device once a chunk, and nothing within the steps
    parameter_rows = () if jobs.parameters is None else jobs.parameters
    parameters = [column(row, params)[:, None] for row in parameter_rows]
    sample_limit = fetched(memory_limit) // max(1, data.x.nbytes // len(data.x))  # samples
    for run in plan(jobs, data, params, memory_limit // PLANNED):
        weights: Iterator[Any] = _weights(jobs.objective, parameters, run, params)
        weights = weights if jobs.step is None else zip(_shares(run, params), weights, strict=False)
        # samples that are the same in all steps are fetched once, where no step changes them
        is_once = model.by_hand and jobs.step is None and run.rows.stride(0) == 0
        fetches, copies = (run.rows[:1], len(run.rows)) if is_once else (run.rows, 1)
        steps = max(1, sample_limit // run.rows.shape[1])  # fetched together
        for rows in fetches.split(steps) if steps < len(fetches) else (fetches,):
            # no name for the batches, which would keep them while the next ones are fetched
            batches = (_batches(values, run, rows) * copies for values in (data.x, data.y))
            sgd.steps(run, *batches, weights=weights)
    for update, block, anchor in zip(model.blocks(updates), blocks, anchors, strict=True):
        if isinstance(update_rows, slice):
            torch.sub(block, anchor, out=update[update_rows])
        else:
            update.index_copy_(0, update_rows, block.sub_(anchor))


def _batches(values: Tensor, run: Run, rows: Tensor) -> tuple[Tensor, ...]:
    """The values of each step's samples (clients, width, ...)."""
    size = rows.shape[0], run.last - run.first, run.width
    return values.index_select(0, rows.reshape(-1)).view(*size, *values.shape[1:]).unbind()


def _weights(
    objective: SampleWeights | None, parameters: Sequence[Tensor], run: Run, like: Tensor
) -> Iterator[Weights]:
    """d objective / d loss for each batch of a run, 0 on padding; ``parameters`` (m, A, 1)."""
    if objective is None:
        return repeat(1.0 / run.width) if run.share is None else iter(run.share.unbind())
    run_parameters = [row[run.first : run.last] for row in parameters]
    weigh: SampleWeights = objective
    return (
        lambda losses, share=share: weigh(losses, share, *run_parameters)
        for share in _shares(run, like)
    )


def _shares(run: Run, like: Tensor) -> Iterable[Tensor]:
    """The share (A, B) of each sample in its batch, of each step of a run."""
    if run.share is not None:
        return run.share.unbind()
    return repeat(like.new_full((run.last - run.first, run.width), 1.0 / run.width))


def column(values: Floats, like: Tensor) -> Tensor:
    """Numbers (A,) as a tensor with the dtype and device of ``like``."""
    return torch.tensor(values, device=like.device, dtype=like.dtype)


class _Rule:
    """v = momentum * v + scale * gradient + weight_decay * w + prox * (w - w^t) + linear;
    w -= lr * v.

    Without momentum and other terms the gradient is added to w at once.
    """

    def __init__(self, model: Model, jobs: Jobs, params: Blocks, anchor: Blocks) -> None:
        self.model, self.whole = model, slice(0, len(jobs))
        self.params, self.anchor, self.velocity = params, anchor, ()
        self.linear = () if jobs.linear is None else model.blocks(jobs.linear)
        lr, momentum, decay, prox, scale = jobs.rates
        self.rates: dict[str, Tensor] = {}
        if jobs.plain:
            scale = -lr * scale
        else:
            self.velocity = [torch.zeros_like(block) for block in params[: model.trained_blocks]]
            rates = {"lr": lr, "momentum": momentum, "decay": decay, "prox": prox}
            self.rates = {k: column(v, params[0]) for k, v in rates.items() if v.any()}
        # torch takes no number that the dtype does not hold
        largest = torch.finfo(params[0].dtype).max
        even = (scale == scale[0]).all() and abs(scale[0]) <= largest
        self.factor = float(scale[0]) if even else 1.0
        self.client_factors = None if even else column(scale, params[0])[:, None]

    def steps(
        self, run: Run, x: Sequence[Tensor], y: Sequence[Tensor], weights: Iterator[Weights]
    ) -> None:
        """A step on each of the batches ``x`` and ``y``, with the next of the ``weights``."""
        span = slice(run.first, run.last)
        params = self._of(self.params, span)
        if self.client_factors is not None:
            factors = self.client_factors[span]
            weights = (scaled(batch_weights, factors, x[0]) for batch_weights in weights)
        batches = zip(x, y, weights, strict=False)
        if not self.velocity:
            for batch in batches:
                self.model.add_gradient(params, *batch, params, self.factor)
            return
        velocity, linear = self._of(self.velocity, span), self._of(self.linear, span)
        anchors = self._of(self.anchor, span)
        rates = (self._rates(name, span) for name in ("lr", "momentum", "decay", "prox"))
        lr, momentum, decay, prox = rates
        for inputs, targets, batch_weights in batches:
            # without momentum v begins anew
            for v, rate in zip(velocity, momentum or repeat(0), strict=False):
                v.mul_(rate)
            for w, v, rate in zip(params, velocity, decay, strict=False):
                v.addcmul_(w, rate)
            for w, v, anchor, rate in zip(params, velocity, anchors, prox, strict=False):
                v.addcmul_(w - anchor, rate)
            for v, slope in zip(velocity, linear, strict=False):
                v.add_(slope)
            self.model.add_gradient(params, inputs, targets, batch_weights, velocity, self.factor)
            for w, v, rate in zip(params, velocity, lr, strict=False):
                w.addcmul_(v, rate, value=-1)

    def _of(self, blocks: Blocks, span: slice) -> Blocks:
        """The blocks of some clients; a block of one row belongs to all clients."""
        if span == self.whole:
            return blocks
        return [block[span] if block.shape[0] > 1 else block for block in blocks]

    def _rates(self, name: str, span: slice) -> list[Tensor]:
        """A rate of some clients, for each of the blocks; none where it is 0 for all."""
        if name not in self.rates:
            return []
        return [self.rates[name][span].view(-1, *[1] * (w.dim() - 1)) for w in self.params]


class _Steps:
    """The steps of a task that has its own, ``jobs.step``, in place of ``_Rule``'s."""

    def __init__(self, model: Model, jobs: Jobs, anchor: Tensor) -> None:
        n_clients = len(jobs)
        self.model, self.jobs = model, jobs
        self.anchor = anchor.expand(n_clients, -1).clone(memory_format=torch.contiguous_format)
        self.params = (self.anchor if jobs.start is None else jobs.start).clone()
        self.rates = [column(rate, anchor)[:, None] for rate in jobs.rates]
        self.counts = column(jobs.steps.astype(np.float64), anchor)[:, None]
        self.done = np.zeros(n_clients, np.int64)

    def steps(
        self,
        run: Run,
        x: Sequence[Tensor],
        y: Sequence[Tensor],
        weights: Iterator[tuple[Tensor, Weights]],
    ) -> None:
        """A step on each of the batches, with the next of the ``weights``, shares before them."""
        assert self.jobs.step is not None  # else ``_Rule`` is in its place
        span = slice(run.first, run.last)
        params, anchor = self.params[span], self.anchor[span]
        memory = {name: rows[span] for name, rows in self.jobs.memory.items()}
        for inputs, targets, (share, batch_weights) in zip(x, y, weights, strict=False):
            number = int(self.done[run.first])
            context = share, anchor, memory, self.rates[0][span], number, self.counts[span]
            gradient = partial(self._gradient, span, inputs, targets, batch_weights)
            batch = Batch(inputs, targets, *context)
            new, changed = stepped(self.jobs.step, params, gradient, batch)
            params.copy_(new)
            for name, rows in changed.items():
                memory[name].copy_(rows)
            self.done[span] += 1

    def _gradient(
        self, span: slice, x: Tensor, y: Tensor, weights: Weights, models: Tensor
    ) -> Tensor:
        """The gradients (A, P) at ``models`` of the whole objectives of the clients ``span``."""
        jobs, (_, _, decay, prox, scale) = self.jobs, [rate[span] for rate in self.rates]
        gradient = self.model.gradient(models, x, y, weights).mul_(scale)
        if not jobs.plain:
            gradient.addcmul_(models, decay).addcmul_(models - self.anchor[span], prox)
        return gradient if jobs.linear is None else gradient.add_(jobs.linear[span])


def scaled(weights: Weights, rates: Tensor, x: Tensor) -> Weights:
    """The weights times a number for each client (A, 1)."""
    if callable(weights):
        return lambda losses: weights(losses) * rates
    if isinstance(weights, float):
        return (rates * weights).expand(x.shape[:2])
    return weights * rates
