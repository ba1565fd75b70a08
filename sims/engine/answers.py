"""What a server receives of a round, without updates that are not finite, and its answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial, reduce
from math import isfinite
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.algorithm import Aggregate, Arrivals, Received, Round, Sum
from fairfl.sims.engine.settings import Computing
from fairfl.sims.engine.task import Floats


class NonFiniteUpdate(ArithmeticError):
    """A client's update or loss is NaN or infinite, and the policy is to stop."""


class Dropped(Exception):
    """An update that was to be left out came after others had been used: ask again."""


def heal(
    updates: Tensor, ids: NDArray[np.int64], round: int, computing: Computing, what: str = "update"
) -> tuple[NDArray[np.bool_], int]:
    """Which rows to keep (m,), and how many were not finite; "clip" changes them in place."""
    if isfinite(float(updates.sum())):  # then no number is NaN or infinite: one pass, no mask
        return np.ones(len(updates), dtype=bool), 0
    fine = torch.isfinite(updates).all(1).cpu().numpy()
    bad = np.flatnonzero(~fine)
    if len(bad) == 0 or computing.non_finite == "drop":
        return fine, len(bad)
    if computing.non_finite == "raise":
        refuse(ids[bad], round, what)
    limit = float(computing.clip_norm or 0.0)
    for row in bad:
        fixed = torch.nan_to_num(
            updates[row].to(torch.float64), nan=0.0, posinf=limit, neginf=-limit
        )
        fixed *= min(1.0, limit / max(float(fixed.norm()), 1e-300))
        updates[row] = fixed.to(updates.dtype)
    return np.ones(len(fine), dtype=bool), len(bad)


def refuse(ids: NDArray[np.int64], round: int, what: str) -> None:
    """Raise, naming who and when."""
    told = ", ".join(str(int(k)) for k in ids[:5]) + (
        f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    )
    raise NonFiniteUpdate(
        f"the {what} of client {told} is NaN or infinite in round {round}: lower the learning "
        "rate, "
        "or set non_finite='drop' or 'clip'"
    )


class Healed:
    """A round's updates as they come, some clients at a time, each task's (m', P), with what the
    policy makes of those that are not finite.

    ``train`` gives the parts, as often as they are asked for. ``bad`` counts the updates that were
    not finite; ``keep`` says whose are looked at. Under "drop" all are at first: a pass that finds
    one that is not finite goes on to the end, leaves all such out, and raises ``Dropped``.
    """

    def __init__(
        self, train: Arrivals, ids: NDArray[np.int64], round: int, computing: Computing
    ) -> None:
        self.train, self.ids, self.round, self.computing = train, ids, round, computing
        self.keep, self.bad = np.ones(len(ids), dtype=bool), 0

    def __call__(self) -> Iterator[tuple[Tensor, ...]]:
        """The updates of the clients that are kept."""
        passed, everyone = self._passed(), self.keep.all()
        for rows, part, fine in passed:
            if everyone and fine.all():
                yield part
                continue
            keep = self.keep[rows]
            if not fine[keep].all():
                for some, good in [(rows, fine), *((at, ok) for at, _, ok in passed)]:
                    self.keep[some] &= good
                raise Dropped
            if keep.any():
                index = torch.from_numpy(np.flatnonzero(keep)).to(part[0].device)
                yield tuple(task[index] for task in part)

    def _passed(self) -> Iterator[tuple[slice, tuple[Tensor, ...], NDArray[np.bool_]]]:
        """The parts, healed, and which of their rows may be kept."""
        first, counts = 0, list[list[int]]()
        for part in self.train():
            rows = slice(first, first := first + len(part[0]))
            ids = self.ids[rows]
            found = [heal(task, ids, self.round, self.computing) for task in part]
            counts.append([count for _, count in found])
            yield rows, part, reduce(np.logical_and, [fine for fine, _ in found])
        # of the task that has most
        self.bad = max(self.bad, *(sum(task) for task in zip(*counts, strict=True)))


class Server(Protocol):
    """An algorithm, or its secure aggregation."""

    def ask(self, part: Received) -> Tensor | None: ...

    def server(self, received: Received) -> Aggregate | Sum: ...


def answer(
    server: Server, round: Round, healed: Healed, room: int
) -> tuple[Received, Aggregate] | None:
    """What came back of the clients that are kept, and what the server makes of it; it is asked
    again as long as updates are left out. None where nobody is left.
    """
    while healed.keep.any():
        some = round if healed.keep.all() else round.among(healed.keep)
        received = Received(**some.fields(), arrivals=healed, room=room, ask=server.ask)
        with suppress(Dropped):
            return received, _aggregate(server, received)
    return None


def _aggregate(server: Server, received: Received) -> Aggregate:
    """ValueError unless there is a finite weight of each update."""
    made = server.server(received)
    if isinstance(made, Aggregate):
        weights = checked(made.weights, received, server)
        if made.step is not None:
            return made
        made = Sum(received, weights, partial(Aggregate, weights, made.state))
    return made.taken()


def checked(weights: Floats, received: Received, owner: object) -> Floats:
    """ValueError unless there is a finite weight of each update."""
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (len(received.clients),) or not np.isfinite(weights).all():
        raise ValueError(
            f"weights must be finite, one of each update received, got {weights!r} from {owner!r}"
        )
    return weights
