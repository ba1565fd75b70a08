"""fairfl.sweep and fairfl sweep: the same table whatever runs it, whatever is killed."""

import errno
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import swept
from bad_input import refused
from text_tables import table

import fairfl as ff
from fairfl._support import own_parts
from fairfl.sweeps import folder
from fairfl.sweeps.config import read_sweep
from fairfl.sweeps.folder import Folder
from fairfl.sweeps.folder import table as joined
from fairfl.sweeps.grid import Grid, columns
from fairfl.sweeps.sweep import LOST

HELPERS = Path(swept.__file__)


@pytest.fixture(autouse=True)
def imports_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(own_parts.VARIABLE, "[]")
    before = dict(own_parts.DIGESTS)
    yield
    own_parts.DIGESTS.clear()
    own_parts.DIGESTS.update(before)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "log").mkdir()
    return tmp_path / "log"


def test_grid_is_every_combination_and_its_draws():
    fixed = {"fed": {"clients": [{"q": 0.5}, {"q": 0.5}], "eta": {}}, "n": 3}
    axes = {"fed.clients.1.q": [0.1, 0.2], "scheme": ["a", "b", "c"], "fed.new.x": [1]}
    draws = {"fed.clients.0.mean": {"normal": [0, 1], "size": 2}, "k": {"integers": [1, 3]}}
    grid = Grid(fixed, axes, draws, count=4, seed=7)
    assert len(grid) == 24 == len(grid[:])
    combinations = [c for c in itertools.product(*axes.values()) for _ in range(4)]
    for unit, (q, scheme, x), number in zip(grid, combinations, range(24), strict=True):
        assert unit["fed"]["clients"][1] == {"q": q} and unit["scheme"] == scheme
        assert unit["fed"]["new"] == {"x": x} and unit["n"] == 3 and 1 <= unit["k"] <= 3
        row = columns(grid, number)
        assert row["fed.clients.0.mean"] == unit["fed"]["clients"][0]["mean"]
        assert row["scheme"] == scheme and "fed.eta" not in row
    means = [tuple(unit["fed"]["clients"][0]["mean"]) for unit in grid]
    assert len(set(means)) == 4 and means[:4] * 6 == means  # combinations share the draws
    longer = Grid(fixed, {"scheme": ["z"]}, draws, count=9, seed=7)
    assert [tuple(unit["fed"]["clients"][0]["mean"]) for unit in longer][:4] == means[:4]
    assert grid[-1] == grid[23] and fixed["fed"]["clients"][1] == {"q": 0.5}
    with pytest.raises(IndexError):
        grid[24]
    laws = {"u": {"uniform": [2, 3]}, "l": {"log_uniform": [1e-3, 1]}, "i": {"integers": [0, 1]}}
    frame = pd.DataFrame(list(Grid(draws=laws, count=400)))
    assert frame["u"].between(2, 3).all() and abs(frame["u"].mean() - 2.5) < 0.1
    assert (
        np.log10(frame["l"]).between(-3, 0).all() and abs(np.log10(frame["l"]).mean() + 1.5) < 0.3
    )
    assert set(frame["i"]) == {0, 1}


test_grids_that_cannot_be = refused(
    r"""
Grid(axes={"a": []}) | a must be a list of values
Grid(axes={"a": "text"}) | a must be a list of values, got 'text'
Grid(axes={"a": [1]}, draws={"a": {"uniform": [0, 1]}}) | values or draws, got values and draws
Grid({"a": 2}, axes={"a": [1]}) | got one value and values for a
Grid({"a": 2}, draws={"a": {"uniform": [0, 1]}}) | got one value and draws for a
Grid(draws={"a": {"cauchy": [0, 1]}}) | a must have one of uniform
Grid(draws={"a": 3}) | a must have one of uniform
Grid(draws={"a": {"uniform": [0, 1], "n": 2}}) | a must have one of uniform
Grid(draws={"a": {"uniform": [0, "x"]}}) | a must be a law to draw from
Grid(draws={"a": {"uniform": [0]}}) | a must be a law to draw from
Grid(draws={"a": {"uniform": [1, 0]}}) | uniform = \[low <= high\], got \[1, 0\]: high - low < 0
Grid(draws={"a": {"uniform": [0, inf]}}) | uniform = \[low <= high\], got \[0, inf\]
Grid(draws={"a": {"log_uniform": [-1, 1]}}) | log_uniform = \[0 < low <= high\], got \[-1, 1\]
Grid(draws={"a": {"log_uniform": [0, 1]}}) | log_uniform = \[0 < low <= high\], got \[0, 1\]
Grid(draws={"a": {"normal": [0, -1]}}) | normal = \[mean, sd >= 0\], got \[0, -1\]: scale < 0
Grid(draws={"a": {"normal": [0, nan]}}) | normal = \[mean, sd >= 0\], got \[0, nan\]
Grid(draws={"a": {"integers": [0, 10**20]}}) | integers = \[low <= high\], got \[0, 1000000000
Grid(draws={"a": {"normal": [0, 1], "size": 10**11}}) | a.size must be a whole number of at most 10
Grid(draws={"a": {"normal": [0, 1], "size": [10**9, 10**9]}}) | a.size must be a whole number of at
Grid(draws={"a": {"normal": [0, 1], "size": "x"}}) | a.size must be a whole number .* got 'x'
Grid(count=10**20) | count must be a whole number of at most 1000000000
Grid(axes={"a": [1] * 100, "b": [1] * 100}, count=10**6) | must have at most 1000000000 units
Grid(fixed={"a": [1]}, axes={"a.3": [1]}) | a.3 must be a place in a list of 1
Grid(fixed={"a": 1}, axes={"a.b": [1]}) | a.b must be a place in a table or list
Grid(count=0) | count must be
""",
    {"Grid": Grid, "inf": float("inf"), "nan": float("nan")},
)


GRID = {"a": list(range(6)), "b": [0.5, 0.25]}


def bytes_of(out: Path) -> bytes:
    return (out / "table.parquet").read_bytes()


def test_every_engine_gives_the_same_bytes(log, tmp_path):
    grid = {"log": [str(log)]} | GRID
    rows = ff.sweep(swept.noted, grid, tmp_path / "one", jobs=2)
    assert rows["sum"].tolist() == [a + b for a, b in itertools.product(*GRID.values())]
    assert rows["error"].isna().all() and rows["unit"].tolist() == list(range(12))
    assert swept.counts(log) == dict.fromkeys(swept.counts(log), 1)
    with ThreadPoolExecutor(3) as threads:
        ff.sweep(swept.noted, grid, tmp_path / "two", engine=threads)
    units = [{"log": str(log), "a": a, "b": b} for a, b in itertools.product(*GRID.values())]
    with ThreadPoolExecutor(1) as thread:
        ff.sweep(swept.noted, units, tmp_path / "three", engine=thread)
        for k in (3, 1, 2):
            part = ff.sweep(swept.noted, grid, tmp_path / f"part{k}", engine=thread, shard=(k, 3))
            assert len(part) == 4 and part["unit"].tolist() == list(range(k - 1, 12, 3))
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two") == bytes_of(tmp_path / "three")
    parts = [Folder(tmp_path / f"part{k}") for k in (2, 3, 1)]
    assert joined(parts, Grid(axes=grid), tmp_path / "joined.parquet") == 0
    assert (tmp_path / "joined.parquet").read_bytes() == bytes_of(tmp_path / "one")
    assert set(swept.counts(log).values()) == {4}


def test_failures_are_rows_and_what_is_there_is_not_run_again(log, tmp_path, caplog):
    grid, out = {"log": [str(log)], "a": [0, 1, 2, 3]}, tmp_path / "out"
    with ThreadPoolExecutor(2) as threads:
        rows = ff.sweep(swept.odd, grid, out, engine=threads)
        assert rows["a"].tolist() == [1, 2, 3, 3, 3]  # no row of nothing
        assert rows["error"].dropna().tolist() == ["ArithmeticError: two is bad"]
        assert rows["value"].dropna().tolist() == [0.5, 0.5, 1.0, 2.0]
        before = bytes_of(out)
        ff.sweep(swept.odd, grid, out, engine=threads)
        assert swept.counts(log) == {"0": 1, "1": 1, "2": 1, "3": 1} and bytes_of(out) == before
        (log / "mended").touch()
        again = ff.sweep(swept.odd, grid, out, engine=threads, retry_failed=True)
        assert swept.counts(log)["2"] == 2 and again["error"].isna().all() and len(again) == 6
        file = Folder(out).file({"log": str(log), "a": 3})
        file.write_text(file.read_text("utf-8").replace("1.5", "1.6"), "utf-8")
        ff.sweep(swept.odd, grid, out, engine=threads)
        assert swept.counts(log) == {"0": 1, "1": 1, "2": 2, "3": 2}
        assert "altered since it was written" in caplog.text
        with pytest.raises(ValueError, match="holds another sweep: its units, grid differ"):
            ff.sweep(swept.odd, grid | {"a": [0]}, out, engine=threads)
        with pytest.raises(ValueError, match="must be an empty folder"):
            ff.sweep(swept.odd, grid, tmp_path, engine=threads)
        for bad, message in (
            (lambda a: a, "a result must be a mapping or a sequence"),
            (lambda a: {"a": 1}, "must not have the name of a parameter, got a"),
            (lambda a: {"x": object()}, "TypeError: object"),
        ):
            rows = ff.sweep(bad, {"a": [1]}, tmp_path / str(id(bad)), engine=threads)
            assert message in rows["error"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"engine": "slurm"}, "engine must be"),
        ({"jobs": -1}, "jobs must be"),
        ({"shard": (3, 2)}, "shard"),
        ({"function": lambda a: {}}, "function must be one of a module"),
        ({"function": 3}, "function must be a function that has a name, got 3"),
        ({"grid": []}, "grid must have at least one unit"),
        ({"grid": [{"a": {1}}]}, "parameters must be plain data"),
    ],
)
def test_bad_arguments(arguments, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        ff.sweep(**{"function": swept.slow, "grid": {"a": [1]}, "out": tmp_path / "o"} | arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_killed_process_costs_its_unit_alone(log, tmp_path):
    rows = ff.sweep(swept.deadly, {"log": [str(log)], "a": list(range(8))}, tmp_path / "o", jobs=2)
    assert rows["error"].dropna().tolist() == [LOST]
    assert rows.set_index("a")["twice"].drop(3).tolist() == [0, 2, 4, 8, 10, 12, 14]
    assert max(swept.counts(log).values()) <= 2  # beside what was lost


CONFIG = """
run = "swept:held"
fixed.log = {log}
grid.a = {{from = 0, to = 29, steps = 30}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.deep)]
)
def test_a_stopped_command_goes_on(stop, log, tmp_path, cli):
    config, out = tmp_path / "c.toml", tmp_path / "out"
    config.write_text(CONFIG.format(log=json.dumps(str(log))), "utf-8")
    words = ["sweep", str(config), "--out", str(out), "--import", str(HELPERS), "--jobs", "1"]
    command = [sys.executable, "-m", "fairfl", *words]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(out.glob("units/*/*.json")):
        assert time.monotonic() < deadline and started.poll() is None
        time.sleep(0.02)
    os.killpg(started.pid, stop) if stop == signal.SIGINT else os.kill(started.pid, stop)
    assert "Traceback" not in started.communicate(timeout=60)[1]
    assert started.returncode not in (0, None)
    there = {file: file.stat().st_mtime_ns for file in out.glob("units/*/*.json")}
    assert 1 <= len(there) <= 10
    outcome = cli("sweep", "status", config, out, "--import", HELPERS, "--json")
    assert json.loads(outcome.stdout)["missing"] == 30 - len(there)
    refused = cli("sweep", "table", config, out, "--out", out / "t.parquet", "--import", HELPERS)
    assert refused.exit_code == 1 and "units are missing" in refused.stderr
    (log / "go").touch()
    done = cli(*words)
    assert done.exit_code == 0 and "30 units: 30 done, 0 failed, 0 missing" in done.stdout
    assert all(file.stat().st_mtime_ns == when for file, when in there.items())  # not run again
    assert pd.read_parquet(out / "table.parquet")["twice"].tolist() == [*range(0, 60, 2)]


def test_a_full_disk_is_told_and_the_sweep_goes_on(log, tmp_path, monkeypatch):
    grid, out = {"log": [str(log)]} | GRID, tmp_path / "out"
    whole, left = folder.write_whole, iter(range(5))

    def full(file, content):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device", str(file))
        return whole(file, content)

    with ThreadPoolExecutor(1) as thread:
        with monkeypatch.context() as patch:
            patch.setattr(folder, "write_whole", full)
            with pytest.raises(OSError, match="No space left on device"):
                ff.sweep(swept.noted, grid, out, engine=thread)
        assert len(list(out.glob("units/*/*.json"))) == 4  # beside sweep.json
        ff.sweep(swept.noted, grid, out, engine=thread)
        ff.sweep(swept.noted, grid, tmp_path / "whole", engine=thread)
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


def test_a_file_that_the_settings_name_counts_by_its_content(log, tmp_path, monkeypatch):
    """A unit is run again where a file has changed that it, or a TOML file there, names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text('data.file = "people.csv"\nself = "run.toml"', "utf-8")
    (tmp_path / "other.csv").write_text("other", "utf-8")
    grid = {"log": [str(log)], "file": ["run.toml", "other.csv"], "b": [1.0]}
    with ThreadPoolExecutor(1) as thread:
        for k, text in enumerate(("first", "second", "second", "first")):
            (tmp_path / "people.csv").write_text(text, "utf-8")
            rows = ff.sweep(swept.sized, grid, tmp_path / "out", engine=thread)
            assert swept.counts(log) == {"run.toml": min(k + 1, 2), "other.csv": 1}
            assert rows["size"][0] == len(text) and not rows["error"].any()


def test_a_function_of_no_file_is_refused_before_any_process_starts(tmp_path):
    """A notebook's cell, as each process would otherwise look for it and end."""
    code = (
        "import fairfl as ff\ndef cell(a):\n    return {'b': a}\n"
        f"ff.sweep(cell, {{'a': [1]}}, {str(tmp_path / 'o')!r}, jobs=1)"
    )
    for command in ((sys.executable, "-c", code), (sys.executable, "-")):
        process = subprocess.run(command, capture_output=True, text=True, input=code, check=False)
        assert "ValueError: function must be one of a module" in process.stderr
        assert "got cell: it is of no file, as those of a notebook's cell" in process.stderr
    assert not (tmp_path / "o").exists()


def test_all_units_failed_is_exit_code_1_and_changed_code_is_another_sweep(
    tmp_path, cli, monkeypatch, own_parts_forgotten
):
    """Some that fail are rows. The code is the function's file and what it imports."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "planted_inner.py").write_text("K = 0", "utf-8")
    (tmp_path / "planted_outer.py").write_text(
        "def f(a):\n    from planted_inner import K\n    return {'x': a / K if a else 0}", "utf-8"
    )
    config, module = tmp_path / "c.toml", tmp_path / "planted_outer.py"
    for values, code in (("[1, 2]", 1), ("[0, 1]", 0)):
        config.write_text(f'run = "planted_outer:f"\ngrid.a = {values}', "utf-8")
        words = (config, "--out", tmp_path / values, "--import", module, "--jobs", 1)
        done = cli("sweep", *words)
        assert done.exit_code == code and "1 × ZeroDivisionError" in done.stdout.replace("2", "1")
        assert f"written: {tmp_path / values / 'table.parquet'}" in done.stdout
    own_parts.DIGESTS.clear()  # as in another process
    (tmp_path / "planted_inner.py").write_text("K = 1", "utf-8")
    changed = cli("sweep", *words)
    assert changed.exit_code == 2 and "holds another sweep: its code differ" in changed.stderr


FEDERATION = "federation.clients = [{mean = [3, 5]}, {mean = [1, -1]}]\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f'run = "solve"\n[fixed]\neps = 0.1\n{FEDERATION}[grid]\nscheme = ["cfl", "x"]', 2),
        (
            f'run = "frontier"\n[fixed]\npoints = 5\nscheme = "cfl"\n{FEDERATION}'
            "[draw]\ncount = 2\nfederation.clients.1.q = {uniform = [0.2, 0.8]}",
            10,
        ),
        (f'run = "min_disparity"\n[fixed]\nscheme = "lft_ensemble"\n{FEDERATION}', 1),
        ('run = "claim"\n[grid]\nclaim = ["fedfb/lemma-1"]', 1),
    ],
)
def test_own_questions(text, rows, tmp_path):
    (tmp_path / "c.toml").write_text(text, "utf-8")
    with ThreadPoolExecutor(1) as thread:
        answer = ff.sweep(*read_sweep(tmp_path / "c.toml"), tmp_path / "o", engine=thread)
    assert len(answer) == rows
    if "solve" not in text:
        assert answer["error"].isna().all()
        return
    fed = ff.Federation.normal([[3, 5], [1, -1]], 1.0, [0.5, 0.5])
    assert answer["accuracy"][0] == ff.solve(fed, "cfl", 0.1).accuracy
    assert answer["error"][1].startswith("ValueError: scheme must be")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    table(r"""
run = 3 | | run must name what is run, got 3
run = "x" | | run must be
run = "os:system" | | run must name a module of --import
run = "solve"\nmore = 1 | | must have run, fixed, grid and draw only, got more
run = "solve"\ngrid = 1 | | grid must be a table, got 1
run = "solve"\ngrid.a = {from = 1} | | a must be a list, {from, to, steps} or {count}
run = "solve"\ngrid.a = {from = "x", to = 1, steps = 2} | | a.from must be numbers, got 'x'
run = "solve"\ngrid.a = {from = 0, to = inf, steps = 2} | | a.to must be finite, got inf
run = "solve"\ngrid.a = {from = 0, to = 1, steps = 100000000000} | | a.steps must be a whole number
run = "solve"\ngrid.a = {count = 100000000000} | | a.count must be a whole number of at most 1000000
run = | | is not a TOML file
run = "claim" | --shard 3/2 | --shard must be K/N such as 1/8, K from 1 to N, got '3/2'
run = "claim" | --shard a | --shard must be K/N such as 1/8, K from 1 to N, got 'a'
run = "claim" | --engine slurm | slurm
run = "claim" | --jobs -1 | jobs
run = "claim" | --memory 0 | memory
"""),
)
def test_bad_files_and_options(text, words, message, tmp_path, cli):
    (tmp_path / "c.toml").write_text(f"{text}\n", "utf-8")
    done = cli("sweep", tmp_path / "c.toml", "--out", tmp_path / "o", *words.split())
    assert done.exit_code == 2 and message in done.stderr and not (tmp_path / "o").exists()


def test_a_cross_check_from_a_file(tmp_path):
    """Steps between whole numbers are whole; seeds need not be those that the file lists."""
    (tmp_path / "mine.toml").write_text(
        "people = 30\nclients = [{mean = [3, 5]}]\nalgorithm = [{name = 'fedavg'}]\n"
        "training.rounds = 1\nrun.seeds = [5, 7]\n",
        "utf-8",
    )
    (tmp_path / "c.toml").write_text(
        f"run = 'crosscheck'\nfixed.study = {json.dumps(str(tmp_path / 'mine.toml'))}\n"
        "grid.seed = {from = 1, to = 5, steps = 2}\n",
        "utf-8",
    )
    with ThreadPoolExecutor(1) as thread:
        rows = ff.sweep(*read_sweep(tmp_path / "c.toml"), tmp_path / "o", engine=thread)
    assert rows["seed"].tolist() == [1, 5] and rows["algorithm"].tolist() == ["fedavg"] * 2
    assert rows["accuracy"].between(0.5, 1).all() and rows["accuracy"].nunique() == 2
