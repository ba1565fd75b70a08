r"""q-FFL towards AFL as q grows, PropFair towards FedAvg as M grows: trained models against rates
and constants.

Let λ be AFL's dual weights, positive for two clients or more, and V its value. q-FFL's optimum has
F_k^q in proportion to its weights, which tend to λ, and Σ λ_k F_k is stationary at AFL's optimum.
So log(F_k / V) = (H(λ) + log λ_k) / q + O(1/q²), H the entropy, and

    max_k F_k / V - 1 = (H(λ) + log max_k λ_k) / q + O(1/q²).

PropFair's weights are 1 / (M - F_k) = (1 + F_k / M + ...) / M. With v = mean_k (F_k - mean F) ∇F_k
and D the Hessian of mean F at FedAvg's optimum, mean F exceeds its least value by v' D^-1 v / (2
M²) + O(1/M³).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import Computing, Replicate, Simulation, Training
from fairfl.solvers.minimax.solution import MinimaxSolution
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.studies.convergence import PROBLEMS, AnyProblem
from fairfl.studies.crosscheck.rates import TOO_FEW, Rate
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.crosscheck.told import counted, every, series, summary
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups, rows
from fairfl.theory import aggregation as aims

NAME = "limits"
TITLE = "q-FFL towards AFL and PropFair towards FedAvg: rates and constants"
SEEDS = {"quick": 1, "paper": 16}
SEEN = 11

QS, MS = (8.0, 16.0, 32.0, 64.0, 128.0), (5.0, 10.0, 20.0, 40.0, 80.0)
QFFL, PROPFAIR = "q-FFL", "PropFair"
ROUNDS = (400, 2000)
"""q-FedAvg's step is (sum F_k^q g_k) / sum (L F_k^q + q F_k^(q-1) ||g_k||²). The second term
grows with q and stays at the optimum, where the g_k do not vanish: rounds are in proportion to the
largest q. 1,000 are enough up to q = 64.
"""
TOLERANCE = 1e-7
"""Of the hard inequalities, relative: the solver's is 1e-8."""
TRAINED, CONSTANT = 0.01, 0.1
"""Relative: of a trained model's distance from the exact optimum's, and of that at the largest q or
M from its constant. Set on the seeds that were seen.
"""
STEP = 1e-5


def units(scale: Scale) -> list[Unit]:
    """Least squares and softmax regression of four clients, a unit a seed."""
    rounds = ROUNDS[scale.paper]
    return [
        Unit(f"limits-{name.replace(' ', '-')}-{rounds}-{seed}", name, seed, (), made)
        for name in PROBLEMS
        for seed in range(scale.seeds)
        for made in [partial(measure, name, seed, rounds)]
    ]


def measure(name: str, seed: int, rounds: int) -> pd.DataFrame:
    """A row for each q and M: how far the trained model, and the exact optimum, are from the
    limit's value, relative; the bound of that, and its constant (NaN where one client alone has
    weight).
    """
    problem = PROBLEMS[name](seed)
    afl, mean = optimum(problem, aims.AFL()), optimum(problem, aims.FedAvg())
    algorithms = [*(QFedAvg(q) for q in QS), *(PropFair(M, rescale=True) for M in MS)]
    training = Training(rounds=rounds, lr=problem.rate, batch_size=None, steps=1)
    computing = Computing(device="cpu", dtype="float64")
    replicates = [Replicate(algorithm) for algorithm in algorithms]
    simulation = Simulation(problem.model, problem.data, replicates, training, computing)
    while not simulation.done:
        simulation.step()
    trained = [problem.losses(w) for w in simulation.params.numpy()]
    worst, least = float(afl.losses.max()), float(mean.losses.mean())
    lines = []
    for q, losses in zip(QS, trained, strict=False):
        exact = optimum(problem, aims.QFFL(q)).losses
        found = {"trained": losses.max() / worst - 1, "exact": exact.max() / worst - 1}
        bound, constant = len(losses) ** (1 / (q + 1)) - 1, worst_constant(afl.dual_weights)
        lines.append(
            {"objective": QFFL, "parameter": q, **found, "bound": bound, "constant": constant}
        )
    constant = mean_constant(problem, mean.theta) / least
    for M, losses in zip(MS, trained[len(QS) :], strict=True):
        exact = optimum(problem, aims.PropFair(M)).losses
        found = {"trained": losses.mean() / least - 1, "exact": exact.mean() / least - 1}
        room = M - mean.losses
        bound = float(room.mean() - np.exp(np.log(room).mean())) / least
        lines.append(
            {"objective": PROPFAIR, "parameter": M, **found, "bound": bound, "constant": constant}
        )
    return pd.DataFrame(lines).assign(world=f"{name}, seed {seed}", problem=name, seed=seed)


def optimum(problem: AnyProblem, aim: aims.Objective) -> MinimaxSolution:
    """The exact one, from w = 0."""
    return solve_minimax(problem.losses, aim, np.zeros(problem.model.size), jac=problem.gradients)


def worst_constant(weights: Array) -> float:
    """H(λ) + log max λ of dual weights, 0 where they are even; NaN where one client has all."""
    share = np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum()
    some = share[share > 1e-6]
    return float(np.log(some.max()) - some @ np.log(some)) if some.size > 1 else float("nan")


def mean_constant(problem: AnyProblem, w: Array) -> float:
    """v' D^-1 v / 2, D by central differences of the mean gradient, singular along constants."""
    losses, slopes = problem.losses(w), problem.gradients(w)
    v = (losses - losses.mean()) @ slopes / len(losses)
    moved = [problem.gradients(w + s * STEP * e).mean(0) for e in np.eye(len(w)) for s in (1, -1)]
    hessian = np.array([up - down for up, down in zip(moved[::2], moved[1::2], strict=True)])
    return float(v @ np.linalg.pinv(hessian / (2 * STEP), rcond=1e-6) @ v) / 2


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By problem, objective and q or M: medians over seeds; times q or M² what tends to the
    constant.
    """

    def of(part: pd.DataFrame) -> dict[str, Any]:
        medians = {n: float(np.median(floats(part, n))) for n in ("trained", "exact", "bound")}
        over = floats(part, "trained") * _power(part) / floats(part, "constant")
        return {"seeds": len(part), **medians, "over its constant": float(np.nanmedian(over))}

    found = summary(measures, ["problem", "objective", "parameter"], of)
    return {"limits": found.rename(columns={"parameter": "q or M"})}


def _power(part: pd.DataFrame) -> Array:
    """q or M²."""
    value = floats(part, "parameter")
    return np.where(part["objective"] == QFFL, value, value**2)


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """For each limit the bound, the rate and the constant; and whether training got there."""
    return (
        _bound(
            measures,
            QFFL,
            "q-bound",
            "At q-FFL's exact optimum the largest loss is at most n^(1/(q+1)) times AFL's value.",
        ),
        _bound(
            measures,
            PROPFAIR,
            "m-bound",
            "At PropFair's exact optimum the mean loss exceeds its least value by at most the "
            "arithmetic less the geometric mean of M - F_k there.",
        ),
        _trained(measures),
        *_speed(measures, QFFL, "q", 1),
        *_speed(measures, PROPFAIR, "m", 2),
    )


def _bound(measures: pd.DataFrame, objective: str, name: str, asked: str) -> Verdict:
    part = among(measures, "objective", [objective])
    exact, bound = floats(part, "exact"), floats(part, "bound")
    inside = (exact <= bound + TOLERANCE) & (exact >= -TOLERANCE)
    told = f"{_what(part)}: {np.max(exact / bound):.2f} of the bound at most"
    return every(name, part, inside, asked, told, hard=True)


def _trained(measures: pd.DataFrame) -> Verdict:
    off = np.abs(floats(measures, "trained") / floats(measures, "exact") - 1)
    enough = floats(measures, "seed").max() > 0  # the quick profile trains for too few rounds
    return Verdict(
        "training-reaches-the-optimum",
        bool((off <= TRAINED).all()) if enough else None,
        False,
        f"Trained models are as far from the limit as exact optima, within {TRAINED:.0%}.",
        f"{_what(measures)}: {off.max():.1e} off at most",
    )


def _speed(
    measures: pd.DataFrame, objective: str, name: str, power: int
) -> tuple[Verdict, Verdict]:
    part = among(measures, "objective", [objective])
    part = rows(part, ~np.isnan(floats(part, "constant")))
    value, off = floats(part, "parameter"), floats(part, "trained")
    rate = Rate.of(value, off, part["world"]) if len(part) else None
    told = TOO_FEW if rate is None else f"{rate}, n standing for {name}; {_what(part)}"
    far = rows(part, value == value.max(initial=0.0))
    ratio = floats(far, "trained") * _power(far) / floats(far, "constant")
    span = f"{ratio.min(initial=np.inf):.3f} to {ratio.max(initial=0.0):.3f} of it"
    return (
        Verdict(
            f"{name}-rate",
            None if rate is None else rate.is_near(-power),
            False,
            f"The distance from the limit falls like {name}^-{power}.",
            told,
        ),
        every(
            f"{name}-constant",
            far,
            np.abs(ratio - 1) <= CONSTANT,
            f"Times {name}^{power} it is within {CONSTANT:.0%} of the derived constant at the "
            f"largest {name}.",
            f"{_what(far)}: {span} at {name} = {value.max():g}" if len(far) else _what(far),
        ),
    )


def _what(part: pd.DataFrame) -> str:
    return counted(part, f"models, {', '.join(dict.fromkeys(part['problem']))}")


def falling(measures: pd.DataFrame) -> pd.DataFrame:
    """Medians over seeds of trained models, the bound, and the constant over its power."""
    parts = []
    for (objective, problem), part in groups(measures, ["objective", "problem"]):
        value = floats(part, "parameter")
        each = np.unique(value)
        limit = floats(part, "constant") / _power(part)
        panel = f"{objective}, {problem}"
        for name, kind, y in (
            ("trained", "points", floats(part, "trained")),
            ("derived constant", "line", limit),
            ("bound", "path", floats(part, "bound")),
        ):
            middle = [np.nanmedian(y[value == v]) for v in each]
            parts.append(series(panel, name, kind, each, middle))
    return pd.concat(parts, ignore_index=True)


PICTURES = (
    Drawing(
        "crosscheck-limits",
        "Largest loss above AFL's, mean loss above FedAvg's (medians over seeds)",
        "q, or M",
        "relative excess",
        falling,
        "xy",
    ),
)
