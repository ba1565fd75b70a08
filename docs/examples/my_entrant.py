"""An entrant of one's own: ``fairfl arena --import my_entrant.py --algorithm "my weights"``."""

from fairfl.sims.engine import Aggregate, Algorithm


class LossWeights(Algorithm):
    name, needs_losses = "my_weights", True

    def server(self, received):
        weights = received.p * received.losses  # clients with larger losses count more
        return Aggregate(weights / weights.sum(), received.state)


MINE = {"name": "my_weights", "grid": {"lr": [0.03, 0.1, 0.3, 1.0]}}
ENTRANTS = [{"label": "my weights", "aim": {"name": "AFL"}, "algorithm": MINE}]
