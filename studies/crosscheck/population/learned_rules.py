"""Learned rules: models linear in polynomials of x, their steps of x, and exact performance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import hermite_e
from numpy.typing import ArrayLike
from scipy import special

from fairfl._support.checks import Array, as_floats, whole
from fairfl.solvers.densities.problem import Rule
from fairfl.solvers.solution import rates_of
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import ALIASES, disparity

NODES = 60
"""Quadrature nodes for each law: exact for polynomials of degree below 60, apart from η."""
FLOOR = 0.1
REAL = 1e-9
"""Roots with a smaller relative imaginary part are real: rounding splits a double root."""


@dataclass(frozen=True, eq=False)
class Basis:
    """For each group a the polynomials of x of degree at most d, orthonormal in a measure of x.

    A score linear in them has coefficients of its own in each group, and a threshold at 0. Degree
    1: logistic regression by group, whose class holds every rule η > t_a where η is logistic.
    Degree d: accept sets of up to (d + 1) / 2 intervals. z = (x - centre_a) / scale_a, both (A,),
    has mean 0 and variance 1; row k of matrix[a] (d + 1, d + 1) is the k-th polynomial in Hermite's
    He_j(z).
    """

    centre: Array
    scale: Array
    matrix: Array

    @classmethod
    def of(cls, world: World, degree: int, client: int | None = None) -> Basis:
        """Orthonormal under P(x, a) of the federation, or of one client, times η (1 - η) + 1/10:
        the measure decides how fast gradient descent goes, not where to, and the tenth keeps the
        first steps short. ValueError for a degree below 1.
        """
        nodes, masses = hermite_e.hermegauss(NODES)
        clients = range(world.clients) if client is None else [client]
        total = sum(world.weight[i] for i in clients) * masses.sum()
        laws = []
        for a in range(world.groups):
            x = np.concatenate([world.mean[i][a] + world.sd[i][a] * nodes for i in clients])
            shares = [world.weight[i] * world.shares[i, a] / total for i in clients]
            curvature = special.expit(x) * special.expit(-x) + FLOOR
            laws.append((x, np.concatenate([share * masses for share in shares]) * curvature))
        return cls.orthonormal(laws, degree)

    @classmethod
    def orthonormal(cls, laws: Sequence[tuple[Array, Array]], degree: int) -> Basis:
        """Orthonormal in a measure for each group: points x and their masses."""
        degree = whole("degree", degree, 1)
        parts = [_orthonormal(x, mass, degree) for x, mass in laws]
        return cls(*(np.stack([part[k] for part in parts]) for k in range(3)))

    @property
    def degree(self) -> int:
        """D."""
        return self.matrix.shape[1] - 1

    @property
    def size(self) -> int:
        """Features: A (d + 1), group by group."""
        return self.matrix.shape[0] * self.matrix.shape[1]

    def __call__(self, x: ArrayLike, group: ArrayLike) -> Array:
        """Features (n, A (d + 1)) of people with x (n,) in groups (n,); other groups' are 0."""
        at, code = as_floats("x", x), np.asarray(group)
        features = np.zeros((at.size, *self.matrix.shape[:2]))
        for a in range(len(self.matrix)):
            rows = code == a
            z = (at[rows] - self.centre[a]) / self.scale[a]
            features[rows, a] = hermite_e.hermevander(z, self.degree) @ self.matrix[a].T
        return features.reshape(at.size, self.size)

    def series(self, params: ArrayLike) -> Array:
        """The scores' series (A, d + 1) in He_j(z_a), of parameters (A (d + 1),)."""
        rows = as_floats("params", params).reshape(self.matrix.shape[:2])
        return np.einsum("ak,akj->aj", rows, self.matrix)


def _orthonormal(x: Array, mass: Array, degree: int) -> tuple[Array, Array, Array]:
    """Centre and deviation of x under ``mass``, and the orthonormal polynomials (d + 1, d + 1)."""
    centre = np.average(x, weights=mass)
    deviation = np.sqrt(np.average((x - centre) ** 2, weights=mass))
    table = hermite_e.hermevander((x - centre) / deviation, degree)
    upper = np.linalg.qr(np.sqrt(mass)[:, None] * table, mode="r")
    rows = np.linalg.inv(upper).T  # lower triangular: the k-th polynomial has degree k
    return np.asarray(centre), np.asarray(deviation), rows * np.sign(np.diag(rows))[:, None]


def learned(basis: Basis, params: ArrayLike) -> Classifier:
    """The rule of parameters (A (d + 1),): accept where the group's score is > 0."""
    edges, values = [], []
    for a, row in enumerate(basis.series(params)):
        z = crossings(row)
        edges.append(basis.centre[a] + basis.scale[a] * z)
        values.append((hermite_e.hermeval(between(z), row) > 0).astype(np.float64))
    return Classifier(edges, values)


def crossings(series: Array) -> Array:
    """The real roots of sum_j series_j He_j(z), increasing, each once. A root where the sign stays
    the same is harmless: the value between the roots decides.
    """
    top = np.flatnonzero(series)
    if top.size == 0 or top[-1] == 0:
        return np.zeros(0)
    roots = hermite_e.hermeroots(series[: top[-1] + 1])
    real = roots[np.abs(roots.imag) <= REAL * np.maximum(1.0, np.abs(roots))].real
    return np.unique(real[np.isfinite(real)])


def between(edges: Array) -> Array:
    """A point in each of the pieces that the edges (m,) cut the line into (m + 1,)."""
    if edges.size == 0:
        return np.zeros(1)
    reach = 1 + np.abs(edges[[0, -1]])
    return np.concatenate(
        [[edges[0] - reach[0]], (edges[1:] + edges[:-1]) / 2, [edges[-1] + reach[1]]]
    )


@dataclass(frozen=True, eq=False)
class Performance:
    """A rule's exact accuracy and disparities on the federation: no sample, no test noise.

    rates (E, A) of the notion on the pooled law; disparity, the largest difference of two groups'
    rates; difference, of one rate and two groups that of group 0 less that of group 1, else NaN;
    local (I,) the same within each client, disparities where there are several.
    """

    accuracy: float
    rates: Array
    disparity: float
    difference: float
    local: tuple[float, ...]

    @classmethod
    def of(cls, rule: Rule, federation: Federation, notion: str = "dp") -> Performance:
        """Evaluated by distribution functions and certified quadrature; "dp", "eo" or "eodds"."""
        events, pooled, local_rates = rates_of(federation, ALIASES[notion], rule)
        gap = float(disparity(pooled, events.mass.sum(axis=1), "pairwise"))
        local, difference = disparity(local_rates, events.mass, "pairwise"), float("nan")
        if pooled.shape == (1, 2):  # one rate of two groups has a sign
            local = local_rates[0, :, 0] - local_rates[0, :, 1]
            difference = float(pooled[0, 0] - pooled[0, 1])
        if isinstance(rule, ClientClassifiers):
            _, right, _ = rates_of(federation, "accuracy_parity", rule)
            accuracy = float(right[0] @ federation.group_mass)
        else:
            accuracy = rule.accuracy(federation)
        return cls(accuracy, pooled, gap, difference, tuple(float(v) for v in local))

    @property
    def columns(self) -> dict[str, float]:
        """As a table's row has them; ``local`` is the largest disparity of a client."""
        names, largest = ("accuracy", "difference", "disparity"), max(map(abs, self.local))
        return {name: getattr(self, name) for name in names} | {"local": largest}
