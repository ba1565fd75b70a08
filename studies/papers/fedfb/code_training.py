"""How FedFB's published code trains: its batches, Adam with weight decay, its averages; many runs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine import MLP, Model, Softmax
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.task import Floats
from fairfl.studies.papers.fedfb.code_data import CodeRows
from fairfl.studies.papers.fedfb.runs import BATCH, HIDDEN, MOMENTUM

KEPT = 0.9
"""Share of a client's training rows that are trained on, its first; the others are its validation rows."""
BETAS, EPS = (0.9, 0.999), 1e-8


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows x (n, ...), labels y (n,) in {0, 1}, groups a (n,) as tensors."""

    x: Tensor
    y: Tensor
    a: Tensor

    def __len__(self) -> int:
        return len(self.y)

    @classmethod
    def join(cls, parts: Sequence[Sample]) -> Sample:
        """All their rows."""
        return cls(*(torch.cat([getattr(part, field) for part in parts]) for field in ("x", "y", "a")))

    def sums(self, groups: int, values: Tensor | None = None) -> Floats:
        """Sums of values (n,), or the people, by group and label: (A, 2)."""
        code, weights = self.a * 2 + self.y, None if values is None else values.double()
        return torch.bincount(code, weights, 2 * groups).double().view(groups, 2).numpy()


Pair = tuple[Sample, Sample]
"""What is trained on, and what is held out for validation."""


@dataclass(frozen=True, eq=False)
class World:
    """The people of a data set as the code splits them, and a model for them.

    ``train``, ``held``: a sample a client; ``whole``: the same of all rows, in the order of the file; ``test``;
    ``people`` (A, 2) of all training rows, held ones included; ``sizes`` (K,) of clients, likewise.
    """

    model: Model
    train: tuple[Sample, ...]
    held: tuple[Sample, ...]
    whole: Pair
    test: Sample
    people: Floats
    sizes: Floats

    @property
    def groups(self) -> int:
        """A."""
        return len(self.people)

    @classmethod
    def of(cls, rows: CodeRows, kind: str) -> World:
        """``kind`` "mlp" or "logistic" (two outputs)."""
        width = rows.x.shape[1]
        model: Model = MLP((width, HIDDEN, 2)) if kind == "mlp" else Softmax(width, outputs=2)
        x, y, a = (torch.from_numpy(np.array(values, dtype)) for values, dtype in (
            (rows.x, np.float32), (rows.y, np.int64), (rows.a, np.int64)))  # fmt: skip
        x = model.prepare(ClientData(x, y, np.array([0, len(x)]))).x

        def take(mine: NDArray[np.int64]) -> Sample:
            return Sample(x[mine], y[mine], a[mine])

        def cut(mine: NDArray[np.int64]) -> Pair:
            return take(mine[: int(KEPT * len(mine))]), take(mine[int(KEPT * len(mine)) :])

        train, held = zip(*(cut(mine) for mine in rows.clients), strict=True)
        people = take(rows.train).sums(int(rows.a.max()) + 1)
        sizes = np.array([len(mine) for mine in rows.clients], np.float64)
        return cls(model, train, held, cut(rows.train), take(rows.test), people, sizes)

    def start(self, seeds: Sequence[int]) -> Tensor:
        """First parameters (R, P), float32: those that ``torch.nn.Linear`` draws after ``torch.manual_seed``."""
        known = {seed: _first(self.model, seed) for seed in {int(seed) for seed in seeds}}
        return torch.stack([known[int(seed)] for seed in seeds])


def _first(model: Model, seed: int) -> Tensor:
    widths = model.widths if isinstance(model, MLP) else (getattr(model, "features"), 2)  # noqa: B009 - Softmax
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [torch.nn.Linear(i, o) for i, o in zip(widths[:-1], widths[1:], strict=True)]
    parts = [(layer.weight.detach(), layer.bias.detach()) for layer in layers]
    if isinstance(model, MLP):
        return torch.cat([part.reshape(-1) for pair in parts for part in pair])
    weight, bias = parts[0]
    return torch.cat([weight, bias[:, None]], 1).reshape(-1)


class Stream:
    """torch's own stream after ``torch.manual_seed(seed)``, and what a ``DataLoader`` takes from it."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def order(self, n: int) -> Tensor:
        """The order of n rows of a loader that shuffles: a base seed, then the sampler's."""
        self.passed(1)
        return torch.randperm(n, generator=torch.Generator().manual_seed(self._whole()))

    def passed(self, draws: int) -> None:
        """Loaders that were gone through without need for their order: 2 draws where they shuffle, else 1."""
        for _ in range(draws):
            self._whole()

    def noise(self, n: int) -> None:
        """A draw of n normal numbers, which the code overwrites."""
        torch.randn(n, generator=self.generator)

    def _whole(self) -> int:
        return int(torch.empty((), dtype=torch.int64).random_(generator=self.generator).item())


Streams = dict[int, Stream]
"""By seed."""


def streams(seeds: Sequence[int]) -> Streams:
    """Fresh ones."""
    return {int(seed): Stream(int(seed)) for seed in seeds}


class Adam:
    """Kingma and Ba's step for R runs, each with a rate and a ``decay`` (R,), which times w joins the gradient."""

    def __init__(self, params: Tensor, lr: Tensor, decay: Tensor) -> None:
        self.mean, self.square = torch.zeros_like(params), torch.zeros_like(params)
        self.lr, self.decay, self.steps = lr[:, None].to(params.dtype), decay[:, None].to(params.dtype), 0

    def step(self, params: Tensor, gradient: Tensor) -> None:
        """Change ``params`` (R, P) in place."""
        self.steps += 1
        gradient = gradient.addcmul_(params, self.decay)
        self.mean.lerp_(gradient, 1 - BETAS[0])
        self.square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        root = (self.square / (1 - BETAS[1] ** self.steps)).sqrt_().add_(EPS)
        params.sub_((self.mean / root).mul_(self.lr / (1 - BETAS[0] ** self.steps)))


class Momentum:
    """The step of this library's tables, which the code has not: SGD with momentum, rates (R,)."""

    def __init__(self, params: Tensor, lr: Tensor) -> None:
        self.velocity, self.lr = torch.zeros_like(params), lr[:, None].to(params.dtype)

    def step(self, params: Tensor, gradient: Tensor) -> None:
        """Change ``params`` (R, P) in place."""
        self.velocity.mul_(MOMENTUM).add_(gradient)
        params.sub_(self.velocity * self.lr)


def train(
    model: Model, params: Tensor, sample: Sample, epochs: int, optimiser: Adam | Momentum, seeds: Sequence[int],
    drawn: Streams, table: Floats | None = None, relative: bool = False,
) -> None:  # fmt: skip
    """Epochs of shuffled batches on ``params`` (R, P), in place; run r weighs group a's label y by ``table`` (R, A, 2).

    The loss of a batch is the weighted sum of its losses, with ``relative`` over the sum of its weights (and the code
    then draws noise), for ``Momentum`` their mean. Runs of one seed see the same batches, gathered once an epoch.
    """
    n, one = len(sample), len(drawn) == 1
    flat = None if table is None else torch.from_numpy(table).to(params.dtype).reshape(len(params), -1)
    code = sample.a * 2 + sample.y
    for _ in range(epochs):
        shuffled = {}
        for seed, stream in drawn.items():
            shuffled[seed] = stream.order(n)
            for first in range(0, n if relative else 0, BATCH):
                stream.noise(min(BATCH, n - first))
        order = shuffled[int(seeds[0])][None] if one else torch.stack([shuffled[int(seed)] for seed in seeds])
        x, y, cells = sample.x[order], sample.y[order], code[order].expand(len(params), -1)
        if one:
            x, y = x.expand(len(params), *x.shape[1:]), y.expand(len(params), -1)
        every = None if flat is None else flat.gather(1, cells)
        for first in range(0, n, BATCH):
            batch = slice(first, first + BATCH)
            weights: float | Tensor = 1.0 / min(BATCH, n - first) if isinstance(optimiser, Momentum) else 1.0
            if every is not None:
                weights = every[:, batch]
                if relative:
                    weights = weights / weights.sum(1, keepdim=True)
            optimiser.step(params, model.gradient(params, x[:, batch], y[:, batch], weights))


def losses(model: Model, params: Tensor, sample: Sample, label: int | None = None) -> Tensor:
    """Losses of each run's model (R, n), with one label for all if asked."""
    y = sample.y if label is None else torch.full_like(sample.y, label)
    return torch.cat([model.losses(one[None], sample.x[None], y[None]) for one in params])


def accepted(model: Model, params: Tensor, sample: Sample) -> Floats:
    """ŷ of each run's model (R, n)."""
    ones, rows = torch.ones_like(sample.y)[None], []
    for one in params:
        found = model.correct(one[None], sample.x[None], ones)
        assert found is not None  # both models of World classify
        rows.append(found)
    return torch.cat(rows).double().numpy()


def outputs(model: Model, params: Tensor, sample: Sample) -> Tensor:
    """The code's two outputs of each row (n, 2): a sigmoid of either score."""
    z = sample.x
    if isinstance(model, MLP):
        start = 0
        for k, (i, o) in enumerate(zip(model.widths[:-1], model.widths[1:], strict=True)):
            weight, bias = params[start : start + i * o].view(o, i), params[start + i * o : start + (i + 1) * o]
            z, start = torch.nn.functional.linear(z if k == 0 else z.relu(), weight, bias), start + (i + 1) * o
    else:
        z = z @ params.view(2, -1).T
    return torch.sigmoid(z)


def average(params: Sequence[Tensor], weights: Floats, once: NDArray[np.int64], others: bool) -> Tensor:
    """The clients' models (R, P) by weights (K, R), but for client ``once`` (R,) of a run, which counts once.

    All is then divided by the sum of the weights of the ``others``, as in the code's FedAvg, or of all, as in its fair
    methods: the models shrink. A run with ``once`` -1 has a plain average.
    """
    used, slips = np.array(weights, dtype=np.float64), np.flatnonzero(once >= 0)
    total = used.sum(0)
    if others:
        total[slips] -= used[once[slips], slips]
    used[once[slips], slips] = 1.0
    shares = torch.from_numpy(used / total)
    return torch.einsum("kr,krp->rp", shares, torch.stack(list(params)).double()).to(params[0].dtype)
