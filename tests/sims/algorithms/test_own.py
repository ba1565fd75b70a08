"""A user's algorithms beside independent loops in numpy: SCAFFOLD, FedDyn and FedNova."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from federations import EXACT, begun

from fairfl.sims import engine


@dataclass(frozen=True)
class Scaffold(engine.Algorithm):
    """Karimireddy et al. (ICML 2020), algorithm 1 with option II."""

    def start(self, clients, weights, params):
        return {"own": params.new_zeros(clients, len(params)), "all": torch.zeros_like(params)}

    def client(self, round):
        return (engine.LocalTask(linear=round.state["all"] - round.state["own"][round.rows]),)

    def server(self, received):
        c_k, c = received.state["own"].clone(), received.state["all"]
        lengths = torch.from_numpy(received.steps * received.lr).to(c)[:, None]
        change = -c - received.updates / lengths
        c_k[received.rows] += change
        even = np.full(len(received.p), 1 / len(received.p))
        return engine.Aggregate(even, {"own": c_k, "all": c + change.sum(0) / len(c_k)})


@dataclass(frozen=True)
class FedDyn(engine.Algorithm):
    """Acar et al. (ICLR 2021), algorithm 1."""

    alpha: float = 0.5

    def start(self, clients, weights, params):
        return {"own": params.new_zeros(clients, len(params)), "h": torch.zeros_like(params)}

    def client(self, round):
        return (engine.LocalTask(prox=self.alpha, linear=-round.state["own"][round.rows]),)

    def server(self, received):
        gradients, updates = received.state["own"].clone(), received.updates
        gradients[received.rows] -= self.alpha * updates
        h = received.state["h"] - self.alpha * updates.sum(0) / len(gradients)
        step = updates.mean(0) - h / self.alpha
        return engine.Aggregate(received.p, {"own": gradients, "h": h}, step)


@dataclass(frozen=True)
class FedNova(engine.Algorithm):
    """Wang et al. (NeurIPS 2020), eq. (8), for plain SGD."""

    def server(self, received):
        return engine.Aggregate(received.p * (received.p @ received.steps) / received.steps)


# the rows of a client are alike, so that a batch has the gradient of all of them
SIZES, STEPS, LR, ROUNDS = (4, 8, 20, 9), np.array([2, 4, 10, 6]), 0.1, 4
X = np.random.default_rng(0).normal(size=(4, 3))
Y = np.random.default_rng(1).normal(size=4)
P = np.array(SIZES) / sum(SIZES)
DATA = engine.Parts(
    engine.ClientData(np.repeat(X, SIZES, 0), np.repeat(Y, SIZES), np.append(0, np.cumsum(SIZES)))
)
TRAINING = engine.Training(rounds=ROUNDS, lr=LR, batch_size=4, epochs=2)


def descended(k, w, term):
    """Client k's model after its steps, ``term`` the gradient of what is added to its loss."""
    v = w.copy()
    for _ in range(STEPS[k]):
        v = v - LR * (X[k] * (X[k] @ v - Y[k]) + term(v))
    return v


def scaffold(w, c, controls, there):
    models = {k: descended(k, w, lambda v, k=k: c - controls[k]) for k in there}
    new = {k: controls[k] - c + (w - models[k]) / (STEPS[k] * LR) for k in there}
    after = c + sum(new[k] - controls[k] for k in there) / len(X)
    controls[list(there)] = [new[k] for k in there]
    return np.mean(list(models.values()), 0), after, controls


def feddyn(w, h, gradients, there, alpha=0.5):
    models = {k: descended(k, w, lambda v, k=k: alpha * (v - w) - gradients[k]) for k in there}
    for k in there:
        gradients[k] = gradients[k] - alpha * (models[k] - w)
    h = h - alpha / len(X) * sum(models[k] - w for k in there)
    return np.mean(list(models.values()), 0) - h / alpha, h, gradients


def fednova(w, h, state, there):
    p = P[list(there)] / P[list(there)].sum()
    directions = [(descended(k, w, lambda v: 0.0) - w) / STEPS[k] for k in there]
    return w + (p @ STEPS[list(there)]) * (p @ np.array(directions)), h, state


@pytest.mark.parametrize(
    ("backend", "limit", "beside"),
    [
        ("batched", 1, ()),
        ("batched", 1 << 30, (FedDyn(2.0), FedNova(), Scaffold())),
        ("loop", 1 << 30, ()),
    ],
)
@pytest.mark.parametrize(
    ("algorithm", "loop"), [(Scaffold(), scaffold), (FedDyn(), feddyn), (FedNova(), fednova)]
)
@pytest.mark.parametrize("count", [4, 2])
def test_they_end_where_a_loop_in_numpy_does(algorithm, loop, count, beside, backend, limit):
    training = replace(TRAINING, participation=engine.Uniform(count))
    computing = replace(EXACT, backend=backend, memory_limit=max(limit, 100))
    model, rules = engine.LeastSquares(3, bias=False), [algorithm, *beside]
    simulation = begun(model, DATA, rules, training, computing)
    w, h, state = np.zeros(3), np.zeros(3), np.zeros((4, 3))
    for _ in range(ROUNDS):
        simulation.step()
        w, h, state = loop(w, h, state, simulation.weights[0][0])
    np.testing.assert_allclose(simulation.params[0], w, rtol=1e-11, atol=1e-12)
    assert np.abs(w).max() > 0.01
