"""FedFB's tables: from data to a table, choices on validation, and the real splits."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.data.tables import Dataset
from fairfl.sims.engine import Parts
from fairfl.studies.beside_published import cells, compare
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.all_experiments import find
from fairfl.studies.papers.fedfb import agnostic as fedfb_agnostic
from fairfl.studies.papers.fedfb import data as fedfb_module
from fairfl.studies.papers.fedfb import fedfb_runs
from fairfl.studies.papers.fedfb import figure_7 as fedfb_figure_7
from fairfl.studies.papers.fedfb import table_6 as fedfb_table_6
from fairfl.studies.papers.fedfb.data import REAL, SYNTHETIC, VALIDATION, fedfb_data, pooled
from fairfl.studies.papers.fedfb.points import COLUMNS

TABLES = (
    *(f"fedfb-table-{k}" for k in (1, 4, 5, 7)),
    pytest.param("fedfb-table-2", marks=pytest.mark.deep),  # as table 5, other federations
    *(f"fedfb-figure-{k}" for k in ("3b", 6, 7)),
)

WITHOUT_CONSTANTS = ("fedfb-figure-7",)


@pytest.fixture
def tiny(monkeypatch):
    """Two rounds of one epoch."""
    for module in (fedfb_runs, fedfb_figure_7):
        monkeypatch.setattr(module, "ROUNDS", 2)
        monkeypatch.setattr(module, "QUICK", 1)
    few = {case: ({"quick": 3, "paper": 3}, lr) for case, (_, lr) in fedfb_agnostic.STEPS.items()}
    monkeypatch.setattr(fedfb_agnostic, "STEPS", few)


@pytest.mark.parametrize("name", TABLES)
def test_from_data_to_a_table(name, tiny):
    experiment = find(name)
    rows = run_units(experiment.units(Scale("quick", 1)))
    values = experiment.values(rows)
    assert list(values.columns) == ["dataset", "objective", "seed", "measure", "value"]
    assert np.isfinite(values["value"]).all()
    table = compare(values, experiment.published)
    assert len(cells(table)) > 2
    assert all(note.endswith(".") for note in experiment.differences(rows))
    ours = set(zip(values["dataset"], values["objective"], values["measure"], strict=True))
    theirs = experiment.published
    keys = zip(theirs["dataset"], theirs["objective"], theirs["measure"], strict=True)
    # paper profile
    missing = {key[1] for key in set(keys) - ours if key[0] not in REAL}
    assert missing <= {"FedFB (10 bits)"}
    parity = values[values["measure"] == "DP disp."]
    constant = parity[parity["objective"].isin(["all 0", "all 1"])]
    assert (constant["value"] == 0).all()
    assert len(constant) == 2 * len(set(rows["dataset"])) or name in WITHOUT_CONSTANTS
    shown = experiment.points(rows)
    assert list(shown.columns) == COLUMNS
    assert np.isfinite(shown[["disparity", "accuracy"]].to_numpy()).all()
    assert {"ours"} <= set(shown["kind"]) <= {"ours", "published", "constant", "frontier"}
    assert ("frontier" in set(shown["kind"])) == (name != "fedfb-figure-7")


def test_the_choice_is_made_on_validation():
    """One step is fairer on validation, the other on test: the first is shown."""
    dp = {"validation": {1.0: 0.1, 2.0: 0.2}, "test": {1.0: 0.4, 2.0: 0.3}}
    columns = "dataset objective part seed alpha dp accuracy".split()
    lines = [
        ("D", "M", part, seed, alpha, dp[part][alpha], alpha)
        for part, alpha, seed in product(dp, (1.0, 2.0), (0, 1))
    ]
    rows = pd.DataFrame(lines, columns=columns)
    choice = fedfb_runs.chosen(rows)
    assert choice["alpha"].tolist() == [1.0, 1.0]
    assert choice["dp"].tolist() == [0.4, 0.4]


def test_client_parity_by_hand():
    """Two clients, 30 and 10 people; of Ditto its own models count."""
    rows = [
        (name, model, k, samples, right[k], losses[k])
        for name, model, right, losses in (
            ("FedAvg", "global", (0.8, 0.6), (0.5, 0.9)),
            ("Ditto, λ = 1", "global", (0.1, 0.1), (9.0, 1.0)),
            ("Ditto, λ = 1", "personal", (0.9, 0.7), (0.2, 0.5)),
        )
        for k, samples in enumerate((30, 10))
    ]
    table = pd.DataFrame(rows, columns="objective model client samples accuracy loss".split())
    table = table.assign(dataset="Adult", seed=0, unit="u", round=1, part="test")
    measures = fedfb_figure_7.measures(table).set_index("objective")
    assert measures.loc["FedAvg"].tolist()[2:] == pytest.approx([0.75, 0.4, 0.2])
    assert measures.loc["Ditto, λ = 1"].tolist()[2:] == pytest.approx([0.85, 0.3, 0.2])


@pytest.mark.parametrize("name", sorted(SYNTHETIC))
def test_validation_is_apart(name):
    data = fedfb_data(name)
    sizes = {part: len(data.rows(part)) for part in ("train", "validation", "test")}
    assert sum(sizes.values()) == len(data)
    assert abs(sizes["validation"] / (sizes["train"] + sizes["validation"]) - VALIDATION) < 0.01
    together = pooled(Parts.of(data))
    assert together.train.clients == 1
    assert len(together.train.x) == sizes["train"]


def test_groups_of_table_6(monkeypatch):
    """White people and all others, men and women; clients share out all rows."""
    rng = np.random.default_rng(0)
    white, men = (rng.integers(0, 2, 400) for _ in range(2))

    def load(name, groups="two", seed=0):
        assert (name, groups) in {("adult", "two"), ("compas", "sex")}
        group, column = (
            (rng.integers(0, 2, 400), white) if name == "adult" else (men, rng.integers(0, 4, 400))
        )
        x = np.column_stack([rng.normal(size=400), column]).astype(float)
        names = "age", "race=White" if name == "adult" else "sex-race"
        client, is_test = (np.zeros(400, int), ("one",)), np.arange(400) >= 280
        label = rng.integers(0, 2, 400)
        return Dataset(name, x, names, label, group, ("a", "b"), *client, is_test, "")

    monkeypatch.setattr(fedfb_module, "load", load)
    fedfb_data.cache_clear()
    for name, group in (("Adult, 10", white), ("COMPAS, 5000", men)):
        data = fedfb_data(name)
        assert data.group.tolist() == group.tolist()
        assert data.x[:, -1].tolist() == group.tolist()
        assert np.unique(data.owner).tolist() == [0, 1, 2, 3, 4]
    fedfb_data.cache_clear()


def test_points_of_table_6(monkeypatch):
    """A panel a data set: chosen runs and printed numbers by level, in |SPD|."""
    monkeypatch.setattr(
        fedfb_table_6, "spd_limit", lambda base: (np.array([0.0, 0.3]), np.array([0.8, 0.9]))
    )
    levels, methods = ("COMPAS, 0.1", "COMPAS, 5000"), (("FedFB", 0.1), ("all 1", np.nan))
    columns = "dataset objective part seed alpha dp spd accuracy".split()
    lines = [
        (name, method, part, 0, alpha, 0.1, 0.2, 0.7)
        for name, (method, alpha), part in product(levels, methods, ("validation", "test"))
    ]
    rows = pd.DataFrame(lines, columns=columns)
    shown = fedfb_table_6.points(rows)
    ours = shown[shown["kind"] == "ours"]
    assert ours["setting"].tolist() == [0.1, 5000.0]
    assert ours["disparity"].tolist() == [0.2, 0.2]
    printed = shown[(shown["kind"] == "published") & (shown["objective"] == "FedFB")]
    numbers = printed[["setting", "disparity", "accuracy"]].to_numpy().tolist()
    assert numbers == [[0.1, 0.006, 0.668], [5000.0, 0.004, 0.666]]
    assert (shown["kind"] == "constant").sum() == 1
    assert set(shown["dataset"]) == {"COMPAS"}


def test_a_published_line_stands_beside_every_variant():
    table = find("fedfb-table-1").published
    line = table[(table["dataset"] == "Synthetic") & (table["objective"] == "FedFB (10 bits)")]
    numbers = line[["published", "published_sd"]].to_numpy().tolist()
    assert numbers == [[0.725, 0.012], [0.051, 0.018]]
