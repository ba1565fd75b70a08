"""AFL with the average of its iterates, which is what its guarantee is about and q-FFL's table 2 reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.engine.algorithm import Aggregate, Received, State
from fairfl.sims.engine.task import Floats


@dataclass(frozen=True)
class AveragedAFL(AFL):
    """AFL that also keeps (w^1 + ... + w^T) / T, measured as every client's "personal" model; server_lr must be 1.

    Source: Mohri, Sivek and Suresh (ICML 2019), algorithm 1, last line. Not registered among the algorithms.
    """

    name: ClassVar[str] = ""

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        return {**super().start(clients, weights, params), "average": torch.zeros(clients, len(params)).to(params)}

    def server(self, received: Received) -> Aggregate:
        aggregate, t = super().server(received), received.number
        step = torch.from_numpy(aggregate.weights).to(received.updates) @ received.updates
        average = received.state["average"] * (t / (t + 1)) + (received.params + step) / (t + 1)
        return Aggregate(aggregate.weights, {**aggregate.state, "average": average})

    def personal(self, state: State) -> Tensor:
        return state["average"]
