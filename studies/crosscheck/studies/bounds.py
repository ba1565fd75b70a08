r"""Bounds of the papers on trained models: PropFair's theorem 3.3, q-FFL's lemma 12 and theorem 11.

Softmax regression, whose constants are known for all models: its Hessian is at most half of the
largest eigenvalue of E x x', a gradient at most √2 E |x|. Its losses clipped at a number have, on
models of norm at most B, a complexity of at most 4 B sqrt(C E |x|² / n) (symmetrisation, and
Maurer's contraction of vectors).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg, QFedSGD
from fairfl.sims.engine import Algorithm, Computing, Replicate, Simulation, Training
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.crosscheck.told import counted, every, series, summary
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups
from fairfl.studies.softmax_problem import SoftmaxProblem
from fairfl.theory import aggregation as aims
from fairfl.theory.bounds.generalisation import uniform_generalisation_bound
from fairfl.theory.bounds.propfair import propfair_convergence

NAME = "bounds"
TITLE = "Bounds of PropFair's theorem 3.3, q-FFL's lemma 12 and theorem 11 on trained models"
SEEDS = {"quick": 1, "paper": 5}

M, STEPS = 6.0, (1, 5)
"""PropFair's baseline: losses start at log 3 and must stay below M / 2. Local steps."""
QS, Q = (1.0, 2.0, 5.0), 2.0
PEOPLE, FRESH = (24, 240, 2_400), 4_000
"""Rows of a client for theorem 11, and rows that stand for its law."""
CLIP, RADIUS, RISK = 3.0, 4.0, 0.05
THEOREM, LEMMA, GENERAL = "theorem 3.3", "lemma 12", "theorem 11"
STEP = 1e-5


def units(scale: Scale) -> list[Unit]:
    """A unit a seed."""
    rounds = 200 if scale.paper else 40
    return [
        Unit(f"bounds-{rounds}-{seed}", "softmax", seed, (), partial(measure, seed, rounds))
        for seed in range(scale.seeds)
    ]


def measure(seed: int, rounds: int) -> pd.DataFrame:
    """A row a statement and setting: ``observed``, the ``bound`` as repaired, as ``printed``."""
    small = SoftmaxProblem.make(seed)
    lines = [_theorem(small, steps, rounds) for steps in STEPS]
    lines += [_lemma(small, q, rounds) for q in QS]
    large = SoftmaxProblem.make(seed, samples=PEOPLE[-1] + FRESH)
    fresh = large.rows(slice(PEOPLE[-1], None))
    lines += [_general(large.rows(slice(count)), fresh, rounds) for count in PEOPLE]
    return pd.DataFrame(lines).assign(seed=seed, world="softmax", rounds=rounds)


def visited(
    problem: SoftmaxProblem, algorithm: Algorithm, lr: float, steps: int, rounds: int
) -> list[Array]:
    """The models of every round, the first and the last among them."""
    training = Training(rounds=rounds, lr=lr, batch_size=None, steps=steps)
    computing = Computing(device="cpu", dtype="float64")
    simulation = Simulation(
        problem.model, problem.data, [Replicate(algorithm)], training, computing
    )
    models = [simulation.params[0].numpy().copy()]
    while not simulation.done:
        simulation.step()
        models.append(simulation.params[0].numpy().copy())
    return models


def smoothness(problem: SoftmaxProblem) -> Array:
    """(K,) L of each client: half of the largest eigenvalue of its mean x x'."""
    second = np.einsum("kni,knj->kij", problem.x, problem.x) / problem.x.shape[1]
    return np.linalg.eigvalsh(second)[:, -1] / 2


def _theorem(problem: SoftmaxProblem, steps: int, rounds: int) -> dict[str, Any]:
    slope = np.sqrt(2) * np.linalg.norm(problem.x, axis=2).mean(1).max()
    clients = len(problem.x)

    def value(losses: Array) -> float:
        return -float(np.log(M - losses).mean())

    start = np.zeros(problem.model.size)
    best = solve_minimax(problem.losses, aims.PropFair(M), start, jac=problem.gradients)
    gap = value(problem.losses(np.zeros(problem.model.size))) - value(best.losses)
    given = {"gap": gap, "M": M, "L": float(smoothness(problem).max()), "lipschitz": slope}
    given |= {"between": 2 * slope, "between_loss": M / 2, "steps": [steps] * clients}
    limits = {
        name: propfair_convergence(**given, rounds=1, eta=1e-12, variant=name).step_limit
        for name in ("repaired", "printed")
    }
    eta = min(limits.values())
    models = visited(problem, PropFair(M), eta, steps, rounds)
    worst = max(float(problem.losses(w).max()) for w in models)
    squares = []
    for w in models[:-1]:
        weights = 1 / (M - problem.losses(w)) / clients
        squares.append(float(((weights @ problem.gradients(w)) ** 2).sum()))
    bounds = {
        name: propfair_convergence(**given, rounds=rounds, eta=eta, variant=name).value
        for name in limits
    }
    line = {"statement": THEOREM, "setting": float(steps), "observed": min(squares), "rose": 0}
    return (
        line
        | {"bound": bounds["repaired"] if worst <= M / 2 else np.nan}
        | {"printed": bounds["printed"]}
    )


def _lemma(problem: SoftmaxProblem, q: float, rounds: int) -> dict[str, Any]:
    """The largest ratio of the Hessian's norm to L_q over all visited models and clients."""
    models = visited(problem, QFedSGD(q), problem.rate, 1, rounds)
    L, ratios = smoothness(problem), []
    for w in models[:: max(1, rounds // 20)]:
        losses, slopes = problem.losses(w), problem.gradients(w)
        moved = [
            problem.gradients(w + STEP * e) - problem.gradients(w - STEP * e)
            for e in np.eye(len(w))
        ]
        hessians = np.stack(moved, axis=1) / (2 * STEP)
        for loss, slope, hessian, most in zip(losses, slopes, hessians, L, strict=True):
            power = q * loss ** (q - 1) * np.outer(slope, slope) + loss**q * hessian
            bound = most * loss**q + q * loss ** (q - 1) * (slope @ slope)
            ratios.append(float(np.linalg.norm((power + power.T) / 2, 2)) / bound)
    values = np.array([(problem.losses(w) ** (q + 1)).sum() for w in models])
    rose = int((np.diff(values) > 1e-12 * values[:-1]).sum())
    line = {"statement": LEMMA, "setting": q, "observed": max(ratios)}
    return line | {"bound": 1.0, "printed": 1.0, "rose": rose}


def _general(problem: SoftmaxProblem, fresh: SoftmaxProblem, rounds: int) -> dict[str, Any]:
    """The worst mixture's loss on the laws, that of the worst client, against the bounds."""
    w = visited(problem, QFedAvg(Q), problem.rate, 1, rounds)[-1]
    own, law = (np.minimum(part.each(w), CLIP).mean(1) for part in (problem, fresh))
    count = problem.x.shape[1]
    size = (fresh.x**2).sum(2).mean(1)
    complexity = 4 * RADIUS * np.sqrt(problem.classes * size / count)
    given = {"bound": CLIP, "samples": count, "delta": RISK}
    bound = uniform_generalisation_bound(own, Q, complexity=complexity, **given)
    printed = uniform_generalisation_bound(
        own, Q, complexity=float(complexity.max()), variant="printed", **given
    )
    inside = float(np.linalg.norm(w)) <= RADIUS
    line = {"statement": GENERAL, "setting": float(count), "observed": float(law.max()), "rose": 0}
    return line | {"bound": float(bound) if inside else np.nan, "printed": float(printed)}


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By statement and setting: the largest observed, and the least of bound over observed."""

    def of(part: pd.DataFrame) -> dict[str, Any]:
        seen = floats(part, "observed")
        return {
            "seeds": len(part),
            "observed, most": float(seen.max()),
            "bound / observed, least": float((floats(part, "bound") / seen).min()),
            "printed / observed, least": float((floats(part, "printed") / seen).min()),
            "rounds that rose": int(floats(part, "rose").sum()),
        }

    return {"bounds-on-models": summary(measures, ["statement", "setting"], of)}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """Two theorems; what holds with a probability; and what has no theorem."""
    within = tuple(_within(measures, name, *row) for name, row in WITHIN.items())
    return (*within, _informative(measures), _descends(measures))


WITHIN = {
    "theorem-3.3-holds": (
        THEOREM,
        "bound",
        "The least squared gradient of PropFair's runs is within theorem 3.3, repaired.",
    ),
    "theorem-3.3-printed-holds": (THEOREM, "printed", "And within theorem 3.3 as printed."),
    "lemma-12-holds": (
        LEMMA,
        "bound",
        "At every model that q-FedSGD visits, the Hessian of F^(q+1)/(q+1) is at most L_q.",
    ),
    "theorem-11-holds": (
        GENERAL,
        "bound",
        f"The worst client's loss on its law is within theorem 11, repaired (risk {RISK}).",
    ),
    "theorem-11-printed-holds": (
        GENERAL,
        "printed",
        "And within theorem 11 as printed, which is no bound for all laws.",
    ),
}
"""Verdict: the statement, the column of its bound, what is asked."""


def _within(measures: pd.DataFrame, name: str, statement: str, column: str, asked: str) -> Verdict:
    hard = name in ("theorem-3.3-holds", "lemma-12-holds")
    part = among(measures, "statement", [statement])
    ratio = floats(part, column) / floats(part, "observed")
    told = f"the bound is {ratio.min():.3g} to {ratio.max():.3g} times as large"
    return every(name, part, ratio >= 1 - 1e-6, asked, f"{counted(part, 'runs')}: {told}", hard)


def _informative(measures: pd.DataFrame) -> Verdict:
    part = among(measures, "statement", [GENERAL])
    said = [
        f"{count:,.0f} rows: {floats(mine, 'bound').mean():.2f}, truly "
        f"{floats(mine, 'observed').mean():.2f}"
        for (count,), mine in groups(part, ["setting"])
    ]
    return every(
        "theorem-11-says-something",
        part,
        floats(part, "bound") < CLIP,
        f"The bound is below {CLIP:g}, which no clipped loss exceeds.",
        "; ".join(said),
    )


def _descends(measures: pd.DataFrame) -> Verdict:
    part = among(measures, "statement", [LEMMA])
    rose, rounds = floats(part, "rose"), floats(part, "rounds").sum()
    return every(
        "q-fedsgd-descends",
        part,
        rose == 0,
        "With lemma 12's step sizes q-FedSGD raises its objective in no round.",
        f"{counted(part, 'runs')}: in {rose.sum():.0f} of {rounds:.0f} rounds",
    )


def shown(measures: pd.DataFrame) -> pd.DataFrame:
    """Observed and bounds of theorem 11 by rows of a client, means over seeds."""
    part = among(measures, "statement", [GENERAL])
    each = np.unique(floats(part, "setting"))
    columns = {
        "worst client's loss": "observed",
        "bound, repaired": "bound",
        "bound, printed": "printed",
    }
    parts = []
    for name, column in columns.items():
        y = [floats(among(part, "setting", [v]), column).mean() for v in each]
        parts.append(series("theorem 11, q = 2", name, "path", each, y))
    return pd.concat(parts, ignore_index=True)


PICTURES = (
    Drawing(
        "crosscheck-bounds",
        "q-FFL's theorem 11 on trained models",
        "rows of a client",
        "clipped cross entropy",
        shown,
        "xy",
    ),
)
