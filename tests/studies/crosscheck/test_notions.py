"""Other notions, three groups and other learners: what bounds them, on random rules and small runs,
and verdicts that can fail.
"""

import json

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.data.federated.population import sample
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population import supporting_line
from fairfl.studies.crosscheck.population.frontier_distance import optimum
from fairfl.studies.crosscheck.population.learned_rules import Found, from_json
from fairfl.studies.crosscheck.population.supporting_line import supporting_plane
from fairfl.studies.crosscheck.population.worlds import World, by_name, figure_5, random_world
from fairfl.studies.crosscheck.runs import CFL, ENSEMBLE, FEDFB, LFT_AVG
from fairfl.studies.crosscheck.studies import clients_away, notions, other_learners
from fairfl.studies.crosscheck.studies.fedfb_gap_runs import GapPlan
from fairfl.studies.execute import run_unit, run_units
from fairfl.theory.populations.classifiers import Classifier

THREE = random_world(0, 2, 3)
QUESTIONS = [(figure_5("d"), "eo"), (figure_5("d"), "eodds"), (THREE, "dp"), (THREE, "eodds")]
EVENTS = {"dp": (None,), "eo": (1,), "eodds": (0, 1)}


def verdict(found, name):
    return next(one for one in found if one.name == name)


def rules_near(world, notion, count):
    """The optimum's cuts at ε = 0, moved; and unions of intervals."""
    best, rng = solve(world.federation, "cfl", 0.0, notion=notion), np.random.default_rng(0)
    for scale in rng.uniform(0, 1.5, count):
        edges = [np.sort(edge + rng.normal(0, scale, edge.size)) for edge in best.classifier.edges]
        yield Classifier(edges, best.classifier.values)


def test_worlds_of_three_groups():
    assert THREE.groups == 3 and THREE.federation.n_groups == 3 and THREE.clients == 2
    assert THREE == by_name(THREE.name) == World.from_json(json.loads(json.dumps(THREE.to_json())))
    np.testing.assert_allclose(THREE.shares.sum(axis=1), 1)
    assert THREE.shares.max() <= 4 * THREE.shares.min()
    np.testing.assert_allclose(THREE.alone(1).federation.share[0], THREE.shares[1])
    with pytest.raises(ValueError, match="clients must be"):
        random_world(0, groups=3)


@pytest.mark.parametrize(("world", "notion"), QUESTIONS)
def test_disparities_are_those_of_a_large_sample(world, notion):
    rule = next(rules_near(world, notion, 1))
    found, data = Found.of(rule, world.federation, notion), sample(world.federation, 200_000, 1)
    accept = rule(data.x[:, 0], data.group)
    apart = []
    for label in EVENTS[notion]:
        among = np.full(len(data.y), True) if label is None else data.y == label
        apart.append(
            np.ptp([accept[among & (data.group == a)].mean() for a in range(world.groups)])
        )
    assert found.disparity == pytest.approx(max(apart), abs=0.02)  # 5 errors of 10,000 people
    assert np.ptp(found.rates, axis=1).max() == pytest.approx(found.disparity, abs=1e-12)


@pytest.mark.parametrize(("world", "notion"), QUESTIONS)
def test_no_rule_is_above_the_plane_or_the_optima(world, notion, monkeypatch):
    federation = world.federation
    best = solve(federation, "cfl", 0.0, notion=notion)
    at = Found.of(best.classifier, federation, notion)
    assert supporting_plane(federation, at.rates, notion) == pytest.approx(best.accuracy, abs=1e-9)
    found = [Found.of(rule, federation, notion) for rule in rules_near(world, notion, 30)]
    for one in found:
        assert one.accuracy <= supporting_plane(federation, one.rates, notion) + 1e-9
        assert one.accuracy <= optimum(world, "cfl", one.disparity, notion) + 1e-9
        local = optimum(world, "lft_fedavg", np.abs(one.local), notion)
        assert one.accuracy <= local + 1e-9
    real = supporting_line._optimum(federation, notion)
    monkeypatch.setattr(supporting_line, "_optimum", lambda *_: (real[0], -real[1]))
    above = [one.accuracy - supporting_plane(federation, one.rates, notion) for one in found]
    assert max(above) > 1e-3  # multipliers of the other sign bound nothing


def test_a_learner_of_equal_opportunity_is_fair_on_its_sample():
    """A budget of 0 binds; parity is left alone."""
    world = figure_5("d")
    plan = notions.NotionPlan(world, CFL, 1, 2_000, 0, ((0.0,),), notion="eo")
    row = run_unit(plan.unit(), None, False).iloc[0]
    data, rule = sample(world.federation, 2_000, 0), from_json(row["rule"])
    accept = rule(data.x[:, 0], data.group)
    gaps = [
        abs(np.subtract(*(accept[(data.group == a) & among].mean() for a in (0, 1))))
        for among in (data.y == 1, data.y < 2)
    ]
    assert gaps[0] < 0.02 and gaps[1] > 0.1
    assert row["notion"] == "eo" and row["disparity"] < 0.1


def test_bad_notions():
    with pytest.raises(ValueError, match="notion must be one of"):
        notions.NotionPlan(THREE, CFL, 1, 100, 0, ((0.0,),), notion="cp")
    with pytest.raises(ValueError, match="scheme must be one of"):
        other_learners.FairFedPlan(THREE, CFL, 1, 100, 0, ((0.0,),))


@pytest.fixture(scope="module")
def measures():
    plans = [
        notions.NotionPlan(by_name(world), scheme, 1, 400, 0, ((0.0,), (0.1,)), 6, notion=notion)
        for world, notion in notions.SMALL
        for scheme in (CFL, ENSEMBLE, LFT_AVG, FEDFB)
    ]
    return run_units([plan.unit() for plan in plans])


HARD = ("below-cfl", "below-lft-fedavg", "members-below-their-own")


def test_the_hard_verdicts_hold_and_can_turn(measures):
    found = notions.verdicts(measures)
    assert all(verdict(found, name).hard and verdict(found, name).holds for name in HARD)
    ensembles = measures["scheme"] == ENSEMBLE
    for name, column in zip(HARD, ("below", "below locally", "members"), strict=True):
        wrong = measures.copy()
        wrong.loc[ensembles.idxmax(), column] = -1e-6
        turned = [one for one in HARD if verdict(notions.verdicts(wrong), one).holds is False]
        assert turned == [name]


def test_what_is_kept_and_drawn(measures):
    kept = json.loads(json.dumps(notions.record(measures)))
    assert kept["runs"]["rules"] == len(measures) and {"notion", "scheme"} <= set(
        kept["worlds"][0]["rules"][0]
    )
    for drawing in notions.PICTURES:
        table = drawing.table(measures)
        assert {"panel", "series", "kind", "x", "y"} <= set(table) and len(table)
    curve = notions.points(measures).query("kind == 'line'")
    assert (curve.groupby("panel")["y"].apply(lambda y: y.is_monotonic_increasing)).all()


@pytest.fixture(scope="module")
def others():
    betas, taus = other_learners.BETAS, other_learners.TAUS
    common = (figure_5("d"),)
    plans = [
        other_learners.FairFedPlan(*common, way, 1, 400, 0, betas, 12, notion=notion)
        for way in (other_learners.FAIRFED, other_learners.UNWEIGHED)
        for notion in ("dp", "eo")
    ]
    plans += [
        other_learners.AgnosticPlan(*common, way, 1, 400, 0, taus, 12)
        for way in (other_learners.AGNOSTIC, other_learners.PLAIN)
    ]
    return run_units([plan.unit() for plan in plans])


def test_other_learners_are_below_the_frontier(others):
    assert len(others) == 16 and set(others["scheme"]) == {
        other_learners.FAIRFED,
        other_learners.UNWEIGHED,
        other_learners.AGNOSTIC,
        other_learners.PLAIN,
    }
    found = verdict(other_learners.verdicts(others), "below-cfl-frontier")
    assert found.holds and found.hard
    wrong = others.assign(accuracy=others["accuracy"] + 0.3)
    assert verdict(other_learners.verdicts(wrong), "below-cfl-frontier").holds is False
    table = other_learners.PICTURES[0].table(others)
    assert set(table["panel"]) == {"figure 5(d), parity", "figure 5(d), equal opportunity"}


def test_fairfed_that_hears_everybody_is_told(others):
    heard = others.assign(silent=0)
    assert verdict(other_learners.verdicts(heard), "fairfed-hears-everybody").holds is True
    silent = others.assign(silent=1)
    assert verdict(other_learners.verdicts(silent), "fairfed-hears-everybody").holds is False


def away(present, seed=0):
    plan = GapPlan(
        clients_away.WORLDS["alike"], FEDFB, 1, 400, seed, ((0.0,),), 6, 3, present=present
    )
    return run_unit(plan.unit(), None, False)


@pytest.mark.exact
def test_all_of_the_clients_present_are_everybody():
    """A draw of 20 of 20 is no draw: the same rule, to rounding; of 5 of 20 it is another."""
    drawn, everybody, some = away(20), away(None), away(5)
    assert drawn["accuracy"].iloc[0] == pytest.approx(everybody["accuracy"].iloc[0], abs=1e-9)
    assert abs(drawn["accuracy"].iloc[0] - some["accuracy"].iloc[0]) > 1e-6
    assert list(drawn["present"]) == list(everybody["present"]) == [20]


def test_the_verdicts_of_clients_away_can_turn():
    base = away(20)
    rows = []
    for world in clients_away.WORLDS.values():
        rows.append(base.assign(world=world.name, scheme=CFL, accuracy=base["line"] - 0.001))
        for count in clients_away.PRESENT:
            lost = 0.002 + 0.02 / count**2
            rows.append(base.assign(world=world.name, present=count, accuracy=base["line"] - lost))
    table = pd.concat(rows, ignore_index=True)
    found = clients_away.verdicts(table)
    assert [one.holds for one in found] == [True, True, True]
    half = table["present"] == clients_away.HALF
    worse = table.assign(accuracy=table["accuracy"] - 0.01 * half)
    assert verdict(clients_away.verdicts(worse), "half-of-the-clients-do").holds is False
    above = table.assign(accuracy=table["line"] + 1e-6)
    assert verdict(clients_away.verdicts(above), "below-the-line").holds is False
    assert len(clients_away.PICTURES[0].table(table))
