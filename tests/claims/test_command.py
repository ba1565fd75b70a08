"""fairfl claims: list, show, check; exit codes, JSON, bad values, Ctrl-C, going on."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from planted_claims import unchecked

from fairfl.claims import dependencies, instances, record, registry

SMALL = "pffl/table-1-variance"
STALE = "not checked since its source or record changed"
CHECK = registry.registered()[SMALL].claim.check


@pytest.fixture
def cli(cli):
    return lambda *words: cli("claims", *words)


@pytest.fixture
def listed(cli):
    """What the list says of SMALL."""

    def only():
        (claim,) = json.loads(cli("list", SMALL, "--json").stdout)
        return claim

    return only


@pytest.fixture
def own_record(monkeypatch, tmp_path):
    """A record of the test's own, empty."""
    monkeypatch.setattr(record, "COMMITTED", tmp_path / "record.json")
    return record.COMMITTED


@pytest.fixture
def rows(own_record):
    """The rows of that record."""
    return lambda: record.Record(own_record).rows


@pytest.fixture
def changed(monkeypatch):
    """Changes a registered claim for one test."""

    def change(id, **fields):
        claims = dict(registry.registered())
        claims[id] = replace(claims[id], claim=replace(claims[id].claim, **fields))
        users = (sys.modules[f"fairfl.{name}"] for name in ("claims.runner", "reports.claims.text"))
        for module in (registry, *users):
            monkeypatch.setattr(module, "registered", lambda *_: claims)
        rows = {name: row for name, row in instances.rows().items() if name != id}  # its words too
        monkeypatch.setattr(instances, "rows", lambda: rows)

    return change


def test_check_records_and_list_reads(cli, rows, listed):
    nothing = {"verdict": None, "level": None, "status": "not checked"}
    assert nothing.items() <= listed().items()
    done = cli("check", SMALL, "--record")
    assert done.exit_code == 0 and "claims checked: 1, failed: 0" in done.stdout
    assert list(rows()) == [SMALL]
    finding = {"verdict": "refuted", "level": "certified", "whose": "printed"}
    assert {"id", "scope", "statement", "severity"} <= listed().keys()
    assert finding.items() <= listed().items()
    line = cli("list", "--verdict", "refuted", "--level", "certified").stdout.splitlines()[1]
    assert line.split()[:3] == [SMALL, "refuted", "certified"]
    assert len(cli("list", "--level", "symbolic").stdout.splitlines()) == 1


def test_the_list_begins_with_theorems_and_their_errors(cli, monkeypatch):
    chosen = ("--severity", "theorem", "--whose", "printed")
    severe = [c["id"] for c in json.loads(cli("list", *chosen, "--json").stdout)]
    assert 10 < len(severe) < 40  # a screen
    claims = json.loads(cli("list", "--json").stdout)
    ids = [c["id"] for c in claims]
    assert sorted(severe, key=ids.index) == severe == list(filter(set(severe).__contains__, ids))
    named = [c["number"].startswith(("Theorem", "Lemma", "Prop", "Corollary")) for c in claims]
    assert named == sorted(named, reverse=True) and sum(named) > 50
    repaired = [k for k, id in enumerate(ids) if id.endswith("/repaired")]
    assert all(ids[k] == f"{ids[k - 1]}/repaired" for k in repaired)
    monkeypatch.setattr("fairfl.reports.terminal.width", lambda: 80)  # a terminal
    lines = cli("list", *chosen).stdout.splitlines()
    assert len(lines) == 1 + len(severe) and max(map(len, lines)) <= 80
    first = [line.split()[0] for line in cli("list").stdout.splitlines()[1:31]]
    assert first == [id for id in ids if not id.endswith("/repaired")][:30]  # a screen
    both = cli("list", "--severity", "theorem,step", "--severity", "misprint", "--json").stdout
    assert {c["severity"] for c in json.loads(both)} == {"theorem", "step", "misprint"}


def edited(file):
    file.write_text(file.read_text("utf-8").replace('"refuted"', '"holds"', 1), "utf-8")


def of_other_sources(file):
    store = record.Record(file)
    store.write(SMALL, "of other definitions", store.rows[SMALL])


@pytest.mark.parametrize("change", [edited, of_other_sources])
def test_a_record_of_something_else_is_told_and_not_believed(cli, own_record, listed, change):
    cli("check", SMALL, "--record")
    change(own_record)
    assert {"verdict": None, "evidence": [], "status": STALE}.items() <= listed().items()
    shown = cli("show", SMALL).stdout
    assert f"verdict: {STALE}; scope" in shown and "evidence" not in shown
    assert cli("check", SMALL, "--record").exit_code == 0
    assert listed()["verdict"] == "refuted"


def test_forged_evidence_does_not_pass_show(cli, own_record, rows):
    """Who edits a certificate and computes the digest anew is told by the certificate."""
    cli("check", "pffl/eq-8", "--record")
    forged = rows()["pffl/eq-8"]
    forged["evidence"]["parts"][0]["instance"]["z"] = "0"
    definitions = dependencies.key(registry.registered()["pffl/eq-8"].module)
    record.Record(own_record).write("pffl/eq-8", definitions, forged)
    shown = cli("show", "pffl/eq-8")
    assert shown.exit_code == 1 and shown.stdout == ""
    assert "the record of pffl/eq-8 was altered: its certificates do not verify" in shown.stderr


def test_a_record_is_kept_claim_by_claim_and_gone_on_from(cli, rows, monkeypatch):
    """A kill in the second of three claims loses that one alone; the next run finds the others."""
    from fairfl.claims import runner

    examined = []

    def examine(claim, effort):
        if len(examined) == 1 and not killed:
            killed.append(claim.id)
            raise KeyboardInterrupt
        examined.append(claim.id)
        return outcome_of(claim, effort)

    killed = []
    outcome_of = runner.examine
    monkeypatch.setattr(runner, "examine", examine)
    words = ("check", "pffl/eq-8", SMALL, "--record")
    assert cli(*words).exit_code == 130
    before = rows()
    assert len(before) == 1
    assert cli(*words).exit_code == 0
    assert len(examined) == len(set(examined)) == 3 == len(rows())
    assert before.items() <= rows().items()


def test_show_has_all_that_is_known(cli, own_record):
    checked = cli("check", "pffl/eq-8", "--record").stdout
    assert "pffl/eq-8, counterexample of: " in checked and "    z: 2/7" in checked
    text = cli("show", "pffl/eq-8").stdout
    for part in ("holds-repaired, certified", "as printed", "as checked", "erratum"):
        assert part in text
    assert "repaired (pffl/eq-8/repaired)" in text
    assert "    z: 2/7" in text
    data = json.loads(cli("show", "pffl/eq-8", "--json").stdout)
    assert data["verdict"] == "holds-repaired"
    assert data["outcome"]["evidence"]["parts"][0]["instance"] == {"z": "2/7", "n": 3}


def test_show_compiles_no_proof_of_a_current_record(cli, monkeypatch):
    """--replay does."""
    from fairfl.claims.certificates import kernel_proof

    compiled = []
    monkeypatch.setattr(kernel_proof, "kernel", lambda: "Coq")
    monkeypatch.setattr(kernel_proof, "_assumed", lambda *a: set(compiled.append(a) or ()))
    for words, count in (((), 0), (("--replay",), 1)):
        shown = cli("show", "fedfb/lemma-7/repaired", *words)
        assert shown.exit_code == 0 and "proof (lemma_7" in shown.stdout
        assert len(compiled) == count


def test_no_statement_is_cut_where_no_terminal_is(cli):
    (claim,) = json.loads(cli("list", SMALL, "--json").stdout)
    assert cli("list", SMALL).stdout.splitlines()[1].endswith(f"  {claim['statement']}")
    words = [sys.executable, "-m", "fairfl", "claims", "list", "fedfb"]
    shown = subprocess.run(words, capture_output=True, text=True)
    assert "…" not in shown.stdout and max(map(len, shown.stdout.splitlines())) > 90


def test_one_claim_is_shown_without_the_others():
    """Neither are other papers imported, nor other claims' certificates evaluated."""
    code = (
        "import sys; from fairfl.cli.main import app\n"
        "from fairfl.claims.certificates import replay\n"
        "seen, verify = [], replay._Replay.case.func\n"
        "replay._Replay.case.func = lambda self: seen.append(str(self.statement)) or verify(self)\n"
        "app(['claims', 'show', 'pffl/eq-8'], standalone_mode=False)\n"
        "print(seen, {m for m in sys.modules if m.startswith('fairfl.claims.fedfb.')})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    seen, loaded = done.stdout.splitlines()[-1].split("] ")
    assert seen and all(s.startswith("pffl.weights:") for s in seen.strip("[']").split("', '"))
    assert loaded == "set()"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("list", "nosuch"), "claim must be one of"),
        (("check", "pffl/nosuch"), "claim must be one of pffl/"),
        (("show", "pffl"), "claim must be a whole id"),
        (("check", "--jobs", "-1"), "--jobs"),
        (("list", "--level", "certain"), "certified, property, numeric, got 'certain'"),
        (("list", "--severity", "step,grave"), "one of theorem, constant, step, remark, misprint"),
        (("list", "--whose", "mine"), "one of printed, implied, reading, ours, got 'mine'"),
        (("list", "--verdict", ""), "one of holds, holds-repaired, refuted, open, got ''"),
    ],
)
def test_a_bad_value_is_wrong_usage(cli, words, part):
    result = cli(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert part in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"expected": "holds", "severity": None, "erratum": ""}, "is refuted, expected is holds"),
        ({"mutants": {"itself": ("nothing", CHECK)}}, "mutant 'itself' survives"),
        ({"check": unchecked}, "AssertionError: not to be run"),
    ],
)
def test_what_fails_is_told_and_exits_1(cli, rows, changed, fields, part):
    changed(SMALL, **fields)
    result = cli("check", SMALL)
    assert result.exit_code == 1
    assert part in result.stdout and f"FAILED {SMALL}" in result.stdout
    assert result.stderr == ""
    (claim,) = json.loads(cli("check", SMALL, "--json").stdout)
    assert any(part in problem for problem in claim["problems"])
    cli("check", SMALL, "--record")
    # a fault or a live mutant is not put on record
    assert bool(rows()) == ("expected" in fields)


def test_a_run_goes_on_where_it_was(cli, own_record, changed, tmp_path):
    assert cli("check", SMALL, "--out", tmp_path / "run").exit_code == 0
    changed(SMALL, check=unchecked)  # with the same sources, so that what was found stands
    assert cli("check", SMALL, "--out", tmp_path / "run").exit_code == 0
    assert cli("check", SMALL, "--out", tmp_path / "other").exit_code == 1


@pytest.mark.slow
def test_processes_find_the_same_as_one(cli, own_record):
    serial, parallel = (
        json.loads(cli("check", "pffl/eq-8", SMALL, "--json", "--jobs", jobs).stdout)
        for jobs in (1, 2)
    )
    assert serial == parallel and len(serial) == 3


def test_the_list_is_kept_until_a_source_or_the_record_changes(cli, own_record, monkeypatch):
    """What is kept is what is computed; a second list imports no claim; a new outcome is listed."""
    from fairfl.claims import runner

    first = cli("list", "pffl", "--json").stdout
    computed = [checked.to_json() for checked in runner.recorded() if checked.claim.paper == "pffl"]
    assert json.loads(first) == computed
    with monkeypatch.context() as patch:
        patch.setattr(runner, "recorded", unchecked)
        assert cli("list", "pffl", "--json").stdout == first
    cli("check", SMALL, "--record")
    assert cli("list", "--verdict", "refuted").stdout.splitlines()[1].startswith(SMALL)
