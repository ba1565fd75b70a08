"""Gaussian federations: FedFB's figures 5 and 9, and random ones."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np

from fairfl._support.checks import Array, whole
from fairfl.theory.populations.eta import Logistic
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import MEANS_5, MEANS_9, SHARES_5, SHARES_9
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.laws import Normal

PANELS = "abcd"
FIGURES = {"5": (MEANS_5, SHARES_5), "9": (MEANS_9, SHARES_9)}
"""FedFB's: two clients, and three; means, and shares of each panel."""


@dataclass(frozen=True)
class World:
    """A federation of normal laws x | a, i ~ N(mean[i][a], sd[i][a]²) and logistic η, as numbers:
    mean and sd (I, A); q (I,) P(a = 1 | i) of two groups, of A groups the shares (I, A); weight
    (I,) shares of the people. Each attribute but the name has an entry for each client.

    Errors: ValueError where one has another number of entries than q; as ``Federation.normal``,
    when ``federation`` is asked for.
    """

    name: str
    mean: tuple[tuple[float, ...], ...]
    sd: tuple[tuple[float, ...], ...]
    q: tuple[float, ...] | tuple[tuple[float, ...], ...]
    weight: tuple[float, ...]

    @classmethod
    def of(cls, name: str, federation: Federation) -> World:
        """The numbers of a federation; ValueError unless its laws are normal and η is logistic."""
        laws, share = _normal_laws(federation), federation.share
        mean = tuple(tuple(float(law.mean) for law in client_laws) for client_laws in laws)
        sd = tuple(tuple(float(law.sd) for law in client_laws) for client_laws in laws)
        q = tuple(share[:, 1].tolist()) if share.shape[1] == 2 else _rows(share)
        return cls(name, mean, sd, q, tuple(federation.weight.tolist()))

    def __post_init__(self) -> None:
        for name, values in self._by_client().items():
            if len(values) != len(self.q):
                raise ValueError(
                    f"{name} must have an entry a client, {len(self.q)}, got {len(values)}"
                )

    def _by_client(self) -> dict[str, tuple[object, ...]]:
        """The attributes that have entries, one per client."""
        return {field.name: getattr(self, field.name) for field in fields(self)[1:]}

    @property
    def clients(self) -> int:
        """I."""
        return len(self.q)

    @property
    def groups(self) -> int:
        """A."""
        return len(self.mean[0])

    @property
    def shares(self) -> Array:
        """(I, A) P(a | i)."""
        q = np.array(self.q)
        return q if q.ndim == 2 else np.stack([1 - q, q], axis=1)

    @property
    def federation(self) -> Federation:
        """The federation, made once."""
        return _federation(self)

    def alone(self, client: int) -> World:
        """The world of a single client."""
        numbers = {name: (values[client],) for name, values in self._by_client().items()}
        numbers["weight"] = (1.0,)
        return replace(self, name=f"{self.name}, client {client}", **numbers)


def in_words(name: str) -> str:
    """A world's name in pictures: "figure 5(a)", "random federation 3"; another name as it is."""
    if (panel := re.fullmatch(r"figure-(\d)([a-d])(.*)", name)) is not None:
        return f"figure {panel[1]}({panel[2]}){panel[3]}"
    return re.sub(r"^random-(\d+)", r"random federation \1", name)


def random_world(seed: int, clients: int | None = None, groups: int = 2) -> World:
    """Means within 3 of 0, deviations 0.5 to 2, weights up to 3 to 1; by default 2 to 4 clients.

    Of two groups q is in 0.2 to 0.8; of more no group is over four times as large as another, and
    ``clients`` must be given.
    """
    several = whole("groups", groups, 2) > 2
    rng = np.random.default_rng([whole("seed", seed, 0), 5077])
    is_random = clients is None and not several
    count = int(rng.integers(2, 5)) if is_random else whole("clients", clients, 1)
    mean = rng.uniform(-3, 3, (count, groups)).round(3)
    sd = np.exp(rng.uniform(np.log(0.5), np.log(2), (count, groups))).round(3)
    q = rng.uniform(0.2, 0.8, (count, groups) if several else count).round(3)
    weight = rng.uniform(1, 3, count).round(3)
    if several:
        q = q / q.sum(axis=1, keepdims=True)
    name = f"random-{seed}" + f"-{count}" * (not is_random) + f"-{groups}" * several
    share = tuple((weight / weight.sum()).tolist())
    return World(name, _rows(mean), _rows(sd), _rows(q) if several else tuple(q.tolist()), share)


def by_name(name: str) -> World:
    """The world that has this name; ValueError for another."""
    kind, _, identifier = name.partition("-")
    if kind == "figure" and identifier[:1] in FIGURES and identifier[1:] in tuple(PANELS):
        mean, shares = FIGURES[identifier[0]]
        q, count = shares[PANELS.index(identifier[1:])], len(mean)
        return World(name, mean, ((1.0, 1.0),) * count, q, (1 / count,) * count)
    numbers = identifier.split("-")
    if kind == "random" and len(numbers) <= 3 and all(number.isdigit() for number in numbers):
        return random_world(*map(int, numbers))
    raise ValueError(
        "world must be 'figure-5a' to 'figure-9d', 'random-SEED', 'random-SEED-CLIENTS' or "
        f"'random-SEED-CLIENTS-GROUPS', got {name!r}"
    )


def _normal_laws(federation: Federation) -> list[list[Normal]]:
    """The laws by client and group; ValueError unless they are normal and η is logistic."""
    model = federation.model
    if not isinstance(model, FiniteModel):
        laws = [[law for law in laws if isinstance(law, Normal)] for laws in model.laws]
        is_logistic = all(eta == Logistic() for etas in model.etas for eta in etas)
        if is_logistic and sum(map(len, laws)) == federation.share.size:
            return laws
    raise ValueError("clients must have normal laws and eta = 1 / (1 + exp(-x)) here")


def _rows(values: Array) -> tuple[tuple[float, ...], ...]:
    """The rows of a matrix."""
    return tuple(map(tuple, values.tolist()))


@lru_cache(maxsize=64)
def _federation(world: World) -> Federation:
    return Federation.normal(world.mean, np.array(world.sd), world.q, world.weight)
