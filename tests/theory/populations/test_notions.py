"""Rows of demographic parity, equal opportunity and equalised odds against direct counts."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import finite_federations

from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS, pair_rows, rate_rows


def rate(fed: Federation, f: Any, a: int, label: int | None) -> float:
    """P(ŷ = 1 | a) or P(ŷ = 1 | a, y) by counting cells; NaN without the event."""
    model: Any = fed.model
    won = total = 0.0
    for i in range(fed.n_clients):
        for k in range(model.points.size):
            p = fed.weight[i] * fed.share[i, a] * model.conditional[i, a, k]
            if label is not None:
                p *= model.eta[i, a, k] if label else 1 - model.eta[i, a, k]
            won, total = won + p * f[a, k], total + p
    return won / total if total > 0 else np.nan


LABELS = {"dp": [None], "eo": [1], "eodds": [1, 0]}


@given(
    st.integers(2, 4).flatmap(lambda groups: finite_federations(groups=groups)),
    st.sampled_from(list(NOTIONS)),
    st.data(),
)
def test_rows_are_rates(fed: Federation, notion: str, data: st.DataObject) -> None:
    n = fed.model.points.size  # type: ignore[union-attr]
    f = np.array(
        [[data.draw(st.integers(0, 4)) / 4 for _ in range(n)] for _ in range(fed.n_groups)]
    )
    tables = rate_rows(fed, notion)
    rows = iter(pair_rows(fed, notion))
    for table, label in zip(tables, LABELS[notion], strict=True):
        for a in range(fed.n_groups):
            expected = rate(fed, f, a, label)
            assert (table[a] @ f[a]) == pytest.approx(expected, abs=1e-14, nan_ok=True)
        for a, b in combinations(range(fed.n_groups), 2):
            pair = rate(fed, f, a, label), rate(fed, f, b, label)
            if not np.isnan(pair).any():  # an undefined rate binds nobody
                assert next(rows) @ f.ravel() == pytest.approx(pair[0] - pair[1], abs=1e-14)
    assert next(rows, None) is None


def test_a_group_without_positives_binds_nobody_in_equal_opportunity() -> None:
    masses = np.full((1, 3, 2), 1 / 6)
    eta = np.array([[[0.0, 0.0], [0.5, 0.75], [0.25, 1.0]]])
    fed = Federation.finite([0.0, 1.0], masses, eta)
    assert pair_rows(fed, "dp").shape == (3, 6)
    assert pair_rows(fed, "eo").shape == (1, 6)
    assert pair_rows(fed, "eodds").shape == (1 + 3, 6)
    np.testing.assert_allclose(pair_rows(fed, "eo")[0], [0, 0, 0.4, 0.6, -0.2, -0.8], atol=1e-15)


def test_notions_need_a_finite_x() -> None:
    with pytest.raises(ValueError, match="'eo' needs a finite X"):
        rate_rows(Federation.normal([[0, 1]]), "eo")
