"""Wrong tables, summaries, rules: one line with file, place, value and what is allowed; exit 2."""

import gzip
import json
import shutil
import sys
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest
from text_tables import table
from typer.testing import CliRunner

import fairfl as ff
from fairfl._support.json_file import parsed, sealed, unsealed
from fairfl.cli.main import app

GOOD = "s,y,a,site\n0.5,1,f,n\n0.2,0,m,n\n0.9,1,m,s\n0.1,0,f,s\n"
ROLES = "--score s --label y --group a"
COMMANDS = {
    "frontier": f"frontier FILE {ROLES} --client site",
    "judge": "judge FILE --prediction s --label y --group a --client site",
    "summarize": f"summarize FILE {ROLES} --site n",
    "apply": "apply rule.json FILE --score s --group a",
}
RULE = ff.Classifier([[0.5], [0.25]], [[0, 1], [0, 1]], ["f", "m"]).to_json()
TABLES = table(r"""
all | = | t.csv is empty
all | =s,y,a,site\n | t.csv has no rows below its header
all | 2=0.5,1 | row 2 of t.csv must have 4 cells, as the header has, got 2
all | 3=0.5,1,f,n,9 | row 3 of t.csv must have 4 cells, as the header has, got 5
summarize apply | 0=s,y,a | row 1 of t.csv must have 3 cells, as the header has, got 4
all | 4="0.5,1,f,n | t.csv is not a readable table: unexpected end of data in line 5
all | 1="0.5"x,1,f,n | t.csv is not a readable table: ',' expected after '"' in line 2
all --encoding ascii | 1=0.5,1,f,é | in the encoding ascii, got the byte 0xc3 in line 2
all --encoding utf-9 | | encoding must be one that Python knows, such as utf-8, | got 'utf-9'
all | ,=; | must be a column of t.csv; it has 's;y;a;site' (is the separator ';'? --sep)
all --sep ; | | must be a column of t.csv; it has 's,y,a,site' (is the separator ','? --sep)
all --sep ;; | | sep must be one character | got ';;'
all --decimal , | | neither a quote nor the decimal sign ',', got ','
all --decimal ; | | decimal must be one of '.', ',', got ';'
all --missing keep | | missing must be one of 'error', 'drop', got 'keep'
all | 0=s,y,a,site,s | 's' must be one column, got 2 of that name, of t.csv
all | 0=S,y,a,site | 's' must be a column of t.csv; it has 'S', 'y', 'a', 'site' (did you mean 'S'?)
frontier judge | 0=s,y,a,sites | client 'site' must be a column of t.csv | (did you mean 'sites'?)
all | 0=0.3,1,m,n | must be a column of t.csv; it has '0.3', '1', 'm', 'n'
frontier judge summarize | 0=s,,a,site | label 'y' must be a column of t.csv
frontier judge summarize --label a | | must be different columns, got {
judge --label s | | --label, --group, --client and --prediction must be different columns
judge --label s --score y | | --client and --prediction must be different columns
all | 1=,1,f,n | t.csv must have no missing cell in the columns that are read, got 1 of 4 rows with
    one ('s' in row 1), by | (--missing drop leaves these rows out)
all | 1=0.5,1, ,n | ('a' in row 1), by | missing 1
frontier judge | 1=0.5,1,f, | ('site' in row 1), by 'site' and 'a': missing & f 1
all --missing drop | =s,y,a,site\n,1,f,n\n,0,m,n\n | t.csv must have a row without a missing cell
all | 1=low,1,f,n | column 's' of t.csv must hold finite numbers, got 'low' in row 1
all | 3="0,5",1,f,n | got '0,5' in row 3 (the decimal sign is '.')
all --sep ; --decimal , | ,=; | got '0.5' in row 1 (the decimal sign is ',')
all | 1=1_000,1,f,n | must hold finite numbers, got '1_000' in row 1
all | 1=-inf,1,f,n | must hold finite numbers, got '-inf' in row 1
summarize | 2=1.5,1,f,n | score column 's' must be from 0 to 1, the outermost edges, got 1.5 in
    row 2
judge | 2=1.5,1,f,n | prediction 's' must be from 0 to 1, got 1.5 in row 2
frontier judge summarize | ,0,=,no, | --positive must say which value of label column 'y' of t.csv
    is y = 1: '1' and 'no', got none
frontier judge summarize --positive 2 | | --positive must be one of the values of label column 'y'
    of t.csv, '0' and '1', got '2'
frontier judge summarize | ,0,=,1, | label column 'y' of t.csv must have two values, got '1' alone
frontier judge summarize | 1=0.5,maybe,f,n | must have two values, got '0', '1', 'maybe'
frontier judge | ,f,=,m, | group column 'a' must have at least two values, got ('m',) alone
frontier --compare-score s | | --client and --compare-score must be different columns
frontier --compare-score y | | --client and --compare-score must be different columns
frontier --label y --label s | | --label must be given once, got 3 values
frontier --by-client best | | --by-client must be one of 'cfl', 'lft_fedavg_common', | got 'best'
frontier --categorical --levels 3 | | --levels and --group-pair must not be given together
apply --score y | | --score must have 1 numbers of a person, as the rule (the score), got s, y
apply | 4=0.5,1,x,n | group must be one of 'f', 'm' of the rule, got 'x' in row 4 of t.csv
apply | 0=s,decision,a,site | t.csv must have no column 'decision': it is to be added
""")
"""The commands that must refuse a table, with options; what it has: a text, another row of a
number, or another text wherever one is; and parts of what is told.
"""
BYTES = {
    "latin.csv": (GOOD.replace("n\n", "\xe9\n").encode("cp1252"), "the byte 0xe9 in line 2"),
    "wide.csv": (GOOD.encode("utf-16"), "in the encoding utf-8, got the byte 0xff in line 1"),
    "long.csv": (f"{GOOD}{150_000 * 'x'}".encode(), "larger than field limit (131072) in line 6"),
    "gzip.csv": (
        gzip.compress(GOOD.encode()),
        "gzip.csv is not a readable table: it is compressed",
    ),
    "workbook.csv": (
        b"PK\x03\x04\xff\xfe",
        "workbook.csv is not a readable table: it is compressed",
    ),
    "none.csv": (None, "no such file: 'none.csv'"),
    "folder.csv": ("folder", "path must be a file, got the folder 'folder.csv'"),
    "plain.csv.gz": (GOOD.encode(), "plain.csv.gz is not a readable table: Not a gzipped file"),
    "cut.csv.gz": (gzip.compress(GOOD.encode())[:-9], "cut.csv.gz is not a readable table: "),
    "text.parquet": (GOOD.encode(), "text.parquet is not a readable table: "),
    "empty.pq": (b"", "empty.pq is not a readable table: "),
    "extra.parquet": ("extra", "the extra 'data' is not installed: pip install"),
}


def changed(change):
    """The good table with that change."""
    old, _, new = change.partition("=")
    if old.isdigit():
        lines = GOOD.splitlines()
        lines[int(old)] = new
        return "\n".join(lines) + "\n"
    return GOOD.replace(old, new) if old else new if change else GOOD


@pytest.mark.parametrize("row", TABLES, ids=lambda row: f"{row[0]} {row[1]}")
def test_a_malformed_table_is_one_line(refused, row):
    words, change, *messages = row
    commands, dashes, options = words.partition("--")
    Path("rule.json").write_text(RULE)
    Path("t.csv").write_text(changed(change), "utf-8")
    for command in COMMANDS if commands.strip() == "all" else commands.split():
        line = f"{COMMANDS[command].replace('FILE', 't.csv')} {dashes}{options}"
        if f"{dashes}{options}".count("--label") == 1:  # in place of the usual one
            line = line.replace(" --label y", "", 1)
        refused(line.split(), *messages)


@pytest.mark.parametrize("name", BYTES)
def test_a_file_that_is_no_table_is_one_line(refused, monkeypatch, name):
    content, message = BYTES[name]
    Path("rule.json").write_text(RULE)
    if content == "folder":
        Path(name).mkdir()
    elif content == "extra":
        Path(name).write_bytes(b"PAR1")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    elif content is not None:
        Path(name).write_bytes(content)
    for command in COMMANDS.values():
        refused(command.replace("FILE", name).split(), message)


ALTERED = "it was altered after it was written: its sha256 differs"
SUMMARIES = table(r"""
format="fairfl rule 2" | format must be 'fairfl-summary'
version=99 | version must be | got 99
site="x" unsealed | ALTERED
sha256="0" unsealed | ALTERED
counts/0/0/0=3 unsealed | ALTERED
counts/0/0/0=3 | people must be the sum of counts, got 4
counts/0/0/0=-1 | counts must be whole numbers of 0 or more, or null, got -1 in counts[0, 0, 0]
counts/0/1/2=1.5 | got 1.5 in counts[0, 1, 2]
counts/0/0/0="x" | could not convert string to float: 'x'
counts/0/0/0=null | must be
counts/0/0=[1] | inhomogeneous shape
counts/0= | counts must have shape (2, 2, 5), got (1, 2, 5)
totals/people=5 | people must be the sum of counts, got 5
totals/groups={"f": 1, "m": 3} | totals must be {'people': 4, 'groups': {'f': 2, 'm': 2}
totals= | it has no 'totals'
edges= | it has no 'edges'
edges/1=0.9 | edges must be three or more increasing finite numbers
labels/0= | counts must have shape (2, 1, 5)
rows=[] | rows must be left out, got []
site=null | site must be a str, got NoneType
groups=null | groups must be a list of texts, got None
groups/0=3 | groups must be a list of texts, got [3, 'm']
edges=true | edges must be a list of numbers, got True
labels="01" | labels must be a list of texts, got '01'
totals=5 | totals must be a dict, got int
min_cell=1e30 | min_cell must be a whole number of at least 0, got 1e+30
min_cell=1000000000000000000000000000000 | min_cell must be a whole number of at most 2147483648
epsilon=1e30 | epsilon must be in [0, 2.14748e+09], got 1e+30
""")
"""What is changed in a summary, by somebody who computes the digest, too, unless it is unsealed;
and what is told.
"""
TOGETHER = table("""
north.json north.json | sites must have different names, got 'north' twice
north.json edges.json | sites must have the same edges: 'north' has 0, 0.2, 0.
north.json labels.json | sites must have the same labels: 'north' has 0, 1, 'labels' has False, True
north.json codes.json | sites must name groups alike: 'north' has f, m, 'codes' has 1, 2
north.json t.csv | several files must be summaries of sites (.json), got north.json, t.csv
folder.json | path must be a file, got the folder 'folder.json'
group.json | summaries must hold two groups or more, got m alone
north.json --score s | --score goes with a table of people, got summaries of sites
north.json --compare-score s | --compare-score goes with a table of people, got summaries
north.json --sep ; | --sep goes with a table of people, got summaries of sites
""")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Summaries of the good table, and of others."""
    folder = tmp_path_factory.mktemp("written")
    tables = {"north": GOOD, "edges": GOOD}
    tables |= {"labels": GOOD.replace(",1,", ",True,").replace(",0,", ",False,")}
    tables |= {"codes": GOOD.replace(",f,", ",1,").replace(",m,", ",2,")}
    tables |= {"group": GOOD.replace(",f,", ",m,")}
    for name, text in tables.items():
        (folder / "t.csv").write_text(text)
        levels = "4" if name == "edges" else "5"
        words = ("summarize", f"{folder}/t.csv", *ROLES.split(), "--site", name)
        words = (*words, "--levels", levels, "--out", f"{folder}/{name}.json")
        assert CliRunner().invoke(app, words).exit_code == 0
    (folder / "folder.json").mkdir()
    return folder


@pytest.fixture
def summaries(written, tmp_path):
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)


NO_SUMMARY = "north.json is no summary as fairfl summarize writes it: "


@pytest.mark.parametrize("row", SUMMARIES, ids=lambda row: row[0])
def test_an_altered_summary_is_refused_with_what_is_wrong(summaries, refused, row):
    change, *words = row
    data = json.loads(Path("north.json").read_text())
    changed_at(data, change.removesuffix(" unsealed"))
    if not change.endswith("unsealed"):
        data = parsed(sealed({key: value for key, value in data.items() if key != "sha256"}))
    Path("north.json").write_text(json.dumps(data))
    refused(
        ["frontier", "north.json"], NO_SUMMARY, *(ALTERED if t == "ALTERED" else t for t in words)
    )


@pytest.mark.parametrize("row", TOGETHER, ids=lambda row: row[0])
def test_summaries_that_do_not_go_together(summaries, refused, row):
    words, message = row
    refused(["frontier", *words.split()], message)


FIELDS = unsealed(parsed(RULE))
OLD = json.dumps(FIELDS | {"format": "fairfl rule 1"})
RULES = {
    "other": ("{}", "rule.json: a rule must be JSON with format 'fairfl rule 2', got {}"),
    "earlier": (OLD, "rules of earlier versions have no sha256: write them again"),
    "unsealed": (json.dumps(FIELDS), "rule.json: it has no sha256"),
    "altered": (RULE.replace("0.25", "0.5"), "rule.json: it was altered after it was written"),
}
SEALED_RULES = table("""
edges/1/0="x" | edges must be numbers
edges/1=null | edges must be a list of lists, got [[0.5], None]
edges=3 | edges must be a list of lists, got 3
edges= | edges must be a list of lists, got None
values/1=[] | values[1] must have one entry more
values/1/1=1.5 | values must be in [0, 1], got 1.5
values=true | values must be a list of lists, got True
groups=null | groups must be a list of names, got None
groups="fm" | groups must be a list of names, got 'fm'
groups/1="f" | groups must be 2 different names
groups/1=null | groups must be a list of names, got ['f', None]
groups/1=[null] | groups must be a list of names, got ['f', None]
groups/1={} | groups must be a list of names
names="AB" | names must be a list of texts, got 'AB'
names=["A", "A"] | names must be different texts
""")
"""What is changed in a rule, which is sealed again, and what is told."""


def changed_at(data, change):
    """Put the value of "place=value" into nested data; no value: remove what is there."""
    place, _, value = change.partition("=")
    *above, last = [int(key) if key.isdigit() else key for key in place.split("/")]
    part = reduce(getitem, above, data)
    if value:
        part[last] = json.loads(value)
    else:
        del part[last]
    return data


@pytest.mark.parametrize("name", RULES)
def test_a_wrong_rule_is_one_line(refused, name):
    text, message = RULES[name]
    Path("rule.json").write_text(text)
    Path("t.csv").write_text(GOOD)
    refused(COMMANDS["apply"].replace("FILE", "t.csv").split(), message)


@pytest.mark.parametrize("row", SEALED_RULES, ids=lambda row: row[0])
def test_a_wrong_rule_that_is_sealed_is_one_line(refused, row):
    change, message = row
    Path("rule.json").write_text(sealed(changed_at(unsealed(parsed(RULE)), change)))
    Path("t.csv").write_text(GOOD)
    refused(COMMANDS["apply"].replace("FILE", "t.csv").split(), "rule.json: ", message)
