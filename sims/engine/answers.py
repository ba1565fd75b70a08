"""What the servers make of a round's updates, with as many waits for all replicates as for one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
from torch import Tensor

from fairfl._support.checks import instance
from fairfl.sims.engine.algorithm import Aggregate, Arrivals, Received, Round, Sum, ready
from fairfl.sims.engine.health import Dropped, Healed
from fairfl.sims.engine.task import Floats
from fairfl.sims.engine.transfers import brought

FIELDS = tuple(Round.__dataclass_fields__)


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
    train: Arrivals
    healed: Healed
    room: int
    there: bool
    received: Received | None = field(default=None, init=False)
    aggregate: Aggregate | None = field(default=None, init=False)

    def receive(self, arrivals: Arrivals | None = None) -> Received:
        """The round with the updates that are kept, or with those that are given."""
        keep = self.healed.keep
        some = self.round if keep.all() else self.round.among(keep)
        self.received = Received(
            **{name: getattr(some, name) for name in FIELDS},
            arrivals=arrivals or self.healed,
            room=self.room,
            ask=self.server.ask,
        )
        return self.received

    def answer_alone(self) -> None:
        """Ask the server, again as long as updates are left out."""
        while self.aggregate is None and self.healed.keep.any():
            with suppress(Dropped):
                _answer([(self, self.receive())])


def answer(trained: Sequence[Trained]) -> None:
    """Ask every server. Where an update is not finite, or they come in parts, one by one."""
    sound = _sound([one for one in trained if one.there])
    for one in trained:
        if one not in sound:
            one.answer_alone()
    _answer(list(sound.items()))


def _sound(trained: Sequence[Trained]) -> dict[Trained, Received]:
    """The rounds whose updates are all finite, with what their servers ask for: one wait."""
    given = [one.receive(one.train) for one in trained]
    tasks = [(received.updates, *received.further) for received in given]
    # a row with a finite sum holds no NaN and no infinity
    sums = [updates.sum(1) for own in tasks for updates in own]
    asked = [one.server.ask(received) for one, received in zip(trained, given, strict=True)]
    numbers = iter(brought([*sums, *(found for found in asked if found is not None)]))
    good = [all([np.isfinite(next(numbers)).all() for _ in own]) for own in tasks]
    known = [np.zeros(0) if found is None else next(numbers) for found in asked]
    every = zip(trained, given, good, known, strict=True)
    return {one: received.known(numbers) for one, received, fine, numbers in every if fine}


def _answer(trained: Sequence[tuple[Trained, Received]]) -> None:
    """Ask the servers of updates that are there, or of one replicate's; sums are taken together."""
    sums = list[tuple[Trained, Sum]]()
    for one, received in trained:
        made = one.server.server(received)
        if isinstance(made, Aggregate):
            weights = checked(made.weights, received, one.server)
            if made.step is None:
                made = Sum(received, weights, partial(Aggregate, weights, made.state))
        if isinstance(made, Sum):
            sums.append((one, made))
        else:
            one.aggregate = instance(f"server of {type(one.server).__name__}", made, Aggregate)
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
