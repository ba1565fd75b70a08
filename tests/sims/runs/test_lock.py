"""Two processes in a run's folder: the second is refused; a dead one's lock is taken over."""

import subprocess
import sys

import killed
import numpy as np
import pytest

from fairfl.sims.engine import RunFolderError
from fairfl.sims.runs import files

HOLDER = """
import sys
from pathlib import Path
from fairfl.sims.runs.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A folder, and another process that is in it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        assert process.stdout.readline() == "held\n"
        yield tmp_path, process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_the_second_process_is_refused_and_comes_in_when_the_first_is_killed(holder):
    folder, process = holder
    with pytest.raises(RunFolderError, match="is in use by another process") as raised:
        killed.run(folder, rounds=2)
    assert str(folder) in str(raised.value) and "\n" not in str(raised.value)
    assert names(folder) == [files.LOCK]
    process.kill()
    process.wait()
    assert names(folder) == [files.LOCK]  # left behind, and held by nobody
    assert killed.run(folder, rounds=2).simulation.done and files.LOCK not in names(folder)


def test_a_run_inside_a_run_is_refused_and_does_no_harm(tmp_path):
    def again(done, rounds):
        with pytest.raises(RunFolderError, match="in use by another process"):
            killed.run(tmp_path, rounds=4)

    outer = killed.run(tmp_path, again, rounds=4)
    np.testing.assert_array_equal(outer.params, killed.run(None, rounds=4).params)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_let_go_where_a_run_is_stopped(error, tmp_path):
    def stop(done, rounds):
        assert files.LOCK in names(tmp_path)
        raise error

    with pytest.raises(error):
        killed.run(tmp_path, stop, rounds=4)
    assert files.LOCK not in names(tmp_path) and killed.run(tmp_path, rounds=4).simulation.done
