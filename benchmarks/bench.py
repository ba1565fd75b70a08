"""BENCHMARKS.md: timings of pairs, interleaved in one run, so that ratios hold on a busy
machine.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import optimize, special

from fairfl.solvers.api import frontier, min_disparity, solve
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import MEANS_5, figure_5

SETTLE = 5.0
"""Seconds that the rounds of short functions may take together."""
BUDGETS = 200
"""Budgets of our curve where the libraries take one."""


@dataclass(frozen=True)
class Sizes:
    """How much to time."""

    eps: int
    atoms: tuple[int, ...]
    clients: int
    people: int
    grid: int
    rounds: int
    figures: bool
    vectors: int = 100_000


FULL = Sizes(
    eps=1000,
    atoms=(100_000, 1_000_000),
    clients=200,
    people=20_000,
    grid=2000,
    rounds=5,
    figures=True,
)
QUICK = Sizes(
    eps=20, atoms=(1000,), clients=5, people=300, grid=100, rounds=1, figures=False, vectors=500
)


@dataclass(frozen=True)
class Row:
    """One line of the table: seconds of ours (NaN: could not be measured, ``note`` says why), of
    the alternative and of the aim, None where there is none.
    """

    what: str
    ours: float
    other: str = ""
    alternative: float | None = None
    aim: float | None = None
    note: str = ""

    def cells(self) -> tuple[str, ...]:
        """What, ours, alternative, ratio, aim, met, note."""
        if self.alternative is None:
            against, ratio = "", ""
        else:
            against = f"{seconds(self.alternative)} ({self.other})"
            ratio = f"{self.alternative / self.ours:.3g}"
        aim = "" if self.aim is None else f"≤ {seconds(self.aim)}"
        met = (
            ""
            if self.aim is None or self.ours != self.ours
            else "yes"
            if self.ours <= self.aim
            else "**no**"
        )
        ours = "not measured" if self.ours != self.ours else seconds(self.ours)
        return self.what, ours, against, ratio, aim, met, self.note


def run(sizes: Sizes, tell: Callable[[str], None] = lambda line: None) -> str:
    """Time everything, and return BENCHMARKS.md; ``tell`` hears of each row as it is done."""
    from benchmarks.group_fairness import group_fairness  # it needs this module
    from benchmarks.objectives import objectives  # as does this
    from benchmarks.simulator import simulator  # and this

    rows = []
    parts = (
        cfl_laws,
        cfl_finite,
        fedavg,
        ensemble,
        libraries,
        importing,
        figures,
        objectives,
        simulator,
    )
    for part in (*parts, group_fairness):
        for row in part(sizes):
            tell(" | ".join(cell for cell in row.cells() if cell))
            rows.append(row)
    return markdown(rows, sizes)


def interleaved(rounds: int, *functions: Callable[[], Any]) -> list[float]:
    """The shortest time of each function, seconds; every round runs all of them, after one run that
    is not counted.

    Short functions get more rounds, up to SETTLE seconds in all: somewhere among them the machine
    is quiet.
    """
    best = [np.inf] * len(functions)
    start, k = time.perf_counter(), 0
    while k <= rounds or (rounds > 1 and k < 20 * rounds and time.perf_counter() - start < SETTLE):
        for j, function in enumerate(functions):
            begin = time.perf_counter()
            function()
            if k:
                best[j] = min(best[j], time.perf_counter() - begin)
        k += 1
    return best


def cfl_laws(sizes: Sizes) -> Iterator[Row]:
    """CFL's frontier on figure 5's federation against a loop over scipy's brentq."""
    fed = figure_5()
    ours, cold, loop = interleaved(
        sizes.rounds,
        lambda: frontier(fed, "cfl", sizes.eps),
        lambda: frontier(figure_5(), "cfl", sizes.eps),
        lambda: scalar_loop(sizes.eps),
    )
    accuracy = frontier(fed, "cfl", sizes.eps).accuracy[::10]
    again = [Classifier.thresholds(cuts).accuracy(fed) for cuts in scalar_loop(sizes.eps)[::10]]
    accurate = float(np.abs(accuracy - again).max())
    what = f"CFL frontier, {sizes.eps:,} budgets, figure 5's federation"
    other, note = "one brentq a budget", f"accuracies agree to {max(accurate, 1e-16):.0e}"
    yield Row(f"{what}, densities expanded before", ours, other, loop, 3e-3, note)
    yield Row(f"{what}, from a new federation", cold, other, loop, None, note)


def scalar_loop(count: int) -> np.ndarray:
    """Thresholds (count, 2) of CFL on figure 5's federation, one scalar root after the other
    (FedFB, lemma 7).
    """
    mean = np.array(MEANS_5)

    def rate(a: int, t: float) -> float:
        return float(special.ndtr(mean[:, a] - t).mean())

    def cut(a: int, lam: float) -> float:
        return float(special.logit(np.clip(0.5 - lam if a == 0 else 0.5 + lam, 0.0, 1.0)))

    def difference(lam: float) -> float:
        return rate(0, cut(0, lam)) - rate(1, cut(1, lam))

    free = difference(0.0)
    lams = []
    for eps in np.linspace(0.0, abs(free), count)[:-1]:
        goal = np.sign(free) * eps
        ends = (-0.5, 0.0) if free > 0 else (0.0, 0.5)
        lams.append(
            optimize.brentq(lambda lam, goal=goal: difference(lam) - goal, *ends, xtol=1e-15)
        )
    return np.array([[cut(a, lam) for a in (0, 1)] for lam in [*lams, 0.0]])


def cfl_finite(sizes: Sizes) -> Iterator[Row]:
    """The exact frontier by one sort: the solve alone on a federation never solved before, and with
    making it.
    """
    for atoms in sizes.atoms:
        rng = np.random.default_rng(1)
        points = np.sort(rng.normal(size=atoms))
        masses = rng.random((2, 2, atoms))
        masses /= masses.sum(axis=(1, 2), keepdims=True)
        eta = special.expit(points)
        making, solving = [], []
        for _ in range(sizes.rounds + 1):
            begin = time.perf_counter()
            fed = Federation.finite(points, masses, eta)
            middle = time.perf_counter()
            frontier(fed, "cfl", 200)
            making.append(middle - begin)
            solving.append(time.perf_counter() - middle)
        note = (
            "nothing cached: a new federation each time; to make and check it takes "
            f"{seconds(min(making[1:]))} more"
        )
        aim = {100_000: 10e-3, 1_000_000: 150e-3}.get(atoms)
        what = f"CFL frontier, finite X, {atoms:,} atoms, 2 clients, solve alone"
        yield Row(what, min(solving[1:]), aim=aim, note=note)


def fedavg(sizes: Sizes) -> Iterator[Row]:
    """LFT+FedAvg at one vector of budgets against the linear programme on a grid."""
    eps = [0.05, 0.1]
    new = lambda: figure_5((0.4, 0.6))  # noqa: E731
    fed = new()
    cold, warm, lp = interleaved(
        sizes.rounds,
        lambda: solve(new(), "lft_fedavg", eps),
        lambda: solve(fed, "lft_fedavg", eps),
        lambda: solve(fed, "lft_fedavg", eps, method="lp", grid=sizes.grid),
    )
    exact = solve(fed, "lft_fedavg", eps)
    off = abs(solve(fed, "lft_fedavg", eps, method="lp", grid=sizes.grid).accuracy - exact.accuracy)
    what = "LFT+FedAvg at one budget vector, certified to 1e-10"
    other, note = f"cvxpy, {sizes.grid:,} cells", f"the programme's accuracy is off by {off:.0e}"
    yield Row(f"{what}, densities expanded before", warm, other, lp, 20e-3, note)
    yield Row(f"{what}, from a new federation", cold, other, lp, None, note)


def ensemble(sizes: Sizes) -> Iterator[Row]:
    """LFT+Ensemble's smallest disparity for many clients."""
    rng = np.random.default_rng(2)
    n = sizes.clients
    mean, q = rng.normal(scale=2.0, size=(n, 2)), rng.uniform(0.2, 0.8, n)
    weight = rng.uniform(0.5, 2.0, n)
    fed = Federation.normal(mean, q=q, weight=weight)
    (alone,) = interleaved(sizes.rounds, lambda: min_disparity(fed, "lft_ensemble"))
    (cold,) = interleaved(
        1, lambda: min_disparity(Federation.normal(mean, q=q, weight=weight), "lft_ensemble")
    )
    what = f"LFT+Ensemble's smallest disparity, {n} clients, unequal q and weights"
    yield Row(f"{what}, densities expanded before", alone, aim=50e-3)
    yield Row(f"{what}, from a new federation", cold)


def people(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(score, label, group) of simulated people, scores rounded to 0.001."""
    rng = np.random.default_rng(3)
    group = (rng.random(count) < 0.4).astype(int)
    latent = rng.normal(0.8 - 1.2 * group, 1.0)
    label = (rng.random(count) < special.expit(1.5 * latent)).astype(int)
    return np.round(special.expit(latent), 3), label, group


def libraries(sizes: Sizes) -> Iterator[Row]:
    """Post-processing of one score by Fairlearn and by error-parity, one budget a fit, against our
    whole curve.
    """
    score, label, group = people(sizes.people)
    zeros = np.zeros(len(score), int)

    def ours() -> Any:
        # one isotonic η a group: exactly the groups' convex ROC hulls, on which the libraries work
        return frontier(
            Federation.from_samples(score, label, group, zeros, calibrate="client_group"),
            "cfl",
            BUDGETS,
        )

    curve = ours()
    told = f"{sizes.people:,} people"
    rivals = (
        ("fairlearn", "Fairlearn's ThresholdOptimizer", by_fairlearn),
        ("error_parity", "error-parity", by_error_parity),
    )
    for module, name, fit in rivals:
        what = f"exact curve of {BUDGETS} budgets from {told}, calibrated and solved"
        if find_spec(module) is None:
            (mine,) = interleaved(1, ours)
            yield Row(what, mine, note=f"{name}: the package {module} is not installed")
            continue
        try:
            disparity, accuracy = fit(score, label, group)
        except Exception as error:
            # somebody else's code, and what it needs: the other rows are worth having
            (mine,) = interleaved(1, ours)
            yield Row(what, mine, note=f"{name} did not run: {' '.join(str(error).split())}")
            continue
        mine, its = interleaved(
            min(sizes.rounds, 3), ours, lambda fit=fit: fit(score, label, group)
        )
        below = float(curve.accuracy_at(disparity)) - accuracy
        apiece = f"ours takes {seconds(mine / BUDGETS)} a budget"
        note = (
            f"{apiece}; its accuracy at its disparity {disparity:.2g} is {below:.1e} below "
            "the exact curve"
        )
        yield Row(what, mine, f"{name}, one budget", its, None, note)


def by_fairlearn(score: np.ndarray, label: np.ndarray, group: np.ndarray) -> tuple[float, float]:
    """(disparity, accuracy) on the same people of Fairlearn's demographic parity."""
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Score(ClassifierMixin, BaseEstimator):
        def fit(self, X: Any, y: Any) -> Score:
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, X: Any) -> np.ndarray:
            p = np.asarray(X, dtype=float)[:, 0]
            return np.stack([1 - p, p], axis=1)

        def predict(self, X: Any) -> np.ndarray:
            return (np.asarray(X, dtype=float)[:, 0] > 0.5).astype(int)

    x = score[:, None]
    fitted = ThresholdOptimizer(
        estimator=Score().fit(x, label),
        constraints="demographic_parity",
        prefit=True,
        predict_method="predict_proba",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(x, label, sensitive_features=group)
        # its probabilities, without a draw
        accept = np.asarray(fitted._pmf_predict(x, sensitive_features=group))[:, 1]
    return _figures(accept, label, group)


def by_error_parity(score: np.ndarray, label: np.ndarray, group: np.ndarray) -> tuple[float, float]:
    """(disparity, accuracy) on the same people of error-parity's rule at budget 0.05."""
    from error_parity import RelaxedThresholdOptimizer

    rule = RelaxedThresholdOptimizer(
        predictor=lambda X: np.asarray(X)[:, 0],
        constraint="demographic_parity",
        tolerance=0.05,
        false_pos_cost=1.0,
        false_neg_cost=1.0,
    )
    whole = np.reshape

    def reshape(a: Any, shape: Any = None, newshape: Any = None, **kwargs: Any) -> Any:
        return whole(a, newshape if shape is None else shape, **kwargs)

    # error-parity 0.3.11 names the shape as numpy up to 2.3 did
    with warnings.catch_warnings(), patch.object(np, "reshape", reshape):
        warnings.simplefilter("ignore")
        rule.fit(score[:, None], label, group=group)
        return float(rule.constraint_violation()), 1.0 - float(rule.cost())


def _figures(accept: np.ndarray, label: np.ndarray, group: np.ndarray) -> tuple[float, float]:
    accuracy = float(np.where(label == 1, accept, 1 - accept).mean())
    return abs(float(accept[group == 0].mean() - accept[group == 1].mean())), accuracy


def importing(sizes: Sizes) -> Iterator[Row]:
    """``import fairfl`` in a fresh interpreter, the interpreter's own start taken off."""

    def start(code: str) -> Callable[[], Any]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    empty, full = interleaved(sizes.rounds, start("pass"), start("import fairfl"))
    note = f"the interpreter alone takes {seconds(empty)}"
    yield Row("import fairfl", max(full - empty, 1e-6), aim=0.3, note=note)


def figures(sizes: Sizes) -> Iterator[Row]:
    """All figures that need no data, from nothing, on the cores there are."""
    if not sizes.figures:
        return
    from fairfl._support.processes import MOST_JOBS
    from fairfl.figures.lib.registry import registered

    names = [name for name in registered() if name != "real_data"]
    jobs = min(os.cpu_count() or 1, MOST_JOBS)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        line = ["figures", *names, "--out", folder, "--jobs", str(jobs)]
        code = "from fairfl.cli.main import main; main()"
        done = subprocess.run([sys.executable, "-c", code, *line], capture_output=True, text=True)
        took = time.perf_counter() - begin
        if done.returncode or len(list(Path(folder).glob("*.png"))) != len(names):
            raise RuntimeError(f"the figures could not be drawn: {done.stderr.strip()}")
    yield Row(
        f"all {len(names)} theory figures, from nothing, {jobs} processes",
        took,
        aim=60.0,
        note="run once",
    )


def markdown(rows: list[Row], sizes: Sizes) -> str:
    """The table, and what it was measured on."""
    head = ("what", "ours", "alternative", "ratio", "aim", "met", "note")
    lines = [head, tuple("---" for _ in head), *(row.cells() for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    told = ", ".join(
        f"{name} {metadata.version(name)}" for name in ("fairfl", "numpy", "scipy", "cvxpy")
    )
    machine = (
        f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, {told}"
    )
    return (
        "# Benchmarks\n\n"
        f"Written by `make bench` (`fairfl bench`). {machine}.\nTimes are the shortest of at "
        f"least {sizes.rounds} rounds after one that is not counted, ours and the alternative in "
        f"turn in one run; ratio is the alternative's time over ours.\n\n{table}\n"
    )


def seconds(value: float) -> str:
    """A duration with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"
