"""Random federations: plain numbers, dyadic where ties matter, so that failures shrink well."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import stats

from fairfl.theory.populations.client import Client
from fairfl.theory.populations.eta import Logistic, Monotone
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.laws import Mixture


def eighths(low: float, high: float) -> st.SearchStrategy[float]:
    """Multiples of 1/8 in [low, high]."""
    return st.integers(round(8 * low), round(8 * high)).map(lambda k: k / 8)


MEANS = eighths(-3, 3)
SPREADS = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0])
WEIGHTS = st.integers(1, 8).map(float)
INNER_SHARES = st.integers(1, 15).map(lambda k: k / 16)
SHARES = st.one_of(INNER_SHARES, INNER_SHARES, INNER_SHARES, st.sampled_from([0.0, 1.0]))
"""P(a=1 | i), now and then a client with one group only."""


def normals() -> st.SearchStrategy[Any]:
    return st.builds(stats.norm, MEANS, SPREADS)


def mixtures() -> st.SearchStrategy[Mixture]:
    return st.lists(st.tuples(normals(), WEIGHTS), min_size=2, max_size=3).map(
        lambda parts: Mixture([law for law, _ in parts], [w for _, w in parts])
    )


def others() -> st.SearchStrategy[Any]:
    """Kinks, jumps, heavy tails and bounded supports; densities with poles are tested by hand."""
    shapes = st.sampled_from([1.0, 2.0, 3.5])
    return st.one_of(
        st.builds(stats.laplace, MEANS, SPREADS),
        st.builds(stats.logistic, MEANS, st.sampled_from([0.25, 0.5, 1.0])),
        st.builds(stats.uniform, MEANS, st.sampled_from([0.5, 1.0, 4.0])),
        st.builds(stats.gamma, shapes, MEANS, st.sampled_from([0.5, 1.0])),
        st.builds(stats.beta, shapes, shapes, MEANS, st.sampled_from([1.0, 4.0])),
        st.builds(stats.t, st.sampled_from([3.0, 5.0, 10.0]), MEANS, st.sampled_from([0.5, 1.0])),
    )


def laws() -> st.SearchStrategy[Any]:
    return st.one_of(normals(), mixtures(), others())


def _probit(x: Any) -> Any:
    return 0.1 + 0.8 * stats.norm.cdf(x)


def _probit_inverse(p: Any) -> Any:
    return stats.norm.ppf((p - 0.1) / 0.8)


PROBIT = Monotone(_probit, _probit_inverse, low=0.1, high=0.9)
"""An η that never gets beyond 0.1 and 0.9: thresholds jump to ±inf at finite multipliers."""
CAUCHY = Monotone(lambda x: 0.5 + np.arctan(x) / np.pi, lambda p: np.tan(np.pi * (p - 0.5)))


def etas() -> st.SearchStrategy[Any]:
    """η onto (0, 1); PROBIT, which is not, is tested by hand."""
    return st.one_of(
        st.builds(Logistic, st.sampled_from([0.5, 1.0, 2.0]), eighths(-1, 1)), st.just(CAUCHY)
    )


def shared_etas() -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), etas())


@st.composite
def eta_tables(draw: st.DrawFn, count: int, kind: str = "any") -> Any:
    """η "shared", one "client" by client, or one per client and "group"."""
    if kind == "any":
        kind = draw(st.sampled_from(["shared", "shared", "client", "group"]))
    if kind == "shared":
        return draw(shared_etas())
    if kind == "client":
        return [draw(etas()) for _ in range(count)]
    return [(draw(etas()), draw(etas())) for _ in range(count)]


def _both_groups(q: list[float]) -> bool:
    return any(v > 0 for v in q) and any(v < 1 for v in q)


@st.composite
def shares(draw: st.DrawFn, count: int, kind: str = "any") -> list[float]:
    """q: "equal" and inside (0, 1), "inner" (inside, unequal), or "any" with 0 and 1 among them."""
    if kind == "any":
        kind = draw(st.sampled_from(["equal", "inner", "all"]))
    if kind == "equal":
        return [draw(INNER_SHARES)] * count
    share = INNER_SHARES if kind == "inner" else SHARES
    return draw(st.lists(share, min_size=count, max_size=count).filter(_both_groups))


@st.composite
def federations(
    draw: st.DrawFn,
    law: st.SearchStrategy[Any] | None = None,
    q: str = "any",
    eta: str = "any",
    min_clients: int = 2,
    max_clients: int = 4,
) -> Federation:
    """Federations of continuous laws."""
    count = draw(st.integers(min_clients, max_clients))
    dist = (
        law
        if law is not None
        else draw(st.sampled_from([normals(), normals(), mixtures(), laws()]))
    )
    q_values = draw(shares(count, q))
    clients = [Client((draw(dist), draw(dist)), q=v, weight=draw(WEIGHTS)) for v in q_values]
    return Federation(clients, eta=draw(eta_tables(count, eta)))


DYADIC = st.integers(0, 16).map(lambda k: k / 16)


@st.composite
def counts(draw: st.DrawFn, n: int) -> Any:
    """n non-negative whole numbers with a positive sum."""
    return np.array(
        draw(st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(any)), dtype=float
    )


@st.composite
def finite_federations(
    draw: st.DrawFn,
    q: str = "any",
    eta: str = "any",
    min_clients: int = 1,
    max_clients: int = 4,
    max_points: int = 7,
    groups: int = 2,
) -> Federation:
    """Federations on a finite X: atoms, empty cells and ties in η, which need not be monotone."""
    clients = draw(st.integers(min_clients, max_clients))
    n = draw(st.integers(1, max_points))
    if groups == 2:
        share = np.array([[1 - v, v] for v in draw(shares(clients, q))])
    else:
        share = np.array([draw(counts(groups)) for _ in range(clients)])
        share[0] += share.sum(axis=0) == 0
        share /= share.sum(axis=1, keepdims=True)
    masses = np.empty((clients, groups, n))
    for i in range(clients):
        for a in range(groups):
            c = draw(counts(n))
            masses[i, a] = share[i, a] * c / c.sum()
    kind = draw(st.sampled_from(["shared", "client", "group"])) if eta == "any" else eta
    shape = {"shared": (n,), "client": (clients, n), "group": (clients, groups, n)}[kind]
    size = int(np.prod(shape))
    table = np.array(draw(st.lists(DYADIC, min_size=size, max_size=size))).reshape(shape)
    weight = draw(st.lists(WEIGHTS, min_size=clients, max_size=clients))
    return Federation.finite(np.arange(n) - n / 2, masses, table, weight=weight)


@st.composite
def budgets(draw: st.DrawFn, count: int) -> Any:
    """eps (count,): zero, small, ordinary and slack ones."""
    budget = st.one_of(
        st.just(0.0),
        st.integers(1, 15).map(lambda k: k / 32),
        st.sampled_from([1e-9, 1e-3, 1.0, np.inf]),
    )
    return np.array(draw(st.lists(budget, min_size=count, max_size=count)))


def local_budgets(fed: Federation) -> st.SearchStrategy[Any]:
    return st.one_of(
        budgets(fed.n_clients),
        st.sampled_from([0.0, 0.05, 0.2]).map(lambda v: np.full(fed.n_clients, v)),
    )
