"""Participation in a round: sampling, dropouts and stragglers, drawn by counter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairfl._support.checks import in_range, shown, whole
from fairfl._support.registry import Named, Registry
from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.task import Floats, Ints

PARTICIPATIONS: Registry[type[Participation]] = Registry("algorithms", "fairfl.sims.engine.draws")
"""Participations by the names that files give them."""


class Participation(Named, ABC):
    """Chooses the clients of a round, as a function of the seed, the round and the clients' ids."""

    registry = PARTICIPATIONS

    @abstractmethod
    def choose(self, seed: int, round: int, ids: Ints, p: Floats) -> tuple[Ints, Floats]:
        """Positions drawn (m,), rising, one for each draw, and weights (m,) > 0 with sum one."""

    def check(self, clients: int, rounds: int) -> None:
        """ValueError for numbers of clients or rounds that do not fit."""
        whole("clients", clients, 1)
        whole("rounds", rounds, 1)

    def joined(self, round: int) -> tuple[int, ...]:
        """The rounds up to this one in which clients joined, rising; (0,) if nobody joins."""
        return (0,)


@dataclass(frozen=True)
class Everyone(Participation):
    """All clients in every round, with weights p_k."""

    name: ClassVar[str] = "everyone"

    def choose(self, seed: int, round: int, ids: Ints, p: Floats) -> tuple[Ints, Floats]:
        return np.arange(len(ids)), p


@dataclass(frozen=True)
class Uniform(Participation):
    """``count`` clients, every set of them equally likely; weights p_k / sum of p over them
    (McMahan et al. 2017).

    For equal p_k the mean of their updates is unbiased for that of all; for others it is a ratio,
    and is not: ``ByWeight`` with replacement is.
    """

    count: int
    name: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        whole("count", self.count, 1)

    def check(self, clients: int, rounds: int) -> None:
        whole("count", self.count, 1, clients)

    def choose(self, seed: int, round: int, ids: Ints, p: Floats) -> tuple[Ints, Floats]:
        keys = counter.key(seed, counter.PARTICIPATION, round, ids)
        positions = smallest(self.count, keys, ids)
        return positions, p[positions] / p[positions].sum()


@dataclass(frozen=True)
class ByWeight(Participation):
    """``count`` clients drawn by p_k, their updates weighed alike (q-FFL, algorithm 1; Li et al.
    2020).

    With replacement each draw is client k with probability p_k; a client drawn j times trains
    once and counts as j. Without, the draws are successive among the remaining clients (the
    ``count`` smallest of independent Exponential(p_k) times, Efraimidis and Spirakis 2006), and
    each has the weight 1 / count: then the mean is biased for the p-weighted one.
    """

    count: int
    replace: bool = True
    name: ClassVar[str] = "by_weight"

    def __post_init__(self) -> None:
        whole("count", self.count, 1)

    def check(self, clients: int, rounds: int) -> None:
        if not self.replace:
            whole("count", self.count, 1, clients)

    def choose(self, seed: int, round: int, ids: Ints, p: Floats) -> tuple[Ints, Floats]:
        if not self.replace:
            keys = counter.key(seed, counter.PARTICIPATION, round, ids)
            positions = smallest(self.count, -np.log(counter.uniforms(keys)) / p, ids)
            return positions, np.full(len(positions), 1 / len(positions))
        by_id = np.argsort(ids)  # so that a draw means the same client however they are listed
        edges = np.cumsum(p[by_id])
        keys = counter.key(seed, counter.PARTICIPATION, round, np.arange(self.count))
        rank = np.searchsorted(edges, counter.uniforms(keys) * edges[-1], side="right")
        return np.sort(by_id[np.minimum(rank, len(ids) - 1)]), np.full(self.count, 1 / self.count)


@dataclass(frozen=True)
class Joining(Participation):
    """Group s takes part from round ``joins[s]`` on, and up to the round before ``leaves[s]``.

    Clients present in a round have weights p_k, scaled to sum one. A round without clients changes
    nothing.

    Parameters
    ----------
    joins : t_s, from 0, below the number of rounds, in any order; groups may join together.
    leaves : above the group's t_s; 0 for a group that stays, as all do by default.
    groups : the group of each client (K,), codes of ``joins``. By default clients are divided in
        their order, evenly: the first K mod S groups have one more.
    share : in (0, 1]; C: max(C n, 1) of the n clients present, rounded down, every set of them
        equally likely.

    Errors: ValueError for anything else; when a simulation starts, for another number of clients,
    and for a t_s that the training never reaches.
    Source: Fairness of Federated Learning with Dynamic Participants, section 3 and algorithms 1 to
    4, line 3, whose groups never leave.
    """

    joins: tuple[int, ...]
    leaves: tuple[int, ...] | None = None
    groups: tuple[int, ...] | None = None
    share: float = 1.0
    name: ClassVar[str] = "joining"

    def __post_init__(self) -> None:
        for name in ("joins", "leaves", "groups"):
            values = getattr(self, name)
            if not isinstance(values, tuple) and (name == "joins" or values is not None):
                raise ValueError(f"{name} must be a tuple of whole numbers, got {shown(values)}")
            for s, value in enumerate(values or ()):
                whole(f"{name}[{s}]", value, 0)
        if not self.joins:
            raise ValueError("joins must name the round of at least one group, got ()")
        if self.leaves is not None:
            if len(self.leaves) != len(self.joins):
                raise ValueError(
                    f"leaves must be {len(self.joins)}, one for each group, got {self.leaves}"
                )
            for s, (joined, left) in enumerate(zip(self.joins, self.leaves, strict=True)):
                if 0 < left <= joined:
                    raise ValueError(f"leaves[{s}] must be 0 or above {joined}, got {left}")
        if self.groups is not None and set(self.groups) != set(range(len(self.joins))):
            raise ValueError(
                f"groups must hold each code from 0 to {len(self.joins) - 1}, got {self.groups}"
            )
        in_range("share", self.share, 0.0, 1.0, open_low=True)

    def check(self, clients: int, rounds: int) -> None:
        if self.groups is not None and len(self.groups) != clients:
            raise ValueError(
                f"groups must be {clients}, one for each client, got {len(self.groups)}"
            )
        if clients < len(self.joins):
            raise ValueError(
                f"joins must be of at most as many groups as clients, {clients}, got "
                f"{len(self.joins)}"
            )
        if max(self.joins) >= rounds:
            raise ValueError(f"joins must be below the {rounds} rounds, got {max(self.joins)}")

    def members(self, clients: int) -> Ints:
        """The group of each client (K,)."""
        if self.groups is not None:
            return np.array(self.groups, dtype=np.int64)
        size, extra = divmod(clients, len(self.joins))
        sizes = [size + (s < extra) for s in range(len(self.joins))]
        return np.repeat(np.arange(len(sizes)), sizes)

    def joined(self, round: int) -> tuple[int, ...]:
        return tuple(sorted({t for t in self.joins if t <= round}))

    def choose(self, seed: int, round: int, ids: Ints, p: Floats) -> tuple[Ints, Floats]:
        joins = np.array(self.joins)
        leaves = np.array(self.leaves or (0,) * len(joins))
        is_present = (joins <= round) & ((leaves == 0) | (round < leaves))
        present = np.flatnonzero(is_present[self.members(len(ids))])
        if self.share < 1 and len(present):
            keys = counter.key(seed, counter.PARTICIPATION, round, ids[present])
            count = max(1, int(self.share * len(present) + 1e-9))
            present = present[smallest(count, keys, ids[present])]
        return present, p[present] / p[present].sum() if len(present) else p[present]


def smallest(count: int, keys: Floats | counter.Words, ids: Ints) -> Ints:
    """Positions of the ``count`` smallest keys, rising; equal keys go by id."""
    threshold = np.partition(keys, count - 1)[count - 1]
    candidates = np.flatnonzero(keys <= threshold)
    return np.sort(candidates[np.lexsort((ids[candidates], keys[candidates]))[:count]])


def merged(positions: Ints, weights: Floats) -> tuple[Ints, Floats, Ints]:
    """Positions of the clients (k,), rising, sums of weights, and how often each is drawn."""
    clients, draws = positions.view(), np.ones(len(positions), np.int64)
    if (positions[1:] <= positions[:-1]).any():
        clients, draw_client, draws = np.unique(positions, return_inverse=True, return_counts=True)
        weights = np.bincount(draw_client, weights).astype(np.float64)
    clients.flags.writeable = draws.flags.writeable = False  # others may have the same array
    return clients, weights, draws


def dropouts(rate: float, seed: int, round: int, ids: Ints) -> NDArray[np.bool_]:
    """Whether each client's update is lost (m,), with probability ``rate``."""
    return counter.uniforms(counter.key(seed, counter.DROPOUT, round, ids)) < rate


def efforts(rate: float, seed: int, round: int, ids: Ints) -> Floats:
    """The share of its local steps that each client does (m,): 1, or of a straggler in (0, 1)."""
    slow = counter.uniforms(counter.key(seed, counter.STRAGGLER, round, ids)) < rate
    return np.where(slow, counter.uniforms(counter.key(seed, counter.EFFORT, round, ids)), 1.0)
