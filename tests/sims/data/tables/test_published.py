"""The three tables of FedFB: a few rows typed here, and what is published of the real files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from text_tables import table

from fairfl._support.manifest import sha256
from fairfl.sims.data.tables import FEDFB_SEED, load
from fairfl.sims.data.tables.adult import CATEGORICAL, NUMERIC, assign_clients
from fairfl.sims.data.tables.bank import assign
from fairfl.sims.data.tables.compas import FILE


def column(data, name):
    return data.features[:, data.feature_names.index(name)].tolist()


def test_adult_row_by_row(folder: Path):
    data = load("adult", folder)
    assert data.label.tolist() == [0, 1, 0, 1, 1, 0, 0, 0, 1]
    assert data.group.tolist() == [1, 0, 0, 1, 1, 0, 1, 1, 0]
    assert data.group_names == ("Female", "Male")
    assert data.is_test.tolist() == [False] * 7 + [True] * 2
    ages = np.array([39, 50, 20, 30, 40, 60, 25, 70, 35])
    assert column(data, "age") == pytest.approx((ages - 20) / 40)
    assert column(data, "sex") == data.group.tolist()
    assert column(data, "workclass=Private") == [1, 1, 0, 1, 0, 1, 1, 1, 0]
    assert column(data, "workclass=?") == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    # only among the test rows
    assert column(data, "native-country=Peru") == [0, 0, 0, 0, 0, 0, 0, 1, 0]
    assert "This copy has 9 rows; the published data have 48842." in data.note
    file = folder / "adult" / "adult.test"
    file.write_text(file.read_text().split("\n", 1)[1])  # copies often lack the first line
    assert np.array_equal(load("adult", folder).features, data.features)


def test_bank_row_by_row(folder: Path):
    data = load("bank", folder, groups="all")
    # ages 18, 32 | 33, 36 | 37, 42 | 43, 51 | 52, 95
    assert data.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert data.label.tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 1, 0]
    assert data.is_test.sum() == 3
    assert column(data, "age") == data.group.tolist()
    assert column(data, "loan=yes") == [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
    assert "month=may" not in data.feature_names and "day" not in data.feature_names


def test_the_binned_file_of_bank_gives_the_same(folder: Path, binned_bank_folder: Path):
    raw, binned = load("bank", folder), load("bank", binned_bank_folder)
    assert raw.feature_names == binned.feature_names
    for field in ("features", "label", "group", "client", "is_test"):
        assert np.array_equal(getattr(raw, field), getattr(binned, field)), field


def test_compas_row_by_row(folder: Path):
    data = load("compas", folder, groups="all")
    assert data.label.tolist() == [1, 0, 0, 1, 0, 1, 1, 0, 1, 0]  # 1 = no new offence
    assert data.group.tolist() == [0, 1, 3, 2, 0, 2, 1, 0, 3, 0]
    # 26 and over is client 0, 25 and under client 1
    assert data.client.tolist() == [0, 0, 1, 0, 1, 1, 0, 0, 0, 1]
    assert data.is_test.tolist() == [False] * 7 + [True] * 3
    frame = pd.DataFrame(data.features, columns=list(data.feature_names))
    assert column(data, "sex-race") == data.group.tolist()
    assert column(data, "c_charge_desc=Battery") == [0, 1, 1, 0, 1, 0, 0, 0, 1, 0]
    charges = [name for name in frame.columns if name.startswith("c_charge_desc=")]
    # row 4 has no charge described
    assert frame[charges].sum(axis=1).tolist() == [1, 1, 1, 0, 1, 1, 1, 1, 1, 1]
    priors = np.array([0, 2, 4, 1, 8, 0, 14, 16, 0, 1])
    assert column(data, "priors_count") == pytest.approx(priors / 14)
    first, second = load("compas", folder, seed=1), load("compas", folder, seed=2)
    assert np.array_equal(first.client, second.client)  # nothing is drawn
    assert np.array_equal(first.is_test, second.is_test)


@pytest.mark.parametrize(
    ("name", "groups", "names", "codes"),
    table(r"""
bank | two | 33 to 51, up to 32, or 52 and over | 1100000011
compas | two | African-American, other | 1001110101
compas | race | African-American, other | 1001110101
compas | sex | Female, Male | 1100101101
compas | black-white | African-American, Caucasian | 0011010
"""),
)
def test_two_groups(folder: Path, name: str, groups: str, names: str, codes: str):
    data = load(name, folder, groups=groups)
    assert ", ".join(data.group_names) == names
    assert "".join(map(str, data.group)) == codes


def test_clients_get_the_shares_of_private_and_others():
    private = np.arange(1000) % 4 > 0
    is_test = np.arange(1000) >= 600
    first = assign_clients(private, is_test, seed=3) == 0
    for part, private_share, other_share in ((~is_test, 360, 30), (is_test, 240, 20)):
        assert (first & part & private).sum() == private_share  # 80 % of 450, and of 300
        assert (first & part & ~private).sum() == other_share  # 20 % of 150, and of 100
    assert not np.array_equal(first, assign_clients(private, is_test, seed=4) == 0)
    assert np.array_equal(first, assign_clients(private, is_test, seed=3) == 0)


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
    ("file", "old", "new", "message"),
    table(r"""
adult/adult.data | , >50K | , rich | adult.data: income must be one of .*, got 'rich' in row 2
adult/adult.test | Female | female | adult.test: sex must be one of .*, got 'female' in row 2
adult/adult.data | 39, | old, | column 'age' must hold finite numbers, got 'old' in row 1
bank/bank-full.csv | "may";60; | "may";long; | 'duration' must hold finite numbers, got 'long'
bank/bank-full.csv | "loan" | "credit" | missing: loan
compas/compas-scores-two-years.csv | Female,39 | F,39 | csv: sex must be one of .* 'F' in row 9
"""),
)
def test_a_file_of_other_content_is_told(folder: Path, file: str, old: str, new: str, message: str):
    path = folder / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message):
        load(path.parent.name, folder)


def test_a_bin_that_does_not_exist_is_told(binned_bank_folder: Path):
    path = binned_bank_folder / "bank" / "bank_cat_age.csv"
    path.write_text(path.read_text().replace("\n9,4,", "\n9,5,"))
    message = r"bank_cat_age.csv: age must be one of \[0, 1, 2, 3, 4\], got .*5.* in row 10"
    with pytest.raises(ValueError, match=message):
        load("bank", binned_bank_folder)


def test_adult_as_published(fairfl_data: Path):
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
    private = data.features[:, data.feature_names.index("workclass=Private")] == 1
    train = ~data.is_test
    assert (train & private).sum() == 22_696
    # int(.8 * 22696) + int(.2 * 9865) training rows for the first client
    assert np.bincount(data.client[train]).tolist() == [18_156 + 1_973, 4_540 + 7_892]
    assert (train & private & (data.client == 0)).sum() == 18_156


def test_the_fedfb_seed_draws_adult_as_numpy_did_for_them(fairfl_data: Path):
    data = load("adult", fairfl_data, seed=FEDFB_SEED)
    private = data.features[:, data.feature_names.index("workclass=Private")] == 1
    rows = np.arange(32_561)
    stream = np.random.RandomState(1)  # what np.random.seed(1) sets
    first = stream.choice(rows[private[:32_561]], int(0.8 * 22_696), replace=False)
    second = stream.choice(rows[~private[:32_561]], int(0.2 * 9_865), replace=False)
    assert set(np.flatnonzero(data.client[:32_561] == 0)) == {*first, *second}


def test_bank_as_published(fairfl_data: Path):
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


def test_the_fedfb_seed_shuffles_bank_as_pandas_did_for_them(fairfl_data: Path):
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


def test_compas_as_published(fairfl_data: Path):
    assert sha256(fairfl_data / FILE.path) in FILE.digests
    data = load("compas", fairfl_data, groups="all")
    assert len(data) == 7_214
    assert (data.label == 0).sum() == 3_251  # ProPublica: 45.1 % reoffended within two years
    assert (~data.is_test).sum() == 5_049
    assert np.bincount(load("compas", fairfl_data, groups="race").group).tolist() == [3_696, 3_518]
    assert np.bincount(load("compas", fairfl_data, groups="sex").group).tolist() == [1_395, 5_819]
    black_white = load("compas", fairfl_data, groups="black-white")
    assert np.bincount(black_white.group).tolist() == [3_696, 2_454]
    # ProPublica's table: 51 % of the black defendants reoffended, 39 % of the white ones
    assert 1 - black_white.label[black_white.group == 0].mean() == pytest.approx(0.51, abs=0.005)
    assert 1 - black_white.label[black_white.group == 1].mean() == pytest.approx(0.39, abs=0.005)


def test_the_client_age_is_fedfbs_scaled_age(fairfl_data: Path):
    age = pd.read_csv(fairfl_data / FILE.path)["age"]
    scaled = (age - age.min()) / (age.max() - age.min())
    data = load("compas", fairfl_data)
    assert np.array_equal(data.client == 0, scaled > 0.1)
    assert np.bincount(data.client).tolist() == [5_353, 1_861]
