"""The server's part of a round: it receives the finite updates and takes its step."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial, reduce

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl._support.checks import instance
from fairfl.sims.engine.algorithm import Aggregate, Algorithm
from fairfl.sims.engine.secure_sums import Summed
from fairfl.sims.engine.task import sound
from fairfl.sims.engine.updates_in_blocks import Arrivals, Received


class NonFiniteUpdate(ArithmeticError):
    """A client's update or loss is NaN or infinite, and the policy is to stop."""


def finite(*tasks: Tensor) -> NDArray[np.bool_]:
    """Which rows (m,) hold neither NaN nor an infinity in any of the updates (m, P)."""
    is_finite = (torch.isfinite(updates).all(1).cpu().numpy() for updates in tasks)
    return reduce(np.logical_and, is_finite)


def refuse(ids: NDArray[np.int64], round: int, quantity: str) -> None:
    """Raise NonFiniteUpdate with the clients' ids and the round."""
    more_note = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    names = ", ".join(str(int(k)) for k in ids[:5]) + more_note
    raise NonFiniteUpdate(
        f"the {quantity} of client {names} is NaN or infinite in round {round}: lower the learning "
        "rate, or set non_finite='drop'"
    )


def finite_arrivals(
    train: Arrivals, ids: NDArray[np.int64], round: int, *, drop: bool
) -> Iterator[tuple[Tensor, ...]]:
    """The finite updates of the clients ``ids`` (k,). Updates that are not finite are left out with
    ``drop``; else NonFiniteUpdate names their clients.
    """
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


def server_step(
    server: Algorithm | Summed, received: Received, ids: NDArray[np.int64], *, drop: bool
) -> tuple[Received, Aggregate] | None:
    """The updates received and the server's aggregate; None if no update is finite.

    An update that is not finite stops the run; with ``drop`` a first pass finds such updates, and
    they are left out.
    """
    train = received.arrivals
    arrivals = partial(finite_arrivals, train, ids, received.number, drop=drop)
    received = replace(received, arrivals=arrivals)
    if drop:
        is_finite = np.concatenate([finite(*part) for part in train()])
        if not is_finite.any():
            return None
        received = received if is_finite.all() else received.among(is_finite)
    return received, _aggregate(server, received)


def _aggregate(server: Algorithm | Summed, received: Received) -> Aggregate:
    """The server's aggregate, with its step; ValueError unless each update has a weight."""
    aggregate = instance(f"server of {type(server).__name__}", server.server(received), Aggregate)
    weights = np.asarray(aggregate.weights, dtype=np.float64)
    if weights.shape != received.clients.shape:
        raise ValueError(f"weights must be one of each update, got {weights!r} from {server!r}")
    step = received.total(weights) if aggregate.step is None else aggregate.step
    return Aggregate(weights, aggregate.state, step)
