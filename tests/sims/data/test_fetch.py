import hashlib
import io
import os
import re
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from fairfl.sims.data.fetch import ChecksumMismatch, DataUnavailable, Remote, cache_folder, locate

CONTENT = b"a,b\n1,2\n" * 20_000  # more than one chunk
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def published(tmp_path: Path, content: bytes = CONTENT) -> str:
    """The address of a file that stands for the public one."""
    source = tmp_path / "public" / "file.csv"
    source.parent.mkdir(exist_ok=True)
    source.write_bytes(content)
    return source.as_uri()


def left_behind(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file()]


def test_a_folder_that_is_given_is_the_only_place(tmp_path: Path, empty_cache: Path):
    (tmp_path / "mine" / "set").mkdir(parents=True)
    remote = Remote("set/file.csv", ((published(tmp_path),),))
    with pytest.raises(
        DataUnavailable, match=re.escape(f"set/file.csv is not in the folder {str(tmp_path / 'mine')!r}")
    ):
        locate([remote], tmp_path / "mine")
    (tmp_path / "mine" / "set" / "file.csv").write_text("here")
    assert locate([remote], tmp_path / "mine").read_text() == "here"
    assert left_behind(empty_cache) == []


def test_the_variable_comes_before_the_cache(tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch):
    for root in (tmp_path / "named", empty_cache):
        (root / "set").mkdir(parents=True)
        (root / "set" / "file.csv").write_text(root.name)
    assert locate([Remote("set/file.csv")]).read_text() == empty_cache.name
    monkeypatch.setenv("FAIRFL_DATA", str(tmp_path / "named"))
    assert locate([Remote("set/file.csv")]).read_text() == "named"
    (tmp_path / "named" / "set" / "file.csv").unlink()
    assert locate([Remote("set/file.csv")]).read_text() == empty_cache.name


def test_a_variable_that_names_no_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FAIRFL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataUnavailable, match="FAIRFL_DATA must name an existing folder, got .*nowhere"):
        locate([Remote("set/file.csv")])


def test_a_second_choice_at_hand_is_better_than_a_download(tmp_path: Path, empty_cache: Path):
    (empty_cache / "set").mkdir(parents=True)
    (empty_cache / "set" / "other.csv").write_text("other")
    choices = [Remote("set/file.csv", ((published(tmp_path),),)), Remote("set/other.csv")]
    assert locate(choices).read_text() == "other"


def test_download_into_the_cache_once(tmp_path: Path, empty_cache: Path):
    address = published(tmp_path)
    remote = Remote("set/file.csv", ((address,),), DIGEST)
    path = locate([remote])
    assert path == empty_cache / "set" / "file.csv"
    assert path.read_bytes() == CONTENT
    assert left_behind(empty_cache) == [path]
    os.remove(tmp_path / "public" / "file.csv")
    assert locate([remote]) == path


def test_progress_reports_the_bytes_and_the_total(tmp_path: Path, empty_cache: Path):
    seen: list[tuple[str, int, int | None]] = []
    locate([Remote("set/file.csv", ((published(tmp_path),),))], progress=lambda *step: seen.append(step))
    assert len(seen) > 1
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})
    assert seen[-1] == ("set/file.csv", len(CONTENT), len(CONTENT))


def test_a_wrong_checksum_is_told_and_nothing_is_kept(tmp_path: Path, empty_cache: Path):
    remote = Remote("set/file.csv", ((published(tmp_path, b"something else"),),), DIGEST)
    with pytest.raises(ChecksumMismatch, match=f"SHA-256 is [0-9a-f]{{64}}, of the published file {DIGEST}"):
        locate([remote])
    assert left_behind(empty_cache) == []


def test_wrong_content_is_told_and_nothing_is_kept(tmp_path: Path, empty_cache: Path):
    def check(path: Path) -> None:
        raise ValueError(f"{len(path.read_bytes())} bytes are not the table")

    remote = Remote("set/file.csv", ((published(tmp_path, b"<html>"),),), check=check)
    with pytest.raises(ChecksumMismatch, match="the content is not the published file's: 6 bytes are not the table"):
        locate([remote])
    assert left_behind(empty_cache) == []


def test_the_next_source_is_tried(tmp_path: Path, empty_cache: Path):
    missing = (tmp_path / "no" / "such").as_uri()
    assert locate([Remote("set/file.csv", ((missing,), (published(tmp_path),)), DIGEST)]).read_bytes() == CONTENT


def test_offline_names_the_file_the_variable_and_the_source(tmp_path: Path, empty_cache: Path):
    missing = (tmp_path / "no" / "such").as_uri()
    with pytest.raises(DataUnavailable) as raised:
        locate([Remote("set/file.csv", ((missing,),))])
    message = str(raised.value)
    assert not isinstance(raised.value, ChecksumMismatch)
    assert isinstance(raised.value, OSError)
    assert "set/file.csv" in message and "FAIRFL_DATA" in message and missing in message


def test_a_file_without_a_source_is_only_found_locally(empty_cache: Path):
    with pytest.raises(DataUnavailable, match=r"set/file.csv is not available: .*FAIRFL_DATA.*It has no public source"):
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
    assert locate([Remote("set/file.csv", ((address, "inner.zip", "file.csv"),), DIGEST)]).read_bytes() == CONTENT


@pytest.mark.parametrize("members", [("absent.csv",), ("inner.zip", "file.csv", "deeper.csv")])
def test_an_archive_without_the_member_is_told(members: tuple[str, ...], tmp_path: Path, empty_cache: Path):
    address = published(tmp_path, nested(CONTENT))
    with pytest.raises(ChecksumMismatch, match=f"no member '{members[-1]}' in a zip archive"):
        locate([Remote("set/file.csv", ((address, *members),))])


class Answers(BaseHTTPRequestHandler):
    """Answers /whole properly, breaks off in /cut, and knows nothing else."""

    def do_GET(self) -> None:
        if self.path not in ("/whole", "/cut"):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT if self.path == "/whole" else CONTENT[:1000])

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Answers) as http:
        thread = Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_over_http(server: str, empty_cache: Path):
    assert locate([Remote("set/file.csv", ((server + "/whole",),), DIGEST)]).read_bytes() == CONTENT


@pytest.mark.parametrize(("path", "message"), [("/cut", "ended after 1000 of 160000 bytes"), ("/gone", "404")])
def test_a_failed_answer_is_told_and_nothing_is_kept(path: str, message: str, server: str, empty_cache: Path):
    with pytest.raises(DataUnavailable, match=message):
        locate([Remote("set/file.csv", ((server + path,),))])
    assert left_behind(empty_cache) == []


def test_cache_folder_follows_xdg_and_ignores_a_relative_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "fairfl"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder().is_absolute()
    assert cache_folder().name == "fairfl"


def test_a_wrong_md5_is_a_mismatch(tmp_path: Path, empty_cache: Path):
    sources = ((published(tmp_path),),)
    good = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()
    with pytest.raises(ChecksumMismatch, match=f"MD5 is {good}, of the published file 0000"):
        locate([Remote("set/file.csv", sources, md5="0000")])
    assert left_behind(empty_cache) == []
    assert locate([Remote("set/file.csv", sources, md5=good)]).read_bytes() == CONTENT
