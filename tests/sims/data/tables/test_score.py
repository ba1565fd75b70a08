import re
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit

from fairfl.sims.data.tables.folds import deal
from fairfl.sims.data.tables.score import LogisticScore, cross_fitted_score, objective


def sample(n: int = 400, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with features of very different scales, and labels from a logistic law."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** np.arange(-2, d - 2) + 3
    w = rng.normal(size=d) / 10.0 ** np.arange(-2, d - 2)
    return X, (rng.random(n) < expit((X - 3) @ w)).astype(int)


def gradient_at(
    model: LogisticScore, X: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """The gradient of the objective at a fitted model, from its attributes and the formula."""
    mean = weight @ X / weight.sum()
    deviation = np.sqrt(weight @ (X - mean) ** 2 / weight.sum())
    assert model.coefficients is not None
    residual = weight * (model.predict(X) - y)
    w = model.coefficients * deviation
    return np.append(((X - mean) / deviation).T @ residual + model.l2 * w, residual.sum())


@pytest.mark.parametrize("l2", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_scikit_learn(l2: float, weighted: bool):
    linear_model = pytest.importorskip(
        "sklearn.linear_model", reason="scikit-learn is not installed"
    )
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y)) if weighted else np.ones(len(y))
    model = LogisticScore(l2=l2).fit(X, y, sample_weight=weight if weighted else None)
    mean = weight @ X / weight.sum()
    deviation = np.sqrt(weight @ (X - mean) ** 2 / weight.sum())
    other = linear_model.LogisticRegression(
        C=1 / l2, solver="newton-cholesky", tol=1e-12, max_iter=1000
    )
    other.fit((X - mean) / deviation, y, sample_weight=weight)
    assert model.coefficients is not None
    np.testing.assert_allclose(model.coefficients * deviation, other.coef_[0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        model.predict(X), other.predict_proba((X - mean) / deviation)[:, 1], rtol=0, atol=1e-6
    )


def test_the_gradient_is_that_of_the_loss():
    X, y = sample(60, 3)
    A = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(60)])
    weight = np.linspace(0.5, 2, 60)
    theta = np.array([0.3, -1.2, 0.7, 0.4])
    numeric: Any = approx_fprime(theta, lambda at: objective(at, A, y, weight, 0.8)[0], 1e-7)
    np.testing.assert_allclose(
        objective(theta, A, y, weight, 0.8)[1], numeric, rtol=1e-5, atol=1e-5
    )


def test_the_gradient_vanishes_at_the_fit():
    X, y = sample()
    weight = np.linspace(0.2, 2, len(y))
    model = LogisticScore(l2=0.5).fit(X, y, weight)
    assert np.abs(gradient_at(model, X, y, weight)).max() < 1e-8


def test_an_integer_weight_is_a_repeated_row_and_weight_zero_none():
    X, y = sample(50)
    times = np.arange(50) % 3
    weighted = LogisticScore().fit(X, y, times)
    repeated = LogisticScore().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=0, atol=1e-9)


def test_units_do_not_matter():
    X, y = sample()
    shifted = X * np.array([1e-6, 1e6, 1, 100, 0.1]) + np.array([0, 5, -1e3, 7, 1e2])
    np.testing.assert_allclose(
        LogisticScore().fit(X, y).predict(X),
        LogisticScore().fit(shifted, y).predict(shifted),
        rtol=0,
        atol=1e-8,
    )


@pytest.mark.parametrize("l2", [1.0, 1e-3, 1e-6])
def test_separable_data_have_a_finite_fit(l2: float):
    x = np.concatenate([np.linspace(-2, -1, 50), np.linspace(1, 2, 50)])[:, None]
    y = (x[:, 0] > 0).astype(int)
    model = LogisticScore(l2=l2).fit(x, y)
    p = model.predict(x)
    assert ((p > 0.5) == y).all()
    assert np.abs(gradient_at(model, x, y, np.ones(100))).max() < 1e-8


def test_constant_columns_have_no_say():
    X, y = sample()
    more = np.column_stack([np.full(len(X), 0.1), X, np.full(len(X), -7.0)])
    model = LogisticScore().fit(more, y)
    assert model.coefficients is not None
    assert (model.coefficients[0], model.coefficients[-1]) == (0, 0)
    np.testing.assert_allclose(
        model.predict(more), LogisticScore().fit(X, y).predict(X), rtol=0, atol=1e-10
    )


def test_only_constant_columns_give_the_share_of_ones():
    p = LogisticScore().fit(np.ones((8, 2)), [1, 0, 0, 0, 1, 0, 0, 0]).predict(np.ones((3, 2)))
    np.testing.assert_allclose(p, 0.25, rtol=0, atol=1e-10)


def test_collinear_columns_share_the_coefficient():
    X, y = sample(d=1)
    model = LogisticScore(l2=2.0).fit(np.column_stack([X, 10 * X]), y)
    # w1 = w2 by symmetry, and |w|^2 = (w1 + w2)^2 / 2: the same as one column under half the
    # penalty
    single = LogisticScore(l2=1.0).fit(X, y)
    assert model.coefficients is not None and single.coefficients is not None
    assert model.coefficients[0] == pytest.approx(10 * model.coefficients[1], rel=1e-8)
    np.testing.assert_allclose(
        model.predict(np.column_stack([X, 10 * X])), single.predict(X), rtol=0, atol=1e-8
    )


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        ([1, 2], [0, 1], None, "X must have shape (n, d) with n >= 1, got shape (2,)"),
        ([[1], [np.inf]], [0, 1], None, "X must be finite, got inf at row 1, column 0"),
        ([[1], [2]], [0, 1, 1], None, "y must have shape (2,), one label per row of X, got (3,)"),
        ([[1], [2]], [0, 2], None, "y must be 0 or 1, got 2.0 at row 1"),
        ([[1], [2]], [1, 1], None, "y must hold both 0 and 1"),
        ([[1], [2]], [0, 1], [1, 0], "y must hold both 0 and 1 in rows of positive weight"),
        (
            [[1], [2]],
            [0, 1],
            [1, -1],
            "sample_weight must be non-negative and finite, got -1.0 at row 1",
        ),
        ([[1], [2]], [0, 1], [1], "sample_weight must have shape (2,), one per row of X, got (1,)"),
    ],
)
def test_fit_names_what_does_not_fit(X: Any, y: Any, weight: Any, message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        LogisticScore().fit(X, y, weight)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"l2": 0}, "l2 must be positive"),
        ({"tolerance": 0}, "tolerance must be"),
        ({"max_iterations": 0}, "at least 1"),
    ],
)
def test_wrong_settings_are_refused(argument: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        LogisticScore(**argument)


def test_predict_before_fit_and_with_other_columns():
    with pytest.raises(RuntimeError, match="must be fitted before it predicts"):
        LogisticScore().predict([[1.0]])
    with pytest.raises(ValueError, match="X must have 1 columns, as in fit, got 2"):
        LogisticScore().fit([[1], [2]], [0, 1]).predict([[1, 2]])


def test_a_minimum_not_reached_is_an_error():
    X, y = sample()
    with pytest.raises(
        RuntimeError, match="no minimum after 2 Newton steps: the gradient's largest component is"
    ):
        LogisticScore(max_iterations=2).fit(X, y)


def test_the_score_of_a_row_ignores_its_own_label():
    X, y = sample(120)
    fold = deal({"y": y}, 5, 0)
    score = cross_fitted_score(X, y)
    for k in range(5):
        model = LogisticScore().fit(X[fold != k], y[fold != k])
        np.testing.assert_array_equal(score[fold == k], model.predict(X[fold == k]))
    pure_noise = np.random.default_rng(2).normal(size=(60, 40))
    labels = np.arange(60) % 2
    in_sample = LogisticScore(l2=0.01).fit(pure_noise, labels).predict(pure_noise)
    out_of_fold = cross_fitted_score(pure_noise, labels, l2=0.01)
    assert ((in_sample > 0.5) == labels).mean() == 1.0
    assert ((out_of_fold > 0.5) == labels).mean() < 0.75


def test_the_seed_decides():
    X, y = sample(120)
    assert np.array_equal(cross_fitted_score(X, y, seed=3), cross_fitted_score(X, y, seed=3))
    assert not np.array_equal(cross_fitted_score(X, y, seed=3), cross_fitted_score(X, y, seed=4))


def test_folds_are_even_within_every_stratum():
    rng = np.random.default_rng(0)
    y, group, client = rng.integers(0, 2, 503), rng.integers(0, 3, 503), rng.choice(["a", "b"], 503)
    fold = deal({"y": y, "group": group, "client": client}, 4, 1)
    assert np.ptp(np.bincount(fold)) <= 1
    for label in (0, 1):
        for a in range(3):
            for site in ("a", "b"):
                cell = (y == label) & (group == a) & (client == site)
                assert np.ptp(np.bincount(fold[cell], minlength=4)) <= 1


def test_two_rows_of_a_label_are_never_in_one_fold():
    y = np.array([1] + [0] * 9 + [1])
    # dealt group by group, the two would be 5th and 11th: the same of 3 folds
    group = np.arange(11) >= 5
    for seed in range(30):
        fold = deal({"y": y, "group": group, "client": None}, 3, seed)
        assert fold[0] != fold[10]


def test_two_rows_of_a_label_suffice():
    X = np.arange(12.0)[:, None]
    y = np.array([1, 1] + [0] * 10)
    score = cross_fitted_score(X, y, folds=6)
    assert ((score > 0) & (score < 1)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"folds": 1}, "folds must be from 2 to the number of rows (6), got 1"),
        ({"folds": 7}, "folds must be from 2 to the number of rows (6), got 7"),
        ({"y": [1, 0, 0, 0, 0, 0]}, "y must be 1 in at least two rows, got 1"),
        ({"group": [0, 1]}, "group must have shape (6,), got (2,)"),
        ({"client": [[0]]}, "client must have shape (6,), got (1, 1)"),
    ],
)
def test_cross_fitting_names_what_does_not_fit(arguments: dict[str, Any], message: str):
    call = {"X": np.arange(6.0)[:, None], "y": [0, 1, 0, 1, 0, 1], "folds": 3, **arguments}
    with pytest.raises(ValueError, match=re.escape(message)):
        cross_fitted_score(**call)
