"""Outcomes: faults are told from rejections, mutants die by the right cause, files are read back
only if current.
"""

import json
from dataclasses import replace

import pytest
from planted_claims import below, claim, unchecked

from fairfl._support.manifest import sealed
from fairfl.claims import record, sources
from fairfl.claims.call import Call
from fairfl.claims.certificates import Counterexample, Witness
from fairfl.claims.certificates.base import Rejected
from fairfl.claims.claim import DEEP, QUICK, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.outcome import Outcome, examine

NAMED = (("sign", "x >= 0"),)


def witness(effort, x=1):
    return Evidence.of(Witness.at(Call.of(below), f"{x} squared", x=x))


def counterexample(effort, x=3):
    return Evidence.of(Counterexample.at(Call.of(below), f"{x} squared", x=x))


def mutant(check):
    return (Mutant("m", "changed", check),)


def good():
    return replace(
        claim("a"),
        check=witness,
        hypotheses=NAMED,
        mutants=mutant(lambda effort: witness(effort, 3)),
    )


def test_accepted_evidence_has_a_finding_a_level_and_a_dead_mutant():
    outcome = examine(good(), QUICK, "key")
    assert (outcome.finding, outcome.level, outcome.fault, outcome.survivors) == (
        "holds",
        "certified",
        "",
        (),
    )
    assert outcome.summaries == ("witness: 1 squared",)
    assert outcome.mutants[0].reason.startswith("rejected: not certain: square: 9 <= 4")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"check": lambda effort: witness(effort, 3)}, "rejected: not certain"),
        (
            {"check": lambda effort: witness(effort, -1)},
            "rejected: the instance breaks the premises sign",
        ),
        ({"check": unchecked}, "AssertionError: not to be run"),
        ({"hypotheses": ()}, "premises not among the hypotheses of pffl/a: sign"),
    ],
)
def test_a_fault_leaves_no_finding(change, fault):
    outcome = examine(replace(good(), **change), QUICK, "key")
    assert (outcome.finding, outcome.level) == (None, None)
    assert fault in outcome.fault


@pytest.mark.parametrize(
    ("check", "killed"),
    [
        (lambda effort: witness(effort, 3), True),  # rejected
        (counterexample, True),  # another finding
        (witness, False),  # the same
        (unchecked, False),  # an exception is no refutation
    ],
)
def test_a_mutant_dies_of_a_rejection_or_another_finding_alone(check, killed):
    outcome = examine(replace(good(), mutants=mutant(check)), QUICK, "key")
    assert outcome.mutants[0].killed is killed
    assert len(outcome.survivors) == (not killed)


def test_a_mutant_that_survives_the_quick_effort_is_tried_at_the_deep_one():
    tried = []

    def late(effort):
        tried.append(effort.name)
        return witness(effort, 3 if effort.name == "deep" else 1)

    assert examine(replace(good(), mutants=mutant(late)), DEEP, "key").mutants[0].killed
    assert tried == ["quick", "deep"]
    assert not examine(replace(good(), mutants=mutant(late)), QUICK, "key").mutants[0].killed


def test_no_mutant_dies_where_the_claim_itself_has_no_finding():
    broken = replace(good(), check=unchecked, mutants=mutant(counterexample))
    assert not examine(broken, QUICK, "key").mutants[0].killed


def test_outcomes_are_written_whole_and_read_back_while_current(tmp_path):
    outcome = examine(good(), QUICK, "key")
    file = record.write(tmp_path / "deep" / "er", outcome)
    assert json.loads(file.read_text("utf-8"))["id"] == "pffl/a"
    assert [f.name for f in file.parent.iterdir()] == ["pffl.a.json"]
    assert record.read(file.parent, "pffl/a") == outcome
    assert record.current(file.parent, "pffl/a", "key") == outcome
    assert record.current(file.parent, "pffl/a", "other") is None
    assert record.read(file.parent, "pffl/b") is None
    file.write_text("{", "utf-8")
    with pytest.raises(record.Altered, match=r"pffl.a.json was altered since it was written"):
        record.read(file.parent, "pffl/a")
    assert record.current(file.parent, "pffl/a", "key") is None
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_an_edited_outcome_is_altered_whoever_computes_the_digest(tmp_path):
    outcome = examine(good(), QUICK, "key")
    file = record.write(tmp_path, outcome)
    text = file.read_text("utf-8")
    for old, new in (
        ("holds", "refuted"),
        ("certified", "symbolic"),
        ("1 squared", "2 squared"),
        ('"x": 1', '"x": 2'),
    ):
        file.write_text(text.replace(old, new, 1), "utf-8")
        assert record.is_altered(tmp_path, "pffl/a"), old
    forged = (
        {"finding": "refuted"},
        {"level": "symbolic"},
        {"summaries": ["witness: 2 squared"]},
        {"id": "pffl/b"},
    )
    for change in forged:
        file.write_text(sealed(outcome.to_json() | change), "utf-8")
        assert record.is_altered(tmp_path, "pffl/a"), change
    lie = json.loads(json.dumps(outcome.to_json()).replace('"x": 1', '"x": 3'))
    file.write_text(sealed(lie), "utf-8")
    with pytest.raises(Rejected):  # what no digest tells, the certificate does
        record.read(tmp_path, "pffl/a").verify()
    file.write_text(text, "utf-8")
    assert not record.is_altered(tmp_path, "pffl/a")


def test_an_outcome_found_again_is_written_in_the_same_bytes(tmp_path):
    files = [record.write(tmp_path / str(k), examine(good(), QUICK, "key")) for k in range(2)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_key_follows_imports_within_fairfl():
    reached = sources.reached("fairfl.claims.pffl.relative")
    assert {
        "fairfl.claims.case",
        "fairfl.theory.aggregation.rank_weighted",
        "fairfl.theory.aggregation._ranks",
    } <= reached
    assert "fairfl.claims.pffl.eq_8" not in reached and "fairfl.cli.main" not in reached


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("import os\n", "must import modules of fairfl"),
        ("import fairfl.no_such_module\n", "fairfl.no_such_module"),
    ],
)
def test_a_module_whose_imports_are_not_found_is_an_error(text, part, tmp_path, monkeypatch):
    (tmp_path / "lonely.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sources.imported.cache_clear()
    sources.source.cache_clear()
    with pytest.raises(ValueError, match=part):
        sources.key("lonely")
    with pytest.raises(ValueError, match="source"):
        sources.key("fairfl.claims.no_such_module")


def test_the_key_sees_names_in_brackets_plain_imports_and_imports_within_blocks(
    tmp_path, monkeypatch
):
    text = (
        "from fairfl.theory.populations import (\n    laws,\n    notions as other,\n)\n"
        "import fairfl.theory.populations.eta\n"
        "def f():\n    try:\n        from fairfl.theory.bounds import steps  # late\n"
        "    finally:\n        from os import path\n"
        "TEXT = 'import fairfl.solvers'\n"
    )
    (tmp_path / "probe.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    expected = {f"fairfl.theory.{name}" for name in ("populations", "bounds", "bounds.steps")}
    expected |= {f"fairfl.theory.populations.{name}" for name in ("laws", "notions", "eta")}
    assert set(sources.imported("probe")) == expected


def test_another_source_is_another_key(tmp_path, monkeypatch):
    keys = []
    for k, text in enumerate(["x = 1\n", "x = 2\n"]):
        (tmp_path / f"probe{k}.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    keys = [sources.digest("probe0"), sources.digest("probe1")]
    assert len(set(keys)) == 2


def test_a_mutant_that_only_the_second_look_sees_survives():
    def check(effort, x=1):
        return Evidence.of(
            Witness.at(Call.of(below), "1 squared", x=1),
            extra=(Witness.at(Call.of(below), f"{x} squared", x=x),),
        )

    unseen = replace(good(), check=check, mutants=mutant(lambda effort: check(effort, 3)))
    assert len(examine(unseen, QUICK, "key").survivors) == 1
    false = replace(unseen, check=lambda effort: check(effort, 3))
    assert examine(false, QUICK, "key").fault.startswith("rejected: not certain")


def test_a_deep_outcome_serves_a_quick_check_and_not_the_other_way_round(tmp_path, monkeypatch):
    from fairfl.claims import runner

    entry = replace(next(iter(runner.registered().values())), claim=good())
    monkeypatch.setattr(runner, "registered", lambda: {"pffl/a": entry})
    for first, second, kept in (("deep", "quick", "deep"), ("quick", "deep", "deep")):
        folder = tmp_path / first
        runner.examine_id("pffl/a", first, folder)
        assert runner.examine_id("pffl/a", second, folder).effort == kept
