"""p-FedAvg in the order that its objective must not have: the largest weight on the smallest loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.engine.task import Floats


@dataclass(frozen=True)
class ReversedRanks(PFedAvg):
    """The rank weights, dealt out from the smallest loss; of no use but to see what published numbers come from.

    p-FFL, section 2.3, lets the weights "follow the opposite direction" of the sort order, which for losses is this
    one; section 3.2 means the other (claim pffl/sort-order). Not registered among the algorithms.
    """

    name: ClassVar[str] = ""

    def _weights(self, losses: Floats, p: Floats) -> Floats:
        return super()._weights(losses.max() - losses, p)
