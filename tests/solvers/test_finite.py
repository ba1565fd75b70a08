"""solve() on a finite X, where everything is exact: against programmes written here, enumeration,
and fractions.
"""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from populations import finite_model
from scipy import optimize
from strategies import finite_federations, local_budgets

import fairfl as ff
from fairfl.solvers.cfl.finite_path import flip_path
from fairfl.solvers.solution import FINITE_TOLERANCE

SCHEMES = ("cfl", "lft_ensemble", "lft_fedavg")
LOCAL = ("lft_ensemble", "lft_fedavg")
EPS = st.one_of(st.sampled_from([0.0, 1e-9, 1.0]), st.integers(1, 12).map(lambda k: k / 32))
HIGHS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def joint(fed: ff.Federation) -> Any:
    """P(x, a, i), shape (I, A, n)."""
    model = finite_model(fed)
    return fed.mass[:, :, None] * model.conditional


def eta(fed: ff.Federation) -> Any:
    return fed.model.eta  # type: ignore[union-attr]


def programme(fed: ff.Federation, rows: Any, eps: Any) -> float:
    """The best accuracy over all f with |rows·f| <= eps, by HiGHS."""
    p = joint(fed)
    u = (p * (2 * eta(fed) - 1)).sum(axis=0).ravel()
    base = float((p * (1 - eta(fed))).sum())
    rows = np.asarray(rows, dtype=float).reshape(-1, u.size)
    eps = np.minimum(np.broadcast_to(eps, rows.shape[0]), 2.0)
    found = optimize.linprog(
        -u,
        A_ub=np.concatenate([rows, -rows]),
        b_ub=np.concatenate([eps, eps]),
        bounds=(0, 1),
        method="highs",
        options=HIGHS,
    )
    assert found.success
    return base - found.fun


def pooled_row(fed: ff.Federation) -> Any:
    p = joint(fed).sum(axis=0)
    share = p / p.sum(axis=1, keepdims=True)
    return np.stack([share[0], -share[1]]).ravel()


def local_rows(fed: ff.Federation) -> Any:
    rows = []
    for i in np.flatnonzero(fed.defined):
        c = joint(fed)[i] / joint(fed)[i].sum(axis=1, keepdims=True)
        rows.append(np.stack([c[0], -c[1]]).ravel())
    return np.array(rows).reshape(len(rows), -1)


def check(fed: ff.Federation, s: ff.Solution) -> None:
    for c in s.certificates:
        assert abs(c.gap) <= FINITE_TOLERANCE and 0 <= c.violation <= FINITE_TOLERANCE
    n = fed.model.points.size  # type: ignore[union-attr]
    f = np.stack([s.classifier(fed.model.points, a) for a in range(fed.n_groups)])  # type: ignore[union-attr]
    assert f.shape == (fed.n_groups, n) and (f >= 0).all() and (f <= 1).all()
    p = joint(fed)
    right = (p * (f * eta(fed) + (1 - f) * (1 - eta(fed)))).sum()
    assert s.accuracy == pytest.approx(float(right), abs=1e-13)


@given(finite_federations(), EPS)
def test_cfl_is_the_programmes_optimum(fed: ff.Federation, eps: float) -> None:
    s = ff.solve(fed, "cfl", eps)
    check(fed, s)
    assert s.disparity <= eps + FINITE_TOLERANCE
    assert s.accuracy == pytest.approx(programme(fed, pooled_row(fed), eps), abs=1e-8)


@given(finite_federations(), st.data())
def test_fedavg_is_the_programmes_optimum(fed: ff.Federation, data: st.DataObject) -> None:
    eps = data.draw(local_budgets(fed))
    s = ff.solve(fed, "lft_fedavg", eps)
    check(fed, s)
    local = s.local_mean_differences
    assert np.isnan(local).tolist() == [not d for d in fed.defined]
    assert (np.abs(local[fed.defined]) <= eps[fed.defined] + FINITE_TOLERANCE).all()
    assert s.accuracy == pytest.approx(programme(fed, local_rows(fed), eps[fed.defined]), abs=1e-8)


@given(finite_federations(), st.data())
def test_the_ensemble_averages_programmes(fed: ff.Federation, data: st.DataObject) -> None:
    eps = data.draw(local_budgets(fed))
    s = ff.solve(fed, "lft_ensemble", eps)
    check(fed, s)
    # each member is optimal on its own law: certificates count share-weighted accuracies of client
    # i alone
    model: Any = fed.model
    members = []
    for i in range(fed.n_clients):
        if not fed.defined[i]:
            members.append((model.eta[i] > 0.5).astype(float))
            continue
        mass = (fed.share[i][:, None] * model.conditional[i])[None]
        alone = ff.Federation.finite(model.points, mass, model.eta[i : i + 1])
        own = ff.solve(alone, "cfl", eps[i])
        assert own.accuracy == pytest.approx(programme(alone, pooled_row(alone), eps[i]), abs=1e-8)
        members.append(np.stack([own.classifier(model.points, a) for a in (0, 1)]))
    # else a rule is free where its client has nobody
    if model.eta.strides[0] == 0 == model.eta.strides[1]:
        vote = np.einsum("i,iax->ax", fed.weight, np.stack(members))
        found = np.stack([s.classifier(model.points, a) for a in (0, 1)])
        seen = (joint(fed) > 0).all(axis=0)
        np.testing.assert_allclose(found[seen], vote[seen], atol=1e-9)


@given(finite_federations(max_points=3, max_clients=2), EPS)
def test_cfl_in_exact_fractions(fed: ff.Federation, eps: float) -> None:
    """One constraint: an optimal f has at most one fractional cell, so all of them can be tried, in
    fractions.
    """
    p = joint(fed)
    # all numbers of the strategy are ratios of small integers, lost in normalisation: the doubles
    # themselves are exact
    cells = p.shape[1] * p.shape[2]
    u = [
        sum(
            (
                Fraction(float(p[i].ravel()[k])) * (2 * Fraction(float(eta(fed)[i].ravel()[k])) - 1)
                for i in range(len(p))
            ),
            Fraction(0),
        )
        for k in range(cells)
    ]
    v = [Fraction(float(w)) for w in pooled_row(fed)]
    budget, best = Fraction(eps), None
    for corner in product((0, 1), repeat=cells):
        md = sum(w for w, f in zip(v, corner, strict=True) if f)
        value = sum((g for g, f in zip(u, corner, strict=True) if f), Fraction(0))
        if abs(md) <= budget:
            best = value if best is None else max(best, value)
        for k in range(cells):
            if v[k] == 0:
                continue
            for goal in (budget, -budget):
                share = (goal - (md - (v[k] if corner[k] else 0))) / v[k]
                if 0 <= share <= 1:
                    candidate = value + (share - corner[k]) * u[k]
                    best = candidate if best is None else max(best, candidate)
    assert best is not None
    base = float((p * (1 - eta(fed))).sum())
    assert ff.solve(fed, "cfl", eps).accuracy == pytest.approx(base + float(best), abs=1e-13)


@given(finite_federations(groups=3), st.sampled_from(["dp", "eo", "eodds"]), EPS)
def test_notions_and_three_groups_are_programmes(
    fed: ff.Federation, notion: str, eps: float
) -> None:
    p, e = joint(fed), eta(fed)
    tables = {
        "dp": [p.sum(0)],
        "eo": [(p * e).sum(0)],
        "eodds": [(p * e).sum(0), (p * (1 - e)).sum(0)],
    }[notion]
    rows = []
    for table in tables:
        for a in range(3):
            for b in range(a):
                if table[a].sum() > 0 and table[b].sum() > 0:
                    row = np.zeros_like(table)
                    row[a], row[b] = table[a] / table[a].sum(), -table[b] / table[b].sum()
                    rows.append(row.ravel())
    s = ff.solve(fed, "cfl", eps, notion=notion)
    check(fed, s)
    assert s.disparity <= eps + FINITE_TOLERANCE
    assert np.isnan(s.mean_difference)
    assert s.accuracy == pytest.approx(
        programme(fed, np.array(rows).reshape(len(rows), p[0].size), eps), abs=1e-8
    )


@given(finite_federations(), st.sampled_from(["eo", "eodds"]), EPS)
def test_notions_with_two_groups(fed: ff.Federation, notion: str, eps: float) -> None:
    s = ff.solve(fed, "cfl", eps, notion=notion)
    check(fed, s)
    assert s.disparity <= eps + FINITE_TOLERANCE
    assert s.accuracy == pytest.approx(
        ff.solve(fed, "cfl", eps, method="lp", notion=notion).accuracy, abs=1e-6
    )


@given(finite_federations(), st.sampled_from(LOCAL), st.data())
def test_no_local_scheme_beats_cfl_at_its_disparity(
    fed: ff.Federation, scheme: str, data: st.DataObject
) -> None:
    s = ff.solve(fed, scheme, data.draw(local_budgets(fed)))
    assert s.accuracy <= ff.solve(fed, "cfl", s.disparity).accuracy + 2e-12


@given(finite_federations(), st.sampled_from(SCHEMES), st.data())
def test_swapping_the_groups_turns_the_sign(
    fed: ff.Federation, scheme: str, data: st.DataObject
) -> None:
    eps: Any = data.draw(EPS) if scheme == "cfl" else data.draw(local_budgets(fed))
    model: Any = fed.model
    masses = fed.share[:, :, None] * model.conditional
    mirrored = ff.Federation.finite(
        model.points, masses[:, ::-1], model.eta[:, ::-1], weight=fed.weight
    )
    one, two = ff.solve(fed, scheme, eps), ff.solve(mirrored, scheme, eps)
    if scheme != "lft_ensemble" or model.shared:
        assert one.accuracy == pytest.approx(two.accuracy, abs=5e-12)
    if scheme == "cfl":
        assert one.mean_difference == pytest.approx(-two.mean_difference, abs=5e-12)


@given(finite_federations(min_clients=2), st.sampled_from(SCHEMES), st.data())
def test_clients_can_be_reordered_and_halved(
    fed: ff.Federation, scheme: str, data: st.DataObject
) -> None:
    model: Any = fed.model
    masses = fed.share[:, :, None] * model.conditional
    back = np.arange(fed.n_clients)[::-1]
    eps: Any = data.draw(EPS) if scheme == "cfl" else data.draw(local_budgets(fed))
    one = ff.solve(fed, scheme, eps)
    other = ff.Federation.finite(
        model.points, masses[back], model.eta[back], weight=fed.weight[back]
    )
    assert one.accuracy == pytest.approx(
        ff.solve(other, scheme, eps if scheme == "cfl" else eps[back]).accuracy, abs=5e-12
    )
    twice = np.append(0, np.arange(fed.n_clients))
    weight = fed.weight[twice].copy()
    weight[:2] /= 2
    halved = ff.Federation.finite(model.points, masses[twice], model.eta[twice], weight=weight)
    assert one.accuracy == pytest.approx(
        ff.solve(halved, scheme, eps if scheme == "cfl" else eps[twice]).accuracy, abs=5e-12
    )


@given(finite_federations(), st.sampled_from(("cfl", "lft_fedavg")), EPS, EPS)
def test_accuracy_rises_with_the_budget_and_is_concave(
    fed: ff.Federation, scheme: str, one: float, two: float
) -> None:
    low, high = sorted((one, two))
    ends = [ff.solve(fed, scheme, e).accuracy for e in (low, high)]
    assert ends[0] <= ends[1] + 2e-12
    assert ff.solve(fed, scheme, (low + high) / 2).accuracy >= sum(ends) / 2 - 2e-12


@given(finite_federations(), st.sampled_from(SCHEMES))
def test_slack_budgets_give_the_most_accurate_rule(fed: ff.Federation, scheme: str) -> None:
    s = ff.solve(fed, scheme, np.inf)
    assert (s.multipliers == 0).all()
    if scheme != "lft_ensemble":
        best = float((joint(fed) * (1 - eta(fed))).sum()) + float(
            np.maximum((joint(fed) * (2 * eta(fed) - 1)).sum(0), 0).sum()
        )
        assert s.accuracy == pytest.approx(best, abs=1e-14)
    assert ff.solve(fed, scheme, 1.0).accuracy == pytest.approx(s.accuracy, abs=1e-12)


def test_a_randomised_tie_by_hand() -> None:
    # one client, groups alike in mass; group 0 has everybody at η = 3/4, group 1 at η = 1/4: MD = 1
    # unconstrained. a flip costs ½·½ = 1/4 per unit of MD in both groups: at eps = 1/2 half a unit
    # is flipped, cost 1/8
    fed = ff.Federation.finite([0.0, 1.0], [[[0, 0.5], [0.5, 0]]], [0.25, 0.75])
    assert ff.solve(fed, "cfl", 1.0).accuracy == 0.75
    s = ff.solve(fed, "cfl", 0.5)
    assert s.accuracy == pytest.approx(0.75 - 0.125, abs=1e-15)
    assert s.mean_difference == pytest.approx(0.5, abs=1e-15)
    assert s.multipliers[0] == pytest.approx(-0.25, abs=1e-15)
    # ties are flipped together: both groups a quarter each
    assert float(s.classifier(1.0, 0)) == pytest.approx(0.75, abs=1e-15)
    assert float(s.classifier(0.0, 1)) == pytest.approx(0.25, abs=1e-15)


@given(
    st.lists(st.integers(-8, 8), min_size=1, max_size=6),
    st.lists(st.integers(-8, 8), min_size=6, max_size=6),
    st.data(),
)
def test_a_flip_path_descends_to_zero(
    first: list[int], second: list[int], data: st.DataObject
) -> None:
    n = len(first)
    margin = np.array([first, second[:n]]) / 8
    p = np.array(
        [[data.draw(st.integers(0, 4)) for _ in range(n)] for _ in (0, 1)], dtype=float
    ) + np.eye(2, n)
    p[1, 0] += p[1].sum() == 0
    p /= p.sum(axis=1, keepdims=True)
    slope = np.repeat([1 / 0.25, -1 / 0.75], n)  # MD of one person more at a cell
    path = flip_path(margin.ravel(), slope, np.append(p[0], -p[1]))
    assert (np.diff(path.gap) <= 1e-15).all() and (np.diff(path.exchange_rate) >= 0).all()
    assert path.gap[-1] <= 1e-15
    free = (1 + np.sign(margin)) / 2
    start = p[0] @ free[0] - p[1] @ free[1]
    assert path.gap[0] == pytest.approx(abs(start), abs=1e-15)
    for eps in (0.0, 0.1, 0.3):
        rule, lam = path.classifier(eps)
        f = rule.reshape(2, n)
        md = float(p[0] @ f[0] - p[1] @ f[1])
        assert md == pytest.approx(np.sign(start) * min(eps, abs(start)), abs=1e-14)
        assert lam * start <= 0


@given(finite_federations(q="all"), st.data())
def test_clients_of_one_group_bind_nobody(fed: ff.Federation, data: st.DataObject) -> None:
    tight = np.where(fed.defined, 0.1, 0.0)
    slack = np.where(fed.defined, 0.1, np.inf)
    for scheme in LOCAL:
        one, two = ff.solve(fed, scheme, tight), ff.solve(fed, scheme, slack)
        assert one.accuracy == pytest.approx(two.accuracy, abs=1e-14)
        assert (one.multipliers[~fed.defined] == 0).all()
