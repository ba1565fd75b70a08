"""Any ``nn.Module``, its clients batched by ``torch.func``, or else one after the other."""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from fairfl._support.checks import instance
from fairfl._support.manifest import sha256
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.linear import classes_between
from fairfl.sims.engine.kernels.mlp import (
    Activation,
    add_entropy_gradient,
    perceptron_activations,
    perceptron_bytes,
)
from fairfl.sims.engine.kernels.model import Blocks, Model, Weights
from fairfl.sims.engine.kernels.module_trial import (
    Trial,
    can_be_stacked,
    floating,
    rows_differ_in_training,
    saved_by_step,
)

LARGE = 60_000
"""With more parameters clients are trained in turn on a CPU, whose cache holds one model."""
SampleLoss = Callable[[Tensor, Tensor], Tensor]


def cross_entropy(outputs: Tensor, y: Tensor) -> Tensor:
    """Losses (B,) of scores (B, classes)."""
    return nn.functional.cross_entropy(outputs, y, reduction="none")


@dataclass(frozen=True)
class Module(Model):
    """``factory()`` makes the module, whose initialisation under ``torch.manual_seed(seed)`` starts
    a replicate. Parameters with ``requires_grad_(False)`` are frozen: they are the same in all
    models and rounds, and no part of a row. Buffers of floating point, the averages of batch
    normalisation for instance, are the last numbers of the row: each client's forward in training
    changes them, and they are sent and averaged as parameters are, without gradient, momentum or
    weight decay. ``places`` says where a parameter or buffer stands.

    Clients train in the mode in which the factory returns the module, and are measured in that of
    ``eval()``. Dropout draws by seed, task, round and client.

    The losses of all clients are one sum, whose gradient autograd gives client by client: the rows
    do not mix. ``prepare`` tries the module on two clients with two samples each. Where
    ``torch.func.vmap`` cannot take it (``nn.LSTM`` and ``nn.GRU``, control flow that depends on
    data, operations that it has no rule for), where training is another function than ``eval()``
    (dropout, batch normalisation), and on a CPU where it has LARGE parameters, clients go one after
    the other, each through all of its steps: ``in_turn`` is True, and the numbers are the same.
    Linear layers with activations (``mlp.ACTIVATIONS``) and cross entropy are trained by the kernel
    of ``MLP``, to the same numbers within rounding.

    Parameters
    ----------
    factory : () -> nn.Module; its forward maps (B, ...) to outputs, row by row.
    loss : (outputs, y) -> (B,); losses of the samples; ``cross_entropy`` by default.
    classes : whether the outputs are scores of classes, so that there is an accuracy.
    name : what a run's configuration records beside the module's text, frozen values and buffers,
        and numbers in a ``partial`` or a closure; the factory's name by default. Another number
        that changes the factory or the loss must stand in it: a run is resumed where all are equal.

    Errors: ValueError for a module in place of a factory, for batch normalisation with
    ``momentum=None``, whose count of batches no row holds, and for modules without parameters to
    train; from ``init`` for frozen parameters that differ by seed; from ``prepare`` for data that
    do not fit, and for a forward that in ``eval()`` draws random numbers or mixes the samples of a
    batch, or has no gradient. Batch normalisation has no value for a batch of one sample.
    """

    factory: Callable[[], nn.Module]
    loss: SampleLoss = cross_entropy
    classes: bool = True
    name: str = field(default="", kw_only=True)
    trial: Trial = field(default_factory=Trial, init=False, compare=False, repr=False)
    copies: dict[tuple[torch.device, torch.dtype], dict[str, Tensor]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        if isinstance(self.factory, nn.Module) or not callable(self.factory):
            raise ValueError(
                "factory must be a function that makes a module, such as lambda: nn.Linear(4, 2), "
                f"got {self.factory!r}"
            )
        module = self.module
        if not self.trained:
            raise ValueError(f"factory must make a module with parameters to train, got {module}")
        for path, part in module.named_modules():
            if getattr(part, "track_running_stats", False) and part.momentum is None:
                raise ValueError(
                    "factory must make a module whose batch norms have a momentum, got None of "
                    f"{path!r} of {module}"
                )

    @property
    def in_turn(self) -> bool:  # type: ignore[override]
        return self.trial.in_turn

    @property
    def by_hand(self) -> bool:  # type: ignore[override]
        return self.trial.activations is not None

    @property
    def is_random(self) -> bool:  # type: ignore[override]
        return self.trial.is_random

    @property
    def trained_blocks(self) -> int | None:  # type: ignore[override]
        return len(self.trained) if self.buffers else None

    @cached_property
    def module(self) -> nn.Module:
        """A copy of the module, which lends its forward and the values of frozen parameters."""
        return copy.deepcopy(self._new_module(0))

    @cached_property
    def measured(self) -> nn.Module:
        """A copy as it is measured."""
        return copy.deepcopy(self.module).eval()

    @cached_property
    def trained(self) -> dict[str, nn.Parameter]:
        """The module's parameters that are trained, by name, in the order of the row."""
        return {name: p for name, p in self.module.named_parameters() if p.requires_grad}

    @cached_property
    def buffers(self) -> dict[str, Tensor]:
        """The module's buffers of floating point, by name, in the order of the row."""
        return {k: v for k, v in self.measured.named_buffers() if v.is_floating_point()}

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where the numbers of each parameter that is trained, and of each buffer, are in a row."""
        places, first = dict[str, slice](), 0
        for name, value in {**self.trained, **self.buffers}.items():
            places[name] = slice(first, first := first + value.numel())
        return places

    @cached_property
    def frozen(self) -> dict[str, Tensor]:
        """The values of the others, as the factory gives them."""
        parameters = self.module.named_parameters()
        return {name: p.detach() for name, p in parameters if not p.requires_grad}

    def blocks(self, rows: Tensor) -> Blocks:
        tensors = self.tensors(rows)
        if self.trial.activations is None:
            return tensors
        layers = zip(tensors[:-2:2], tensors[1:-2:2], strict=True)
        blocks = [block for w, b in layers for block in (w.mT, b.unsqueeze(1))]
        return [*blocks, tensors[-2], tensors[-1].unsqueeze(1)]

    def tensors(self, rows: Tensor) -> Blocks:
        """The module's parameters and buffers (A, and its shape)."""
        values = [*self.trained.values(), *self.buffers.values()]
        parts = rows.split_with_sizes([value.numel() for value in values], 1)
        return [p.view(len(rows), *value.shape) for p, value in zip(parts, values, strict=True)]

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        """P, the number of all parameters that are trained, and of the numbers in buffers."""
        return max(place.stop for place in self.places.values())

    @cached_property
    def layers(self) -> tuple[int, ...]:  # type: ignore[override]
        """Trained parameters of each submodule that has some of its own, and then buffers."""
        sizes: dict[tuple[str, bool], int] = {}
        for name, place in self.places.items():
            owner = name.rpartition(".")[0], name in self.buffers
            sizes[owner] = sizes.get(owner, 0) + place.stop - place.start
        return tuple(sizes.values())

    def init(self, seed: int) -> Tensor:
        module = self._new_module(seed)
        parameters = dict(module.named_parameters())
        for name, value in self.frozen.items():
            if not torch.equal(parameters[name], value):
                raise ValueError(
                    "factory must give frozen parameters the same values for every seed (load "
                    "them, or draw them with a generator of their own), got others of "
                    f"{name!r} for seed {seed} than for seed 0"
                )
        trained = (parameters[name].detach() for name in self.trained)
        values = [*trained, *(module.get_buffer(name) for name in self.buffers)]
        return torch.cat([value.reshape(-1).to("cpu", torch.float64) for value in values])

    def losses(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        with torch.no_grad():
            return self.mapped(self._measured_losses, self.tensors(params), x, y)

    def add_gradient(
        self, blocks: Blocks, x: Tensor, y: Tensor, weights: Weights, out: Blocks, factor: float
    ) -> None:
        activations = self.trial.activations
        if activations is not None:
            add_entropy_gradient(blocks, x, y, weights, out, factor, activations)
            return
        with torch.enable_grad():
            if len(x) == 1 and x.device.type == "cpu":
                leaves = self._lent(blocks)
                losses = self.loss(self.module(x[0]), y[0])[None]
            else:
                values = [block.detach() for block in blocks]  # of buffers the blocks themselves
                leaves = [block.requires_grad_() for block in values[: len(self.trained)]]
                losses = self.mapped(self._client_losses, values, x, y)
            slopes = weights(losses.detach()) if callable(weights) else weights
            if not isinstance(slopes, Tensor):
                slopes = torch.full_like(losses, slopes)
            # without a list of inputs, with which backward takes longer
            torch.autograd.backward(losses, slopes)
        for part, leaf in zip(out, leaves, strict=False):
            if leaf.grad is not None:
                part.add_(leaf.grad, alpha=factor)
                leaf.grad = None  # its memory is free for the next step

    def reference(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        blocks = [block[0] for block in self.tensors(params[None])]
        n_trained = len(self.trained)
        # the row's buffers change in place, beside autograd
        return self._client_losses(
            [*blocks[:n_trained], *(block.data for block in blocks[n_trained:])], x, y
        )

    def correct(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor | None:
        if not self.classes:
            return None
        with torch.no_grad():
            return self.mapped(self.forward, self.tensors(params), x).argmax(-1) == y

    def prepare(self, data: ClientData) -> ClientData:
        """Run the module on some samples: reject what fails, measure a step's memory."""
        if not len(data.x):
            return data  # without samples nothing can be checked
        row = self.init(0).to(data.x.device, floating(data.x))
        params = [block[0] for block in self.tensors(row[None])]
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):
                outputs = self.forward(params, data.x[:1])
                losses = self.loss(outputs, data.y[:1])
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            shapes = (
                f"x {tuple(data.x.shape)} {data.x.dtype}, y {tuple(data.y.shape)} {data.y.dtype}"
            )
            raise ValueError(f"data must fit {self.describe()}, got {shapes}: {error}") from None
        if tuple(losses.shape) != (1,):
            raise ValueError(
                f"loss must give one number a sample, (B,), got {tuple(losses.shape)} for one "
                "sample"
            )
        if self.classes:
            classes_between(self.describe(), data.y, int(outputs.shape[-1]))
        trial = self.trial
        if not trial.is_done:
            x, y = (torch.cat([values[:1], values[-1:]]) for values in (data.x, data.y))
            trial.activations = self._activations(x)
            with torch.random.fork_rng(devices=[]):
                has_modes = rows_differ_in_training(self, x.cpu())
                if trial.activations is None:
                    large = x.device.type == "cpu" and self.size >= LARGE
                    trial.in_turn = has_modes or large or not can_be_stacked(self, x, y)
                    sample = data.x[:1].cpu(), data.y[:1].cpu()
                    trial.per_client, trial.per_sample = saved_by_step(self, *sample)
            trial.is_done = True
        return data

    @cached_property
    def _widths(self) -> list[int]:
        """Features and outputs of linear layers."""
        shapes = [p.shape for p in self.trained.values() if p.ndim == 2]
        return [shapes[0][1], *(shape[0] for shape in shapes)]

    def _activations(self, x: Tensor) -> tuple[Activation, ...] | None:
        """Those between linear layers that are all trained, on vectors, with cross entropy."""
        activations = perceptron_activations(self.module)
        is_whole = activations is not None and len(self.trained) == 2 * len(activations) + 2
        fits = self.loss is cross_entropy and self.classes and x.ndim == 2
        return activations if is_whole and fits and x.is_floating_point() else None

    def bytes_per_client(self, batch: int, element: int) -> int:
        trial = self.trial
        if self.by_hand:
            return perceptron_bytes(self._widths, batch, element)
        return element * (trial.per_client + batch * trial.per_sample) + 8 * batch

    def describe(self) -> str:
        name = self.name or getattr(self.factory, "__qualname__", type(self.factory).__name__)
        description = f"{name}, {getattr(self.loss, '__qualname__', self.loss)}, {self.module}"
        kept = self.frozen | dict(self.module.named_buffers())
        if kept:
            values = [v.to("cpu", torch.float64).numpy().tobytes() for v in kept.values()]
            description += f", kept {', '.join(kept)}: {sha256(b''.join(values))[:16]}"
        numbers = [v for part in (self.factory, self.loss) for v in _numbers(part)]
        description += f", with {numbers}" if numbers else ""
        return f"Module({description})"

    def _new_module(self, seed: int) -> nn.Module:
        """A new module; its draws are from the CPU's generator, which is put back."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            return instance("what factory makes", self.factory(), nn.Module)

    def _lent(self, blocks: Blocks) -> list[nn.Parameter]:
        """The module's own parameters, which become one client's: a call with others takes long."""
        parameters = list(self.trained.values())
        for parameter, block in zip(parameters, blocks, strict=False):
            parameter.data, parameter.grad = block[0], None
        for name, block in zip(self.buffers, blocks[len(parameters) :], strict=True):
            self.module.get_buffer(name).data = block[0]
        for name, value in self._frozen_like(blocks[0]).items():
            self.module.get_parameter(name).data = value
        return parameters

    def _frozen_like(self, block: Tensor) -> dict[str, Tensor]:
        """The frozen parameters on the device and in the dtype of the trained ones."""
        key = block.device, block.dtype
        if key not in self.copies:
            self.copies[key] = {name: value.to(*key) for name, value in self.frozen.items()}
        return self.copies[key]

    def mapped(self, function: Callable[..., Tensor], blocks: Blocks, *inputs: Tensor) -> Tensor:
        """The function of every client's parameters and inputs (A, ...)."""
        if len(inputs[0]) > 1 and not self.in_turn:
            return vmap(function)(list(blocks), *inputs)
        clients = zip(zip(*(block.unbind() for block in blocks), strict=True), *inputs, strict=True)
        return torch.stack([function(*client) for client in clients])

    def _client_losses(self, parameters: Blocks, x: Tensor, y: Tensor) -> Tensor:
        return self.loss(self.trained_forward(parameters, x), y)

    def _measured_losses(self, parameters: Blocks, x: Tensor, y: Tensor) -> Tensor:
        return self.loss(self.forward(parameters, x), y)

    def trained_forward(self, parameters: Blocks, x: Tensor) -> Tensor:
        return self.forward(parameters, x, self.module)

    def forward(self, parameters: Blocks, x: Tensor, module: nn.Module | None = None) -> Tensor:
        """Outputs as the module is measured, or of another ``module``."""
        values = dict(zip(self.places, parameters, strict=True))
        values |= self._frozen_like(parameters[0])
        module = self.measured if module is None else module
        if x.device.type == "cpu":
            return functional_call(module, values, (x,))
        with warnings.catch_warnings():
            # of a recurrent network: each client has weights of its own, which cuDNN puts together
            warnings.filterwarnings("ignore", "RNN module weights are not part of single")
            return functional_call(module, values, (x,))


def _numbers(function: object) -> list[object]:
    """The numbers and texts that a partial function or a closure holds."""
    values = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    if isinstance(function, partial):
        values = [*function.args, *function.keywords.values(), *_numbers(function.func)]
    return [value for value in values if isinstance(value, (bool, int, float, str))]
