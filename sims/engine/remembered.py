"""Functions of arrays whose last results are kept: what stays from round to round is made once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

MOST = 4
"""Results of each function that are kept."""

F = TypeVar("F", bound=Callable[..., Any])


def remembered(function: F) -> F:
    """The function, not called again for arrays of the same bytes and other arguments that are
    equal; all are positional. Arrays that it returns, by themselves or in a tuple, are copies: a
    change of them is not there in later rounds.
    """
    found = OrderedDict[tuple[Any, ...], Any]()

    @wraps(function)
    def asked(*arguments: Any) -> Any:
        key = tuple([a.tobytes() if isinstance(a, np.ndarray) else a for a in arguments])
        if key not in found:
            found[key] = function(*arguments)
            if len(found) > MOST:
                found.popitem(last=False)
        return _copied(found[key])

    return asked  # type: ignore[return-value]


def _copied(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple([_copied(part) for part in result])
    return result.copy() if isinstance(result, np.ndarray) else result
