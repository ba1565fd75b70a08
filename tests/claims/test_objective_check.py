"""check_objective: every registered objective passes; each wrong one fails where it is wrong."""

import numpy as np
import pytest
import sympy

import fairfl as ff
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.theory.aggregation import QFFL, TERM, ConvexFunction, KolmogorovMean, Traits, objectives

FEW = 8
ALL = [cls.examples() for cls in objectives().values()]
NONE = dict.fromkeys(Traits.__dataclass_fields__)


def mean_square(f):
    return (f**2).mean(-1) / 2


@pytest.mark.parametrize("objective", [next(iter(family)) for family in ALL], ids=repr)
def test_every_objective_is_what_it_says(objective):
    assert ff.check_objective(objective, examples=FEW)


WRONG = {
    "gradient": ConvexFunction(mean_square, lambda f: 1.1 * f / f.shape[-1], lower=0.0),
    "convex": ConvexFunction(
        lambda f: np.sqrt(f + 1).mean(-1), lambda f: 0.5 / np.sqrt(f + 1) / f.shape[-1], lower=0.0
    ),
    "monotone": ConvexFunction(mean_square, lambda f: f / f.shape[-1]),
    "symmetric": ConvexFunction(
        lambda f: f[..., 0] + 0 * f.sum(-1),
        lambda f: np.eye(f.shape[-1])[np.zeros(len(f), int)],
        own_traits=Traits(**{**NONE, "convex": True, "symmetric": True}),
    ),
    "positively_homogeneous": ConvexFunction(
        mean_square,
        lambda f: f / f.shape[-1],
        lower=0.0,
        own_traits=Traits(**{**NONE, "convex": True, "positively_homogeneous": True}),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name):
    report = ff.check_objective(WRONG[name], examples=FEW)
    assert not report and report.properties[name].level is None
    assert f"  {name}" in str(report) and "FAILS at" in str(report)


def test_a_computed_conjugate_is_that_of_the_closed_form():
    rng = np.random.default_rng(0)
    for closed, lower in ((TERM(2.0), -np.inf), (QFFL(1.0), 0.0)):
        computed = ConvexFunction(closed.value, closed.dual_weights, lower=lower)
        assert not computed.closed_conjugate and closed.closed_conjugate
        for w in closed.dual_weights(rng.uniform(0.2, 1, (4, 3))):
            assert computed.conjugate(w) == pytest.approx(closed.conjugate(w), abs=1e-7)
        assert computed.conjugate([0.9, 0.9, 0.9]) == closed.conjugate([0.9, 0.9, 0.9]) == np.inf
    t = sympy.Symbol("t")
    mean = KolmogorovMean(t**2 + t, lower=0.0)
    value, w = mean.value_and_dual_weights([0.5, 2.0])
    assert not mean.closed_conjugate
    assert w @ [0.5, 2.0] - mean.conjugate(w) == pytest.approx(value, abs=1e-8)


def test_solvers_take_a_convex_function_of_ones_own():
    """min over θ of the mean square of (θ, 1 - θ)^2: θ = 1/2."""
    objective = ConvexFunction(mean_square, lambda f: f / f.shape[-1], lower=0.0)
    solution = solve_minimax(
        lambda x: np.array([x[0] ** 2, (1 - x[0]) ** 2]),
        objective,
        np.array([0.9]),
        jac=lambda x: np.array([[2 * x[0]], [2 * (x[0] - 1)]]),
        tolerance=1e-6,
    )
    assert solution.theta == pytest.approx([0.5], abs=1e-4)
