"""Runs of FedFB's methods on a table of people: every budget, on three schedules."""

from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from fairfl._support.checks import in_range, one_of, whole
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.split_people import split_people
from fairfl.sims.data.table_file import PLAIN, Form
from fairfl.sims.data.tables.people import read_people
from fairfl.sims.data.tables.table import Dataset
from fairfl.sims.engine import Algorithm, Parts
from fairfl.sims.group_fairness import FairBatch, FairFed, FedFB, LocalFairBatch
from fairfl.studies.experiment import Scale, Setting, Unit
from fairfl.studies.papers.fedfb import fedfb_runs
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
    people = read_people(
        request.path,
        label=request.label,
        group=request.group,
        client=request.client,
        features=request.features,
        blind=request.blind,
        form=request.form,
    )
    return people, split_people(people)


def methods(request: Request, schedule: str, epochs: int) -> list[tuple[str, float, Algorithm]]:
    """Algorithms of a schedule, with names and budgets: rounds; FairBatch at clients, or on all."""
    rules = [(budget, _rule(request.notion, budget)) for budget in request.budgets]
    if schedule == "central":
        return [(fedfb_runs.CFL, budget, FedFB(rule)) for budget, rule in rules]
    if schedule == "local":
        pairs = [(fedfb_runs.ENSEMBLE, None), (fedfb_runs.LFT_AVG, epochs)]
        return [
            (name, budget, LocalFairBatch(rule, average_every))
            for name, average_every in pairs
            for budget, rule in rules
        ]
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
    """One schedule's setting. So many people are in a batch that an epoch of the mean client has
    ``STEPS`` steps, from 8 to 128.
    """
    data, epochs = read(request)[1], EPOCHS[scale.profile]
    rules = [algorithm for *_, algorithm in methods(request, schedule, epochs)]
    batch = int(np.clip(data.sizes().mean() // STEPS, 8, fedfb_runs.BATCH))
    length, seeds = (ROUNDS, epochs), range(scale.seeds)
    return fedfb_runs.setting_of(
        Parts.of(data), schedule, length, rules, seeds, request.hidden, LR, batch
    )
