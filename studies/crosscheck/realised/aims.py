"""The objectives whose dual weights an algorithm should realise, by the algorithm's name. No
torch.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.studies.crosscheck.realised.drawn_ranks import weights_of_draws
from fairfl.theory import aggregation as aims

Q, ALPHA, GEOMETRIC = 2.0, 2.0, 0.5
BEYOND = "PropFair beyond its threshold"
RANKS = {
    "p-FedAvg, Gini": aims.RankWeighted.gini(),
    "p-FedAvg, z = 0.5": aims.RankWeighted.geometric(GEOMETRIC),
}


def objective_of(algorithm: str, M: float | None = None, nudge: float = 1.0) -> aims.Objective:
    """The objective; ``M`` is PropFair's. ``nudge`` multiplies its parameter, which makes it
    another.

    Errors: ValueError for an algorithm that the study does not know, and for PropFair without M.
    """
    if "PropFair" in algorithm:
        if M is None:
            raise ValueError(f"M must be given for {algorithm}, got None")
        return aims.PropFair(M * nudge)
    if algorithm.startswith("q-Fed") or algorithm.endswith("q-FFL"):
        return aims.QFFL(Q * nudge)
    if "TERM" in algorithm:
        return aims.TERM(ALPHA * nudge)
    if algorithm.endswith("Gini"):
        return RANKS["p-FedAvg, Gini"] if nudge == 1 else aims.RankWeighted.geometric(0.9 / nudge)
    if algorithm == "p-FedAvg, z = 0.5":
        return aims.RankWeighted.geometric(GEOMETRIC / nudge)
    if algorithm == "FedAvg":
        return aims.FedAvg() if nudge == 1 else aims.QFFL(nudge - 1)
    raise ValueError(f"algorithm must be one of the study's, got {algorithm!r}")


def dual_of(aim: aims.Objective, losses: Array, p: Array) -> Array:
    """The dual weights (K,) at the losses under the clients' weights p."""
    given = aim if (p == p[0]).all() else aim.weighted(p)
    return np.asarray(given.dual_weights(losses), dtype=np.float64)


def drawn_weights(ranks: aims.RankWeighted, losses: Array, drawn: int) -> Array:
    """The mean weights (n,) of clients who are ranked among ``drawn`` of them; losses (n,) all
    different.
    """
    falling = np.asarray(ranks.dual_weights(np.arange(drawn, 0, -1.0)))
    means = np.array([float(w) for w in weights_of_draws(falling.tolist(), len(losses))])
    found = np.empty(len(losses))
    found[np.argsort(-losses)] = means
    return found
