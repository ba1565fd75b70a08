"""FedFB, table 4 and figure 6 on the synthetic data: logistic regression."""

from __future__ import annotations

from fairfl.sims.experiments import fedfb_runs
from fairfl.sims.experiments.experiment import Scale, Unit
from fairfl.sims.experiments.fedfb_numbers import TABLE_4, doubled

NAME = "fedfb-table-4"
TITLE = "FedFB, table 4 and figure 6, synthetic data: logistic regression"
PUBLISHED = doubled(TABLE_4, ("Synthetic",))


def units(scale: Scale) -> list[Unit]:
    """Three schedules."""
    return fedfb_runs.family(scale, ("Synthetic",), "logistic")


values, differences = fedfb_runs.values, fedfb_runs.differences
