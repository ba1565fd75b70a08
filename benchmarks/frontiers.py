"""Timings of the solvers, CFL and LFT+FedAvg, against loops and linear programmes."""

from collections.abc import Iterator

import numpy as np
from scipy import optimize, special

from benchmarks.timing import Row, Sizes, cpu, interleaved, seconds
from fairfl.solvers.api import frontier, solve
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import MEANS_5, figure_5

MEANS = np.array(MEANS_5).T
"""Of figure 5's laws, by group and client."""


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
    rules = map(Classifier.thresholds, scalar_loop(sizes.eps)[::10])
    error = float(np.abs(accuracy - [rule.accuracy(fed) for rule in rules]).max())
    title = f"CFL frontier, {sizes.eps:,} budgets, figure 5's federation"
    rival, note = "one brentq a budget", f"accuracies agree to {max(error, 1e-16):.0e}"
    yield Row(f"{title}, densities expanded before", ours, rival, loop, 3e-3, note)
    yield Row(f"{title}, from a new federation", cold, rival, loop, None, note)


def scalar_loop(count: int) -> np.ndarray:
    """Thresholds (count, 2) of CFL on figure 5's federation, root by root (FedFB, lemma 7)."""
    unconstrained = difference(0.0)
    ends = (-0.5, 0.0) if unconstrained > 0 else (0.0, 0.5)
    lams = [
        optimize.brentq(difference, *ends, args=(np.sign(unconstrained) * eps,), xtol=1e-15)
        for eps in np.linspace(0.0, abs(unconstrained), count)[:-1]
    ]
    return np.array([cuts(lam) for lam in [*lams, 0.0]])


def cuts(lam: float) -> list[float]:
    """The thresholds of a multiplier."""
    return [float(special.logit(np.clip(0.5 + sign * lam, 0.0, 1.0))) for sign in (-1, 1)]


def difference(lam: float, target: float = 0.0) -> float:
    """The mean difference of the rule of λ on figure 5's federation, less ``target``."""
    rates = [special.ndtr(mean - t).mean() for mean, t in zip(MEANS, cuts(lam), strict=True)]
    return float(rates[0] - rates[1] - target)


def cfl_finite(sizes: Sizes) -> Iterator[Row]:
    """The frontier by one sort on a new federation; a note gives the time to build it."""
    for atoms in sizes.atoms:
        rng = np.random.default_rng(1)
        points = np.sort(rng.normal(size=atoms))
        masses = rng.random((2, 2, atoms))
        masses /= masses.sum(axis=(1, 2), keepdims=True)
        eta = special.expit(points)
        making, solving = [], []
        for _ in range(sizes.rounds + 1):
            begin = cpu()
            fed = Federation.finite(points, masses, eta)
            middle = cpu()
            frontier(fed, "cfl", 200)
            making.append(middle - begin)
            solving.append(cpu() - middle)
        note = (
            "nothing cached: a new federation each time; to make and check it takes "
            f"{seconds(min(making[1:]))} more"
        )
        aim = {100_000: 10e-3, 1_000_000: 150e-3}.get(atoms)
        title = f"CFL frontier, finite X, {atoms:,} atoms, 2 clients, solve alone"
        yield Row(title, min(solving[1:]), aim=aim, note=note)


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
    on_grid = solve(fed, "lft_fedavg", eps, method="lp", grid=sizes.grid)
    error = abs(on_grid.accuracy - exact.accuracy)
    title = "LFT+FedAvg at one budget vector, certified to 1e-10"
    rival, note = f"cvxpy, {sizes.grid:,} cells", f"the programme's accuracy is off by {error:.0e}"
    yield Row(f"{title}, densities expanded before", warm, rival, lp, 20e-3, note)
    yield Row(f"{title}, from a new federation", cold, rival, lp, None, note)
