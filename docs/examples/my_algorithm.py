"""An algorithm of one's own: ``fairfl crosscheck my_crosscheck.toml --import my_algorithm.py``."""

from dataclasses import dataclass

from fairfl.sims.engine import Aggregate, Algorithm


@dataclass(frozen=True)
class Median(Algorithm):
    shrink: float = 1.0
    name = "my_median"

    def server(self, received):
        step = self.shrink * received.updates.median(0).values
        return Aggregate(received.p, received.state, step)
