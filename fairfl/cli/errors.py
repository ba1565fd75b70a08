"""How every command ends: errors as one line on stderr, and exit codes.

Exit codes: 0 done; 1 a check failed, or what was asked for could not be done; 2 wrong usage or bad
input; 130 stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from fairfl._support.extras import MissingExtra, extras_named

FAILED, USAGE, STOPPED = 1, 2, 130


@contextmanager
def one_line() -> Iterator[None]:
    """Errors as one line on stderr and an exit code, never a traceback."""
    try:
        with extras_named():
            yield
    except (BrokenPipeError, typer.Exit):
        # the reader has left, as `head` does; an exit code, which is a RuntimeError
        raise
    except (NotImplementedError, RecursionError):  # a RuntimeError that is a fault of ours
        raise
    except (
        ValueError,
        MissingExtra,
        FileNotFoundError,
        IsADirectoryError,
        NotADirectoryError,
    ) as error:
        raise _exit(str(error), USAGE) from None
    except (OSError, RuntimeError) as error:
        # unreadable, unavailable, not certified, no score to be fitted
        raise _exit(str(error), FAILED) from None
    except KeyboardInterrupt:
        raise _exit("stopped", STOPPED) from None


def _exit(message: str, code: int) -> typer.Exit:
    prefix = "" if code == STOPPED else "error: "
    typer.echo(f"fairfl: {prefix}{' '.join(message.split())}", err=True)
    return typer.Exit(code)
