"""Adult (census income, UCI): does a person earn more than 50,000 dollars? Groups by sex, two
clients by employer.

Data: https://archive.ics.uci.edu/dataset/2/adult, CC BY 4.0.
Source: FedFB, section 5.3, with the splits of its published code, after Du et al. (2021). The
published training file (32,561 rows) and test file (16,281 rows) are kept as they are.

Label 1 = income above 50K. Group 0 = Female, 1 = Male, and `sex` stays a feature, 0 or 1. Clients:
the first holds 80 % of the people whose workclass is `Private` and 20 % of the others, the second
the rest. FedFB gives the training rows alone to clients; here the test rows are shared out alike.
As in FedFB a missing value, published as `?`, is a category like any other.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairfl.sims.data.fetch import Folder, Progress, Remote, locate
from fairfl.sims.data.tables.encode import codes_of, encode, published, row_note
from fairfl.sims.data.tables.published_tables import register
from fairfl.sims.data.tables.table import Dataset

NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
# in the order of the file
COLUMNS = tuple(
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income".split()
)
CATEGORICAL = tuple(name for name in COLUMNS if name not in (*NUMERIC, "sex", "income"))
GROUPS = ("Female", "Male")
CLIENTS = ("mostly private", "mostly other")
SHARE_PRIVATE, SHARE_OTHER = 0.8, 0.2  # shares of the first client
ROWS = 32_561 + 16_281

# The digests are those of the files as UCI serves them; `adult.test` begins with a line "|1x3 Cross
# validator", which copies often lack: the second digest is such a copy's. Both forms are read.
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"
ARCHIVE = "https://archive.ics.uci.edu/static/public/2/adult.zip"
TRAIN = Remote(
    "adult/adult.data",
    ((UCI + "adult.data",), (ARCHIVE, "adult.data")),
    ("5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",),
)
TEST = Remote(
    "adult/adult.test",
    ((UCI + "adult.test",), (ARCHIVE, "adult.test")),
    (
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074",
    ),
)


def read(path: Path) -> pd.DataFrame:
    """Return one of the two files as a table with the columns `COLUMNS`, stripped, `?` kept."""
    frame = published(
        path,
        COLUMNS,
        header=None,
        names=list(COLUMNS),
        index_col=False,
        skipinitialspace=True,
        keep_default_na=False,
        comment="|",  # adult.test's first line
    )
    # adult.test ends its labels with a full stop
    frame["income"] = frame["income"].astype(str).str.rstrip(".")
    return frame


def assign_clients(
    private: NDArray[np.bool_], is_test: NDArray[np.bool_], seed: int
) -> NDArray[np.int64]:
    """The client (0 or 1) of every row (n,): FedFB's shares, drawn without replacement from numpy's
    legacy stream in the order of FedFB's code, so that `seed=1` gives its clients row for row.
    """
    stream = np.random.RandomState(seed)
    client = np.ones(len(private), dtype=np.int64)
    for part in (~is_test, is_test):
        for is_kind, share in ((private, SHARE_PRIVATE), (~private, SHARE_OTHER)):
            rows = np.flatnonzero(part & is_kind)
            client[stream.choice(rows, int(share * len(rows)), replace=False)] = 0
    return client


@register("adult")
def build(folder: Folder, groups: str, seed: int, progress: Progress | None) -> Dataset:
    """Return the prepared data set. It has two groups: `groups` "two" and "all" are the same."""
    paths = [locate([remote], folder, progress) for remote in (TRAIN, TEST)]
    parts = [read(path) for path in paths]
    frame = pd.concat(parts, ignore_index=True)
    is_test = np.arange(len(frame)) >= len(parts[0])
    read_from = list(zip(parts, paths, strict=True))
    label, sex = (
        np.concatenate([codes_of(part, column, allowed, path) for part, path in read_from])
        for column, allowed in (("income", ("<=50K", ">50K")), ("sex", GROUPS))
    )
    features, names = encode(frame, NUMERIC, CATEGORICAL, is_test)
    private = (frame["workclass"] == "Private").to_numpy(dtype=bool)
    return Dataset(
        name="adult",
        features=np.column_stack([features, sex.astype(np.float64)]),
        feature_names=(*names, "sex"),
        label=label,
        group=sex,
        group_names=GROUPS,
        client=assign_clients(private, is_test, seed),
        client_names=CLIENTS,
        is_test=is_test,
        note="Label 1: income above 50K. Published training and test rows; '?' kept as a category. "
        f"First client: 80 % of workclass Private and 20 % of the others (seed {seed})."
        + row_note(len(frame), ROWS),
    )
