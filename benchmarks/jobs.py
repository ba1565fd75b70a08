"""The main jobs: frontiers, smallest disparities and whole commands, CPU seconds from a new
federation. ``python -m benchmarks.jobs WORD ...`` times those described by one of the words.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Row, Sizes, cpu
from fairfl.solvers.api import frontier, min_disparity, solve
from fairfl.solvers.schemes import SchemeName
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.fedfb_figures import SHARES_5, SHARES_9, figure_5, figure_9

REPEATED = 0.5
"""Seconds; a shorter job is repeated until they have passed, and its shortest time counts."""
SIMULATE = "simulate fedfb-table-1 --profile paper --out out"
COMMAND = "from fairfl.cli.main import main; main()"


def random_laws(clients: int) -> Federation:
    """Normal laws: means N(0, 2²), deviations 0.5 to 2, shares 0.2 to 0.8, weights 0.5 to 2."""
    rng = np.random.default_rng(2)
    mean, sd = rng.normal(scale=2.0, size=(clients, 2)), rng.uniform(0.5, 2.0, (clients, 2))
    q, weight = rng.uniform(0.2, 0.8, clients), rng.uniform(0.5, 2.0, clients)
    return Federation.normal(mean, sd=sd, q=q, weight=weight)


def six_sites(groups: int) -> Federation:
    """20,000 people of six sites, scores at 101 levels."""
    rng, count = np.random.default_rng(1), 20_000
    site = rng.integers(0, 6, count)
    shares = rng.dirichlet(np.full(groups, 3.0), 6).cumsum(axis=1)[site, :-1]
    group = (rng.random(count)[:, None] > shares).sum(axis=1)
    score = np.clip(rng.normal(rng.normal(0.5, 0.1, (6, groups))[site, group], 0.2), 0.0, 1.0)
    label = (rng.random(count) < score).astype(int)
    return Federation.from_samples(np.round(score, 2), label, group, site, levels=0)


def finite(clients: int, cells: int) -> Federation:
    """Even masses times gamma noise on a finite X, one increasing η."""
    rng = np.random.default_rng(5)
    masses = rng.gamma(2.0, size=(clients, 2, cells))
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    return Federation.finite(np.arange(cells), masses, np.sort(rng.random(cells)))


def adult(group: str = "sex", *, unknown: bool = False) -> str:
    """Adult's training rows as CSV text; with ``unknown`` one in twenty has the group "?"."""
    from fairfl.sims.data.fetch import locate
    from fairfl.sims.data.tables.adult import TRAIN, read

    table = read(locate([TRAIN]))
    if unknown:
        table[group] = table[group].where(np.arange(len(table)) % 20 > 0, "?")
    return table.to_csv(index=False)


def command(words: str, people: str = "") -> None:
    """Run ``fairfl`` and the words in a new process and folder, with ``people`` in adult.csv."""
    with tempfile.TemporaryDirectory() as folder:
        if people:
            (Path(folder) / "adult.csv").write_text(people, "utf-8")
        call = [sys.executable, "-c", COMMAND, *words.split()]
        process = subprocess.run(call, cwd=folder, capture_output=True, text=True)
        if process.returncode:
            error = process.stderr.strip().rpartition("\n")[2]  # the last line of a traceback
            raise RuntimeError(f"fairfl {words} ended with {process.returncode}: {error}")


def curve(scheme: SchemeName, points: int, **task: Any) -> Callable[[Federation], object]:
    """A frontier."""
    return lambda federation: frontier(federation, scheme, points, **task)


def at(scheme: SchemeName) -> Callable[[Federation], object]:
    """The optimum at the budget 0.05."""
    return lambda federation: solve(federation, scheme, 0.05)


def of_adult(group: str, points: int, options: str = "") -> Callable[[str], None]:
    """``fairfl frontier`` on Adult, a client for each work class."""
    columns = f"--label income --positive >50K --group {group} --client workclass"
    return partial(command, f"frontier adult.csv {columns} --points {points} {options}")


AVG: SchemeName = "lft_fedavg"
ENSEMBLE: SchemeName = "lft_ensemble"
RUNS: dict[str, Callable[[Any], Any]] = {
    "LFT+FedAvg, 60 points": curve(AVG, 60),
    "LFT+FedAvg, 20 points": curve(AVG, 20),
    "LFT+FedAvg, 8 points": curve(AVG, 8),
    "LFT+FedAvg, equal opportunity, 60 points": curve(AVG, 60, notion="eo"),
    "LFT+FedAvg's smallest disparity": lambda federation: min_disparity(federation, AVG),
    "LFT+Ensemble's smallest disparity": lambda federation: min_disparity(federation, ENSEMBLE),
    "LFT+Ensemble, equalised odds, 40 points": curve(ENSEMBLE, 40, notion="eodds"),
    "LFT+Ensemble, blind, 40 points": curve(ENSEMBLE, 40, sees="x"),
    "client-aware rules, 20 points": curve("client_aware", 20, local_eps=0.1),
    "solve CFL": at("cfl"),
    "solve LFT+FedAvg": at(AVG),
    "solve LFT+Ensemble": at(ENSEMBLE),
    "fairfl frontier by sex, 8 points, intervals": of_adult("sex", 8),
    "fairfl frontier by sex, 3 points, intervals": of_adult("sex", 3),
    "fairfl frontier by race, 4 points": of_adult("race", 4, "--bootstraps 0"),
    "fairfl figures": partial(command, "figures --out out"),
    "fairfl reproduce": partial(command, "reproduce --out out"),
    "fairfl simulate fedfb-table-1": partial(command, SIMULATE),
}
PROBLEMS: dict[str, Callable[[], object]] = {
    **{f"figure 5({k})": partial(figure_5, q) for k, q in zip("abcd", SHARES_5, strict=True)},
    "figure 9(a)": partial(figure_9, SHARES_9[0]),
    **{f"random laws, {n} clients": partial(random_laws, n) for n in (2, 5, 10, 20, 50, 200)},
    **{f"people of six sites, {n} groups": partial(six_sites, n) for n in (2, 3)},
    **{f"finite X of 100, {n} clients": partial(finite, n, 100) for n in (6, 200)},
    "Adult by work class": adult,
    "Adult by work class, one in twenty of sex ?": partial(adult, unknown=True),
    "an empty folder": str,
}
JOBS = (
    ("LFT+FedAvg, 60 points", "figure 5(a)", 0.15),
    ("LFT+FedAvg, 60 points", "figure 5(b)", 0.30),
    ("LFT+FedAvg, 60 points", "figure 5(c)", 0.22),
    ("LFT+FedAvg, 60 points", "figure 5(d)", 0.21),
    ("LFT+FedAvg, equal opportunity, 60 points", "figure 9(a)", 1.0),
    ("LFT+Ensemble, equalised odds, 40 points", "figure 5(b)", 3.0),
    ("LFT+Ensemble, blind, 40 points", "figure 5(b)", 3.0),
    ("LFT+FedAvg, 20 points", "random laws, 2 clients", 1.0),
    ("LFT+FedAvg, 20 points", "random laws, 5 clients", 5.0),
    ("LFT+FedAvg, 20 points", "random laws, 10 clients", 5.0),
    ("LFT+FedAvg, 20 points", "random laws, 20 clients", 5.0),
    ("LFT+FedAvg, 20 points", "random laws, 50 clients", 10.0),
    ("LFT+FedAvg, 20 points", "random laws, 200 clients", 30.0),
    ("LFT+FedAvg's smallest disparity", "random laws, 50 clients", 3.0),
    ("LFT+FedAvg's smallest disparity", "random laws, 200 clients", 10.0),
    ("LFT+Ensemble's smallest disparity", "random laws, 200 clients", 0.5),
    ("client-aware rules, 20 points", "random laws, 200 clients", 15.0),
    ("LFT+FedAvg, 60 points", "people of six sites, 2 groups", 1.0),
    ("LFT+FedAvg, 8 points", "people of six sites, 3 groups", 1.5),
    ("solve CFL", "finite X of 100, 6 clients", 0.26e-3),
    ("solve LFT+FedAvg", "finite X of 100, 6 clients", 3.2e-3),
    ("solve LFT+Ensemble", "finite X of 100, 6 clients", 0.63e-3),
    ("LFT+FedAvg, 20 points", "finite X of 100, 200 clients", 15.0),
    ("fairfl frontier by sex, 8 points, intervals", "Adult by work class", 30.0),
    (
        "fairfl frontier by sex, 3 points, intervals",
        "Adult by work class, one in twenty of sex ?",
        60.0,
    ),
    ("fairfl frontier by race, 4 points", "Adult by work class", 10.0),
    ("fairfl figures", "an empty folder", 20.0),
    ("fairfl reproduce", "an empty folder", 60.0),
    ("fairfl simulate fedfb-table-1", "an empty folder", None),
)
"""Job, problem, and CPU seconds of the aim."""


def jobs(sizes: Sizes) -> Iterator[Row]:
    """The rows of BENCHMARKS.md; the quick table has the first only."""
    for job in JOBS if sizes.rounds > 1 else JOBS[:1]:
        yield timed(*job)


def timed(run: str, problem: str, aim: float | None) -> Row:
    """CPU seconds of a run, less the making of its problem; the least of several if it is short."""
    title, best, spent = f"{run}: {problem}, CPU time", np.inf, 0.0
    while spent < REPEATED:
        try:
            instance = PROBLEMS[problem]()
            begin = cpu()
            RUNS[run](instance)
        except Exception as error:  # the other rows are still useful
            return Row(title, float("nan"), aim=aim, note=f"{type(error).__name__}: {error}")
        elapsed = cpu() - begin
        best, spent = min(best, elapsed), spent + elapsed
    return Row(title, best, aim=aim)


if __name__ == "__main__":
    for job in JOBS:
        if not sys.argv[1:] or any(word in f"{job[0]}: {job[1]}" for word in sys.argv[1:]):
            print(" | ".join(timed(*job).cells()), flush=True)
