"""The weights that algorithms realise in a step, and the dual weights of their objectives at the
same losses.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.algorithms.dual_weighted import DualWeighted
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.algorithms.qfedsgd import QFedSGD
from fairfl.sims.algorithms.term import TERM
from fairfl.sims.engine import Given, Polynomial, Training, Uniform
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.studies.crosscheck.realised.aims import ALPHA, BEYOND, RANKS, Q, dual_of, objective_of
from fairfl.studies.crosscheck.realised.effective_weights import (
    apart,
    effective_weights,
    in_their_span,
    scaled,
)
from fairfl.studies.crosscheck.realised.step_problems import StepProblem, step_problem
from fairfl.studies.least_squares_problem import Problem
from fairfl.theory import aggregation as aims

BASELINES = {"quadratic": (1.6, 1.2, 0.5), "Synthetic": (2.2, 1.8, 1.1), "Vehicle": (3.0, 2.2, 1.3)}
"""PropFair's M, its M with a threshold that matters, and epsilon there, in units of the largest
loss at the start. No loss comes near M in these runs (a ValueError would say so); one above M -
epsilon, 0.7 or 0.9 units, is beyond it.
"""
GROUPS = 10  # of draws, to tell their noise
SPENT = 10  # steps of plain descent to the model at which single steps are compared


@dataclass(frozen=True)
class Trial:
    """An algorithm and the objective whose dual weights it should realise."""

    name: str
    algorithm: Algorithm
    aim: aims.Objective

    def dual(self, losses: Array, p: Array) -> Array:
        """The objective's dual weights under the clients' weights p."""
        return dual_of(self.aim, losses, p)


def trials(problem: StepProblem) -> tuple[Trial, ...]:
    """The study's algorithms; PropFair's numbers suit the problem's losses at the start."""
    most = float(problem.losses(np.zeros(problem.model.size)).max())
    M, low, epsilon = (round(factor * most, 3) for factor in BASELINES[problem.name])
    qffl, term, propfair, gini = (
        objective_of(name, M) for name in ("q-FedAvg", "TERM", "PropFair", "p-FedAvg, Gini")
    )
    algorithms: dict[str, Algorithm] = {
        "FedAvg": FedAvg(),
        "q-FedSGD": QFedSGD(Q),
        "q-FedAvg": QFedAvg(Q),
        "q-FedAvg, as printed": QFedAvg(Q, variant="printed"),
        "dual weights of q-FFL": DualWeighted(qffl),
        "TERM": TERM(ALPHA),
        "dual weights of TERM": DualWeighted(term),
        "PropFair": PropFair(M, rescale=True),
        BEYOND: PropFair(low, epsilon, rescale=True),
        "dual weights of PropFair": DualWeighted(propfair),
        "p-FedAvg, Gini": PFedAvg(RANKS["p-FedAvg, Gini"], "quantile"),
        "dual weights of Gini": DualWeighted(gini),
        "p-FedAvg, z = 0.5": PFedAvg(RANKS["p-FedAvg, z = 0.5"], "quantile"),
    }
    baselines = {BEYOND: low}
    return tuple(
        Trial(name, made, objective_of(name, baselines.get(name, M)))
        for name, made in algorithms.items()
    )


@dataclass(frozen=True)
class Case:
    """How a round is done. ``share`` of the clients take part: where there are few, in all the ways
    there are.
    """

    name: str
    steps: int | None = 1
    batch: int | None = None
    share: float = 1.0

    @property
    def random(self) -> bool:
        """Whether a round is one draw of many."""
        return self.batch is not None or self.share < 1

    def training(self, problem: StepProblem, draws: int) -> Training:
        """With so many rounds; one epoch where ``steps`` is None."""
        epochs = 1 if self.steps is None else None
        made = Training(
            draws, lr=problem.lr, batch_size=self.batch, steps=self.steps, epochs=epochs
        )
        if self.share == 1:
            return made
        count = round(self.share * problem.clients)
        if len(masks := _subsets(problem.clients, count)):
            return replace(made, rounds=len(masks), participation=Given(masks))
        return replace(made, participation=Uniform(count))


def _subsets(clients: int, count: int) -> Array:
    """All of them as masks, where there are at most a hundred; none otherwise."""
    chosen = list(combinations(range(clients), count)) if clients <= 8 else []
    masks = np.zeros((len(chosen), clients), dtype=bool)
    for row, members in zip(masks, chosen, strict=True):
        row[list(members)] = True
    return masks


ONE = Case("one full step")
CASES = (
    ONE,
    *(Case(f"{steps} full steps", steps) for steps in (2, 5, 20)),
    Case("one batch of 6", 1, 6),
    Case("one epoch, batches of 6", None, 6),
    Case("half of the clients", 1, None, 0.5),
)
HALF, BATCH = CASES[-1], CASES[-3]


def by_round(name: str, seed: int, rounds: int, kept: Sequence[int] = ()) -> pd.DataFrame:
    """One full step a round, each algorithm on its own path: a row a round and algorithm; ``step``
    kept at some.
    """
    problem = step_problem(name, seed)
    listed = trials(problem)
    simulation = problem.simulation(
        [trial.algorithm for trial in listed], ONE.training(problem, rounds), seed
    )
    rows = []
    for t in range(rounds):
        before = simulation.params.numpy().copy()
        simulation.step()
        steps = simulation.params.numpy() - before
        for trial, w, step in zip(listed, before, steps, strict=True):
            losses, slopes = problem.losses(w), problem.gradients(w)
            row = _compared(problem, trial, losses, slopes, step)
            rows.append(
                row | {"case": ONE.name, "round": t, "draws": 1, "beyond": _beyond(trial, losses)}
            )
            if t in kept:
                rows[-1]["step"] = _kept(step, slopes, losses, problem, trial)
    return pd.DataFrame(rows).assign(kind="by round", world=name, seed=seed)


def at_one_model(name: str, seed: int, draws: int, cases: Iterable[Case] = CASES) -> pd.DataFrame:
    """Every way of doing a round, from the same model: weights of the mean step over the draws, a
    row an algorithm.
    """
    problem = step_problem(name, seed)
    listed = trials(problem)
    w = np.zeros(problem.model.size)
    for _ in range(SPENT):
        w -= problem.lr * problem.parts.p @ problem.gradients(w)
    losses, slopes = problem.losses(w), problem.gradients(w)
    rows = []
    for case in cases:
        training = case.training(problem, draws if case.random else 1)
        simulation = problem.simulation([trial.algorithm for trial in listed], training, seed)
        start, steps = simulation.params.new_tensor(w).expand_as(simulation.params), []
        while not simulation.done:
            simulation.params.copy_(start)
            simulation.step()
            steps.append(simulation.params.numpy() - w)
        for trial, mine in zip(listed, np.stack(steps, axis=1), strict=True):
            row = _compared(problem, trial, losses, slopes, mine.mean(0))
            drawn = case.random and not isinstance(training.participation, Given)
            noise = _noise(mine, slopes, problem.lr) if drawn and training.rounds > 1 else 0.0
            row |= {"case": case.name, "round": SPENT, "draws": training.rounds, "noise": noise}
            rows.append(
                row | {"beyond": _beyond(trial, losses), "losses": json.dumps(losses.tolist())}
            )
    return pd.DataFrame(rows).assign(kind="at one model", world=name, seed=seed)


def _compared(
    problem: StepProblem, trial: Trial, losses: Array, slopes: Array, step: Array
) -> dict[str, object]:
    found, dual = effective_weights(step, slopes, problem.lr), trial.dual(losses, problem.parts.p)
    return {
        "algorithm": trial.name,
        "objective": repr(trial.aim),
        "M": getattr(trial.aim, "M", None),
        "off": apart(found.weights, dual),
        "outside": found.outside,
        "weights": json.dumps(scaled("weights", found.weights).tolist()),
        "dual": json.dumps((dual / dual.sum()).tolist()),
    }


def _noise(steps: Array, slopes: Array, lr: float) -> float:
    """How far off draws alone put the weights of the mean step: half the sum of their standard
    errors, scaled alike.

    From ten groups of draws, every tenth in one (as many groups as draws where there are fewer).
    """
    count = min(GROUPS, len(steps))
    found = np.stack(
        [effective_weights(steps[g::count].mean(0), slopes, lr).weights for g in range(count)]
    )
    return float(found.std(axis=0, ddof=1).sum() / np.sqrt(count) / np.abs(found.mean(0)).sum() / 2)


def _beyond(trial: Trial, losses: Array) -> int:
    """How many clients are beyond PropFair's threshold."""
    rule = trial.algorithm
    return int((losses > rule.M - rule.epsilon).sum()) if isinstance(rule, PropFair) else 0


def _kept(step: Array, slopes: Array, losses: Array, problem: StepProblem, trial: Trial) -> str:
    """A step as the claims keep it, JSON."""
    inside, gradients, rest = in_their_span(step, slopes)
    rule = trial.algorithm
    named = {"M": rule.M, "epsilon": rule.epsilon} if isinstance(rule, PropFair) else {}
    if isinstance(trial.aim, aims.PropFair):
        named["M"] = trial.aim.M
    kept = {
        "step": inside.tolist(),
        "gradients": gradients.tolist(),
        "rest": rest,
        "losses": losses.tolist(),
    }
    return json.dumps({**named, **kept, "p": problem.parts.p.tolist(), "lr": problem.lr})


ASCENTS = {"AFL, steady rates": False, "AFL, falling rates": True}
AFL_RATE, FALL = 0.1, Polynomial(1.0, 40.0)


def mixtures(seed: int, rounds: int, marks: Sequence[int]) -> pd.DataFrame:
    """AFL on quadratics: its mixture, and the mean of its mixtures, against the dual weights of the
    optimum.

    The mixture is the weight in the step (``by_round`` measures that it is for all that weigh by
    the server); near the optimum it cannot be measured, since there the gradients are dependent.
    """
    problem = step_problem("quadratic", seed)
    least_squares = Problem(problem.parts)
    best = solve_minimax(
        least_squares.losses, aims.AFL(), np.zeros(problem.model.size), jac=least_squares.gradients
    )
    dual, rows = np.asarray(best.dual_weights), []
    n = least_squares.y.shape[1]
    forms = {
        "squares": (np.einsum("kni,knj->kij", least_squares.x, least_squares.x) / n).tolist(),
        "products": (np.einsum("kni,kn->ki", least_squares.x, least_squares.y) / n).tolist(),
        "constants": (least_squares.y**2).mean(1).tolist(),
    }
    for name, falling in ASCENTS.items():
        training = ONE.training(problem, rounds)
        training = replace(training, schedule=FALL) if falling else training
        simulation = problem.simulation([AFL(AFL_RATE)], training, seed)
        total, weight = np.zeros(problem.clients), 0.0
        while not simulation.done:
            share = training.schedule(simulation.round, rounds)
            simulation.step()
            total += share * simulation.weights[0][1]
            weight += share
            if simulation.round in marks:
                losses = problem.losses(simulation.params[0].numpy())
                gap = float(losses.max()) / best.value - 1
                here = {"last": simulation.weights[0][1], "mean": total / weight}
                rows += [
                    {
                        "algorithm": name,
                        "case": which,
                        "round": simulation.round,
                        "off": apart(mine, dual),
                        "gap": gap,
                        "weights": json.dumps(mine.tolist()),
                        "dual": json.dumps(dual.tolist()),
                        "step": json.dumps(forms) if simulation.round == max(marks) else None,
                    }
                    for which, mine in here.items()
                ]
    return pd.DataFrame(rows).assign(
        kind="mixtures", world="quadratic", seed=seed, objective="AFL()", draws=1
    )
