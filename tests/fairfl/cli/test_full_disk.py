"""A full disk: every command names the file in one line, exits with 1, and leaves no part."""

import errno
import os

import pytest
from run_files import PLAIN

import fairfl._support.whole_file as whole_file
from fairfl.claims import record


class Full:
    """A stream of a file on a full disk."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stream.close()

    def write(self, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def full(monkeypatch):
    """From now on there is no space left; the files that were begun are listed."""
    begun = []

    def opened(path, mode):
        begun.append(path)
        return Full(open(path, mode))

    def fill():
        monkeypatch.setattr(whole_file, "open", opened, raising=False)
        return begun

    return fill


@pytest.fixture
def commands(table, tmp_path, monkeypatch, small_registry):
    monkeypatch.setattr(record, "COMMITTED", tmp_path / "record.json")
    config = tmp_path / "mine.toml"
    config.write_text(PLAIN, "utf-8")
    people = "--score s --label y --group a --points 3 --bootstraps 0".split()
    return {
        "frontier": ("frontier", table, *people, "--out", tmp_path / "out"),
        "figures": ("figures", "line", "--out", tmp_path / "out"),
        "reproduce": ("reproduce", "--out", tmp_path / "out", "--jobs", 1),
        "simulate": ("simulate", config, "--seeds", 1, "--out", tmp_path / "out"),
        "report": ("claims", "report", "pffl/eq-8", "--out", tmp_path / "out"),
        "record": ("claims", "check", "pffl/eq-8", "--record"),
    }


def test_a_full_disk_at_the_page_does_not_lose_the_rest(commands, cli, monkeypatch, tmp_path):
    def opened(path, mode):
        return Full(open(path, mode)) if ".page.html." in path.name else open(path, mode)

    monkeypatch.setattr(whole_file, "open", opened, raising=False)
    result = cli(*commands["frontier"], "--schemes", "cfl", "--page", tmp_path / "page.html")
    assert result.exit_code == 1 and "No space left on device" in result.stderr
    assert {"frontier.csv", "rule_cfl.json"} <= {file.name for file in (tmp_path / "out").iterdir()}
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "name", ["frontier", "figures", "reproduce", "simulate", "report", "record"]
)
def test_a_full_disk_names_the_file(name, commands, cli, full, tmp_path):
    begun = full()
    result = cli(*commands[name])
    (line,) = result.stderr.splitlines()
    assert result.exit_code == 1 and "No space left on device" in line
    (partial,) = begun
    assert partial.name.lstrip(".").split(whole_file.PARTIAL)[0].rsplit(".", 1)[0] in line
    assert not [file for file in tmp_path.rglob("*") if file.name.endswith(whole_file.PARTIAL)]
