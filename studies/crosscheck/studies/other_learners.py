"""FairFed and AgnosticFair against CFL's exact frontier: below it, and what they make fair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from fairfl.sims.engine import Algorithm, Logistic, Result
from fairfl.sims.engine.secure.summed import as_floats
from fairfl.sims.group_fairness import AgnosticFair, FairFed
from fairfl.sims.group_fairness.fairfed import OMEGA
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, optimum
from fairfl.studies.crosscheck.population.kept_rules import kept_rules
from fairfl.studies.crosscheck.population.learned_rules import learned
from fairfl.studies.crosscheck.population.worlds import by_name, in_words
from fairfl.studies.crosscheck.runs import Plan, featured, spelt
from fairfl.studies.crosscheck.standard_errors import OVER
from fairfl.studies.crosscheck.studies.notions import TOLD, curve
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.crosscheck.told import counted, every, points_of, summary
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups

NAME = "other-learners"
TITLE = "FairFed and AgnosticFair below CFL's exact frontier"
SEEDS = {"quick": 1, "paper": 4}
SEEN = 2

WORLDS = ("figure-5a", "figure-5d", "figure-9d", *(f"random-{seed}" for seed in range(4)))
FAIRFED, UNWEIGHED = "FairFed", "FairFed unweighed"
AGNOSTIC, PLAIN = "AgnosticFair", "AgnosticFair without adversary"
BETAS, TAUS = ((0.0,), (0.5,), (2.0,)), ((0.01,), (0.1,))
"""FairFed's β, of which 0 is FedAvg with the same local training; AgnosticFair's τ."""
RULE = AgnosticFair(momentum=0.9, decay=0.75, dual_rate=0.2)
RULES = {AGNOSTIC: RULE, PLAIN: replace(RULE, kernels=1, width=1e6, cap=1.0)}
"""PLAIN has one flat kernel: everybody weighs 1."""
RATE, PEOPLE = 0.3, 1_000
ENDED = 1e-3
"""Of the slope and of the adversary's regret that are left: larger is no equilibrium."""
KEPT = 1


@dataclass(frozen=True)
class FairFedPlan(Plan):
    """FairFed, clients reweighing their people or not; ``budgets`` hold β."""

    learners: ClassVar[tuple[str, ...]] = (FAIRFED, UNWEIGHED)

    def algorithms(self) -> list[Algorithm]:
        way = "reweighing" if self.scheme == FAIRFED else "none"
        return [FairFed(beta, self.notion, way) for (beta,) in self.budgets]

    def measured(self, result: Result) -> pd.DataFrame:
        """And how many clients have no weight at the end."""
        omega = [as_floats(state[OMEGA]) for state in result.simulation.states]
        silent = [int((w == 0).sum()) for w in omega]
        return super().measured(result).assign(silent=silent, left=0.0)


@dataclass(frozen=True)
class AgnosticPlan(Plan):
    """AgnosticFair, which takes a step a round and does not run in the engine; ``budgets`` hold
    τ.
    """

    learners: ClassVar[tuple[str, ...]] = (AGNOSTIC, PLAIN)

    def unit(self) -> Unit:
        made = partial(fitted, self)
        return Unit(self.name, self.world.name, self.seed, tuple(map(spelt, self.budgets)), made)


def fitted(plan: AgnosticPlan) -> pd.DataFrame:
    """Its rules, and what is ``left`` to an equilibrium."""
    (basis,) = plan.bases()
    parts = featured(plan.world, plan.rows, plan.seed, [basis])
    lines = []
    for (tau,) in plan.budgets:
        rule, model = replace(RULES[plan.scheme], tau=tau), Logistic(basis.size, bias=False)
        (found,) = rule.fit(model, parts, plan.lengths * plan.steps, RATE, (plan.seed,))
        row = plan.row((tau,), [learned(basis, found.params)], np.ones(1))
        lines.append(row | {"silent": 0, "left": max(found.slope, found.regret)})
    return pd.DataFrame(lines)


def units(scale: Scale) -> list[Unit]:
    """Quick: two worlds. Paper: seven; FairFed of both notions, AgnosticFair of parity."""
    worlds, rounds = (WORLDS, 100) if scale.paper else (("figure-5d", "random-0"), 40)
    plans: list[Plan] = []
    for name in worlds:
        for seed in range(scale.seeds):
            common = (1, PEOPLE, seed)
            plans += [
                FairFedPlan(by_name(name), way, *common, BETAS, rounds, notion=notion)
                for way in (FAIRFED, UNWEIGHED)
                for notion in ("dp", "eo")
            ]
            plans += [
                AgnosticPlan(by_name(name), way, *common, TAUS, rounds) for way in (AGNOSTIC, PLAIN)
            ]
    return [plan.unit() for plan in plans]


def beside(measures: pd.DataFrame) -> pd.DataFrame:
    """The measures with ``below``: how much more accurate CFL's optimum at the same disparity
    is.
    """
    best = [
        optimum(by_name(row["world"]), "cfl", row["disparity"], row["notion"])
        for row in measures.to_dict("records")
    ]
    return measures.assign(below=np.array(best) - floats(measures, "accuracy"))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By learner, notion and β or τ: rules, how far below the frontier, disparity, clients without
    weight.
    """

    def of(part: pd.DataFrame) -> dict[str, Any]:
        return {
            "rules": len(part),
            "below, mean": float(floats(part, "below").mean()),
            "below, least": float(floats(part, "below").min()),
            "disparity, mean": float(floats(part, "disparity").mean()),
            "with a client of no weight": int((floats(part, "silent") > 0).sum()),
            "not ended": int((floats(part, "left") > ENDED).sum()),
        }

    found = summary(beside(measures), ["scheme", "notion", "budget"], of)
    return {"points": found.rename(columns={"budget": "β or τ"})}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, and what the two make fair."""
    below = floats(beside(measures), "below")
    return (
        every(
            "below-cfl-frontier",
            measures,
            below >= -TOLERANCE,
            "No rule of FairFed or AgnosticFair is more accurate than the exact CFL optimum at its "
            "own disparity.",
            f"{_what(measures)}: the nearest one is {below.min():.2g} below",
            hard=True,
        ),
        _fairer(measures),
        _heard(measures),
        _covariance(measures),
    )


def _fairer(measures: pd.DataFrame) -> Verdict:
    part = among(measures, "scheme", [FAIRFED, UNWEIGHED])
    keys = ["world", "notion", "scheme", "seed"]
    wide = part.pivot_table(index=keys, columns="budget", values="disparity")
    change = np.concatenate([wide[spelt(b)] - wide[spelt(BETAS[0])] for b in BETAS[1:]])
    lower = int((change < -OVER).sum())
    return every(
        "fairfed-is-fairer-than-fedavg",
        part,
        change <= OVER,
        f"FairFed's disparity is not larger than that of β = 0 on the same people (by {OVER:g}).",
        f"{_what(part)}: of {change.size} runs {lower} are fairer and "
        f"{int((change > OVER).sum())} less fair, from {change.min():.3f} to {change.max():+.3f}",
    )


def _heard(measures: pd.DataFrame) -> Verdict:
    part = among(
        among(measures, "scheme", [FAIRFED, UNWEIGHED]), "budget", [spelt(b) for b in BETAS[1:]]
    )
    silent = floats(part, "silent") > 0
    return every(
        "fairfed-hears-everybody",
        part,
        ~silent,
        "FairFed ends with weight for every client.",
        f"{_what(part)}: {silent.sum()} of {silent.size} end with a client whose weight is 0",
    )


def _covariance(measures: pd.DataFrame) -> Verdict:
    part = among(among(measures, "scheme", [PLAIN]), "budget", [spelt(TAUS[0])])
    gap = floats(part, "disparity")
    return every(
        "covariance-is-disparity",
        part,
        gap <= 0.1,
        f"Where the covariance of group and score is within {TAUS[0][0]:g}, |MD| is within 0.1.",
        f"{_what(part)}, no adversary: |MD| is {gap.min():.3f} to {gap.max():.3f}, "
        f"{np.median(gap):.3f} in the median; {int((gap > 0.1).sum())} are above 0.1",
    )


def _what(found: pd.DataFrame) -> str:
    return counted(found, f"rules of {found['world'].nunique()} worlds, {PEOPLE:,} people")


def record(measures: pd.DataFrame) -> dict[str, Any]:
    """Of each world, learner, notion and parameter the rule nearest to the frontier."""
    found = beside(measures)
    keys = ["world", "scheme", "notion", "budget"]
    kept = [part.iloc[np.argsort(floats(part, "below"))[:KEPT]] for _, part in groups(found, keys)]
    runs = {"rules": len(found), "seeds": [int(v) for v in np.unique(floats(found, "seed"))]}
    return {"runs": runs, "worlds": kept_rules(pd.concat(kept, ignore_index=True))}


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """CFL's exact frontier of two worlds, parity and equal opportunity, and the learned rules."""
    parts = []
    for (name, notion), part in groups(measures, ["world", "notion"]):
        if name not in ("figure-5d", "random-0"):
            continue
        panel = f"{in_words(name)}, {TOLD[notion]}"
        parts.append(curve(by_name(name), notion).assign(panel=panel))
        for (scheme,), mine in groups(part, ["scheme"]):
            parts.append(points_of(panel, str(scheme), mine))
    return pd.concat(parts, ignore_index=True)


PICTURES = (
    Drawing(
        "crosscheck-other-learners",
        "FairFed and AgnosticFair below CFL's exact frontier",
        "disparity (difference of rates)",
        "accuracy (share correct)",
        points,
    ),
)
