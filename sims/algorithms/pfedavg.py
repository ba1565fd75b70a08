"""p-FedAvg: updates weighed by the rank of the client's loss (p-FFL, algorithm 1)."""

from dataclasses import dataclass, field
from typing import ClassVar

from fairfl._support.checks import one_of
from fairfl.sims.engine import Aggregate, Algorithm, Floats, Received
from fairfl.theory.aggregation import RankWeighted


@dataclass(frozen=True)
class PFedAvg(Algorithm):
    """w^(t+1) = sum_k v_k w_k, v_k the weight of the rank of F_k(w^t) among the m draws received,
    largest loss first.

    ``ranks`` is a ``RankWeighted`` objective: gini, linear, arithmetic, geometric(z), harmonic,
    cvar, or given weights; tied clients share evenly, and a client drawn j times has j ranks.
    geometric(1) is FedAvg with equal weights. ``client_weights`` is the use of p_k: "none"
    (the paper: clients are drawn by p_k instead, ``ByWeight``); "product": p_k v_k, normalised (the
    paper's alternative, section 3.1); "quantile": the weight of the share of people with larger
    losses, as ``RankWeighted``.

    The weights are in the order that makes the objective convex, the largest for the largest loss.
    Algorithm 1 does not say at which model F_k is taken; here at w^t on all data, as in q-FedAvg:
    that is a subgradient step. Errors: ValueError for ``ranks`` that carry client weights, or
    another ``client_weights``.
    Source: p-FFL, algorithm 1, eqs. (6)-(9).
    """

    ranks: RankWeighted = field(default_factory=RankWeighted.gini)
    client_weights: str = "none"
    name: ClassVar[str] = "pfedavg"
    needs_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.ranks, RankWeighted) or self.ranks.client_weights is not None:
            raise ValueError(
                f"ranks must be a RankWeighted objective without client weights, got {self.ranks!r}"
            )
        one_of("client_weights", self.client_weights, ("none", "product", "quantile"))

    def server(self, received: Received) -> Aggregate:
        return Aggregate(received.over_draws(self._weights), received.state)

    def _weights(self, losses: Floats, p: Floats) -> Floats:
        if self.client_weights == "quantile":
            return self.ranks.weighted(p).dual_weights(losses)
        weights = self.ranks.dual_weights(losses)
        return weights if self.client_weights == "none" else weights * p / (weights @ p)
