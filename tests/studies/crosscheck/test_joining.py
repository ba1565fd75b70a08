"""The round in which a second group joins, by plain numpy; verdicts that can fail."""

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, softmax

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.data.federated import FederatedData
from fairfl.sims.engine import (
    MLP,
    Computing,
    Joining,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Training,
)
from fairfl.studies.crosscheck.studies import joining


def verdicts(measures):
    return {verdict.name: verdict for verdict in joining.verdicts(measures)}


@pytest.fixture(scope="module")
def measures():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "TRAINED", (1, 10))
        return joining.measure(joining.SOFTMAX, 2)


@pytest.mark.exact
def test_a_round_by_hand():
    """Full gradients in numpy: group 1 for three rounds, then FedAvg's and the other's round."""
    data = joining.sample(2)
    x = data.train.x.numpy().reshape(2, -1, joining.FEATURES)
    x = np.concatenate([x, np.ones((*x.shape[:2], 1))], axis=2)
    y = data.train.y.numpy().reshape(2, -1)

    def loss(w):
        return np.array(
            [-log_softmax(x[k] @ w.T, 1)[np.arange(len(y[k])), y[k]].mean() for k in (0, 1)]
        )

    def slope(w, k):
        p = softmax(x[k] @ w.T, 1) - np.eye(joining.CLASSES)[y[k]]
        return p.T @ x[k] / len(y[k])

    model = Softmax(joining.FEATURES, joining.CLASSES)
    w = model.init(2).numpy().reshape(joining.CLASSES, -1)
    start = loss(w)
    for _ in range(3):
        w = w - joining.ETA * slope(w, 0)
    g = [slope(w, k) for k in (0, 1)]
    found = joining.joined(model, data, 3, "one step", 2)
    for rule, steps in (("FedAvg", g), ("normalised", [v / np.linalg.norm(v) for v in g])):
        s = joining.ETA * (steps[0] + steps[1]) / 2
        gain = loss(w) - loss(w - s)
        line = found[rule][0]
        assert line["lead"] == pytest.approx(gain[1] - gain[0], abs=1e-12)
        assert line["first"] == pytest.approx(((g[1] - g[0]) * s).sum(), abs=1e-12)
        assert line["head"] == pytest.approx((start - loss(w))[0], abs=1e-12)
        assert line["reach"] == pytest.approx((s**2).sum() / 2, abs=1e-12)


def test_the_remainder_is_bounded_and_the_bound_can_fail(measures):
    assert verdicts(measures)["softmax-remainder"].hard
    assert verdicts(measures)["softmax-remainder"].holds
    width = measures["high"] - measures["low"]
    narrow = measures.assign(
        low=measures["low"] + 0.495 * width, high=measures["high"] - 0.495 * width
    )
    assert not verdicts(narrow)["softmax-remainder"].holds
    assert verdicts(measures)["remainder-order"].holds
    linear = measures.assign(lead=measures["first"] * 1.1)
    assert verdicts(linear)["remainder-order"].holds is False


def test_theorems_can_fail(measures):
    found = verdicts(measures)
    assert found["theorem-1-decides"].holds and found["theorem-2-first-order"].holds
    assert found["normalising-is-fairer-in-practice"].holds
    turned = measures.assign(lead=-10.0 - measures["lead"])
    assert verdicts(turned)["theorem-1-decides"].holds is False
    plain = measures["rule"] == joining.PLAIN
    swapped = measures.assign(lead=measures["lead"].where(~plain, -1.0))
    assert verdicts(swapped)["normalising-is-fairer-in-practice"].holds is False
    assert verdicts(swapped)["theorem-2-first-order"].holds is False
    smaller = measures.assign(a=measures["b"] + 1)
    assert verdicts(smaller)["newcomers-gradient-is-larger"].holds is False


def test_tables_and_the_picture(measures):
    rows = joining.tables(measures)["joining"]
    assert len(rows) == 2 * len(joining.WORK) * len(joining.RULES)
    assert (rows["runs"] == 1).all() and (rows["unfair, last round"] >= rows["unfair, all"]).all()
    shown = joining.PICTURES[0].table(measures)
    assert set(shown["series"]) == {"first order", *joining.RULES}


@pytest.mark.parametrize("equal, bias, last", [(0, 0.0, 1.0), (1, 9.0, 1e-3), (1, 9.0, 1e3)])
def test_the_networks_constant_bounds_the_slope_of_its_scores(equal, bias, last):
    """E |J s|² <= C |s|², by power iteration on the mean of J'J; reached by equal rows."""
    data = joining.sample(2)
    if equal:
        x, y = np.tile(data.train.x[:1], (4, 1)), np.arange(4)
        data = Parts.of(FederatedData("equal", x, y, np.array([0, 0, 1, 1]), 2))
    model = MLP((joining.FEATURES, joining.HIDDEN, joining.CLASSES))
    rounds, exact = Training(1, participation=Joining((0, 0))), Computing(dtype="float64")
    place = Simulation(model, data, [Replicate(FedAvg())], rounds, exact)
    (x, _), w = joining._batches(place), place.params[0].clone()
    weights = joining.HIDDEN * joining.FEATURES
    w[weights : weights + joining.HIDDEN] += bias
    w[weights + joining.HIDDEN :] *= last
    C, most = joining.curvature(place, w), 0.0
    s = torch.randn(len(w), dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for _ in range(30):
        s = 1e-6 * s / s.norm()
        slope = (
            model.scores((w + s).expand(2, -1), x) - model.scores((w - s).expand(2, -1), x)
        ) / 2
        each = slope.square().sum(1).mean(1) / s.square().sum()
        assert (each <= C * (1 + 1e-6)).all()
        most = max(most, float(each.max()))
        v = w.clone().requires_grad_()
        (s,) = torch.autograd.grad((model.scores(v.expand(2, -1), x) * slope).sum(), v)
    assert most > (0.999 if equal else 0.02) * C
