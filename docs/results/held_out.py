"""Rules of one score and of cells, and those of other libraries, counted on held-out people.

    python -m docs.results.held_out KIND FOLDER

KIND is ``libraries``: one half of the people makes a rule, the other counts; ``promises``: CFL's
and LFT+FedAvg's rules of 20 data sets; ``equals``: blind rules of cells and of one score, equally
disparate.

All rules have the same numbers: P(a, y | x) and its margins, 5-fold cross-fitted on the first half.
Each prints its table. Libraries beside ours are optional: fairlearn, error_parity, oxonfair, and
LinearPost's file postprocess.py under the name ``linearpost`` (with cvxpy).
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fairfl as ff
from benchmarks.libraries import error_parity_rule, fairlearn_rule, old_reshape
from docs.results.interval_coverage import LAWS
from fairfl._support.whole_file import write_whole
from fairfl.sims.data.tables.folds import deal
from fairfl.sims.data.tables.published_tables import load

BUDGETS = 0.0, 0.05
CURVE = 0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.13, 0.2
SPLITS = 4
MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    "boosting": HistGradientBoostingClassifier(
        max_iter=40, learning_rate=0.2, max_leaf_nodes=12, random_state=0
    ),
}


class People(NamedTuple):
    """Features x (n, d) without the group, labels y, groups a and clients i (n,)."""

    x: Any
    y: Any
    a: Any
    i: Any


class Numbers(NamedTuple):
    """y and a (n,) of people, P(a, y | x) (n, A, 2), and P(y = 1 | x, a) (n,)."""

    y: Any
    a: Any
    joint: Any
    aware: Any

    @property
    def eta(self) -> Any:
        """P(y = 1 | x) (n,)."""
        return self.joint[..., 1].sum(axis=1)

    @property
    def chance(self) -> Any:
        """P(a | x) (n, A)."""
        return self.joint.sum(axis=2)


def acs_like(seed: int, n: int = 20_000) -> People:
    """Income by age, schooling and hours; y is rarer in groups 1 and 2 than x explains."""
    rng = np.random.default_rng(seed)
    a = rng.choice(3, n, p=[0.6, 0.25, 0.15])
    age = rng.uniform(18, 75, n)
    school = rng.normal(np.array([13.5, 12.5, 11.5])[a], 2.5)
    hours = np.clip(rng.normal(np.array([42, 37, 38])[a], 10), 1, 90)
    region = rng.random((n, 4)).argmax(axis=1) == np.where(rng.random(n) < 0.5, a, 3)
    z = 0.35 * (school - 13) + 0.06 * (hours - 40) + 0.1 * (age - 42) - 0.0016 * (age - 42) ** 2
    y = rng.random(n) < expit(z - 0.4 - np.array([0, 0.5, 0.3])[a])
    x = np.stack([age, school, hours, region, rng.normal(a == 1, 1.0)], axis=1)
    return People(x, y.astype(int), a, rng.integers(3, size=n))


def published(name: str, groups: str, column: str) -> People:
    """A public table, the column of the group taken from the features."""
    data = load(name, groups=groups)
    is_other = np.array([not feature.startswith(column) for feature in data.feature_names])
    group = data.group
    if column == "race=":
        group = data.features[:, data.feature_names.index("race=White")].astype(int)
    return People(data.features[:, is_other], data.label, group, data.client)


TABLES: dict[str, Callable[[], People]] = {
    "Adult by sex": partial(published, "adult", "two", "sex"),
    "Adult by race": partial(published, "adult", "two", "race="),
    "Bank by age": partial(published, "bank", "two", "age"),
    "COMPAS by race": partial(published, "compas", "race", "sex-race"),
    "ACS-like, 3 groups": partial(acs_like, 0),
}


def numbers(people: People, model: Any, first: Any) -> tuple[Numbers, Numbers]:
    """Cross-fitted numbers of the people who are ``first``; those of others by a model of all."""
    y, a = people.y, people.a
    seen = np.column_stack([people.x, np.eye(a.max() + 1)[a]])
    dealt: Any = StratifiedKFold(5, shuffle=True, random_state=0)
    parts: list[Any] = []
    for x, target in ((people.x, 2 * a + y), (seen, y)):
        chances = np.zeros((len(y), target.max() + 1))
        options: dict[str, Any] = {"cv": dealt, "method": "predict_proba"}
        out_of_fold: Any = cross_val_predict(model, x[first], target[first], **options)
        chances[first] = out_of_fold
        learned: Any = clone(model)
        chances[~first] = learned.fit(x[first], target[first]).predict_proba(x[~first])
        parts.append(chances)
    joint, aware = parts[0].reshape(len(y), -1, 2), parts[1][:, 1]
    fitted, judged = (Numbers(*(c[k] for c in (y, a, joint, aware))) for k in (first, ~first))
    return fitted, judged


def figures(accept: Any, y: Any, a: Any) -> tuple[float, float]:
    """Accuracy, and the largest difference of groups' rates, of chances to be accepted (n,)."""
    rates = np.bincount(a, accept) / np.bincount(a)
    return float(np.where(y == 1, accept, 1 - accept).mean()), float(np.ptp(rates))


def ours(fitted: Numbers, judged: Numbers, eps: float, sees: Any, cells: bool) -> Any:
    """CFL's rule."""
    score, people = (
        np.column_stack([n.aware if sees == "xa" else n.eta, n.chance[:, 1:]])
        for n in (fitted, judged)
    )
    if not cells:
        score, people = score[:, 0], people[:, 0]
    federation = ff.Federation.from_samples(score, fitted.y, fitted.a, np.zeros(len(score), int))
    rule: Any = ff.solve(federation, "cfl", eps, sees=sees).classifier
    return rule(people, judged.a)


def linear_post(fitted: Numbers, judged: Numbers, eps: float, aware: bool) -> Any:
    """The linear programme on the given chances."""
    from linearpost import PostProcessor

    def chances(n: Numbers) -> dict[str, Any]:
        eta = n.aware if aware else n.eta
        chance = np.eye(n.chance.shape[1])[n.a] if aware else n.chance
        return {"p_y_x": np.stack([1 - eta, eta], axis=1), "p_a_x": chance}

    rule = PostProcessor(2, fitted.chance.shape[1], alpha=eps, seed=0)
    return rule.fit(**chances(fitted), solver="HIGHS").predict(**chances(judged))


def oxonfair(fitted: Numbers, judged: Numbers, eps: float, aware: bool) -> Any:
    """Thresholds by group, or by the group that P(a | x) infers."""
    from oxonfair import FairPredictor
    from oxonfair import group_metrics as gm

    def data(n: Numbers) -> dict[str, Any]:
        eta = n.aware if aware else n.eta
        return {"data": np.column_stack([1 - eta, eta, n.chance]), "target": n.y, "groups": n.a}

    inferred: Any = False if aware else lambda x: x[:, 2:]
    rule = FairPredictor(lambda x: x[:, :2], data(fitted), inferred_groups=inferred)
    rule.fit(gm.accuracy, gm.demographic_parity, eps)
    return np.asarray(rule.predict(data(judged)), float)


def fairlearn_thresholds(fitted: Numbers, judged: Numbers, eps: float) -> Any:
    """ThresholdOptimizer of the score P(y = 1 | x, a)."""
    rule = fairlearn_rule(fitted.aware, fitted.y, fitted.a, eps or None)
    return rule(judged.aware, judged.a)


def error_parity(fitted: Numbers, judged: Numbers, eps: float) -> Any:
    """Thresholds of the score P(y = 1 | x, a), drawn anew 20 times."""
    with old_reshape():
        rule = error_parity_rule(fitted.aware, fitted.y, fitted.a, eps)
        new = judged.aware[:, None]
        return np.mean([rule.predict(new, group=judged.a) for _ in range(20)], axis=0)


METHODS: dict[str, Any] = {
    "blind, one score": partial(ours, sees="x", cells=False),
    "blind, cells": partial(ours, sees="x", cells=True),
    "blind, LinearPost": partial(linear_post, aware=False),
    "blind, OxonFair": partial(oxonfair, aware=False),
    "aware, one score": partial(ours, sees="xa", cells=False),
    "aware, cells": partial(ours, sees="xa", cells=True),
    "aware, LinearPost": partial(linear_post, aware=True),
    "aware, OxonFair": partial(oxonfair, aware=True),
    "aware, Fairlearn's thresholds": fairlearn_thresholds,
    "aware, error-parity": error_parity,
}


def reductions(people: People, first: Any, eps: float) -> Any:
    """Fairlearn's ExponentiatedGradient of logistic regression, without the group."""
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    x = StandardScaler().fit(people.x[first]).transform(people.x)
    constraint = DemographicParity(difference_bound=eps or 0.002)
    rule = ExponentiatedGradient(LogisticRegression(max_iter=200), constraint, max_iter=20)
    rule.fit(x[first], people.y[first], sensitive_features=people.a[first])
    return np.asarray(rule._pmf_predict(x[~first]))[:, 1]


def library_rows(name: str) -> Iterator[dict[str, Any]]:
    """Of a table, each split, model, method and budget: accuracy and disparity held out."""
    people = TABLES[name]()
    for split in range(SPLITS):
        first = deal({"y": people.y, "a": people.a}, 2, split) == 0
        y, a = people.y[~first], people.a[~first]
        for model, estimator in MODELS.items():
            fitted, judged = numbers(people, estimator, first)
            rules: dict[str, Any] = {
                key: partial(method, fitted, judged) for key, method in METHODS.items()
            }
            if model == "logistic":
                rules["blind, Fairlearn's reductions"] = partial(reductions, people, first)
            for key, eps in ((key, eps) for key in rules for eps in BUDGETS):
                row = {"table": name, "split": split, "model": model, "method": key, "eps": eps}
                start = time.perf_counter()
                try:
                    row["accuracy"], row["disparity"] = figures(rules[key](eps), y, a)
                except Exception as error:
                    row["error"] = f"{type(error).__name__}: {error}"
                yield row | {"seconds": time.perf_counter() - start}


def equal_rows(name: str) -> Iterator[dict[str, Any]]:
    """How much more accurate blind rules of cells are, held out, than the best mixture of one
    score's rules and of the constant rule that is no more disparate there.
    """
    people = TABLES[name]()
    for (model, estimator), split in product(MODELS.items(), range(SPLITS)):
        first = deal({"y": people.y, "a": people.a}, 2, split) == 0
        both = numbers(people, estimator, first)
        y, a = people.y[~first], people.a[~first]
        alone, cells = (
            [figures(ours(*both, eps, "x", several), y, a)[::-1] for eps in budgets]
            for several, budgets in ((False, CURVE), (True, BUDGETS))
        )
        alone.append((0.0, max(y.mean(), 1 - y.mean())))
        for eps, (disparity, accuracy) in zip(BUDGETS, cells, strict=True):
            pairs = [sorted(pair) for pair in combinations(alone, 2) if min(pair)[0] <= disparity]
            best = max(float(np.interp(disparity, *np.transpose(pair))) for pair in pairs)
            row = {"table": name, "model": model, "eps": eps, "method": "cells less one score"}
            yield row | {"accuracy": accuracy - best, "disparity": disparity}


Half = tuple[Any, Any, Any, Any]
"""Scores, labels, groups and clients (n,)."""
NOTIONS = "demographic_parity", "true_positive_rate_parity"


def law_halves(name: str) -> list[Half]:
    """Two tables drawn from a law of interval_coverage.py."""
    halves = []
    for seed in range(2):
        table = LAWS[name].table(seed)
        cells = np.repeat(np.argwhere(table.counts >= 0), table.counts.ravel().astype(int), axis=0)
        halves.append((table.points[cells[:, 3]], cells[:, 2], cells[:, 1], cells[:, 0]))
    return halves


def halves(people: Callable[[], People], split: int = 0) -> list[Half]:
    """Scores P(y = 1 | x, a) of the two halves of a table, see ``numbers``."""
    table = people()
    first = deal({"y": table.y, "a": table.a}, 2, split) == 0
    made = numbers(table, MODELS["logistic"], first)
    return [(n.aware, n.y, n.a, table.i[k]) for n, k in zip(made, (first, ~first), strict=True)]


REAL = {
    "COMPAS by sex": ("compas", "sex", "sex-race"),
    "COMPAS by race and sex": ("compas", "all", "sex-race"),
    "COMPAS, black and white": ("compas", "black-white", "sex-race"),
    "Bank by 5 ages": ("bank", "all", "age"),
}
SIZES = 2_000, 8_000, 60_000
DATA_SETS: dict[str, Any] = (
    {name: partial(halves, people) for name, people in TABLES.items()}
    | {name: partial(halves, partial(published, *names)) for name, names in REAL.items()}
    | {f"ACS-like, {n:,} people": partial(halves, partial(acs_like, 1, n)) for n in SIZES}
    | {f"law: {name}": partial(law_halves, name) for name in LAWS}
)


def rates(accept: Any, a: Any) -> tuple[Any, Any]:
    """Groups' rates of acceptance, and their variances."""
    people = np.bincount(a)
    rate = np.bincount(a, accept) / people
    return rate, rate * (1 - rate) / people


def promise_rows(name: str) -> Iterator[dict[str, Any]]:
    """Of a data set, notion and scheme: the disparity promised, and counted on both halves."""
    (score, y, a, i), (new, label, group, _) = DATA_SETS[name]()
    federation = ff.Federation.from_samples(score, y, a, i)
    for notion, scheme in product(NOTIONS, ("cfl", "lft_fedavg")):
        solution: Any = ff.solve(federation, scheme, 0.05, notion=notion)
        same, held_out = (
            rates(solution.classifier(x, g)[has], g[has])
            for x, g, l in ((score, a, y), (new, group, label))
            for has in [(l == 1) | (notion == NOTIONS[0])]
        )
        rate, variance = held_out
        error = 1.96 * np.sqrt(variance[rate.argmax()] + variance[rate.argmin()])
        row = {"table": name, "notion": notion, "scheme": scheme, "promise": solution.disparity}
        disparity = np.ptp(rate)
        row |= {"same": np.ptp(same[0]), "held out": disparity}
        yield row | {"low": max(disparity - error, 0), "high": disparity + error}


def library_table(rows: Any) -> str:
    """Means and standard errors over splits, of a row for each table and rule."""
    rows = rows.dropna(subset="accuracy")
    both = rows.groupby(["table", "method", "model", "eps"])[["accuracy", "disparity"]]
    mean, error = both.mean(), both.sem()  # a cell is empty where splits are missing
    lines = []
    for table, method in rows[["table", "method"]].drop_duplicates().itertuples(index=False):
        keys = [(table, method, model, eps) for model in MODELS for eps in BUDGETS]
        cells = [
            "; ".join(f"{mean[c][k]:.{d}f} ± {error[c][k]:.{d}f}" for c, d in DIGITS.items())
            if k in mean.index and both.size()[k] == SPLITS
            else ""
            for k in keys
        ]
        lines.append(f"| {table} | {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


DIGITS = {"accuracy": 4, "disparity": 3}


def promise_table(rows: Any) -> str:
    """A row for each data set and notion."""
    lines = []
    for (name, notion), part in rows.groupby(["table", "notion"], sort=False):
        cells = [
            f"{r['promise']:.3f} | {r['same']:.3f} | {r['held out']:.3f} "
            f"({r['low']:.3f} to {r['high']:.3f})"
            for _, r in part.iterrows()
        ]
        short = {NOTIONS[0]: "parity", NOTIONS[1]: "equal opportunity"}[str(notion)]
        lines.append(f"| {name} | {short} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kind, folder, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    make = {"libraries": library_rows, "promises": promise_rows, "equals": equal_rows}[kind]
    choices, table = (DATA_SETS, promise_table) if kind == "promises" else (TABLES, library_table)
    for name in names or choices:
        text = pd.DataFrame(make(name)).to_csv(index=False)
        write_whole(folder / f"{kind} {name}.csv", text)
    files = sorted(folder.glob(f"{kind} *.csv"))
    print(table(pd.concat(map(pd.read_csv, files))))
