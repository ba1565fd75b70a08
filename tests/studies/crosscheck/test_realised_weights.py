"""The study of realised weights: what it measures on a small scale, its verdicts, and that they can
turn.
"""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.algorithms.term import TERM
from fairfl.studies.crosscheck.realised import weights as realised
from fairfl.studies.crosscheck.realised.aims import BEYOND
from fairfl.studies.crosscheck.realised.step_problems import step_problem
from fairfl.studies.crosscheck.realised.weights import (
    BATCH,
    CASES,
    HALF,
    ONE,
    at_one_model,
    by_round,
    mixtures,
    trials,
)
from fairfl.studies.crosscheck.registry import study_of
from fairfl.studies.crosscheck.studies import realised_weights
from fairfl.studies.experiment import Scale


@pytest.fixture(scope="module")
def measures():
    parts = [
        by_round("quadratic", 0, 5, kept=(0, 3)),
        by_round("quadratic", 1, 3, kept=(0,)),
        at_one_model("quadratic", 0, 8),
        mixtures(0, 30, (10, 30)),
    ]
    return pd.concat(parts, ignore_index=True)


def found(measures, name):
    return next(v for v in realised_weights.verdicts(measures) if v.name == name)


@pytest.mark.exact
def test_one_full_step_is_exact_and_what_breaks_it_does(measures):
    assert found(measures, "one-full-step-realises-the-dual-weights").holds
    assert found(measures, "p-fedavg-of-draws").holds
    for name in ("propfair-beyond-its-threshold", "local-steps", "half-of-the-clients"):
        assert found(measures, name).holds is False, name
    assert found(measures, "afl-means").holds is None  # too few rounds to tell
    assert all("seeds 0 to" in v.found for v in realised_weights.verdicts(measures))


def test_without_rank_weights_their_law_is_undecided(measures):
    others = measures[~measures["algorithm"].str.startswith("p-FedAvg")]
    assert found(others, "p-fedavg-of-draws").holds is None


@pytest.mark.exact
def test_propfair_and_fedavg_are_unbiased_over_the_draws(measures):
    ways = measures[(measures["kind"] == "at one model") & (measures["case"] == HALF.name)]
    off = ways.set_index("algorithm")["off"]
    assert off[["FedAvg", "PropFair"]].max() < 1e-12
    assert off[["TERM", "q-FedAvg", "p-FedAvg, Gini"]].min() > 1e-3
    assert set(ways["draws"]) == {20}  # all sets of 3 of 6


def test_a_wrong_weighing_turns_the_verdict(monkeypatch):
    """TERM with another alpha than its objective's: the hard verdict falls."""
    world = step_problem("quadratic", 0)
    wrong = [replace(e, algorithm=TERM(1.9)) if e.name == "TERM" else e for e in trials(world)]
    monkeypatch.setattr(realised, "trials", lambda world: tuple(wrong))
    steps = by_round("quadratic", 0, 2)
    ways = at_one_model("quadratic", 0, 2, (ONE, CASES[2], BATCH, CASES[-2], HALF))
    verdict = realised_weights.verdicts(pd.concat([steps, ways, mixtures(0, 10, (10,))]))[0]
    assert verdict.hard and verdict.holds is False


@pytest.mark.exact
def test_tables_pictures_and_record(measures):
    tables = realised_weights.tables(measures)
    assert set(tables) == {"one-full-step", "ways", "noise", "afl"}
    assert list(tables["ways"].columns[2:]) == [case.name for case in CASES]
    assert tables["one-full-step"].set_index(["algorithm"]).loc["TERM", "off"] < 1e-12
    kept = realised_weights.record(measures)
    assert json.loads(json.dumps(kept)) == kept
    assert {one["round"] for one in kept["steps"]} == {0, 3} and {
        one["seed"] for one in kept["steps"]
    } == {0, 1}
    assert len(kept["draws"]) == len(trials(step_problem("quadratic", 0)))
    for picture in realised_weights.PICTURES:
        table = picture.table(measures)
        assert len(table) and np.isfinite(table[["x", "y"]].to_numpy()).all()


def test_the_registry_takes_it_and_its_units():
    study = study_of(realised_weights)
    assert study.name == "realised-weights"
    names = [unit.name for unit in study.units(Scale("quick", 2))]
    assert len(set(names)) == len(names) == 10
    assert study.seeds["paper"] >= study.seeds["quick"]


def test_afl_means_come_near_the_optimum():
    rows = mixtures(1, 400, (20, 400)).set_index(["algorithm", "case", "round"])["off"]
    for name in realised.ASCENTS:
        assert rows[name, "mean", 400] < 0.4 * rows[name, "mean", 20]
    assert rows["AFL, steady rates", "mean", 400] < 0.05


def test_beyond_is_counted():
    rows = by_round("quadratic", 0, 1).set_index("algorithm")
    losses = step_problem("quadratic", 0).losses(np.zeros(8))
    rule = next(e.algorithm for e in trials(step_problem("quadratic", 0)) if e.name == BEYOND)
    assert rows.loc[BEYOND, "beyond"] == sum(loss > rule.M - rule.epsilon for loss in losses) > 0
    assert rows.loc["PropFair", "beyond"] == 0
