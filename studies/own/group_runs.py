"""Group fairness of runs from a TOML file; AgnosticFair, which does not run in the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Algorithm, Everyone, Joining, Replicate, Result, Simulation
from fairfl.sims.group_fairness import AgnosticFair, FairMeasures, LocalFairBatch
from fairfl.sims.runs.metrics import Metrics
from fairfl.studies.experiment import Setting
from fairfl.studies.frames import rows as kept_rows
from fairfl.studies.group_benefit import with_groups
from fairfl.studies.papers.fedfb.runs import accepted

PEOPLE = "people"
"""Model in rows of disparities, which are of the people of all clients together."""
DISPARITIES = ("spd", "eo_difference", "eodds_difference")


def has_people(simulation: Simulation) -> bool:
    """Whether the training rows have groups, two labels and a model that classifies them."""
    data = simulation.data
    known = data.group is not None and not data.y.is_floating_point()
    return known and set(np.unique(data.y.cpu().numpy())) <= {0, 1}


def disparities(simulation: Simulation, names: tuple[str, ...], seed: int) -> pd.DataFrame:
    """A row a part and replicate: its last model's accuracy and disparities, or its ensemble's."""
    rows = []
    for part, data in simulation.parts.items():
        assert data.group is not None
        y = data.y.cpu().numpy()
        for r, name in enumerate(names):
            found = FairMeasures.of(accepted(simulation, r, data), y, data.group)
            measures = {key: getattr(found, key) for key in ("accuracy", *DISPARITIES)}
            rows.append({"part": part, "objective": name, "samples": len(y), **measures})
    return pd.DataFrame(rows).assign(model=PEOPLE, round=simulation.round, seed=seed)


def _ensemble(algorithm: Algorithm) -> bool:
    """Whether clients have models of their own alone."""
    return isinstance(algorithm, LocalFairBatch) and algorithm.average_every is None


def measured(names: tuple[str, ...], seed: int, result: Result) -> pd.DataFrame:
    """The engine's table of clients, with groups that join, and people's ``disparities``."""
    joining = isinstance(result.simulation.training.participation, Joining)
    clients = with_groups(result) if joining else result.clients
    which, model = (clients[name].to_numpy() for name in ("replicate", "model"))
    replicates = enumerate(result.simulation.replicates)
    # an ensemble's clients have their own models alone: the global one is the start
    alone = [r for r, one in replicates if _ensemble(one.algorithm)]
    kept = ~np.isin(which, alone) | (model == "personal")
    clients = clients.assign(
        objective=np.array(names, dtype=object)[which],
        seed=seed,
        model=np.where(np.isin(which, alone), "global", model),
    )
    clients = kept_rows(clients, kept)
    if not has_people(result.simulation):
        return clients
    return pd.concat([clients, disparities(result.simulation, names, seed)], ignore_index=True)


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
        (found,) = rule.fit(
            setting.model,
            setting.parts,
            training.rounds,
            rates.get("lr", training.lr),
            (seed,),
            simulation.device,
        )
        simulation.params[r] = found.params.to(simulation.device, simulation.params.dtype)
    simulation.round = training.rounds
    rows.clients += simulation.evaluate()
    clients = rows.table("clients").to_pandas()
    return measured(
        names, seed, Result(simulation.params.cpu().numpy(), clients, clients, simulation)
    )
