"""FedFB, table 6, FedFB by the published code's procedure, draw for draw: its rows and its choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from torch import Tensor

from fairfl.sims.engine.task import Floats
from fairfl.sims.group_fairness import FairMeasures, trivial
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among
from fairfl.studies.papers.fedfb.code import ALPHAS, FAIR_RATES, RUNG, choices
from fairfl.studies.papers.fedfb.code_rules import Code, Run, fedavg, fedfb, fedfb_first, final
from fairfl.studies.papers.fedfb.code_search import Choice, Grid, Trials, accepts
from fairfl.studies.papers.fedfb.code_training import Sample, World
from fairfl.studies.papers.fedfb.data import DIRICHLET
from fairfl.studies.papers.fedfb.numbers import TABLE_6
from fairfl.studies.papers.fedfb.runs import FEDAVG, FEDFB, ROUNDS, long, row_of
from fairfl.studies.papers.fedfb.table_6_rows import code_rows

NAME = "fedfb-table-6-code"
TITLE = "FedFB, table 6, FedFB by the published code's procedure"
SEEDS = {"quick": 1, "paper": 5}
FIRST = f"{FEDFB}, first version"
RATE = 0.005
"""FedAvg's, which table 6 does not have: it says what disparity the groups have."""
PUBLISHED = pd.concat(
    [among(among(TABLE_6, "objective", [FEDFB]), "dataset", list(DIRICHLET)).assign(objective=name)
     for name in (FEDFB, FIRST)],
    ignore_index=True,
)  # fmt: skip


def units(scale: Scale) -> list[Unit]:
    """A unit a level and method. Quick: FedAvg on COMPAS's first."""
    wanted = product(DIRICHLET, METHODS) if scale.paper else [("COMPAS, 0.1", FEDAVG)]
    return [
        Unit(f"fedfb-table-6-code-{dataset.lower().replace(', ', '-')}-{_SLUG[method]}-{scale.profile}-{scale.seeds}",
             dataset, 0, (method,), partial(measured, scale, dataset, method))
        for dataset, method in wanted
    ]  # fmt: skip


_SLUG = {FEDAVG: "fedavg", FEDFB: "fedfb", FIRST: "fedfb-first"}
METHODS: dict[str, Callable[[Run], Iterator[Tensor]]] = {FEDAVG: fedavg, FEDFB: fedfb, FIRST: fedfb_first}


def measured(scale: Scale, dataset: str, method: str) -> pd.DataFrame:
    """Test measures: seed 0 of the choice that the code makes on its grid with seed 0, and the other seeds."""
    world = World.of(code_rows(dataset), "logistic")
    if method == FEDAVG:
        found, words = _seeds(world, method, (RATE, 0.0), range(scale.seeds)), f"lr {RATE:g}"
    else:
        choice = _choice(world, method)
        found, words = accepts(world, choice.model, world.test), choice.words()
        if scale.seeds > 1:
            found = np.concatenate([found, _seeds(world, method, choice.point, range(1, scale.seeds))])
    y, group = world.test.y.numpy(), world.test.a.numpy()
    rows = [
        row_of("test", method, seed, FairMeasures.of(row, y, group), len(y)) | {"choice": words}
        for seed, row in enumerate(found)
    ]
    if method == FEDAVG:
        rows += [row_of("test", name, 0, each, len(y)) | {"choice": "all"} for name, each in trivial(y, group).items()]
    return pd.DataFrame(rows).assign(round=0)


def _choice(world: World, method: str) -> Choice:
    grid: Grid = list(product(FAIR_RATES, ALPHAS))
    rates, alphas = (np.array(column) for column in zip(*grid, strict=True))
    runs = METHODS[method](Run(world, [Code()] * len(grid), [0] * len(grid), rates, alphas))
    judged = Sample.join(world.train if method == FEDFB else world.held)
    return Trials.of(world, grid, runs, (RUNG, ROUNDS), judged).chosen()


def _seeds(world: World, method: str, point: tuple[float, object], seeds: Sequence[int]) -> Floats:
    rate, alpha = point
    count = len(seeds)
    run = Run(world, [Code()] * count, list(seeds), np.full(count, rate), np.full(count, alpha))
    return accepts(world, final(METHODS[method](run)), world.test)


def differences(rows: pd.DataFrame) -> tuple[str, ...]:
    """What this is, and is not."""
    return (
        "Written from the published code's formulas (as fedfb-code), nothing of it copied. Groups: White and all "
        "others on Adult, the sexes on COMPAS. Clients draw their people with replacement; on Adult a client's share "
        "is the same of both groups at 0.2, 0.5 and 5000, so that there is no heterogeneity of groups.",
        "FedAvg, which table 6 lacks, at the code's middle rate; FedFB's rate and α by the disparity at seed 0.",
        *choices(rows),
    )


def values(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a measure."""
    return long(rows)
