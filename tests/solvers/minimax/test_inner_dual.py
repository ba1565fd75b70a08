"""The inner maximum max over λ of λ.f - A*(λ) by an interior-point code, against values, weights
and conjugates.
"""

import numpy as np
import pytest
from inner_dual import maximise_dual

from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, PropFair, RankWeighted

AIMS = [
    FedAvg(),
    QFFL(0.0),
    QFFL(0.3),
    QFFL(1.0),
    QFFL(7.0),
    AFL(),
    TERM(1.0),
    TERM(20.0),
    PropFair(1.2),
    PropFair(8.0),
    RankWeighted.gini(),
    RankWeighted.cvar(0.6),
    RankWeighted.geometric(0.5),
]


@pytest.mark.parametrize("domain", ["native", "nonnegative"])
@pytest.mark.parametrize("objective", AIMS, ids=repr)
def test_value_and_dual_weights_by_the_inner_maximum(objective, domain):
    """(14): A(f) is the maximum and the dual weights attain it, for losses apart from each other,
    where λ is unique.
    """
    for n, seed in ((2, 0), (6, 1), (25, 2)):
        rng = np.random.default_rng(seed)
        f = rng.permutation(np.linspace(0.05, 1, n)) + 0.2 / n * rng.random(n) / 2
        for aim in (objective, objective.weighted(rng.dirichlet(np.full(n, 5.0)))):
            value, weights = maximise_dual(f, aim, domain)
            assert value == pytest.approx(aim.value(f), abs=1e-7)
            assert weights == pytest.approx(aim.dual_weights(f), abs=2e-4)


@pytest.mark.parametrize("objective", AIMS, ids=repr)
def test_ties_the_maximum_is_attained_on_a_set(objective):
    """Where clients tie the code ends somewhere in the set of dual weights; the set says so
    itself.
    """
    f = np.array([0.5, 1.0, 0.5, 1.0])
    value, weights = maximise_dual(f, objective)
    assert value == pytest.approx(objective.value(f), abs=1e-7)
    conjugate = objective.conjugate(weights, tolerance=1e-5)
    # with the closed form of A*, finite there
    assert weights @ f - conjugate == pytest.approx(value, abs=1e-5)


def test_zeros_free_the_weights_on_nonnegative_losses():
    """At f_1 = 0 any smaller λ_1 does as well on f >= 0, and the value is that of the native
    domain.
    """
    for objective in (TERM(1.0), FedAvg(), RankWeighted.gini(), PropFair(2.0)):
        f = np.array([0.0, 0.7, 0.3])
        value, weights = maximise_dual(f, objective, "nonnegative")
        assert value == pytest.approx(objective.value(f), abs=1e-7)
        assert weights[0] <= objective.dual_weights(f)[0] + 1e-4
        assert weights[1:] == pytest.approx(objective.dual_weights(f)[1:], abs=2e-4)


def test_bad_input():
    import sympy

    from fairfl.theory.aggregation import KolmogorovMean

    t = sympy.Symbol("t", real=True)
    with pytest.raises(
        ValueError, match=r"losses must be one vector of shape .n,., got shape \(2, 2\)"
    ):
        maximise_dual([[1.0, 2.0], [1.0, 2.0]], AFL())
    with pytest.raises(
        ValueError, match="domain must be one of 'native', 'nonnegative', got 'all'"
    ):
        maximise_dual([1.0, 2.0], AFL(), "all")
    with pytest.raises(ValueError, match="objective must be one of FedAvg, .* got KolmogorovMean"):
        maximise_dual([1.0, 2.0], KolmogorovMean(sympy.exp(t)))
    with pytest.raises(ValueError, match="f_i <= M = 1.2"):
        maximise_dual([1.0, 2.0], PropFair(1.2))
