"""Gaussian federations by name: FedFB's figures 5 and 9, and others drawn at random. No torch here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fairfl.theory.checks import whole
from fairfl.theory.federation import Federation

MEANS_5, MEANS_9 = ((3, 5), (1, -1)), ((3, 5), (1, -1), (1, 2))
PANELS = "abcd"
OUTER = ((0.5, 0.5), (0.4, 0.6), (0.3, 0.7), (0.2, 0.8))
"""P(a = 1 | i) of the first two clients, by panel; figure 9's third has 0.5."""


@dataclass(frozen=True)
class World:
    """A federation of normal laws x | a, i ~ N(mean[i][a], sd[i][a]²) and logistic η, as numbers.

    Attributes
    ----------
    name : what tables and folders call it.
    mean, sd : (I, 2), in the unit of x.
    q : (I,) P(a = 1 | i).
    weight : (I,) shares of the people.

    Errors: as ``Federation.normal``, when ``federation`` is asked for.
    """

    name: str
    mean: tuple[tuple[float, ...], ...]
    sd: tuple[tuple[float, ...], ...]
    q: tuple[float, ...]
    weight: tuple[float, ...]

    @property
    def clients(self) -> int:
        """I."""
        return len(self.q)

    @property
    def federation(self) -> Federation:
        """The federation, made once."""
        return _federation(self)

    def alone(self, client: int) -> World:
        """One of the clients by itself."""
        i = client
        return World(f"{self.name}, client {i}", self.mean[i : i + 1], self.sd[i : i + 1], self.q[i : i + 1], (1.0,))

    def to_json(self) -> dict[str, Any]:
        """The numbers as JSON has them."""
        return {name: getattr(self, name) for name in ("name", "mean", "sd", "q", "weight")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> World:
        """The inverse of ``to_json``."""
        q, weight = (tuple(float(v) for v in data[name]) for name in ("q", "weight"))
        return cls(str(data["name"]), _pairs(data["mean"]), _pairs(data["sd"]), q, weight)


def in_words(name: str) -> str:
    """What pictures call a world: "figure 5(a)", "random federation 3"; another name as it is."""
    if (panel := re.fullmatch(r"figure-(\d)([a-d])(.*)", name)) is not None:
        return f"figure {panel[1]}({panel[2]}){panel[3]}"
    return re.sub(r"^random-(\d+)", r"random federation \1", name)


def figure_5(panel: str) -> World:
    """Panel "a" to "d" of FedFB's figure 5: two clients."""
    return _equal(f"figure-5{panel}", MEANS_5, OUTER[PANELS.index(panel)])


def figure_9(panel: str) -> World:
    """Panel "a" to "d" of FedFB's figure 9: three clients."""
    first, second = OUTER[PANELS.index(panel)]
    return _equal(f"figure-9{panel}", MEANS_9, (first, 0.5, second))


def random_world(seed: int, clients: int | None = None) -> World:
    """Means within 3 of 0, deviations 0.5 to 2, q in 0.2 to 0.8, weights up to 3 to 1; by default 2 to 4 clients."""
    rng = np.random.default_rng([whole("seed", seed, 0), 5077])
    count = int(rng.integers(2, 5)) if clients is None else whole("clients", clients, 1)
    mean, sd = rng.uniform(-3, 3, (count, 2)).round(3), np.exp(rng.uniform(np.log(0.5), np.log(2), (count, 2))).round(3)
    q, weight = rng.uniform(0.2, 0.8, count).round(3), rng.uniform(1, 3, count).round(3)
    share = (weight / weight.sum()).tolist()
    name = f"random-{seed}" + ("" if clients is None else f"-{clients}")
    return World(name, _pairs(mean.tolist()), _pairs(sd.tolist()), tuple(q.tolist()), tuple(share))


def by_name(name: str) -> World:
    """The world that has this name; ValueError for another."""
    figure, _, rest = name.partition("-")
    if figure == "figure" and rest[:1] in ("5", "9") and rest[1:] in tuple(PANELS):
        return (figure_5 if rest[0] == "5" else figure_9)(rest[1:])
    numbers = rest.split("-")
    if figure == "random" and len(numbers) <= 2 and all(number.isdigit() for number in numbers):
        return random_world(*map(int, numbers))
    raise ValueError(f"world must be 'figure-5a' to 'figure-9d', 'random-SEED' or 'random-SEED-CLIENTS', got {name!r}")


def _pairs(table: Iterable[Iterable[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(v) for v in row) for row in table)


def _equal(name: str, mean: tuple[tuple[int, ...], ...], q: tuple[float, ...]) -> World:
    count = len(q)
    return World(name, _pairs(mean), ((1.0, 1.0),) * count, q, (1 / count,) * count)


@lru_cache(maxsize=64)
def _federation(world: World) -> Federation:
    return Federation.normal(world.mean, np.array(world.sd), world.q, world.weight)
