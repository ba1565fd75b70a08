"""Regression functions η(x) = P(y = 1 | x): logistic, or any increasing one with inverse."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, applied, finite, positive, shown, single


class Eta:
    """A strictly increasing η: R -> [0, 1] with its inverse."""

    breaks: Array = np.empty(0)
    has_negative = False
    """Whether ``negative`` has all its digits where η is nearly 1."""

    def __call__(self, x: ArrayLike) -> Array:
        """η(x)."""
        raise TypeError(f"{type(self).__name__} has no values")

    def negative(self, x: ArrayLike) -> Array:
        """P(y = 0 | x) = 1 - η(x)."""
        return 1.0 - self(x)

    def at_odds(self, odds: ArrayLike) -> Array:
        """The x with log η(x)/(1 - η(x)) = ``odds``; -inf below η's range, +inf above it."""
        raise TypeError(f"{type(self).__name__} has no inverse")


class Logistic(Eta):
    """η(x) = 1 / (1 + exp(-(slope·x + intercept))), slope > 0.

    Examples
    --------
    >>> import fairfl as ff
    >>> round(float(ff.Logistic(slope=2.0, intercept=-1.0)(0.5)), 4)
    0.5
    """

    has_negative = True

    def __init__(self, slope: float = 1.0, intercept: float = 0.0) -> None:
        self.slope = float(positive("slope", single("slope", slope)))
        self.intercept = float(finite("intercept", single("intercept", intercept)))
        self.breaks = (np.array([-8.0, 0.0, 8.0]) - self.intercept) / self.slope

    def __repr__(self) -> str:
        return f"Logistic(slope={self.slope:g}, intercept={self.intercept:g})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Logistic) and (self.slope, self.intercept) == (
            other.slope,
            other.intercept,
        )

    def __hash__(self) -> int:
        return hash((self.slope, self.intercept))

    def __call__(self, x: ArrayLike) -> Array:
        return scipy.special.expit(self.slope * np.asarray(x, dtype=np.float64) + self.intercept)

    def negative(self, x: ArrayLike) -> Array:
        return scipy.special.expit(-(self.slope * np.asarray(x, dtype=np.float64) + self.intercept))

    def at_odds(self, odds: ArrayLike) -> Array:
        return (np.asarray(odds, dtype=np.float64) - self.intercept) / self.slope


class Monotone(Eta):
    """Any strictly increasing η given by a vectorised function and its inverse.

    Parameters
    ----------
    function : x -> η(x) in [0, 1].
    inverse : p -> x on η's range; its values outside the range are not used.
    low, high : the infimum and supremum of η (default 0 and 1).
    negative : x -> 1 - η(x) without cancellation, such as scipy's ``sf``. Rates of people with
        y = 0 need it where almost everybody of a group has y = 1.

    Examples
    --------
    >>> import fairfl as ff
    >>> from scipy import stats
    >>> probit = ff.Monotone(stats.norm.cdf, stats.norm.ppf, negative=stats.norm.sf)
    >>> fed = ff.Federation.normal(mean=[[3, 5], [1, -1]], eta=probit)
    >>> round(ff.solve(fed, "cfl", eps=0.1).accuracy, 4)
    0.8684
    """

    def __init__(
        self,
        function: Callable[[Array], Array],
        inverse: Callable[[Array], Array],
        low: float = 0.0,
        high: float = 1.0,
        negative: Callable[[Array], Array] | None = None,
    ) -> None:
        self.low, self.high = single("low", low), single("high", high)
        if not 0 <= self.low < self.high <= 1:
            raise ValueError(
                f"low and high must satisfy 0 <= low < high <= 1, got {shown((low, high))}"
            )
        functions = {"function": function, "inverse": inverse, "negative": negative or function}
        for name, func in functions.items():
            if not callable(func):
                raise ValueError(f"{name} must be a vectorised function, got {shown(func)}")
        self.function, self._inverse, self._negative = function, inverse, negative
        self.has_negative = negative is not None
        levels = self.low + (self.high - self.low) * np.linspace(0.02, 0.98, 49)
        x = applied("inverse", inverse, levels)
        if not np.isfinite(x).all() or not (np.diff(x) > 0).all():
            raise ValueError(
                "inverse must be strictly increasing, vectorised and finite inside (low, high)"
            )
        rates = applied("function", function, x)
        worst = np.abs(rates - levels).argmax()
        if not abs(rates[worst] - levels[worst]) <= 1e-9:
            raise ValueError(
                f"function must invert inverse: function(inverse({levels[worst]:g})) = "
                f"{rates[worst]:g}"
            )
        complement = 1.0 - rates if negative is None else applied("negative", negative, x)
        worst = np.abs(rates + complement - 1.0).argmax()
        if not abs(rates[worst] + complement[worst] - 1.0) <= 1e-9:
            raise ValueError(
                f"negative must be 1 - function: at {x[worst]:g} it is {complement[worst]:g}, "
                f"function is {rates[worst]:g}"
            )
        self.breaks = x[[0, 24, 48]]

    def __repr__(self) -> str:
        return f"Monotone({getattr(self.function, '__name__', 'function')})"

    def __call__(self, x: ArrayLike) -> Array:
        return np.asarray(self.function(np.asarray(x, dtype=np.float64)), dtype=np.float64)

    def negative(self, x: ArrayLike) -> Array:
        if self._negative is None:
            return super().negative(x)
        return np.asarray(self._negative(np.asarray(x, dtype=np.float64)), dtype=np.float64)

    def at_odds(self, odds: ArrayLike) -> Array:
        p = scipy.special.expit(np.asarray(odds, dtype=np.float64))
        inside = (p > self.low) & (p < self.high)
        x = np.where(p <= self.low, -np.inf, np.inf)
        if inside.any():
            x[inside] = self._inverse(p[inside])
        return x


def by_client(eta: Any, clients: int, groups: int) -> list[tuple[Eta, ...]]:
    """``eta`` as a tuple for each client, from one, one per client, or one per group, too."""
    default = Logistic() if eta is None else eta
    if isinstance(default, Eta):
        return [(default,) * groups] * clients
    if not isinstance(default, Sequence) or len(default) != clients:
        size = f"{len(default)} of them" if isinstance(default, Sequence) else shown(default)
        raise ValueError(
            f"eta must be an Eta, or a sequence of {clients}, one per client, got {size}"
        )
    table: list[tuple[Eta, ...]] = []
    for i, forms in enumerate(default):
        client_etas = (forms,) * groups if isinstance(forms, Eta) else forms
        fits = isinstance(client_etas, Sequence) and len(client_etas) == groups
        if not fits or not all(isinstance(form, Eta) for form in client_etas):
            raise ValueError(
                f"eta[{i}] must be an Eta (Logistic, Monotone) or {groups} of them, one per group, "
                f"got {shown(forms)}"
            )
        table.append(tuple(client_etas))
    return table
