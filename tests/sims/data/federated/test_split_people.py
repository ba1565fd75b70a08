"""People split: who is trained, chosen and tested on, scaled features, and what may be wrong."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.data.federated.split_people import _parts, split_people
from fairfl.sims.data.tables import read_people

ROLES = {"label": "hired", "group": "sex", "client": "site"}


def people(n=60):
    k = np.arange(n)
    kinds = {"school": (5, "none", "some"), "hired": (2, "0", "1"), "sex": (3, "f", "m")}
    kinds["site"] = 4, "north", "south"
    texts = {name: np.where(k % n == 0, rare, common) for name, (n, rare, common) in kinds.items()}
    return pd.DataFrame({"age": 20.0 + k} | texts)


def written(frame, folder):
    frame.to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def test_what_becomes_of_the_columns(tmp_path):
    data = split_people(read_people(written(people(), tmp_path), **ROLES))
    assert data.client_names == ("north", "south") and data.name == "people"
    assert np.array_equal(data.y, np.arange(60) % 2)
    none, women = np.arange(60) % 5 == 0, np.arange(60) % 3 == 0
    # one-hot in sorted order
    assert np.array_equal(data.x[:, 1:], np.stack([none, ~none, women, ~women], 1))
    train = data.x[data.rows("train"), 0]
    assert train.min() == 0 and train.max() == 1  # the range is the training rows'
    low, high = 20.0 + data.rows("train").min(), 20.0 + data.rows("train").max()
    assert np.allclose(data.x[:, 0], (20.0 + np.arange(60) - low) / (high - low))


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=80
    ),
    st.integers(0, 99),
)
def test_parts_are_fifths_of_every_client(rows, seed):
    client, group, label = np.array(rows).T
    part = _parts(client, group, label, seed)
    for k in np.unique(client):
        at_k = client == k
        counts = np.bincount(part[at_k], minlength=3)
        assert counts[0] >= 1  # somebody to train on
        assert abs(counts[2] - at_k.sum() / 5) <= 1 and abs(counts[1] - at_k.sum() / 5) <= 1
        for a in range(3):
            for y in range(2):
                cell = at_k & (group == a) & (label == y)
                if counts[0] < at_k.sum():  # not one of those that all are trained on
                    assert abs((part[cell] == 2).sum() - cell.sum() / 5) < 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"hired": ["0"] * 57 + ["1"] * 3},
            "label column 'hired' must have people enough of every value",
        ),
        ({"sex": ["m"] * 59 + ["f"]}, "of 'f' it has 1, none of them for"),
    ],
)
def test_what_may_be_wrong(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        split_people(read_people(written(people().assign(**change), tmp_path), **ROLES))


def test_a_published_table_has_no_columns_of_a_file(tmp_path):
    table = read_people(written(people(), tmp_path), **ROLES)
    published = split_people(replace(table, columns={}))
    np.testing.assert_array_equal(published.part, split_people(table).part)
    is_last = np.arange(len(table)) == len(table) - 1
    with pytest.raises(ValueError, match="^group must have people enough of every value"):
        split_people(replace(table, columns={}, group=is_last.astype(int)))
