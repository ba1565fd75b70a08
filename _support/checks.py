"""Checks of arguments: one clear error that names the argument, the value and what is allowed."""

import math
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
MOST_WHOLE = 2**63 - 1
"""Largest whole number that numpy represents."""
MOST_CELLS = 10**8
"""Largest number of cells of a table, 0.8 GB. More is refused before the memory is taken."""


def as_array(name: str, value: Any) -> Array:
    """Return ``value`` as an array; ValueError when it is ragged, or masked, as masks get lost."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} must not hold masked values, got {shown(value)}")
    if hasattr(value, "detach"):  # a tensor may require a gradient, or be on another device
        value = value.detach().cpu()
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must have rows of one length, got {shown(value)}") from None


def as_labels(name: str, value: object) -> Array:
    """``value`` as an array of labels; ValueError where one is missing: None, NaN, NaT or NA."""
    array = as_array(name, value)
    if array.dtype.kind in "US" and not isinstance(value, np.ndarray):
        labels = np.array(value, dtype=object)  # beside texts numpy makes texts of NaN and numbers
        if not all(isinstance(label, (str, bytes)) for label in labels.flat):
            array = labels
    if array.dtype.kind == "O":
        import pandas as pd  # half a second, and most labels are no objects

        missing: Array = pd.isna(array)
    else:
        missing = array != array
    if np.any(missing):
        row = np.argwhere(np.atleast_1d(missing))[0][0]
        raise ValueError(f"{name} must not be missing, got {shown(array[missing][0])} at row {row}")
    return array


def coded(
    name: str, value: object, size: int, column: str = "score"
) -> tuple[tuple[Any, ...], Array]:
    """The sorted distinct labels of (size,) rows, as many as ``column`` has, and each row's code;
    ValueError as ``as_labels``, for another shape, and for labels that cannot be sorted.
    """
    array = as_labels(name, value)
    if array.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), as {column}, got {array.shape}")
    try:
        labels, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise ValueError(
            f"{name} must hold labels of one kind, got a mixture that cannot be sorted"
        ) from None
    return tuple(labels.tolist()), codes.reshape(-1)


def as_floats(name: str, value: object) -> Array:
    """``value`` as a float64 array; ValueError where it is not numeric, too large or NaN."""
    raw = as_array(name, value)
    try:
        if raw.dtype.kind not in "biufO" or (raw.dtype.kind == "O" and _holds_others(raw)):
            raise TypeError
        array = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {shown(value)}") from None
    except OverflowError:
        raise ValueError(
            f"{name} must be numbers that a float holds, up to 1.8e308, got {shown(value)}"
        ) from None
    if np.isnan(array).any():
        raise ValueError(f"{name} must not hold NaN, got {shown(value)}")
    return array


K = TypeVar("K")


def instance(name: str, value: object, kind: type[K]) -> K:
    """Return a ``value`` of this class; ValueError for another, as a user's own part may give."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__}, got {type(value).__name__}")
    return value


def single(name: str, value: object) -> float:
    """Return ``value`` as one float."""
    array = as_floats(name, value)
    if array.ndim:
        raise ValueError(f"{name} must be one number, got {shown(value)}")
    return float(array)


def in_range(
    name: str,
    value: object,
    low: float,
    high: float,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> Array:
    """Return ``value`` as floats, all within [low, high]; an end that is open is left out."""
    array = as_floats(name, value)
    above = array > low if open_low else array >= low
    good = above & (array < high if open_high else array <= high)
    ends = "(" if open_low else "[", ")" if open_high or np.isinf(high) else "]"
    return _checked(name, array, good, f"in {ends[0]}{low:g}, {high:g}{ends[1]}")


def positive(name: str, value: object) -> Array:
    """Return ``value`` as floats, all positive and finite."""
    array = as_floats(name, value)
    return _checked(name, array, (array > 0) & np.isfinite(array), "positive and finite")


def finite(name: str, value: object) -> Array:
    """Return ``value`` as floats, none of them infinite or NaN."""
    array = as_floats(name, value)
    return _checked(name, array, np.isfinite(array), "finite")


def sized(name: str, value: object) -> Array:
    """Return ``value`` as floats of at most 1e300 in size, so that sums of them are finite."""
    return in_range(name, value, -1e300, 1e300)


def broadcast(name: str, value: ArrayLike, shape: tuple[int, ...], allowed: str) -> Array:
    """One number, or ``value`` of just that shape, as a writable array of ``shape``."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), shape):
        raise ValueError(f"{name} must have shape {allowed}, got {array.shape}")
    return np.broadcast_to(array, shape).copy()


def one_of(name: str, value: object, allowed: Sequence[str]) -> str:
    """Return ``value`` when it is one of the strings ``allowed``."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, allowed))}, got {shown(value)}"
        )
    return value


def whole(name: str, value: object, low: int, high: int = MOST_WHOLE) -> int:
    """``value`` as an int from ``low`` to ``high``: give one wherever memory follows from it."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, got {shown(value)}")
    if value > high:
        raise ValueError(f"{name} must be a whole number of at most {high}, got {shown(value)}")
    return int(value)


def person_weights(name: str, value: object) -> Array:
    """Return ``value`` as weights of people, positive floats whose squares have a finite sum."""
    return in_range(name, value, 1e-100, 1e100)


def weight_sums(people: Array, sums: object, squares: object) -> Array:
    """Sums (2, ...) of the weights of numbers of ``people``, and of the weights' squares."""
    table, shape = np.empty((2, *people.shape)), str(people.shape)
    table[0] = broadcast("sums", in_range("sums", sums, 0, 1e150), people.shape, shape)
    table[1] = broadcast("squares", in_range("squares", squares, 0, 1e300), people.shape, shape)
    is_odd = ((table > 0) != (people > 0)).any(axis=0)
    if (is_odd | (table[0] ** 2 > people * table[1] * (1.0 + 1e-9))).any():
        raise ValueError(
            "sums and squares must be those of positive weights: positive where counts are and 0 "
            "elsewhere, and sums² at most counts times squares"
        )
    return table


def flag(name: str, value: object) -> bool:
    """Return ``value`` as True or False, which it must be."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def pos_code(
    name: str,
    values: Sequence[Hashable],
    pos_label: Hashable,
    *,
    ordered: bool,
    option: str = "pos_label",
) -> int:
    """Which of a label's ``values`` is y = 1: ``pos_label``, or if that is None the last where the
    values are ``ordered``, as numbers are and texts are not; ValueError otherwise.
    """
    choices = " and ".join(map(shown, values))
    if pos_label is None and not ordered:
        raise ValueError(f"{option} must say which value of {name} is y = 1: {choices}, got none")
    if pos_label is not None and pos_label not in values:
        raise ValueError(
            f"{option} must be one of the values of {name}, {choices}, got {shown(pos_label)}"
        )
    return len(values) - 1 if pos_label is None else values.index(pos_label)


def existing_file(path: str | Path) -> Path:
    """``path`` as a Path; FileNotFoundError or IsADirectoryError where no file is there."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file: {str(path)!r}")
    if path.is_dir():
        raise IsADirectoryError(f"path must be a file, got the folder {str(path)!r}")
    return path


def applied(name: str, function: Callable[[Array], object], x: Array) -> Array:
    """``function(x)``, of a user's, as floats of x's shape."""
    try:
        values = np.asarray(function(x), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must take an array and return one of numbers, got {shown(function)}"
        ) from None
    if values.shape != x.shape:
        raise ValueError(
            f"{name} must return an array of the shape {x.shape} that it is given, got "
            f"{values.shape}"
        )
    return values


def cells(name: str, shape: Sequence[int]) -> None:
    """ValueError for a table that is too large to be held, before it is made."""
    if math.prod(shape) > MOST_CELLS:
        size = " x ".join(map(str, shape))
        raise ValueError(f"{name} must be a table of at most {MOST_CELLS:.0e} cells, got {size}")


def shares(name: str, weights: Array) -> Array:
    """Positive ``weights`` over their sum, scaled by a power of two: no sum overflows."""
    scaled = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    normalised = scaled / math.fsum(scaled)
    if (normalised == 0).any():
        low, high = weights.min(), weights.max()
        raise ValueError(
            f"{name} must be within a factor of 1e307 of each other, got {low:g} and {high:g}"
        )
    return normalised


def plain(value: object) -> str:
    """The repr in one line, numpy's numbers as Python's: inf, not np.float64(inf)."""
    try:
        with np.printoptions(legacy="1.25"):
            return " ".join(repr(value).split())
    except ValueError:  # Python writes out no integers of more than 4,300 digits
        return f"a {type(value).__name__} of more digits than can be shown"


def shown(value: object) -> str:
    """A value as errors show it: plain, and not too long."""
    text = plain(value)
    return text if len(text) <= 60 else text[:57] + "..."


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Names with commas between; of more than ``limit`` the first ones and the number of all."""
    tail = f", ... ({len(names)} in all)" if len(names) > limit else ""
    return ", ".join(names[:limit]) + tail


def _checked(name: str, array: Array, good: Array, allowed: str) -> Array:
    """The numbers if all are ``good``; else an error names the first bad one and its place."""
    if good.all():
        return array
    index = tuple(int(k) for k in np.argwhere(~good)[0])
    where = f" at position {index[0] if len(index) == 1 else index}" if index else ""
    raise ValueError(f"{name} must be {allowed}, got {array[index]:g}{where}")


def _holds_others(array: Array) -> bool:
    return any(item is None or isinstance(item, (str, bytes)) for item in array.flat)
