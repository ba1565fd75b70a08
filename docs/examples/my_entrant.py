"""An entrant of one's own: ``fairfl arena --import my_entrant.py --algorithm "my weights"``."""

from dataclasses import dataclass

from fairfl.sims.engine import Aggregate, Algorithm


@dataclass(frozen=True)
class LossWeights(Algorithm):
    power: float = 1.0  # clients with larger losses count more
    name = "my_weights"
    needs_losses = True

    def server(self, received):
        weights = received.p * received.losses**self.power
        return Aggregate(weights / weights.sum(), received.state)


GRID = {"lr": [0.1, 0.3], "power": [0.5, 1.0]}
ENTRANTS = [
    {
        "label": "my weights",
        "aim": {"name": "AFL"},
        "algorithm": {"name": "my_weights", "grid": GRID},
    }
]
