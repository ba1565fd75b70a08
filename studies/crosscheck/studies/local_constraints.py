"""What FedAvg with local constraints converges to, against LFT+FedAvg(ε), said to be equivalent.

Exact populations separate what a sample mixes: the class, the local steps, where λ is evaluated,
and λ's box.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from fairfl.studies.crosscheck.population.fairbatch_step import Ascent
from fairfl.studies.crosscheck.population.local_dynamics import Dynamics
from fairfl.studies.crosscheck.population.worlds import World, figure_5, figure_9, random_world
from fairfl.studies.crosscheck.runs import LFT_AVG
from fairfl.studies.crosscheck.studies.local_constraints_pictures import ends, paths
from fairfl.studies.crosscheck.studies.local_constraints_runs import (
    LABELS,
    POPULATION,
    SAMPLED,
    LocalPlan,
    frontiers,
    observed,
)
from fairfl.studies.crosscheck.studies.local_constraints_verdicts import (
    STEADY,
    final,
    reached,
    verdicts,
)
from fairfl.studies.crosscheck.study import Drawing
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import Frame, loose

__all__ = ["NAME", "PICTURES", "SEEDS", "TITLE", "tables", "units", "verdicts"]

NAME = "local-constraints"
TITLE = (
    "What FedAvg with local fairness constraints converges to, against the optimum LFT+FedAvg(ε)"
)
SEEDS = {"quick": 1, "paper": 3}
SEEN = 1
"""Seed 0 of figure 5(a) was seen before anything was asked of samples."""
SIZES = (500, 4_000, 32_000)
FINER = (1_000, 100_000)
"""People of tests less and more sharp than the verdicts' 10,000."""

PICTURES = (
    Drawing(
        "local-constraints-paths",
        "FedAvg with local constraints: 12 rounds of a population, and its supposed end",
        "|MD| (difference of rates)",
        "accuracy (share correct)",
        paths,
    ),
    Drawing(
        "local-constraints-ends",
        "How far the ends are above the budget, and below LFT+FedAvg(ε)'s accuracy",
        "max |MD_i| - ε (difference of rates)",
        "accuracy less LFT+FedAvg(ε)'s (share)",
        ends,
    ),
)


def worlds(scale: Scale) -> list[World]:
    """FedFB's panels, and random federations; quick: one panel."""
    if not scale.paper:
        return [figure_5("a")]
    return [*map(figure_5, "abcd"), *map(figure_9, "abcd"), *(random_world(k) for k in range(2))]


def budgets(scale: Scale) -> tuple[float, ...]:
    """ε, the same for all clients."""
    return (0.0, 0.05, 0.1, 0.2) if scale.paper else (0.0, 0.1)


def units(scale: Scale) -> list[Unit]:
    """A unit a world's population; on samples one a world, local training, size and seed."""
    found, eps, rounds = [], budgets(scale), 400 if scale.paper else 120
    for world in worlds(scale):
        name = f"local-constraints-{world.name}-{scale.profile}"
        found.append(Unit(name, world.name, 0, (), partial(population, world, eps, rounds)))
    return [*found, *(plan.unit() for plan in samples(scale))]


def samples(scale: Scale) -> list[LocalPlan]:
    """Quick: 2,000 people of figure 5(a). Paper: three worlds, of 5(a) up to 32,000 people."""
    first = figure_5("a")
    if not scale.paper:
        wanted = [(first, 2_000)]
    else:
        wanted = [(first, rows) for rows in SIZES]
        wanted += [
            (world, rows) for world in (figure_9("b"), random_world(1)) for rows in SIZES[:-1]
        ]
    return [
        LocalPlan(
            world,
            LFT_AVG,
            degree,
            rows,
            seed,
            ((0.0,), (0.1,)),
            200 if scale.paper else 100,
            steps,
            own=regime == "locally-fair",
        )
        for world, rows in wanted
        for seed in range(scale.seeds)
        for regime, degree, steps in SAMPLED
    ]


def population(
    world: World,
    eps: tuple[float, ...],
    rounds: int,
    regimes: tuple[tuple[str, int, int, float], ...] = POPULATION,
) -> Frame:
    """All regimes at all budgets, and the three exact frontiers."""
    parts = [frontiers(world)]
    for budget in eps:
        each = (budget,) * world.clients
        for regime, degree, steps, fading in regimes:
            slow = regime == "steps" and steps == 1  # w has to follow λ
            run = Dynamics(
                world, each, regime, degree, steps, rounds * (3 if slow else 1), fading=fading
            )
            parts.append(observed(run))
        if bool(parts[-1]["boxed"].iloc[0]):
            line = Ascent(projection="sum")
            parts.append(observed(Dynamics(world, each, "pooled", 0, 1, rounds, line)))
    return loose(pd).concat(parts, ignore_index=True)


def tables(measures: Frame) -> dict[str, pd.DataFrame]:
    """Where runs ended; how many are optimal, by regime and number of active constraints."""
    last = final(measures)
    finer = {f"reached, {people:,}": reached(last, people) for people in FINER}
    shown = last.assign(
        training=last["regime"].map(LABELS), reached=reached(last), settled=last["range"] <= STEADY
    )
    shown = shown.assign(**finer)
    kept = [
        "world",
        "budget",
        "training",
        "rows",
        "seed",
        "accuracy",
        "disparity",
        "excess",
        "best",
        "shortfall",
        "range",
        "binding",
        "boxed",
        "reached",
        "settled",
        *finer,
    ]
    exact = shown[shown["rows"] == 0]
    grouped = exact.groupby(["training", "binding", "boxed"], sort=False)
    counts = grouped.agg(
        runs=("reached", "size"),
        reached=("reached", "sum"),
        settled=("settled", "sum"),
        excess=("excess", "max"),
        shortfall=("shortfall", "max"),
        gain=("shortfall", "min"),
        **{name: (name, "sum") for name in finer},
    )
    return {"ends": loose(pd).DataFrame(shown[kept]), "reached": counts.reset_index()}
