"""People and figures small enough to be computed in a moment."""

import dataclasses
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import fairfl.figures.catalog.all_figures as registry
import fairfl.reports.curves
from fairfl.figures.lib.figure_entry import FigureEntry
from fairfl.sims.data.fetch import DataUnavailable


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Largest losses are sought at few disparities beside the frontiers' own, and pictures, which
    tests/figures asks about, are not laid out.
    """
    monkeypatch.setattr("fairfl.reports.comparison.GRID", 6)
    monkeypatch.setattr("matplotlib.layout_engine.ConstrainedLayoutEngine.execute", lambda *_: None)


@pytest.fixture
def quick(monkeypatch):
    """CFL's frontier stands in for LFT+FedAvg's, which takes seconds, where it does not matter."""
    whole = fairfl.reports.curves.frontier

    def frontier(federation, scheme, points, budgets, **task):
        if scheme != "lft_fedavg":
            return whole(federation, scheme, points, budgets=budgets, **task)
        curve = whole(federation, "cfl", points, **task)

        def repeated(eps):
            return np.repeat(eps, federation.n_clients, axis=1)

        def evaluate(disparity):
            points = curve.evaluate(disparity)
            return points._replace(eps=repeated(points.eps))

        return dataclasses.replace(curve, scheme=scheme, eps=repeated(curve.eps), evaluate=evaluate)

    monkeypatch.setattr("fairfl.reports.curves.frontier", frontier)


@pytest.fixture
def refused(cli, tmp_path, monkeypatch):
    """Run what must be refused: one line, exit code 2, no work begun, nothing left."""
    for work in (
        "reports.curves.frontier",
        "reports.comparison.solve",
        "studies.execute.run_units",
    ):
        monkeypatch.setattr(f"fairfl.{work}", lambda *_, **__: pytest.fail("it ran"))
    monkeypatch.chdir(tmp_path)

    def refused(words, *messages):
        before = sorted(tmp_path.iterdir())
        done = cli(*words)
        assert (done.exit_code, done.stdout) == (2, ""), done.stderr
        assert done.stderr.startswith("fairfl: error: ") and done.stderr.count("\n") == 1
        assert all(part in done.stderr for part in messages), done.stderr
        assert sorted(tmp_path.iterdir()) == before

    return refused


@pytest.fixture
def people() -> pd.DataFrame:
    """Two sites that favour opposite groups; scores of few values."""
    n = 240
    rng = np.random.default_rng(7)
    site = np.arange(n) % 2
    group = (rng.random(n) < np.where(site == 0, 0.3, 0.7)).astype(int)
    latent = rng.normal(np.array([[0.8, 1.6], [-0.2, -1.2]])[site, group], 1.0)
    label = (rng.random(n) < 1 / (1 + np.exp(-1.2 * latent))).astype(int)
    columns = {"s": np.round(1 / (1 + np.exp(-latent)), 1), "y": label}
    columns["a"], columns["site"] = (
        np.choose(group, ["old", "young"]),
        np.choose(site, ["north", "south"]),
    )
    return pd.DataFrame(columns | {"z": latent})


@pytest.fixture
def table(people, tmp_path):
    """A CSV of people."""
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    return file


@pytest.fixture
def summarized(cli, tmp_path):
    """Write the summary of each site of some people, in a folder of its own, and return the files;
    what leaves is shown whole.
    """

    def summarized(people, *words, score=("--score", "s"), group="a"):
        files = []
        for site, rows in people.groupby("site"):
            folder = tmp_path / "-".join(map(str, (site, *words))).replace("/", "")
            folder.mkdir(exist_ok=True)
            rows.drop(columns="site").to_csv(folder / "people.csv", index=False)
            files.append(folder / "site.json")
            roles = (*score, "--label", "y", "--group", group, "--site", site, "--out", files[-1])
            done = cli("summarize", folder / "people.csv", *roles, *words)
            assert (done.exit_code, done.stderr) == (0, "")
            assert files[-1].read_text() in done.stdout
        return files

    return summarized


@pytest.fixture
def small_registry(monkeypatch):
    """Two figures, one of which has no data; ``drawn`` holds the names drawn so far."""
    drawn: list[str] = []

    def data():
        drawn.append("line")
        return pd.DataFrame({"disparity": [0.125, 1.0]})

    def draw(data):
        figure = Figure()
        figure.subplots().plot(data["disparity"])
        return figure

    def missing():
        raise DataUnavailable("people.data is not available")

    source = registry.Path(registry.__file__)
    entries = {
        "line": FigureEntry("line", "A line <with> a title", data, draw, source),
        "nodata": FigureEntry("nodata", "No data", missing, draw, source),
    }
    import fairfl.figures.render as render
    import fairfl.reports.pages.index_page as report

    for module in (registry, render, report):
        monkeypatch.setattr(module, "registered", lambda: entries)
    monkeypatch.setattr("fairfl.cli.reproduce.STUDIES", ())
    return SimpleNamespace(drawn=drawn)


def planted_rows(scheme, seeds):
    """Rules of a short training."""
    from fairfl.studies.crosscheck.population.worlds import by_name
    from fairfl.studies.crosscheck.practice import Practice

    practice = Practice(scheme, 200, rounds=3, steps=2)
    table = practice.measures(by_name("figure-5a"), {(0.1,): (0.0, 0.0)}, seeds)
    return table.assign(scheme=scheme)


@pytest.fixture
def planted_study(monkeypatch):
    """A study of two runs, whose verdict is what the test sets, and one that keeps nothing."""
    from fairfl.studies.crosscheck.practice import CFL, ENSEMBLE
    from fairfl.studies.crosscheck.prediction import units_of
    from fairfl.studies.crosscheck.studies import all_studies
    from fairfl.studies.crosscheck.study import Drawing, Study, Verdict

    box = SimpleNamespace(holds=True, hard=True)
    units = partial(units_of, "planted", (CFL, ENSEMBLE), planted_rows)

    def verdicts(measures):
        return (
            Verdict("planted", box.holds, "It holds.", f"{len(measures)} rules", hard=box.hard),
        )

    def table(measures):
        points = measures[["disparity", "accuracy"]].set_axis(["x", "y"], axis=1)
        return points.assign(panel="p", series="s", kind="points", low=float("nan"))

    def means(measures):
        return {"means": measures.groupby("scheme")[["accuracy"]].mean()}

    drawings = (Drawing("crosscheck-planted", "A picture", "x", "y", table),)
    seeds = {"quick": 1, "paper": 2}
    planted = Study("planted", "Two runs", seeds, units, means, verdicts, drawings)
    plain = Study("plain", "Keeps nothing", planted.seeds, units, planted.tables, verdicts)
    studies = {"plain": plain, "planted": planted}
    monkeypatch.setattr(all_studies, "studies", lambda: studies)
    return box
