"""The verdicts of the frontier and of ensembles on planted rules of known worth."""

import json

import numpy as np
import pandas as pd
import pytest

from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.frontier_distance import below, exact
from fairfl.studies.crosscheck.population.learned_rules import Performance
from fairfl.studies.crosscheck.population.worlds import by_name, in_words, random_world
from fairfl.studies.crosscheck.rates import TOO_FEW
from fairfl.studies.crosscheck.studies import cfl_frontier as frontier
from fairfl.studies.crosscheck.studies import ensemble as ensembles
from fairfl.studies.experiment import Scale
from fairfl.theory.populations.classifiers import Classifier

WORLD = by_name("figure-5a")


def row(world, scheme, rule, members=(), degree=1, rows=1000, seed=0, budget="0.1"):
    figures = Performance.of(rule, world.federation)
    cells = {"world": world.name, "scheme": scheme, "degree": degree, "rows": rows, "seed": seed}
    cells |= {"budget": budget, "accuracy": figures.accuracy, "difference": figures.difference}
    cells |= {"disparity": figures.disparity, "rule": rule.to_json()}
    return cells | {"members": json.dumps([member.to_json() for member in members])}


def moved(rule, shift):
    """A threshold rule with group 0's cuts moved by ``shift``."""
    return Classifier([rule.edges[0] + shift, rule.edges[1]], rule.values)


def planted(power=0.5):
    """CFL rules at two budgets, whose cuts are off by n^-power in opposite directions."""
    rows = []
    for world in (WORLD, random_world(0)):
        for size in frontier.SIZES:
            for budget in frontier.RATED:
                best = solve(world.federation, "cfl", budget).classifier
                off = Classifier(
                    [best.edges[0] + size**-power, best.edges[1] + 0.4 * size**-power], best.values
                )
                rows.append(row(world, "CFL", off, rows=size, budget=f"{budget:g}"))
    return pd.DataFrame(rows)


def verdict(verdicts, name):
    return next(row for row in verdicts if row.name == name)


def test_an_error_of_the_root_costs_its_square():
    """Cuts off by n^-1/2: |MD| by that order, accuracy at the same |MD| by 1/n."""
    verdicts = frontier.verdicts(planted())
    assert [row.holds for row in verdicts] == [True] * 3
    slower = frontier.verdicts(planted(0.25))
    assert verdict(slower, "cfl-regret-rate").holds is False
    assert verdict(slower, "cfl-budget-rate").holds is False


def test_what_one_world_alone_has_is_no_rate_of_all():
    """100,000 people in one world alone: nothing but that world's own line changes."""
    table = planted()
    odd = table[(table["world"] == WORLD.name) & (table["rows"] == 250)].assign(rows=100_000)
    before, after = (frontier.verdicts(rows) for rows in (table, pd.concat([table, odd])))
    assert [v.found for v in after[1:3]] == [v.found for v in before[1:3]]


def test_three_sizes_decide_nothing():
    """No interval and no verdict, and the tables say so."""
    few = planted(0.25).query("rows <= 4000")
    verdicts = frontier.verdicts(few)
    for name in ("cfl-regret-rate", "cfl-budget-rate"):
        assert (verdict(verdicts, name).holds, verdict(verdicts, name).found) == (None, TOO_FEW)
    assert set(frontier.tables(few)["rates"]["below"]) == {TOO_FEW}
    few = learned_ensembles(power=0.1).query("rows <= 8000")
    rate = verdict(ensembles.verdicts(few), "ensemble-rate")
    assert (rate.holds, rate.found) == (None, TOO_FEW)
    assert set(ensembles.tables(few)["rates"]["distance"]) == {TOO_FEW}


def test_the_quick_profile_shows_no_rate():
    """It has one size, which decides none: no verdict, no table and no picture of one."""
    units = frontier.units(Scale("quick", 1))
    assert len(units) == 16 and all("-n1000-" in unit.name for unit in units)
    quick = planted().query("rows == 1000").assign(budget="0.15")
    assert [row.name for row in frontier.verdicts(quick)] == ["below-cfl-frontier"]
    assert list(frontier.tables(quick)) == ["points"] and frontier.shrinking(quick).empty


@pytest.mark.parametrize("push", [1e-6, 0.01])
def test_a_rule_above_the_frontier_is_found(push):
    table = planted()
    table.loc[3, "accuracy"] += frontier.beside(table).loc[3, "below"] + push
    decision = verdict(frontier.verdicts(table), "below-cfl-frontier")
    assert decision.holds is False and decision.hard and f"{-push:.2g}" in decision.found


def test_distance_below_against_the_solver():
    """The frontier's accuracy at 0.2 less that of the optimum at 0.1: solved twice."""
    tight, loose = (solve(WORLD.federation, "cfl", eps) for eps in (0.1, 0.2))
    assert below(WORLD, [0.2], [tight.accuracy])[0] == pytest.approx(
        loose.accuracy - tight.accuracy, abs=1e-9
    )


def learned_ensembles(noise=0.5, power=0.5):
    """The exact members with cuts off by noise n^-power, a different sign for each seed."""
    rows = []
    for name in ("figure-5a", "random-3"):
        world = ensembles.by_name(name)
        for budgets in ensembles.targets(world).values():
            for size in ensembles.SIZES:
                for seed, sign in enumerate((1, -1)):
                    alone = (world.alone(i).federation for i in range(world.clients))
                    best = [
                        solve(client, "cfl", eps).classifier
                        for client, eps in zip(alone, budgets, strict=True)
                    ]
                    members = [moved(rule, sign * noise * size**-power) for rule in best]
                    whole = Classifier.average(members, world.weight)
                    text = " ".join(f"{v:g}" for v in budgets)
                    cells = (whole, members, 1, size, seed, text)
                    rows.append(row(world, "LFT+Ensemble", *cells))
    return pd.DataFrame(rows)


def test_ensembles_at_a_known_rate():
    verdicts = ensembles.verdicts(learned_ensembles())
    assert verdict(verdicts, "members-below-their-own-frontier").holds is True
    assert verdict(verdicts, "ensemble-rate").holds is True
    slower = ensembles.verdicts(learned_ensembles(power=0.1))
    assert verdict(slower, "ensemble-rate").holds is False
    exactly = learned_ensembles(noise=0.0)
    tables = ensembles.tables(exactly.assign(difference=exactly["difference"] + 0.1))
    assert tables["points"]["distance"].to_numpy() == pytest.approx(0.1, abs=1e-6)


PERFECT = Performance(0.999, np.zeros((1, 2)), 0.0, 0.0, (0.0,))


@pytest.mark.parametrize(
    ("place", "replacement"),
    [
        ("Performance.of", lambda rule, fed: PERFECT),
        ("below", lambda world, disparity, accuracy: np.full(len(accuracy), np.nan)),
    ],
)
def test_a_member_above_or_at_no_point_of_its_frontier_is_found(place, replacement, monkeypatch):
    table = learned_ensembles()
    monkeypatch.setattr(f"{ensembles.__name__}.{place}", replacement)
    assert verdict(ensembles.verdicts(table), "members-below-their-own-frontier").holds is False


def test_pictures_have_their_curves():
    table = ensembles.points(learned_ensembles())
    for name in ("figure-5a", "random-3"):
        shown = table[
            (table["panel"] == in_words(name)) & (table["series"] == "LFT+Ensemble, exact")
        ]
        np.testing.assert_array_equal(
            shown["x"], exact(ensembles.by_name(name), "lft_ensemble").disparity
        )
    rates = frontier.shrinking(planted().replace({"figure-5a": "figure-5a"}))
    assert {"n^-1", "n^-0.5"} < set(rates["series"]) and (rates["y"] > 0).all()
