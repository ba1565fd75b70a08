"""A federation on a finite X: points, conditional masses and tabulated η, of two groups or more."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, applied, cells, finite, in_range, sized
from fairfl.theory.populations.blind_rules import as_seen
from fairfl.theory.populations.cells import Cells
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.eta import Eta, Logistic, by_client
from fairfl.theory.populations.laws import Finite
from fairfl.theory.populations.notions import HALF, without_rounding

ACCURATE = np.ones((2, 1))
"""Costs of one: the gain is that in accuracy."""


@dataclass(frozen=True)
class Joint:
    """The law of (x, a, y) at each of J places: ``people`` (J, A, n) P(x, a), ``eta`` (J, A, n)."""

    people: Array
    eta: Array

    def gain(self, costs: Array, sees: str) -> Array:
        """(J, A or 1, n) what f(x, a) = 1 saves, at costs (2, A) of a missed and a wrong positive.

        Exactly 0 at ties: where groups pull a point apart equally, or η is 1/2 up to a rounding, a
        sum of 1e-18 of either sign is left. Such a cell can be worth any disparity, and no utility.
        """
        total = costs.sum(axis=0)[:, None]
        margin = total * self.eta
        margin -= costs[1, :, None]
        tiny = HALF * np.finfo(np.float64).eps * (total / 2.0)
        margin[(margin <= tiny) & (margin >= -tiny)] = 0.0
        return as_seen(np.multiply(self.people, margin, out=margin), sees)

    def constant(self, costs: Array) -> Array:
        """(J,) the utility of f = 0: minus the cost of missing every positive."""
        return -np.einsum("jan,jan->ja", self.people, self.eta) @ costs[0]


class FiniteModel:
    """``points`` (n,) increasing; ``conditional`` (I, A, n) P(x | a, i), zero where undefined;
    ``eta`` (I, A, n). Of scores, levels meet at ``cuts`` (n - 1,), by default half-way; ``names``
    are those of the points 0, 1, ..., and ``cells`` of several numbers says which of the points
    they are.
    """

    cuts: Array | None = None
    names: tuple[str, ...] = ()
    cells: Cells | None = None

    def __init__(self, points: Array, conditional: Array, eta: Array) -> None:
        self.points, self.conditional, self.eta = points, conditional, eta
        # one η for all: a common threshold rule exists on points that a client never saw
        self.shared = eta.strides[0] == 0 and eta.strides[1] == 0

    def classifier(self, rule: Array, groups: Sequence[Hashable]) -> Classifier:
        """Of a rule (A, n) at the points, for people of these ``groups``."""
        levels = self.cuts, groups, self.names, self.cells
        return Classifier.on_points(self.points, rule, *levels)

    def joint(self, mass: Array) -> Joint:
        """The clients' laws, weighted: P(x, a, i), for the masses P(a, i) (I, A)."""
        return Joint(mass[:, :, None] * self.conditional, self.eta)

    def pooled(self, mass: Array) -> Joint:
        """The law of all clients together, one place, with its own η, which is 1/2 without the
        rounding of the sum where clients pull a cell apart equally: it can be worth any disparity,
        and no accuracy.
        """
        people = (mass.T[:, None] @ self.conditional.swapaxes(0, 1))[:, 0]
        if self.shared:
            return Joint(people[None], self.eta[:1])
        terms = mass[:, :, None] * self.conditional * (2.0 * self.eta - 1.0)
        # each term has a few roundings behind it: weight, share, conditional, 2η - 1, two products
        size = HALF * people + (len(terms) + 10) * np.abs(terms).sum(axis=0)
        gain = without_rounding(terms.sum(axis=0), size, 1.0)
        margin = np.divide(gain, people, out=np.zeros_like(people), where=people > 0)
        return Joint(people[None], (1.0 + margin[None]) / 2.0)

    @classmethod
    def from_masses(
        cls, points: ArrayLike, masses: ArrayLike, eta: Any
    ) -> tuple[FiniteModel, Array]:
        """Check and split masses[i, a, k] = P(x, a | i) into conditionals and shares (I, A)."""
        x = sized("points", points)
        if x.ndim != 1 or x.size == 0:
            raise ValueError(f"points must be a non-empty 1-d array, got shape {x.shape}")
        joint = finite("masses", masses)
        if joint.ndim != 3 or joint.shape[2] != x.size or joint.shape[0] == 0:
            raise ValueError(f"masses must have shape (I, A, {x.size}), got {joint.shape}")
        if joint.shape[1] < 2:
            raise ValueError(
                f"masses must hold at least two groups on axis 1, got {joint.shape[1]}"
            )
        if (joint < 0).any():
            raise ValueError(f"masses must be non-negative, got {joint.min():g}")
        with np.errstate(over="ignore"):
            totals = joint.sum(axis=(1, 2))
        if (np.abs(totals - 1) > 1e-9).any():
            i = int(np.abs(totals - 1).argmax())
            raise ValueError(
                f"masses of each client must sum to one, got {totals[i]:.12g} for client {i}"
            )
        order = np.argsort(x, kind="stable")
        if (np.diff(x[order]) == 0).any():
            raise ValueError("points must be distinct; add the masses of equal points")
        joint = joint[:, :, order] / totals[:, None, None]
        share = joint.sum(axis=2)
        share /= share.sum(axis=1, keepdims=True)
        conditional = np.divide(
            joint,
            joint.sum(axis=2, keepdims=True),
            out=np.zeros_like(joint),
            where=share[:, :, None] > 0,
        )
        return cls(x[order], conditional, _table(eta, x, order, joint.shape)), share

    @classmethod
    def from_laws(
        cls, laws: Sequence[tuple[Finite, ...]], share: Array, eta: Any
    ) -> tuple[FiniteModel, Array]:
        """As :meth:`from_masses`, of finite laws for each client and group, their points merged."""
        points = np.unique(np.concatenate([law.points for row in laws for law in row]))
        cells("clients x groups x points", (*share.shape, points.size))
        masses = np.zeros((*share.shape, points.size))
        for (i, a), part in np.ndenumerate(share):
            masses[i, a, np.searchsorted(points, laws[i][a].points)] = part * laws[i][a].masses
        return cls.from_masses(points, masses, eta)


def _holds_eta(item: object) -> bool:
    return isinstance(item, Eta) or (
        isinstance(item, Sequence) and any(isinstance(e, Eta) for e in item)
    )


def _table(eta: Any, points: Array, order: Array, shape: tuple[int, ...]) -> Array:
    """η as (I, A, n), a broadcast view where shared."""
    clients, groups, n = shape
    if eta is None:
        eta = Logistic()
    if isinstance(eta, Eta) or callable(eta):
        values = in_range("eta", applied("eta", eta, points[order]), 0, 1)
        order = np.arange(n)
    elif isinstance(eta, Sequence) and any(map(_holds_eta, eta)):
        table = by_client(eta, clients, groups)
        x = points[order]
        values = np.stack([np.stack([form(x) for form in client_etas]) for client_etas in table])
        order = np.arange(n)
    else:
        values = in_range("eta", eta, 0, 1)
    if values.shape == (n,):
        return np.broadcast_to(values[order], shape)
    if values.shape == (clients, n):
        return np.broadcast_to(values[:, None, order], shape)
    if values.shape == shape:
        return np.ascontiguousarray(values[:, :, order])
    if values.shape in ((1, 1, n), (1, groups, n), (clients, 1, n)):
        return np.broadcast_to(values[:, :, order], shape)
    raise ValueError(f"eta must have shape ({n},), ({clients}, {n}) or {shape}, got {values.shape}")
