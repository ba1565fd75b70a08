"""Random federations with all that can be asked of them, and figures counted cell after cell."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fairfl as ff
from fairfl.theory.populations import notions

COUNTED = {
    ("", "accepted"): None,
    ("y = 1", "accepted"): 1,
    ("y = 0", "accepted"): 0,
    ("", "decided rightly"): "right",
}
"""How ``Counted`` calls a rate whose row has these words: event, and what is counted of it."""
NOTIONS = {
    name: [COUNTED[rate.event, rate.served] for rate in notion.rates]
    for name, notion in notions.NOTIONS.items()
}
SCHEMES = ("cfl", "lft_fedavg", "lft_ensemble", "client_aware")


def federation(rng: Any, clients: int | None = None, groups: int | None = None) -> ff.Federation:
    """2 to 8 clients, 2 to 5 groups, 2 to 8 points: laws that are sparse, counted, spread or nearly
    nothing, clients without a group, η in order or not, tied, of 0, 1/2 and 1, by client and by
    group.
    """
    clients = clients or int(rng.integers(2, 9))
    groups = groups or int(rng.integers(2, 6))
    n = int(rng.integers(2, 9))
    masses = rng.gamma(rng.choice([0.3, 1.0, 4.0]), size=(clients, groups, n)) + 1e-12
    if rng.random() < 0.3:
        masses = rng.poisson(4 * masses) * 1.0
    masses[:, :, 0] += 1e-3
    if rng.random() < 0.2:
        masses[rng.random(masses.shape) < 0.3] *= 10.0 ** -rng.integers(6, 14)
    if rng.random() < 0.3:
        masses[1:, rng.integers(groups)] *= rng.integers(0, 2, (clients - 1, 1))
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    eta = rng.random([(n,), (clients, n), (clients, groups, n)][rng.integers(3)])
    if rng.random() < 0.4:
        steps = rng.choice([1, 2, 4])
        eta = np.round(eta * steps) / steps
    return ff.Federation.finite(np.arange(n), masses, eta, rng.gamma(2, size=clients) + 0.05)


def federation_of_laws(
    rng: Any, clients: int | None = None, groups: int | None = None
) -> ff.Federation:
    """1 to 4 clients, 2 to 4 groups, normal laws and mixtures; some client without a group."""
    clients = clients or int(rng.integers(1, 5))
    groups = groups or int(rng.integers(2, 5))
    shape = (clients, groups)
    mean, sd = rng.normal(size=shape), rng.uniform(0.5, 2.5, shape)
    share = rng.dirichlet(np.ones(groups), clients)
    if clients > 1 and rng.random() < 0.2:
        share[-1, rng.integers(groups)] = 0.0
        share[-1] /= share[-1].sum()
    laws = [
        [stats.norm(*pair) for pair in zip(*row, strict=True)] for row in zip(mean, sd, strict=True)
    ]
    if rng.random() < 0.3:
        laws[0][0] = ff.Mixture([laws[0][0], stats.norm(3.0, 0.5)], [2, 1])
    eta: Any = [[ff.Logistic(*rng.uniform([0.3, -1], [3, 1])) for _ in row] for row in laws]
    eta = (None, [row[0] for row in eta], eta)[rng.integers(3)]
    weight = rng.uniform(0.2, 3, clients)
    rows = zip(laws, share, weight, strict=True)
    return ff.Federation([ff.Client(tuple(row), q, w) for row, q, w in rows], eta)


def random_question(
    rng: Any, fed: ff.Federation, scheme: str | None = None
) -> tuple[str, Any, dict]:
    """A scheme, its budgets, and the other arguments of ``solve``."""
    scheme = scheme or str(rng.choice(SCHEMES))
    local = scheme in ("lft_fedavg", "lft_ensemble")
    eps = rng.choice([0.0, 0.02, 0.1, 0.3], size=fed.n_clients if local else None)
    by_group = rng.random((2, fed.n_groups)) + 0.05
    costs = [(1.0, 1.0), (float(rng.integers(1, 6)), 1.0), tuple(by_group), "balanced"]
    task = {
        "notion": str(rng.choice(list(NOTIONS))),
        "difference": str(rng.choice(["pairwise", "overall"])),
        "sees": str(rng.choice(["xa", "x"])),
        "costs": costs[rng.integers(4 if 0 < fed.base_rate < 1 else 3)],
    }
    if scheme == "client_aware":
        task["local_eps"] = rng.choice([0.0, 0.05, 0.2, np.inf], size=fed.n_clients)
    return scheme, eps, task


def beaten(fed: ff.Federation, scheme: str, task: dict, budgets: Any, points: int) -> float:
    """By how much solutions at ``budgets`` beat the frontier; none is below the minimum."""
    F, fairest = ff.frontier(fed, scheme, points, **task), ff.min_disparity(fed, scheme, **task)
    assert abs(fairest.disparity - F.disparity[0]) <= 1e-9
    assert (np.diff(F.disparity) > 0).all() and (np.diff(F.utility) > 0).all()
    assert fairest.reproduced
    for p in np.flatnonzero(~F.reproduced):  # of several optima the least disparate one
        s = ff.solve(fed, scheme, F.eps[p], **task)
        assert s.utility == pytest.approx(F.utility[p], abs=1e-12)
        assert s.disparity > F.disparity[p]
    worst = -np.inf
    for eps in budgets:
        s = ff.solve(fed, scheme, eps, **task)
        assert s.disparity >= fairest.disparity - 1e-9
        d = max(s.disparity, F.disparity[0])
        utility = F.utility[np.searchsorted(F.disparity, d, side="right") - 1]
        if s.utility > utility:  # between two points: search there
            utility = F.utility_at(d)
        worst = max(worst, s.utility - utility)
    return worst


def of_client(rule: Any, i: int) -> ff.Classifier:
    """Client i's own, of a rule that may be told the client."""
    return rule if isinstance(rule, ff.Classifier) else rule[i]


class Counted:
    """A rule's cells (i, a, k), one by one: how many people, their η, and P(ŷ = 1)."""

    def __init__(self, fed: ff.Federation, rule: Any) -> None:
        model: Any = fed.model
        self.fed = fed
        self.cells = [
            (
                i,
                a,
                fed.weight[i] * fed.share[i, a] * model.conditional[i, a, k],
                model.eta[i, a, k],
                float(of_client(rule, i)(model.points[k], a)),
            )
            for i in range(fed.n_clients)
            for a in range(fed.n_groups)
            for k in range(model.points.size)
        ]

    def cost(self, missed: Any, wrong: Any) -> float:
        """The expected cost, at costs by group."""
        return sum(
            p * (eta * (1 - f) * missed[a] + (1 - eta) * f * wrong[a])
            for _, a, p, eta, f in self.cells
        )

    def rate(self, label: Any, clients: set[int], groups: set[int]) -> float:
        """P(ŷ = 1 | y = label), P(ŷ = 1), or P(ŷ = y), among clients and groups; NaN of nobody."""
        served = total = 0.0
        for i, a, p, eta, f in self.cells:
            if i not in clients or a not in groups:
                continue
            if label == "right":
                served, total = served + p * (f * eta + (1 - f) * (1 - eta)), total + p
            else:
                p *= 1 if label is None else eta if label else 1 - eta
                served, total = served + p * f, total + p
        return served / total if total > 0 else float("nan")

    def disparity(self, notion: str, difference: str, clients: set[int] | None = None) -> float:
        """The largest difference among the clients ``clients``; NaN where no two groups compare."""
        clients = set(range(self.fed.n_clients)) if clients is None else clients
        everybody, differences = set(range(self.fed.n_groups)), []
        for label in NOTIONS[notion]:
            rates = [self.rate(label, clients, {a}) for a in sorted(everybody)]
            defined = [r for r in rates if not np.isnan(r)]
            if len(defined) < 2:
                continue
            if difference == "pairwise":
                differences += [abs(r - s) for r, s in combinations(defined, 2)]
            else:
                differences += [abs(r - self.rate(label, clients, everybody)) for r in defined]
        return max(differences, default=float("nan"))


class Measured(Counted):
    """A rule's cells on densities: masses and mean η by quadrature between its edges."""

    def __init__(self, fed: ff.Federation, rules: Any) -> None:
        model: Any = fed.model
        nodes, weights = np.polynomial.legendre.leggauss(24)
        self.fed, self.cells = fed, []
        for i in range(fed.n_clients):
            rule = of_client(rules, i)
            for a in range(fed.n_groups):
                law, eta = model.laws[i][a], model.etas[i][a]
                ends = [np.linspace(law.low, law.high, 400), law.breaks, rule.edges[a]]
                edges = np.unique(np.clip(np.concatenate(ends), law.low, law.high))
                half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
                x = middle[:, None] + half[:, None] * nodes
                mass = (law.pdf(x) @ weights) * half
                positive = ((law.pdf(x) * eta(x)) @ weights) * half
                for f in np.unique(rule(middle, a)):
                    is_value = rule(middle, a) == f
                    p, y = mass[is_value].sum(), positive[is_value].sum()
                    whole = fed.weight[i] * fed.share[i, a]
                    self.cells.append((i, a, whole * p, y / p if p > 0 else 0.0, float(f)))


def by_group(costs: Any, fed: ff.Federation) -> Any:
    """(2, A) the costs that an argument stands for."""
    if isinstance(costs, str):
        costs = 0.5 / fed.base_rate, 0.5 / (1 - fed.base_rate)
    return np.stack([np.broadcast_to(cost, fed.n_groups) for cost in costs])


def check(
    fed: ff.Federation, s: ff.Solution, eps: Any, task: dict, certified: float, close: float
) -> None:
    """Certificates to ``certified``, figures counted anew to ``close``, and budgets."""
    costs, room = (
        by_group(task["costs"], fed),
        max(1e-9, certified) if fed.is_finite else certified,
    )
    unit = 1.0 if fed.is_finite else max(1.0, costs.max())
    assert all(abs(c.gap) <= certified * unit for c in s.certificates)
    assert all(0 <= c.violation <= certified for c in s.certificates)
    people = (Counted if fed.is_finite else Measured)(fed, s.classifier)
    notion, difference = task["notion"], task["difference"]
    assert (s.notion, s.difference) == (notion, difference)
    assert s.utility == pytest.approx(-people.cost(*costs), abs=close * unit)
    assert s.accuracy == pytest.approx(1 - people.cost(*np.ones(costs.shape)), abs=close)
    disparity = people.disparity(notion, difference)
    assert s.disparity == pytest.approx(0.0 if np.isnan(disparity) else disparity, abs=close)
    local = [people.disparity(notion, difference, {i}) for i in range(fed.n_clients)]
    np.testing.assert_allclose(s.local_disparities, local, atol=close)
    if fed.n_groups == 2:
        first, second = (people.rate(None, set(range(fed.n_clients)), {a}) for a in (0, 1))
        assert s.mean_difference == pytest.approx(first - second, abs=close)
    if s.scheme in ("cfl", "client_aware"):
        assert s.disparity <= eps + room
    if s.scheme == "lft_fedavg":
        assert (np.nan_to_num(s.local_disparities) <= eps + room).all()
    if s.scheme == "client_aware":
        assert (np.nan_to_num(s.local_disparities) <= task["local_eps"] + room).all()
    if task["sees"] == "x":
        x: Any = fed.model.points if fed.is_finite else np.linspace(-5, 5, 101)  # type: ignore[union-attr]
        for rule in s.classifier if s.scheme == "client_aware" else [s.classifier]:
            for a in range(1, fed.n_groups):
                np.testing.assert_array_equal(rule(x, a), rule(x, 0))
