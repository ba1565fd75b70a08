"""A score from features: l2-regularised logistic regression, and its out-of-fold predictions.

The exact solvers work on a scalar x with P(y = 1 | x) known. For real data, x is a score; this file
computes one with numpy and scipy, the same on every machine. scikit-learn is not faster (1.8 times
slower for 2,000 people), and takes a second to import.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit

from fairfl._support.checks import whole
from fairfl._support.threads import one_thread
from fairfl.sims.data.score_model import ScoreModel
from fairfl.sims.data.tables.folds import deal
from fairfl.sims.data.tables.table import Dataset

TOLERANCE = 1e-11
"""Newton's method stops where no component of the gradient exceeds this times the rows."""
MOST_FEATURES = 3_000
"""Largest number of features: the time of a fit grows with its cube, and is about a minute here."""
ITERATIONS = 100
"""Largest number of Newton steps."""
ARMIJO, HALVINGS = 1e-4, 50
"""Armijo line search: share of the slope's decrease that a step must reach, and its halvings."""
ROUNDING = 1e-13
"""Relative rounding of a sum of n terms; smaller changes are not compared."""

Floats = NDArray[np.float64]


def logistic_fit(
    X: ArrayLike, y: ArrayLike, l2: float = 1.0, weight: ArrayLike | None = None
) -> tuple[Floats, float]:
    """Logistic regression: P(y = 1 | x) = 1 / (1 + exp(-(w·x + b))); w (d,) and b.

    Minimises sum_i r_i log(1 + exp(-(2 y_i - 1)(v·z_i + b))) + (l2 / 2) |v|^2 by Newton's method, z
    the standardised features (mean 0, population standard deviation 1) and v their coefficients; a
    constant feature has coefficient 0. The intercept b is not penalised. The minimum is unique,
    with collinear features or separable data, too. It is scikit-learn's `LogisticRegression(C=1 /
    l2)` on z. The r_i are the weights (n,) divided by their mean, so that their unit has no
    meaning, or 1; mean and deviation are weighted, too. y holds 0 and 1, l2 > 0, and weights are
    positive. RuntimeError if the gradient does not reach the tolerance.
    """
    table, labels = np.asarray(X, np.float64), np.asarray(y, np.float64)
    varies = table.max(axis=0) > table.min(axis=0)
    weights = np.ones(len(table)) if weight is None else np.asarray(weight)
    relative = weights / weights.mean()
    share = relative / len(table)
    mean = share @ table[:, varies]
    centred = table[:, varies] - mean
    scale = np.sqrt(share @ centred**2)
    v, b = _minimise(centred / scale, labels, l2, relative)
    coefficients = np.zeros(table.shape[1])
    coefficients[varies] = v / scale
    return coefficients, float(b - mean @ (v / scale))


def _minimise(Z: Floats, y: Floats, l2: float, weight: Floats) -> tuple[Floats, float]:
    """The minimiser (v, b) for standardised features Z, by Newton's method with a line search."""
    A = np.column_stack([Z, np.ones(len(Z))])  # the intercept is the last coefficient
    theta, root_weighted = np.zeros(A.shape[1]), np.empty_like(A)
    value, gradient = _objective(theta, A, y, l2, weight)
    tolerance = TOLERANCE * len(Z)
    penalty = np.append(np.full(Z.shape[1], l2), 0.0)
    for _ in range(ITERATIONS):
        if np.abs(gradient).max() <= tolerance:
            return theta[:-1], float(theta[-1])
        p = expit(A @ theta)
        np.multiply(A, np.sqrt(p * (1 - p) * weight)[:, None], out=root_weighted)
        # a matrix with itself: numpy computes one triangle only
        hessian = root_weighted.T @ root_weighted
        hessian[np.diag_indices_from(hessian)] += penalty
        try:
            step = cho_solve(cho_factor(hessian), gradient)
        except LinAlgError as error:
            raise RuntimeError(
                f"the Hessian is singular to rounding at l2={l2}; use a larger l2"
            ) from error
        descent = gradient @ step
        for length in 0.5 ** np.arange(HALVINGS):
            trial = theta - length * step
            new_value, new_gradient = _objective(trial, A, y, l2, weight)
            if new_value <= value - ARMIJO * length * descent + ROUNDING * abs(value):
                break
        else:
            raise RuntimeError(
                f"no step decreases the loss at l2={l2}: are features of the order of 1e150?"
            )
        theta, value, gradient = trial, new_value, new_gradient
    raise RuntimeError(
        f"no minimum after {ITERATIONS} Newton steps: the gradient's largest component is "
        f"{np.abs(gradient).max():.3g}, allowed {tolerance:.3g}; raise l2"
    )


def _objective(
    theta: Floats, A: Floats, y: Floats, l2: float, weight: Floats
) -> tuple[float, Floats]:
    """The penalised loss at theta = (v, b) and its gradient (d + 1,); b is not penalised."""
    f = A @ theta
    penalised = np.append(theta[:-1], 0.0)
    loss = weight @ (np.logaddexp(0.0, f) - y * f) + 0.5 * l2 * (penalised @ penalised)
    return float(loss), A.T @ (weight * (expit(f) - y)) + l2 * penalised


@one_thread()
def cross_fitted_score(
    X: ArrayLike,
    y: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    group: ArrayLike | None = None,
    client: ArrayLike | None = None,
    l2: float = 1.0,
    weight: ArrayLike | None = None,
) -> Floats:
    """Return, for every row, the probability of y = 1 by a `logistic_fit` that has not seen the
    row.

    The rows are dealt into folds at random, evenly within every combination of label, group and
    client (to within one row of the fold sizes); each fold is scored by the model fitted to the
    others.

    Parameters
    ----------
    X : (n, d) a group or client that the score may use has to be among these columns.
    y : (n,) 0 or 1, each in at least two rows.
    folds : from 2 to n.
    seed : of the dealing, >= 0.
    group, client : (n,) used for the dealing only.
    l2 : see `logistic_fit`.
    weight : (n,) of the people, see `logistic_fit`; dealing counts each once.

    Returns
    -------
    score : array of float, shape (n,)
        In (0, 1), up to rounding.
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
        coefficients, intercept = logistic_fit(table[others], labels[others], l2, weights[others])
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
