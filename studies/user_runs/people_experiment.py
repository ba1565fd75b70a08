"""FedFB's methods on a table of people, every budget: ``fairfl simulate people.csv``."""

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from fairfl._support.checks import Array, in_range, listed, one_of, whole
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.data.federated.data import PARTS, FederatedData
from fairfl.sims.data.federated.split_people import split_people
from fairfl.sims.data.table_file import PLAIN, Form
from fairfl.sims.data.tables.people import read_people
from fairfl.sims.data.tables.table import Dataset
from fairfl.sims.engine import Algorithm, Parts
from fairfl.sims.group_fairness import FairBatch, FairFed, FedFB, LocalFairBatch
from fairfl.solvers.api import frontier
from fairfl.studies.experiment import Experiment, Picture, Scale, Setting, Unit
from fairfl.studies.frames import among
from fairfl.studies.measures import long
from fairfl.studies.notes import notes
from fairfl.studies.papers.fedfb import fedfb_runs
from fairfl.studies.papers.fedfb import points as fedfb_points
from fairfl.studies.papers.fedfb.limits import scored
from fairfl.studies.user_runs.trained_models import model_files

BUDGETS = (0.0, 0.05, 0.1, 0.2)
"""Budgets ε of |F_a| <= ε, where F_a is in rates of people: with two groups their difference."""
ALPHA, DECAY = 0.3, 1.0
"""Steps of λ are 0.3 / (t + 1), as in ``crosscheck``. Budgets are missed by about 0.004."""
LR = 0.05
ROUNDS, EPOCHS = 50, {"quick": 2, "paper": 6}
"""Rounds and epochs of the federated methods; the others train as many epochs in all."""
NOTIONS = {"dp": "spd", "eo": "eo_difference", "eodds": "eodds_difference"}
"""Parity, equal opportunity and equalised odds, each with the measure of its disparity."""
STEPS = 20
"""Gradient steps between two steps of λ, in which the model follows λ."""
SYMBOLS = {"dp": "P(ŷ=1 | a)", "eo": "P(ŷ=1 | a, y=1)", "eodds": "P(ŷ=1 | a, y), y = 0 or 1"}
"""The rates whose largest difference between two groups is the disparity."""
VALIDATION = "validation"
BEHIND = 40
"""Points of the frontier that is drawn behind the methods' points."""


@dataclass(frozen=True)
class Request:
    """A request for a table of people: a file, its columns as ``read_people`` takes them, and what
    is fair: notion "dp", "eo" or "eodds". ``hidden``: 0 for logistic regression, else the units of
    a network's one hidden layer. ``blind``: the group is not among the features.
    """

    path: str
    label: str
    group: str
    client: str | None = None
    features: tuple[str, ...] | None = None
    budgets: tuple[float, ...] = BUDGETS
    notion: str = "dp"
    hidden: int = 0
    blind: bool = False
    form: Form = PLAIN

    def __post_init__(self) -> None:
        one_of("notion", self.notion, tuple(NOTIONS))
        in_range("budgets", self.budgets, 0.0, 1.0)
        whole("hidden", self.hidden, 0)


@lru_cache(maxsize=2)
def read(request: Request) -> tuple[Dataset, FederatedData]:
    """The table, as it is and as trained on; errors as ``read_people`` and ``split_people``."""
    names = ("label", "group", "client", "features", "blind", "form")
    people = read_people(request.path, **{name: getattr(request, name) for name in names})
    return people, split_people(people)


def methods(request: Request, schedule: str, epochs: int) -> list[tuple[str, float, Algorithm]]:
    """Algorithms of a schedule, with names and budgets: rounds; FairBatch at clients, or on all."""
    rules = [(budget, _rule(request.notion, budget)) for budget in request.budgets]
    if schedule == "central":
        return [(fedfb_runs.CFL, budget, FedFB(rule)) for budget, rule in rules]
    if schedule == "local":
        pairs = [(fedfb_runs.ENSEMBLE, None), (fedfb_runs.LFT_AVG, epochs)]
        both = product(pairs, rules)
        return [(name, e, LocalFairBatch(rule, every)) for (name, every), (e, rule) in both]
    algorithms: list[tuple[str, float, Algorithm]] = [(fedfb_runs.FEDAVG, np.nan, FedAvg())]
    algorithms += [(fedfb_runs.FEDFB, budget, FedFB(rule)) for budget, rule in rules]
    if len(read(request)[0].group_names) == 2 and request.notion != "eodds":
        algorithms.append((fedfb_runs.FAIRFED, np.nan, FairFed(notion=request.notion)))
    return algorithms


def _rule(notion: str, budget: float) -> FairBatch:
    onto = "sum" if notion == "dp" else "box"
    return FairBatch(notion, ALPHA, DECAY, "zero_one", budget=budget, projection=onto)


def label(name: str, budget: float) -> str:
    """The name in tables of a method with a budget."""
    return name if np.isnan(budget) else f"{name}, ε = {budget:g}"


def units(request: Request, scale: Scale) -> list[Unit]:
    """A unit a schedule, all seeds and settings together."""
    name, kind = Path(request.path).stem, f"mlp-{request.hidden}" if request.hidden else "logistic"
    kind += "-blind" * request.blind
    planned = []
    for schedule in fedfb_runs.SCHEDULES:
        listed = methods(request, schedule, EPOCHS[scale.profile])
        objectives = tuple(
            label(method, budget) for method, budget, _ in listed for _ in range(scale.seeds)
        )
        slug = f"own-{name}-{request.notion}-{kind}-{schedule}-{scale.profile}-{scale.seeds}"
        measured = partial(fedfb_runs.measured, objectives, synthetic=False)
        setting = partial(make, request, schedule, scale)
        models = partial(model_files, partial(read, request), objectives)
        planned.append(Unit(slug, name, 0, objectives, setting, measured, models))
    return planned


def make(request: Request, schedule: str, scale: Scale) -> Setting:
    """One schedule's setting; ``STEPS`` batches an epoch of the mean client, of 8 to 128 people."""
    data, epochs = read(request)[1], EPOCHS[scale.profile]
    rules = [algorithm for *_, algorithm in methods(request, schedule, epochs)]
    batch = int(np.clip(data.sizes().mean() // STEPS, 8, fedfb_runs.BATCH))
    length, seeds = (ROUNDS, epochs), range(scale.seeds)
    return fedfb_runs.setting_of(
        Parts.of(data), schedule, length, rules, seeds, request.hidden, LR, batch
    )


def people_experiment(request: Request) -> Experiment:
    """All methods on the table, at every budget, and for demographic parity a frontier behind them.
    Errors, before anything runs: as ``read_people`` and ``split_people``, and ValueError for a
    group without people of a label that the notion compares.
    """
    (table, data), name = read(request), Path(request.path).stem
    _has_cells(request, table, data)
    if request.notion == "dp":
        behind(request)
    title = f"{name}: fair training by {len(table.client_names)} clients, and of the pooled people"
    axis = f"disparity: largest difference of {SYMBOLS[request.notion]}"
    pictures = (Picture(f"{name}-tradeoff", "tradeoff", title, x=axis),)
    return Experiment(
        name,
        title,
        {"quick": 2, "paper": 5},
        partial(units, request),
        partial(values, request),
        partial(differences, request),
        pictures=pictures,
        points=partial(points, request),
    )


def _has_cells(request: Request, table: Dataset, data: FederatedData) -> None:
    """ValueError where a rate that the notion compares has no people."""
    assert data.group is not None
    labels: dict[str, tuple[int, ...]] = {"dp": (), "eo": (1,), "eodds": (0, 1)}
    for y, part in product(labels[request.notion], PARTS):
        rows = data.rows(part)
        counts = np.bincount(data.group[rows][data.y[rows] == y], minlength=len(table.group_names))
        if counts.min() == 0:
            raise ValueError(
                f"notion {request.notion!r} must have people of y = {y} in every group to train, "
                f"choose and test on, some 10 or more: of {request.group} = "
                f"{table.group_names[counts.argmin()]} there are none for {part}"
            )


def values(request: Request, rows: pd.DataFrame) -> pd.DataFrame:
    """Test measures, and accuracy and disparity on validation: a row for each run and measure."""
    disparity = NOTIONS[request.notion]
    shown = {"accuracy": "Acc.", disparity: "disparity", "accepted": "accepted"}
    chosen_by = {"accuracy": f"{VALIDATION} Acc.", disparity: f"{VALIDATION} disparity"}
    parts = []
    for part, columns in (("test", shown), ("validation", chosen_by)):
        part_rows = among(rows, "part", [part])
        # constants come with every schedule
        parts.append(long(part_rows.loc[~part_rows.duplicated(["objective", "seed"])], columns))
    return pd.concat(parts, ignore_index=True)


def points(request: Request, rows: pd.DataFrame) -> pd.DataFrame:
    """A point a setting; for demographic parity with the frontier of a score behind."""
    settings = [
        setting for schedule in fedfb_runs.SCHEDULES for setting in methods(request, schedule, 1)
    ]
    test = fedfb_points.by_setting(among(rows, "part", ["test"]), settings, label)
    table = fedfb_points.trade_off(test, disparity=NOTIONS[request.notion])
    if request.notion != "dp":
        return table
    curve = fedfb_points.frontiers([Path(request.path).stem], lambda name: behind(request))
    return pd.concat([table, curve.assign(objective=fedfb_points.OF_SCORE)], ignore_index=True)


@lru_cache(maxsize=2)
def behind(request: Request) -> tuple[Array, Array]:
    """The frontier of a score on the test people: (disparity, accuracy)."""
    curve = frontier(scored(read(request)[1]), "cfl", BEHIND)
    return curve.disparity, curve.accuracy


def differences(request: Request, rows: pd.DataFrame) -> tuple[str, ...]:
    """Methods and people, the meaning of ε, and the accuracy of the numbers."""
    table, data = read(request)
    tested = len(data.rows("test"))
    groups = ", ".join(f"{n} {_count(table.group == a)}" for a, n in enumerate(table.group_names))
    clients = [f"{n} {_count(table.client == k)}" for k, n in enumerate(table.client_names)]
    people = {"count": len(table), "groups": groups, "clients": listed(clients)}
    people |= {"label": request.label, "positive": table.label_names[1]}
    people |= {"features": listed(table.columns["features"])}
    settings = {"tested": tested, "error": np.sqrt(0.16 / tested), "first": table.group_names[0]}
    return (
        *notes("people", "people", **people),
        *filter(None, [table.note]),
        *notes("people", "splits", rates=SYMBOLS[request.notion], **settings),
        *(notes("people", "frontier") if request.notion == "dp" else ()),
    )


def _count(which: np.ndarray) -> str:
    return f"{int(which.sum()):,}"
