"""FedFB, table 7: FedFB and AgnosticFair."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among
from fairfl.studies.papers.fedfb import runs as fedfb_runs
from fairfl.studies.papers.fedfb import table_1_real as fedfb_table_1_real
from fairfl.studies.papers.fedfb.agnostic import RULES, TAU, agnostic_units, notes
from fairfl.studies.papers.fedfb.numbers import MEASURES
from fairfl.studies.papers.fedfb.penalty import COVARIANCE, PENALTY, penalty_notes, penalty_unit
from fairfl.studies.papers.fedfb.points import of_choices, picture
from fairfl.studies.papers.fedfb.runs import FEDFB, FEDFB_PLAIN
from fairfl.studies.published import published

NAME = "fedfb-table-7"
TITLE = "FedFB, table 7: FedFB and AgnosticFair"
SEEDS = {"quick": 2, "paper": 5}
FEDFB_LINES = {
    "Synthetic": ".725 ± .012 | .051 ± .018", "Adult": ".804 ± .001 | .028 ± .001",
    "COMPAS": ".616 ± .033 | .036 ± .028", "Bank": ".883 ± .000 | .000 ± .000",
}  # fmt: skip
"""On COMPAS FedFB's line is CFL's in table 1, where FedFB has .606 and .086."""
AGNOSTIC_LINES = {
    "Synthetic": ".655 ± .028 | .028 ± .033", "Adult": ".790 ± .012 | .032 ± .016",
    "COMPAS": ".612 ± .037 | .096 ± .046", "Bank": ".883 ± .000 | .000 ± .000",
}  # fmt: skip
TWO_GROUPS = ("Synthetic", "Adult")
"""Du et al. have no constraint for more."""
PUBLISHED = published(
    "\n".join(
        [f"{data} | {name} | {line}" for data, line in FEDFB_LINES.items() for name in (FEDFB, FEDFB_PLAIN)]
        + [f"{data} | {PENALTY} | {line}" for data, line in AGNOSTIC_LINES.items()]
        + [f"{data} | {COVARIANCE} | {AGNOSTIC_LINES[data]}" for data in TWO_GROUPS]
        + [f"{data} | {name} | {AGNOSTIC_LINES[data]}" for data in TWO_GROUPS for name in RULES]
    ),
    MEASURES,
)
SHOWN = (FEDFB, FEDFB_PLAIN, *RULES, PENALTY, COVARIANCE, "all 0", "all 1")
PICTURES = picture("table-7", TITLE)


def units(scale: Scale) -> list[Unit]:
    """FedFB's runs, on real data those of table 1, and AgnosticFair's; quick: the synthetic data alone."""
    datasets = tuple(FEDFB_LINES) if scale.paper else ("Synthetic",)
    mine = [unit for name in datasets if name in TWO_GROUPS for unit in agnostic_units(scale, name, "mlp")]
    mine += [penalty_unit(scale, name, PENALTY) for name in datasets]
    mine += [penalty_unit(scale, name, COVARIANCE) for name in datasets if name in TWO_GROUPS]
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
        f"AgnosticFair: tau {TAU}; FedFB prints none of its settings. More than two groups it has no constraint for.",
        f"'{PENALTY}': in later copies of the published code AgnosticFair is SGD on the pooled people, without a "
        "minimax, with the code's penalty: it squares (a - mean a)(z - mean z) person by person and then takes the "
        "mean, so it shrinks all scores and not their covariance with the group. Four and five groups are numbers. "
        f"'{COVARIANCE}' takes the mean first.",
        *notes(rows),
        *penalty_notes(rows),
    )
