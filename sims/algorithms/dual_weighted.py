"""FedAvg with the dual weights of any objective (PropFair, section 4)."""

from dataclasses import dataclass, field
from typing import ClassVar

from fairfl.sims.engine import Aggregate, Algorithm, Floats, Received
from fairfl.theory.aggregation import QFFL, Objective


@dataclass(frozen=True)
class DualWeighted(Algorithm):
    """Updates weighed by the dual weights of A at (F_k(w^t))_k, with the weights p_k of the clients
    that take part. A ``ConvexFunction`` has its own weights, and gets none.

    A client drawn j times counts as j arguments of A.

    The dual weights are the gradient of A, so with full gradients this is (sub)gradient descent on
    A(F(w)), with the learning rate of FedAvg. They need not sum to one (q-FFL: at most; PropFair:
    at least); ``normalize`` makes them. Errors: ValueError for an objective that carries client
    weights, and for losses outside its domain. Source: PropFair, section 4, eq. (14); the algorithm
    is ours.
    """

    objective: Objective = field(default_factory=lambda: QFFL(1.0))
    normalize: bool = False
    name: ClassVar[str] = "dual_weighted"
    needs_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.objective, Objective) or self.objective.client_weights is not None:
            raise ValueError(
                f"objective must be an Objective without client weights, got {self.objective!r}"
            )

    def server(self, received: Received) -> Aggregate:
        weights = received.over_draws(self._weights)
        return Aggregate(weights / weights.sum() if self.normalize else weights, received.state)

    def _weights(self, losses: Floats, p: Floats) -> Floats:
        is_weighted = self.objective.takes_client_weights and (p != p[0]).any()
        objective = self.objective.weighted(p) if is_weighted else self.objective
        return objective.dual_weights(losses)
