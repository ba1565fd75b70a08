from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from text_tables import table

from fairfl.sims.data.tables import FEDFB_SEED, load
from fairfl.sims.data.tables.adult import CATEGORICAL, NUMERIC, assign_clients


def test_small_files_row_by_row(folder: Path):
    data = load("adult", folder)
    assert data.label.tolist() == [0, 1, 0, 1, 1, 0, 0, 0, 1]
    assert data.group.tolist() == [1, 0, 0, 1, 1, 0, 1, 1, 0]
    assert data.group_names == ("Female", "Male")
    assert data.is_test.tolist() == [False] * 7 + [True] * 2
    frame = pd.DataFrame(data.features, columns=list(data.feature_names))
    assert frame["age"].tolist() == pytest.approx(
        [(age - 20) / 40 for age in (39, 50, 20, 30, 40, 60, 25, 70, 35)]
    )
    assert frame["sex"].tolist() == data.group.tolist()
    assert frame["workclass=Private"].tolist() == [1, 1, 0, 1, 0, 1, 1, 1, 0]
    assert frame["workclass=?"].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    # only among the test rows
    assert frame["native-country=Peru"].tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 0]
    assert "This copy has 9 rows; the published data have 48842." in data.note


def test_a_test_file_without_its_first_line_is_the_same(folder: Path):
    before = load("adult", folder)
    file = folder / "adult" / "adult.test"
    file.write_text(file.read_text().split("\n", 1)[1])
    assert np.array_equal(load("adult", folder).features, before.features)


def test_clients_get_the_shares_of_private_and_others():
    private = np.arange(1000) % 4 > 0
    is_test = np.arange(1000) >= 600
    first = assign_clients(private, is_test, seed=3) == 0
    for part, private_share, other_share in ((~is_test, 360, 30), (is_test, 240, 20)):
        assert (first & part & private).sum() == private_share  # 80 % of 450, and of 300
        assert (first & part & ~private).sum() == other_share  # 20 % of 150, and of 100
    assert not np.array_equal(first, assign_clients(private, is_test, seed=4) == 0)
    assert np.array_equal(first, assign_clients(private, is_test, seed=3) == 0)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    table(r"""
adult.data | , >50K | , rich | adult.data: income must be one of .*, got 'rich' in row 2
adult.test | Female | female | adult.test: sex must be one of .*, got 'female' in row 2
adult.data | 39, | old, | adult.data: age must be a number, got 'old' in row 1
"""),
)
def test_a_file_of_other_content_is_told(folder: Path, file: str, old: str, new: str, message: str):
    path = folder / "adult" / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message):
        load("adult", folder)


def test_published_counts(fairfl_data: Path):
    data = load("adult", fairfl_data)
    assert (~data.is_test).sum() == 32_561
    assert data.is_test.sum() == 16_281
    assert data.label.sum() == 11_687  # 23.93 % of 48,842, as adult.names says
    assert np.bincount(data.group).tolist() == [16_192, 32_650]
    # levels, "?" among them; sex
    assert data.features.shape[1] == len(NUMERIC) + (9 + 16 + 7 + 15 + 6 + 5 + 42) + 1
    train = data.features[~data.is_test]
    assert (train.min(), train.max()) == (0, 1)
    hot = [i for i, name in enumerate(data.feature_names) if "=" in name]
    assert np.array_equal(data.features[:, hot].sum(axis=1), np.full(len(data), len(CATEGORICAL)))
    assert "This copy" not in data.note


def test_published_clients(fairfl_data: Path):
    data = load("adult", fairfl_data)
    private = data.features[:, data.feature_names.index("workclass=Private")] == 1
    train = ~data.is_test
    assert (train & private).sum() == 22_696
    # int(.8 * 22696) + int(.2 * 9865) training rows for the first client
    assert np.bincount(data.client[train]).tolist() == [18_156 + 1_973, 4_540 + 7_892]
    assert (train & private & (data.client == 0)).sum() == 18_156


def test_the_fedfb_seed_draws_as_numpy_did_for_them(fairfl_data: Path):
    data = load("adult", fairfl_data, seed=FEDFB_SEED)
    private = data.features[:, data.feature_names.index("workclass=Private")] == 1
    rows = np.arange(32_561)
    stream = np.random.RandomState(1)  # what np.random.seed(1) sets
    first = stream.choice(rows[private[:32_561]], int(0.8 * 22_696), replace=False)
    first = np.concatenate(
        [first, stream.choice(rows[~private[:32_561]], int(0.2 * 9_865), replace=False)]
    )
    assert set(np.flatnonzero(data.client[:32_561] == 0)) == set(first)
