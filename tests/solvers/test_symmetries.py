"""What may not matter on a finite X: the groups' names, the clients' order, a client in two halves,
a group that nobody compares, and of two groups whether they are compared in pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tasks import SCHEMES, federation, random_question

import fairfl as ff

SEEDS = range(6)
SAME = 1e-9
"""Utilities of two tables that differ by rounding, where multipliers reach 1e6."""


@dataclass(frozen=True)
class Question:
    """A federation's tables, masses and eta (I, A, n), weight (I,), and what is asked of it."""

    masses: Any
    eta: Any
    weight: Any
    scheme: str
    eps: Any
    task: dict[str, Any]

    @classmethod
    def random(cls, seed: int, scheme: str, **sizes: Any) -> Question:
        rng = np.random.default_rng([seed, SCHEMES.index(scheme)])
        fed = federation(rng, **sizes)
        _, eps, task = random_question(rng, fed, scheme)
        model: Any = fed.model
        masses = fed.share[:, :, None] * model.conditional
        return cls(masses, np.array(model.eta), fed.weight, scheme, eps, task)

    def utility(self) -> float:
        """Of an ensemble, whose members may have several optima, the members' mean."""
        points = np.arange(self.masses.shape[2])
        fed = ff.Federation.finite(points, self.masses, self.eta, self.weight)
        s = ff.solve(fed, self.scheme, self.eps, **self.task)
        if self.scheme == "lft_ensemble":
            return float(fed.weight @ [c.primal for c in s.certificates]) - 1.0
        return s.utility

    def clients(self, order: Any) -> Question:
        """The clients ``order``, each as often as it is named, with their budgets."""
        local = {k: v[order] for k, v in self.task.items() if k == "local_eps"}
        share = self.weight / np.bincount(order, minlength=len(self.weight))
        laws = self.masses[order], self.eta[order], share[order]
        eps = self.eps[order] if np.ndim(self.eps) else self.eps
        return Question(*laws, self.scheme, eps, self.task | local)

    def groups(self, order: Any) -> Question:
        """The groups by other names, with their costs."""
        costs = self.task["costs"]
        if not isinstance(costs, str):
            costs = tuple(cost[order] if np.ndim(cost) else cost for cost in costs)
        task = self.task | {"costs": costs}
        return replace(self, masses=self.masses[:, order], eta=self.eta[:, order], task=task)


def turned(question: Question) -> Question:
    return question.groups(np.arange(question.masses.shape[1])[::-1])


def permuted(question: Question) -> Question:
    return question.clients(np.roll(np.arange(len(question.weight)), 1))


def halved(question: Question) -> Question:
    """Client 0 as two clients with half its people each: its rules may be told apart, in vain."""
    return question.clients(np.append(0, np.arange(len(question.weight))))


def gap(change: Any, seed: int, scheme: str) -> float:
    question = Question.random(seed, scheme)
    return abs(change(question).utility() - question.utility())


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("change", [turned, permuted, halved])
def test_what_does_not_matter(change: Any, scheme: str) -> None:
    assert max(gap(change, seed, scheme) for seed in SEEDS) <= SAME


def two_groups(seed: int, scheme: str) -> Question:
    return Question.random(seed, scheme, groups=2)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_group_that_nobody_compares_changes_no_number(scheme: str) -> None:
    """Of K groups, with levels or overall, the problem is the two groups' own."""
    gaps = []
    for seed in SEEDS:
        base = two_groups(seed, scheme)
        notion = ("true_positive_rate_parity", "false_positive_rate_parity")[seed % 2]
        base = replace(base, task=base.task | {"notion": notion, "sees": "xa", "costs": (3, 2)})
        third = np.full_like(base.masses[:, :1], 1 / base.masses.shape[2])
        masses = np.concatenate([base.masses, third], axis=1) / 2
        eta = np.concatenate([base.eta, np.full_like(third, seed % 2)], axis=1)
        extended = replace(base, masses=masses, eta=eta)
        gaps.append(abs(2 * extended.utility() - base.utility()))
    assert max(gaps) <= 3e-12


@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_groups_overall_are_the_larger_share_of_the_pair(scheme: str) -> None:
    """|r_0 - r| and |r_1 - r| are the other group's share of |r_0 - r_1|, so that a budget on the
    pair is one on the larger share of it. Of rates with other events the shares are of these.
    """
    gaps = []
    for seed in SEEDS:
        base = two_groups(seed, scheme)
        base = replace(base, task=base.task | {"notion": "dp", "difference": "pairwise"})
        masses = base.masses.sum(axis=2)
        larger = masses.max(axis=1)
        whole = float((base.weight @ masses).max() / base.weight.sum())
        pair = {"local_eps": base.task["local_eps"] * larger} if scheme == "client_aware" else {}
        share = larger if scheme.startswith("lft") else whole
        both = (masses > 0).all(axis=1) if scheme.startswith("lft") else True
        overall = replace(
            base,
            eps=np.where(both, base.eps * share, base.eps),
            task=base.task | pair | {"difference": "overall"},
        )
        gaps.append(abs(overall.utility() - base.utility()))
    assert max(gaps) <= SAME
