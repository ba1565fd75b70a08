"""Learning-rate schedules: a factor for every round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import cos, pi
from typing import ClassVar

from fairfl._support.checks import in_range, whole
from fairfl._support.registry import Named, Registry

SCHEDULES: Registry[type[Schedule]] = Registry("algorithms", __name__)
"""Schedules by the names that files give them."""


class Schedule(Named, ABC):
    """A factor >= 0 on a learning rate, by round."""

    registry = SCHEDULES

    @abstractmethod
    def __call__(self, round: int, rounds: int) -> float:
        """The factor in round 0 <= round < rounds."""


@dataclass(frozen=True)
class Constant(Schedule):
    """Always 1."""

    name: ClassVar[str] = "constant"

    def __call__(self, round: int, rounds: int) -> float:
        return 1.0


@dataclass(frozen=True)
class Steps(Schedule):
    """``factor`` to the power of the number of ``milestones`` (rounds) passed."""

    milestones: tuple[int, ...]
    factor: float = 0.1
    name: ClassVar[str] = "steps"

    def __post_init__(self) -> None:
        for k, milestone in enumerate(self.milestones):
            whole(f"milestones[{k}]", milestone, 1)
        in_range("factor", self.factor, 0.0, 1.0, open_low=True)

    def __call__(self, round: int, rounds: int) -> float:
        return self.factor ** sum(round >= milestone for milestone in self.milestones)


@dataclass(frozen=True)
class Exponential(Schedule):
    """``factor`` to the power of the round."""

    factor: float
    name: ClassVar[str] = "exponential"

    def __post_init__(self) -> None:
        in_range("factor", self.factor, 0.0, 1.0, open_low=True)

    def __call__(self, round: int, rounds: int) -> float:
        return self.factor**round


@dataclass(frozen=True)
class Polynomial(Schedule):
    """(1 + round / scale)^(-power): with power 1 or 1/2 the classical decays."""

    power: float = 0.5
    scale: float = 1.0
    name: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        in_range("power", self.power, 0.0, 1e300)
        in_range("scale", self.scale, 0.0, 1e300, open_low=True)

    def __call__(self, round: int, rounds: int) -> float:
        return (1 + round / self.scale) ** -self.power


@dataclass(frozen=True)
class Cosine(Schedule):
    """From 1 to ``last`` along half a cosine over the run's rounds."""

    last: float = 0.0
    name: ClassVar[str] = "cosine"

    def __post_init__(self) -> None:
        in_range("last", self.last, 0.0, 1.0)

    def __call__(self, round: int, rounds: int) -> float:
        return self.last + (1 - self.last) * (1 + cos(pi * round / rounds)) / 2
