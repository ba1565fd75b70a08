"""FedFB and CFL at their optima on one sample, by Newton's method and without training.

Group-specific logistic regression, demographic parity, ε = 0. CFL's parameters of group a minimise
the weighted log loss of all of the group's people; FedFB's with local training to its end are the
mean, by the clients' numbers of people, of those that minimise each client's own. λ is where the
sample's MD changes its sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from fairfl._support.checks import Array
from fairfl.sims.data.federated.data import FederatedData
from fairfl.theory.populations.classifiers import Classifier

EDGE = 0.02
"""λ_1 is sought in [EDGE, 1 - EDGE]."""
HALVINGS = 14
STEPS, STILL, LONGEST = 100, 1e-9, 2.0
"""Newton's: at most so many, done when no parameter moves by more, none longer than that."""


@dataclass(frozen=True)
class Learned:
    """The rule, the λ (2,) of sum 1 it is the minimiser at, and the sample's MD."""

    rule: Classifier
    lam: tuple[float, float]
    difference: float


def learned(data: FederatedData, averaged: bool) -> Learned:
    """FedFB's rule (``averaged``) or CFL's on a sample with groups 0 and 1.

    Errors: ValueError where a group, a client's part of one, or a label of such a part is missing:
    no minimiser.
    """
    assert data.group is not None
    x, y, group = data.x[:, 0], data.y, data.group
    owner = data.owner if averaged else np.zeros(len(y), dtype=int)
    size = np.bincount(owner) / len(y)
    cells = {}
    for a in (0, 1):
        for i in range(len(size)):
            mine = (group == a) & (owner == i)
            if len(np.unique(y[mine])) < 2:
                raise ValueError(
                    f"data must have both labels in every group of every client, got {(a, i)} "
                    "without"
                )
            cells[a, i] = x[mine], y[mine]
    groups = [x[group == a] for a in (0, 1)]
    share = np.array([len(people) for people in groups]) / len(y)
    found = {key: np.array([0.0, 1.0]) for key in cells}

    def at(one: float) -> tuple[list[float], float]:
        cuts = []
        for a, rho in enumerate(np.array([1 - one, one]) / share):
            mean = np.zeros(2)
            for i, part in enumerate(size):
                own, labels = cells[a, i]
                found[a, i] = minimiser(own, labels, float(rho), found[a, i])
                mean += part * found[a, i]
            cuts.append(-float(mean[0] / mean[1]))
        rates = [float((people > cut).mean()) for people, cut in zip(groups, cuts, strict=True)]
        return cuts, rates[0] - rates[1]

    low, high = EDGE, 1 - EDGE
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle)[1] < 0 else (low, middle)
    one = (low + high) / 2
    cuts, difference = at(one)
    return Learned(Classifier.thresholds(cuts), (1 - one, one), difference)


def minimiser(x: Array, y: Array, rho: float, start: Array) -> Array:
    """(2,) intercept and slope of least log loss, weights ρ and 2 - ρ by label; by Newton."""
    params, weight = start, np.where(y == 1, 2 - rho, rho)
    for _ in range(STEPS):
        chance = special.expit(params[0] + params[1] * x)
        slope, curvature = weight * (chance - y), weight * chance * (1 - chance)
        mixed = float(curvature @ x)
        hessian = np.array([[curvature.sum(), mixed], [mixed, curvature @ x**2]])
        step = np.linalg.solve(hessian, np.array([slope.sum(), slope @ x]))
        length = float(np.abs(step).max())
        params = params - step * min(1.0, LONGEST / max(length, 1e-300))
        if length < STILL:
            break
    return params
