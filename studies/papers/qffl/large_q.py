"""q-FFL at q = 10: why q-FedAvg loses accuracy there, by changing one thing at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from fairfl._support.checks import Array
from fairfl.sims.algorithms.dual_weighted import DualWeighted
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.data.federated import synthetic
from fairfl.sims.engine import Everyone, Replicate
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Picture, Scale, Setting, Unit
from fairfl.studies.frames import among, groups
from fairfl.studies.measures import KEYS, statistics
from fairfl.studies.papers.qffl import runs as qffl_runs
from fairfl.studies.papers.qffl.efficiency import objective_value
from fairfl.studies.papers.qffl.runs import parts_of, training_of
from fairfl.studies.published import COLUMNS
from fairfl.theory.aggregation import QFFL

NAME = "qffl-large-q"
TITLE = "q-FFL at q = 10 on Synthetic: the optimum of the objective, and what keeps q-FedAvg from it"
SEEDS = {"quick": 1, "paper": 3}
PUBLISHED = pd.DataFrame(columns=COLUMNS)
Q = 10.0
OPTIMUM = "the optimum"
FULL: dict[str, Any] = {"epochs": None, "steps": 1, "batch_size": None}
PICTURES = (Picture("qffl-large-q", "convergence", "q = 10 on Synthetic: test accuracy by round"),)


WAYS: dict[str, tuple[Algorithm, dict[str, Any]]] = {
    "everyone": (QFedAvg(Q), {"participation": Everyone()}),
    "rate 0.01": (QFedAvg(Q), {"lr": 0.01}),
    "ten steps on all data": (QFedAvg(Q), {**FULL, "steps": 10}),
    "one step on a batch": (QFedAvg(Q), {"epochs": None, "steps": 1}),
    "one step on all data": (QFedAvg(Q), FULL),
    "dual weights, rate 0.01": (DualWeighted(QFFL(Q)), {"lr": 0.01}),
}
"""Table 9 has ten devices a round, one epoch in batches of ten, rate 0.1; each line changes what it says."""
ROUNDS = {"everyone": (20, 1000), "one step on a batch": (200, 4000), "one step on all data": (200, 4000)}
OTHERS = (100, 2000)
"""Quick, and at paper scale: by what a round costs."""
GRADIENT = 1e-5
"""The largest entry of the gradient that counts as 0 at the optimum."""
AS_PUBLISHED = "as in table 9"


def units(scale: Scale) -> list[Unit]:
    """Table 9's runs, the optimum, and a run for each way, on every draw of Synthetic."""
    found = qffl_runs.family(scale, ("Synthetic",))
    for seed in range(scale.seeds):
        found.append(Unit(f"large-q-optimum-{seed}", "Synthetic", seed, (OPTIMUM,), partial(optimum, seed)))
        for k, name in enumerate(WAYS):
            rounds = ROUNDS.get(name, OTHERS)[scale.paper]
            made = partial(make, name, rounds, seed)
            found.append(Unit(f"large-q-{k}-{rounds}-{seed}", "Synthetic", seed, (name,), made))
    return found


def make(name: str, rounds: int, seed: int) -> Setting:
    """One way of training."""
    model, parts = parts_of("Synthetic", seed)
    algorithm, changes = WAYS[name]
    training = replace(training_of("Synthetic", rounds), **changes)
    return Setting(model, parts, (Replicate(algorithm, seed),), training, max(1, rounds // 20))


@dataclass(frozen=True, eq=False)
class SoftmaxProblem:
    """Softmax regression of a data set by clients: losses and gradients in plain numpy."""

    x: Array
    y: Array
    offsets: Array
    classes: int

    @classmethod
    def of(cls, seed: int, part: str) -> SoftmaxProblem:
        """A part of Synthetic, with a column of ones."""
        x, y, offsets, _ = synthetic(seed=seed).split(0.1, 0.1, seed).by_client(part)
        x = np.hstack([np.asarray(x, dtype=np.float64), np.ones((len(x), 1))])
        return cls(x, np.asarray(y), np.asarray(offsets), 10)

    @property
    def sizes(self) -> Array:
        """Samples of each client (K,)."""
        return np.diff(self.offsets)

    def log_shares(self, w: Array) -> Array:
        """log P(class | x) (N, classes)."""
        z = self.x @ w.reshape(self.classes, -1).T
        z -= z.max(1, keepdims=True)
        return z - np.log(np.exp(z).sum(1, keepdims=True))

    def losses(self, w: Array) -> Array:
        """F_k (K,); NaN for a client without samples."""
        return self._by_client(-self.log_shares(w)[np.arange(len(self.y)), self.y])

    def accuracies(self, w: Array) -> Array:
        """Shares of the samples that are classified rightly (K,)."""
        return self._by_client(self.log_shares(w).argmax(1) == self.y)

    def combined(self, w: Array, weights: Array) -> Array:
        """Gradient of sum_k weights_k F_k (P,)."""
        slopes = np.exp(self.log_shares(w))
        slopes[np.arange(len(self.y)), self.y] -= 1
        slopes *= np.repeat(weights / self.sizes, self.sizes)[:, None]
        return (slopes.T @ self.x).ravel()

    def _by_client(self, values: Array) -> Array:
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)
        with np.errstate(invalid="ignore"):
            return np.bincount(owner, values, len(self.sizes)) / self.sizes


def minimiser(problem: SoftmaxProblem, q: float) -> Array:
    """The minimiser of the (q + 1)-mean of the losses, devices weighed by their samples: by L-BFGS, from one q to the
    next larger one.

    Errors: RuntimeError where the gradient does not fall to ``GRADIENT``.
    """
    shares = problem.sizes / problem.sizes.sum()
    w = np.zeros(problem.classes * problem.x.shape[1])
    settings = {"maxiter": 5000, "maxfun": 6000, "maxcor": 30, "ftol": 1e-15, "gtol": GRADIENT / 10}
    slope, message = np.full_like(w, np.inf), ""
    for power in (*(step for step in (0.0, 1.0, 5.0) if step < q), q):
        aim = QFFL(power, client_weights=tuple(shares))

        def value(point: Array, aim: QFFL = aim) -> tuple[float, Array]:
            losses = problem.losses(point)
            return float(aim.value(losses)), problem.combined(point, np.asarray(aim.dual_weights(losses)))

        found: Any = minimize(value, w, jac=True, method="L-BFGS-B", options=settings)
        w, slope, message = np.asarray(found.x), np.asarray(found.jac), str(found.message)
    if np.abs(slope).max() > GRADIENT:
        raise RuntimeError(f"the optimum at q = {q:g} was not found: {message}")
    return w


def optimum(seed: int) -> pd.DataFrame:
    """The clients' measures at the optimum of the training objective: the engine's columns."""
    parts = {part: SoftmaxProblem.of(seed, part) for part in ("train", "test")}
    w = minimiser(parts["train"], Q)
    found = [
        pd.DataFrame(
            {"client": np.arange(len(problem.sizes)), "samples": problem.sizes, "loss": problem.losses(w),
             "accuracy": problem.accuracies(w), "part": part}
        )
        for part, problem in parts.items()
    ]  # fmt: skip
    table = pd.concat(found, ignore_index=True)
    return table.assign(round=0, model="global", objective=OPTIMUM, seed=seed, replicate=0)


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of training and test accuracies, and the objective."""
    clients, parts = named(clients), []
    for part, names in (("train", ("average",)), ("test", ("average", "worst 10%", "variance"))):
        table = statistics(last_round(clients, part), names)
        parts.append(table.assign(measure=[f"{part} {name}" for name in table["measure"]]))
    train = last_round(clients, "train")
    goals = [{**dict(zip(KEYS, key, strict=True)), "measure": "11-mean of losses", "value": objective_value(mine, Q)}
             for key, mine in groups(train, KEYS)]  # fmt: skip
    order = [OPTIMUM, AS_PUBLISHED, *WAYS]
    found = pd.concat([*parts, pd.DataFrame(goals)], ignore_index=True)
    return found.sort_values("objective", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def named(clients: pd.DataFrame) -> pd.DataFrame:
    """Of table 9's runs the one with q = 10, by our name; and all others."""
    found = clients.replace({"objective": {qffl_runs.name_of(Q): AS_PUBLISHED}})
    return among(found, "objective", [OPTIMUM, AS_PUBLISHED, *WAYS])


def shown(clients: pd.DataFrame) -> pd.DataFrame:
    """The rows that the picture shows: runs, not the optimum."""
    return among(named(clients), "objective", [AS_PUBLISHED, *WAYS])


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        "The paper prints no numbers for q = 10, which is among its candidates (appendix E.2.3).",
        "The optimum is that of the (q + 1)-mean of the training losses, devices weighed by their samples, by L-BFGS.",
        "Rounds differ by what they cost: 20,000 as in table 9, 4,000 of single steps, 1,000 of everyone, 2,000 else.",
    )
