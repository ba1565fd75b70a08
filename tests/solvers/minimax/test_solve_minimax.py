"""solve_minimax: certificates from their definitions, closed forms, projections, minimisers."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from fairfl import CertificationError
from fairfl.solvers.minimax.method_of_multipliers import (
    client_shares,
    minimise,
    project,
    shift,
    weighs_by_rank,
)
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.theory.aggregation import (
    AFL,
    QFFL,
    TERM,
    FedAvg,
    KolmogorovMean,
    PropFair,
    RankWeighted,
    objectives,
)

P = (0.1, 0.3, 0.2, 0.25, 0.15)
FIVE = [FedAvg(), QFFL(0.3), QFFL(1.0), QFFL(5.0), QFFL(1000.0), AFL(), TERM(0.5), TERM(50.0)]
FIVE += [PropFair(3.0), PropFair(1.2), RankWeighted.gini(), RankWeighted.geometric(0.3)]
FIVE += [RankWeighted.cvar(0.5), RankWeighted.cvar(0.77)]
FIVE += [RankWeighted(weights=(0.6, 0.2, 0.1, 0.1, 0.0))]
SOME = [FedAvg(), QFFL(0.5), AFL(), TERM(2.0), PropFair(3.0), RankWeighted.gini()]
WEIGHTED = [o.weighted(P) for o in (*SOME, RankWeighted.cvar(0.55), TERM(1e-11))]
WEIGHTED += [AFL().weighted((1 - 4e-9, *[1e-9] * 4))]
DERIVED = [
    AFL().translate([0.1, 0.2, 0.0, 0.0, 0.3]),
    RankWeighted.gini().translate(0.1).scale(3.0),
    RankWeighted.cvar(0.3).perspective(2.0).translate(-0.4).perspective(0.5),
    PropFair(2.0).perspective(1.5).translate([0.1, 0.0, 0.0, 0.0, 0.0]),
    TERM(1.0).scale(0.5).weighted(P),
]
ALL = FIVE + WEIGHTED + DERIVED


def regression(seed=0, n=5, d=3, m=20):
    """n clients' least squares, (1/m) ||X_i θ - y_i||², with their Jacobian."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m, d))
    y = np.einsum("nmd,nd->nm", X, 1 + 0.3 * rng.normal(size=(n, d))) + 0.3 * rng.normal(
        size=(n, m)
    )

    def losses(theta):
        r = X @ theta - y
        return (r**2).mean(1), 2 * np.einsum("nm,nmd->nd", r, X) / m

    return losses


LOSSES = regression()
# PropFair: below M
START = {True: solve_minimax(LOSSES, AFL(), np.zeros(3), jac=True).theta, False: np.zeros(3)}
AFL_VALUE = AFL().value(LOSSES(START[True])[0])


def start(objective):
    return START["PropFair" in repr(objective)]


@pytest.mark.parametrize("objective", ALL, ids=repr)
def test_certificates_are_their_definitions(objective):
    """Each number of the certificate is its definition, and its bound holds near and far."""
    smooth = solve_minimax(LOSSES, objective, start(objective), jac=True)
    f, J = LOSSES(smooth.theta)
    lam, c = smooth.dual_weights, smooth.certificate
    assert (smooth.losses == f).all() and smooth.value == c.value == objective.value(f)
    assert c.stationarity == np.linalg.norm(lam @ J) <= 1e-8 * (1 + c.gradient_scale)
    gap = objective.value(f) + objective.conjugate(lam) - lam @ f
    assert c.fenchel_gap == pytest.approx(gap, abs=1e-15)
    assert -1e-12 <= c.fenchel_gap <= 1e-8 * (1 + abs(c.value))  # finite: lam is feasible
    rng = np.random.default_rng(1)
    for size in (1e-4, 0.01, 0.5):
        losses = [LOSSES(t)[0] for t in smooth.theta + size * rng.normal(size=(50, 3))]
        values = [objective.value(g) for g in losses if objective.domain.contains(g)]
        assert (values or size > 0.1) and min(values, default=np.inf) >= c.lower


def test_losses_far_from_zero():
    losses, aim = regression(seed=2), RankWeighted.gini()

    def far(theta):
        f, slopes = losses(theta)
        return f + 1e6, slopes

    high, low = (solve_minimax(f, aim, np.zeros(3), jac=True).value for f in (far, losses))
    assert high - 1e6 == pytest.approx(low, abs=1e-3)


def test_the_bound_holds_as_far_as_its_radius():
    start = np.full(301, 2.0)  # so flat, and of so many unknowns, that it is not left
    c = solve_minimax(
        lambda t: ([1e-6 * t @ t], [2e-6 * t]), FedAvg(), start, jac=True, tolerance=1e-2
    ).certificate
    assert np.linalg.norm(start) < c.radius and c.lower <= 0 < c.value - 10 * c.stationarity


# A new objective without a route is noticed here.
FAMILIES = [
    example
    for cls in objectives().values()
    for example in cls.examples()
    if example.traits.convex and example not in ALL
]


@pytest.mark.parametrize("example", FAMILIES, ids=repr)
def test_registry_every_convex_objective_is_solved(example):
    if example.domain.upper < AFL_VALUE:  # what the clients can reach together is outside
        with pytest.raises(ValueError, match="start must have losses in the objective's domain"):
            solve_minimax(LOSSES, example, START[True], jac=True)
    else:
        solution = solve_minimax(LOSSES, example, START[True], jac=True)  # raises unless certified
        assert solution.value <= example.value(LOSSES(START[True])[0]) + 1e-12


@given(st.integers(-8, 8), st.integers(1, 8), st.integers(-6, 6))
def test_two_parabolas_under_afl(centre, distance, difference):
    """max((θ-a)², (θ-b)² + h): where both agree, if between; else at the higher's centre."""
    a, b, h = centre / 2, (centre + distance) / 2, difference / 4
    theta = np.clip((b**2 + h - a**2) / (2 * (b - a)), a, b)
    lam = np.array([b - theta, theta - a]) / (b - a)  # λ_1 (θ - a) + λ_2 (θ - b) = 0
    c = np.array([a, b])

    def losses(t):
        return (t - c) ** 2 + [0, h], 2 * (t - c)[:, None]

    s = solve_minimax(losses, AFL(), [3.0], jac=True)
    assert s.theta == pytest.approx([theta], abs=1e-4)  # the root of the gap, where λ = (0, 1)
    assert s.dual_weights == pytest.approx(lam, abs=1e-3)
    assert s.value == pytest.approx(max((theta - a) ** 2, (theta - b) ** 2 + h), abs=1e-8)


def test_linear_losses_have_a_minimum_only_where_the_objective_gives_them_one():
    def losses(t):
        return np.array([t[0] + 1, 1 - t[0], t[0] / 2]), np.array([[1.0], [-1.0], [0.5]])

    solution = solve_minimax(losses, AFL(), [0.7], jac=True)
    assert solution.theta == pytest.approx(
        [0], abs=1e-9
    ) and solution.dual_weights == pytest.approx([0.5, 0.5, 0])
    # (1/6) / (1 + 5/6): the mean's slope
    with pytest.raises(CertificationError, match="stationarity 0.0909.*regulariser"):
        solve_minimax(losses, FedAvg(), [0.7], jac=True)


def test_kolmogorov_means():
    import sympy

    t = sympy.Symbol("t", real=True)
    named = solve_minimax(LOSSES, TERM(1.0), np.zeros(3), jac=True)
    by_sympy = solve_minimax(LOSSES, KolmogorovMean(sympy.exp(t)), np.zeros(3), jac=True)
    assert by_sympy.theta == pytest.approx(named.theta, abs=1e-9)
    # no closed conjugate: it is computed
    harmonic = KolmogorovMean(1 / (3 - t), upper=3.0)
    solution = solve_minimax(LOSSES, harmonic, start(PropFair()), jac=True)
    assert abs(solution.certificate.fenchel_gap) < 1e-8 and solution.certificate.stationarity < 1e-8
    with pytest.raises(ValueError, match="objective must be convex.*it is not"):
        solve_minimax(LOSSES, KolmogorovMean(sympy.log(t), lower=0.0), np.zeros(3), jac=True)
    with pytest.raises(ValueError, match="objective must be convex.*not decided"):
        solve_minimax(LOSSES, KolmogorovMean(np.exp), np.zeros(3), jac=True)


def test_every_way_to_give_functions_is_the_same():
    expected = solve_minimax(LOSSES, TERM(2.0), np.zeros(3), jac=True)
    separate = solve_minimax(
        lambda t: LOSSES(t)[0], TERM(2.0), np.zeros(3), jac=lambda t: LOSSES(t)[1]
    )
    values = [lambda t, i=i: LOSSES(t)[0][i] for i in range(5)]
    slopes = [lambda t, i=i: LOSSES(t)[1][i] for i in range(5)]
    pairs = [lambda t, i=i: (LOSSES(t)[0][i], LOSSES(t)[1][i]) for i in range(5)]
    several = solve_minimax(values, TERM(2.0), np.zeros(3), jac=slopes)
    paired = solve_minimax(pairs, TERM(2.0), np.zeros(3), jac=True)
    for s in (separate, several, paired):
        assert (s.theta == expected.theta).all() and s.iterations == expected.iterations


def test_interpolation_all_losses_zero_at_the_minimum():
    """Every client is fit perfectly: gradients vanish one by one, and any λ will do."""

    def losses(t):
        return np.repeat(t @ t, 3), np.repeat(2 * t[None], 3, axis=0)

    for objective in (*SOME, QFFL(20.0), PropFair(10.0)):
        solution = solve_minimax(losses, objective, [0.5, 1.0], jac=True)
        assert solution.value < 1e-12 and solution.theta == pytest.approx([0, 0], abs=1e-6)


def test_many_clients_and_logistic_losses():
    """n = 40, d = 8: certificates close for every objective; values increase in q to AFL's."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 30, 8)) * np.sign(rng.normal(size=(40, 30, 1)))

    def losses(t):
        z = A @ t
        value = np.logaddexp(0, -z).mean(1) + 5e-4 * t @ t
        return value, np.einsum("nm,nmd->nd", -1 / (1 + np.exp(z)), A) / 30 + 1e-3 * t

    aims = [FedAvg(), QFFL(1.0), QFFL(10.0), QFFL(300.0), AFL()]
    values = [solve_minimax(losses, aim, np.zeros(8), jac=True).value for aim in aims]
    assert (np.diff(values) >= -1e-8).all()  # A_q increases in q at each f, so its minimum does
    ranks = RankWeighted.gini(), RankWeighted.cvar(0.8), RankWeighted.harmonic()
    for aim in (*ranks, TERM(100.0), PropFair(1.0)):
        solve_minimax(losses, aim, np.zeros(8), jac=True)  # raises unless certified


def test_what_cannot_be_certified_says_what_to_try():
    with pytest.raises(
        ValueError, match="jac must be the derivative of losses, got a slope of .* for client 0"
    ):
        # the wrong sign
        solve_minimax(lambda t: (LOSSES(t)[0], -LOSSES(t)[1]), FedAvg(), np.zeros(3), jac=True)
    with pytest.raises(CertificationError, match="certified to 1e-30"):
        solve_minimax(LOSSES, AFL(), np.zeros(3), jac=True, tolerance=1e-30)


FOUR = (0.1, 0.4, 0.3, 0.2)
AIMS = [AFL(), RankWeighted.gini(), RankWeighted.geometric(0.5), RankWeighted.cvar(0.6)]
AIMS += [RankWeighted(weights=(0.7, 0.2, 0.1, 0)), RankWeighted.linear().weighted(FOUR)]
AIMS += [aim.weighted(FOUR) for aim in (AFL(), RankWeighted.gini(), RankWeighted.cvar(0.6))]
AIMS += [RankWeighted.gini().translate([0.1, 0.2, 0.3, 0.4]).scale(2.5)]
AIMS += [AFL().translate(1.0).perspective(3.0).weighted(FOUR)]


@pytest.mark.parametrize("objective", AIMS, ids=repr)
def test_nearest_point_of_the_hull_of_all_orders(objective):
    """The definition of a projection onto a convex set: no vertex lies beyond the tangent plane."""
    rng, p = np.random.default_rng(0), client_shares(objective, 4)
    start = shift(objective, 4)
    orders = np.array(list(itertools.permutations(range(4))), float)
    vertices = objective.dual_weights(start + orders)
    for k in range(40):
        target = vertices[0].sum() * rng.normal(0.25, (0.02, 0.2, 2.0, 20.0)[k % 4], 4)
        if k % 5 == 0:
            target = np.round(target, 1)  # ties
        projection = project(objective, target)
        assert np.isfinite(objective.conjugate(projection))
        away = (target - projection) / p
        beyond = (vertices - projection) @ away
        assert beyond.max() <= 1e-11 * (1 + abs(away).max())
        # and the support function of the set is the objective
        best = objective.value(start + away) - away @ projection
        assert best == pytest.approx(beyond.max(), abs=1e-11 * (1 + abs(away).max()))


def test_which_objectives_weigh_by_rank():
    assert weighs_by_rank(AFL().translate(1.0)) and weighs_by_rank(RankWeighted.gini().scale(2.0))
    assert not weighs_by_rank(TERM(1.0)) and not weighs_by_rank(FedAvg().perspective(2.0))


def test_rosenbrock_to_the_last_digits():
    def function(x):
        return optimize.rosen(x), optimize.rosen_der(x)

    for d in (2, 5, 20):
        minimiser = minimise(function, np.full(d, -0.5), 1e-10)
        assert np.linalg.norm(optimize.rosen_der(minimiser)) <= 1e-10
        assert minimiser == pytest.approx(np.ones(d), abs=1e-9)


def test_a_wall_of_infinity_is_only_a_step_too_long():
    """-log(1 - x) - log(x) + c x on (0, 1), from its edge; the root of its slope is known."""

    def function(x):
        if not 0 < x[0] < 1:
            return np.inf, x
        return -np.log(1 - x[0]) - np.log(x[0]) + 50 * x[0], np.array(
            [1 / (1 - x[0]) - 1 / x[0] + 50]
        )

    root = (52 - np.sqrt(52**2 - 4 * 50)) / 100  # 50 x² - 52 x + 1 = 0, the smaller one
    for start in (1 - 1e-9, 0.5, 1e-9):
        assert minimise(function, np.array([start]), 1e-9) == pytest.approx([root], rel=1e-9)


def test_no_minimum_ends_without_a_point_that_looks_like_one():
    assert np.exp(-minimise(lambda x: (np.exp(-x[0]), -np.exp(-x)), np.zeros(1), 1e-30)) > 0
    last = minimise(lambda x: (float(x.sum()), np.ones(3)), np.zeros(3), 1e-9)
    assert np.isfinite(last).all()
