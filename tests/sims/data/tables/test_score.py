import numpy as np
import pytest
from scipy.special import expit

from fairfl.sims.data.tables import score
from fairfl.sims.data.tables.folds import deal
from fairfl.sims.data.tables.score import cross_fitted_score, logistic_fit


def sample(n: int = 400, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with features of very different scales, and labels from a logistic law."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** np.arange(-2, d - 2) + 3
    w = rng.normal(size=d) / 10.0 ** np.arange(-2, d - 2)
    return X, (rng.random(n) < expit((X - 3) @ w)).astype(int)


def cases() -> dict[str, tuple[np.ndarray, ...]]:
    """Rows, labels and weights, by what is special about them."""
    X, y = sample()
    ones, x = np.ones(len(y)), X[:, :1]
    separated = np.concatenate([np.linspace(-2, -1, 50), np.linspace(1, 2, 50)])[:, None]
    return {
        "plain": (X, y),
        "other units": (X * [1e-6, 1e6, 1, 100, 0.1] + [0, 5, -1e3, 7, 1e2], y),
        "separable": (separated, (separated[:, 0] > 0).astype(int)),
        "constant columns": (np.column_stack([0.1 * ones, X, -7 * ones]), y),
        "nothing but constants": (np.ones((8, 2)), np.arange(8) % 4 // 3),
        "collinear": (np.column_stack([x, 10 * x]), y),
        "weights": (X, y, np.random.default_rng(1).gamma(0.5, 1e-3, len(y)) + 1e-6),
    }


@pytest.mark.parametrize("case", cases())
def test_the_gradient_of_the_penalised_loss_is_zero(case: str):
    """On standardised columns, 0 where they are constant; the minimum of a convex loss."""
    X, y, *weight = cases()[case]
    coefficients, intercept = logistic_fit(X, y, *weight)
    w = weight[0] / weight[0].mean() if weight else np.ones(len(y))
    mean, varies = np.average(X, axis=0, weights=w), np.ptp(X, axis=0) > 0
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    Z = np.where(varies, (X - mean) / np.where(varies, deviation, 1.0), 0.0)
    assert (coefficients[~varies] == 0).all()
    v = coefficients * deviation
    excess = w * (expit(Z @ v + intercept + mean @ coefficients) - y)
    np.testing.assert_allclose(Z.T @ excess + v, 0.0, atol=1e-8 * len(y))
    assert abs(excess.sum()) <= 1e-8 * len(y)


def test_the_score_of_a_row_ignores_its_own_label():
    X, y = sample(120)
    fold, weight = deal({"y": y}, 5, 0), np.arange(1.0, 121)
    score = cross_fitted_score(X, y, weight=weight)
    for k in range(5):
        w, b = logistic_fit(X[fold != k], y[fold != k], weight=weight[fold != k])
        np.testing.assert_array_equal(score[fold == k], expit(X[fold == k] @ w + b))
    pure_noise = np.random.default_rng(2).normal(size=(60, 40))
    labels = np.arange(60) % 2
    w, b = logistic_fit(pure_noise, labels)
    in_sample = expit(pure_noise @ w + b)
    out_of_fold = cross_fitted_score(pure_noise, labels)
    assert ((in_sample > 0.5) == labels).mean() > 0.95
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


def test_fits_that_cannot_be_are_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(score, "ITERATIONS", 2)
    with pytest.raises(RuntimeError, match="no minimum after 2 Newton steps"):
        logistic_fit(*sample())


def test_more_features_than_can_be_fitted_are_refused():
    with pytest.raises(ValueError, match="number of features, .* of at most 3000, got 3001"):
        cross_fitted_score(np.zeros((9, 3001)), np.arange(9) % 2)
