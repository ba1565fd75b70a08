"""Local training's frontiers on a finite X, for every notion and any number of groups: no budgets
beat them.
"""

import numpy as np
import pytest
from audit import random_budgets
from tasks import NOTIONS, beaten, federation, random_question

import fairfl as ff

LOCAL = ("lft_ensemble", "lft_fedavg")
TOLERANCE = 1e-9
"""What budgets may be better than the search by: docs/exactness.md."""
EXACT = [
    (scheme, seed, notion, 2)
    for scheme, seeds in (("lft_ensemble", (100, 201)), ("lft_fedavg", (101, 200)))
    for seed in seeds
    for notion in ("demographic_parity", "true_positive_rate_parity", "false_positive_rate_parity")
]
"""Two groups with one rate: frontiers that are proven."""


@pytest.mark.parametrize(
    ("scheme", "seed", "notion", "groups"),
    [
        ("lft_ensemble", 1, "equalized_odds", 2),
        ("lft_ensemble", 1, "accuracy_parity", 3),
        ("lft_fedavg", 3, "equalized_odds", 3),
        ("lft_fedavg", 3, "accuracy_parity", 2),
        *EXACT,
        *(
            pytest.param(scheme, seed, notion, None, marks=pytest.mark.deep)
            for seed, notion in enumerate(4 * [*NOTIONS])
            for scheme in LOCAL
        ),
    ],
)
def test_no_budgets_beat_the_frontier(scheme, seed, notion, groups):
    rng = np.random.default_rng(seed)
    fed = federation(rng, clients=2 + seed // 100 % 2, groups=groups)
    task = random_question(rng, fed, scheme)[2]
    if scheme == "lft_ensemble":  # its members have one optimum: everybody is there
        masses = rng.gamma(1.0, size=(fed.n_clients, fed.n_groups, int(rng.integers(2, 7)))) + 0.01
        masses /= masses.sum(axis=(1, 2), keepdims=True)
        points = np.arange(masses.shape[2])
        fed = ff.Federation.finite(points, masses, rng.random(masses.shape), fed.weight)
    rng = np.random.default_rng(seed)
    budgets = random_budgets(fed, 8, rng, notion)
    assert beaten(fed, scheme, {**task, "notion": notion}, budgets, 4) <= TOLERANCE


@pytest.mark.parametrize(("seed", "clients", "atoms"), [(6, 4, 11), (9, 4, 14)])
@pytest.mark.every(2)
def test_an_answer_depends_on_no_other(seed, clients, atoms):
    """One by one, downwards, answers were up to 2.4e-3 from those that were asked for together."""
    rng = np.random.default_rng(seed)
    rng.integers([3, 6, 2], [7, 16, 4])
    masses = rng.random((clients, 3, atoms)) ** 3
    masses /= masses.sum(axis=(1, 2), keepdims=True)
    fed = ff.Federation.finite(np.arange(atoms), masses, rng.random((clients, atoms)))
    first, second = (ff.frontier(fed, "lft_fedavg", 4, notion="eodds") for _ in range(2))
    disparity = np.linspace(first.disparity[0], first.disparity[-1], 9)[:-1]
    one_by_one = [second.accuracy_at(d) for d in disparity[::-1]]
    np.testing.assert_allclose(first.accuracy_at(disparity)[::-1], one_by_one, rtol=0, atol=1e-12)
