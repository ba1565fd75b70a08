"""Optional libraries: an error that says which extra of fairfl brings the missing one."""

from collections.abc import Iterator
from contextlib import contextmanager

EXTRAS = {
    "cvxpy": "lp",
    "hypothesis": "claims",
    "latex2mathml": "claims",
    "mpmath": "claims",
    "sympy": "claims",
    "pyarrow": "data",
    "sklearn": "data",
    "filelock": "sims",
    "torch": "sims",
    "ray": "ray",
    "flwr": "flower",
}
"""The extra that installs each module."""
HINT = 'pip install ".[{extra}]" in the checkout, or "WHEEL[{extra}]" with the path of a wheel'
"""How to install an extra. fairfl is in no package index."""


class MissingExtra(ModuleNotFoundError):
    """A library that an extra of fairfl brings is not installed."""


@contextmanager
def extras_named() -> Iterator[None]:
    """Where a library of an extra is missing, the error names the extra; others stay as is."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS or isinstance(error, MissingExtra):
            raise
        extra = EXTRAS[library]  # one reason for whatever needs it, whichever library is met first
        message = f"the extra {extra!r} is not installed: {HINT.format(extra=extra)}"
        raise MissingExtra(message, name=library) from None
