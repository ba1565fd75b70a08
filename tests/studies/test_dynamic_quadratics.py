"""Two quadratics, exact, against plain loops with vectors, and the theory's bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.studies.dynamic_quadratics import RULES, Pair, lead, lead_after, lead_of_flow

SIZE = st.floats(0.1, 5.0)
COSINE = st.floats(-0.99, 0.99)
CURVATURE = st.floats(0.3, 2.0)
LAYER = st.tuples(SIZE, SIZE, COSINE)


def walk(layers, curvatures, eta, rounds, rule):
    """The newcomer's lead by moving a model, vector by vector."""
    w = np.zeros(2 * len(layers))
    g = np.array(
        [
            np.concatenate([[a, 0.0] for a, _, _ in layers]),
            np.concatenate([[b * c, b * np.sqrt(1 - c * c)] for _, b, c in layers]),
        ]
    )
    centres = [w - g[i] / curvatures[i] for i in (0, 1)]

    def loss(i, v):
        return curvatures[i] / 2 * float(((v - centres[i]) ** 2).sum())

    v = w.copy()
    for _ in range(rounds):
        updates = []
        for i in (0, 1):
            d = curvatures[i] * (v - centres[i])
            if rule == "normalised":
                d = d / np.linalg.norm(d)
            if rule == "by layer":
                d = np.concatenate([p / np.linalg.norm(p) for p in np.split(d, len(layers))])
            updates.append(eta * d)
        v = v - (updates[0] + updates[1]) / 2
    gains = [loss(i, w) - loss(i, v) for i in (0, 1)]
    return gains[1] - gains[0]


@given(
    layers=st.lists(LAYER, min_size=1, max_size=3),
    curvatures=st.tuples(CURVATURE, CURVATURE),
    eta=st.floats(0.01, 0.4),
    rounds=st.integers(1, 12),
    rule=st.sampled_from(RULES),
)
def test_leads_are_those_of_a_model_that_moves(layers, curvatures, eta, rounds, rule):
    a, b, c = (np.array(part) for part in zip(*layers, strict=True))
    pair = Pair.of(a, b, c, *curvatures)
    scale = max(1.0, float((a**2 + b**2).sum()))
    one = walk(layers, curvatures, eta, 1, rule)
    assert float(lead(pair, eta, rule)) == pytest.approx(one, abs=1e-12 * scale)
    # rounding of the angle grows where normalised steps pass close to a minimum
    many = walk(layers, curvatures, eta, rounds, rule)
    told = float(lead_after(pair, eta, rounds, rule))
    assert told == pytest.approx(many, abs=1e-6 * scale)


@given(layer=LAYER, curvature=CURVATURE, eta=st.floats(0.01, 1.0), normalised=st.booleans())
def test_with_one_curvature_the_theory_knows_the_lead(layer, curvature, eta, normalised):
    a, b, c = layer
    g = np.array([[a, 0.0], [b * c, b * np.sqrt(1 - c * c)]])
    unit = g / np.linalg.norm(g, axis=1, keepdims=True)
    step = eta * (unit if normalised else g).mean(axis=0)  # the same for both groups
    told = lead(
        Pair.of(a, b, c, curvature, curvature), eta, "normalised" if normalised else "fedavg"
    )
    assert float(told) == pytest.approx((g[1] - g[0]) @ step, abs=1e-12 * (1 + b * b))


@pytest.mark.parametrize("curvatures", [(1.0, 1.0), (2.0, 0.5)])
@pytest.mark.parametrize("rule", RULES)
def test_short_rounds_tend_to_the_flow(curvatures, rule):
    """The error of Euler's method halves with the step, at times before the model rests."""
    rng = np.random.default_rng(3)
    pair = Pair.of(
        rng.uniform(1, 4, (20, 2)),
        rng.uniform(1, 4, (20, 2)),
        rng.uniform(-0.9, 0.9, (20, 2)),
        *curvatures,
    )
    exact = lead_of_flow(pair, 1.0, rule)
    coarse, fine = (np.abs(lead_after(pair, 1 / n, n, rule) - exact).max() for n in (200, 400))
    assert fine < 0.01 and 0.4 * coarse < fine < 0.6 * coarse


@given(layer=LAYER, time=st.floats(0.05, 20))
def test_the_flow_keeps_the_difference_of_the_distances(layer, time):
    """With curvature 1: the lead is (b - a) (fall of a + b) / 2, and its limit (b-a)(a+b-D)/2."""
    a, b, c = layer
    pair = Pair.of(a, b, c)
    apart = np.sqrt(a * a + b * b - 2 * a * b * c)
    end = float(lead_of_flow(pair, np.inf, "normalised"))
    assert end == pytest.approx((b - a) * (a + b - apart) / 2, abs=1e-12)
    assert abs(end) <= min(a, b) * abs(b - a) + 1e-12
    now = float(lead_of_flow(pair, time, "normalised"))
    assert abs(now) <= abs(end) + 1e-12
    whole = float(lead_of_flow(pair, np.inf, "fedavg"))
    assert whole == pytest.approx((b * b - a * a) / 2, abs=1e-12)
    if apart >= 2 and b > a:  # fairer at every time (claim dynamic/each-time/repaired)
        assert now < float(lead_of_flow(pair, time, "fedavg"))


def test_where_the_flow_comes_to_rest_in_finite_time():
    """x_1 and x_2 in one direction: a straight line at speed 1 to x_1, the nearer one."""
    pair = Pair.of(1.0, 3.0, 1.0)
    for time in (0.25, 0.75):
        assert float(lead_of_flow(pair, time, "normalised")) == pytest.approx(2 * time)
    for time in (1.0, 2.0, np.inf):
        assert float(lead_of_flow(pair, time, "normalised")) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Pair.of(0.0, 1.0, 0.5), "a must be positive"),
        (lambda: Pair.of(1.0, 1.0, 1.5), r"cosine must be in \[-1, 1\]"),
        (lambda: Pair.of(1.0, 1.0, 0.5, 0.0), "first must be positive"),
        (lambda: lead(Pair.of(1.0, 1.0, 0.5), 0.1, "fedsgd"), "rule must be one of"),
        (lambda: lead(Pair.of(1.0, 1.0, 0.5), 0.0, "fedavg"), "eta must be positive"),
        (lambda: lead_after(Pair.of(1.0, 1.0, 0.5), 0.1, 0, "fedavg"), "rounds must be"),
        (lambda: lead_of_flow(Pair.of(1.0, 1.0, 0.5), 0.0, "fedavg"), "time must be in"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
