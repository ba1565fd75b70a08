"""Replicate: a seed, an algorithm and its rates; replicates are trained together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fairfl._support.checks import whole
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.engine.settings import Training, check_rates

RATES = ("lr", "momentum", "weight_decay", "server_lr")
"""What a replicate may have of its own."""


@dataclass(frozen=True)
class Replicate:
    """A seed and an algorithm; rates that are None are the training's.

    Its results are those it would have alone, to rounding: others beside it change the order in
    which numbers are added up, and no draw.
    """

    algorithm: Algorithm
    seed: int = 0
    lr: float | None = None
    momentum: float | None = None
    weight_decay: float | None = None
    server_lr: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.algorithm, Algorithm):
            raise ValueError(
                "algorithm must be one of fairfl.sims.algorithms, an instance, got "
                f"{self.algorithm!r}"
            )
        whole("seed", self.seed, 0)
        if self.seed >= 1 << 63:
            raise ValueError(f"seed must be below 2^63, got {self.seed}")

    def rates(self, training: Training) -> tuple[float, float, float, float]:
        """lr, momentum, weight_decay and server_lr, its own or the training's."""
        lr, momentum, decay, server = (
            getattr(training, name) if getattr(self, name) is None else getattr(self, name)
            for name in RATES
        )
        check_rates(lr, momentum, decay, server)
        return lr, momentum, decay, server


def sweep(algorithms: Iterable[Algorithm], seeds: Sequence[int] = (0,)) -> list[Replicate]:
    """Every algorithm with every seed."""
    return [Replicate(algorithm, seed) for algorithm in algorithms for seed in seeds]
