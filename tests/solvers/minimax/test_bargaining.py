"""α-fair points and the price of fairness: closed forms, definitions, and other methods."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize

from fairfl import CertificationError
from fairfl.solvers.minimax.bargaining import alpha_fair, nash_point
from fairfl.solvers.minimax.utility_set import UtilitySet
from fairfl.theory.measures import welfare as bargaining

ALPHAS = (0.0, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0, 1.001, 2.0, 10.0, 300.0, np.inf)
TRIANGLE = UtilitySet.from_vertices([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0]])  # u_1/3 + u_2 <= 1


@st.composite
def polytopes(draw, low=2, high=4):
    """Hulls of random points in eighths, every client better off than nothing somewhere."""
    n, k = draw(st.integers(low, high)), draw(st.integers(1, 8))
    row = st.lists(st.integers(0, 24), min_size=n, max_size=n)
    points = np.array(draw(st.lists(row, min_size=k, max_size=k))) / 8
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


@settings(max_examples=40)
@given(polytopes(), st.sampled_from(ALPHAS), st.integers(0, 2**31))
def test_no_mixture_of_vertices_is_better(U, alpha, seed):
    """The definition of the maximum, over random mixtures; and the certificate's bound, over the
    vertices. At α = 1 that is proposition 2.3: Σ (v_i - u_i)/u_i <= 0 at every vertex v.
    """
    found = alpha_fair(U, alpha)
    mixes = np.random.default_rng(seed).dirichlet(np.full(len(U.vertices), 0.3), 300)
    values = bargaining.mean_utility(mixes @ U.vertices, alpha)
    assert values.max() <= found.value * (1 + 2e-7)
    # u has the largest value at its own weights
    assert (U.vertices @ found.weights).max() <= 1 + 1e-6
    assert abs(found.gain) <= 1e-6 and found.best_total == pytest.approx(U.vertices.sum(1).max())
    if alpha == 1:
        u = nash_point(U).utilities
        assert ((U.vertices - u) / u).sum(1).max() <= 1e-5
    if alpha in (1, np.inf):  # the bound holds where every client's largest utility is one
        scaled = UtilitySet.from_vertices(U.vertices / U.vertices.max(0))
        price = alpha_fair(scaled, alpha).price_of_fairness
        assert -1e-12 <= price <= price_bound(U.n, alpha) + 1e-6


def rise(V, u, i):
    """What client i can gain by mixtures of the rows of V without a loss to one with no more."""
    held = (u <= u[i] + 1e-6) & (np.arange(len(u)) != i)
    bounds = {"A_ub": -V.T[held], "b_ub": 1e-9 - u[held]} if held.any() else {}
    sums = {"A_eq": np.ones((1, len(V))), "b_eq": [1.0]}
    return -optimize.linprog(-V[:, i], **bounds, **sums).fun - u[i]


@pytest.mark.parametrize("seed", range(6))
def test_in_the_leximin_point_no_client_can_rise_at_the_cost_of_the_worse_off(seed):
    V = np.random.default_rng(seed).integers(1, 9, (3, 3)).astype(float)
    u = alpha_fair(UtilitySet.from_vertices(V), np.inf).utilities
    assert max(rise(V, u, i) for i in range(3)) <= 1e-3 * u.max()
    other = u * [1.0, 1.0, 0.9]  # attainable by disposal: client 2 can have more
    assert rise(V, other, 2) > 0.05 * u[2]


def test_leximin_goes_on_after_the_first_level():
    """Client 0 can have 1 at most, whatever; the others share 4: (1, 2, 2), where max-min alone
    says u >= 1.
    """
    x = cp.Variable(3, name="x")
    found = alpha_fair(UtilitySet(x, [x[0] <= 1, x[1] + x[2] <= 4, x >= 0]), np.inf)
    assert found.utilities == pytest.approx([1, 2, 2], abs=1e-6) and found.value == pytest.approx(1)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0, 20.0])
def test_concave_utilities(alpha):
    """u_i = 8 - i ||θ - c_i||²: the set is convex with disposal only. The optimality condition in
    θ, Σ s_i ∇u_i / u_i = 0, by hand.
    """
    theta, centres = cp.Variable(2, name="theta"), np.random.default_rng(0).normal(size=(4, 2))
    U = UtilitySet([8 - (k + 1) * cp.sum_squares(theta - c) for k, c in enumerate(centres)])
    found = alpha_fair(U, alpha)
    w = found.weights * np.arange(1, 5)
    best = w @ centres / w.sum()  # where the priced total is largest
    u = 8 - np.arange(1, 5) * ((best - centres) ** 2).sum(1)
    assert found.utilities == pytest.approx(u, abs=1e-3)


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
