"""fairfl arena: its files, a run that goes on, an entrant of one's own, and what is refused."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT

import fairfl as ff
from fairfl._support import own_parts
from fairfl.studies.arena import unit
from fairfl.studies.arena.published import federations
from fairfl.sweeps import arena

EXAMPLE = ROOT / "docs" / "examples" / "my_entrant.py"
RULES = ["FedFB", "LFT+Ensemble, learned", "FedAvg, an end"]
SMALL = {"rules": ("table-2",), "models": ("table-2",), "rounds": 3, "tuning": 1}


@pytest.fixture(autouse=True)
def in_a_thread(monkeypatch):
    """Three rounds, and no processes."""
    sweep = arena.sweep

    def run(*arguments, engine, **options):
        with ThreadPoolExecutor(1) as thread:
            return sweep(*arguments, engine=thread, **options)

    monkeypatch.setattr(arena, "sweep", run)
    monkeypatch.setitem(arena.PROFILES, "quick", SMALL)
    monkeypatch.setenv(own_parts.VARIABLE, "[]")
    monkeypatch.setattr(own_parts, "DIGESTS", dict(own_parts.DIGESTS))


def options(labels):
    return [word for label in labels for word in ("--algorithm", label)]


def test_tables_picture_and_a_run_that_goes_on(cli, tmp_path, monkeypatch):
    words = ["arena", *options([*RULES, "AFL"]), "--seeds", "2", "--out", tmp_path / "out"]
    done = cli(*words)
    assert done.exit_code == 0, done.stderr
    assert "lr = 0.3, alpha = 0.1" in done.stdout and "AFL()" in done.stdout
    names = ("standings.csv", "differences.csv", "rows.csv", "arena.csv", "arena.svg", "arena.png")
    first = [(tmp_path / "out" / name).read_bytes() for name in names]
    table = pd.read_csv(tmp_path / "out" / "standings.csv").set_index("entrant")
    assert [*table.index] == ["FedFB", "FedAvg, an end", RULES[1], "AFL"] and table["rank"].isna()[
        "FedAvg, an end"
    ]
    assert {*pd.read_csv(tmp_path / "out" / "rows.csv")["seed"]} == {0, 1}
    drawn = pd.read_csv(tmp_path / "out" / "arena.csv")
    assert {*RULES, "CFL, exact", "Client-aware, exact"} <= {*drawn["series"]}
    monkeypatch.setattr(unit, "unit", lambda **_: pytest.fail("it ran again"))
    unit.unit.__module__, unit.unit.__qualname__ = "fairfl.studies.arena.unit", "unit"
    assert cli(*words).exit_code == 0
    assert [(tmp_path / "out" / name).read_bytes() for name in names] == first


def test_an_entrant_of_ones_own_and_predictions(cli, tmp_path):
    place = federations()["table-2"]
    rule = ff.solve(place.federation, "cfl", 0.05).classifier.on(place.points)
    columns = {"federation": place.name, "group": np.repeat([0, 1], 8), "x": [*place.points] * 2}
    frames = [pd.DataFrame(columns | {"prediction": rule.ravel(), "seed": s}) for s in (0, 1)]
    pd.concat(frames).to_csv(tmp_path / "theirs.csv", index=False)
    words = ["--import", EXAMPLE, *options(["my weights", "AFL", "FedFB"]), "--seeds", "2"]
    words += ["--predictions", tmp_path / "theirs.csv", "--out", tmp_path / "out"]
    done = cli("arena", *words)
    assert done.exit_code == 0, done.stderr
    table = pd.read_csv(tmp_path / "out" / "standings.csv").set_index("entrant")
    assert table["question"]["my weights"] == table["question"]["AFL"] == "AFL()"
    assert table["settings"]["my weights"].startswith("lr = ")
    assert table["score"]["theirs"] == pytest.approx(0, abs=1e-9)
    pd.concat(frames).to_csv(tmp_path / "AFL.csv", index=False)
    done = cli("arena", *words, "--predictions", tmp_path / "AFL.csv")
    assert done.exit_code == 2 and "names of their own" in done.stderr
    assert table["settings"]["theirs"] == "predictions (1)"


def test_what_fails_is_told_and_what_is_impossible_stops(cli, tmp_path, monkeypatch):
    def failing(federation, entrant, seed, setting, rounds):
        if seed == 1:
            raise ValueError("no convergence")
        return [{"round": rounds, "bytes": 8.0, "score": 0.1}]

    def impossible(**_):
        raise scores_error("table-2: 0.1 better than a certified optimum")

    from fairfl.studies.arena.scores import AboveOptimum as scores_error

    for function, message in ((failing, "no convergence"), (impossible, "certified optimum")):
        monkeypatch.setattr(unit, "unit", function)
        out = tmp_path / function.__name__
        done = cli("arena", *options(["AFL"]), "--seeds", "2", "--out", out)
        assert done.exit_code == 1 and message in done.stdout + done.stderr


def test_list_and_published_samples(cli, tmp_path):
    assert "LFT+Ensemble" in cli("arena", "--list").stdout
    assert cli("arena", "--publish", "--seeds", "2", "--out", tmp_path).exit_code == 0
    samples, points = (pd.read_csv(tmp_path / f"{n}.csv") for n in ("samples", "points"))
    assert {*samples["seed"]} == {0, 1, 1000, 1001}
    place = federations()["figure-5d"]
    part = points[(points["federation"] == "figure-5d") & (points["group"] == 1)]
    np.testing.assert_array_equal(part["x"], place.points)
    rows = samples[(samples["federation"] == "figure-5d") & (samples["seed"] == 1)]
    np.testing.assert_allclose(rows["x"], unit.people_of(place, 1).x[:, 0], atol=1e-9)
