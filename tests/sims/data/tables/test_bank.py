from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from text_tables import table

from fairfl.sims.data.tables import FEDFB_SEED, load
from fairfl.sims.data.tables.bank import assign


def test_small_raw_file_row_by_row(folder: Path):
    data = load("bank", folder, groups="all")
    # ages 18, 32 | 33, 36 | 37, 42 | 43, 51 | 52, 95
    assert data.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert data.label.tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 1, 0]
    assert data.is_test.sum() == 3
    frame = pd.DataFrame(data.features, columns=list(data.feature_names))
    assert frame["age"].tolist() == data.group.tolist()
    assert frame["loan=yes"].tolist() == [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
    assert "month=may" not in data.feature_names and "day" not in data.feature_names


def test_the_binned_file_gives_the_same(folder: Path, binned_bank_folder: Path):
    raw, binned = load("bank", folder), load("bank", binned_bank_folder)
    assert raw.feature_names == binned.feature_names
    for field in ("features", "label", "group", "client", "is_test"):
        assert np.array_equal(getattr(raw, field), getattr(binned, field)), field


def test_two_groups_are_the_middle_and_the_ends(folder: Path):
    data = load("bank", folder)
    assert data.group_names == ("33 to 51", "up to 32, or 52 and over")
    assert data.group.tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 1, 1]


def test_clients_get_the_shares_of_loan():
    has_loan = np.arange(2000) % 2 == 1
    client, is_test = assign(has_loan, seed=5)
    assert is_test.sum() == 600
    for part in (is_test, ~is_test):
        for loan, shares in ((~has_loan, (0.5, 0.1, 0.4)), (has_loan, (0.2, 0.6, 0.2))):
            counts = np.bincount(client[part & loan], minlength=3)
            assert np.abs(counts - np.array(shares) * (part & loan).sum()).max() <= 1
    assert not np.array_equal(is_test, assign(has_loan, seed=6)[1])
    assert np.array_equal(client, assign(has_loan, seed=5)[0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    table(r"""
"cellular";5;"may";60; | "cellular";5;"may";long; | duration must be a number, got 'long' in row 1
"loan" | "credit" | missing: loan
"""),
)
def test_a_file_of_other_content_is_told(folder: Path, old: str, new: str, message: str):
    path = folder / "bank" / "bank-full.csv"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message):
        load("bank", folder)


def test_a_bin_that_does_not_exist_is_told(binned_bank_folder: Path):
    path = binned_bank_folder / "bank" / "bank_cat_age.csv"
    path.write_text(path.read_text().replace("\n9,4,", "\n9,5,"))
    with pytest.raises(
        ValueError,
        match=r"bank_cat_age.csv: age must be one of \[0, 1, 2, 3, 4\], got .*5.* in row 10",
    ):
        load("bank", binned_bank_folder)


def test_published_counts(fairfl_data: Path):
    data = load("bank", fairfl_data, groups="all")
    assert len(data) == 45_211
    assert data.label.sum() == 5_289
    assert round(1 - data.label.mean(), 3) == 0.883
    assert np.bincount(data.group).tolist() == [11_111, 7_602, 8_537, 9_642, 8_319]
    train = ~data.is_test
    assert train.sum() == int(0.7 * 45_211)
    loan = data.features[:, data.feature_names.index("loan=yes")] == 1
    assert loan.sum() == 7_244
    n, y = int((train & ~loan).sum()), int((train & loan).sum())
    sizes = [int(0.5 * n) + int(0.2 * y), int(0.6 * n) - int(0.5 * n) + int(0.8 * y) - int(0.2 * y)]
    assert np.bincount(data.client[train]).tolist() == [*sizes, n + y - sum(sizes)]


def test_the_fedfb_seed_shuffles_as_pandas_did_for_them(fairfl_data: Path):
    data = load("bank", fairfl_data, seed=FEDFB_SEED)
    # pandas draws from the stream that np.random.seed(1) sets
    shuffled = pd.DataFrame({"row": range(45_211)}).sample(
        frac=1, random_state=np.random.RandomState(1)
    )["row"]
    train = shuffled.to_numpy()[: int(0.7 * 45_211)]
    assert set(np.flatnonzero(~data.is_test)) == set(train)
    loan = data.features[:, data.feature_names.index("loan=yes")] == 1
    without = train[~loan[train]]
    assert (data.client[without[: int(0.5 * len(without))]] == 0).all()
    assert (data.client[without[int(0.6 * len(without)) :]] == 2).all()
