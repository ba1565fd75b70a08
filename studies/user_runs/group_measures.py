"""Group fairness of runs from a TOML file; AgnosticFair, which does not run in the engine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Everyone, Joining, Replicate, Result, Simulation
from fairfl.sims.group_fairness import AgnosticFair, FairMeasures
from fairfl.sims.group_fairness.measures import accepts
from fairfl.sims.runs.metrics import Metrics
from fairfl.studies.experiment import Setting
from fairfl.studies.group_benefit import with_groups
from fairfl.studies.papers.fedfb.fedfb_runs import accepted

PEOPLE = "people"
"""Model in rows of disparities, which are of the people of all clients together."""
DISPARITIES = ("spd", "eo_difference", "eodds_difference")


def has_people(simulation: Simulation) -> bool:
    """Whether the training rows have groups, two labels and a model that classifies them."""
    data = simulation.data
    has_classes = data.group is not None and not data.y.is_floating_point()
    return has_classes and set(np.unique(data.y.cpu().numpy())) <= {0, 1}


def personal_name(name: str) -> str:
    """The name in tables of a method's personal models, each measured on its client."""
    return f"{name}, personal models"


def people_measures(simulation: Simulation, names: tuple[str, ...]) -> list[Mapping[str, object]]:
    """Rows of a part and a classifier: the last global model or ensemble, and the personal models,
    each for its own client's people; of an ensemble also each client's accuracy.
    """
    rows = list[Mapping[str, object]]()
    for (part, data), (r, name) in product(simulation.parts.items(), enumerate(names)):
        assert data.group is not None
        y, algorithm = data.y.cpu().numpy(), simulation.replicates[r].algorithm
        chances = {name: accepted(simulation, r, data)}
        models = algorithm.personal(simulation.states[r])
        if models is not None:
            accept = accepts(simulation.model, models, data, personal=True)[0]
            chances[personal_name(name)] = accept.astype(np.float64)
        for objective, chance in chances.items():
            fair = FairMeasures.of(chance, y, data.group)
            measures = {key: getattr(fair, key) for key in ("accuracy", *DISPARITIES)}
            row = {"part": part, "objective": objective, "model": PEOPLE, "samples": len(y)}
            rows.append(row | measures)
        if algorithm.is_ensemble:
            right = np.where(y == 1, chances[name], 1 - chances[name])
            row = {"part": part, "objective": name, "model": "ensemble"}
            for client, part in pd.Series(right).groupby(np.repeat(data.names, data.sizes)):
                rows.append(row | {"client": client, "samples": len(part), "accuracy": part.mean()})
    return rows


def measured(names: tuple[str, ...], seed: int, result: Result) -> pd.DataFrame:
    """The engine's table of clients, with groups that join, and ``people_measures``."""
    joining = isinstance(result.simulation.training.participation, Joining)
    clients = with_groups(result) if joining else result.clients
    objectives = np.array([names, [personal_name(name) for name in names]], dtype=object)
    is_personal = (clients["model"] == "personal").to_numpy().astype(np.int64)
    clients = clients.assign(objective=objectives[is_personal, clients["replicate"]], seed=seed)
    if not has_people(result.simulation):
        return clients
    people = pd.DataFrame(people_measures(result.simulation, names))
    people = people.assign(round=result.simulation.round, seed=seed)
    return pd.concat([clients, people], ignore_index=True)


def run_agnostic(
    make: Callable[[], Setting],
    rules: Sequence[tuple[AgnosticFair, dict[str, float]]],
    names: tuple[str, ...],
    seed: int,
) -> pd.DataFrame:
    """The measures of each rule, with the rates of its own, after the others' rounds; ``make``
    gives model, data, training.
    """
    setting = make()
    replicates = [Replicate(FedAvg(), seed) for _ in rules]
    training, rows = replace(setting.training, participation=Everyone()), Metrics()
    simulation = Simulation(setting.model, setting.parts, replicates, training, setting.computing)
    rows.clients += simulation.evaluate()
    for r, (rule, rates) in enumerate(rules):
        (fit,) = rule.fit(
            setting.model,
            setting.parts,
            training.rounds,
            rates.get("lr", training.lr),
            (seed,),
            simulation.device,
        )
        simulation.params[r] = fit.params.to(simulation.device, simulation.params.dtype)
    simulation.round = training.rounds
    rows.clients += simulation.evaluate()
    clients = rows.table("clients").to_pandas()
    return measured(
        names, seed, Result(simulation.params.cpu().numpy(), clients, clients, simulation)
    )
