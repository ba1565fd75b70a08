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
    equal; all are positional. Nobody may change what it returns.
    """
    found = OrderedDict[tuple[Any, ...], Any]()

    @wraps(function)
    def asked(*arguments: Any) -> Any:
        key = tuple([a.tobytes() if isinstance(a, np.ndarray) else a for a in arguments])
        if key not in found:
            found[key] = function(*arguments)
            if len(found) > MOST:
                found.popitem(last=False)
        return found[key]

    return asked  # type: ignore[return-value]
