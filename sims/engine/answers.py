"""What a server receives of a round, without updates that are not finite, and its answer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from math import isfinite

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl._support.checks import instance
from fairfl.sims.engine.algorithm import Aggregate, Algorithm
from fairfl.sims.engine.round import Round
from fairfl.sims.engine.secure_sums import Summed
from fairfl.sims.engine.updates_in_blocks import Arrivals, Received


class NonFiniteUpdate(ArithmeticError):
    """A client's update or loss is NaN or infinite, and the policy is to stop."""


def finite(updates: Tensor) -> NDArray[np.bool_]:
    """Which rows (m,) hold neither NaN nor an infinity."""
    if isfinite(float(updates.sum())):  # then all do: one pass, no mask
        return np.ones(len(updates), dtype=bool)
    return torch.isfinite(updates).all(1).cpu().numpy()


def refuse(ids: NDArray[np.int64], round: int, what: str) -> None:
    """Raise, naming who and when."""
    told = ", ".join(str(int(k)) for k in ids[:5]) + (
        f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    )
    raise NonFiniteUpdate(
        f"the {what} of client {told} is NaN or infinite in round {round}: lower the learning "
        "rate, or set non_finite='drop'"
    )


def of_clients(train: Arrivals) -> Iterator[tuple[slice, tuple[Tensor, ...]]]:
    """The updates as they are trained, each task's (m', P), and whose they are."""
    first = 0
    for part in train():
        yield slice(first, first := first + len(part[0])), part


def checked(train: Arrivals, ids: NDArray[np.int64], round: int) -> Arrivals:
    """The updates as they are; NonFiniteUpdate names the first that are not finite."""

    def arrivals() -> Iterator[tuple[Tensor, ...]]:
        for rows, part in of_clients(train):
            fine = reduce(np.logical_and, map(finite, part))
            if not fine.all():
                refuse(ids[rows][~fine], round, "update")
            yield part

    return arrivals


def only(train: Arrivals, keep: NDArray[np.bool_]) -> Arrivals:
    """The updates of the clients to ``keep`` (k,)."""

    def arrivals() -> Iterator[tuple[Tensor, ...]]:
        for rows, part in of_clients(train):
            index = torch.from_numpy(np.flatnonzero(keep[rows])).to(part[0].device)
            if len(index):
                yield tuple(task[index] for task in part)

    return arrivals


def answer(
    server: Algorithm | Summed,
    round: Round,
    train: Arrivals,
    ids: NDArray[np.int64],
    *,
    drop: bool,
    room: int,
) -> tuple[Received, Aggregate] | None:
    """What came back, and what the server makes of it; None where nothing did.

    ``train`` gives the updates, as often as they are asked for. Those that are not finite stop the
    run; with ``drop`` one pass finds them, and they are left out.
    """
    if drop:
        fine = [reduce(np.logical_and, map(finite, part)) for part in train()]
        keep = np.concatenate(fine)
        if not keep.any():
            return None
        if not keep.all():
            round, train = round.among(keep), only(train, keep)
    else:
        train = checked(train, ids, round.number)
    received = Received(**round.fields(), arrivals=train, room=room)
    return received, _aggregate(server, received)


def _aggregate(server: Algorithm | Summed, received: Received) -> Aggregate:
    """What the server makes of the updates, with its step; ValueError unless each has a weight."""
    made = instance(f"server of {type(server).__name__}", server.server(received), Aggregate)
    weights = np.asarray(made.weights, dtype=np.float64)
    if weights.shape != received.clients.shape:
        raise ValueError(f"weights must be one of each update, got {weights!r} from {server!r}")
    step = received.total(weights) if made.step is None else made.step
    return Aggregate(weights, made.state, step)
