"""People and figures small enough to be computed in a moment."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import fairfl.figures.lib.registry as registry
import fairfl.reports.curves
from fairfl.sims.data.fetch import DataUnavailable


@pytest.fixture
def quick(monkeypatch):
    """LFT+FedAvg's frontier is searched for, which takes seconds: where it does not matter, CFL's
    stands in.
    """
    whole = fairfl.reports.curves.frontier

    def frontier(federation, scheme, points, **asked):
        if scheme != "lft_fedavg":
            return whole(federation, scheme, points, **asked)
        found = whole(federation, "cfl", points, **asked)
        eps = np.repeat(found.eps, federation.n_clients, axis=1)
        return dataclasses.replace(found, scheme=scheme, eps=eps)

    monkeypatch.setattr("fairfl.reports.curves.frontier", frontier)


@pytest.fixture
def people() -> pd.DataFrame:
    """Two sites that favour opposite groups; scores of few values."""
    n = 240
    rng = np.random.default_rng(7)
    site = np.arange(n) % 2
    group = (rng.random(n) < np.where(site == 0, 0.3, 0.7)).astype(int)
    latent = rng.normal(np.array([[0.8, 1.6], [-0.2, -1.2]])[site, group], 1.0)
    label = (rng.random(n) < 1 / (1 + np.exp(-1.2 * latent))).astype(int)
    return pd.DataFrame(
        {
            "s": np.round(1 / (1 + np.exp(-latent)), 1),
            "y": np.where(label, "yes", "no"),
            "a": np.array(["old", "young"])[group],
            "site": np.array(["north", "south"])[site],
            "z": latent,
        }
    )


@pytest.fixture
def table(people, tmp_path):
    """A CSV of people."""
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    return file


@pytest.fixture
def small_registry(monkeypatch):
    """Two figures, one of which has no data; ``drawn`` holds the names drawn so far."""
    drawn: list[str] = []

    def data():
        drawn.append("line")
        return pd.DataFrame(
            {"panel": "one", "scheme": "cfl", "minimum": [True, False], "disparity": [0.125, 1.0]}
        )

    def draw(data):
        figure = Figure()
        figure.subplots().plot(data["disparity"])
        return figure

    def missing():
        raise DataUnavailable("people.data is not available")

    source = registry.Path(registry.__file__)
    known = {
        "line": registry.Entry("line", "A line <with> a title", data, draw, source),
        "nodata": registry.Entry("nodata", "No data", missing, draw, source),
    }
    import fairfl.figures.lib.render as render
    import fairfl.reports.index_page as report

    for module in (registry, render, report):
        monkeypatch.setattr(module, "registered", lambda: known)
    return SimpleNamespace(drawn=drawn)
