"""Timings of the frontier of people compared with fairlearn's and error-parity's optimisers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import special

from benchmarks.timing import Row, Sizes, interleaved, seconds
from fairfl.solvers.api import frontier
from fairfl.solvers.frontier import Frontier
from fairfl.theory.populations.calibration import ScoreWarning
from fairfl.theory.populations.federation import Federation

BUDGETS = 200
"""Number of budgets of our curve; the libraries solve for one."""


def people(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(score, label, group) of simulated people, scores rounded to 0.001."""
    rng = np.random.default_rng(3)
    group = (rng.random(count) < 0.4).astype(int)
    latent = rng.normal(0.8 - 1.2 * group, 1.0)
    label = (rng.random(count) < special.expit(1.5 * latent)).astype(int)
    return np.round(special.expit(latent), 3), label, group


def hulls(score: np.ndarray, label: np.ndarray, group: np.ndarray) -> Federation:
    """People with one isotonic η per group, at all scores: the groups' convex ROC hulls."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoreWarning)
        client = np.zeros(len(score), int)
        return Federation.from_samples(
            score, label, group, client, calibrate="client_group", levels=0
        )


def libraries(sizes: Sizes) -> Iterator[Row]:
    """Fairlearn and error-parity on one score, a budget per fit, compared with our whole curve."""
    score, label, group = people(sizes.people)
    ours = partial(our_curve, score, label, group)
    curve = ours()
    size = f"{sizes.people:,} people"
    rivals = (
        ("fairlearn", "Fairlearn's ThresholdOptimizer", by_fairlearn),
        ("error_parity", "error-parity", by_error_parity),
    )
    for module, name, fit in rivals:
        title = f"exact curve of {BUDGETS} budgets from {size}, calibrated and solved"
        if find_spec(module) is None:
            (our_time,) = interleaved(1, ours)
            yield Row(title, our_time, note=f"{name}: the package {module} is not installed")
            continue
        try:
            disparity, accuracy = fit(score, label, group)
        except Exception as error:
            # an error of another library: the other rows are still useful
            (our_time,) = interleaved(1, ours)
            yield Row(title, our_time, note=f"{name} did not run: {' '.join(str(error).split())}")
            continue
        our_time, rival_time = interleaved(
            min(sizes.rounds, 3), ours, lambda fit=fit: fit(score, label, group)
        )
        below = float(curve.accuracy_at(disparity)) - accuracy
        apiece = f"ours takes {seconds(our_time / BUDGETS)} a budget"
        note = (
            f"{apiece}; its accuracy at its disparity {disparity:.2g} is {below:.1e} below "
            "the exact curve"
        )
        yield Row(title, our_time, f"{name}, one budget", rival_time, None, note)


def our_curve(score: np.ndarray, label: np.ndarray, group: np.ndarray) -> Frontier:
    """CFL's frontier, from people without a federation."""
    return frontier(hulls(score, label, group), "cfl", BUDGETS)


def by_fairlearn(score: np.ndarray, label: np.ndarray, group: np.ndarray) -> tuple[float, float]:
    """(disparity, accuracy) of Fairlearn's demographic parity on the same people."""
    accept = fairlearn_rule(score, label, group, None)(score, group)
    accuracy = float(np.where(label == 1, accept, 1 - accept).mean())
    return abs(float(accept[group == 0].mean() - accept[group == 1].mean())), accuracy


def fairlearn_rule(
    score: np.ndarray, label: np.ndarray, group: np.ndarray, eps: float | None
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """(score, group) to the chances of acceptance by Fairlearn's thresholds, without sampling."""
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Score(ClassifierMixin, BaseEstimator):
        def fit(self, X: Any, y: Any) -> Score:
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, X: Any) -> np.ndarray:
            return np.column_stack([1 - X, X])

        def predict(self, X: Any) -> np.ndarray:
            return (np.asarray(X)[:, 0] > 0.5).astype(int)

    x = score[:, None]
    options: dict[str, Any] = {"constraints": "demographic_parity", "prefit": True, "tol": eps}
    rule: Any = ThresholdOptimizer(
        estimator=Score().fit(x, label), predict_method="predict_proba", **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rule.fit(x, label, sensitive_features=group)
    return lambda new, of: np.asarray(rule._pmf_predict(new[:, None], sensitive_features=of))[:, 1]


def by_error_parity(score: np.ndarray, label: np.ndarray, group: np.ndarray) -> tuple[float, float]:
    """(disparity, accuracy) of error-parity's rule at budget 0.05 on the same people."""
    with old_reshape():
        rule = error_parity_rule(score, label, group, 0.05)
        return float(rule.constraint_violation()), 1.0 - float(rule.cost())


def error_parity_rule(score: np.ndarray, label: np.ndarray, group: np.ndarray, eps: float) -> Any:
    """Error-parity's thresholds; under ``old_reshape``."""
    from error_parity import RelaxedThresholdOptimizer

    rule = RelaxedThresholdOptimizer(
        predictor=lambda X: np.asarray(X)[:, 0], constraint="demographic_parity", tolerance=eps
    )
    rule.fit(score[:, None], label, group=group)
    return rule


@contextmanager
def old_reshape() -> Iterator[None]:
    """Error-parity 0.3.11 names the shape of ``np.reshape`` as numpy up to 2.3 did."""
    reshape = np.reshape

    def renamed(a: Any, shape: Any = None, newshape: Any = None, **options: Any) -> np.ndarray:
        return reshape(a, newshape if shape is None else shape, **options)

    with warnings.catch_warnings(), patch.object(np, "reshape", renamed):
        warnings.simplefilter("ignore")
        yield
