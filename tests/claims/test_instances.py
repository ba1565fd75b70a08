"""Drawing and attacking: violations are found, shrunk and kept; what is discarded is counted."""

from fractions import Fraction

import pytest
from hypothesis import strategies as st
from planted_claims import below

from fairfl.claims.call import Call
from fairfl.claims.certificates import Rejected
from fairfl.claims.claim import QUICK, Effort
from fairfl.claims.dynamic.beta import agrees
from fairfl.claims.dynamic.beta import instances as interpolations
from fairfl.claims.instances import explore, tabulate
from fairfl.claims.search import Attack, attack

EIGHTHS = st.integers(-32, 32).map(lambda k: {"x": Fraction(k, 8)})
POSITIVE = st.integers(0, 16).map(lambda k: {"x": Fraction(k, 8)})
LINE = Attack([(0.0, 3.0)], lambda x: {"x": x[0]})


def test_a_true_statement_passes_with_every_example_counted():
    run = explore(Call.of(below), POSITIVE, QUICK, tolerance=0.0)
    run.verify()
    # hypothesis stops when all 17 values were drawn
    assert 15 <= run.examples <= 60 and run.discarded == 0
    assert [kept["margin"] for kept in run.worst] == sorted(kept["margin"] for kept in run.worst)
    assert run.worst[0] == {"instance": {"x": "2/1"}, "margin": 0.0}


def test_the_same_seed_draws_the_same_instances():
    wide = st.floats(0, 2).map(lambda x: {"x": x})
    assert explore(Call.of(below), wide, QUICK, seed_=3) == explore(
        Call.of(below), wide, QUICK, seed_=3
    )


def test_a_violation_is_shrunk_and_rejected():
    run = explore(Call.of(below), st.integers(0, 1000).map(lambda k: {"x": k}), QUICK)
    assert any(kept["instance"] == {"x": 3} for kept in run.worst) or run.worst[0]["margin"] < -5
    with pytest.raises(Rejected, match="violated by"):
        run.verify()


def test_what_breaks_a_premise_is_discarded_and_counted():
    run = explore(Call.of(below, bound=16), EIGHTHS, QUICK)
    assert run.discarded > 0 and run.examples > 0
    assert all(Fraction(kept["instance"]["x"]) >= 0 for kept in run.worst)


def test_an_attack_finds_what_draws_miss():
    tame = st.integers(0, 4).map(lambda k: {"x": Fraction(k, 4)})
    explore(Call.of(below), tame, QUICK).verify()
    attacked = explore(Call.of(below), tame, QUICK, attacks=[LINE])
    assert attacked.restarts == QUICK.restarts and attacked.evaluations > 0
    with pytest.raises(Rejected, match="violated"):
        attacked.verify()


def test_an_attack_comes_as_close_as_the_family_allows():
    near = Attack([(0.0, 1.75)], lambda x: {"x": x[0]})
    run = explore(Call.of(below), POSITIVE.filter(lambda i: i["x"] <= 1), QUICK, attacks=[near])
    run.verify()
    assert run.worst[0]["margin"] == pytest.approx(4 - 1.75**2, abs=1e-6)


def test_examples_beyond_one_run_of_hypothesis_are_drawn():
    wide = st.floats(0, 2).map(lambda x: {"x": x})
    run = explore(Call.of(below), wide, Effort("deep", 2500, 1), tolerance=1e-12)
    assert run.examples + run.discarded >= 2500


@pytest.mark.timeout(60)
def test_flat_margins_end():  # hypothesis' own hill climbing never did, on these
    run = explore(Call.of(agrees), interpolations(), QUICK, tolerance=1e-14, examples=600)
    assert run.examples + run.discarded >= 600


def test_a_grid_counts_its_instances_and_refuses_those_outside_the_premises():
    grid = tabulate(Call.of(below), [{"x": Fraction(k, 8)} for k in range(17)], "eighths in [0, 2]")
    grid.verify()
    assert grid.instances == 17
    with pytest.raises(ValueError, match="must satisfy the premises"):
        tabulate(Call.of(below), [{"x": -1}], "one")
    with pytest.raises(ValueError, match="box must be pairs"):
        Attack([(1.0, 0.0)], lambda x: {"x": x[0]})


@pytest.mark.parametrize("centre", [0.3, 0.9])
def test_an_attack_finds_a_small_violation_in_many_dimensions(centre):
    lowest = []

    def margin(instance):  # below 0 within 1e-3 of the centre only
        lowest.append(sum((k + 1) * (v - centre) ** 2 for k, v in enumerate(instance["x"])) - 1e-6)
        return lowest[-1]

    attack(
        Attack([(-1.0, 1.0)] * 11, lambda x: {"x": x}), margin, restarts=1, seed=0, tolerance=1e-9
    )
    assert min(lowest) < 0


def test_starts_that_are_given_come_first():
    seen = []
    family = Attack([(0.0, 1.0)], lambda x: {"x": x[0]}, starts=[[0.25]])
    attack(family, lambda i: seen.append(i["x"]) or 1.0, restarts=1, seed=0, tolerance=0.0)
    assert seen[0] == 0.25
