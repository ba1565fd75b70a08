"""What a server receives of a round, without updates that are not finite, and its answer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl._support.checks import instance
from fairfl.sims.engine.algorithm import Aggregate, Algorithm
from fairfl.sims.engine.round import Round
from fairfl.sims.engine.secure_sums import Summed
from fairfl.sims.engine.updates_in_blocks import Arrivals, Received, sound


class NonFiniteUpdate(ArithmeticError):
    """A client's update or loss is NaN or infinite, and the policy is to stop."""


def finite(*tasks: Tensor) -> NDArray[np.bool_]:
    """Which rows (m,) hold neither NaN nor an infinity in any of the updates (m, P)."""
    is_finite = (torch.isfinite(updates).all(1).cpu().numpy() for updates in tasks)
    return reduce(np.logical_and, is_finite)


def refuse(ids: NDArray[np.int64], round: int, what: str) -> None:
    """Raise, naming who and when."""
    rest = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    names = ", ".join(str(int(k)) for k in ids[:5]) + rest
    raise NonFiniteUpdate(
        f"the {what} of client {names} is NaN or infinite in round {round}: lower the learning "
        "rate, or set non_finite='drop'"
    )


def kept(train: Arrivals, ids: NDArray[np.int64], round: int, *, drop: bool) -> Arrivals:
    """The finite updates of the clients ``ids`` (k,); unless the others are to ``drop``,
    NonFiniteUpdate names them.
    """

    def arrivals() -> Iterator[tuple[Tensor, ...]]:
        first = 0
        for part in train():
            part_ids = ids[first : first + len(part[0])]
            first += len(part_ids)
            if all(map(sound, part)):
                yield part
                continue
            is_finite = finite(*part)
            if not drop:
                refuse(part_ids[~is_finite], round, "update")
            if is_finite.any():
                index = torch.from_numpy(np.flatnonzero(is_finite)).to(part[0].device)
                yield tuple(task[index] for task in part)

    return arrivals


def answer(
    server: Algorithm | Summed,
    round: Round,
    train: Arrivals,
    ids: NDArray[np.int64],
    steps: NDArray[np.int64],
    *,
    drop: bool,
    room: int,
) -> tuple[Received, Aggregate] | None:
    """What came back, and what the server makes of it; None where nothing did.

    ``train`` gives the updates, as often as they are asked for. Those that are not finite stop the
    run; with ``drop`` one pass finds them, and they are left out.
    """
    arrivals = kept(train, ids, round.number, drop=drop)
    received = Received(**round.fields(), steps=steps, arrivals=arrivals, room=room)
    if drop:
        fine = np.concatenate([finite(*part) for part in train()])
        if not fine.any():
            return None
        received = received if fine.all() else received.among(fine)
    return received, _aggregate(server, received)


def _aggregate(server: Algorithm | Summed, received: Received) -> Aggregate:
    """What the server makes of the updates, with its step; ValueError unless each has a weight."""
    aggregate = instance(f"server of {type(server).__name__}", server.server(received), Aggregate)
    weights = np.asarray(aggregate.weights, dtype=np.float64)
    if weights.shape != received.clients.shape:
        raise ValueError(f"weights must be one of each update, got {weights!r} from {server!r}")
    step = received.total(weights) if aggregate.step is None else aggregate.step
    return Aggregate(weights, aggregate.state, step)
