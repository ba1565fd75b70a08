"""The runs of FedFB's tables: on three schedules seeds, methods and steps train together."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from torch import Tensor

from fairfl.sims import engine
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.engine.task import Floats
from fairfl.sims.group_fairness import (
    FairBatch,
    FairFed,
    FairMeasures,
    FedFB,
    LocalFairBatch,
    trivial,
)
from fairfl.sims.group_fairness.measures import accepts
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.schemes import LABELS
from fairfl.studies.experiment import Scale, Setting, Unit
from fairfl.studies.frames import among, floats, groups
from fairfl.studies.measures import long
from fairfl.studies.notes import notes
from fairfl.studies.papers.fedfb.data import SYNTHETIC, fedfb_data, pooled
from fairfl.studies.papers.fedfb.limits import best_accuracy, exact_frontier, expected_accuracy

ROUNDS, EPOCHS = 10, 30
"""FedFB, appendix C.1: 10 rounds of 30 local epochs, or 300 epochs; batches of 128."""
QUICK, QUICK_REAL = 10, 1
"""Local epochs of the quick profile, and where there are tens of thousands of people."""
LR, MOMENTUM, BATCH = 0.01, 0.9, 128
HIDDEN = 4

CFL, LFT_AVG, ENSEMBLE = LABELS.values()
FEDAVG, FEDFB = "FedAvg", "FedFB"
FEDFB_PLAIN, FEDFB_BITS, FAIRFED = "FedFB, step α μ", "FedFB (10 bits)", "FairFed"
VARIANTS = {FEDFB: (FEDFB, FEDFB_PLAIN, FEDFB_BITS)}
"""The methods that are compared with a published line."""
MEASURES = {"accuracy": "Acc.", "dp": "DP disp.", "spd": "|SPD|", "expected": "E Acc."}
MEASURES |= {"best": "best E Acc."}
"""Columns of the measures, and their names in tables."""

Method = tuple[str, Algorithm]

GRID = (0.05, 0.08, 0.1, 0.2, 0.5)
PLAIN_GRID = (0.05, 0.1, 0.2)
FAIRFED_GRID = (0.3, 1.0, 3.0)
"""FairFed's β; Ezzeldin et al. take 1."""
LOCAL_ALPHA = 0.005


def rule(alpha: float, normalised: bool = True) -> FairBatch:
    """FairBatch's step."""
    return FairBatch("dp", alpha, surrogate="acceptance", normalised=normalised)


def methods(
    schedule: str, epochs: int, dataset: str, only: Sequence[str] | None = None
) -> list[Method]:
    """What trains in rounds of many epochs, at the clients, or on pooled people; ``only`` some."""
    step, plain = rule(LOCAL_ALPHA), [rule(alpha, normalised=False) for alpha in PLAIN_GRID]
    # of more groups FairFed has no weights
    betas = () if dataset in ("COMPAS", "Bank") else FAIRFED_GRID
    pairs: dict[str, list[Method]] = {
        "federated": [
            (FEDAVG, FedAvg()),
            *((FEDFB, FedFB(rule(alpha))) for alpha in GRID),
            *((FEDFB_PLAIN, FedFB(update)) for update in plain),
            *((FEDFB_BITS, FedFB(update, bits=10)) for update in plain),
            *((FAIRFED, FairFed(beta)) for beta in betas),
        ],
        "local": [(ENSEMBLE, LocalFairBatch(step)), (LFT_AVG, LocalFairBatch(step, epochs))],
        "central": [(CFL, FedFB(step))],
    }
    return [pair for pair in pairs[schedule] if only is None or pair[0] in only]


SCHEDULES = ("federated", "local", "central")


def family(
    scale: Scale, datasets: Sequence[str], model: str = "mlp", only: Sequence[str] | None = None
) -> list[Unit]:
    """The units of a table: three schedules a data set, all seeds together; ``only`` some."""
    units = []
    for dataset in datasets:
        for schedule in SCHEDULES:
            named = methods(schedule, _epochs(scale, dataset), dataset, only)
            if named:
                objectives = tuple(name for name, _ in named for _ in range(scale.seeds))
                slug = "-".join(dataset.lower().replace(",", "").split())
                # the name of the run has them, so that runs of other methods are not reused
                chosen = sorted({re.sub("[^a-z0-9+]", "", name.lower()) for name, _ in named})
                label = "-".join(["fedfb", slug, model, schedule, *(chosen if only else ())])
                label += f"-{scale.profile}-{scale.seeds}"
                run = partial(make, dataset, schedule, model, scale, only and tuple(only))
                measure = partial(measured, objectives, synthetic=dataset in SYNTHETIC)
                units.append(Unit(label, dataset, 0, objectives, run, measure))
    return units


def _epochs(scale: Scale, dataset: str) -> int:
    if scale.paper:
        return EPOCHS
    return QUICK_REAL if dataset.startswith(("Adult", "Bank")) else QUICK


def make(
    dataset: str, schedule: str, model: str, scale: Scale, only: Sequence[str] | None
) -> Setting:
    """One schedule's setting."""
    epochs = _epochs(scale, dataset)
    named, hidden = methods(schedule, epochs, dataset, only), HIDDEN if model == "mlp" else 0
    rules, seeds = [algorithm for _, algorithm in named], range(scale.seeds)
    parts = engine.Parts.of(fedfb_data(dataset))
    return setting_of(parts, schedule, (ROUNDS, epochs), rules, seeds, hidden)


def setting_of(
    parts: engine.Parts,
    schedule: str,
    length: tuple[int, int],
    algorithms: Sequence[Algorithm],
    seeds: Iterable[int],
    hidden: int,
    lr: float = LR,
    batch: int = BATCH,
) -> Setting:
    """Every algorithm with every seed: "federated", rounds of some epochs (``length``); "local",
    one epoch a round, as many in all; "central", the same on the pooled people. ``hidden``: 0 for
    logistic regression, else the units of the one hidden layer.
    """
    rounds, epochs = length if schedule == "federated" else (length[0] * length[1], 1)
    parts = pooled(parts) if schedule == "central" else parts
    replicates = tuple(
        engine.Replicate(algorithm, seed) for algorithm in algorithms for seed in seeds
    )
    training = engine.Training(
        rounds=rounds, epochs=epochs, lr=lr, momentum=MOMENTUM, batch_size=batch
    )
    width = parts.train.x.shape[1]
    model: engine.Model = engine.MLP((width, hidden, 2)) if hidden else engine.Logistic(width)
    return Setting(model, parts, replicates, training, rounds, engine.Computing(device="cpu"))


def measured(
    objectives: tuple[str, ...], result: engine.Result, *, synthetic: bool
) -> pd.DataFrame:
    """Measures of the last models on validation and test, and of the constants; on synthetic data
    with the expected accuracy over labels, and the exact frontier's at the same |SPD|.
    """
    simulation, rows = result.simulation, []
    for part in ("validation", "test"):
        data = simulation.parts[part]
        assert data.group is not None
        y = data.y.cpu().numpy()
        for r, replicate in enumerate(simulation.replicates):
            accept = accepted(simulation, r, data)
            stats = FairMeasures.of(accept, y, data.group)
            row = row_of(part, objectives[r], replicate.seed, stats, strength(replicate.algorithm))
            rows.append(row | (beside(accept, stats, data) if part == "test" and synthetic else {}))
        for name, stats in trivial(y, data.group).items():
            rows.append(row_of(part, name, 0, stats))
    return pd.DataFrame(rows).assign(round=simulation.round)


def accepted(simulation: engine.Simulation, r: int, data: engine.ClientData) -> Floats:
    """Each person's probability of acceptance by a replicate's last model, or by its ensemble."""
    models, shares = last_models(simulation, r)
    return shares @ accepts(simulation.model, models, data)


def last_models(simulation: engine.Simulation, r: int) -> tuple[Tensor, Floats]:
    """A replicate's last model (1, P), or of an ensemble (K, P); and how often each one decides."""
    algorithm = simulation.replicates[r].algorithm
    if not algorithm.is_ensemble:
        return simulation.params[r : r + 1], np.ones(1)
    personal = algorithm.personal(simulation.states[r])
    assert personal is not None  # an ensemble has them
    return personal, simulation.source.p


def strength(algorithm: Algorithm) -> float:
    """The parameter of a method's grid: FedFB's α, FairFed's β; NaN for a method without."""
    if isinstance(algorithm, FairFed):
        return algorithm.beta
    return algorithm.rule.alpha if isinstance(algorithm, FedFB) else float("nan")


def row_of(
    part: str, objective: str, seed: int, stats: FairMeasures, setting: float = np.nan
) -> dict[str, object]:
    """A row of ``measured``."""
    row = {"part": part, "model": "global", "objective": objective, "seed": seed}
    return row | {"alpha": setting, **vars(stats)}


def beside(accept: Floats, stats: FairMeasures, data: engine.ClientData) -> dict[str, float]:
    """A classifier's expected accuracy on synthetic people, and the best at its disparity."""
    assert data.group is not None
    x = data.x[:, :2].double().cpu().numpy()
    limit = _frontier(x.tobytes(), data.group.tobytes())
    return {"expected": expected_accuracy(accept, x), "best": best_accuracy(limit, stats.spd)}


@lru_cache(maxsize=8)
def _frontier(x: bytes, group: bytes) -> Frontier:
    return exact_frontier(np.frombuffer(x).reshape(-1, 2), np.frombuffer(group, np.int64))


def chosen(rows: pd.DataFrame, by: str = "dp") -> pd.DataFrame:
    """The test rows whose α is fairest on validation, in the mean over seeds."""
    tables = []
    for _, part in groups(rows, ["dataset", "objective"]):
        test = among(part, "part", ["test"])
        alpha = fairest(among(part, "part", ["validation"]), by)
        if alpha is not None:
            test = among(test, "alpha", [alpha])
        # constants come with every schedule
        _, first = np.unique(floats(test, "seed"), return_index=True)
        tables.append(test.iloc[np.sort(first)])
    return pd.concat(tables, ignore_index=True)


def fairest(validation: pd.DataFrame, by: str) -> float | None:
    """The α of the smallest mean, the first of several; None for a method without α."""
    alphas = floats(validation, "alpha")
    if np.isnan(alphas).any():
        return None
    grid = list(dict.fromkeys(alphas.tolist()))
    means = [float(floats(among(validation, "alpha", [alpha]), by).mean()) for alpha in grid]
    return grid[int(np.argmin(means))]


def values(rows: pd.DataFrame) -> pd.DataFrame:
    """Test measures of the chosen runs: a row a data set, objective, seed and measure."""
    return long(chosen(rows), MEASURES)


def choices(rows: pd.DataFrame) -> tuple[str, ...]:
    """A line for each grid: the α that validation chose."""
    lines = []
    for (dataset, objective), part in groups(rows, ["dataset", "objective"]):
        grid = np.unique(floats(part, "alpha"))
        alpha = fairest(among(part, "part", ["validation"]), "dp")
        if alpha is not None and len(grid) > 1:
            among_them = ", ".join(f"{a:g}" for a in grid)
            name = "β" if objective == FAIRFED else "α"
            lines.append(
                f"{dataset}, {objective}: {name} = {alpha:g} of {among_them}, fairest on "
                "validation."
            )
    return tuple(lines)


def differences(rows: pd.DataFrame, chosen: bool = True) -> tuple[str, ...]:
    """What every table of FedFB's differs in, and the settings that were ``chosen``."""
    standing = notes("fedfb", "differences", momentum=MOMENTUM, lr=LR)
    return (*standing, *(choices(rows) if chosen else ()))
