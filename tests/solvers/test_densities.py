"""solve() on continuous laws: what every solution must satisfy, whatever the federation."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from populations import continuous_model
from scipy import integrate
from strategies import INNER_SHARES, federations, laws, local_budgets, mixtures, normals

import fairfl as ff
from fairfl.solvers.numerics.certify import solve_by_dual
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import LAW_TOLERANCE

FEWER = settings(max_examples=max(10, settings.default.max_examples // 5))  # type: ignore[union-attr]
"""For examples that take a good part of a second."""
SCHEMES = ("cfl", "lft_ensemble", "lft_fedavg")
LOCAL = ("lft_ensemble", "lft_fedavg")
EPS = st.one_of(st.sampled_from([0.0, 1e-9, 1e-3, 1.0]), st.integers(1, 20).map(lambda k: k / 50))
SMOOTH = st.one_of(normals(), mixtures())
TOLERANCE = LAW_TOLERANCE


def clients_of(fed: ff.Federation) -> list[ff.Client]:
    model: Any = fed.model
    return [
        ff.Client(model.laws[i], q=float(fed.q[i]), weight=float(fed.weight[i]))
        for i in range(fed.n_clients)
    ]


def check(fed: ff.Federation, s: ff.Solution) -> None:
    """Feasible, certified, and its figures those of its classifier."""
    for c in s.certificates:
        assert (
            abs(c.gap) <= TOLERANCE
            and 0 <= c.violation <= TOLERANCE
            and 0 <= c.numerical_error <= TOLERANCE
        )
    assert s.duality_gap == max(c.gap for c in s.certificates)
    if s.scheme == "cfl":
        assert s.disparity <= s.eps[0] + TOLERANCE
    elif s.scheme == "lft_fedavg":
        local = s.local_mean_differences
        assert np.isnan(local).tolist() == [not d for d in fed.defined]
        assert (np.abs(local[fed.defined]) <= s.eps[fed.defined] + TOLERANCE).all()
        # complementary slackness and the sign of multipliers
        for lam, md, eps in zip(
            s.multipliers[fed.defined], local[fed.defined], s.eps[fed.defined], strict=True
        ):
            if abs(lam) > 1e-7:
                assert md == pytest.approx(
                    -np.sign(lam) * eps, abs=1e-3 if abs(lam) < 1e-4 else 1e-5
                )
    assert s.scheme == "cfl" or (s.multipliers[~fed.defined] == 0).all()
    assert s.accuracy == s.classifier.accuracy(fed)
    assert s.mean_difference == pytest.approx(s.classifier.mean_difference(fed), abs=1e-14)


@given(federations(law=SMOOTH), EPS)
def test_cfl_is_feasible_and_certified(fed: ff.Federation, eps: float) -> None:
    check(fed, ff.solve(fed, "cfl", eps))


@given(federations(law=SMOOTH), st.data())
def test_the_ensemble_is_certified(fed: ff.Federation, data: st.DataObject) -> None:
    check(fed, ff.solve(fed, "lft_ensemble", data.draw(local_budgets(fed))))


@given(federations(law=SMOOTH), st.data())
def test_fedavg_is_feasible_and_certified(fed: ff.Federation, data: st.DataObject) -> None:
    check(fed, ff.solve(fed, "lft_fedavg", data.draw(local_budgets(fed))))


@given(federations(law=laws(), max_clients=3), st.sampled_from(SCHEMES), EPS)
def test_any_law_is_solved_and_certified(fed: ff.Federation, scheme: str, eps: float) -> None:
    check(fed, ff.solve(fed, scheme, eps))


@given(federations(law=SMOOTH, max_clients=3), st.sampled_from(LOCAL), st.data())
def test_no_local_scheme_beats_cfl_at_its_disparity(
    fed: ff.Federation, scheme: str, data: st.DataObject
) -> None:
    s = ff.solve(fed, scheme, data.draw(local_budgets(fed)))
    assert s.accuracy <= ff.solve(fed, "cfl", s.disparity).accuracy + TOLERANCE


@given(federations(law=SMOOTH, max_clients=3), st.data())
def test_the_ensemble_solves_each_client_alone(fed: ff.Federation, data: st.DataObject) -> None:
    eps = data.draw(local_budgets(fed))
    s = ff.solve(fed, "lft_ensemble", eps)
    model: Any = fed.model
    members = []
    for i, client in enumerate(clients_of(fed)):
        if fed.defined[i]:
            alone = ff.Federation([client], eta=[model.etas[i]])
            members.append(ff.solve(alone, "cfl", eps[i]).classifier)
        else:  # an undefined constraint binds nobody: both groups at η > 1/2
            members.append(
                ff.Classifier.thresholds([float(e.inverse(0.5, 0.5)) for e in model.etas[i]])
            )
    vote = ff.Classifier.average(members, fed.weight)
    assert s.accuracy == pytest.approx(vote.accuracy(fed), abs=1e-12)
    assert s.mean_difference == pytest.approx(vote.mean_difference(fed), abs=1e-9)


@given(federations(law=SMOOTH), EPS)
def test_thresholds_and_the_dual_give_one_cfl(fed: ff.Federation, eps: float) -> None:
    one = ff.solve(fed, "cfl", eps)
    two = solve_by_dual(fed, Task.of(fed, "cfl"), np.array([eps]))
    assert one.accuracy == pytest.approx(two.accuracy, abs=2 * TOLERANCE)


@given(federations(law=SMOOTH, max_clients=3), st.sampled_from(SCHEMES))
def test_slack_budgets_give_the_most_accurate_rule(fed: ff.Federation, scheme: str) -> None:
    free = ff.solve(fed, scheme, np.inf)
    assert (free.multipliers == 0).all()
    model: Any = fed.model
    if scheme != "lft_ensemble":
        best = 1 - fed.base_rate
        for a in (0, 1):
            g = model.gain(a)
            x = np.linspace(g.edges[0], g.edges[-1], 4001)
            best += float(np.maximum(-np.diff(g.above(x)[0]), 0).sum())
        assert free.accuracy >= best - 1e-12
    if scheme == "cfl":
        limits: Any = free.disparity
    elif scheme == "lft_fedavg":
        limits = np.nan_to_num(np.abs(free.local_mean_differences))
    else:
        limits = 1.0
    for eps in (limits, limits * 1.0 + 1e-6, 1.0):
        assert ff.solve(fed, scheme, eps).accuracy == pytest.approx(free.accuracy, abs=1e-12)


@given(federations(law=SMOOTH, max_clients=3), st.sampled_from(("cfl", "lft_fedavg")), EPS, EPS)
def test_a_larger_budget_is_never_worse(
    fed: ff.Federation, scheme: str, one: float, two: float
) -> None:
    low, high = sorted((one, two))
    assert (
        ff.solve(fed, scheme, low).accuracy <= ff.solve(fed, scheme, high).accuracy + 2 * TOLERANCE
    )


@given(federations(law=SMOOTH, max_clients=3), EPS, EPS)
def test_cfl_is_concave_in_its_budget(fed: ff.Federation, one: float, two: float) -> None:
    ends = [ff.solve(fed, "cfl", e).accuracy for e in (one, two)]
    assert ff.solve(fed, "cfl", (one + two) / 2).accuracy >= sum(ends) / 2 - TOLERANCE


@given(federations(law=SMOOTH, max_clients=3), st.sampled_from(SCHEMES), st.data())
def test_swapping_the_groups_turns_the_sign(
    fed: ff.Federation, scheme: str, data: st.DataObject
) -> None:
    eps = data.draw(EPS) if scheme == "cfl" else data.draw(local_budgets(fed))
    model: Any = fed.model
    mirrored = ff.Federation(
        [ff.Client(c.laws[::-1], 1 - c.q, c.weight) for c in clients_of(fed)],
        eta=[e[::-1] for e in model.etas],
    )
    one, two = ff.solve(fed, scheme, eps), ff.solve(mirrored, scheme, eps)
    assert one.accuracy == pytest.approx(two.accuracy, abs=2 * TOLERANCE)
    if scheme != "lft_fedavg":  # its optimum need not be unique
        assert one.mean_difference == pytest.approx(-two.mean_difference, abs=1e-8)
        np.testing.assert_allclose(one.multipliers, -two.multipliers, atol=1e-6)


@given(
    federations(law=SMOOTH, min_clients=3, max_clients=3),
    st.sampled_from(SCHEMES),
    st.permutations(range(3)),
    st.data(),
)
def test_the_order_of_clients_does_not_matter(
    fed: ff.Federation, scheme: str, order: list[int], data: st.DataObject
) -> None:
    eps: Any = data.draw(EPS) if scheme == "cfl" else data.draw(local_budgets(fed))
    model: Any = fed.model
    clients = clients_of(fed)
    other = ff.Federation([clients[k] for k in order], eta=[model.etas[k] for k in order])
    one = ff.solve(fed, scheme, eps)
    two = ff.solve(other, scheme, eps if scheme == "cfl" else eps[order])
    assert one.accuracy == pytest.approx(two.accuracy, abs=2 * TOLERANCE)
    if scheme != "lft_fedavg":
        assert one.mean_difference == pytest.approx(two.mean_difference, abs=1e-9)


@given(federations(law=SMOOTH, max_clients=3), st.sampled_from(SCHEMES), st.data())
def test_halving_a_client_changes_nothing(
    fed: ff.Federation, scheme: str, data: st.DataObject
) -> None:
    # the two halves have the same law, so the same MD_i: with one budget each, every scheme's
    # problem is the same
    eps: Any = data.draw(EPS) if scheme == "cfl" else data.draw(local_budgets(fed))
    model: Any = fed.model
    first, *rest = clients_of(fed)
    half = ff.Client(first.laws, first.q, first.weight / 2)
    other = ff.Federation([half, half, *rest], eta=[model.etas[0], *model.etas])
    one = ff.solve(fed, scheme, eps)
    two = ff.solve(other, scheme, eps if scheme == "cfl" else np.append(eps[0], eps))
    assert one.accuracy == pytest.approx(two.accuracy, abs=2 * TOLERANCE)
    if scheme != "lft_fedavg":
        assert one.mean_difference == pytest.approx(two.mean_difference, abs=1e-9)


@given(federations(law=SMOOTH, q="equal"), st.sampled_from([0.0, 0.05]))
def test_equal_shares_and_locally_fair_means_fair(fed: ff.Federation, eps: float) -> None:
    # q common: P(i | a) = π_i for both groups, so MD = Σ π_i MD_i (FedFB, theorem 21)
    s = ff.solve(fed, "lft_fedavg", eps)
    assert s.disparity <= eps + TOLERANCE
    assert s.mean_difference == pytest.approx(
        float(fed.weight @ s.local_mean_differences), abs=1e-12
    )


@given(
    federations(law=SMOOTH, q="inner", eta="shared", max_clients=3),
    st.sampled_from([0.0, 1.0]),
    EPS,
    INNER_SHARES,
)
def test_clients_of_one_group_bind_nobody(
    fed: ff.Federation, q: float, eps: float, own: float
) -> None:
    model: Any = fed.model
    clients = clients_of(fed)
    clients[0] = ff.Client(clients[0].laws, q, 1.0)
    one = ff.Federation(clients, eta=model.etas[0][0])
    tight, slack = np.full(fed.n_clients, eps), np.full(fed.n_clients, eps)
    tight[0], slack[0] = 0.0, np.inf
    for scheme in LOCAL:
        s = ff.solve(one, scheme, tight)
        assert np.isnan(s.local_mean_differences[0]) and s.multipliers[0] == 0
        assert s.accuracy == ff.solve(one, scheme, slack).accuracy


@given(normals(), normals(), INNER_SHARES, EPS)
def test_one_client_makes_all_schemes_one(p: Any, r: Any, q: float, eps: float) -> None:
    fed = ff.Federation([ff.Client((p, r), q=q)])
    found = [ff.solve(fed, scheme, eps) for scheme in SCHEMES]
    for s in found[1:]:
        assert s.accuracy == pytest.approx(found[0].accuracy, abs=2 * TOLERANCE)
        assert s.mean_difference == pytest.approx(found[0].mean_difference, abs=1e-6)


@FEWER
@given(federations(law=normals(), min_clients=20, max_clients=30, q="inner", eta="shared"), EPS)
def test_many_clients(fed: ff.Federation, eps: float) -> None:
    for scheme in ("cfl", "lft_ensemble"):
        check(fed, ff.solve(fed, scheme, eps))


def slow_dual(fed: ff.Federation, rows: Any, lam: Any, eps: Any) -> float:
    """D(λ) = P(y=0) + Σ_a ∫ max(u_a + λ·v_a, 0) + Σ eps |λ| by scipy's quadrature, split where s
    changes sign.
    """
    model = continuous_model(fed)
    positives, total = 0.0, 0.0
    for a in (0, 1):
        price = lam @ rows[a]

        def s(x: Any, a: int = a, price: Any = price) -> Any:
            x = np.atleast_1d(x)
            p = model.pdf(a, x)
            return np.einsum("i,ix,ix->x", model.mass[:, a], p, 2 * model.eta(a, x) - 1) + price @ p

        def base(x: Any, a: int = a) -> Any:
            x = np.atleast_1d(x)
            return np.einsum("i,ix,ix->x", model.mass[:, a], model.pdf(a, x), model.eta(a, x))

        ends = np.concatenate([pair[a].breaks for pair in model.laws])
        grid = np.unique(np.concatenate([ends, np.linspace(ends.min(), ends.max(), 3001)]))
        value = s(grid)
        turns = np.flatnonzero((value[:-1] > 0) != (value[1:] > 0))
        cuts = np.unique(np.concatenate([ends, grid[turns], grid[turns + 1]]))
        for lo, hi in zip(cuts, cuts[1:], strict=False):
            total += integrate.quad(
                lambda x: max(float(s(x)[0]), 0.0), lo, hi, epsabs=1e-13, limit=100
            )[0]
            positives += integrate.quad(
                lambda x: float(base(x)[0]), lo, hi, epsabs=1e-13, limit=100
            )[0]
    finite = np.where(lam == 0, 0.0, eps)
    return 1 - positives + total + float(np.abs(lam) @ finite)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@FEWER
@given(federations(law=normals(), max_clients=3), st.data())
def test_the_dual_bound_is_a_bound(fed: ff.Federation, data: st.DataObject) -> None:
    # nothing of the solver but λ: any λ gives an upper bound on the accuracy, the right one a tight
    # bound
    eps = data.draw(local_budgets(fed))
    s = ff.solve(fed, "lft_fedavg", eps)
    own = np.diag(fed.defined.astype(float))
    assert slow_dual(fed, (own, -own), s.multipliers, eps) == pytest.approx(s.accuracy, abs=1e-9)
    pooled = ff.solve(fed, "cfl", 0.02)
    rows = (fed.within[None, :, 0], -fed.within[None, :, 1])
    assert slow_dual(fed, rows, pooled.multipliers, np.array([0.02])) == pytest.approx(
        pooled.accuracy, abs=1e-9
    )


@given(federations(law=SMOOTH, max_clients=3), st.data())
def test_random_feasible_rules_are_not_better(fed: ff.Federation, data: st.DataObject) -> None:
    # a random rule, mixed with the constant rule until feasible, is a feasible competitor
    cuts = sorted(
        data.draw(
            st.lists(st.integers(-24, 24).map(lambda k: k / 8), min_size=1, max_size=3, unique=True)
        )
    )
    values = [
        data.draw(
            st.lists(
                st.integers(0, 4).map(lambda k: k / 4),
                min_size=len(cuts) + 1,
                max_size=len(cuts) + 1,
            )
        )
        for _ in (0, 1)
    ]
    rule = ff.Classifier([cuts, cuts], values)
    eps = np.full(fed.n_clients, 0.05)
    worst = float(np.nanmax(np.append(np.abs(rule.local_mean_differences(fed)), 0.0)))
    share = min(1.0, 0.05 / worst) if worst > 0 else 1.0
    base = max((0.0, 1.0), key=lambda v: ff.Classifier([[], []], [[v], [v]]).accuracy(fed))
    mixed = ff.Classifier.average(
        [rule, ff.Classifier([[], []], [[base], [base]])], [share, 1 - share]
    )
    assert mixed.accuracy(fed) <= ff.solve(fed, "lft_fedavg", eps).accuracy + 1e-9
