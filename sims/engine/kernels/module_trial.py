"""What a module's first steps show: whether its clients can be stacked, and a step's memory."""

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fairfl.sims.engine.kernels.mlp import Activation

Module = Any
"""``kernels.module.Module``, whose file imports this one."""


@dataclass
class Trial:
    """What ``Module.prepare`` measured: whether clients go in turn, whether training draws random
    numbers, and the numbers that a step stores for a client and for each sample; ``activations``
    of linear layers, whose steps are ``mlp.add_entropy_gradient``.
    """

    is_done: bool = False
    activations: tuple[Activation, ...] | None = None
    in_turn: bool = False
    is_random: bool = False
    per_client: int = 0
    per_sample: int = 0


def rows_differ_in_training(module: Module, x: Tensor) -> bool:
    """Whether the outputs of two samples are others in training; ValueError where those in
    ``eval()`` are random, or not those of each sample alone.
    """
    parts = module.tensors(module.init(0).to(floating(x))[None])
    with torch.no_grad():
        state = torch.get_rng_state()
        together, *alone = (
            module.mapped(module.forward, parts, rows[None])[0] for rows in (x, x[:1], x[1:])
        )
        if not torch.equal(torch.get_rng_state(), state):
            raise ValueError(
                "factory must make a module whose forward is not random in eval(), got "
                f"{module.describe()}"
            )
        trained = module.mapped(module.trained_forward, parts, x[None])[0]
        module.trial.is_random = not torch.equal(torch.get_rng_state(), state)
    close = torch.finfo(together.dtype).eps ** 0.5
    if not torch.allclose(
        together, torch.cat(alone), close, close * float(together.abs().max()), equal_nan=True
    ):
        raise ValueError(
            "factory must make a module whose forward maps each sample by itself, got "
            f"{module.describe()}, which "
            "mixes those of a batch"
        )
    return module.is_random or not torch.equal(trained, together)


def can_be_stacked(module: Module, x: Tensor, y: Tensor) -> bool:
    """Whether vmap takes module and gradient, without the loop over clients of which it warns."""
    params = torch.stack([module.init(0), module.init(1)]).to(x.device, floating(x))
    x, y = torch.stack([x, x.flip(0)]), torch.stack([y, y.flip(0)])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            module.gradient(params, x, y, 1.0)
    except Exception:  # any failure of vmap: if the loop fails too, the next check says so
        return False
    return True


def saved_by_step(module: Module, x: Tensor, y: Tensor) -> tuple[int, int]:
    """Numbers that a step stores for a client and for a sample, by those of 4 and of 8 samples."""
    try:
        of_four, of_eight = (_saved(module, x, y, batch) for batch in (4, 8))
    except (RuntimeError, NotImplementedError) as error:
        raise ValueError(
            f"factory must make a module with a gradient, got {module.describe()}: {error}"
        ) from None
    per_sample = (of_eight - of_four) // 4
    return max(0, of_four - 4 * per_sample), per_sample + x[0].numel()


def _saved(module: Module, x: Tensor, y: Tensor, batch: int) -> int:
    """Numbers that autograd saves for a client's step on so many copies of a sample."""
    n_clients = 1 if module.in_turn else 2
    params = module.init(0).to(floating(x)).repeat(n_clients, 1)
    data = {tensor.untyped_storage().data_ptr() for tensor in (x, y)}
    saved: dict[int, int] = {}

    def save(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in data:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    inputs, targets = (t.expand(n_clients, batch, *t.shape[1:]) for t in (x, y))
    blocks = module.blocks(params)
    with torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor):
        module.add_gradient(blocks, inputs, targets, 1.0, blocks, 0.0)
    return sum(saved.values()) // (n_clients * params.element_size())


def floating(x: Tensor) -> torch.dtype:
    """The dtype of parameters beside inputs ``x``: theirs, or the default one for codes."""
    return x.dtype if x.is_floating_point() else torch.get_default_dtype()
