import hashlib
import io
import os
import re
import zipfile
from pathlib import Path
from urllib.request import OpenerDirector, Request

import pytest

from fairfl.sims.data import fetch
from fairfl.sims.data.fetch import ChecksumMismatch, DataUnavailable, Remote, cache_folder, locate
from fairfl.sims.data.tables.people import read_people

CONTENT = b"a,b\n1,2\n" * 20_000  # more than one chunk
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def published(tmp_path: Path, content: bytes = CONTENT):
    """The address of a file that stands for the public one."""
    source = tmp_path / "public" / "file.csv"
    source.parent.mkdir(exist_ok=True)
    source.write_bytes(content)
    return source.as_uri()


def put(root: Path, content: str | bytes, name: str = "file.csv") -> Path:
    """A file of the data folder ``root``."""
    file = root / "set" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def left_behind(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file()]


def test_a_folder_that_is_given_is_the_only_place(tmp_path: Path, empty_cache: Path):
    remote = Remote("set/file.csv", ((published(tmp_path),),))
    message = re.escape(f"set/file.csv is not in the folder {str(tmp_path / 'mine')!r}")
    with pytest.raises(DataUnavailable, match=message):
        locate([remote], tmp_path / "mine")
    assert locate([remote], put(tmp_path / "mine", "here").parents[1]).read_text() == "here"
    assert left_behind(empty_cache) == []


def test_the_variable_comes_before_the_cache(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
):
    named, _ = (put(root, root.name) for root in (tmp_path / "named", empty_cache))
    assert locate([Remote("set/file.csv")]).read_text() == empty_cache.name
    monkeypatch.setenv("FAIRFL_DATA", str(tmp_path / "named"))
    assert locate([Remote("set/file.csv")]).read_text() == "named"
    named.unlink()
    assert locate([Remote("set/file.csv")]).read_text() == empty_cache.name
    monkeypatch.setenv("FAIRFL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataUnavailable, match="must name an existing folder, got .*nowhere"):
        locate([Remote("set/file.csv")])


def test_a_second_choice_at_hand_is_better_than_a_download(tmp_path: Path, empty_cache: Path):
    put(empty_cache, "other", "other.csv")
    choices = [Remote("set/file.csv", ((published(tmp_path),),)), Remote("set/other.csv")]
    assert locate(choices).read_text() == "other"


def test_download_into_the_cache_once(tmp_path: Path, empty_cache: Path):
    address = published(tmp_path)
    remote = Remote("set/file.csv", ((address,),), (DIGEST,))
    path = locate([remote])
    assert path == empty_cache / "set" / "file.csv"
    assert path.read_bytes() == CONTENT
    assert left_behind(empty_cache) == [path]
    os.remove(tmp_path / "public" / "file.csv")
    assert locate([remote]) == path


def test_progress_reports_the_bytes_and_the_total(tmp_path: Path, empty_cache: Path):
    seen: list[tuple[str, int, int | None]] = []
    remote = Remote("set/file.csv", ((published(tmp_path),),))
    locate([remote], progress=lambda *step: seen.append(step))
    assert len(seen) > 1
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})
    assert seen[-1] == ("set/file.csv", len(CONTENT), len(CONTENT))


def check(path: Path):
    raise ValueError(f"{len(path.read_bytes())} bytes are not the table")


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ({"digests": (DIGEST,)}, f"SHA-256 is [0-9a-f]{{64}}, not {DIGEST}"),
        ({"check": check}, "the content is not the published file's: 6 bytes are not the table"),
    ],
    ids=["checksum", "content"],
)
def test_what_is_wrong_is_told_and_not_kept(
    checks: dict, message: str, tmp_path: Path, empty_cache: Path
):
    with pytest.raises(ChecksumMismatch, match=message):
        locate([Remote("set/file.csv", ((published(tmp_path, b"<html>"),),), **checks)])
    assert left_behind(empty_cache) == []


def test_the_next_source_is_tried(tmp_path: Path, empty_cache: Path):
    missing = (tmp_path / "no" / "such").as_uri()
    remote = Remote("set/file.csv", ((missing,), (published(tmp_path),)), (DIGEST,))
    assert locate([remote]).read_bytes() == CONTENT


def test_offline_names_the_file_the_variable_and_the_source(tmp_path: Path, empty_cache: Path):
    missing = (tmp_path / "no" / "such").as_uri()
    with pytest.raises(DataUnavailable) as raised:
        locate([Remote("set/file.csv", ((missing,),))])
    assert not isinstance(raised.value, ChecksumMismatch) and isinstance(raised.value, OSError)
    assert all(part in str(raised.value) for part in ("set/file.csv", "FAIRFL_DATA", missing))
    message = "set/file.csv is not available: .*FAIRFL_DATA.*It has no public source"
    with pytest.raises(DataUnavailable, match=message):
        locate([Remote("set/file.csv")])


def nested(content: bytes) -> bytes:
    """A zip archive within a zip archive."""
    for member in ("file.csv", "inner.zip"):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(member, content)
        content = stream.getvalue()
    return content


def test_members_of_archives_are_unpacked(tmp_path: Path, empty_cache: Path):
    address = published(tmp_path, nested(CONTENT))
    for members in (("absent.csv",), ("inner.zip", "file.csv", "deeper.csv")):
        with pytest.raises(ChecksumMismatch, match=f"no member '{members[-1]}' in a zip archive"):
            locate([Remote("set/file.csv", ((address, *members),))])
    remote = Remote("set/file.csv", ((address, "inner.zip", "file.csv"),), (DIGEST,))
    assert locate([remote]).read_bytes() == CONTENT


class Cut(io.BytesIO):
    """An answer that breaks off."""

    headers = {"Content-Length": str(len(CONTENT))}


def test_a_connection_that_breaks_off(empty_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(OpenerDirector, "open", lambda *arguments, **options: Cut(CONTENT[:1000]))
    with pytest.raises(DataUnavailable, match="ended after 1000 of 160000 bytes"):
        locate([Remote("set/file.csv", (("https://example.org/file.csv",),))])
    assert left_behind(empty_cache) == []


def test_cache_folder_follows_xdg_and_ignores_a_relative_one(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "fairfl"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder().is_absolute() and cache_folder().name == "fairfl"


def test_only_https_is_asked(empty_cache: Path):
    for address in ("http://example.org/file.csv", "ftp://example.org/file.csv"):
        with pytest.raises(DataUnavailable, match=f"must begin with https:, got {address}"):
            locate([Remote("set/file.csv", ((address,),))])
    moved = Request("https://a.org"), None, 302, "moved", {}, "http://elsewhere"
    with pytest.raises(ValueError, match="must begin with https:, got http://elsewhere"):
        fetch._Redirect().redirect_request(*moved)


@pytest.mark.parametrize("place", ["variable", "cache"])
@pytest.mark.parametrize("digests", [(DIGEST,), ("0" * 64, DIGEST)])
def test_what_is_found_must_be_the_published_file(
    place: str, digests: tuple, tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = empty_cache if place == "cache" else tmp_path / "named"
    if place == "variable":
        monkeypatch.setenv("FAIRFL_DATA", str(folder))
    file = put(folder, CONTENT)
    remote = Remote("set/file.csv", digests=digests)
    assert locate([remote]) == file
    file.write_bytes(CONTENT.replace(b"1,2", b"2,1", 1))
    message = f"{re.escape(str(file))} is not the published file: its SHA-256 is "
    with pytest.raises(ChecksumMismatch, match=message):
        locate([remote])
    # a folder that the caller names holds what the caller put there
    assert locate([remote], folder) == file


def test_what_was_read_is_noted_and_a_change_of_it_is_told(
    tmp_path: Path, empty_cache: Path, caplog
):
    put(empty_cache, CONTENT, "b.csv")
    put(tmp_path / "mine", CONTENT, "b.csv")
    choices = [Remote("set/a.csv"), Remote("set/b.csv")]
    with fetch.data_read() as outer:
        with fetch.data_read() as notes:
            locate(choices)
            locate(choices, tmp_path / "mine")
    assert notes == outer and set(notes.values()) == {DIGEST} and len(notes) == 2
    assert fetch.same_data(notes) and not caplog.text
    put(tmp_path / "mine", "other", "b.csv")
    assert not fetch.same_data(notes)
    assert f"{tmp_path / 'mine'}: set/a.csv or set/b.csv" in caplog.text
    put(tmp_path / "mine", CONTENT, "b.csv")
    assert fetch.same_data(notes)
    put(empty_cache, "now preferred", "a.csv")
    assert not fetch.same_data(notes)


def test_a_table_of_people_that_is_read_is_noted(tmp_path):
    """So that runs which read it are made anew where it has changed."""
    file = tmp_path / "people.csv"
    file.write_text("y,a,x\n0,f,1\n1,m,2\n")
    with fetch.data_read() as notes:
        read_people(file, label="y", group="a")
    assert notes == {f"{tmp_path}: people.csv": hashlib.sha256(file.read_bytes()).hexdigest()}
    assert fetch.same_data(notes)
    file.write_text("y,a,x\n0,f,1\n1,m,3\n")
    assert not fetch.same_data(notes)
