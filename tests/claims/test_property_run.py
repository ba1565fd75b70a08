"""Drawing: violations are found, shrunk and kept; what is discarded is counted."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from planted_claims import below, parts, wide

from fairfl.claims import draws
from fairfl.claims.call import Call
from fairfl.claims.certificates import PropertyRun, Rejected, from_json
from fairfl.claims.certificates.property_run import FIRST
from fairfl.claims.draws import neighbours
from fairfl.claims.effort import QUICK, Effort

EIGHTHS = Call.of(parts, low=-4, high=4)
POSITIVE = Call.of(parts, low=0, high=2)


def test_a_true_statement_passes_with_every_example_counted():
    run = PropertyRun.of(Call.of(below), POSITIVE, QUICK, tolerance=0.0)
    run.verify()
    # hypothesis stops when all 17 values were drawn
    assert 15 <= run.examples <= 60 and run.discarded == 0
    assert run.worst == {"instance": {"x": "2/1"}, "margin": 0.0}


def test_the_same_seed_draws_the_same_instances():
    first, second = (PropertyRun.of(Call.of(below), Call.of(wide), QUICK, seed=3) for _ in range(2))
    assert first == second


def test_a_violation_is_shrunk_and_rejected():
    run = PropertyRun.of(Call.of(below), Call.of(parts, low=0, high=1000, by=1), QUICK)
    assert run.worst == {"instance": {"x": "3/1"}, "margin": -5.0}
    with pytest.raises(Rejected, match="violated by"):
        run.verify()


def test_the_recorded_examples_are_drawn_again(monkeypatch):
    monkeypatch.setattr(draws, "CHUNK", 50)
    run = PropertyRun.of(Call.of(below), Call.of(wide), Effort("deep", 75))
    again = from_json(json.loads(json.dumps(run.to_json())))
    again.verify()
    again.replay()
    with pytest.raises(Rejected, match="75 examples satisfy the premises.*not 76"):
        replace(run, examples=76).replay()


def test_a_run_that_was_not_made_is_rejected():
    run = PropertyRun.of(Call.of(below), Call.of(wide), QUICK)
    wider = replace(run, draws=Call.of(parts, low=0, high=90))  # 3 and more are among the first
    with pytest.raises(Rejected, match="drawn again, violated at"):
        wider.verify()
    late = replace(run, draws=Call.of(parts, low=0, high=3, by=500), asked=800)
    with pytest.raises(Rejected, match="drawn again, violated at"):
        late.replay()


def test_verifying_draws_the_first_examples_and_no_more(monkeypatch):
    monkeypatch.setattr(draws, "CHUNK", 50)
    run = PropertyRun.of(Call.of(below), Call.of(wide), Effort("deep", 125))
    counted = []
    real = draws.Tally.margin
    monkeypatch.setattr(draws.Tally, "margin", lambda self, x: counted.append(x) or real(self, x))
    run.verify()
    assert len(counted) == FIRST
    assert run.examples + run.discarded >= 125  # more than one run of hypothesis draws


def test_what_breaks_a_premise_is_discarded_and_counted():
    run = PropertyRun.of(Call.of(below, bound=16), EIGHTHS, QUICK)
    assert run.discarded > 0 and run.examples > 0
    assert Fraction(run.worst["instance"]["x"]) >= 0


def test_numbers_next_to_those_drawn_are_tried():
    near = PropertyRun.of(Call.of(below), POSITIVE, QUICK, tolerance=0.0, moved="x")
    assert Fraction(near.worst["instance"]["x"]) > 2  # no drawn x is
    with pytest.raises(Rejected, match="violated by"):
        near.verify()


@pytest.mark.parametrize("end", [Fraction(7, 5), Fraction(2, 3)])
def test_a_number_is_moved_to_the_edge_of_a_hypothesis(end):
    """Wherever it lies: within a part in 2^7 of it, and not beyond."""

    def applies(instance):
        return min(1, end) <= instance["x"] <= max(1, end)

    instances = ({"x": Fraction(1), "n": n} for n in range(40))
    near = [x["x"] for i in instances for x in neighbours(i, "x", applies) if applies(x)]
    assert min(abs(x - end) for x in near) <= Fraction(1, 128)
    assert {x["n"] for i in [{"x": 1.0, "n": 3}] for x in neighbours(i, "x n", applies)} == {3}
