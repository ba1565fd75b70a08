"""What arrays are made of: what an array would lose is refused; values as readers know them."""

import numpy as np
import pytest

import fairfl as ff
from fairfl._support.checks import as_floats, shown
from fairfl.sims.data.federated.data import FederatedData
from fairfl.theory.aggregation import QFFL
from fairfl.theory.measures import dynamic

FOUR = np.arange(4.0)
HIDDEN = np.ma.array(FOUR, mask=[False, True, False, False])
TABLE = np.ma.array([[0.0, 1.0]] * 2, mask=[[False, False], [False, True]])
CODES = np.zeros(4, int)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("x", lambda: as_floats("x", HIDDEN)),
        ("losses", lambda: QFFL(1.0).value(HIDDEN)),
        ("mean", lambda: ff.Federation.normal(TABLE)),
        ("label", lambda: ff.Federation.from_samples(FOUR, HIDDEN > 1, CODES, CODES)),
        ("group", lambda: ff.Federation.from_samples(FOUR, FOUR > 1, HIDDEN, CODES)),
        ("group", lambda: ff.Federation.from_samples(FOUR[:2], [0, 1], TABLE, [0, 0])),
        ("losses", lambda: dynamic.benefit(TABLE, [0, 1])),
        ("joins", lambda: dynamic.benefit(TABLE.data, np.ma.array([0, 1], mask=[False, True]))),
        ("y", lambda: FederatedData("d", x=FOUR[:, None], y=HIDDEN, owner=CODES, n_clients=1)),
    ],
)
def test_a_mask_is_never_lost(name, call):
    with pytest.raises(ValueError, match=f"^{name} must not hold masked values"):
        call()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64("inf"), "inf"),
        ([np.float64(0.5), np.int64(3)], "[0.5, 3]"),
        ({"a": (np.float32(2),)}, "{'a': (2.0,)}"),
        (np.bool_(True), "True"),
        ("x" * 100, "'" + "x" * 56 + "..."),
    ],
)
def test_values_are_shown_without_their_library(value, text):
    assert shown(value) == text
