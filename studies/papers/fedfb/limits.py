"""Exact frontiers in FedFB's measure of disparity, max_a |P(ŷ=1 | a) - P(ŷ=1)|: what its points are
drawn before.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fairfl._support.checks import Array, one_of
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.tables.score import cross_fitted_score
from fairfl.solvers.api import frontier
from fairfl.studies.papers.fedfb.data import REAL, SYNTHETIC, fedfb_data
from fairfl.studies.papers.fedfb.frontier import people_federation
from fairfl.theory.populations.federation import Federation

STEP = 0.01
"""Scores of real people are rounded to it: what a rule may tell apart, and people enough a level
for η.
"""


def deviation_frontier(federation: Federation, points: int = 40) -> tuple[Array, Array]:
    """The best accuracy at each disparity from 0 to that of the most accurate rule: (disparity,
    accuracy), (points,).

    Errors: ValueError for a federation that is not of a finite X, or fewer than two points.
    """
    if not federation.is_finite:
        raise ValueError("federation must have a finite X, this one is of continuous laws")
    found = frontier(federation, "cfl", points, difference="overall")
    return found.disparity, found.accuracy


def scored(data: FederatedData, step: float = STEP) -> Federation:
    """The test people, pooled, with a score that has not seen them, and η by isotonic regression.

    The score is a logistic regression of all features (the group is among them), cross-fitted in
    five folds over all people, rounded to ``step``; η is fitted to the test people's labels.
    """
    assert data.group is not None
    score = cross_fitted_score(data.x, data.y, group=data.group, client=data.owner)
    test = data.rows("test")
    level = np.round(score[test] / step) * step
    return Federation.from_samples(
        level, data.y[test], data.group[test], np.zeros(len(test), np.int64)
    )


@lru_cache(maxsize=8)
def limit(name: str, points: int = 40) -> tuple[Array, Array]:
    """The frontier behind the points of a data set, on its test people.

    Synthetic data: of all classifiers of (x, a), for η is known; accuracies are expected ones over
    labels. Real data: of all rules of the score (``scored``) and the group, at the fitted η. That
    bounds no classifier that sees the features themselves; it is what post-processing of a good
    score attains.
    """
    one_of("name", name, (*SYNTHETIC, *REAL))
    data = fedfb_data(name)
    if name in REAL:
        return deviation_frontier(scored(data), points)
    assert data.group is not None
    test = data.rows("test")
    return deviation_frontier(people_federation(data.x[test, :2], data.group[test]), points)
