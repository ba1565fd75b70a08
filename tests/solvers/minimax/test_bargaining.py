"""α-fair points, their tests, and the price of fairness: closed forms, definitions, and other
methods.
"""

import cvxpy as cp
import numpy as np
import pytest
from fairness_tests import fairness_test, max_min_test
from hypothesis import assume, given
from hypothesis import strategies as st

from fairfl import CertificationError
from fairfl.solvers.minimax.bargaining import alpha_fair, nash_point
from fairfl.solvers.minimax.utility_set import UtilitySet
from fairfl.theory.measures import welfare as bargaining

ALPHAS = (0.0, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0, 1.001, 2.0, 10.0, 300.0, np.inf)
TRIANGLE = UtilitySet.from_vertices([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0]])  # u_1/3 + u_2 <= 1


@st.composite
def polytopes(draw, low=2, high=4):
    """Hulls of random points in eighths, every client better off than nothing somewhere."""
    n = draw(st.integers(low, high))
    k = draw(st.integers(1, 8))
    points = (
        np.array(
            draw(
                st.lists(
                    st.lists(st.integers(0, 24), min_size=n, max_size=n), min_size=k, max_size=k
                )
            )
        )
        / 8
    )
    assume((points.max(0) > 0).all())
    return UtilitySet.from_vertices(points)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_triangle_in_closed_form(alpha):
    """max Σ u^(1-α) on c.u = 1: u_i proportional to c_i^(-1/α); all to the cheaper client at α = 0;
    equal at inf.
    """
    c = np.array([1 / 3, 1.0])
    if alpha == 0:
        expected = np.array([3.0, 0.0])
    else:
        raw = c ** (-1 / alpha)
        expected = raw / (c @ raw)
    found = alpha_fair(TRIANGLE, alpha)
    assert found.utilities == pytest.approx(expected, abs=2e-5)
    assert found.value == pytest.approx(bargaining.mean_utility(found.utilities, alpha))
    assert found.weights @ found.utilities == pytest.approx(1)
    if alpha >= 0.3:  # below, u_2 is so small that it is right to no digit
        # the face's normal
        assert found.weights / found.weights.sum() == pytest.approx(c / c.sum(), abs=1e-4)
    assert found.price_of_fairness == pytest.approx(1 - expected.sum() / 3, abs=1e-5)


@given(polytopes(), st.sampled_from(ALPHAS), st.integers(0, 2**31))
def test_no_mixture_of_vertices_is_better(U, alpha, seed):
    """The definition of the maximum, over random mixtures; and the certificate's bound, over the
    vertices.
    """
    found = alpha_fair(U, alpha)
    mixes = np.random.default_rng(seed).dirichlet(np.full(len(U.vertices), 0.3), 300)
    values = bargaining.mean_utility(mixes @ U.vertices, alpha)
    assert values.max() <= found.value * (1 + 2e-7)
    # u has the largest value at its own weights
    assert (U.vertices @ found.weights).max() <= 1 + 1e-6
    assert abs(found.gain) <= 1e-6 and found.best_total == pytest.approx(U.vertices.sum(1).max())


@given(polytopes(), st.integers(0, 2**31))
def test_nash_point_is_proportionally_fair_and_no_other_is(U, seed):
    """Proposition 2.3 on polytopes: Σ (v_i - u_i)/u_i <= 0 at every vertex v; elsewhere some v
    violates it.
    """
    u = nash_point(U).utilities
    assert ((U.vertices - u) / u).sum(1).max() <= 1e-5
    assert fairness_test(U, u, tolerance=1e-5).holds
    other = np.random.default_rng(seed).dirichlet(np.ones(len(U.vertices))) @ U.vertices
    assume(other.min() > 1e-3 and np.abs(other - u).max() > 1e-2)
    test = fairness_test(U, other)
    assert not test.holds and test.gain == pytest.approx(
        ((U.vertices - other) / other).sum(1).max()
    )
    step = 1e-4 * min(1.0, float((other / np.maximum(np.abs(test.direction), 1e-9)).min()))
    # along the direction welfare rises
    assert np.log(other + step * test.direction).sum() > np.log(other).sum()
    assert any((test.better == v).all() for v in U.vertices)


def leximin_by_definition(V, grid):
    """The best sorted vector, worst first, over a fine grid of mixtures of three vertices."""
    c = (
        np.array([[i, j, grid - i - j] for i in range(grid + 1) for j in range(grid + 1 - i)])
        / grid
    )
    u = c @ V
    ranked = np.round(np.sort(u, axis=1), 9)
    return u[np.lexsort(ranked.T[::-1])[-1]]


@pytest.mark.parametrize("seed", range(6))
def test_leximin_point_against_a_grid(seed):
    V = np.random.default_rng(seed).integers(1, 9, (3, 3)).astype(float)
    found = alpha_fair(UtilitySet.from_vertices(V), np.inf)
    grid = leximin_by_definition(V, 400)
    assert np.sort(found.utilities)[0] >= np.sort(grid)[0] - 1e-7
    # a step of the grid is 1/400, and slopes are up to 8
    assert found.utilities == pytest.approx(grid, abs=0.1)
    assert max_min_test(UtilitySet.from_vertices(V), found.utilities).holds


def test_leximin_goes_on_after_the_first_level():
    """Client 0 can have 1 at most, whatever; the others share 4: (1, 2, 2), where max-min alone
    says u >= 1.
    """
    x = cp.Variable(3, name="x")
    U = UtilitySet(x, [x[0] <= 1, x[1] + x[2] <= 4, x >= 0])
    found = alpha_fair(U, np.inf)
    assert found.utilities == pytest.approx([1, 2, 2], abs=1e-6) and found.value == pytest.approx(1)
    test = max_min_test(U, [1.0, 1.0, 3.0])
    # client 1 can rise by 3, at client 2's cost
    assert not test.holds and test.gain == pytest.approx(1, abs=1e-6)
    assert test.better[0] >= 1 - 1e-6 and test.direction[1] == pytest.approx(3, abs=1e-6)
    assert max_min_test(U, [1.0, 2.0, 2.0]).holds and not max_min_test(U, [0.5, 2.0, 2.0]).holds


def quadratics():
    """u_i = 8 - w_i ||θ - c_i||²: concave, so that the set is convex with disposal only."""
    theta = cp.Variable(2, name="theta")
    centres = np.random.default_rng(0).normal(size=(4, 2))
    return UtilitySet([8 - (k + 1) * cp.sum_squares(theta - c) for k, c in enumerate(centres)])


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0, 20.0])
def test_concave_utilities(alpha):
    """The optimality condition in θ: Σ s_i ∇u_i / u_i = 0, by hand."""
    U = quadratics()
    found = alpha_fair(U, alpha)
    centres = np.random.default_rng(0).normal(size=(4, 2))
    w = found.weights * np.arange(1, 5)
    theta = w @ centres / w.sum()  # where the priced total is largest
    u = 8 - np.arange(1, 5) * ((theta - centres) ** 2).sum(1)
    assert found.utilities == pytest.approx(u, abs=1e-3)
    test = fairness_test(U, found.utilities, alpha, tolerance=1e-5)
    assert test.holds and test.better == pytest.approx(u, abs=1e-3)
    worse = fairness_test(U, found.utilities * 0.9, alpha)
    assert not worse.holds and worse.gain == pytest.approx(4 * (1 / 0.9 - 1), abs=1e-4)


def test_disagreement_point():
    """Nash's solution is covariant: adding d to the utilities and to the disagreement moves it by
    d.
    """
    d = np.array([0.5, 0.1])
    moved = UtilitySet.from_vertices(TRIANGLE.vertices + d)
    assert nash_point(moved, d).utilities == pytest.approx(
        nash_point(TRIANGLE).utilities + d, abs=1e-6
    )
    # u_1/3 + u_2 = 1 above (1, 0.2): the gains split the surplus 1 - 1/3 - 0.2 evenly in weights
    surplus = 1 - 1 / 3 - 0.2
    expected = [1 + 3 * surplus / 2, 0.2 + surplus / 2]
    found = nash_point(TRIANGLE, [1.0, 0.2])
    assert found.utilities == pytest.approx(expected, abs=1e-6)
    assert found.price_of_fairness == pytest.approx(1 - sum(expected) / 3, abs=1e-6)
    with pytest.raises(ValueError, match="attainable with all u_i > 0"):
        nash_point(TRIANGLE, [2.0, 0.5])


def price_bound(n, alpha):
    """Bertsimas, Farias and Trichakis (2012), theorem 2, for α = 1 and inf."""
    return 1 - (2 * np.sqrt(n) - 1) / n if alpha == 1 else 1 - 4 * n / (n + 1) ** 2


@given(polytopes(), st.sampled_from([1.0, np.inf]))
def test_price_of_fairness_within_its_bound(U, alpha):
    """Bertsimas, Farias and Trichakis's bound, where every client's largest utility is one."""
    scaled = UtilitySet.from_vertices(U.vertices / U.vertices.max(0))
    price = alpha_fair(scaled, alpha).price_of_fairness
    assert -1e-12 <= price <= price_bound(U.n, alpha) + 1e-6


@pytest.mark.parametrize("k", [2, 3])
def test_the_bound_of_the_price_is_reached(k):
    """n = k² clients, all in [0, 1], on (u_1 + ... + u_k)/k + u_(k+1) + ... + u_n <= 1.

    The Nash point has 1/k for the first k, 1/n for the others; the utilitarian 1 for the first k:
    (2k - 1)/k against k.
    """
    n = k * k
    x = cp.Variable(n, nonneg=True)
    found = alpha_fair(UtilitySet(x, [x <= 1, cp.sum(x[:k]) / k + cp.sum(x[k:]) <= 1]), 1.0)
    assert found.utilities == pytest.approx([1 / k] * k + [1 / n] * (n - k), abs=1e-6)
    assert found.price_of_fairness == pytest.approx(price_bound(n, 1.0), abs=1e-6)


X = cp.Variable(2, name="x")


def test_unbounded_and_empty_sets_say_so():
    with pytest.raises(CertificationError, match="must be bounded above"):
        alpha_fair(UtilitySet(X, [X >= 0]), 1.0)
    with pytest.raises(CertificationError, match="no point meets the constraints"):
        alpha_fair(UtilitySet(X, [X >= 1, X <= 0]), 1.0)
