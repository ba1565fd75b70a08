"""The optimum of q-FFL by a general minimiser: three devices of qffl/worst-device, and pairs at
random.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from fairfl.claims.qffl.worst_device import WORLD


def losses(a, b, c, q):
    """F at the minimiser of Σ F^(q+1)."""
    a, b, c = (np.array([float(v) for v in row]) for row in (a, b, c))

    def at(w):
        return a / 2 * (w - b) ** 2 + c

    scale = at(b.mean()).max()
    found = minimize_scalar(
        lambda w: ((at(w) / scale) ** (q + 1)).sum(),
        bounds=(b.min(), b.max()),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return at(found.x)


def test_the_worst_of_three_may_get_worse():
    first, second = (losses(WORLD["a"], WORLD["b"], WORLD["c"], q) for q in (0, 1))
    assert first == pytest.approx([12, 2, 12], abs=1e-4)
    assert second == pytest.approx([13.03, 2.73, 10.40], abs=0.01)


NUMBER = st.floats(0.5, 5)


@given(st.tuples(NUMBER, NUMBER), st.floats(1, 5), st.tuples(NUMBER, NUMBER), NUMBER, NUMBER)
def test_of_two_the_larger_falls_and_the_smaller_rises(a, gap, c, q, more):
    near, far = (np.sort(losses(a, (0, gap), c, power)) for power in (q, q + more))
    assert far[1] <= near[1] + 1e-4 and far[0] >= near[0] - 1e-4
