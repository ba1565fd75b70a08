"""Exact frontiers of FedFB's people: in |MD|, and in its measure, max_a |P(ŷ=1 | a) - P(ŷ=1)|."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl._support.checks import Array
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.fedfb_synthetic import chance_of_label
from fairfl.sims.data.tables.score import cross_fitted_score
from fairfl.solvers.api import frontier
from fairfl.solvers.frontier import Frontier
from fairfl.studies.papers.fedfb.data import SYNTHETIC, fedfb_data
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import Difference

STEP = 0.01
"""Scores of real people are rounded to it: people enough a level for η."""


def people_federation(x: NDArray[np.float64], group: NDArray[np.int64]) -> Federation:
    """The people (N,) as one client on a finite X, each η = P(y=1 | x) a point."""
    points, where = np.unique(chance_of_label(x[:, :2]), return_inverse=True)
    masses = np.zeros((1, 2, len(points)))
    np.add.at(masses[0], (group, where.ravel()), 1 / len(group))
    return Federation.finite(points, masses, points)


def exact_frontier(x: NDArray[np.float64], group: NDArray[np.int64], points: int = 200) -> Frontier:
    """CFL's frontier on these people: expected accuracy, over labels drawn by the true η, and |MD|.
    No classifier of (x, a) is above it, since the label hangs on η(x) alone.
    """
    return frontier(people_federation(x, group), "cfl", points)


def expected_accuracy(accept: ArrayLike, x: NDArray[np.float64]) -> float:
    """E over labels of the accuracy of P(ŷ=1) = ``accept`` (N,) on these people."""
    eta, chance = chance_of_label(x[:, :2]), np.asarray(accept, dtype=np.float64)
    return float((eta * chance + (1 - eta) * (1 - chance)).mean())


def best_accuracy(curve: Frontier, spd: float) -> float:
    """The frontier's accuracy at a disparity, beyond its end at that end."""
    reach: Array = curve.disparity
    return float(curve.accuracy_at(min(max(spd, float(reach[0])), float(reach[-1]))))


def scored(data: FederatedData) -> Federation:
    """The test people, pooled, with a score that has not seen them, logistic, of all features,
    cross-fitted in five folds and rounded to ``STEP``, and η by isotonic regression of their
    labels.
    """
    assert data.group is not None
    score = cross_fitted_score(data.x, data.y, group=data.group, client=data.owner)
    test = data.rows("test")
    level = np.round(score[test] / STEP) * STEP
    return Federation.from_samples(
        level, data.y[test], data.group[test], np.zeros(len(test), np.int64)
    )


@lru_cache(maxsize=8)
def limit(name: str, difference: Difference = "overall") -> tuple[Array, Array]:
    """The frontier behind the points of a data set, on its test people. Synthetic data: of all
    classifiers of (x, a), for η is known. Real data: of all rules of the score (``scored``) and the
    group, which bounds no classifier that sees the features themselves.
    """
    data, people = fedfb_data(name), None
    if name in SYNTHETIC and data.group is not None:
        test = data.rows("test")
        people = people_federation(data.x[test, :2], data.group[test])
    curve = frontier(people or scored(data), "cfl", 40, difference=difference)
    return curve.disparity, curve.accuracy
