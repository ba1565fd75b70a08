"""FedFB, table 6: FairFed and FedFB on Adult and COMPAS, clients with Dirichlet shares of the groups."""

from __future__ import annotations

import pandas as pd

from fairfl.sims.experiments import fedfb_runs
from fairfl.sims.experiments.experiment import Scale, Unit
from fairfl.sims.experiments.fedfb_data import DIRICHLET, DIRICHLET_CLIENTS
from fairfl.sims.experiments.fedfb_numbers import TABLE_6, doubled
from fairfl.sims.experiments.fedfb_runs import FAIRFED, FEDAVG, FEDFB, FEDFB_PLAIN

NAME = "fedfb-table-6"
TITLE = "FedFB, table 6, Adult and COMPAS: FairFed and FedFB over Dirichlet splits, logistic regression"
SEEDS = {"quick": 1, "paper": 5}
PUBLISHED = doubled(TABLE_6, tuple(DIRICHLET))


def units(scale: Scale) -> list[Unit]:
    """Five levels of each; quick: the first and the last of COMPAS."""
    datasets = tuple(DIRICHLET) if scale.paper else ("COMPAS, 0.1", "COMPAS, 5000")
    return fedfb_runs.family(scale, datasets, "logistic", (FEDAVG, FEDFB, FEDFB_PLAIN, FAIRFED))


values = fedfb_runs.values


def differences(rows: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *fedfb_runs.differences(rows),
        f"{DIRICHLET_CLIENTS} clients, one draw of their shares. FedFB names neither the clients nor the groups: these "
        "are those of its published code, White and all others on Adult, the sexes on COMPAS.",
        "FairFed with reweighing at the clients; its published numbers are Ezzeldin et al.'s, who take β = 1.",
    )
