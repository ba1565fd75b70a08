"""The slow reference: one client and one step after the other, autograd on the plain formula."""

from contextlib import nullcontext

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.draws.order import Passes, orders
from fairfl.sims.engine.kernels.model import Model, seeded
from fairfl.sims.engine.step import Batch, stepped
from fairfl.sims.engine.task import Jobs


def train_loop(model: Model, data: ClientData, jobs: Jobs, params: Tensor) -> Tensor:
    """Updates w - w^t (J, P), as ``train`` gives them."""
    rows = []
    for j, r in enumerate(jobs.replicate):
        with seeded(int(jobs.keys[j])) if model.is_random else nullcontext():
            rows.append(_train_one(model, data, jobs, j, params[r]))
    return torch.stack(rows) if rows else params.new_empty(0, model.size)


def _train_one(model: Model, data: ClientData, jobs: Jobs, j: int, anchor: Tensor) -> Tensor:
    """The update w - w^t (P,) of job ``j``; ``anchor`` is the round's global model w^t (P,)."""
    size, batch_size = int(jobs.sizes[j]), jobs.batch
    first_row = int(data.offsets[jobs.client[j]])
    w = (anchor if jobs.start is None else jobs.start[j]).clone()
    velocity = torch.zeros_like(w)
    is_parameter = torch.zeros_like(w, dtype=torch.bool)[None]
    for block in model.blocks(is_parameter)[: model.trained_blocks]:
        block.fill_(True)
    batches_per_pass = -(-size // batch_size)
    order = np.zeros(0, np.int64)
    learning_rate, momentum, decay, prox, gradient_factor = jobs.rates[:, j].tolist()
    for t in range(int(jobs.steps[j])):
        if t % batches_per_pass == 0:
            sizes, pass_number = np.array([size]), np.array([t // batches_per_pass])
            passes = Passes.of(sizes, pass_number, np.array([1]), sizes > batch_size)
            order = orders(jobs.keys[j : j + 1], passes)
        begin = (t % batches_per_pass) * batch_size
        positions = order[begin : begin + batch_size]
        rows = torch.from_numpy(first_row + positions).to(data.x.device)
        x, y = data.x[rows], data.y[rows]

        def gradient(w: Tensor, x: Tensor = x, y: Tensor = y, rows: Tensor = rows) -> Tensor:
            gradient = gradient_factor * _gradient(model, w, x, y, rows, jobs, j)
            gradient = gradient + decay * w + prox * (w - anchor)
            gradient = gradient if jobs.linear is None else gradient + jobs.linear[j]
            return torch.where(is_parameter[0], gradient, 0)

        if jobs.step is None:
            velocity = momentum * velocity + gradient(w)
            w = w - learning_rate * velocity
            continue
        share = torch.full_like(w[:1], 1 / len(rows)).expand(1, len(rows))
        if jobs.sample_weights is not None:
            assert jobs.weights_of is not None  # they come together
            share = share * jobs.sample_weights[int(jobs.weights_of[j]), rows]
        memory = {name: values[j : j + 1] for name, values in jobs.memory.items()}
        lr, steps = (w.new_tensor([[number]]) for number in (learning_rate, jobs.steps[j]))
        batch = Batch(x[None], y[None], share, anchor.clone()[None], memory, lr, t, steps)
        (w,), changed = stepped(jobs.step, w[None], lambda rows: gradient(rows[0])[None], batch)
        for name, values in changed.items():
            memory[name].copy_(values)
    return w - anchor


@torch.enable_grad()
def _gradient(
    model: Model, w: Tensor, x: Tensor, y: Tensor, rows: Tensor, jobs: Jobs, j: int
) -> Tensor:
    """The gradient (P,) of the batch's objective at w; ``rows`` are its rows of the data."""
    w = w.detach().requires_grad_()
    losses = model.reference(w, x, y)
    if jobs.sample_weights is not None:
        assert jobs.weights_of is not None  # they come together
        losses = losses * jobs.sample_weights[int(jobs.weights_of[j]), rows]
    if jobs.objective is None:
        loss = losses.mean()
    else:
        assert jobs.parameters is not None
        share = torch.full_like(losses, 1 / len(losses)).detach()[None]
        values = jobs.parameters[:, j].tolist()
        parameters = [torch.full_like(share[:, :1], value) for value in values]
        loss = (jobs.objective(losses.detach()[None], share, *parameters)[0] * losses).sum()
    return torch.autograd.grad(loss, w)[0]
