"""Algorithms where something is zero, missing or tied, and what they keep from round to round."""

from itertools import product

import numpy as np
import pytest
import torch
from every_algorithm import AFL, GIFAIR, Ditto, QFedAvg
from federations import Masks, begun, classified, quick, received, trained
from hypothesis import given
from hypothesis import strategies as st

from fairfl.claims.qffl import algorithms
from fairfl.sims.algorithms.qfedavg import powers, step_size
from fairfl.sims.engine import Round, Softmax
from fairfl.theory.numerics.projections import onto_simplex

MODEL = Softmax(4, 3)


def step_weights(q, p, losses, squares, curvature, unit):
    """What the two factors of q-FedAvg's weights make together."""
    size = step_size(q, p, losses, squares, curvature) / unit
    return size * powers(q, p, losses, losses.max())


def test_q_weights_stay_finite_where_the_printed_powers_overflow():
    p, losses = np.array([0.5, 0.5]), np.array([1e200, 2e200])
    weights = step_weights(5.0, p, losses, np.array([1e100, 1e100]), 1.0, 1.0)
    np.testing.assert_allclose(weights, [1 / 33, 32 / 33], rtol=1e-12)
    weights = step_weights(5.0, p, np.array([1e-200, 2e-200]), np.zeros(2), 1.0, 1.0)
    np.testing.assert_allclose(weights, [1 / 33, 32 / 33], rtol=1e-12)


def test_q_weights_where_losses_are_zero():
    p = np.array([0.25, 0.75])
    np.testing.assert_array_equal(step_weights(1.0, p, np.zeros(2), np.zeros(2), 4.0, 0.25), [0, 0])
    np.testing.assert_array_equal(step_weights(0.0, p, np.zeros(2), np.zeros(2), 4.0, 0.25), p)
    # nothing to lose and nothing to say: left out; nothing to lose and yet a move, with q < 1:
    # infinite curvature
    for squares, expected in (([0.0, 0.0], [0, 1]), ([1.0, 0.0], [0, 0])):
        given_ = np.array([0.0, 1.0]), np.array(squares)
        np.testing.assert_allclose(step_weights(0.5, p, *given_, 4.0, 0.25), expected)


POSITIVE = st.floats(1e-3, 1e3)


@given(
    st.lists(st.tuples(st.floats(0.01, 10), st.floats(-10, 10)), min_size=1, max_size=5),
    st.floats(-5, 5),
    st.integers(0, 4),
    POSITIVE,
    POSITIVE,
    st.sampled_from(["corrected", "printed"]),
)
def test_q_steps_are_those_of_the_claims(clients, w, q, L, lr, variant):
    """The update that ``qffl/algorithm-1`` refutes, and its repair; without L, L = 1 / lr."""
    losses, local = (np.array(column) for column in zip(*clients, strict=True))
    n = len(losses)
    rows = torch.tensor(local - w)[:, None]
    p = np.full(n, 1 / n)
    for constant in (L, None):
        algorithm = QFedAvg(float(q), constant, variant)
        given_ = p, torch.tensor([w]), lr
        message = received(rows, [1, n - 1] if n > 1 else 1, losses, *given_)
        weights = algorithm.server(message).weights
        used = 1 / lr if constant is None else constant
        expected = algorithms.update(w, list(local), list(losses), used, q, variant == "corrected")
        assert w + weights @ (local - w) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if variant == "corrected" and q == 0:
            np.testing.assert_allclose(weights, p, rtol=1e-12)  # FedAvg


@pytest.mark.parametrize("ascent", ["projected", "exponentiated"])
def test_afl_with_some_clients_raises_theirs_alone(ascent):
    data = classified((8, 8, 8, 8))
    masks = np.array([[True, False, True, False], [False, True, False, False], [True] * 4])
    training = quick(rounds=3, participation=Masks(*masks))
    simulation = begun(MODEL, data, [AFL(0.3, ascent)], training)
    mixture = np.full(4, 0.25)
    for mask in masks:
        w = simulation.params[0].clone()
        x = torch.cat([data.train.x, torch.ones(32, 1, dtype=torch.float64)], 1)
        sample_losses = torch.nn.functional.cross_entropy(
            x @ w.view(3, 5).T, data.train.y, reduction="none"
        ).view(4, 8)
        gain = np.where(mask, sample_losses.mean(1).numpy(), 0.0)
        simulation.step()
        clients, weights = simulation.weights[0]
        np.testing.assert_array_equal(clients, np.flatnonzero(mask))
        np.testing.assert_allclose(weights, mixture[mask] / mixture[mask].sum(), rtol=1e-12)
        raised = mixture + 0.3 * gain if ascent == "projected" else mixture * np.exp(0.3 * gain)
        mixture = onto_simplex(raised) if ascent == "projected" else raised / raised.sum()
        np.testing.assert_allclose(simulation.states[0]["mixture"].numpy(), mixture, rtol=1e-10)


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=40), st.data())
def test_gifair_of_no_lam_keeps_its_bound(weights, draw):
    """Brackets are in [1/2, inf), and their p-weighted mean is one."""
    n = len(weights)
    whole = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    groups, losses = tuple(draw.draw(whole)), np.array(draw.draw(whole), dtype=float)
    draws = np.array(draw.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    p = np.array(weights) / sum(weights)
    for algorithm in (GIFAIR(), GIFAIR(groups=groups)):
        algorithm.start(n, p, torch.zeros(1))
        for times in (np.ones(n, int), draws):
            round = Round(0, np.arange(n), p, p, torch.zeros(1), 0.1, losses, {}, draws=times)
            (task,) = algorithm.client(round)
            assert task.scale.min() >= 0.5 - 1e-9 and p @ task.scale == pytest.approx(1, rel=1e-9)


def test_gifair_begins_with_any_number_of_clients():
    for n in [*range(2, 400), *range(400, 10_001, 137), 10_000]:
        p = np.arange(1.0, n + 1)
        for weights in (np.full(n, 1 / n), p / p.sum()):
            assert GIFAIR().start(n, weights, torch.zeros(1)) == {}
    with pytest.raises(ValueError, match="lam must be at most"):  # what a lam of one number does
        GIFAIR(0.001).start(33, np.full(33, 1 / 33), torch.zeros(1))
    GIFAIR(0.001).start(32, np.full(32, 1 / 32), torch.zeros(1))


def test_ditto_who_is_away_keeps_their_model_and_all_are_measured():
    data = classified((6, 9, 8), test=5)
    training = quick(rounds=3, participation=Masks([True, True, False]))
    simulation = trained(MODEL, data, [Ditto(0.3)], training)
    personal = simulation.states[0]["personal"]
    assert float(personal[2].abs().max()) == 0 and float(personal[:2].abs().min(0).values.max()) > 0
    rows = {(row["part"], row["model"]): row for row in simulation.evaluate()}
    assert {*rows} == {*product(("train", "test"), ("global", "personal"))}
    for k in range(3):
        part = slice(*data.test.offsets[k : k + 2])
        scores = data.test.x[part] @ personal[k].view(3, 5)[:, :4].T + personal[k].view(3, 5)[:, 4]
        loss = torch.nn.functional.cross_entropy(scores, data.test.y[part])
        assert rows["test", "personal"]["loss"][k] == pytest.approx(float(loss), rel=1e-12)
