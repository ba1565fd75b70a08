"""Convex training problems on which single steps of the server are examined: every client's losses
and gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch

from fairfl._support.checks import Array, one_of
from fairfl.sims.data.federated import load_federated, synthetic
from fairfl.sims.engine import (
    ClientData,
    Computing,
    LeastSquares,
    Logistic,
    Model,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Training,
)
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.engine.losses import measure
from fairfl.studies.least_squares_problem import Problem

COMPUTING = Computing(device="cpu", dtype="float64")


@dataclass(frozen=True, eq=False)
class StepProblem:
    """A model on the clients' data; ``lr`` is a rate at which gradient descent on the mean loss
    goes down.
    """

    name: str
    model: Model
    parts: Parts
    lr: float

    @property
    def clients(self) -> int:
        """K."""
        return self.parts.train.clients

    @cached_property
    def _train(self) -> ClientData:
        """What the model trains on, as its kernels want it."""
        return self.model.prepare(self.parts.train.to(torch.device("cpu"), torch.float64))

    def losses(self, params: Array) -> Array:
        """F_k (K,), means over all data of a client."""
        with one_thread():
            return (
                measure(self.model, _row(params), self._train, np.arange(self.clients), right=False)
                .means()
                .numpy()
            )

    def gradients(self, params: Array) -> Array:
        """Gradients of F_k (K, P)."""
        data, row = self._train, _row(params)[None]
        parts = [slice(int(low), int(high)) for low, high in pairwise(data.offsets)]
        with one_thread():
            each = [
                self.model.gradient(
                    row.clone(), data.x[i][None], data.y[i][None], 1 / len(data.y[i])
                )
                for i in parts
            ]
        return torch.cat(each).numpy()

    def simulation(
        self, algorithms: Sequence[Algorithm], training: Training, seed: int
    ) -> Simulation:
        """A replicate an algorithm, in float64."""
        return Simulation(
            self.model,
            self.parts,
            [Replicate(one, seed) for one in algorithms],
            training,
            COMPUTING,
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread, as the engine is for small models: several are slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _row(params: Array) -> torch.Tensor:
    return torch.from_numpy(np.array(params, dtype=np.float64))


def quadratic(seed: int) -> StepProblem:
    """Six clients alike in size, least squares in eight dimensions."""
    problem = Problem.make(seed, clients=6, samples=24, features=8)
    return StepProblem("quadratic", LeastSquares(8, bias=False), problem.data, 0.1)


def synthetic_softmax(seed: int) -> StepProblem:
    """q-FFL's Synthetic(1, 1): 20 clients of unequal size, softmax regression of 60 features on ten
    classes.
    """
    parts = Parts.of(synthetic(clients=20, seed=seed).split(0.1, 0.1, seed))
    return StepProblem("Synthetic", Softmax(60, 10), parts, 0.03)


def vehicle_logistic(seed: int) -> StepProblem:
    """Vehicle as far as it is at hand: 23 clients of very unequal size, logistic regression of 100
    features.

    Errors: DataUnavailable, an OSError, without a local copy.
    """
    return StepProblem(
        "Vehicle", Logistic(100), Parts.of(load_federated("vehicle").split(0.1, 0.1, seed)), 0.1
    )


PROBLEMS: dict[str, Callable[[int], StepProblem]] = {
    "quadratic": quadratic,
    "Synthetic": synthetic_softmax,
    "Vehicle": vehicle_logistic,
}


def step_problem(name: str, seed: int) -> StepProblem:
    """The problem of this name; ValueError that lists the known ones."""
    return PROBLEMS[one_of("world", name, tuple(PROBLEMS))](seed)
