"""The study's runs: FedFB and CFL on the same samples, along axes of heterogeneity."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from fairfl.sims.data.federated.population import sample
from fairfl.sims.engine import Result
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.group_fairness import FairBatch, FairMeasures, FedFB
from fairfl.solvers.api import frontier
from fairfl.studies.crosscheck.population.learned_rules import Found, to_text
from fairfl.studies.crosscheck.population.supporting_line import supporting_line
from fairfl.studies.crosscheck.population.worlds import World, spread
from fairfl.studies.crosscheck.runs import ALPHA, CFL, DECAY, FEDFB, Plan
from fairfl.studies.frames import Frame, loose

BOUND = 1.0
"""Of a client's report, with errors as the surrogate: the range that b bits share."""


@dataclass(frozen=True)
class Setup:
    """A point on an axis."""

    axis: str
    value: float
    world: World
    bits: int | None = None
    steps: int = 20
    rows: int = 5_000


def setups(paper: bool) -> list[Setup]:
    """Around three clients, 1.5 apart, shares 0.3, 0.5, 0.7, one concept, plain numbers, 20 local
    steps.

    Local steps and people vary where the shares are 0.05, 0.5, 0.95.
    """
    rows = 5_000 if paper else 2_000
    base = Setup("", 0.0, spread(3, 1.5, 0.2), rows=rows)
    axes = {
        "distance": [
            (v, replace(base, world=spread(3, v, 0.0))) for v in ((0, 1, 3) if paper else (0, 3))
        ],
        "shares": [
            (v, replace(base, world=spread(3, 1.5, v)))
            for v in ((0, 0.3, 0.45) if paper else (0.45,))
        ],
        "concept": [
            (v, replace(base, world=spread(3, 1.5, 0.2, v))) for v in ((0, 2) if paper else (2,))
        ],
        "clients": [
            (v, replace(base, world=spread(v, 1.5, 0.2)))
            for v in ((2, 10, 50) if paper else (2, 20))
        ],
        "local steps": [
            (v, replace(base, world=spread(3, 1.5, 0.45), steps=v))
            for v in ((1, 5, 20, 100) if paper else (1,))
        ],
        "bits": [
            (v, replace(base, bits=v or None)) for v in ((2, 4, 6, 8, 10) if paper else (3, 10))
        ],
        "people": [
            (v, replace(base, world=spread(3, 1.5, 0.45), rows=v))
            for v in ((1_250, 5_000, 20_000) if paper else ())
        ],
    }
    return [
        replace(setup, axis=axis, value=float(v))
        for axis, points in axes.items()
        for v, setup in points
    ]


@dataclass(frozen=True)
class GapPlan(Plan):
    """FedFB, in b bits where they are given, or CFL, at budget 0."""

    bits: int | None = None

    @property
    def name(self) -> str:
        return f"gap-{super().name}-b{self.bits}"

    def algorithms(self) -> list[Algorithm]:
        rule = FairBatch("dp", ALPHA, DECAY, "zero_one", projection="sum")
        return [FedFB(rule, bits=self.bits, loss_bound=BOUND)]

    def measured(self, result: Result) -> Frame:
        """One row: the rule's worth on population and sample, and CFL's optimum at its MD."""
        rule = self.members(result)[0][0]
        federation = self.world.federation
        found = Found.of(rule, federation)
        data = sample(federation, self.rows, self.seed)
        assert data.group is not None
        here = FairMeasures.of(rule(data.x[:, 0], data.group), data.y, data.group)
        best = float(frontier(federation, "cfl", points=2).accuracy_at(found.disparity))
        return loose(pd).DataFrame(
            {
                "world": [self.world.name],
                "scheme": [self.scheme],
                "rows": [self.rows],
                "seed": [self.seed],
                "bits": [self.bits or 0],
                "steps": [self.steps],
                "accuracy": [found.accuracy],
                "difference": [found.difference],
                "disparity": [found.disparity],
                "best": [best],
                "line": [supporting_line(federation, found.difference)],
                "sample": [here.spd],
                "rule": [to_text(rule)],
            }
        )


def plans(setup: Setup, seed: int, rounds: int) -> list[GapPlan]:
    """FedFB, and CFL on the same sample."""
    return [
        GapPlan(setup.world, scheme, 1, setup.rows, seed, ((0.0,),), rounds, setup.steps, bits=bits)
        for scheme, bits in ((FEDFB, setup.bits), (CFL, None))
    ]
