"""Groups of clients that join during training, and may leave (dynamic participants, section 3)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairfl._support.checks import in_range, shown, whole
from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.draws.participation import Participation, smallest
from fairfl.sims.engine.task import Floats, Ints


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
