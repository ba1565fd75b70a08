"""The arena's federations of ``studies/data/arena.json``: laws and exact frontiers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from fairfl._support.checks import Array
from fairfl._support.json_file import read_json, unsealed
from fairfl.studies.crosscheck.population.learned_rules import FLOOR, Basis
from fairfl.studies.user_runs.federation_file import federation_of
from fairfl.studies.user_runs.toml_section import Section
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel

FILE = Path(__file__).parents[1] / "data" / "arena.json"
NODES, REACH = 200, 10.0
"""Nodes of the quadrature of a law, and how many deviations it reaches to either side."""
WIDTH, STEPS = 6.0, 600
"""The published points of laws: this many deviations around the means, in equal steps."""


@dataclass(frozen=True, eq=False)
class Published:
    """A federation of the arena: its name, a note why it is there, its table ``clients`` as a TOML
    file has it, and its exact frontiers {scheme: {"disparity": [...], "accuracy": [...]}}.
    """

    name: str
    note: str
    table: dict[str, Any]
    frontiers: dict[str, dict[str, list[float]]]

    @cached_property
    def federation(self) -> Federation:
        """The federation."""
        federation = federation_of(Section(self.table, ""))
        federation.groups = tuple(range(federation.n_groups))
        return federation

    @cached_property
    def parts(self) -> list[Published]:
        """Each client by itself."""
        tables = [{"clients": [client]} for client in self.table["clients"]]
        return [Published(f"{self.name}, client {i}", "", t, {}) for i, t in enumerate(tables)]

    @property
    def is_split(self) -> bool:
        """Whether P(y = 1 | x) differs by client, so that no model is the best for all of them."""
        return "eta" in self.table["clients"][0]

    @cached_property
    def people(self) -> tuple[Array, Array, Array]:
        """(I, A, n) x, P(x, a | i) and η: of laws by quadrature, of a finite X its points."""
        share, model = self.federation.share[:, :, None], self.federation.model
        if isinstance(model, FiniteModel):
            return (
                np.broadcast_to(model.points, model.eta.shape),
                share * model.conditional,
                model.eta,
            )
        z, weights = np.polynomial.legendre.leggauss(NODES)
        density = np.exp(-((REACH * z) ** 2) / 2) * weights
        x = np.array([[law.mean + law.sd * REACH * z for law in row] for row in self._laws])
        pairs = zip(model.etas, x, strict=True)
        eta = np.array([[e(v) for e, v in zip(*pair, strict=True)] for pair in pairs])
        return x, share * density / density.sum(), eta

    @property
    def _laws(self) -> Any:
        """(I, A) normal laws."""
        return self.federation.model.laws  # type: ignore[union-attr]

    @cached_property
    def basis(self) -> Basis:
        """Of the models that are trained: logistic regression by group."""
        x, mass, _ = self.people
        mass = self.federation.weight[:, None, None] * mass * (expit(x) * expit(-x) + FLOOR)
        groups = range(self.federation.n_groups)
        return Basis.orthonormal([(x[:, a].ravel(), mass[:, a].ravel()) for a in groups], 1)

    @cached_property
    def points(self) -> Array:
        """(n,) where predictions are asked for; a rule is constant around each."""
        if isinstance(model := self.federation.model, FiniteModel):
            return model.points
        ends = [law.mean + s * WIDTH * law.sd for row in self._laws for law in row for s in (-1, 1)]
        return np.linspace(min(ends), max(ends), STEPS + 1).round(6)


@cache
def federations() -> dict[str, Published]:
    """The released federations by name; ValueError where the file was altered."""
    return {name: Published(name, **row) for name, row in unsealed(read_json(FILE)).items()}
