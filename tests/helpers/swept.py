"""Functions that the tests of sweeps run in other processes."""

import os
import signal
import time
from pathlib import Path


def noted(log: str, a: int, b: float) -> dict[str, float]:
    """A row; a file in the folder ``log`` counts how often it was finished."""
    row = {"sum": a + b, "third": (a + b) / 3.0}
    _count(log, f"{a}_{b}")
    return row


def odd(log: str, a: int) -> list[dict[str, object]]:
    """a rows, of mixed kinds; fails for 2, unless a file ``mended`` is there."""
    _count(log, str(a))
    if a == 2 and not Path(log, "mended").exists():
        raise ArithmeticError("two is bad")
    return [{"k": k, "value": k if k else 0.5, "list": [k, 1.5]} for k in range(a)]


def sized(log: str, file: str, b: float) -> dict[str, float]:
    """The size of people.csv, for a file that names it; of any other its own."""
    _count(log, file)
    return {"size": Path("people.csv" if file == "run.toml" else file).stat().st_size}


def deadly(log: str, a: int) -> dict[str, int]:
    """Kills its process: for 3 always, for 5 the first time."""
    if a == 3 or a == 5 and not Path(log, "once").exists():
        Path(log, "once").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    _count(log, str(a))
    return {"twice": 2 * a}


def slow(log: str, a: int, seconds: float = 0.2) -> dict[str, int]:
    """A row after a while."""
    time.sleep(seconds)
    _count(log, str(a))
    return {"twice": 2 * a}


def held(log: str, a: int) -> dict[str, int]:
    """A row; from 10 on not before the folder ``log`` has a file ``go``."""
    while a >= 10 and not Path(log, "go").exists():
        time.sleep(0.01)
    return slow(log, a, 0.0)


def _count(log: str, name: str) -> None:
    with open(Path(log) / f"{name}.count", "a") as file:
        file.write("x")


def counts(log: Path) -> dict[str, int]:
    """How often each unit was finished."""
    return {file.stem: len(file.read_text()) for file in log.glob("*.count")}
