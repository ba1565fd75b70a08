"""Laws of x: normal, any continuous scipy.stats law, mixtures, finite laws and samples."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, finite, positive, shares, shown, single, sized

TAIL = 1e-18
"""Mass outside a law's working range, on each side: below the rounding of a probability near 1."""
ROUNDINGS = 1024
"""Least number of roundings of x between a law's 0.001- and 0.999-quantile: else it is an atom."""
LEAST_SPREAD = 1e-300
"""Least distance between these quantiles: densities, about its inverse, must be floats."""
SLOW = ("kstwo", "levy_stable", "studentized_range")
"""scipy's laws whose density is integrated at every point, in 2 to 40 ms, and a solver needs
thousands: refused by name, so that a file is accepted on every machine or on none.
"""
REACHES = np.array([-8.757290348782316, -3.0, 0.0, 3.0, 8.757290348782316])
"""Breaks of the standard normal law; the outer two are its quantiles at ``TAIL``."""


@dataclass(frozen=True)
class Normal:
    """Normal law N(mean, sd²): scipy.special directly, five times faster than scipy.stats."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        finite("mean", single("mean", self.mean))
        positive("sd", single("sd", self.sd))

    @cached_property
    def breaks(self) -> Array:
        with np.errstate(over="ignore"):  # a federation refuses a range that is not finite
            return self.mean + self.sd * REACHES

    @property
    def low(self) -> float:
        return float(self.breaks[0])

    @property
    def high(self) -> float:
        return float(self.breaks[-1])

    @property
    def middle(self) -> tuple[float, float]:
        return float(self.breaks[1]), float(self.breaks[3])

    def sf(self, x: ArrayLike) -> Array:
        return scipy.special.ndtr((self.mean - np.asarray(x)) / self.sd)

    def cdf(self, x: ArrayLike) -> Array:
        return scipy.special.ndtr((np.asarray(x) - self.mean) / self.sd)

    def logsf(self, x: ArrayLike) -> Array:
        return scipy.special.log_ndtr((self.mean - np.asarray(x)) / self.sd)

    def logcdf(self, x: ArrayLike) -> Array:
        return scipy.special.log_ndtr((np.asarray(x) - self.mean) / self.sd)

    def pdf(self, x: ArrayLike) -> Array:
        z = (np.asarray(x) - self.mean) / self.sd
        return np.exp(-0.5 * z * z) / (self.sd * np.sqrt(2 * np.pi))

    def draw(self, size: int, rng: np.random.Generator) -> Array:
        return rng.normal(self.mean, self.sd, size)


class ScipyLaw:
    """A frozen ``scipy.stats`` law with a density."""

    def __init__(self, frozen: Any) -> None:
        self.frozen = frozen
        self.sf, self.cdf, self.pdf = frozen.sf, frozen.cdf, frozen.pdf
        self.logsf, self.logcdf = frozen.logsf, frozen.logcdf
        low, high = (float(v) for v in frozen.support())
        with warnings.catch_warnings():
            # beta(0.5, 2).ppf(1e-9) iterates long: still near enough
            warnings.simplefilter("ignore", RuntimeWarning)
            lower = frozen.ppf([TAIL, 1e-9, 1e-3, 0.1, 0.5])
            upper = frozen.isf([0.1, 1e-3, 1e-9, TAIL])
        quantiles = np.concatenate([lower, upper])
        quantiles = np.clip(quantiles, max(low, -1e300), min(high, 1e300))
        self.middle = float(quantiles[2]), float(quantiles[-3])
        self.breaks = np.unique(quantiles)
        self.low, self.high = float(self.breaks[0]), float(self.breaks[-1])

    def draw(self, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(self.frozen.rvs(size=size, random_state=rng))

    def __repr__(self) -> str:
        return f"ScipyLaw({self.frozen.dist.name}{self.frozen.args or ''})"


class Mixture:
    """Mixture of continuous laws: density Σ_k weights_k p_k.

    Parameters
    ----------
    laws : sequence of frozen scipy.stats laws, or of mixtures, which are taken apart.
    weights : (k,) positive, normalised to sum to one; default equal.

    Examples
    --------
    >>> import fairfl as ff
    >>> from scipy import stats
    >>> law = ff.Mixture([stats.norm(0, 1), stats.norm(4, 1)], weights=[3, 1])
    >>> round(float(law.sf(2.0)), 4)
    0.2614
    """

    def __init__(self, laws: Sequence[Any], weights: ArrayLike | None = None) -> None:
        if isinstance(laws, (str, bytes)) or not isinstance(laws, Sequence):
            raise ValueError(f"laws must be a sequence of laws, got {shown(laws)}")
        if len(laws) == 0:
            raise ValueError("laws must hold at least one law, got none")
        masses = positive("weights", np.ones(len(laws)) if weights is None else weights)
        if masses.shape != (len(laws),):
            raise ValueError(
                f"weights must have shape ({len(laws)},), one per law, got {masses.shape}"
            )
        parts: list[tuple[Law, float]] = []
        for k, weight in enumerate(shares("weights", masses).tolist()):
            law = as_law(laws[k], f"laws[{k}]")
            if isinstance(law, Finite):
                raise ValueError(
                    "laws of a Mixture must have densities; merge finite laws into one "
                    "Finite(points, masses)"
                )
            if isinstance(law, Mixture):
                parts += zip(law.laws, weight * law.weights, strict=True)
            else:
                parts.append((law, weight))
        self.laws = tuple(law for law, _ in parts)
        self.weights = np.array([weight for _, weight in parts])
        low, high = zip(*(law.middle for law in self.laws), strict=True)
        self.middle = min(low), max(high)
        self.breaks = np.unique(np.concatenate([law.breaks for law in self.laws]))
        self.low, self.high = float(self.breaks[0]), float(self.breaks[-1])

    def __repr__(self) -> str:
        return f"Mixture({list(self.laws)}, {self.weights.tolist()})"

    def sf(self, x: ArrayLike) -> Array:
        return self._sum([law.sf(x) for law in self.laws])

    def cdf(self, x: ArrayLike) -> Array:
        return self._sum([law.cdf(x) for law in self.laws])

    def pdf(self, x: ArrayLike) -> Array:
        return self._sum([law.pdf(x) for law in self.laws])

    def logsf(self, x: ArrayLike) -> Array:
        return self._log_sum([law.logsf(x) for law in self.laws])

    def logcdf(self, x: ArrayLike) -> Array:
        return self._log_sum([law.logcdf(x) for law in self.laws])

    def draw(self, size: int, rng: np.random.Generator) -> Array:
        part, values = rng.choice(len(self.laws), size=size, p=self.weights), np.empty(size)
        for k, law in enumerate(self.laws):
            values[part == k] = law.draw(int((part == k).sum()), rng)
        return values

    def _sum(self, parts: list[Array]) -> Array:
        return np.tensordot(self.weights, np.stack(parts), axes=1)

    def _log_sum(self, parts: list[Array]) -> Array:
        stacked = np.stack(parts)
        top = stacked.max(axis=0)
        # all parts -inf (or one +inf) must not give NaN
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(self._sum(list(np.exp(stacked - safe)))) + safe


Law = Normal | ScipyLaw | Mixture
"""A continuous law of x: ``sf`` and ``cdf`` with relative accuracy in their tails, ``logsf`` and
``logcdf``, finite where these underflow, and ``pdf``. Less than ``TAIL`` of the mass is outside
``low`` to ``high``; ``breaks``, increasing, are where the density may be steep or not smooth;
``middle`` encloses the 0.001- and the 0.999-quantile; ``draw`` gives a sample (size,).
"""


class Finite:
    """Finite law: ``masses[k]`` at ``points[k]`` (atoms).

    Parameters
    ----------
    points : (n,) finite, distinct.
    masses : (n,) non-negative, summing to one within 1e-9 (then normalised exactly).

    Examples
    --------
    >>> import fairfl as ff
    >>> low, high = ff.Finite([0, 1], [0.7, 0.3]), ff.Finite([0, 1], [0.4, 0.6])
    >>> ff.Federation([ff.Client((low, high))], eta=lambda x: 0.2 + 0.6 * x)
    Federation(1 clients, 2 groups, finite X of 2)
    """

    def __init__(self, points: ArrayLike, masses: ArrayLike) -> None:
        at = sized("points", points)
        mass = finite("masses", masses)
        if at.ndim != 1 or at.size == 0 or mass.shape != at.shape:
            raise ValueError(
                f"points and masses must be 1-d of one length, got shapes {at.shape} and "
                f"{mass.shape}"
            )
        if (mass < 0).any():
            raise ValueError(f"masses must be non-negative, got {mass.min():g}")
        with np.errstate(over="ignore"):
            total = mass.sum()
        if abs(total - 1) > 1e-9:
            raise ValueError(f"masses must sum to one, got {total:.12g}")
        order = np.argsort(at, kind="stable")
        if (np.diff(at[order]) == 0).any():
            raise ValueError("points must be distinct; add the masses of equal points")
        self.points, self.masses = at[order], mass[order] / total

    def __repr__(self) -> str:
        return f"Finite({self.points.size} points)"


class Samples(Finite):
    """Empirical law of a sample: equal mass on each observation, equal values merged.

    Parameters
    ----------
    values : (n,) finite observations of x.

    Examples
    --------
    >>> import fairfl as ff
    >>> ff.Samples([0.5, 0.5, 1.0]).masses.round(3).tolist()
    [0.667, 0.333]
    """

    def __init__(self, values: ArrayLike) -> None:
        x = sized("values", values)
        if x.ndim != 1 or x.size == 0:
            raise ValueError(f"values must be a non-empty 1-d array, got shape {x.shape}")
        points, counts = np.unique(x, return_counts=True)
        super().__init__(points, counts / x.size)


def as_law(law: Any, name: str = "law") -> Law | Finite:
    """``law`` as a :class:`Law` or :class:`Finite`; ValueError for one without a density."""
    if isinstance(law, Law | Finite):
        return law
    from scipy import stats  # half a second to load, and normal and finite laws do without

    dist = getattr(law, "dist", None)
    if isinstance(dist, stats.rv_discrete) or hasattr(law, "pmf"):
        raise ValueError(
            f"{name} must have a density, got a discrete scipy.stats law; use Finite(points, "
            "masses)"
        )
    if not isinstance(dist, stats.rv_continuous):
        raise ValueError(
            f"{name} must be a frozen continuous scipy.stats law, Mixture, Finite or Samples, "
            f"got {shown(law)}"
        )
    if dist.name in SLOW:
        raise ValueError(
            f"{name} must have a density that is quick to compute, got {dist.name}; a Mixture "
            "may do"
        )
    try:
        with np.errstate(all="ignore"):
            (low, high), below = law.support(), law.cdf(0.0)
    except (TypeError, ValueError, OverflowError):
        # parameters that are no numbers, or none that a float holds
        low = high = below = np.nan
    if np.ndim(low) or np.ndim(high) or np.ndim(below):
        raise ValueError(
            f"{name} must be one law, got an array of laws; freeze each with scalar parameters"
        )
    if np.isnan(low) or np.isnan(high) or np.isnan(below):
        raise ValueError(
            f"{name} must have valid parameters, got {dist.name}{shown(law.args)}{shown(law.kwds)}"
        )
    if dist.name == "norm":
        # std() squares: it over- and underflows
        parameters = dict(zip(("loc", "scale"), law.args, strict=False)) | law.kwds
        return Normal(float(parameters.get("loc", 0.0)), float(parameters.get("scale", 1.0)))
    return ScipyLaw(law)


def check_resolved(law: Law | Finite, name: str) -> None:
    """ValueError for a density that doubles do not tell from an atom, or do not hold."""
    if isinstance(law, Finite):
        return
    for part in law.laws if isinstance(law, Mixture) else (law,):
        low, high = part.middle
        if not (np.isfinite(part.low) and np.isfinite(part.high)):
            raise ValueError(
                f"{name} must lie within 1.8e308 of 0, all but 1e-18 of its mass, got {shown(part)}"
            )
        step = float(np.spacing(max(abs(low), abs(high))))
        min_spread = max(ROUNDINGS * step, LEAST_SPREAD)
        if high - low < min_spread:
            raise ValueError(
                f"{name} must spread over {min_spread:.2g} or more near x = {low:g}, where doubles "
                f"are {step:.2g} apart, got {shown(part)}; move x, or use Finite for atoms"
            )
