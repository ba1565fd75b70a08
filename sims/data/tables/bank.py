"""Bank Marketing (UCI): does a customer subscribe to a term deposit? Groups by age, three clients
by personal loan.

Data: https://archive.ics.uci.edu/dataset/222/bank+marketing, CC BY 4.0.
Source: FedFB, section 5.3, with the columns, bins and split of its published code, after Jiang and
Nachum (2020). Two files serve: UCI's `bank-full.csv`, and FedFB's copy of it, `bank_cat_age.csv`,
in which age is the number of its bin, a fifth of age in `bank-full.csv`.

Label 1 = subscribed. Five groups, the bins; the bin 0-4 stays a feature, `age`. The day and the
month of the call are left out, as in FedFB; its duration is kept, though it is not known before.
The paper says "three clients based on the loan decision", which is yes or no; its code says how
that makes three: the rows are shuffled, the last 30 % are for testing, and of the training rows, in
shuffled order, the customers without a personal loan go to the three clients as 50, 10 and 40 %,
those with one as 20, 60 and 20 %. Here the test rows are shared out in the same way.

Two groups ("two"): 33 to 51 against younger or older, as subscription is U-shaped in age (.14, .11,
.09, .09, .15 over the bins); so do Zafar et al. (2017).
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairfl.sims.data.fetch import Folder, Progress, Remote, locate
from fairfl.sims.data.tables.encode import codes_of, encode, numbers, published, row_note
from fairfl.sims.data.tables.published_tables import register
from fairfl.sims.data.tables.table import Dataset

NUMERIC = ("balance", "duration", "campaign", "pdays", "previous")
CATEGORICAL = ("job", "marital", "education", "default", "housing", "loan", "contact", "poutcome")
COLUMNS = ("age", *NUMERIC, *CATEGORICAL, "y")
GROUPS = ("up to 32", "33 to 36", "37 to 42", "43 to 51", "52 or over")
AGE_EDGES = (32, 36, 42, 51)  # a bin's last age; the quantiles .2, .4, .6, .8 of bank-full.csv
CLIENTS = ("client 1", "client 2", "client 3")
# by loan: where, in the shuffled rows, clients 2 and 3 begin
SHARE_UP_TO = {"no": (0.5, 0.6), "yes": (0.2, 0.8)}
TRAIN_SHARE = 0.7
ROWS = 45_211
UCI = "https://archive.ics.uci.edu/"
BINNED = Remote(
    "bank/bank_cat_age.csv",
    digests=("081172c9c06ce7dafe6197e023259c8397219f8e089cde25a3513e2e70e5f924",),
)
# The digest is the one that several independent public projects pin for UCI's file.
FULL = Remote(
    "bank/bank-full.csv",
    (
        (UCI + "static/public/222/bank+marketing.zip", "bank.zip", "bank-full.csv"),
        (UCI + "ml/machine-learning-databases/00222/bank.zip", "bank-full.csv"),
    ),
    ("d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",),
)


def read(path: Path) -> pd.DataFrame:
    """The columns `COLUMNS` of either file, told apart by separator; `age` as the bin 0-4."""
    with path.open(encoding="utf-8") as file:
        raw = ";" in file.readline()
    separator = ";" if raw else ","
    frame = published(path, COLUMNS, sep=separator, keep_default_na=False)
    frame = frame.loc[:, list(COLUMNS)].copy()
    if raw:
        frame["age"] = np.searchsorted(AGE_EDGES, numbers(frame, "age"), side="left")
    return frame


def assign(has_loan: NDArray[np.bool_], seed: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The client (0-2) and test flag of every row (n,), from numpy's legacy stream as FedFB's."""
    n = len(has_loan)
    shuffled = np.random.RandomState(seed).choice(n, n, replace=False)
    is_test = np.ones(n, dtype=bool)
    is_test[shuffled[: int(TRAIN_SHARE * n)]] = False
    client = np.empty(n, dtype=np.int64)
    for test in (False, True):
        for loan, (second, third) in SHARE_UP_TO.items():
            rows = shuffled[(is_test[shuffled] == test) & (has_loan[shuffled] == (loan == "yes"))]
            cuts = [int(len(rows) * second), int(len(rows) * third)]
            client[rows] = np.searchsorted(cuts, np.arange(len(rows)), side="right")
    return client, is_test


@register("bank")
def build(folder: Folder, groups: str, seed: int, progress: Progress | None) -> Dataset:
    """Return the prepared data set."""
    path = locate([BINNED, FULL], folder, progress)
    frame = read(path)
    group = codes_of(frame, "age", range(len(GROUPS)), path)
    has_loan = codes_of(frame, "loan", ("no", "yes"), path) == 1
    client, is_test = assign(has_loan, seed)
    features, names = encode(frame, NUMERIC, CATEGORICAL, is_test)
    data = Dataset(
        name="bank",
        features=np.column_stack([features, group.astype(np.float64)]),
        feature_names=(*names, "age"),
        label=codes_of(frame, "y", ("no", "yes"), path),
        group=group,
        group_names=GROUPS,
        client=client,
        client_names=CLIENTS,
        is_test=is_test,
        note="Label 1: subscribed. Clients: 50/10/40 % of the customers without a personal loan, "
        f"20/60/20 % of those with one; 30 % test rows (seed {seed})." + row_note(len(frame), ROWS),
    )
    if groups == "all":
        return data
    return data.binary_groups(
        GROUPS[1:4], (GROUPS[0], GROUPS[4]), ("33 to 51", "up to 32, or 52 and over")
    )
