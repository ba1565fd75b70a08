from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl._support.manifest import sha256
from fairfl.sims.data.tables import load
from fairfl.sims.data.tables.compas import FILE


def test_small_file_row_by_row(folder: Path):
    data = load("compas", folder, groups="all")
    assert data.label.tolist() == [1, 0, 0, 1, 0, 1, 1, 0, 1, 0]  # 1 = no new offence
    assert data.group.tolist() == [0, 1, 3, 2, 0, 2, 1, 0, 3, 0]
    # 26 and over is client 0, 25 and under client 1
    assert data.client.tolist() == [0, 0, 1, 0, 1, 1, 0, 0, 0, 1]
    assert data.is_test.tolist() == [False] * 7 + [True] * 3
    frame = pd.DataFrame(data.features, columns=list(data.feature_names))
    assert frame["sex-race"].tolist() == data.group.tolist()
    assert frame["c_charge_desc=Battery"].tolist() == [0, 1, 1, 0, 1, 0, 0, 0, 1, 0]
    charges = [name for name in frame.columns if name.startswith("c_charge_desc=")]
    # row 4 has no charge described
    assert frame[charges].sum(axis=1).tolist() == [1, 1, 1, 0, 1, 1, 1, 1, 1, 1]
    assert frame["priors_count"].tolist() == pytest.approx(
        [n / 14 for n in (0, 2, 4, 1, 8, 0, 14, 16, 0, 1)]
    )


@pytest.mark.parametrize(
    ("groups", "names", "codes"),
    [
        ("two", ("African-American", "other"), [1, 0, 0, 1, 1, 1, 0, 1, 0, 1]),
        ("race", ("African-American", "other"), [1, 0, 0, 1, 1, 1, 0, 1, 0, 1]),
        ("sex", ("Female", "Male"), [1, 1, 0, 0, 1, 0, 1, 1, 0, 1]),
        ("black-white", ("African-American", "Caucasian"), [0, 0, 1, 1, 0, 1, 0]),
    ],
)
def test_two_groups(folder: Path, groups: str, names: tuple[str, str], codes: list[int]):
    data = load("compas", folder, groups=groups)
    assert data.group_names == names
    assert data.group.tolist() == codes


def test_the_seed_changes_nothing(folder: Path):
    one, other = load("compas", folder, seed=1), load("compas", folder, seed=2)
    assert np.array_equal(one.client, other.client)
    assert np.array_equal(one.is_test, other.is_test)


def test_a_file_of_other_content_is_told(folder: Path):
    path = folder / "compas" / "compas-scores-two-years.csv"
    text = path.read_text()
    path.write_text(text.replace("Female,39", "F,39"))
    with pytest.raises(
        ValueError, match=r"compas-scores-two-years.csv: sex must be one of .*, got 'F' in row 9"
    ):
        load("compas", folder)
    path.write_text("\n".join(text.splitlines()[:2]))
    with pytest.raises(ValueError, match="must have at least two rows, got 1"):
        load("compas", folder)


def test_published_counts(fairfl_data: Path):
    assert sha256(fairfl_data / FILE.path) in FILE.known
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
