"""Timings of group fairness: FedFB's synthetic data with five methods, and FedFB against declearn.

By itself: ``python -m benchmarks.group_fairness``; with the word ``declearn`` it compares the two
over five seeds on both data sets that declearn can take (its groups are two), and prints means and
standard deviations.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.timing import FULL, Row, Sizes, cpu_interleaved

ROW = 20.0
"""The aim: CPU seconds of all five methods, five seeds each."""
ALPHA = 0.05
"""FedFB's step where it is compared with declearn."""
COMPARED = {"Synthetic": (10, 30), "Adult": (10, 3)}
"""Rounds and epochs, by data set."""
SEEDS = 5


def group_fairness(sizes: Sizes) -> Iterator[Row]:
    """The rows; none without torch."""
    if find_spec("torch") is None:
        return
    yield table_row(sizes)
    yield against_declearn(sizes)


def table_row(sizes: Sizes) -> Row:
    """Table 1's five methods on the synthetic data, run as ``fairfl simulate fedfb-table-1`` runs
    them; CPU seconds.

    FedFB takes the step α μ of its published code, with which it comes to the published numbers,
    over its whole grid of α. The runs are those of the table: accuracies and disparities are told.
    """
    from fairfl.studies.execute import run_units
    from fairfl.studies.experiment import Scale
    from fairfl.studies.frames import among, floats
    from fairfl.studies.papers.fedfb import runs as fedfb_runs

    full = sizes.rounds > 1
    methods = (
        fedfb_runs.FEDAVG,
        fedfb_runs.FEDFB_PLAIN,
        fedfb_runs.CFL,
        fedfb_runs.ENSEMBLE,
        fedfb_runs.LFT_AVG,
    )
    methods = methods if full else methods[:2]
    scale = Scale("paper", 5) if full else Scale("quick", 1)
    wall, cpu = time.perf_counter(), time.process_time()
    rows = run_units(fedfb_runs.family(scale, ("Synthetic",), only=methods))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    test = fedfb_runs.chosen(rows)
    told = []
    for name in methods:
        mine = among(test, "objective", [name])
        told.append(f"{name} {floats(mine, 'accuracy').mean():.3f}/{floats(mine, 'dp').mean():.3f}")
    size = f"{len(methods)} methods, {scale.seeds} seeds, {scale.profile} profile"
    what = f"FedFB, table 1, synthetic data: {size}, CPU time"
    note = f"run once, wall {wall:.3g} s, `python -m benchmarks.group_fairness`; {'; '.join(told)}"
    return Row(what, cpu, aim=ROW if full else None, note=note)


def against_declearn(sizes: Sizes) -> Row:
    """One FedFB run, ours and declearn's, same people, start and schedule; CPU seconds."""

    full = sizes.rounds > 1
    rounds, epochs = (10, 30) if full else (2, 1)
    what = f"FedFB for parity, {rounds} rounds of {epochs} epochs, 3 clients, one seed, CPU time"
    (mine,) = cpu_interleaved(min(sizes.rounds, 3), [lambda: ours(rounds, epochs)])
    found = find_spec("declearn")
    if found is None or found.origin is None:  # a folder of that name is not the package
        return Row(
            what,
            mine,
            note="declearn is not installed: an extra, in an environment of its own (pandas < 3)",
        )
    try:
        printed, turned = (
            theirs(rounds, epochs, **kwargs)
            for kwargs in ({}, {"turned": True, "server_lr": 1 / 3})
        )
    except Exception as error:  # somebody else's code, and what it needs: our time is worth having
        return Row(what, mine, note=f"declearn did not run: {' '.join(str(error).split())}")
    pairs = (
        ("ours", ours(rounds, epochs)[0]),
        ("declearn", printed[1:]),
        ("its mean and λ_1 turned", turned[1:]),
    )
    note = "accuracy/disparity: " + ", ".join(f"{name} {a:.3f}/{dp:.3f}" for name, (a, dp) in pairs)
    return Row(what, mine, "declearn", min(printed[0], turned[0]), note=note)


def ours(
    rounds: int, epochs: int, seeds: tuple[int, ...] = (0,), dataset: str = "Synthetic"
) -> list[tuple[float, float]]:
    """Test accuracy and disparity of our FedFB with declearn's F and step ALPHA, by seed."""
    from fairfl.sims.engine import Computing, Replicate, Simulation, Training
    from fairfl.sims.group_fairness import FairBatch, FedFB

    parts, model, settings = _job(dataset)
    replicates = [Replicate(FedFB(FairBatch("dp", ALPHA)), seed) for seed in seeds]
    training = Training(rounds=rounds, epochs=epochs, **settings)
    simulation = Simulation(model, parts, replicates, training, Computing(device="cpu"))
    while not simulation.done:
        simulation.step()
    return [_measures(model, params[None], parts) for params in simulation.params]


def theirs(
    rounds: int, epochs: int, seed: int = 0, dataset: str = "Synthetic", **kwargs: Any
) -> tuple[float, float, float]:
    """CPU seconds, test accuracy and disparity of declearn's; ``declearn_twin.fedfb``."""
    from benchmarks import declearn_twin

    parts, model, settings = _job(dataset)
    batch = settings.pop("batch_size")
    found = declearn_twin.fedfb(
        parts.train,
        model,
        rounds=rounds,
        epochs=epochs,
        batch=batch,
        alpha=ALPHA,
        seed=seed,
        **settings,
        **kwargs,
    )
    return found.seconds, *_measures(model, found.params[None], parts)


def compared(dataset: str, tell: Callable[[str], None] = print) -> None:
    """FedFB, ours and declearn's with its changes undone one by one; a line each."""
    rounds, epochs = COMPARED[dataset]
    parts, _, _ = _job(dataset)
    mean: dict[str, Any] = {"server_lr": 1 / parts.train.clients}
    variants = {
        "declearn": {},
        "the updates' mean": mean,
        "and λ_1 turned": mean | {"turned": True},
        "and no step untrained": mean | {"turned": True, "untrained": False},
    }
    tell(
        f"{dataset}, {rounds} rounds of {epochs} epochs, {SEEDS} seeds: accuracy, disparity, CPU "
        "seconds a run"
    )
    begin = time.process_time()
    found = np.array(ours(rounds, epochs, tuple(range(SEEDS)), dataset))
    tell(_line("ours", found, (time.process_time() - begin) / SEEDS))
    for name, kwargs in variants.items():
        each = np.array([theirs(rounds, epochs, seed, dataset, **kwargs) for seed in range(SEEDS)])
        tell(_line(name, each[:, 1:], each[:, 0].mean()))


def _line(name: str, found: Any, seconds: float) -> str:
    (accuracy, dp), (accuracy_sd, dp_sd) = found.mean(0), found.std(0, ddof=1)
    return f"{name}: {accuracy:.3f} ± {accuracy_sd:.3f}, {dp:.3f} ± {dp_sd:.3f}, {seconds:.3g} s"


def _job(dataset: str) -> tuple[Any, Any, dict[str, Any]]:
    """FedFB's people, its network, and what both train with."""
    from fairfl.sims.engine import MLP, Parts
    from fairfl.studies.papers.fedfb.data import fedfb_data
    from fairfl.studies.papers.fedfb.runs import BATCH, HIDDEN, LR, MOMENTUM

    parts = Parts.of(fedfb_data(dataset))
    model = MLP((parts.train.x.shape[1], HIDDEN, 2))
    return parts, model, {"lr": LR, "momentum": MOMENTUM, "batch_size": BATCH}


def _measures(model: Any, params: Any, parts: Any) -> tuple[float, float]:
    from fairfl.sims.group_fairness import FairMeasures
    from fairfl.sims.group_fairness.measures import accepts

    test = model.prepare(parts.parts["test"].to("cpu", params.double().dtype))
    accept = accepts(model, params.double(), test)[0]
    found = FairMeasures.of(accept, test.y.numpy(), test.group)
    return found.accuracy, found.dp


if __name__ == "__main__" and sys.argv[1:] == ["declearn"]:
    for dataset in COMPARED:
        compared(dataset)
elif __name__ == "__main__":
    for row in group_fairness(FULL):
        print(" | ".join(cell for cell in row.cells() if cell))
