"""FedFB, table 7 on the synthetic data: FedFB and AgnosticFair."""

from __future__ import annotations

import pandas as pd

from fairfl.sims.experiments import fedfb_runs, fedfb_table_1_real
from fairfl.sims.experiments.experiment import Scale, Unit
from fairfl.sims.experiments.fedfb_agnostic import AGNOSTIC, EARLY, TAU, agnostic_units, notes
from fairfl.sims.experiments.fedfb_numbers import MEASURES
from fairfl.sims.experiments.fedfb_points import of_choices, picture
from fairfl.sims.experiments.fedfb_runs import FEDFB, FEDFB_PLAIN
from fairfl.sims.experiments.frames import among
from fairfl.sims.experiments.published import published

NAME = "fedfb-table-7"
TITLE = "FedFB, table 7, synthetic data and Adult: FedFB and AgnosticFair"
SEEDS = {"quick": 2, "paper": 5}
PUBLISHED = published(
    f"""
    Synthetic | {FEDFB} | .725 ± .012 | .051 ± .018
    Synthetic | {FEDFB_PLAIN} | .725 ± .012 | .051 ± .018
    Synthetic | {AGNOSTIC} | .655 ± .028 | .028 ± .033
    Synthetic | {EARLY} | .655 ± .028 | .028 ± .033
    Adult | {FEDFB} | .804 ± .001 | .028 ± .001
    Adult | {FEDFB_PLAIN} | .804 ± .001 | .028 ± .001
    Adult | {AGNOSTIC} | .790 ± .012 | .032 ± .016
    Adult | {EARLY} | .790 ± .012 | .032 ± .016
    """,
    MEASURES,
)
"""COMPAS and Bank have four and five groups, for which Du et al. have no constraint. FedFB's line on COMPAS in this
table, .616 and .036, is CFL's in table 1, where FedFB has .606 and .086."""
SHOWN = (FEDFB, FEDFB_PLAIN, AGNOSTIC, EARLY, "all 0", "all 1")
PICTURES = picture("table-7", TITLE)


def units(scale: Scale) -> list[Unit]:
    """FedFB's runs, on Adult those of table 1, and AgnosticFair's; quick: the synthetic data alone."""
    datasets = ("Synthetic", "Adult") if scale.paper else ("Synthetic",)
    mine = [unit for name in datasets for unit in agnostic_units(scale, name, "mlp")]
    real = [unit for unit in fedfb_table_1_real.units(scale) if unit.dataset in datasets and FEDFB in unit.objectives]
    return [*fedfb_runs.family(scale, ("Synthetic",), only=(FEDFB, FEDFB_PLAIN)), *real, *mine]


def values(rows: pd.DataFrame) -> pd.DataFrame:
    """The measures of this table's methods."""
    return fedfb_runs.values(among(rows, "objective", SHOWN))


def points(rows: pd.DataFrame) -> pd.DataFrame:
    """Their points."""
    return of_choices(PUBLISHED)(among(rows, "objective", SHOWN))


def differences(rows: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *fedfb_runs.differences(among(rows, "objective", SHOWN)),
        f"AgnosticFair: tau {TAU}; FedFB prints none of its settings. In the published code AgnosticFair is SGD on the "
        "pooled people with a penalty of fairness, without a minimax.",
        *notes(rows),
        "COMPAS and Bank are left out: more than two groups.",
    )
