"""LFT+FedAvg on a finite X, in fractions or floats: rates, accuracy, Lagrangian of any f."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from hypothesis import strategies as st

from fairfl.claims.exact import Instance
from fairfl.solvers.api import solve
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.federation import Federation


@dataclass(frozen=True)
class FiniteWorld:
    """law[i][a][k] = P(x_k | a, i), q[i], weight[i] summing to one, eta[k]."""

    law: Sequence[Sequence[Sequence[Any]]]
    q: Sequence[Any]
    weight: Sequence[Any]
    eta: Sequence[Any]

    @classmethod
    def of(cls, instance: Instance) -> Self:
        """Of {"masses" (weights), "q" (eighths), "eta" (tenths), "weight"}, in floats."""
        law = np.array(instance["masses"], dtype=float)
        law = law / law.sum(axis=2, keepdims=True)
        weight = np.array(instance.get("weight", [1] * len(law)), dtype=float)
        q, eta = [v / 8 for v in instance["q"]], [v / 10 for v in instance["eta"]]
        return cls(law.tolist(), q, (weight / weight.sum()).tolist(), eta)

    @property
    def cells(self) -> list[tuple[int, int]]:
        """(a, k)."""
        return [(a, k) for a in (0, 1) for k in range(len(self.eta))]

    def local(self, f: dict[tuple[int, int], Any], i: int) -> Any:
        """MD_i(f)."""
        return sum((1 - 2 * a) * f[a, k] * self.law[i][a][k] for a, k in self.cells)

    def mass(self, i: int, a: int, k: int) -> Any:
        """P(x_k, a, i)."""
        return self.weight[i] * (self.q[i] if a else 1 - self.q[i]) * self.law[i][a][k]

    def accuracy(self, f: dict[tuple[int, int], Any]) -> Any:
        """P(ŷ = y)."""
        return sum(
            self.mass(i, a, k) * (f[a, k] * self.eta[k] + (1 - f[a, k]) * (1 - self.eta[k]))
            for i in range(len(self.q))
            for a, k in self.cells
        )

    def lagrangian_gain(self, lams: Sequence[Any], a: int, k: int) -> Any:
        """The gain of accepting x_k in group a: Σ_i [P(x, a, i)(2η - 1) ± λ_i P(x | a, i)].

        With equal weights and q this is P(a)/I times lemma 18's Σ_i s_i(x, a) p_a^(i)(x).
        """
        return sum(
            self.mass(i, a, k) * (2 * self.eta[k] - 1) + (1 - 2 * a) * lams[i] * self.law[i][a][k]
            for i in range(len(self.q))
        )


def federation_of(instance: Instance) -> tuple[Federation, list[float]]:
    """Federation and budgets of an instance (:meth:`FiniteWorld.of`), "eps" in twentieths."""
    world = FiniteWorld.of(instance)
    q = np.array(world.q)
    joint = np.array(world.law) * np.stack([1 - q, q], axis=1)[:, :, None]
    points, eta = np.arange(len(world.eta), dtype=float), np.array(world.eta)
    federation = Federation.finite(points, joint, eta, weight=instance.get("weight"))
    return federation, [float(v) / 20 for v in instance["eps"]]


def solved(
    instance: Instance,
) -> tuple[FiniteWorld, dict[tuple[int, int], float], Solution, list[float]]:
    """fairfl's solution of LFT+FedAvg on the federation of the instance."""
    federation, eps = federation_of(instance)
    world, solution = FiniteWorld.of(instance), solve(federation, "lft_fedavg", eps)
    acceptance = solution.classifier
    f = {(a, k): float(acceptance(np.array([float(k)]), np.array([a]))[0]) for a, k in world.cells}
    return world, f, solution, eps


def finite(clients: int, **fields: st.SearchStrategy[object]) -> st.SearchStrategy[Instance]:
    """Masses on four points, η in tenths, eps in twentieths, q in eighths; and ``fields``."""
    law = st.lists(st.integers(1, 9), min_size=4, max_size=4)
    masses = st.lists(st.lists(law, min_size=2, max_size=2), min_size=clients, max_size=clients)
    eta = st.lists(st.integers(0, 10), min_size=4, max_size=4)
    eps = st.lists(st.integers(0, 10), min_size=clients, max_size=clients)
    q = st.lists(st.integers(1, 7), min_size=clients, max_size=clients)
    return st.fixed_dictionaries({"masses": masses, "eta": eta, "eps": eps, "q": q} | fields)
