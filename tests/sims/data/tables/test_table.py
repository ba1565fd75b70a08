import numpy as np
import pytest
from small_data import people


def test_a_valid_table_is_kept_and_cannot_be_changed():
    features = np.ones((5, 2))
    data = people(features=features)
    assert len(data) == 5
    with pytest.raises(ValueError, match="read-only"):
        data.features[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        data.label[0] = 1
    features[0, 0] = 3  # the caller's array stays the caller's


def test_select_keeps_the_rows_and_every_name():
    data = people()
    train = data.select(~data.is_test)
    assert train.features.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (train.label.tolist(), train.group.tolist()) == ([0, 1, 1], [0, 1, 2])
    assert train.client.tolist() == [1, 0, 1] and not train.is_test.any()
    assert train.group_names == data.group_names


def test_binary_groups_merge_and_leave_out_the_groups_named_in_neither():
    data = people().binary_groups(["b"], ["a", "c"], ("b", "others"))
    assert data.group.tolist() == [1, 0, 1, 1, 1] and data.group_names == ("b", "others")
    assert data.note == "Made up. Two groups: 0 = b, 1 = others."
    data = people().binary_groups(["c"], ["a"], ("C", "A"))
    assert (data.group.tolist(), data.label.tolist()) == ([1, 0, 0, 1], [0, 1, 0, 1])
    assert data.client.tolist() == [1, 1, 0, 1] and data.group_names == ("C", "A")
    assert data.note.endswith("1 rows of other groups left out.")
