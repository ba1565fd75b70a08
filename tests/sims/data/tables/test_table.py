import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fairfl.sims.data.tables.table import Dataset


def small() -> Dataset:
    return Dataset(
        name="small",
        features=np.arange(10.0).reshape(5, 2),
        feature_names=("x", "z"),
        label=np.array([0, 1, 1, 0, 1]),
        group=np.array([0, 1, 2, 2, 0]),
        group_names=("a", "b", "c"),
        client=np.array([1, 0, 1, 0, 1]),
        client_names=("here", "there"),
        is_test=np.array([False, False, False, True, True]),
        note="Made up.",
    )


def test_a_valid_table_is_kept_and_cannot_be_changed():
    features = np.ones((5, 2))
    data = replace(small(), features=features)
    assert len(data) == 5
    with pytest.raises(ValueError, match="read-only"):
        data.features[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        data.label[0] = 1
    features[0, 0] = 3  # the caller's array stays the caller's


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": np.ones(5)}, "features must have shape (n, d) with n >= 1, got shape (5,)"),
        ({"features": np.ones((0, 2))}, "features must have shape (n, d) with n >= 1, got shape"),
        ({"features": np.diag([np.nan] * 5)[:, :2]}, "finite, got nan at row 0, column 0"),
        ({"feature_names": ("x",)}, "must have one name per column of features (2), got 1"),
        ({"feature_names": ("x", "x")}, "feature_names must be distinct, got 'x' twice"),
        ({"feature_names": "xz"}, "must be a sequence of texts, got the single text 'xz'"),
        ({"feature_names": ("x", 1)}, "feature_names must hold texts, got 1"),
        ({"label": np.array([0, 1, 2, 0, 1])}, "label must be in 0..1, got 2 at row 2"),
        ({"label": np.zeros(5)}, "label must be whole numbers of shape (5,), got float64"),
        ({"group": np.array([0, 1, 2, 3, 0])}, "group must be in 0..2, got 3 at row 3"),
        ({"client": np.array([0, 1, 0, -1, 0])}, "client must be in 0..1, got -1 at row 3"),
        ({"client": np.array([0, 1])}, "client must be whole numbers of shape (5,)"),
        ({"is_test": np.zeros(5, dtype=int)}, "is_test must be bool of shape (5,), got int64"),
        ({"is_test": np.zeros(4, dtype=bool)}, "is_test must be bool of shape (5,), got bool"),
    ],
)
def test_a_field_that_does_not_fit_is_named(change: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(small(), **change)


def test_select_keeps_the_rows_and_every_name():
    data = small()
    train = data.select(~data.is_test)
    assert train.features.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (train.label.tolist(), train.group.tolist()) == ([0, 1, 1], [0, 1, 2])
    assert train.client.tolist() == [1, 0, 1] and not train.is_test.any()
    assert train.group_names == data.group_names


def test_binary_groups_merge_and_leave_out_the_groups_named_in_neither():
    data = small().binary_groups(["b"], ["a", "c"], ("b", "others"))
    assert data.group.tolist() == [1, 0, 1, 1, 1] and data.group_names == ("b", "others")
    assert data.note == "Made up. Two groups: 0 = b, 1 = others."
    data = small().binary_groups(["c"], ["a"], ("C", "A"))
    assert (data.group.tolist(), data.label.tolist()) == ([1, 0, 0, 1], [0, 1, 0, 1])
    assert data.client.tolist() == [1, 1, 0, 1] and data.group_names == ("C", "A")
    assert data.note.endswith("1 rows of other groups left out.")


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (
            lambda: small().binary_groups(["a"], ["d"], ("A", "D")),
            "among the groups ('a', 'b', 'c'",
        ),
        (lambda: small().select([1, 0, 1, 0, 1]), "mask must be bool"),
        (lambda: small().select([True]), "mask must be bool of shape (5,)"),
        (lambda: small().select([False] * 5), "mask must select at least one row"),
    ],
)
def test_a_wrong_group_or_mask_is_named(take, message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        take()


def test_repr_tells_the_size_and_prints_no_array():
    assert repr(small()) == (
        "Dataset('small': 5 rows (2 test), 2 features, groups ('a', 'b', 'c'), clients ('here', "
        "'there'))"
    )
