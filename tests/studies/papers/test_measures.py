"""Measures against their definitions, published numbers read, and ours beside them."""

import numpy as np
import pandas as pd
import pytest

from fairfl.studies.beside_published import cells, compare, published
from fairfl.studies.measures import MEASURES, statistics
from fairfl.studies.published_numbers import printed


def test_measures_by_hand():
    """Ten devices, accuracies 0, 0.1, ..., 0.9, device k with k + 1 samples."""
    a, n = np.arange(10) / 10, np.arange(1.0, 11)
    values = {name: measure(a, n) for name, measure in MEASURES.items()}
    assert values["average"] == pytest.approx(100 * sum(k / 10 * (k + 1) for k in range(10)) / 55)
    assert values["devices"] == pytest.approx(45)
    assert (values["worst"], values["worst 10%"]) == pytest.approx((0, 0))
    assert (values["best"], values["best 10%"]) == pytest.approx((90, 90))
    assert values["variance"] == pytest.approx(8.25 * 100)
    assert values["std"] == pytest.approx(np.sqrt(825))
    cosine = a.sum() / (np.sqrt(10) * np.linalg.norm(a))
    assert values["angle"] == pytest.approx(np.degrees(np.arccos(cosine)))
    share = a[1:] / a.sum()
    assert values["KL"] == pytest.approx(np.log(10) + (share * np.log(share)).sum())


def test_clients_without_samples_count_in_nothing():
    keys = {"dataset": "d", "objective": "o", "seed": 0}
    rows = pd.DataFrame({**keys, "samples": [2, 0, 6], "accuracy": [0.5, np.nan, 1]})
    means = statistics(rows, ("average", "devices")).set_index("measure")["value"]
    assert means["average"] == pytest.approx(100 * 7 / 8) and means["devices"] == pytest.approx(75)


def test_published_numbers_are_read():
    table = published(
        printed("A | q = 0 | 80.8 ± .9 | -\nA | q = 1 | 100 | .083 ± .013", ("average", "KL"))
    )
    rows = table.set_index(["objective", "measure"])
    assert rows.loc[("q = 0", "average"), ["published", "published_sd"]].tolist() == [80.8, 0.9]
    assert ("q = 0", "KL") not in rows.index
    assert rows.loc[("q = 1", "KL"), ["published", "published_sd"]].tolist() == [0.083, 0.013]
    assert np.isnan(rows.loc[("q = 1", "average"), "published_sd"])


def test_ours_beside_the_published():
    columns = {"objective": ["q = 0", "q = 0", "mine"], "seed": [0, 1, 0]}
    values = pd.DataFrame({**columns, "value": [80.0, 84.0, 70.0]})
    values = values.assign(dataset="A", measure="average")
    theirs = published(printed("A | q = 0 | 81 ± .5\nA | q = 9 | 3", ("average",)))
    table = compare(values, theirs).set_index("objective")
    assert list(table.index) == ["q = 0", "mine"]
    row = table.loc["q = 0"]
    assert row["mean"] == 82 and row["sd"] == pytest.approx(np.sqrt(8)) and row["seeds"] == 2
    assert row["apart"] == pytest.approx(1 / np.sqrt(8))  # the larger of the two spreads is ours
    assert np.isnan(table.loc["mine", "published"]) and np.isnan(table.loc["mine", "apart"])
    text = cells(table.reset_index())
    assert (text[1][-1], text[2][-1]) == ("82.0 ± 2.8 [81.0 ± 0.5]", "70.0")
    shares = table.reset_index().assign(measure="eo difference", mean=0.04)
    assert [row[-1] for row in cells(shares)[1:]] == ["0.040 ± 2.828 [81.000 ± 0.500]", "0.040"]
