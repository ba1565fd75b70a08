"""A score from features: l2-regularised logistic regression, and its out-of-fold predictions.

The exact solvers work on a scalar x with P(y = 1 | x) known. For real data, x is a score.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from fairfl._support.checks import whole
from fairfl._support.extras import extras_named
from fairfl._support.threads import one_thread
from fairfl.sims.data.score_model import ScoreModel
from fairfl.sims.data.tables.folds import deal
from fairfl.sims.data.tables.table import Dataset

TOLERANCE = 1e-11
"""Newton's method stops where no component of the mean loss's gradient exceeds this."""
MOST_FEATURES = 3_000
"""Largest number of features: the time of a fit grows with its cube, and is about a minute here."""
ITERATIONS = 100
"""Largest number of Newton steps."""
Floats = NDArray[np.float64]


def logistic_fit(
    X: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None
) -> tuple[Floats, float]:
    """Logistic regression: P(y = 1 | x) = 1 / (1 + exp(-(w·x + b))); w (d,) and b.

    Minimises sum_i r_i log(1 + exp(-(2 y_i - 1)(v·z_i + b))) + |v|^2 / 2, z the standardised
    features (mean 0, population standard deviation 1) and v their coefficients; a constant feature
    has coefficient 0. The intercept b is not penalised. The minimum is unique, with collinear
    features or separable data, too. The r_i are the weights (n,) divided by their mean, so that
    their unit has no meaning, or 1; mean and deviation are weighted, too. y holds 0 and 1, and
    weights are positive. RuntimeError if the gradient does not reach the tolerance.
    """
    with extras_named():
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler
    table = np.asarray(X, np.float64)
    varies = table.max(axis=0) > table.min(axis=0)
    weights = np.ones(len(table)) if weight is None else np.asarray(weight)
    relative = weights / weights.mean()
    scaler: Any = StandardScaler().fit(table, sample_weight=relative)
    fit: Any = LogisticRegression(
        C=1.0, solver="newton-cholesky", tol=TOLERANCE, max_iter=ITERATIONS
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            fit.fit(scaler.transform(table), y, sample_weight=relative)
        except ConvergenceWarning as error:
            raise RuntimeError(f"no minimum after {ITERATIONS} Newton steps: {error}") from None
    coefficients = np.where(varies, fit.coef_[0] / scaler.scale_, 0.0)
    return coefficients, float(fit.intercept_[0] - scaler.mean_ @ coefficients)


@one_thread()
def cross_fitted_score(
    X: ArrayLike,
    y: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    group: ArrayLike | None = None,
    client: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Floats:
    """For every row the probability of y = 1 (n,) by a `logistic_fit` that has not seen the row.

    Rows are dealt into ``folds`` at random, evenly within every combination of label, group and
    client; each fold is scored by the model fitted to the others.

    Parameters
    ----------
    X : (n, d) a group or client that the score may use has to be among these columns.
    y : (n,) 0 or 1, each in at least two rows.
    folds, seed : from 2 to n; of the dealing.
    group, client : (n,) used for the dealing only.
    weight : (n,) of the people, see `logistic_fit`; dealing counts each person once.
    """
    table, labels = np.asarray(X, np.float64), np.asarray(y, np.float64)
    whole("the number of features, one for each value of a text,", table.shape[1], 0, MOST_FEATURES)
    if not 2 <= folds <= len(table):
        raise ValueError(f"folds must be from 2 to the number of rows ({len(table)}), got {folds}")
    for value in (0, 1):
        count = int((labels == value).sum())
        if count < 2:  # with one row, the model that scores it is fitted without that label
            raise ValueError(f"y must be {value} in at least two rows, got {count}")
    fold = deal({"y": labels, "group": group, "client": client}, folds, seed)
    score = np.empty(len(table))
    weights = np.ones(len(table)) if weight is None else np.asarray(weight)
    for k in range(folds):
        in_fold = fold == k
        others = ~in_fold
        coefficients, intercept = logistic_fit(table[others], labels[others], weights[others])
        score[in_fold] = expit(table[in_fold] @ coefficients + intercept)
    return score


@one_thread()
def fitted_model(data: Dataset, targets: Mapping[str, NDArray[np.bool_]]) -> ScoreModel:
    """Regressions of all rows of a table from a file, for the named ``targets`` (n,), y first."""
    fits = [logistic_fit(data.features, target, weight=data.weight) for target in targets.values()]
    coefficients, intercepts = (np.array(part) for part in zip(*fits, strict=True))
    return ScoreModel(tuple(targets), feature_columns(data), coefficients, intercepts)


def feature_columns(data: Dataset) -> tuple[tuple[str, str], ...]:
    """Of each feature of a table from a file the column, and the value that it is 1 for, or ""."""
    names = data.columns["features"]
    features, columns = [], iter(names)
    column = next(columns)
    for name in data.feature_names:  # in the order of the columns; a column may be called "a=b"
        while name != column and (name in names or not name.startswith(f"{column}=")):
            column = next(columns)
        features.append((column, name[len(column) + 1 :]))
    return tuple(features)
