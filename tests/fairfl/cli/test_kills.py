"""A hundred kills over all commands that write: no file is ever torn, and what goes on ends in the
same bytes.
"""

import os
import random
import shutil
import signal
import time
from importlib import import_module

import numpy as np
import pytest

import fairfl.figures.catalog.all_figures as registry
import fairfl.figures.render as render
import fairfl.reports.index_page as report
from fairfl._support.manifest import finished, unsealed
from fairfl._support.whole_file import PARTIAL
from fairfl.claims import record
from fairfl.cli.main import app

CONFIG = """
[data]
name = "synthetic"
clients = 4
[model]
kind = "softmax"
[[algorithm]]
name = "fedavg"
[training]
rounds = 60
grid = {lr = [0.05, 0.1]}
"""
CROSSCHECK = """
people = 200
[[clients]]
mean = [3, 5]
[[clients]]
mean = [1, -1]
[[algorithm]]
name = "fedfb"
[training]
rounds = 5
"""
PEOPLE = ("--score", "s", "--label", "y", "--group", "a", "--client", "site", "--points", "5")
COMMANDS = {
    "frontier": (("frontier", "people.csv", *PEOPLE, "--out", "out"), 14),
    "figures": (("figures", "--out", "out"), 14),
    "reproduce": (("reproduce", "--out", "out", "--jobs", "1"), 14),
    "record": (
        ("claims", "check", "pffl/eq-8", "pffl/table-1-variance", "dynamic/gb", "--record"),
        14,
    ),
    "report": (("claims", "report", "pffl", "--out", "out"), 10),
    "simulate": (("simulate", "mine.toml", "--out", "out", "--resume"), 20),
    "crosscheck": (("crosscheck", "check.toml", "--out", "out", "--resume"), 14),
}
"""The words, and how many kills."""


MODULES = """
    claims.runner reports.claims.report reports.claims.text cli.figures reports.index_page
    figures.render reports.frontier reports.people cli.simulate cli.crosscheck cli.unit_runs
    studies.papers.all_experiments studies.execute studies.crosscheck.studies.all_studies
    studies.crosscheck.own figures.lib.experiments figures.lib.crosscheck solvers.api
    _support.processes
""".split()
REST = 0.02


def start(folder, words):
    """A process of its own, forked so that nothing is imported anew; and the reading end of its
    events.

    A byte comes for each file that takes its place. Around that moment the process rests, so that a
    kill hits it before and after. The record of claims is the folder's own, and there are two
    figures.
    """
    for module in MODULES:
        import_module(f"fairfl.{module}")
    read, write = os.pipe()
    process = os.fork()
    if process:
        os.close(write)
        return process, os.fdopen(read, "rb", buffering=0)
    code = 99
    try:
        os.setsid()
        os.chdir(folder)
        with open(folder / "said.txt", "w") as said:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
        into_place = os.replace

        def told(source, target):
            os.write(write, b".")
            time.sleep(REST)
            into_place(source, target)
            time.sleep(REST)

        os.replace = told
        record.COMMITTED = folder / "record"
        shown = {name: registry.registered()[name] for name in ("fedfb_figure_2", "fedfb_figure_8")}
        for module in (registry, render, report):
            module.registered = lambda: shown
        code = app([str(word) for word in words], standalone_mode=False) or 0
    except SystemExit as stop:
        code = stop.code
    finally:
        os._exit(code if isinstance(code, int) else 98)


def through(folder, words):
    """Run to the end; how many files took their place."""
    process, events = start(folder, words)
    with events:
        count = len(b"".join(iter(lambda: events.read(100), b"")))
    assert os.waitpid(process, 0)[1] == 0, (folder / "said.txt").read_text()
    return count


def killed(folder, words, event, delay):
    """Kill so many seconds after the event of that number; False where the process ended before."""
    process, events = start(folder, words)
    with events:
        while event and events.read(1):
            event -= 1
        time.sleep(delay)
        if event == 0:
            os.killpg(process, signal.SIGKILL)
        return os.WIFSIGNALED(os.waitpid(process, 0)[1])


def files(folder):
    """Every file that a command wrote, but for what it had begun."""
    found = [p for part in ("out", "record") for p in (folder / part).rglob("*") if p.is_file()]
    return {
        str(p.relative_to(folder)): p
        for p in found
        if not p.name.endswith(PARTIAL) and p.name != "run.lock"
    }


def same(one, other):
    """Whether two files say the same: the same bytes, or of a checkpoint (an archive with a clock)
    the same arrays.
    """
    if one.suffix != ".npz":
        return one.read_bytes() == other.read_bytes()
    with np.load(one) as a, np.load(other) as b:
        return a.files == b.files and all((a[name] == b[name]).all() for name in a.files)


def whole(file, end):
    """Nothing is torn: the file is as at the end, or a run's state on its way, which is read in
    full.
    """
    if file.suffix == ".npz":
        with np.load(file) as arrays:
            return all(arrays[name] is not None for name in arrays.files)
    if file.name == "run.json":
        return unsealed(file.read_text("utf-8")) is not None
    return file.read_bytes() == end.read_bytes()


@pytest.mark.deep
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
# it forks from several threads of libraries
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_any_time(name, tmp_path, people, capsys):
    words, kills = COMMANDS[name]
    folders = [tmp_path / "through", tmp_path / "killed"]

    def new(folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        people.to_csv(folder / "people.csv", index=False)
        (folder / "mine.toml").write_text(CONFIG, "utf-8")
        (folder / "check.toml").write_text(CROSSCHECK, "utf-8")

    for folder in folders:
        new(folder)
    count = through(folders[0], words)
    ends = files(folders[0])
    clock, done, ended, left = random.Random(name), 0, 0, 0
    while done < kills:
        if not killed(folders[1], words, clock.randint(1, count), clock.uniform(0, 0.06)):
            ended += 1  # it came to its end: begin anew
            assert all(same(files(folders[1])[key], file) for key, file in ends.items())
            new(folders[1])
            continue
        done += 1
        left += len([p for p in folders[1].rglob(f"*{PARTIAL}")])
        for key, file in files(folders[1]).items():
            assert key in ends and whole(file, ends[key]), key
    through(folders[1], words)
    assert not list(folders[1].rglob(f"*{PARTIAL}"))  # what was begun is swept away
    found = files(folders[1])
    assert found.keys() == ends.keys()
    assert all(same(found[key], file) for key, file in ends.items())
    assert all(
        finished(p) is not None for key, p in found.items() if key.endswith(".manifest.json")
    )
    with capsys.disabled():
        print(
            f"\n{name}: {kills} kills of {count} writes, {ended} ends between, {left} begun "
            "files left, none torn"
        )
