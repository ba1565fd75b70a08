"""Frontiers and smallest disparities: shape, attainment, and what the corners of budgets span."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from strategies import CAUCHY, PROBIT, federations, finite_federations, mixtures, normals

import fairfl as ff
from fairfl.solvers.frontier import Points, fitting, non_dominated
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
