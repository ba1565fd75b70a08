"""Which algorithms reach the optimum of the objective they are named after: least squares and
softmax regression, full gradients, ten seeds.

``python -m fairfl.studies.convergence`` prints the tables of docs/results/convergence.md.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import torch

from fairfl._support.checks import Array
from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.dual_weighted import DualWeighted
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.fedmgda import FedMGDA
from fairfl.sims.algorithms.fedprox import FedProx
from fairfl.sims.algorithms.fedsgd import FedSGD
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.min_norm import min_norm_weights
from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.algorithms.qfedsgd import QFedSGD
from fairfl.sims.algorithms.term import TERM
from fairfl.sims.engine import (
    Aggregate,
    Algorithm,
    Computing,
    LocalTask,
    Polynomial,
    Received,
    Replicate,
    Round,
    Simulation,
    Sum,
    Training,
)
from fairfl.sims.engine.algorithm import State
from fairfl.solvers.minimax.solution import MinimaxSolution
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.studies.least_squares_problem import Problem
from fairfl.studies.softmax_problem import SoftmaxProblem
from fairfl.theory import aggregation as aims

CLIENTS = 4
LARGEST = 1.2
"""Of the losses of w = 0 in least squares, that PropFair's baselines suit every seed; softmax has
log 3.
"""
SMOOTH = 1e-9
"""A gap that counts as reached where the objective is smooth; ``resolution`` is that at kinks."""
ROUNDS, SLOW_ROUNDS = 500, 1500
SHRINKING = Polynomial(1.0, 40.0)
"""The factor on the steps of the slow rounds: at kinks steps of a constant length do not settle."""
SET, TOLD = range(3), range(3, 10)
"""Seeds on which tolerances and rounds were chosen, and those that the tables show."""
AnyProblem = Problem | SoftmaxProblem


def least_squares(seed: int) -> Problem:
    """Its losses in the range of the baselines."""
    return Problem.make(seed).scaled(LARGEST)


PROBLEMS: dict[str, Callable[[int], AnyProblem]] = {
    "least squares": least_squares,
    "softmax": SoftmaxProblem.make,
}
"""By name, of a seed."""


@dataclass(frozen=True)
class Trial:
    """An algorithm, the objective it is named after, and how it is run: with ``kinked``, in the
    slow rounds with shrinking steps.
    """

    algorithm: Algorithm
    aim: aims.Objective | None
    kinked: bool = False
    tilt: float = 0.0
    batch: int | None = None
    note: str = ""


GINI, Z = aims.RankWeighted.gini(), aims.RankWeighted.geometric(0.5)
LAM = 0.02
# p_k + lam r_k in the order of falling losses, r_k = n + 1 - 2 k: a rank-weighted mean where all
# p_k are alike
PENALISED = aims.RankWeighted(
    tuple(1 / CLIENTS + LAM * (CLIENTS + 1 - 2 * k) for k in range(1, CLIENTS + 1))
)

TRIALS: tuple[Trial, ...] = (
    Trial(FedSGD(), aims.FedAvg()),
    Trial(FedAvg(), aims.FedAvg()),
    Trial(FedProx(1.0), aims.FedAvg()),
    Trial(Ditto(1.0), aims.FedAvg(), note="the global model"),
    Trial(QFedSGD(2.0), aims.QFFL(2.0)),
    Trial(QFedAvg(2.0), aims.QFFL(2.0)),
    Trial(QFedAvg(2.0, variant="printed"), aims.QFFL(2.0), note="line 6 as printed"),
    Trial(DualWeighted(aims.QFFL(2.0)), aims.QFFL(2.0)),
    Trial(TERM(2.0), aims.TERM(2.0)),
    Trial(TERM(2.0, tau=0.5), aims.TERM(2.0), tilt=0.5, note="hierarchical, of the tilted risks"),
    Trial(TERM(2.0, tau=0.5), aims.TERM(2.0), tilt=0.5, batch=6, note="the same"),
    Trial(DualWeighted(aims.TERM(2.0)), aims.TERM(2.0)),
    Trial(PropFair(6.0, rescale=True), aims.PropFair(6.0)),
    Trial(PropFair(6.0, rescale=True), aims.PropFair(6.0), batch=6),
    Trial(PropFair(2.5, 1.6), aims.PropFair(2.5), note="with clients beyond the threshold"),
    Trial(
        PropFair(2.5, 1.6, "linear"), aims.PropFair(2.5), note="the same, continued by the tangent"
    ),
    Trial(PropFair(2.5, 1.6, "quadratic"), aims.PropFair(2.5), note="the same, to second order"),
    Trial(DualWeighted(aims.PropFair(2.5)), aims.PropFair(2.5), note="no threshold"),
    Trial(DualWeighted(aims.PropFair(6.0)), aims.PropFair(6.0)),
    Trial(PFedAvg(GINI), GINI, kinked=True),
    Trial(PFedAvg(Z), Z, kinked=True),
    Trial(DualWeighted(GINI), GINI, kinked=True),
    Trial(GIFAIR(LAM), PENALISED, kinked=True, note="mean and penalty are one rank-weighted mean"),
    Trial(AFL(0.1), aims.AFL(), kinked=True, note="the mixture is the weight"),
    Trial(AFL(0.1, "exponentiated"), aims.AFL(), kinked=True, note="the mixture is the weight"),
    Trial(DualWeighted(aims.AFL()), aims.AFL(), kinked=True),
    Trial(FedMGDA(1.0, normalize=False), None, note="MGDA: any Pareto stationary point will do"),
    Trial(FedMGDA(0.1), None, kinked=True, note="any Pareto stationary point will do"),
)


@dataclass(frozen=True)
class Watched(Algorithm):
    """An algorithm that is looked at: ``seen`` has w^t, what its server received, and the weights
    it gave.
    """

    inner: Algorithm
    seen: list[tuple[Array, Received, Array]] = field(default_factory=list, compare=False)

    @property
    def needs_losses(self) -> bool:  # type: ignore[override]
        """As the inner one."""
        return self.inner.needs_losses

    @property
    def tilt(self) -> float:
        return self.inner.tilt

    def start(self, clients: int, weights: Array, params: torch.Tensor) -> State:
        return self.inner.start(clients, weights, params)

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        return self.inner.client(round)

    def ask(self, part: Received) -> torch.Tensor | None:
        return self.inner.ask(part)

    def server(self, received: Received) -> Aggregate:
        made = self.inner.server(received)
        result = made.taken() if isinstance(made, Sum) else made
        self.seen[:] = [(received.params.numpy().copy(), received, result.weights)]
        return result


def run(
    problem: AnyProblem, trials: Sequence[Trial], steps: int, short: float = 1.0
) -> list[tuple[Array, Array]]:
    """Where each algorithm ends (d,), and its effective weights (K,), averaged over the second half
    of the rounds.

    The effective weight of a client is that of its gradient in the step: the server's weight times
    the factor on the gradient in the client's first local step, where PropFair and GIFAIR have
    theirs.
    """
    results: list[tuple[Array, Array]] = [(np.zeros(0), np.zeros(0))] * len(trials)
    computing = Computing(device="cpu", dtype="float64")
    together: dict[Training, list[int]] = defaultdict(list)
    for i, trial in enumerate(trials):
        together[_training(problem, trial, steps, short)].append(i)
    for training, members in together.items():
        watched = [Watched(trials[i].algorithm) for i in members]
        replicates = [Replicate(w) for w in watched]
        simulation = Simulation(problem.model, problem.data, replicates, training, computing)
        sums = np.zeros((len(members), CLIENTS))
        while not simulation.done:
            simulation.step()
            if simulation.round > training.rounds // 2:
                pairs = zip(watched, members, strict=True)
                sums += [_effective(problem, w, steps, trials[i].tilt) for w, i in pairs]
        for i, w, total in zip(members, simulation.params.numpy(), sums, strict=True):
            results[i] = w.copy(), total / total.sum()
    return results


def _training(problem: AnyProblem, trial: Trial, steps: int, short: float) -> Training:
    rounds = int(short * (SLOW_ROUNDS if trial.kinked else ROUNDS))
    plain = Training(rounds, problem.rate, trial.batch, steps=steps)
    if not trial.kinked:
        return plain
    if trial.aim is None:  # normalised updates shrink by the server's rate alone
        return replace(plain, server_schedule=SHRINKING, server_lr=0.5)
    return replace(plain, schedule=SHRINKING)


def _effective(problem: AnyProblem, watched: Watched, steps: int, tilt: float) -> Array:
    """Weights of the gradients at w^t in one step; the server's alone where there are several local
    steps.
    """
    before, received, weights = watched.seen[0]
    if steps > 1:
        return weights * received.lr
    slopes = problem.gradients(before, tilt)
    return -weights * (received.updates.numpy() * slopes).sum(1) / (slopes**2).sum(1)


def pareto(problem: AnyProblem, w: Array, tilt: float = 0.0) -> float:
    """min over the simplex of ||sum v_k grad F_k(w)||², over the square of the gradients' mean
    length: 0 where Pareto stationary. The square is of the order of an excess of losses.
    """
    slopes = problem.gradients(w, tilt)
    scale = float(np.linalg.norm(slopes, axis=1).mean())
    gram = slopes @ slopes.T / scale**2
    v = min_norm_weights(gram, np.full(CLIENTS, 1 / CLIENTS), 1.0)
    return max(float(v @ gram @ v), 0.0)


def resolution(problem: AnyProblem, trial: Trial, best: MinimaxSolution, short: float) -> float:
    """The gap that counts as reached: eta_T G² / (2 A*) at kinks, at least ``SMOOTH``.

    Subgradient steps of a constant length eta end within eta G² / 2 of the optimum, where no
    subgradient is longer than G, and at a kink they need not come nearer. eta_T is the last step,
    and G the longest of the clients' gradients at the optimum: weights sum to one at these kinks.
    Where the objective is smooth the gap shrinks at a linear rate.

    Source: Nedic and Bertsekas, Incremental subgradient methods for nondifferentiable optimization
    (SIAM J. Optimization 2001), proposition 2.1.
    """
    training = _training(problem, trial, 1, short)
    last = training.lr * training.schedule(training.rounds - 1, training.rounds)
    slope = np.square(problem.gradients(best.theta, trial.tilt)).sum(1).max()
    return max(SMOOTH, last * float(slope) / (2 * abs(best.value))) if trial.kinked else SMOOTH


def table(
    trials: Sequence[Trial] = TRIALS,
    short: float = 1.0,
    seeds: Sequence[int] = (2,),
    problems: Sequence[str] = ("least squares",),
) -> pd.DataFrame:
    """A row for each problem, seed and trial: gaps above the optimum and distances from it, one and
    five local steps (in a fifth of the rounds), and the weights.

    ``gap`` is (A(F(w)) - A*) / A*, and for FedMGDA+ ``pareto``; ``distance`` is
    the Euclidean one to the optimum, which softmax has no unique one of; ``weights off`` the
    largest difference between the effective weights of the algorithm, normalised, and the dual
    weights of the optimum, normalised.
    """
    return pd.DataFrame(
        [
            {"problem": name, "seed": seed, **row}
            for name in problems
            for seed in seeds
            for row in _rows(PROBLEMS[name](seed), trials, short)
        ]
    )


def _rows(problem: AnyProblem, trials: Sequence[Trial], short: float) -> list[dict[str, Any]]:
    ends = {steps: run(problem, trials, steps, short / steps) for steps in (1, 5)}
    rows = []
    for i, trial in enumerate(trials):
        row: dict[str, Any] = {"algorithm": trial.algorithm, "aim": trial.aim, "note": trial.note}
        row |= {"batch": trial.batch, "tolerance": SMOOTH} | {
            f"weights {steps}": done[i][1] for steps, done in ends.items()
        }
        if trial.aim is None:
            row |= {f"gap {steps}": pareto(problem, done[i][0]) for steps, done in ends.items()}
        else:
            best = _optimum(problem, trial.aim, trial.tilt)
            dual = np.asarray(best.dual_weights) / np.sum(best.dual_weights)
            row["tolerance"] = resolution(problem, trial, best, short)
            row |= {"dual": dual, "weights off": float(np.abs(ends[1][i][1] - dual).max())}
            for steps, done in ends.items():
                value = float(trial.aim.value(problem.losses(done[i][0], trial.tilt)))
                row[f"gap {steps}"] = (value - best.value) / abs(best.value)
                row[f"distance {steps}"] = float(np.linalg.norm(done[i][0] - best.theta))
        row["reached"] = abs(row["gap 1"]) <= row["tolerance"]
        rows.append(row)
    return rows


def _optimum(problem: AnyProblem, aim: aims.Objective, tilt: float) -> MinimaxSolution:
    def losses(w: Array) -> Array:
        return problem.losses(w, tilt)

    return solve_minimax(
        losses, aim, np.zeros(problem.model.size), jac=lambda w: problem.gradients(w, tilt)
    )


def markdown(rows: pd.DataFrame, trials: Sequence[Trial] = TRIALS) -> str:
    """The table for docs/results/convergence.md of one problem, a line a trial: in how many seeds
    it reached the optimum, and medians over the seeds, the largest in brackets.
    """
    head = ("algorithm", "objective", "reached", "gap", "weights off", "gap, 5 local steps", "note")
    lines = [head, tuple("---" for _ in head)]
    for i, trial in enumerate(trials):
        part = rows.iloc[i :: len(trials)]
        batch = f"batches of {trial.batch:.0f}" if trial.batch else ""
        count = int(part["reached"].sum())
        lines.append(
            (
                f"`{_call(trial.algorithm)}`",
                "" if trial.aim is None else f"`{trial.aim!r}`",
                f"{count} of {len(part)}" if count == len(part) else f"**{count}** of {len(part)}",
                *(_figures(part[name]) for name in ("gap 1", "weights off", "gap 5")),
                ", ".join(text for text in (trial.note, batch) if text),
            )
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _figures(values: Any) -> str:
    """The median, and the largest where it is another."""
    size = np.abs(np.asarray(values, dtype=float))
    if np.isnan(size).all():
        return ""
    middle, most = _figure(float(np.median(size))), _figure(float(size.max()))
    return middle if middle == most else f"{middle} ({most})"


def _figure(value: float) -> str:
    return "< 1e-9" if abs(value) < 1e-9 else f"{value:.1e}"


def _call(algorithm: Algorithm) -> str:
    """How it is made, without what is left at its default."""
    plain = type(algorithm)()
    given = [
        (f.name, getattr(algorithm, f.name))
        for f in dataclasses.fields(algorithm)
        if getattr(algorithm, f.name) != getattr(plain, f.name)
    ]
    return f"{type(algorithm).__name__}({', '.join(f'{name}={value!r}' for name, value in given)})"


if __name__ == "__main__":
    for name in PROBLEMS:
        print(f"\n## {name}\n\n{markdown(table(seeds=TOLD, problems=(name,)))}")
