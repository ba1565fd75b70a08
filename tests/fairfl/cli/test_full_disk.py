"""A full disk: every command names the file in one line, exits with 1, and leaves no part."""

import errno
import os

import pytest
from run_files import PLAIN

import fairfl._support.whole_file as whole_file
from fairfl.claims import record

COMMANDS = {
    "frontier": "frontier people.csv --score s --label y --group a --points 3 --bootstraps 0 "
    "--out out",
    "figures": "figures line --out out",
    "reproduce": "reproduce --out out --jobs 1",
    "simulate": "simulate mine.toml --seeds 1 --out out",
    "report": "claims report pffl/eq-8 --out out",
    "record": "claims check pffl/eq-8 --record",
}


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
def fill(table, tmp_path, monkeypatch, small_registry):
    """Leave no space for files with ``part`` in their names; those that are begun are listed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(record, "COMMITTED", tmp_path / "record.json")
    (tmp_path / "mine.toml").write_text(PLAIN, "utf-8")
    begun = []

    def fill(part=""):
        def opened(path, mode):
            if part not in path.name:
                return open(path, mode)
            begun.append(path)
            return Full(open(path, mode))

        monkeypatch.setattr(whole_file, "open", opened, raising=False)
        return begun

    return fill


def test_a_full_disk_at_the_page_does_not_lose_the_rest(cli, fill, tmp_path):
    fill(".page.html.")
    result = cli(*COMMANDS["frontier"].split(), "--schemes", "cfl", "--page", "page.html")
    assert result.exit_code == 1 and "No space left on device" in result.stderr
    assert {"frontier.csv", "rule_cfl.json"} <= {file.name for file in (tmp_path / "out").iterdir()}
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_names_the_file(name, cli, fill, tmp_path):
    begun = fill()
    result = cli(*COMMANDS[name].split())
    (line,) = result.stderr.splitlines()
    assert result.exit_code == 1 and "No space left on device" in line
    (partial,) = begun
    assert partial.name.lstrip(".").split(whole_file.PARTIAL)[0].rsplit(".", 1)[0] in line
    assert not [file for file in tmp_path.rglob("*") if file.name.endswith(whole_file.PARTIAL)]
