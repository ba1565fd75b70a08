"""A score from features: l2-regularised logistic regression, and its out-of-fold predictions.

The exact solvers work on a scalar x with P(y = 1 | x) known. For real data, x is a score; this file
makes one with numpy and scipy alone, the same one on every machine. scikit-learn takes as long to
fit it, 1.8 times as long for 2,000 people, and a second to be loaded first.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit

from fairfl._support.checks import as_array
from fairfl._support.threads import one_thread
from fairfl.sims.data.checks import numbers_table
from fairfl.sims.data.tables.folds import deal

ARMIJO = 1e-4
HALVINGS = 50
ROUNDING = 1e-13  # relative change of a sum of n terms below which a comparison means nothing


class LogisticScore:
    """Logistic regression: P(y = 1 | x) = 1 / (1 + exp(-(w·z + b))), z the standardised features.

    Minimises sum_i s_i log(1 + exp(-(2 y_i - 1)(w·z_i + b))) + (l2 / 2) |w|^2 by Newton's method; s
    are the sample weights. Standardised means: weighted mean 0 and (population) standard deviation
    1 over the rows of positive weight; a feature that is constant there has coefficient 0. The
    intercept b is not penalised. The minimum is unique, with collinear features or separable data,
    too. It is scikit-learn's `LogisticRegression(C=1 / l2)` on z.

    Parameters
    ----------
    l2 : float
        The penalty, > 0.
    tolerance : float
        Newton's method stops when no component of the gradient exceeds `tolerance` times the sum of
        the weights.
    max_iterations : int
        Newton steps after which `fit` raises `RuntimeError`.

    Attributes
    ----------
    coefficients : array of float, shape (d,)
        In the units of the features as given to `fit`.
    intercept : float
        In the same units: P(y = 1 | x) = 1 / (1 + exp(-(coefficients·x + intercept))).
    iterations : int
        Newton steps that `fit` took.
    """

    def __init__(
        self, l2: float = 1.0, tolerance: float = 1e-11, max_iterations: int = 100
    ) -> None:
        if not 0 < l2 < np.inf:
            raise ValueError(f"l2 must be positive and finite, got {l2}")
        if not tolerance > 0:
            raise ValueError(f"tolerance must be positive, got {tolerance}")
        if max_iterations < 1:
            raise ValueError(f"max_iterations must be at least 1, got {max_iterations}")
        self.l2 = l2
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.coefficients: NDArray[np.float64] | None = None
        self.intercept = 0.0
        self.iterations = 0

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "LogisticScore":
        """Fit to n rows, and return the object itself.

        Parameters
        ----------
        X : array of float, shape (n, d)
            Finite.
        y : array, shape (n,)
            0 or 1; both occur in rows of positive weight.
        sample_weight : array of float, shape (n,), optional
            Non-negative and finite; by default 1.

        Raises
        ------
        ValueError
            If an argument does not fit.
        RuntimeError
            If the gradient does not reach the tolerance.
        """
        X_ = numbers_table("X", X)
        y_ = _labels(y, len(X_))
        weight = _weights(sample_weight, len(X_))
        used = weight > 0
        X_, y_, weight = X_[used], y_[used], weight[used]
        if len(np.unique(y_)) < 2:
            raise ValueError("y must hold both 0 and 1 in rows of positive weight")
        varies = X_.max(axis=0) > X_.min(axis=0)
        share = weight / weight.sum()
        mean = share @ X_[:, varies]
        centred = X_[:, varies] - mean
        scale = np.sqrt(share @ centred**2)
        w, b = self._minimise(centred / scale, y_, weight)
        coefficients = np.zeros(X_.shape[1])
        coefficients[varies] = w / scale
        self.coefficients = coefficients
        self.intercept = float(b - mean @ (w / scale))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """P(y = 1 | x) of every row of X, shape (n,). `RuntimeError` before `fit`."""
        if self.coefficients is None:
            raise RuntimeError("LogisticScore must be fitted before it predicts")
        X_ = numbers_table("X", X)
        if X_.shape[1] != len(self.coefficients):
            raise ValueError(
                f"X must have {len(self.coefficients)} columns, as in fit, got {X_.shape[1]}"
            )
        return expit(X_ @ self.coefficients + self.intercept)

    def _minimise(
        self, Z: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """Return the minimiser (w, b) for standardised features Z."""
        A = np.column_stack([Z, np.ones(len(Z))])  # the intercept is the last coefficient
        theta = np.zeros(A.shape[1])
        value, gradient = objective(theta, A, y, weight, self.l2)
        enough = self.tolerance * weight.sum()
        penalty = np.append(np.full(Z.shape[1], self.l2), 0.0)
        for iteration in range(self.max_iterations + 1):
            if np.abs(gradient).max() <= enough:
                self.iterations = iteration
                return theta[:-1], float(theta[-1])
            if iteration == self.max_iterations:
                break
            p = expit(A @ theta)
            half = A * np.sqrt(weight * p * (1 - p))[:, None]
            hessian = half.T @ half  # a matrix with itself: numpy computes one triangle only
            hessian[np.diag_indices_from(hessian)] += penalty
            try:
                step = cho_solve(cho_factor(hessian), gradient)
            except LinAlgError as error:
                raise RuntimeError(
                    f"the Hessian is singular to rounding at l2={self.l2}; use a larger l2"
                ) from error
            slope = gradient @ step
            for length in 0.5 ** np.arange(HALVINGS):
                trial = theta - length * step
                new_value, new_gradient = objective(trial, A, y, weight, self.l2)
                if new_value <= value - ARMIJO * length * slope + ROUNDING * abs(value):
                    break
            else:
                raise RuntimeError(
                    f"no step decreases the loss at l2={self.l2}: are features of the order of "
                    "1e150?"
                )
            theta, value, gradient = trial, new_value, new_gradient
        raise RuntimeError(
            f"no minimum after {self.max_iterations} Newton steps: the gradient's largest "
            f"component is {np.abs(gradient).max():.3g}, allowed {enough:.3g}; raise "
            "max_iterations, tolerance or l2"
        )


def objective(
    theta: NDArray[np.float64],
    A: NDArray[np.float64],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    l2: float,
) -> tuple[float, NDArray[np.float64]]:
    """Return the penalised loss at theta = (w, b) and its gradient, shape (d + 1,).

    A holds the standardised features and a last column of ones, shape (n, d + 1); b is not
    penalised.
    """
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
) -> NDArray[np.float64]:
    """Return, for every row, the probability of y = 1 by a `LogisticScore` that has not seen the
    row.

    The rows are dealt into folds at random, evenly within every combination of label, group and
    client (to within one row of the fold sizes); each fold is scored by the model fitted to the
    others.

    Parameters
    ----------
    X : array of float, shape (n, d)
        A group or client that the score may use has to be among these columns.
    y : array, shape (n,)
        0 or 1, each in at least two rows.
    folds : int
        From 2 to n.
    seed : int
        Of the dealing, >= 0.
    group, client : array, shape (n,), optional
        Used for the dealing only.
    l2 : float
        See `LogisticScore`.

    Returns
    -------
    score : array of float, shape (n,)
        In (0, 1), up to rounding.
    """
    X_ = numbers_table("X", X)
    y_ = _labels(y, len(X_))
    if not 2 <= folds <= len(X_):
        raise ValueError(f"folds must be from 2 to the number of rows ({len(X_)}), got {folds}")
    for value in (0, 1):
        count = int((y_ == value).sum())
        if count < 2:  # with one row, the model that scores it would know no such label
            raise ValueError(f"y must be {value} in at least two rows, got {count}")
    fold = deal({"y": y_, "group": group, "client": client}, folds, seed)
    score = np.empty(len(X_))
    for k in range(folds):
        held = fold == k
        score[held] = LogisticScore(l2=l2).fit(X_[~held], y_[~held]).predict(X_[held])
    return score


def _labels(y: ArrayLike, n: int) -> NDArray[np.float64]:
    values = as_array("y", y).astype(np.float64, copy=False)
    if values.shape != (n,):
        raise ValueError(f"y must have shape ({n},), one label per row of X, got {values.shape}")
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise ValueError(f"y must be 0 or 1, got {values[wrong][0]} at row {int(np.argmax(wrong))}")
    return values


def _weights(weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    values = np.ones(n) if weight is None else as_array("sample_weight", weight).astype(np.float64)
    if values.shape != (n,):
        raise ValueError(
            f"sample_weight must have shape ({n},), one per row of X, got {values.shape}"
        )
    wrong = ~((values >= 0) & (values < np.inf))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"sample_weight must be non-negative and finite, got {values[row]} at row {row}"
        )
    return values
