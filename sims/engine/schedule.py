"""Learning-rate schedules: a factor for every round."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi
from typing import Protocol

from fairfl._support.checks import in_range, whole


class Schedule(Protocol):
    """A factor >= 0 on the local learning rate, by round."""

    def __call__(self, round: int, rounds: int) -> float:
        """The factor in round 0 <= round < rounds."""
        ...


@dataclass(frozen=True)
class Constant:
    """Always 1."""

    def __call__(self, round: int, rounds: int) -> float:
        return 1.0


@dataclass(frozen=True)
class Steps:
    """``factor`` to the power of the number of ``milestones`` (rounds) passed."""

    milestones: tuple[int, ...]
    factor: float = 0.1

    def __post_init__(self) -> None:
        for k, milestone in enumerate(self.milestones):
            whole(f"milestones[{k}]", milestone, 1)
        in_range("factor", self.factor, 0.0, 1.0, open_low=True)

    def __call__(self, round: int, rounds: int) -> float:
        return self.factor ** sum(round >= milestone for milestone in self.milestones)


@dataclass(frozen=True)
class Exponential:
    """``factor`` to the power of the round."""

    factor: float

    def __post_init__(self) -> None:
        in_range("factor", self.factor, 0.0, 1.0, open_low=True)

    def __call__(self, round: int, rounds: int) -> float:
        return self.factor**round


@dataclass(frozen=True)
class Polynomial:
    """(1 + round / scale)^(-power): with power 1 or 1/2 the classical decays of stochastic
    approximation.
    """

    power: float = 0.5
    scale: float = 1.0

    def __post_init__(self) -> None:
        in_range("power", self.power, 0.0, 1e300)
        in_range("scale", self.scale, 0.0, 1e300, open_low=True)

    def __call__(self, round: int, rounds: int) -> float:
        return (1 + round / self.scale) ** -self.power


@dataclass(frozen=True)
class Cosine:
    """From 1 to ``last`` along half a cosine over the run's rounds."""

    last: float = 0.0

    def __post_init__(self) -> None:
        in_range("last", self.last, 0.0, 1.0)

    def __call__(self, round: int, rounds: int) -> float:
        return self.last + (1 - self.last) * (1 + cos(pi * round / rounds)) / 2


SCHEDULES: dict[str, type[Schedule]] = {
    "constant": Constant,
    "steps": Steps,
    "exponential": Exponential,
    "polynomial": Polynomial,
    "cosine": Cosine,
}
"""Schedules by the names that files give them: dataclasses whose fields are their parameters."""
