"""Other notions and three groups: their bounds on random rules; verdicts that can fail."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.data.federated.population import sample
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population import frontier_distance
from fairfl.studies.crosscheck.population.frontier_distance import optimum, supporting_plane
from fairfl.studies.crosscheck.population.learned_rules import Performance
from fairfl.studies.crosscheck.population.worlds import World, by_name, random_world
from fairfl.studies.crosscheck.practice import CFL, ENSEMBLE, Practice
from fairfl.studies.crosscheck.studies import notions
from fairfl.theory.populations.classifiers import Classifier

THREE, TWO = random_world(0, 2, 3), by_name("figure-5d")
QUESTIONS = [(TWO, "eo"), (TWO, "eodds"), (THREE, "dp"), (THREE, "eodds")]
EVENTS = {"dp": (None,), "eo": (1,), "eodds": (0, 1)}


def verdict(verdicts, name):
    return next(row for row in verdicts if row.name == name)


def rules_near(world, notion, count):
    """The optimum's cuts at ε = 0, moved; and unions of intervals."""
    best, rng = solve(world.federation, "cfl", 0.0, notion=notion), np.random.default_rng(0)
    for scale in rng.uniform(0, 1.5, count):
        edges = [np.sort(edge + rng.normal(0, scale, edge.size)) for edge in best.classifier.edges]
        yield Classifier(edges, best.classifier.values)


def test_worlds_of_three_groups():
    assert THREE.groups == 3 and THREE.federation.n_groups == 3 and THREE.clients == 2
    assert THREE == by_name(THREE.name)
    again = World.of(THREE.name, THREE.federation)
    assert (again.mean, again.sd) == (THREE.mean, THREE.sd)
    np.testing.assert_allclose(again.q, THREE.q, rtol=1e-12)
    np.testing.assert_allclose(THREE.shares.sum(axis=1), 1)
    assert THREE.shares.max() <= 4 * THREE.shares.min()
    np.testing.assert_allclose(THREE.alone(1).federation.share[0], THREE.shares[1])


@pytest.mark.parametrize(("world", "notion"), QUESTIONS)
def test_disparities_are_those_of_a_large_sample(world, notion):
    rule = next(rules_near(world, notion, 1))
    figures = Performance.of(rule, world.federation, notion)
    data = sample(world.federation, 200_000, 1)
    accept = rule(data.x[:, 0], data.group)
    gaps = []
    for label in EVENTS[notion]:
        among = np.ones(len(data.y), bool) if label is None else data.y == label
        gaps.append(np.ptp([accept[among & (data.group == a)].mean() for a in range(world.groups)]))
    assert figures.disparity == pytest.approx(max(gaps), abs=0.02)  # 5 errors of 10,000 people
    assert np.ptp(figures.rates, axis=1).max() == pytest.approx(figures.disparity, abs=1e-12)


@pytest.mark.parametrize(("world", "notion"), QUESTIONS)
@pytest.mark.every(2)
def test_no_rule_is_above_the_plane_or_the_optima(world, notion, monkeypatch):
    federation = world.federation
    best = solve(federation, "cfl", 0.0, notion=notion)
    at = Performance.of(best.classifier, federation, notion)
    assert supporting_plane(federation, at.rates, notion) == pytest.approx(best.accuracy, abs=1e-9)
    rules = [Performance.of(rule, federation, notion) for rule in rules_near(world, notion, 10)]
    for figures in rules:
        assert figures.accuracy <= supporting_plane(federation, figures.rates, notion) + 1e-9
        assert figures.accuracy <= optimum(world, "cfl", figures.disparity, notion) + 1e-9
        local = optimum(world, "lft_fedavg", np.abs(figures.local), notion)
        assert figures.accuracy <= local + 1e-9
    real = frontier_distance._fairest(federation, notion)
    monkeypatch.setattr(frontier_distance, "_fairest", lambda *_: (real[0], -real[1]))
    above = [
        figures.accuracy - supporting_plane(federation, figures.rates, notion) for figures in rules
    ]
    assert max(above) > 1e-3  # multipliers of the other sign bound nothing


def test_a_learner_of_equal_opportunity_is_fair_on_its_sample():
    """A budget of 0 binds; parity is left alone."""
    world = by_name("figure-5d")
    practice = Practice(CFL, 2_000, rounds=100, notion="eo")
    ((((rule,),),), data) = practice.trained(world, [(0.0,)], 1), sample(world.federation, 2_000, 0)
    accept = rule(data.x[:, 0], data.group)
    gaps = [
        abs(np.subtract(*(accept[(data.group == a) & among].mean() for a in (0, 1))))
        for among in (data.y == 1, data.y < 2)
    ]
    assert gaps[0] < 0.02 and gaps[1] > 0.1
    assert Performance.of(rule, world.federation, "eo").disparity < 0.1


@pytest.fixture(scope="module")
def measures():
    cases = [*notions.CASES][: 4 * len(notions.SMALL)]
    with pytest.MonkeyPatch.context() as patch:
        short = {
            case: (world, notion, replace(practice, people=200, rounds=4))
            for case, (world, notion, practice) in notions.CASES.items()
        }
        patch.setattr(notions, "CASES", short)
        return pd.concat([notions.rows(case, 2) for case in cases], ignore_index=True)


HARD = ("below-cfl", "below-lft-fedavg", "members-below-their-own")


def test_the_hard_verdicts_hold_and_can_turn(measures):
    verdicts = notions.verdicts(measures)
    assert all(verdict(verdicts, name).hard and verdict(verdicts, name).holds for name in HARD)
    ensembles = measures["scheme"] == ENSEMBLE
    for name, column in zip(HARD, ("below", "below locally", "members"), strict=True):
        wrong = measures.copy()
        wrong.loc[ensembles.idxmax(), column] = -1e-6
        turned = [k for k in HARD if verdict(notions.verdicts(wrong), k).holds is False]
        assert turned == [name]
    for name, column in (
        ("plane-of-one-rate", notions.LOST),
        ("disparity-of-one-rate", "disparity"),
    ):
        for value, holds in ((0.0, True), (0.2, False)):
            judged = notions.verdicts(measures.assign(**{column: value}))
            assert verdict(judged, name).holds is holds


def test_what_is_drawn(measures):
    for drawing in notions.PICTURES:
        table = drawing.table(measures)
        assert {"panel", "series", "kind", "x", "y"} <= set(table) and len(table)
    curve = notions.points(measures).query("kind == 'line'")
    assert (curve.groupby("panel")["y"].apply(lambda y: y.is_monotonic_increasing)).all()
