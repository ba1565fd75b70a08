"""Checks shared by the data's classes and functions: the error names argument and value."""

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl._support.checks import as_array, whole

Kind = TypeVar("Kind", bound=np.generic)


def generator(seed: int) -> np.random.Generator:
    """numpy's default generator from a seed, a whole number >= 0."""
    return np.random.default_rng(whole("seed", seed, 0))


def codes(name: str, values: ArrayLike, n: int, count: int | None = None) -> NDArray[np.int64]:
    """The values as n codes in 0..count-1, or any >= 0; a copy unless they are read-only."""
    array = as_array(name, values)
    if array.shape != (n,) or array.dtype.kind not in "iub":
        raise ValueError(
            f"{name} must be whole numbers of shape ({n},), got {array.dtype} of shape "
            f"{array.shape}"
        )
    is_invalid = (array < 0) if count is None else (array < 0) | (array >= count)
    if is_invalid.any():
        allowed = ">= 0" if count is None else f"in 0..{count - 1}"
        row = int(is_invalid.argmax())
        raise ValueError(f"{name} must be {allowed}, got {array[row]} at row {row}")
    return array.astype(np.int64, copy=array.flags.writeable)


def frozen(array: NDArray[Kind]) -> NDArray[Kind]:
    """A read-only view: no copy, and the caller's own array stays writable."""
    view = array.view()
    view.flags.writeable = False
    return view
