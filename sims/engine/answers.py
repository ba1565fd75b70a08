"""What the servers make of a round's updates: all replicates' with as many waits for the device as
one's.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.engine.algorithm import Aggregate, Received, Round, Sum, ready
from fairfl.sims.engine.health import Dropped, Healed, Train, sound
from fairfl.sims.engine.task import Floats
from fairfl.sims.engine.transfers import brought


class Server(Protocol):
    """An algorithm, or its secure aggregation."""

    def ask(self, part: Received) -> Tensor | None: ...

    def server(self, received: Received) -> Aggregate | Sum: ...


@dataclass(eq=False)
class Trained:
    """One replicate's round after its clients have trained.

    ``train`` gives the updates, all at once if they are ``there``; ``received`` and ``aggregate``
    are what came back of the clients that are kept, and what the server made of it: None as long as
    it was not asked, and where nobody is left.
    """

    replicate: int
    server: Server
    round: Round
    train: Train
    healed: Healed
    room: int
    there: bool
    received: Received | None = field(default=None, init=False)
    aggregate: Aggregate | None = field(default=None, init=False)

    def receive(self, known: Floats | None = None) -> Received:
        """The round with the updates that are kept; all of them where what is asked is known."""
        keep, fields = self.healed.keep, Round.__dataclass_fields__
        some = self.round if keep.all() else self.round.among(keep)
        self.received = Received(
            **{name: getattr(some, name) for name in fields},
            arrivals=self.healed if known is None else self.train,
            room=self.room,
            ask=self.server.ask,
            known=known,
        )
        return self.received

    def answer_alone(self) -> None:
        """Ask the server, again as long as updates are left out."""
        while self.aggregate is None and self.healed.keep.any():
            with suppress(Dropped):
                _answer([(self, self.receive())])


def answer(trained: Sequence[Trained]) -> None:
    """Ask every server. Where an update is not finite, or they come in parts, one by one."""
    known = _looked_at([one for one in trained if one.there])
    for one in trained:
        if one not in known:
            one.answer_alone()
    _answer([(one, one.receive(asked)) for one, asked in known.items()])


def _looked_at(trained: Sequence[Trained]) -> dict[Trained, Floats]:
    """What the servers of those rounds ask for whose updates are all finite: one wait."""
    flags, asked = list[Tensor](), list[Tensor]()
    for one in trained:
        (updates,) = one.train()
        flags.append(torch.stack([sound(task) for task in updates]))
        found = one.server.ask(one.receive(np.zeros(0)))
        asked.append(flags[-1][:0] if found is None else found)
    numbers = brought([*flags, *asked])
    each = zip(trained, numbers[: len(flags)], numbers[len(flags) :], strict=True)
    return {one: own for one, fine, own in each if fine.all()}


def _answer(trained: Sequence[tuple[Trained, Received]]) -> None:
    """Ask the servers of updates that are there, or of one replicate's; sums are taken together."""
    sums = list[tuple[Trained, Sum]]()
    for one, received in trained:
        made = one.server.server(received)
        if isinstance(made, Aggregate) and made.step is None:
            weights = checked(made.weights, received, one.server)
            made = Sum(received, weights, partial(Aggregate, weights, made.state))
        if isinstance(made, Sum):
            sums.append((one, made))
        else:
            one.aggregate = made
    if len(trained) == 1:  # whose updates may come in parts
        for one, asked in sums:
            one.aggregate = asked.taken()
        return
    weights = [w(asked.received) if callable(w := asked.weights) else w for _, asked in sums]
    there = ready(weights, trained[0][1].params) if sums else []
    for (one, asked), own in zip(sums, there, strict=True):
        one.aggregate = asked.taken(own)


def checked(weights: Floats, received: Received, owner: object) -> Floats:
    """ValueError unless there is a finite weight of each update."""
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (len(received.clients),) or not np.isfinite(weights).all():
        raise ValueError(
            f"weights must be finite, one of each update received, got {weights!r} from {owner!r}"
        )
    return weights
