"""The least disparity of fedfb/corollary-2 against a grid of thresholds."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb
from scipy.stats import norm

from fairfl.claims.exact import ball
from fairfl.claims.fedfb import informal


@pytest.mark.parametrize("turned", [False, True])
def test_normal_clients_reach_what_the_formula_says(turned):
    s, m, k, n, j = 0.1, -1.0, 1.0, -1.0, 0.5
    means = [(m + k, m) if turned else (m, m + k), (n + j, n)]
    spreads = (1 / s, 1.0)

    def g(i, t):
        return norm.cdf((t - means[i][1]) / spreads[i]) - norm.cdf((-t - means[i][0]) / spreads[i])

    roots = [(one[1] - one[0]) / 2 for one in means]
    grids = [np.linspace(0, root, 41) for root in roots]
    values = [sum(g(i, t) for i in (0, 1) for t in pair) / 4 for pair in product(*grids)]
    point: list[arb] = [ball(str(v)) for v in (s, m, k, n, j)]
    formula = float((informal.wide(point, Fraction(0), turned=turned) / 4).mid())
    assert min(values) == pytest.approx(formula, abs=1e-12)
