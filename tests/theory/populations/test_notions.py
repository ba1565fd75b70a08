"""Rates of every notion, together and by client, against counts; and their largest differences."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import finite_federations
from tasks import NOTIONS as LABELS
from tasks import Counted

from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS, Rates, disparity


@given(
    st.integers(2, 4).flatmap(lambda groups: finite_federations(groups=groups)),
    st.sampled_from(list(NOTIONS)),
    st.data(),
)
def test_rates_are_counts(fed: Federation, notion: str, data: st.DataObject) -> None:
    model: Any = fed.model
    f = np.array(
        [
            [data.draw(st.integers(0, 4)) / 4 for _ in range(model.points.size)]
            for _ in range(fed.n_groups)
        ]
    )
    joint, counted = model.joint(fed.mass), Counted(fed, Classifier.on_points(model.points, f))
    pooled, local = Rates.of(notion, joint.people, joint.eta).of_rule(f[None])
    together = model.pooled(fed.mass)  # with an η of its own
    again, _ = Rates.of(notion, together.people, together.eta).of_rule(f[None])
    clients = range(fed.n_clients)
    for e, label in enumerate(LABELS[notion]):
        for a in range(fed.n_groups):
            expected = counted.rate(label, set(clients), {a})
            assert pooled[e, a] == pytest.approx(expected, abs=1e-14, nan_ok=True)
            assert again[e, a] == pytest.approx(expected, abs=1e-13, nan_ok=True)
            for i in clients:
                client_rate = counted.rate(label, {i}, {a})
                assert local[e, i, a] == pytest.approx(client_rate, abs=1e-14, nan_ok=True)


def test_the_page_of_notions_has_them_all() -> None:
    page = (Path(__file__).parents[3] / "docs" / "notions.md").read_text("utf-8")
    for notion in NOTIONS.values():
        names = ", ".join(f'`"{name}"`' for name in (notion.name, *notion.aliases))
        assert f"| {names} | {' and '.join(rate.probability for rate in notion.rates)}" in page


def test_differences_by_hand() -> None:
    # two rates of three groups; in the second only one group has the event
    rates = np.array([[0.1, 0.4, 0.8], [0.3, np.nan, np.nan]])
    mass = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])
    assert disparity(rates, mass, "pairwise") == pytest.approx(0.7)
    # the population's rate is 0.35
    assert disparity(rates, mass, "overall") == pytest.approx(0.45)
    assert np.isnan(disparity(rates[1:], mass[1:], "pairwise"))
    assert np.isnan(disparity(rates[1:], mass[1:], "overall"))
