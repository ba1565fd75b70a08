"""FedFB, table 4 on Adult, COMPAS (4 groups) and Bank (5 groups): logistic regression."""

from __future__ import annotations

from fairfl.sims.experiments import fedfb_runs
from fairfl.sims.experiments.experiment import Scale, Unit
from fairfl.sims.experiments.fedfb_data import REAL
from fairfl.sims.experiments.fedfb_numbers import TABLE_4, doubled
from fairfl.sims.experiments.fedfb_points import of_choices, picture
from fairfl.sims.experiments.fedfb_runs import CFL, ENSEMBLE, FEDAVG, FEDFB, FEDFB_PLAIN, LFT_AVG

NAME = "fedfb-table-4-real"
TITLE = "FedFB, table 4, Adult, COMPAS and Bank: logistic regression"
SEEDS = {"quick": 1, "paper": 5}
PUBLISHED = doubled(TABLE_4, tuple(REAL))
PICTURES = picture("table-4-real", TITLE)
points = of_choices(PUBLISHED)


def units(scale: Scale) -> list[Unit]:
    """The paper's five methods, FedFB with both steps."""
    return fedfb_runs.family(
        scale, tuple(REAL), "logistic", (FEDAVG, ENSEMBLE, LFT_AVG, FEDFB, FEDFB_PLAIN, CFL)
    )


values, differences = fedfb_runs.values, fedfb_runs.differences
