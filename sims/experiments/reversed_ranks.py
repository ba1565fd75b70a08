"""p-FedAvg in the order that its objective must not have: the largest weight on the smallest loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.engine.algorithm import Aggregate, Received


@dataclass(frozen=True)
class ReversedRanks(PFedAvg):
    """The rank weights, dealt out from the smallest loss; of no use but to see what published numbers come from.

    p-FFL, section 2.3, lets the weights "follow the opposite direction" of the sort order, which for losses is this
    one; section 3.2 means the other (claim pffl/sort-order). Not registered among the algorithms.
    """

    name: ClassVar[str] = ""

    def server(self, received: Received) -> Aggregate:
        losses = received.known_losses()
        return Aggregate(self.ranks.dual_weights(losses.max() - losses), received.state)
