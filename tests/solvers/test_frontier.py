"""Frontiers: shape, attainment, what the corners of budgets span, bounds; they can be pickled."""

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from strategies import CAUCHY, PROBIT, federations, finite_federations, mixtures, normals
from tasks import federation

import fairfl as ff
from fairfl.solvers.frontier import Points, fitting, non_dominated, points_of
from fairfl.solvers.frontier_checks import checked, upper_bound
from fairfl.solvers.task import Task
from fairfl.theory.populations.fedfb_figures import MEANS_5

FEWER = settings(max_examples=max(5, settings.default.max_examples // 6))  # type: ignore[union-attr]
FEWEST = settings(max_examples=max(3, settings.default.max_examples // 20))  # type: ignore[union-attr]
SMOOTH = st.one_of(normals(), mixtures())


def check_shape(F: ff.Frontier) -> None:
    """Sorted, not dominated, within range, and answering for its own points."""
    assert F.disparity.shape == F.accuracy.shape == (len(F.eps),) and F.disparity.size >= 1
    assert (np.diff(F.disparity) > 0).all() and (np.diff(F.accuracy) > 0).all()
    assert F.disparity[0] >= 0 and F.disparity[-1] <= 1
    assert (F.eps >= 0).all()
    assert float(F.accuracy_at(1.0)) == F.accuracy[-1]
    table = F.to_frame()
    assert (
        table["disparity"].tolist() == F.disparity.tolist()
        and table["accuracy"].tolist() == F.accuracy.tolist()
    )
    assert (table["scheme"] == F.scheme).all() and table.shape[1] - F.eps.shape[1] == 3 + (
        "gap" in table
    )


def check_attained(fed: ff.Federation, F: ff.Frontier, tolerance: float = 1e-9) -> None:
    for d, accuracy, eps in zip(F.disparity, F.accuracy, F.eps, strict=True):
        s = ff.solve(fed, F.scheme, eps if F.scheme != "cfl" else eps[0])
        assert s.accuracy == pytest.approx(accuracy, abs=tolerance)
        assert s.disparity == pytest.approx(d, abs=tolerance)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=20))
def test_non_dominated_by_definition(points: list[tuple[int, int]]) -> None:
    d, a = (np.array(v, dtype=float) for v in zip(*points, strict=True))
    points_left = [(d[k], a[k]) for k in non_dominated(d, a)]
    expected = {
        (x, y)
        for x, y in zip(d, a, strict=True)
        if not any((u <= x and v >= y and (u, v) != (x, y)) for u, v in zip(d, a, strict=True))
    }
    assert points_left == sorted(expected)
    limits = np.arange(-1.0, 9.0)
    best = fitting(Points(d, a, d[:, None]), limits)
    for x, disparity, worth in zip(limits, *best[:2], strict=True):
        fit = d <= max(x, d.min())  # the least disparate where none is allowed
        assert (disparity, worth) in zip(d, a, strict=True) and disparity <= max(x, d.min())
        assert worth == a[fit].max() or x < d.min()


KINDS = {
    "laws": federations(law=SMOOTH, max_clients=3),
    "finite": finite_federations(max_clients=3),
}


@pytest.mark.parametrize("kind", KINDS)
@FEWER
@given(data=st.data())
def test_cfl(kind: str, data: st.DataObject) -> None:
    fed, close = data.draw(KINDS[kind]), 1e-9 if kind == "laws" else 1e-11
    F, m = (
        ff.frontier(fed, "cfl", points=data.draw(st.integers(2, 20))),
        ff.min_disparity(fed, "cfl"),
    )
    check_shape(F)
    check_attained(fed, F, close)
    assert F.disparity[0] == pytest.approx(0, abs=1e-12)
    assert m.disparity == 0 and m.eps.tolist() == [0.0] and m.lower == 0.0 and m.upper is None
    assert m.accuracy == ff.solve(fed, "cfl", 0.0).accuracy
    assert F.accuracy[-1] == pytest.approx(ff.solve(fed, "cfl", np.inf).accuracy, abs=1e-12)
    slopes = np.diff(F.accuracy) / np.diff(F.disparity)
    assert (np.diff(slopes) <= 1e-9 / np.diff(F.disparity).min(initial=1.0)).all()
    for d in np.append(np.linspace(0, F.disparity[-1], 7), 0.4):
        assert F.accuracy_at(d) == pytest.approx(ff.solve(fed, "cfl", d).accuracy, abs=close)


def test_a_bounded_eta() -> None:
    fed = ff.Federation.normal(MEANS_5, sd=1.0, q=[0.3, 0.7], eta=PROBIT)
    cfl, F = ff.frontier(fed, "cfl", points=9), ff.frontier(fed, "lft_fedavg", points=9)
    assert cfl.disparity[0] == 0
    for frontier in (cfl, F):
        check_shape(frontier)
        check_attained(fed, frontier, 1e-7)
    assert (F.accuracy <= cfl.accuracy_at(F.disparity) + 1e-10).all()


# smallest disparities


@FEWER
@given(federations(law=SMOOTH, max_clients=3))
def test_the_ensembles_smallest_is_spanned_by_corners(fed: ff.Federation) -> None:
    """MD is a sum of monotone functions, one a client: the corners of eps span its range."""
    m = ff.min_disparity(fed, "lft_ensemble")
    s = ff.solve(fed, "lft_ensemble", m.eps)
    assert (s.disparity, s.accuracy) == pytest.approx((m.disparity, m.accuracy), abs=1e-9)
    assert ((m.eps >= 0) & (m.eps <= 1)).all()
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * fed.n_clients)).reshape(fed.n_clients, -1).T
    values = [ff.solve(fed, "lft_ensemble", c).mean_difference for c in corners]
    expected = 0.0 if min(values) <= 0 <= max(values) else float(np.abs(values).min())
    assert m.disparity == pytest.approx(expected, abs=1e-9)


@FEWEST
@given(federations(law=SMOOTH, q="equal", max_clients=3))
@example(
    ff.Federation(
        [
            ff.Client((stats.norm(0.5, 1.5), stats.norm(-0.25, 0.5)), q=0.5, weight=0.6),
            ff.Client((stats.norm(2.875, 1.0), stats.norm(-1.125, 1.0)), q=0.5, weight=0.4),
        ],
        eta=CAUCHY,
    )
)
def test_equal_shares_make_fedavg_fair(fed: ff.Federation) -> None:
    m = ff.min_disparity(fed, "lft_fedavg")
    s = ff.solve(fed, "lft_fedavg", m.eps)
    assert max(m.disparity, s.disparity) == pytest.approx(0.0, abs=1e-9)
    assert s.accuracy == pytest.approx(m.accuracy, abs=1e-9)


FED = ff.Federation.normal([[3, 5], [1, -1]], q=[0.3, 0.7])
TASK: Any = {"costs": (2, 1), "sees": "x", "notion": "eo"}


def test_a_searched_frontier_is_bounded() -> None:
    F = ff.frontier(FED, "lft_fedavg", points=5)
    cfl = ff.frontier(FED, "cfl", 2)
    assert not F.exact and (F.gap >= 0).all()
    assert F.gap.max() < 1e-4 < np.median(cfl.accuracy_at(F.disparity) - F.accuracy)
    between = (F.disparity[1] + F.disparity[2]) / 2
    assert F.accuracy_at(between) <= F.bound_at(between) <= cfl.accuracy_at(between)
    copy = pickle.loads(pickle.dumps(F))
    assert copy.accuracy_at(between) == pytest.approx(F.accuracy_at(between), abs=1e-12)
    assert F.bound_at(F.disparity[[2, 1]]) == pytest.approx(F.bound[[2, 1]], abs=1e-4)
    with pytest.raises(ValueError, match="disparity must be at least"):
        F.bound_at(0.0)


def test_a_finite_x_is_bounded_between_points_as_at_them() -> None:
    """Four clients, whose frontier is proven, and up to .015 below CFL's."""
    x, rng = np.linspace(-7, 7, 20), np.random.default_rng(6)
    mean, sd, q = rng.normal(0, 1.5, (4, 2)), rng.uniform(0.5, 2, (4, 2)), rng.uniform(0.2, 0.8, 4)
    masses = np.exp(-(((x - mean[..., None]) / sd[..., None]) ** 2) / 2)
    masses *= np.stack([1 - q, q], axis=1)[..., None] / masses.sum(axis=2, keepdims=True)
    fed = ff.Federation.finite(x, masses, 1 / (1 + np.exp(-x)))
    F, cfl = ff.frontier(fed, "lft_fedavg", 4), ff.frontier(fed, "cfl", 2)
    assert F.proven.all() and (cfl.accuracy_at(F.disparity) - F.accuracy).max() > 1e-3
    assert F.bound_at(F.disparity) == pytest.approx(F.bound, abs=1e-8)
    copy, middle = pickle.loads(pickle.dumps(F)), F.disparity[:2].mean()
    assert F.bound_at(middle) - 1e-6 <= F.accuracy_at(middle) <= F.bound_at(middle)
    assert copy.bound_at(middle) == pytest.approx(F.bound_at(middle), abs=1e-8)
    assert F.bound_at(middle) < cfl.accuracy_at(middle) - 1e-3


@pytest.mark.parametrize(
    ("worth", "later", "message"),
    [(0.05, 0.0, "above CFL's"), (-0.05, 0.0, "it is below"), (0.0, 0.2, "it starts at")],
)
def test_a_wrong_frontier_is_refused(worth: float, later: float, message: str) -> None:
    task, right = Task.of(FED, "lft_ensemble"), ff.frontier(FED, "lft_ensemble", points=5)
    ends = points_of(FED, [ff.solve(FED, "lft_ensemble", eps) for eps in (0.0, 1.0)])
    checked(FED, task, right, ends)
    wrong = dataclasses.replace(
        right,
        accuracy=right.accuracy + worth,
        disparity=right.disparity + later,
        evaluate=lambda d: Points(d, np.full(d.size, worth >= 0.0), np.zeros((d.size, 2))),
    )
    with pytest.raises(ff.CertificationError, match=f"of lft_ensemble is wrong: .*{message}"):
        checked(FED, task, wrong, ends)


@pytest.mark.parametrize("clients", [1, 4])
def test_many_clients_are_bounded_by_cfl(clients: int) -> None:
    rng = np.random.default_rng(4)
    fed = ff.Federation.normal(rng.normal(0, 2, (clients, 2)), q=rng.uniform(0.2, 0.8, clients))
    F = ff.frontier(fed, "lft_ensemble", points=5)
    cfl = ff.frontier(fed, "cfl", 2).accuracy_at(F.disparity)
    assert F.bound == pytest.approx(F.accuracy if F.exact else cfl, abs=1e-10)


@pytest.mark.parametrize("costs", [(1.0, 1.0), (3.0, 1.0)])
def test_exact_frontiers_are_their_own_bounds(costs: Any) -> None:
    fed = federation(np.random.default_rng(1), 2, 2)
    for scheme in ("cfl", "lft_fedavg", "client_aware"):
        F = ff.frontier(fed, scheme, points=5, costs=costs)
        assert F.exact and (F.bound == F.points.worth).all() and not F.gap.any()
        assert F.bound_at(F.disparity[-1]) == F.bound[-1]


def test_ensembles_on_a_finite_x_are_bounded_by_reduced_costs() -> None:
    fed = federation(np.random.default_rng(2), 4, 2)
    F = ff.frontier(fed, "lft_ensemble", points=5)
    task = Task.of(fed, "lft_ensemble")
    bound = upper_bound(fed, task, F.disparity, F.accuracy - 1e-3)  # as if it were not the best
    cfl = ff.frontier(fed, "cfl", 2).accuracy_at(F.disparity)
    assert (bound >= F.accuracy - 1e-12).all() and (bound <= cfl).all()
    assert bound == pytest.approx(F.accuracy, abs=1e-9)


def test_a_bound_below_the_frontier_is_an_error() -> None:
    F = ff.frontier(FED, "lft_ensemble", points=5)
    F = dataclasses.replace(F, exact=False, worth_bound=lambda d, worth: worth - 1e-3)
    with pytest.raises(ff.CertificationError, match="bound of lft_ensemble is wrong"):
        _ = F.bound


@pytest.mark.parametrize("scheme", ["cfl", "lft_ensemble", "client_aware"])
@pytest.mark.parametrize("finite", [False, True], ids=["laws", "finite"])
def test_frontiers_can_be_pickled(finite: bool, scheme: Any) -> None:
    fed, task = (federation(np.random.default_rng(1), 2, 2), TASK) if finite else (FED, {})
    F = ff.frontier(fed, scheme, points=3, **task)
    copy = pickle.loads(pickle.dumps(F))
    for name in ("disparity", "accuracy", "eps", "utility", "reproduced"):
        assert (getattr(copy, name) == getattr(F, name)).all()
    between = F.disparity.mean()
    assert copy.utility_at(between) == pytest.approx(F.utility_at(between), abs=1e-12)
