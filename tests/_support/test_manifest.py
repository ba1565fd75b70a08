"""Manifests: what was altered since it was written is told, and nothing else is."""

import pytest

import fairfl._support.whole_file as whole_file
from fairfl._support.manifest import finished, write_piece


def piece(folder):
    write_piece(
        folder / "a.manifest.json",
        {"a.csv": "x\n1\n", "a.png": b"\x89PNG" * 20},
        {"source": "1", "n": [1.5]},
    )
    return folder / "a.manifest.json"


def test_a_piece_says_what_it_was_made_from(tmp_path, caplog):
    manifest = piece(tmp_path / "new")
    for _ in range(2):
        assert finished(manifest) == {"source": "1", "n": [1.5]}
    assert {file.name for file in manifest.parent.iterdir()} == {
        "a.csv",
        "a.png",
        "a.manifest.json",
    }
    piece(tmp_path / "new")
    assert finished(tmp_path / "b.manifest.json") is None and not caplog.text


def flip(content):
    return bytes([*content[:-3], content[-3] ^ 8, *content[-2:]])


@pytest.mark.parametrize("name", ["a.csv", "a.png", "a.manifest.json"])
@pytest.mark.parametrize(
    "change", [flip, lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b + b"\n", None]
)
def test_every_change_is_told_once(name, change, tmp_path, caplog):
    manifest = piece(tmp_path)
    file = tmp_path / name
    content = file.read_bytes()
    file.unlink() if change is None else file.write_bytes(change(content))
    harmless = name == "a.manifest.json" and (change is None or change(content) == content + b"\n")
    if harmless:  # blank space says nothing else, and without a manifest there is no finished piece
        assert (finished(manifest) is None) == (change is None) and not caplog.text
        return
    assert finished(manifest) is None
    assert [record.getMessage() for record in caplog.records] == [
        f"altered since it was written, done again: {file}"
    ]
    caplog.clear()
    assert finished(manifest) is None and not caplog.text
    assert finished(piece(tmp_path)) is not None and file.read_bytes() == content


def test_what_stopped_halfway_is_unfinished(tmp_path, monkeypatch, caplog):
    manifest = piece(tmp_path)
    with monkeypatch.context() as patch:
        written = iter([whole_file.os.replace])

        def stop(*arguments):
            return next(written)(*arguments)  # the second one ends as a killed process does

        patch.setattr(whole_file.os, "replace", stop)
        with pytest.raises(StopIteration):
            piece(tmp_path)
    assert finished(manifest) is None and not caplog.text
