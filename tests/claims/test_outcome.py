"""Outcomes: faults are no rejections, mutants die by the right cause, old files are not read."""

import inspect
import json
import sys
from dataclasses import replace

import pytest
from planted_claims import below, claim, unchecked

from fairfl.claims import dependencies, record, runner
from fairfl.claims.call import Call
from fairfl.claims.certificates import Counterexample, Witness
from fairfl.claims.certificates.base import Rejected
from fairfl.claims.effort import DEEP, QUICK
from fairfl.claims.evidence import Evidence
from fairfl.claims.ids import paper_of
from fairfl.claims.outcome import Outcome, examine
from fairfl.claims.registry import registered

NAMED = {"sign": "x >= 0"}


def witness(effort, x=1):
    return Evidence.of(Witness.at(Call.of(below), f"{x} squared", x=x))


def counterexample(effort, x=3):
    return Evidence.of(Counterexample.at(Call.of(below), f"{x} squared", x=x))


def mutant(check):
    return {"m": ("changed", check)}


def good():
    return replace(
        claim("a"),
        check=witness,
        whose="ours",
        hypotheses=NAMED,
        mutants=mutant(lambda effort: witness(effort, 3)),
    )


def test_accepted_evidence_has_a_finding_a_level_and_a_dead_mutant():
    outcome = examine(good(), QUICK)
    assert outcome.passed and (outcome.finding, outcome.level) == ("holds", "certified")
    assert outcome.summaries == ("witness: 1 squared",)
    assert outcome.mutants[0].reason.startswith("rejected: not certain: square: 9 <= 4")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"check": lambda effort: witness(effort, 3)}, "rejected: not certain"),
        ({"check": lambda effort: witness(effort, -1)}, "the instance breaks the premises sign"),
        ({"check": unchecked}, "AssertionError: not to be run"),
        ({"hypotheses": {}}, "premises and hypotheses of pffl/a differ: sign"),
    ],
)
def test_a_fault_leaves_no_finding(change, fault):
    outcome = examine(replace(good(), **change), QUICK)
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
    outcome = examine(replace(good(), mutants=mutant(check)), QUICK)
    assert outcome.mutants[0].killed is killed
    assert len(outcome.survivors) == (not killed)


def test_a_mutant_that_survives_the_quick_effort_is_tried_at_the_deep_one():
    tried = []

    def late(effort):
        tried.append(effort.name)
        return witness(effort, 3 if effort.name == "deep" else 1)

    assert examine(replace(good(), mutants=mutant(late)), DEEP).mutants[0].killed
    assert tried == ["quick", "deep"]
    assert not examine(replace(good(), mutants=mutant(late)), QUICK).mutants[0].killed


def test_no_mutant_dies_where_the_claim_itself_has_no_finding():
    broken = replace(good(), check=unchecked, mutants=mutant(counterexample))
    assert not examine(broken, QUICK).mutants[0].killed


def recorded(outcome, file):
    record.Record(file).write(outcome.id, "definitions", outcome.to_json())
    return record.Record(file)


def test_outcomes_are_written_whole_and_read_back_while_current(tmp_path):
    outcome = examine(good(), QUICK)
    file = tmp_path / "deep" / "er" / "record.json"
    written = recorded(outcome, file)
    assert [f.name for f in file.parent.iterdir()] == [file.name]
    row = written.current("pffl/a", "definitions")
    assert Outcome.from_json("pffl/a", row) == replace(outcome, seconds=0.0)
    assert written.current("pffl/a", "others") is written.current("pffl/b", "definitions") is None
    before = file.read_bytes()
    recorded(examine(good(), QUICK), file)
    assert file.read_bytes() == before
    file.write_text("{", "utf-8")
    with pytest.raises(ValueError, match=r"record.json is no record of claims: it is not JSON"):
        record.Record(file)


def test_a_row_does_not_undo_what_another_process_wrote_meanwhile(tmp_path):
    first, second = (record.Record(tmp_path / "record.json") for _ in range(2))
    for file, id in ((first, "pffl/b"), (second, "pffl/a")):
        file.write(id, "definitions", {"finding": "holds"})
    assert list(record.Record(first.file).rows) == ["pffl/a", "pffl/b"]


@pytest.mark.parametrize(
    "forged",
    [{"finding": "refuted"}, {"level": "symbolic"}, {"evidence": witness(QUICK, 3).to_json()}],
)
def test_certificates_tell_a_forgery_that_no_digest_does(forged):
    row = json.loads(json.dumps(examine(good(), QUICK).to_json() | forged))
    with pytest.raises(Rejected):
        Outcome.from_json("pffl/a", row).verify()


PROBE = """
from fairfl.lower import used as f
def check():
    from fairfl.inner import late
    return f(1), late.value, "kept.json"
"""
LOWER = """'Text.'
from math import floor
from fairfl.inner.late import beside
LIMIT = 4
TABLE = {}
TABLE['a'] = 1
class Base:
    size: int = 1
    'Says.'
class Used(Base):
    pass
def used(x):
    'Says.'
    return Used(), floor(x) < LIMIT
def unused():
    return beside()
"""
LATE = """
def value():
    return 5
def beside():
    return 6
"""


@pytest.fixture
def keyed(tmp_path, monkeypatch):
    """The key of a module that uses two others, with one text in one of the files replaced."""
    files = {"probe.py": PROBE, "lower.py": LOWER, "inner/late.py": LATE, "data/kept.json": "1"}
    files |= {"inner/__init__.py": ""}

    def source(name):
        path = tmp_path / name.removeprefix("fairfl.").replace(".", "/")
        candidates = [path.with_suffix(".py"), path / "__init__.py"]
        return next((file for file in candidates if file.is_file()), None)

    def key(name="probe.py", old="", new=""):
        for function in (dependencies.key, dependencies.reached, dependencies._module):
            function.cache_clear()
        assert old in files[name]
        for file, text in files.items():
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(text.replace(old, new) if file == name else text, "utf-8")
        return dependencies.key("fairfl.probe")

    monkeypatch.setattr(dependencies, "source", source)
    monkeypatch.setattr(dependencies, "JUDGE", "fairfl.probe")
    yield key
    for function in (dependencies.key, dependencies.reached, dependencies._module):
        function.cache_clear()


@pytest.mark.parametrize(
    ("stale", "edit"),
    [
        (False, ("lower.py", "LIMIT = 4", "# A comment.\nLIMIT  =  (4)")),
        (False, ("lower.py", "'Text.'", "'Another.'")),
        (False, ("lower.py", "'Says.'", "'Tells.'")),
        (False, ("lower.py", "return beside()", "return 7")),
        (False, ("lower.py", "def unused", "def more():\n    return 1\ndef unused")),
        (False, ("inner/__init__.py", "", "OTHER = 1")),
        (True, ("lower.py", "LIMIT = 4", "LIMIT = 5")),
        (True, ("lower.py", "import floor", "import ceil as floor")),
        (True, ("lower.py", "< LIMIT", "<= LIMIT")),
        (True, ("lower.py", "['a'] = 1", "['a'] = 2")),
        (True, ("lower.py", "size: int = 1", "size: int = 2")),
        (True, ("lower.py", "used(x)", "used(x=2)")),
        (True, ("inner/late.py", "5", "7")),
        (True, ("probe.py", "f(1)", "f(2)")),
        (True, ("data/kept.json", "1", "2")),
    ],
)
def test_a_claim_is_stale_where_what_it_uses_changes_and_nowhere_else(stale, edit, keyed):
    assert (keyed() != keyed(*edit)) == stale


@pytest.mark.parametrize("id", ["dynamic/ngd-flow", "pffl/convexity"])
def test_all_that_a_check_runs_is_in_its_key(id):
    ran = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # no class's body
            ran.add((frame.f_globals["__name__"], frame.f_code.co_qualname.partition(".")[0]))

    entry = registered(paper_of(id))[id]
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        entry.claim.check(QUICK)
    finally:
        sys.setprofile(before)
    ours = {use for use in ran if use[0].startswith("fairfl.") and use[1].isidentifier()}
    generated = {use for use in ours if use[1] == "__create_fn__"}  # by dataclass
    used = {use for use in ours - generated if use[0] not in dependencies.DISCOVERY}
    assert len(ours) > 5 and used <= dependencies.reached(entry.module)


def test_a_module_that_is_not_found_is_an_error(keyed):
    with pytest.raises(ValueError, match="must have a source file, got fairfl.none"):
        keyed("probe.py", "fairfl.lower", "fairfl.none")


def test_a_deep_outcome_serves_a_quick_check_and_not_the_other_way_round(tmp_path):
    entry = replace(next(iter(registered().values())), claim=good())
    for effort, serves in ((DEEP, ["quick", "deep"]), (QUICK, ["quick"])):
        store = record.Record(tmp_path / effort.name)
        runner.put_on_record(store, entry, examine(good(), effort))
        assert [e for e in ("quick", "deep") if runner.on_record(store, entry, e)] == serves
