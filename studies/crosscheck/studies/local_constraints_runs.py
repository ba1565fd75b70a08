"""The runs of the study `local-constraints`: on populations, and with the engine on samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.engine import Result
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.group_fairness import FairBatch, LocalFairBatch
from fairfl.solvers.api import frontier, solve
from fairfl.solvers.solution import Solution
from fairfl.studies.crosscheck.population.learned_rules import Found, to_text
from fairfl.studies.crosscheck.population.local_dynamics import Dynamics
from fairfl.studies.crosscheck.population.mean_field import any_rule
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.crosscheck.runs import Plan
from fairfl.studies.frames import Frame, loose

POPULATION = (
    ("pooled", 0, 1, 0.0),
    ("pooled", 1, 1, 0.0),
    ("pooled", 5, 1, 0.0),
    ("steps", 5, 1, 0.0),
    ("steps", 5, 20, 0.0),
    ("steps", 5, 20, 0.1),
    ("converged", 1, 1, 0.0),
    ("locally-fair", 1, 1, 0.0),
)
"""Regime, degree, local steps, fading: see ``local_dynamics.py``."""
SAMPLED = (("steps-1", 5, 1), ("steps-20", 5, 20), ("locally-fair", 1, 20))
"""Name, degree, local steps of what the engine runs."""
LABELS = {
    "pooled-any": "one step (all functions)",
    "pooled-any-sum": "one step (λ on its line)",
    "pooled-1": "one step (degree 1)",
    "pooled-5": "one step (degree 5)",
    "steps-1": "one step per λ step",
    "steps-20": "20 local steps",
    "steps-20-fading": "20 steps (falling rates)",
    "converged": "trained to the end",
    "locally-fair": "fair to the end",
}
"""What tables and pictures call the regimes."""
BINDS = 1e-9
"""A multiplier larger than this binds."""


def name_of(run: Dynamics) -> str:
    """The regime's name in tables."""
    if run.regime == "pooled":
        return f"pooled-{run.degree or 'any'}{'-sum' if run.ascent.projection == 'sum' else ''}"
    return (
        f"steps-{run.steps}{'-fading' if run.fading else ''}"
        if run.regime == "steps"
        else run.regime
    )


def optimum(world: World, eps: float) -> dict[str, object]:
    """LFT+FedAvg(ε), and whether FairBatch's weights can say its multipliers.

    binding : how many multipliers are not 0; price : the sum of their sizes; boxed : whether one of
        them is outside of
    the box of λ; pure : whether the rule is not randomised; lagrangian : how far the pointwise rule
    at these weights is from it, in accuracy and MD_i.
    """
    best = solve(world.federation, "lft_fedavg", eps=eps)
    offset = best.multipliers / np.array(world.weight)
    lam = world.shares + offset[:, None] * np.array([-1.0, 1.0])
    inside = bool(((lam >= 0) & (lam <= 2 * world.shares)).all())
    pure = all(np.isin(values, (0.0, 1.0)).all() for values in best.classifier.values)
    return {
        "best": best.accuracy,
        "best_difference": best.mean_difference,
        "binding": int((np.abs(offset) > BINDS).sum()),
        "price": float(np.abs(best.multipliers).sum()),
        "boxed": not inside,
        "pure": pure,
        "lagrangian": _apart(world, lam, best),
    }


def _apart(world: World, lam: Array, best: Solution) -> float:
    rule, fed = any_rule(world, lam), world.federation
    local = np.abs(rule.local_mean_differences(fed) - best.local_mean_differences).max()
    return float(max(abs(rule.accuracy(fed) - best.accuracy), local))


def observed(run: Dynamics) -> Frame:
    """Some rounds of a run, more at its begin and its end; the last one with its rule and λ."""
    world, fed, best = run.world, run.world.federation, optimum(run.world, run.budgets[0])
    rounds, quarter = run.rounds, run.rounds - max(2, run.rounds // 4)
    shown = {*range(30), *np.unique(np.geomspace(30, rounds, 40).astype(int)), rounds - 1}
    shown |= set(range(quarter, rounds, max(1, (rounds - quarter) // 60)))
    rows, late, rule, lam = [], [], None, None
    for number, reached in enumerate(run.run()):
        rule, lam = reached
        if number not in shown:
            continue
        found = Found.of(rule, fed)
        late += [found.difference] if number >= quarter else []
        rows.append(
            (
                number,
                found.accuracy,
                found.difference,
                found.disparity,
                max(abs(v) for v in found.local),
            )
        )
    assert rule is not None and lam is not None  # rounds >= 1
    table = loose(pd).DataFrame(
        rows, columns=["round", "accuracy", "difference", "disparity", "local"]
    )
    last = table["round"] == rounds - 1
    return _labelled(
        table, world.name, name_of(run), run.degree, run.steps, run.budgets[0], best
    ).assign(
        rule=np.where(last, to_text(rule), ""),
        range=float(np.ptp(late)),
        rows=0,
        seed=0,
        lam=np.where(last, str(np.round(lam / world.shares, 4).tolist()), ""),
    )


def _labelled(
    table: Frame,
    world: str,
    regime: str,
    degree: int,
    steps: int,
    eps: float,
    best: dict[str, object],
) -> Frame:
    return table.assign(
        world=world,
        regime=regime,
        degree=degree,
        steps=steps,
        budget=eps,
        excess=table["local"] - eps,
        shortfall=best["best"] - table["accuracy"],
        **best,
    )


def frontiers(world: World, points: int = 60) -> Frame:
    """The three exact frontiers, as rows of the measures."""
    parts = []
    for scheme in ("cfl", "lft_fedavg", "lft_ensemble"):
        found = frontier(world.federation, scheme, points=points)
        parts.append(
            loose(pd)
            .DataFrame({"disparity": found.disparity, "accuracy": found.accuracy})
            .assign(
                world=world.name,
                regime="frontier",
                scheme=scheme,
                rule="",
                rows=0,
                seed=0,
                budget=np.nan,
                round=0,
            )
        )
    return loose(pd).concat(parts, ignore_index=True)


@dataclass(frozen=True)
class LocalPlan(Plan):
    """LocalFairBatch on a sample, its λ stepped as the population's.

    ``own``: λ at the clients' own models, which are averaged once, at the end.
    """

    own: bool = False
    alpha: float = 0.3
    decay: float = 1.0

    @property
    def name(self) -> str:
        return f"{super().name}-{'own' if self.own else 'averaged'}-{self.alpha:g}-{self.decay:g}"

    def algorithms(self) -> list[Algorithm]:
        rules = [
            FairBatch("dp", self.alpha, self.decay, "zero_one", budget=one[0])
            for one in self.budgets
        ]
        return [LocalFairBatch(rule, self.lengths if self.own else 1) for rule in rules]

    def measured(self, result: Result) -> Frame:
        regime = "locally-fair" if self.own else f"steps-{self.steps}"
        rows = []
        for (eps,), (rule,) in zip(self.budgets, self.members(result), strict=True):
            found = Found.of(rule, self.world.federation)
            table = loose(pd).DataFrame(
                {
                    "round": [self.lengths],
                    "accuracy": [found.accuracy],
                    "difference": [found.difference],
                    "disparity": [found.disparity],
                    "local": [max(abs(v) for v in found.local)],
                }
            )
            best = optimum(self.world, eps)
            done = _labelled(table, self.world.name, regime, self.degree, self.steps, eps, best)
            rows.append(
                done.assign(
                    rule=to_text(rule), range=np.nan, rows=self.rows, seed=self.seed, lam=""
                )
            )
        return loose(pd).concat(rows, ignore_index=True)
