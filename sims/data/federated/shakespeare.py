"""Shakespeare: predict the next character of a role's lines; a client is a role in a play (McMahan
et al., 2017).

From Project Gutenberg's complete works, by the rules of LEAF's preparation (Caldas et al., 2018): a
line with two blanks, a name, a stop and a blank begins a speech, lines with four blanks go on with
it; *The Comedy of Errors* has no indentation. Roles with fewer than two lines are left out.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl._support.checks import whole
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.sources import register
from fairfl.sims.data.fetch import Folder, Progress, Remote, locate

WINDOW = 80
LETTERS = "\n !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz}"
"""LEAF's alphabet; a character that is not in it gets the code ``len(LETTERS)``."""
SPEECH, GOES_ON = re.compile(r"^  ([a-zA-Z][a-zA-Z ]*)\. (.*)"), re.compile(r"^    (.*)")
ERRORS_SPEECH, ERRORS_GOES_ON = re.compile(r"^([a-zA-Z][a-zA-Z ]*)\. (.*)"), re.compile(r"^(.*)")
BY = "by William Shakespeare"
ERRORS = "THE COMEDY OF ERRORS"

# No digest of the unpacked file is known for certain: a download is verified by its content.
FILE = Remote(
    "shakespeare/1994-01-100.txt",
    (("https://www.gutenberg.org/files/100/old/1994-01-100.zip", "100.txt"),),
    check=lambda path: _check(path),
)


def _check(path: Path) -> None:
    # 37 plays, the sonnets and the title
    if path.read_text("utf-8", errors="replace").count(BY) < 30:
        raise ValueError(f"it must hold {BY!r} at least 30 times")


def speeches(text: str) -> dict[tuple[str, str], list[str]]:
    """The lines of every (play, role), in order. What is before the second "by William Shakespeare"
    is the collection's own, with its contents and the sonnets.
    """
    lines = text.splitlines()
    starts = [k for k, line in enumerate(lines) if BY in line]
    lines_of: dict[tuple[str, str], list[str]] = {}
    for k, start in enumerate(starts[1:], start=1):
        end = starts[k + 1] if k + 1 < len(starts) else len(lines)
        above = [line.strip() for line in lines[max(start - 7, 0) : start] if line.strip()]
        title = above[-1] if above else f"play {k}"
        speech, goes_on = (ERRORS_SPEECH, ERRORS_GOES_ON) if title == ERRORS else (SPEECH, GOES_ON)
        role = ""
        for line in lines[start + 1 : end]:
            opening = speech.match(line)
            if opening and not (title == ERRORS and opening[1].upper().startswith("ACT ")):
                role = opening[1].upper()  # some names come in several casings
                lines_of.setdefault((title, role), []).append(opening[2])
                continue
            match = goes_on.match(line) if role and not opening else None
            if match and line.strip() and not (title == ERRORS and match[1].startswith("<")):
                lines_of[title, role].append(match[1])
            elif opening or (title == ERRORS and line.startswith("<")):
                role = ""
    return {key: spoken for key, spoken in lines_of.items() if len(spoken) >= 2}


def encode(text: str) -> NDArray[np.int64]:
    """The code of every character."""
    table = {letter: code for code, letter in enumerate(LETTERS)}
    return np.array([table.get(letter, len(LETTERS)) for letter in text], dtype=np.int64)


def windows(lines: list[str], width: int = WINDOW) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every ``width`` characters of the lines (n, width), and the one that follows (n,)."""
    codes = encode(re.sub(r" +", " ", " ".join(lines)))
    if codes.size <= whole("width", width, 1):
        return np.empty((0, width), np.int64), np.empty(0, np.int64)
    return np.lib.stride_tricks.sliding_window_view(codes, width)[:-1], codes[width:]


@register("shakespeare", "Shakespeare's plays by role, next character of 80")
def load(folder: Folder = None, progress: Progress | None = None) -> FederatedData:
    """Gutenberg's text as codes, x (N, 80) and y (N,); roles too short are left out."""
    path = locate([FILE], folder, progress)
    roles = speeches(path.read_text("utf-8", errors="replace"))
    x, y, names = [], [], []
    for (play, role), spoken in sorted(roles.items()):
        past, following = windows(spoken)
        if following.size:
            # a quarter of the memory: every letter stands in 80 windows
            x.append(past.astype(np.int16))
            y.append(following)
            names.append(f"{play}: {role}")
    if not names:
        raise ValueError(
            f"{path.name} must hold plays with speeches of more than {WINDOW} characters, got none"
        )
    owner = np.repeat(np.arange(len(names)), [len(part) for part in y])
    return FederatedData(
        "shakespeare",
        np.concatenate(x),
        np.concatenate(y),
        owner,
        len(names),
        client_names=tuple(names),
        note="Roles as clients, after LEAF; windows of 80 characters, every one.",
    )
