"""AFL: minimises the worst mixture of the clients' losses, by gradient ascent on the mixture."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from fairfl._support.checks import one_of, positive
from fairfl.sims.engine import Aggregate, Algorithm, Floats, Received, State
from fairfl.theory.numerics.projections import onto_simplex


@dataclass(frozen=True)
class AFL(Algorithm):
    """min over w of the max over mixtures lambda (simplex) of sum_k lambda_k F_k(w), by descent and
    ascent at once.

    w^(t+1) = w^t + sum_k lambda_k^t (w_k - w^t). The losses are those at w^t:
    ``ascent="projected"``: lambda^(t+1) is the projection of lambda^t + rate F on the simplex;
    ``ascent="exponentiated"``: lambda^(t+1) is proportional to lambda^t exp(rate F). lambda^0 = p.
    ``rate`` has the unit of 1 / loss (projected: of lambda over loss). If only some clients take
    part, their lambdas are scaled to sum one for the step, and theirs alone are raised (ours: the
    paper has everyone). Draws are not counted: a client's weight is its lambda, however often it is
    drawn. With a constant rate the last iterate need not converge where the paper's averages do.

    Errors: ValueError for rate <= 0 or another ascent.
    Source: Mohri, Sivek and Suresh, Agnostic federated learning (ICML 2019), Stochastic-AFL;
    exponentiated as in mirror descent (Nemirovski et al. 2009).
    """

    rate: float = 0.1
    ascent: str = "projected"
    name: ClassVar[str] = "afl"
    needs_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive("rate", self.rate)
        one_of("ascent", self.ascent, ("projected", "exponentiated"))

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        return {"mixture": torch.from_numpy(np.array(weights))}

    def server(self, received: Received) -> Aggregate:
        mixture = received.state["mixture"].numpy().copy()
        shares = mixture[received.clients]
        total = shares.sum()
        weights = shares / total if total > 0 else np.zeros_like(shares)
        losses = received.losses
        if self.ascent == "projected":
            mixture[received.clients] += self.rate * losses
            mixture = onto_simplex(mixture)
        else:
            gain = np.zeros(len(mixture))
            gain[received.clients] = self.rate * losses
            with np.errstate(divide="ignore"):
                gain += np.log(mixture)
            mixture = np.exp(gain - gain.max())
            mixture = mixture / mixture.sum()
        return Aggregate(weights, {"mixture": torch.from_numpy(mixture)})
