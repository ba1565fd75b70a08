"""Group fairness: the rates that a notion compares, each linear in f, and how far apart they are.

A rate of group a is the share, among its people with some event, of those whom f serves:
(constant + Σ_x linear(x) f(x, a)) / mass, on densities an integral. Names as in Fairlearn; FedFB's
short ones are aliases.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats, broadcast

Notion = Literal[
    "demographic_parity",
    "true_positive_rate_parity",
    "false_positive_rate_parity",
    "equalized_odds",
    "accuracy_parity",
    "dp",
    "eo",
    "eodds",
    "equal_opportunity",
]
"""``NOTIONS`` and their ``ALIASES``, for type checkers."""
Difference = Literal["pairwise", "overall"]
DIFFERENCES: tuple[Difference, ...] = get_args(Difference)
"""The largest difference between two groups' rates, or between a group's and the population's."""


@dataclass(frozen=True)
class Rate:
    """A rate: its name, its probability, and what one person of probability η counts, as (c, d) for
    c + d η: in the event, by f, and whatever f is. In words, people with ``event`` are ``served``.
    """

    key: str
    name: str
    probability: str
    mass: tuple[float, float]
    linear: tuple[float, float]
    constant: tuple[float, float] = (0.0, 0.0)
    event: str = ""
    served: str = "accepted"


@dataclass(frozen=True)
class NotionRow:
    """A notion of group fairness: the rates that must be equal over groups, and other names."""

    name: str
    rates: tuple[Rate, ...]
    aliases: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Its name in a sentence."""
        return self.name.replace("_", " ")

    @property
    def rate_names(self) -> str:
        """What is compared, such as "true-positive rates"."""
        return " and ".join(rate.name for rate in self.rates)

    @property
    def counts_labels(self) -> bool:
        """Whether a rate depends on people's y."""
        return any(d for rate in self.rates for _, d in (rate.mass, rate.linear, rate.constant))

    def axis_label(self, difference: str) -> str:
        """Of the disparity, in a picture."""
        reference = " from the population's" if difference == "overall" else ""
        return f"disparity (largest difference of {self.rate_names}{reference})"

    def undefined(self, mass: Array, groups: Sequence[Hashable]) -> tuple[str, ...]:
        """Which rates of groups with ``mass`` (E, A) do not exist, as those of nobody, in words."""
        return tuple(
            f"nobody of group {group} {f'has {rate.event}' if rate.event else 'is there'}"
            for rate, row in zip(self.rates, mass, strict=True)
            for group, size in zip(groups, row, strict=True)
            if size <= 0
        )


ACCEPTANCE = Rate("everyone", "acceptance rates", "P(ŷ=1 given a)", (1.0, 0.0), (1.0, 0.0))
POSITIVE = Rate(
    "positive", "true-positive rates", "P(ŷ=1 given a, y=1)", (0.0, 1.0), (0.0, 1.0), event="y = 1"
)
NEGATIVE = Rate(
    "negative", "false-positive rates", "P(ŷ=1 given a, y=0)", (1.0, -1.0), (1.0, -1.0),
    event="y = 0",
)  # fmt: skip
RIGHT = Rate(
    "right", "accuracies", "P(ŷ=y given a)", (1.0, 0.0), (-1.0, 2.0), (1.0, -1.0),
    served="decided rightly",
)  # fmt: skip
_ROWS = (
    NotionRow("demographic_parity", (ACCEPTANCE,), ("dp",)),
    NotionRow("true_positive_rate_parity", (POSITIVE,), ("equal_opportunity", "eo")),
    NotionRow("false_positive_rate_parity", (NEGATIVE,)),
    NotionRow("equalized_odds", (POSITIVE, NEGATIVE), ("eodds",)),
    NotionRow("accuracy_parity", (RIGHT,)),
)
NOTIONS = {row.name: row for row in _ROWS}
"""The notions by name; with the type ``Notion``, all that a new one needs."""
RATES = {rate.key: rate for row in _ROWS for rate in row.rates}
ALIASES = {alias: row.name for row in _ROWS for alias in row.aliases}


def in_short() -> str:
    """The notions with their shortest names."""
    names = [
        f"{row.name} ({min(row.aliases, key=len)})" if row.aliases else row.name
        for row in NOTIONS.values()
    ]
    return f"{', '.join(names[:-1])} or {names[-1]}"


HALF = 8.0
"""A sum of so many roundings is zero, such as 2η - 1 where η is a computed frequency of 1/2."""
LEAST_MASS = 1e-307
"""Least mass of people of which a rate is computed: the inverse of a smaller one overflows."""
MOST_GROUPS, MOST_GROUPS_OF_LAWS = 100, 50
"""A solution on laws of 50 groups takes 3 CPU seconds and 0.2 GB, of 101 more than 4 GB."""


def check_mass(mass: Array, template: str) -> None:
    """ValueError where a ``mass`` (J, A), {0} and {1} in ``template``, is too small."""
    few = (mass > 0) & (mass < LEAST_MASS)
    if few.any():
        at = np.argwhere(few)[0]
        raise ValueError(
            f"{template.format(*at)} must be 0 or at least {LEAST_MASS:g}, got {mass[tuple(at)]:g}"
        )


def without_rounding(table: Array | float, size: Array | float, roundings: float = HALF) -> Array:
    """``table`` with 0 where it is within ``roundings`` roundings of its terms' ``size``."""
    return np.where(np.abs(table) <= roundings * np.finfo(np.float64).eps * size, 0.0, table)


@dataclass(frozen=True)
class Rates:
    """The E rates of a notion, of A groups, at each of J places (clients, or one: all together).

    Attributes
    ----------
    linear : (E, J, A, n) coefficients of f(x, a); on densities n = 0.  constant, mass : (E, J, A).
    """

    linear: Array
    constant: Array
    mass: Array

    @classmethod
    def of(cls, notion: str, people: Array, eta: Array) -> Rates:
        """The rates from masses P(x, a) (J, A, n) and η (J, A, n)."""
        parts: list[tuple[Array, Array, Array]] = []
        for rate in NOTIONS[notion].rates:
            mass = linear = _counted(people, eta, *rate.mass)
            constant = np.zeros(people.shape[:-1])
            if rate.linear != rate.mass:  # 2η - 1 may be a rounding where η is 1/2
                linear = without_rounding(_counted(people, eta, *rate.linear), people)
                constant = _counted(people, eta, *rate.constant).sum(axis=-1)
            parts.append((linear, constant, mass.sum(axis=-1)))
        for _, _, mass in parts:
            check_mass(
                mass, f"the share of people whom {notion} is about, of group {{1}} at {{0}},"
            )
        if len(parts) == 1:  # no copies of large tables
            return cls(*(part[None] for part in parts[0]))
        return cls(*(np.stack(part) for part in zip(*parts, strict=True)))

    @property
    def pooled(self) -> Rates:
        """The rates of all places together, one place."""
        return Rates(
            *(v.sum(axis=1, keepdims=True) for v in (self.linear, self.constant, self.mass))
        )

    def of_rule(self, f: Array) -> tuple[Array, Array]:
        """The rates of f, (J or 1, A, n): pooled (E, A), and by place (E, J, A); NaN of nobody."""
        return self.of_served((self.linear * f).sum(axis=-1))

    def of_served(self, linear: Array) -> tuple[Array, Array]:
        """The rates of f, as ``of_rule`` gives them, from their linear parts (E, J, A)."""
        served = self.constant + linear
        return _over(served.sum(axis=1), self.mass.sum(axis=1)), _over(served, self.mass)


def _counted(people: Array, eta: Array, c: float, d: float) -> Array:
    return people if (c, d) == (1.0, 0.0) else people * (c + d * eta)


def _over(served: Array, mass: Array) -> Array:
    return np.divide(served, mass, out=np.full_like(served, np.nan), where=mass > 0)


def disparity(rates: Array, mass: Array, difference: str) -> Array:
    """The largest difference of E rates (E, ..., A) of groups with ``mass`` (E, ..., A): (...). NaN
    where no two groups have the event. FedFB's published tables go by ``difference="overall"``.
    """
    valid = mass > 0
    high, low = np.where(valid, rates, -np.inf).max(-1), np.where(valid, rates, np.inf).min(-1)
    gap = high - low
    if difference == "overall":
        total = np.where(valid, mass, 0.0).sum(axis=-1)
        mean = np.where(valid, rates * mass, 0.0).sum(axis=-1) / np.where(total > 0, total, 1.0)
        gap = np.maximum(high - mean, mean - low)
    gap = np.where(valid.sum(axis=-1) >= 2, gap, -np.inf).max(axis=0)
    return np.where(np.isfinite(gap), gap, np.nan)


def pooled_budget(eps: ArrayLike, scheme: str) -> Array:
    """Return the budget of the pooled disparity as (1,) floats of 0 or more (inf: none)."""
    value = _nonnegative("eps", eps)
    if value.size != 1:
        raise ValueError(f"eps must be one number for {scheme!r}, got shape {value.shape}")
    return value.reshape(1)


def local_budgets(name: str, eps: ArrayLike, count: int) -> Array:
    """Return budgets of ``count`` clients as (I,) floats, non-negative (inf: no constraint)."""
    allowed = f"() or ({count},), one per client"
    return broadcast(name, _nonnegative(name, eps), (count,), allowed)


def _nonnegative(name: str, eps: ArrayLike) -> Array:
    value = as_floats(name, eps)
    if (value < 0).any():
        raise ValueError(f"{name} must be non-negative, got {value[value < 0][0]:g}")
    return value
