"""Lemmas of one's own: what holds, what is refuted by how small an instance, mutants, refusals."""

import json
import re

import pytest
from hypothesis import strategies as st

import fairfl as ff
from fairfl._support import own_parts
from fairfl.claims import dependencies, listing

FLOATS = st.lists(st.floats(0.1, 9), min_size=1)
FILE = '''
from hypothesis import strategies as st
import fairfl as ff

@ff.lemma("own/mean", st.lists(st.floats(0.1, 9), min_size=1), mutants={"1 %": {"factor": 1.01}})
def mean_above_minimum(u, factor=1):
    """The mean is at least the minimum."""
    return sum(u) / len(u) - factor * min(u)

@ff.lemma("own/false", st.integers(0, 99), mutants={"more": {"least": 20}})
def below(n, least=9):
    """No number is above nine."""
    return n <= least

@ff.lemma("own/weak", st.integers(0, 9), mutants={"the same": {"least": 10}})
def weak(n, least=9):
    """Says less than it could."""
    return n <= least

@ff.lemma("own/raises", st.integers(0, 9), mutants={"more": {"least": 20}})
def raises(n, least=9):
    """Cannot be evaluated."""
    return n / 0 <= least
'''


def mean(u, factor=1.0):
    return sum(u) / len(u) - factor * min(u)


def test_what_holds_and_what_does_not():
    good = ff.check_lemma(mean, FLOATS, mutants={"1 %": {"factor": 1.01}}, examples=200)
    assert good and good.level == "property" and good.examples == 200 and good.discarded == 0
    assert good.refuted == {"1 %": [1.0]} and "mutant '1 %' is refuted at [1.0]" in str(good)
    bad = ff.check_lemma(lambda n: n < 50, st.integers(0, 99), examples=100)
    assert not bad and bad.level is None and bad.counterexample == 50  # made small
    assert str(bad) == "refuted: <lambda> At 50."


def test_a_mutant_that_lives_is_a_failure():
    outcome = ff.check_lemma(mean, FLOATS, examples=50, mutants={"nothing": {"factor": 0.9}})
    assert not outcome and outcome.survivors == ("nothing",) and "SURVIVES" in str(outcome)


def test_hypotheses_are_premises():
    pairs = st.fixed_dictionaries({"x": st.integers(-9, 9), "y": st.integers(-9, 9)})
    ordered = {"x <= y": lambda at: at["x"] <= at["y"]}
    outcome = ff.check_lemma(lambda x, y: y - x, pairs, examples=50, where=ordered)
    assert outcome and outcome.margin == 0 and outcome.discarded > 0


@pytest.mark.usefixtures("own_parts_forgotten")
def test_the_command_line(cli, tmp_path):
    file = tmp_path / "planted_lemmas.py"
    file.write_text(FILE)
    good = cli("claims", "check", "own/mean", "--import", file, "--json")
    (claim,) = json.loads(good.stdout)
    assert good.exit_code == 0 and claim["verdict"] == "holds" and claim["level"] == "property"
    bad = cli("claims", "check", "own", "--import", file)
    assert bad.exit_code == 1 and "claims checked: 4, failed: 3" in bad.stdout
    where = FILE[: FILE.index("n / 0")].count("\n") + 1
    why = f"planted_lemmas.py, line {where}: ZeroDivisionError('division by zero')"
    assert f"FAILED own/raises\n    {why}\n" in bad.stdout and "Traceback" not in bad.stdout
    assert "mutant 'the same' survives" in bad.stdout and "rejected: violated" in bad.stdout
    assert re.findall(r"\n    at: instance = (.*)", bad.stdout)[0] == "10"  # made small
    refusals = {"own/mean --record": "must be of claims of", "own/none": "must be one of own/false"}
    for arguments, message in refusals.items():
        wrong = cli("claims", "check", *arguments.split(), "--import", file)
        assert wrong.exit_code == 2 and message in wrong.stderr and "Traceback" not in wrong.stderr


@pytest.mark.usefixtures("own_parts_forgotten")
def test_a_module_that_a_file_imports_counts(tmp_path, monkeypatch):
    """For the outcomes that a check goes on from, and for the list that is kept."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "planted_lemmas.py").write_text(f"import planted_constants\n{FILE}")
    keys, lists = [], [listing._key()]
    for text in ("K = 1", "K = 2"):
        (tmp_path / "planted_constants.py").write_text(text)
        own_parts.DIGESTS.clear()  # as in another process
        own_parts.import_parts([str(tmp_path / "planted_lemmas.py")])
        for cached in (dependencies.source, dependencies.key):
            cached.cache_clear()
        keys.append(dependencies.key("planted_lemmas"))
        lists.append(listing._key())
    assert len(set(keys)) == 2 and len(set(lists)) == 3
