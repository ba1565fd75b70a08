"""COMPAS (ProPublica): is a defendant free of a new offence for two years? Groups by sex and race,
two clients by age.

Data: https://github.com/propublica/compas-analysis, without a stated licence.
Source: FedFB, section 5.3, with the columns, groups and split of its published code, after Jiang
and Nachum (2020). All 7,214 rows are kept, without ProPublica's own filter; the COMPAS scores
themselves are not among the features.

Label 1 = no new offence within two years: FedFB's favourable outcome, the reverse of the published
column. Four groups: sex by race (African-American, or any other), in FedFB's order; their code 0-3
stays a feature, `sex-race`. Clients: FedFB takes min-max scaled age > 0.1, which is 26 years or
over. Test rows: the last 30 % of the file, which is not shuffled. Nothing is drawn at random.

Two groups: `race` (and "two") merges FedFB's four into African-American and the others; `sex` into
Female and Male; `black-white` leaves out everybody but African-American and Caucasian defendants.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from fairfl.sims.data.fetch import Folder, Progress, Remote, locate
from fairfl.sims.data.tables.encode import codes_of, encode, published, row_note
from fairfl.sims.data.tables.published_tables import register
from fairfl.sims.data.tables.table import Dataset

NUMERIC = ("age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")
CATEGORICAL = ("age_cat", "c_charge_degree", "c_charge_desc")
COLUMNS = (*NUMERIC, *CATEGORICAL, "sex", "race", "two_year_recid")
GROUPS = ("Male, other", "Male, African-American", "Female, other", "Female, African-American")
CLIENTS = ("26 or over", "25 or under")
FIRST_CLIENT_AGE = 26  # (26 - 18) / (96 - 18) > 0.1 >= (25 - 18) / (96 - 18)
TRAIN_SHARE = 0.7
ROWS = 7_214


def read(path: Path) -> pd.DataFrame:
    """Return the file's columns `COLUMNS`. A missing charge stays missing."""
    return published(path, COLUMNS).loc[:, list(COLUMNS)]


# The first digest is that of the file in ProPublica's repository; the second that of a copy without
# names, birth dates and case numbers, which `read` gives the same table of.
PROPUBLICA = "https://raw.githubusercontent.com/propublica/compas-analysis/master/"
FILE = Remote(
    "compas/compas-scores-two-years.csv",
    ((PROPUBLICA + "compas-scores-two-years.csv",),),
    (
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
        "f439bd5e8d1742c9ceacd4dec0d67d1b401f633138d2308955c6ae22f9656f47",
    ),
)


@register("compas", "race", "sex", "black-white")
def build(folder: Folder, groups: str, seed: int, progress: Progress | None) -> Dataset:
    """Return the prepared data set."""
    path = locate([FILE], folder, progress)
    frame = read(path)
    reoffended = codes_of(frame, "two_year_recid", (0, 1), path)
    female = codes_of(frame, "sex", ("Male", "Female"), path)
    group = 2 * female + (frame["race"] == "African-American").to_numpy(dtype=np.int64)
    is_test = np.arange(len(frame)) >= int(TRAIN_SHARE * len(frame))
    features, names = encode(frame, NUMERIC, CATEGORICAL, is_test)
    data = Dataset(
        name="compas",
        features=np.column_stack([features, group.astype(np.float64)]),
        feature_names=(*names, "sex-race"),
        label=1 - reoffended,
        group=group,
        group_names=GROUPS,
        client=(frame["age"] < FIRST_CLIENT_AGE).to_numpy(dtype=np.int64),
        client_names=CLIENTS,
        is_test=is_test,
        note="Label 1: no new offence within two years. Test rows: the last 30 % of the file. "
        "First client: aged 26 or over." + row_note(len(frame), ROWS),
    )
    match groups:
        case "all":
            return data
        case "sex":
            return data.binary_groups(GROUPS[2:], GROUPS[:2], ("Female", "Male"))
        case "black-white":
            compared = frame["race"].isin(["African-American", "Caucasian"]).to_numpy(dtype=bool)
            names = "African-American", "Caucasian"
            return data.select(compared).binary_groups(GROUPS[1::2], GROUPS[::2], names)
        case _:  # "two" and "race"
            return data.binary_groups(GROUPS[1::2], GROUPS[::2], ("African-American", "other"))
