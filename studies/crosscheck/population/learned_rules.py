"""From parameters to rules: step functions of x by the real roots of a polynomial, and averages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import hermite_e
from numpy.typing import ArrayLike

from fairfl._support.checks import Array
from fairfl.solvers.densities.problem import Rule
from fairfl.solvers.solution import rates_of
from fairfl.studies.crosscheck.population.features import Basis
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import ALIASES, disparity

REAL = 1e-9
"""Roots with a smaller relative imaginary part are real: rounding splits a double root."""


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
