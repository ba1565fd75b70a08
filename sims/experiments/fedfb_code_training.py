"""How FedFB's published code trains: Adam with weight decay on clients in turn, and its averages; many runs at once."""

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
from fairfl.sims.experiments.fedfb_runs import BATCH, HIDDEN
from fairfl.sims.federated.data import FederatedData

KEPT = 0.9
"""Share of a client's training rows that are trained on; the others are its validation rows."""
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


@dataclass(frozen=True, eq=False)
class World:
    """The people of a data set as the code splits them, and a model for them.

    ``train``, ``held``: a sample a client; ``test``; ``people`` (A, 2) of all training rows, held ones included.
    """

    model: Model
    train: tuple[Sample, ...]
    held: tuple[Sample, ...]
    test: Sample
    people: Floats

    @property
    def groups(self) -> int:
        """A."""
        return len(self.people)

    @classmethod
    def of(cls, data: FederatedData, kind: str, seed: int = 0) -> World:
        """From a data set with groups, validation rows put back; ``kind`` "mlp" or "logistic" (two outputs)."""
        assert data.group is not None
        assert data.part is not None
        width = data.x.shape[1]
        model: Model = MLP((width, HIDDEN, 2)) if kind == "mlp" else Softmax(width, outputs=2)
        x, y, a = (torch.from_numpy(np.array(values, kind)) for values, kind in (
            (data.x, np.float32), (data.y, np.int64), (data.group, np.int64)))  # fmt: skip
        x = model.prepare(ClientData(x, y, np.array([0, len(x)]))).x
        rng, known = np.random.default_rng([seed, 13]), data.part < 2

        def take(rows: NDArray[np.int64]) -> Sample:
            return Sample(x[rows], y[rows], a[rows])

        own = [rng.permutation(np.flatnonzero(known & (data.owner == k))) for k in range(data.n_clients)]
        cuts = [int(KEPT * len(rows)) for rows in own]
        pairs = list(zip(own, cuts, strict=True))
        people = take(np.flatnonzero(known)).sums(int(data.group.max()) + 1)
        return cls(
            model, tuple(take(rows[:cut]) for rows, cut in pairs), tuple(take(rows[cut:]) for rows, cut in pairs),
            take(np.flatnonzero(~known)), people,
        )  # fmt: skip

    def start(self, seeds: Sequence[int]) -> Tensor:
        """First parameters (R, P), float32."""
        return torch.stack([self.model.init(int(seed)).float() for seed in seeds])


class Adam:
    """Kingma and Ba's step for each of R runs with a rate of its own (R,), ``decay`` times w added to the gradient."""

    def __init__(self, params: Tensor, lr: Tensor, decay: float) -> None:
        self.mean, self.square = torch.zeros_like(params), torch.zeros_like(params)
        self.lr, self.decay, self.steps = lr[:, None].to(params.dtype), decay, 0

    def step(self, params: Tensor, gradient: Tensor) -> None:
        """Change ``params`` (R, P) in place."""
        self.steps += 1
        gradient = gradient.add_(params, alpha=self.decay)
        self.mean.lerp_(gradient, 1 - BETAS[0])
        self.square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        root = (self.square / (1 - BETAS[1] ** self.steps)).sqrt_().add_(EPS)
        params.sub_((self.mean / root).mul_(self.lr / (1 - BETAS[0] ** self.steps)))


def train(
    model: Model, params: Tensor, sample: Sample, epochs: int, optimiser: Adam, seeds: Sequence[int], key: int,
    table: Floats | None = None, relative: bool = False,
) -> None:  # fmt: skip
    """Epochs of shuffled batches on ``params`` (R, P), in place; run r weighs group a's label y by ``table`` (R, A, 2).

    The loss of a batch is the weighted sum of its losses, with ``relative`` over the sum of its weights. Runs of one
    seed see the same batches.
    """
    streams = {int(seed): np.random.default_rng([int(seed), key]) for seed in seeds}
    code, one = sample.a * 2 + sample.y, len(streams) == 1
    flat = None if table is None else torch.from_numpy(table).to(params.dtype).reshape(len(params), -1)
    for _ in range(epochs):
        shuffled = {seed: stream.permutation(len(sample)) for seed, stream in streams.items()}
        order = torch.from_numpy(np.stack([shuffled[int(seed)] for seed in seeds]))
        for first in range(0, len(sample), BATCH):
            rows = order[:, first : first + BATCH]
            x, y = (sample.x[rows[0]][None], sample.y[rows[0]][None]) if one else (sample.x[rows], sample.y[rows])
            weights: float | Tensor = 1.0
            if flat is not None:
                weights = flat.gather(1, code[rows])
                if relative:
                    weights = weights / weights.sum(1, keepdim=True)
            if one:
                x, y = x.expand(len(params), *x.shape[1:]), y.expand(len(params), -1)
            optimiser.step(params, model.gradient(params, x, y, weights))


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


def average(params: Sequence[Tensor], weights: Floats, slip: str = "") -> Tensor:
    """The clients' models (R, P) by weights (K, R).

    ``slip`` "others": client 0 counts once in place of weights[0] times, and all is divided by the others' weights, as
    in the code's FedAvg; "all": likewise, divided by the sum of all weights, as in its fair methods: the models shrink.
    """
    used = np.array(weights, dtype=np.float64)
    if slip:
        used[0] = 1.0
    total = np.asarray(weights)[1:].sum(0) if slip == "others" else np.asarray(weights).sum(0)
    shares = torch.from_numpy(used / total)
    return torch.einsum("kr,krp->rp", shares, torch.stack(list(params)).double()).to(params[0].dtype)
