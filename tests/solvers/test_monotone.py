"""Monotone rules against linear programmes in f itself, with f_k <= f_{k+1}."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from tasks import NOTIONS, SCHEMES, beaten, federation, random_question

import fairfl as ff

SCALE = 50  # HiGHS drops coefficients below 1e-9
FINE = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


def programme(
    fed: ff.Federation,
    rule_of: Any,
    clients: list[int],
    budgets: list[tuple[list[int], float]],
    task: dict[str, Any],
) -> float:
    """The largest utility on ``clients`` of rules whose cell of (i, a, k) is in ``rule_of``."""
    model: Any = fed.model
    people = (fed.weight[:, None] * fed.share)[..., None] * model.conditional
    people, eta = people / people[clients].sum(), np.array(model.eta)
    base, costs = fed.base_rate, task["costs"]
    costs = (0.5 / base, 0.5 / (1 - base)) if isinstance(costs, str) else costs
    missed, wrong = (np.broadcast_to(c, fed.n_groups)[None, :, None] for c in costs)
    size = int(rule_of.max()) + 1

    def linear(table: Any, members: list[int], groups: list[int]) -> Any:
        out = np.zeros(size)
        for i in members:
            for a in groups:
                np.add.at(out, rule_of[i, a], table[i, a])
        return out

    everyone = list(range(fed.n_groups))
    gain = linear(people * (missed * eta - wrong * (1 - eta)), clients, everyone)
    rows, limits = [], []
    for members, eps in budgets:
        for label in NOTIONS[task["notion"]]:
            rates = []
            for groups in [*([a] for a in everyone), everyone]:
                block = np.ix_(members, groups)
                event = {None: people, "right": people, 1: people * eta, 0: people * (1 - eta)}[
                    label
                ]
                total = event[block].sum()
                table = people * (2 * eta - 1) if label == "right" else event
                constant = (people * (1 - eta))[block].sum() if label == "right" else 0.0
                if total > 0:
                    rates.append((linear(table, members, groups) / total, constant / total))
            pairs: Any = combinations(rates[:-1], 2)
            if task["difference"] == "overall":
                pairs = [(rate, rates[-1]) for rate in rates[:-1]]
            if len(rates) > 2 and eps < np.inf:
                for (v, b), (w, c) in pairs:
                    rows += [SCALE * (v - w), SCALE * (w - v)]
                    limits += [SCALE * (eps - b + c), SCALE * (eps + b - c)]
    lines = np.unique(rule_of.reshape(-1, rule_of.shape[-1]), axis=0)
    for low, high in {
        (int(a), int(b)) for line in lines for a, b in zip(line, line[1:], strict=False)
    }:
        rows.append(np.eye(size)[low] - np.eye(size)[high])
        limits.append(0.0)
    solved = linprog(
        -gain, rows or None, limits or None, bounds=(0, 1), method="highs", options=FINE
    )
    if solved.status == 4:
        pytest.skip("linprog ends undecided")
    assert solved.status == 0
    return -solved.fun - float((people * eta * missed)[clients].sum())


def cells(fed: Any, task: dict[str, Any], *, by_client: bool) -> Any:
    """(I, A, n) the numbers of the rule's cells."""
    shape = (fed.n_clients, fed.n_groups, fed.model.points.size)
    i, a, k = np.indices(shape)
    line = by_client * i * fed.n_groups + (task["sees"] == "xa") * a
    lines = np.unique(line, return_inverse=True)[1].reshape(shape)
    return lines * shape[2] + k


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.every(4)
def test_solutions_are_the_programmes(seed: int, scheme: Any) -> None:
    rng = np.random.default_rng([seed, SCHEMES.index(scheme)])
    fed: Any = federation(rng, int(rng.integers(1, 6)), int(rng.integers(2, 4)))
    _, eps, task = random_question(rng, fed, scheme)
    s = ff.solve(fed, scheme, eps, monotone=True, **task)
    free = ff.solve(fed, scheme, eps, **task)
    aware, everyone = scheme == "client_aware", list(range(fed.n_clients))
    for rule in [s.classifier[i] for i in everyone] if aware else [s.classifier]:
        table = rule.on(fed.model.points)
        assert (np.diff(table) >= 0).all() and (table >= 0).all() and (table <= 1).all()
    if scheme == "lft_ensemble":
        best = [
            programme(fed, cells(fed, task, by_client=False), [i], [([i], e)], task)
            for i, e in enumerate(eps)
        ]
        np.testing.assert_allclose([c.primal - 1 for c in s.certificates], best, atol=1e-8)
        assert all(
            c.primal <= d.primal + 1e-12
            for c, d in zip(s.certificates, free.certificates, strict=True)
        )
        return
    budgets = [([i], e) for i, e in enumerate(eps)] if scheme == "lft_fedavg" else [(everyone, eps)]
    if aware:
        budgets += [([i], e) for i, e in enumerate(task["local_eps"])]
    best = programme(fed, cells(fed, task, by_client=aware), everyone, budgets, task)
    assert s.utility == pytest.approx(best, abs=1e-8)
    assert s.utility <= free.utility + 1e-12
    assert s.certificates[0].primal - 1 == pytest.approx(s.utility, abs=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.every(4)
def test_no_budgets_are_above_the_frontier(seed: int, scheme: Any) -> None:
    rng = np.random.default_rng([seed, SCHEMES.index(scheme)])
    fed: Any = federation(rng, int(rng.integers(1, 4)), int(rng.integers(2, 4)))
    _, _, task = random_question(rng, fed, scheme)
    size = 1 if scheme in ("cfl", "client_aware") else fed.n_clients
    budgets = rng.random((20, size)) * rng.random((20, 1))
    assert beaten(fed, scheme, task | {"monotone": True}, budgets, 6) <= 1e-9
    F = ff.frontier(fed, scheme, 6, monotone=True, **task)
    if scheme in ("cfl", "client_aware"):
        assert F.exact
        free = ff.frontier(fed, scheme, 6, **task)
        assert (F.utility <= free.utility_at(F.disparity) + 1e-12).all()
    elif scheme == "lft_fedavg":
        assert not F.exact and (F.gap >= 0).all()


def test_what_has_no_order_is_refused() -> None:
    names: Any = ff.Federation.finite([0, 1], [[[0.2, 0.3], [0.1, 0.4]]], [0.2, 0.8])
    names.model.names = ("a", "b")
    laws = ff.Federation.normal([[0, 1]])
    for fed, words in ((names, "names: a, b"), (laws, "laws with densities")):
        with pytest.raises(ValueError, match=f"monotone=True needs .* got {words}"):
            ff.solve(fed, "cfl", 0.1, monotone=True)
    with pytest.raises(ValueError, match="monotone must be"):
        ff.min_disparity(laws, "cfl", monotone=1)  # type: ignore[arg-type]
