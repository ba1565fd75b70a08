"""Settings of a run's training and computing: frozen, checked when they are made."""

import os
import re
from dataclasses import dataclass, field
from typing import Literal

import torch
from numpy.typing import ArrayLike

from fairfl._support.checks import finite, flag, in_range, one_of, whole
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.engine.draws.participation import Everyone, Participation
from fairfl.sims.engine.schedule import Constant, Schedule

MOST = 1e38
"""Largest rate."""


@dataclass(frozen=True)
class Training:
    """Local SGD, the same for all replicates except for the rates that a replicate sets.

    Parameters
    ----------
    rounds : T >= 1.
    lr, momentum, weight_decay : of local SGD as torch's: v = momentum v + g, w -= lr v, v = 0 at
        the start of every round.
    batch_size : samples a step; None for all of a client's. The last batch of a pass has the
        remaining ones.
    epochs, steps : passes over a client's data in a round, or SGD steps, the same for every client;
        one of the two, one pass where neither is given.
    schedule : a factor on ``lr`` by round.
    server_lr : the factor on the aggregate update.
    server_schedule : a factor on ``server_lr`` by round; FedMGDA+ needs it so that its normalised
        steps shrink.
    participation : who takes part.
    dropout, stragglers : float in [0, 1]
        Probability that a client's update is lost, and that it does only part of its n steps (1, 2,
        ..., n equally likely). The weights p of the remaining clients are scaled to sum one:
        unbiased where the p_k are equal. A round without clients changes nothing.
    """

    rounds: int
    lr: float = 0.1
    batch_size: int | None = 10
    epochs: int | None = None
    steps: int | None = None
    momentum: float = 0.0
    weight_decay: float = 0.0
    schedule: Schedule = field(default_factory=Constant)
    server_lr: float = 1.0
    server_schedule: Schedule = field(default_factory=Constant)
    participation: Participation = field(default_factory=Everyone)
    dropout: float = 0.0
    stragglers: float = 0.0

    def __post_init__(self) -> None:
        whole("rounds", self.rounds, 1)
        check_rates(self.lr, self.momentum, self.weight_decay, self.server_lr)
        if self.batch_size is not None:
            whole("batch_size", self.batch_size, 1)
        if self.epochs is not None and self.steps is not None:
            raise ValueError(
                f"epochs and steps must not both be given, got epochs={self.epochs}, "
                f"steps={self.steps}"
            )
        for name in ("epochs", "steps"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), 1)
        for name in ("dropout", "stragglers"):
            in_range(name, getattr(self, name), 0.0, 1.0)


def check_rates(lr: float, momentum: float, weight_decay: float, server_lr: float) -> None:
    """ValueError for rates that no run can have, or that float32 cannot hold."""
    in_range("lr", lr, 0.0, MOST, open_low=True)
    in_range("momentum", momentum, 0.0, 1.0, open_high=True)
    in_range("weight_decay", weight_decay, 0.0, MOST)
    in_range("server_lr", server_lr, 0.0, MOST, open_low=True)


@dataclass(frozen=True)
class Computing:
    """Device, precision and memory of a run; nothing here changes a result by more than rounding.

    Parameters
    ----------
    device : "auto" (a GPU where there is one), "cpu", "cuda" or "cuda:N". On a GPU convolutions are
        rounded to TF32 where torch's ``backends.cudnn.allow_tf32`` says so, as it does unless it is
        changed.
    dtype : "float32" or "float64"
    memory_limit : bytes for the tensors of a chunk of clients and for the stored updates, to within
        a fifth; one client, a forward pass of 64 MiB and two blocks of updates of 8 MiB are always
        allowed. Plans of steps take up to half as much again, and the cache of plans an eighth.
        Where a replicate's updates take more than half of the limit, its clients train, and are
        added up, some at a time. Updates that are needed all at once (FedMGDA+, and masked ones)
        may take as much again, and raise ValueError where they take more. Models that an algorithm
        stores for every client (Ditto, LFT between averages) are extra, in a round three times.
        "auto": half of the free memory when the simulation starts: of the device or, where known,
        of the system.
    threads : of torch on the CPU; by default one for small models, for which several are slower,
        else torch's default.
    backend : "batched" or "loop"; the engine, or its slow reference.
    non_finite : "raise" or "drop"; for an update or a loss that is NaN or infinite: stop with the
        client and the round, or leave the client out of the round, which is counted. Where updates
        do not fit into memory "drop" trains each round twice: the weights of the others depend on
        who is left out.
    masked_updates : whether updates, too, travel as masked fixed-point numbers
        (``secure_masks.py``), 8 bytes each, so that no server sees one of them: their sum over k
        clients is rounded to k 2^-37. For runs in which every algorithm's server sees sums alone.
    """

    device: str = "auto"
    dtype: Literal["float32", "float64"] = "float32"
    memory_limit: int | Literal["auto"] = 1 << 30
    threads: int | None = None
    backend: Literal["batched", "loop"] = "batched"
    non_finite: Literal["raise", "drop"] = "raise"
    masked_updates: bool = False

    def __post_init__(self) -> None:
        one_of("dtype", self.dtype, ("float32", "float64"))
        one_of("backend", self.backend, ("batched", "loop"))
        one_of("non_finite", self.non_finite, ("raise", "drop"))
        if self.memory_limit != "auto":
            whole("memory_limit", self.memory_limit, 1)
        if self.threads is not None:
            whole("threads", self.threads, 1)
        flag("masked_updates", self.masked_updates)
        self.place()

    def place(self) -> torch.device:
        """The device; ValueError where there is none of that name."""
        name = str(self.device)
        if name == "auto":
            name = "cuda" if torch.cuda.is_available() else "cpu"
        if not re.fullmatch(r"cpu|cuda(:[0-9]+)?", name):
            raise ValueError(
                f"device must be 'auto', 'cpu', 'cuda' or 'cuda:N', got {self.device!r}"
            )
        device, n_gpus = torch.device(name), torch.cuda.device_count()
        if device.type == "cuda" and (device.index or 0) >= n_gpus:
            raise ValueError(f"device must be there, got {self.device!r} with {n_gpus} GPUs")
        return device

    def bytes(self) -> int:
        """The memory limit, "auto" as of now."""
        if self.memory_limit != "auto":
            return self.memory_limit
        if self.place().type == "cuda":
            free = torch.cuda.mem_get_info(self.place())[0]
        elif hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
            free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        else:
            free = 1 << 31
        return max(1, free // 2)

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype as torch's."""
        return torch.float64 if self.dtype == "float64" else torch.float32


RATES = ("lr", "momentum", "weight_decay", "server_lr")
"""Settings that a replicate can override."""


@dataclass(frozen=True)
class Replicate:
    """A seed and an algorithm; rates that are None are the training's. ``start`` (P,) are its first
    parameters, those of a pretrained model or of another run, in place of the model's ``init``.

    Its results are those of a run alone, to rounding: other replicates change the order of
    summation, and no draw.
    """

    algorithm: Algorithm
    seed: int = 0
    lr: float | None = None
    momentum: float | None = None
    weight_decay: float | None = None
    server_lr: float | None = None
    start: ArrayLike | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.start is not None:
            # the only way to set a field of a frozen dataclass
            object.__setattr__(self, "start", finite("start", self.start).copy())
        if not isinstance(self.algorithm, Algorithm):
            raise ValueError(
                "algorithm must be one of fairfl.sims.algorithms, an instance, got "
                f"{self.algorithm!r}"
            )
        whole("seed", self.seed, 0)

    def rates(self, training: Training) -> tuple[float, float, float, float]:
        """lr, momentum, weight_decay and server_lr, its own or the training's."""
        lr, momentum, decay, server = (
            getattr(training, name) if getattr(self, name) is None else getattr(self, name)
            for name in RATES
        )
        check_rates(lr, momentum, decay, server)
        return lr, momentum, decay, server
