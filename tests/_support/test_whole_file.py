"""Files whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

import fairfl._support.whole_file as whole_file
from fairfl._support.whole_file import write_whole


def test_text_and_bytes_replace_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "new" / "a.txt"
    assert write_whole(file, "λ").read_bytes() == "λ".encode()
    assert write_whole(file, b"2").read_bytes() == b"2"
    before = os.umask(0o027)
    try:
        # what the umask leaves, no more and no less
        assert write_whole(file, b"2").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)
    assert list(file.parent.iterdir()) == [file]


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))  # a new node, of the null device
    except PermissionError:
        pytest.skip("only root makes device nodes")


def link_to_fifo(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices are files there")
@pytest.mark.parametrize("make", [fifo, device, link_to_fifo, loop, Path.mkdir])
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path, make) -> None:
    make(tmp_path / "a")
    before = [(file, file.lstat().st_ino) for file in sorted(tmp_path.iterdir())]
    with pytest.raises(OSError, match="a must be a regular file or new, and is a"):
        write_whole(tmp_path / "a", "new")
    assert [(file, file.lstat().st_ino) for file in sorted(tmp_path.iterdir())] == before


def test_a_link_stays_and_the_file_that_it_leads_to_is_written(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "below" / "a.txt"
    link.symlink_to("below/a.txt")
    for content in ("old", "new"):  # the first time it leads to nothing
        write_whole(link, content)
        assert link.is_symlink() and target.read_text() == content
    assert [*target.parent.iterdir()] == [target]


def test_a_failure_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_whole(tmp_path / "a.txt", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_file.os, "replace", full)
    with pytest.raises(OSError, match="No space left on device: '.*a.txt'"):
        write_whole(file, "new")
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


def test_what_a_check_refuses_never_takes_its_place(tmp_path: Path) -> None:
    file = write_whole(tmp_path / "a.txt", "old")

    def refuse(path: Path) -> None:
        assert path.read_text() == "new" and file.read_text() == "old"
        raise ValueError("not this one")

    with pytest.raises(ValueError, match="not this one"):
        write_whole(file, lambda stream: stream.write(b"new"), check=refuse)
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name != "posix", reason="folders are synced where they can be opened")
def test_the_disk_has_file_and_folder_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []

    def fsync(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, (tmp_path / "a.txt").exists()))

    monkeypatch.setattr(whole_file.os, "fsync", fsync)
    file = write_whole(tmp_path / "a.txt", "new", sync=True)
    # the file before it has its name, the folder after: neither order loses both
    assert synced == [(file.stat().st_ino, False), (tmp_path.stat().st_ino, True)]
    write_whole(file, "newer")
    assert len(synced) == 2


def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    names = ".a[1].txt.0.partial a[1].txt .b.txt.0.partial .a1.txt.0.partial a.partial".split()
    for name in names:
        (tmp_path / name).touch()
    whole_file.remove_partial(tmp_path, "a[1].txt")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names[1:])
