"""Files whole or not at all."""

from pathlib import Path

import pytest

import fairfl.theory.whole_file as whole_file
from fairfl.theory.whole_file import write_whole


def test_text_and_bytes_replace_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    assert write_whole(file, "λ").read_bytes() == "λ".encode()
    assert write_whole(file, b"2").read_bytes() == b"2"
    assert file.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [file]


def test_a_failure_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_whole(tmp_path / "a.txt", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_file.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(file, "new")
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]
