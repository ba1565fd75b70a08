"""A user's local steps beside plain loops in torch, one client and one gradient after the other."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from federations import EXACT, begun, trained
from own_steps import (
    APFL,
    HEAD,
    LR,
    MOON,
    NETWORK,
    PARTS,
    ROUNDS,
    SAM,
    SOFTMAX,
    STEPS,
    TRAINING,
    FedRep,
    OwnRateDitto,
    PerFedAvg,
    PFedMe,
    Remembering,
)
from torch import nn
from torch.nn.functional import cosine_similarity, cross_entropy

from fairfl.sims import engine


def features(w, x):
    """The hidden layer (B, 5) of a row of the network 4-5-3."""
    return torch.relu(x @ w[:20].view(4, 5) + w[20:25])


def risk(w, k):
    """Client k's mean loss, of a softmax model or of the network by the length of the row."""
    rows = slice(*PARTS.train.offsets[k : k + 2])
    x, y = PARTS.train.x[rows], PARTS.train.y[rows]
    if len(w) == SOFTMAX.size:
        weights = w.view(3, 5)
        return cross_entropy(x @ weights[:, :4].T + weights[:, 4], y)
    return cross_entropy(features(w, x) @ w[25:40].view(5, 3) + w[40:], y)


def slope(objective, w):
    w = w.detach().requires_grad_()
    return torch.autograd.grad(objective(w), w)[0]


def apfl(w, k, v, alpha=0.3):
    alpha = torch.full((), alpha, dtype=w.dtype) if isinstance(alpha, float) else alpha
    for _ in range(STEPS):
        v_, a_ = v.detach().requires_grad_(), alpha.detach().requires_grad_()
        of_v, of_a = torch.autograd.grad(risk(a_ * v_ + (1 - a_) * w, k), (v_, a_))
        w, v = w - LR * slope(lambda u: risk(u, k), w), v - LR * of_v
        alpha = (alpha - LR * of_a).clamp(0, 1)
    return w, v, alpha


def fedrep(w, k, model):
    w = torch.cat([w[:25], model[25:]])
    for part in (slice(25, None), slice(25)):
        for _ in range(STEPS // 2):
            step, w = slope(lambda u: risk(u, k), w), w.clone()
            w[part] -= LR * step[part]
    return w, w


def per_fedavg(w, k, inner):
    for _ in range(STEPS // 2):
        inner = w - 0.2 * slope(lambda u: risk(u, k), w)
        w = w - LR * slope(lambda u: risk(u, k), inner)
    return w, inner


def moon(w, k, last):
    anchor, x = w, PARTS.train.x[slice(*PARTS.train.offsets[k : k + 2])]

    def objective(u):
        z, near, far = (features(model, x) for model in (u, anchor, last))
        to_near, to_far = ((cosine_similarity(z, other) / 0.5).exp() for other in (near, far))
        return risk(u, k) - (to_near / (to_near + to_far)).log().mean()

    for _ in range(STEPS):
        w = w - LR * slope(objective, w)
    return w, w


def sam(w, k, _):
    for _ in range(STEPS):
        uphill = slope(lambda u: risk(u, k), w)
        w = w - LR * slope(lambda u: risk(u, k), w + 0.5 * uphill / uphill.norm())
    return w, w


def pfedme(w, k, theta):
    for _ in range(STEPS):
        theta = w
        for _ in range(3):
            envelope = lambda u: risk(u, k) + (u - w).square().sum()  # noqa: B023, E731
            theta = theta - 0.1 * slope(envelope, theta)
        w = w - LR * 2.0 * (w - theta)
    return w, theta


def ditto(w, k, personal):
    anchor = w
    for _ in range(STEPS):
        own = lambda u: risk(u, k) + 0.25 * (u - anchor).square().sum()  # noqa: E731
        personal = personal - 0.1 * slope(own, personal)
        w = w - LR * slope(lambda u: risk(u, k), w)
    return w, personal


CASES = [
    (APFL(), SOFTMAX, apfl, "v", 1.0),
    (FedRep(), NETWORK, fedrep, "models", ~HEAD),
    (PerFedAvg(), SOFTMAX, per_fedavg, None, 1.0),
    (MOON(), NETWORK, moon, "last", 1.0),
    (SAM(), SOFTMAX, sam, None, 1.0),
    (PFedMe(), SOFTMAX, pfedme, "theta", 0.5),
    (OwnRateDitto(), SOFTMAX, ditto, "personal", 1.0),
]


@pytest.mark.parametrize("backend", ["batched", "loop"])
@pytest.mark.parametrize(
    ("algorithm", "model", "local", "name", "share"), CASES, ids=lambda case: str(case)[:9]
)
def test_an_own_step_ends_where_a_plain_loop_does(algorithm, model, local, name, share, backend):
    """Two of three clients a round, beside another algorithm; 1e-12."""
    training = replace(TRAINING, participation=engine.Uniform(2))
    replicates = [engine.Replicate(algorithm), engine.Replicate(SAM(), lr=0.05)]
    computing = replace(EXACT, backend=backend)
    simulation = engine.Simulation(model, PARTS, replicates, training, computing)
    w = model.init(0)
    first = w + 0.0
    state = [(w,)] * 3
    for _ in range(ROUNDS):
        simulation.step()
        clients = simulation.weights[0][0]
        p = PARTS.p[clients] / PARTS.p[clients].sum()
        models = []
        for k in clients:
            end, *state[k] = local(w, k, *state[k])
            models.append(end)
        mean = (torch.from_numpy(p)[:, None] * torch.stack(models)).sum(0)
        w = w + share * (mean - w)
    torch.testing.assert_close(simulation.params[0], w, rtol=1e-12, atol=1e-12)
    assert (w - first).abs().max() > 0.01
    if name is not None:
        rows = torch.stack([row[0] for row in state])
        kept = simulation.states[0][name]
        torch.testing.assert_close(kept, rows, rtol=1e-12, atol=1e-12)


@dataclass(frozen=True)
class Everything(Remembering):
    """A step that looks at all that it may, on tasks with every term."""

    weighted: bool = False

    def start(self, clients, weights, params):
        return {"v": params.repeat(clients, 1), "count": params.new_zeros(clients, 1)}

    def step(self, params, gradient, batch):
        v = batch.memory["v"] / 2 + gradient(params) + gradient(batch.anchor)
        mean = (batch.share[:, :, None] * batch.x).sum(1).sum(1, keepdim=True) + batch.y[:, :1]
        assert batch.x.shape[:2] == batch.y.shape == batch.share.shape
        count = batch.memory["count"] + batch.number / batch.steps
        return params - batch.lr * (v + 0.01 * mean), {"v": v, "count": count}

    def client(self, round):
        (task,), n = super().client(round), len(round.clients)
        weights = torch.linspace(0, 2, PARTS.train.offsets[-1]) if self.weighted else None
        linear = torch.ones_like(task.memory["v"]) / (1 + round.rows[:, None])
        terms = {"scale": np.linspace(0.5, 1.5, n), "sample_weights": weights, "linear": linear}
        return (replace(task, prox=0.3, **terms), engine.LocalTask())


class Last(nn.GRU):
    """Clients go in turn."""

    def forward(self, x):
        return super().forward(x[:, :, None])[0][:, -1]


MODULES = [
    lambda: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)),
    lambda: nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.Linear(5, 3)),
    lambda: Last(1, 3, batch_first=True),
]


@pytest.mark.parametrize(
    ("model", "weighted"),
    [
        (model, k % 2 == 0)
        for k, model in enumerate([SOFTMAX, NETWORK, *map(engine.Module, MODULES)])
    ],
    ids=lambda value: type(value).__name__,
)
def test_chunks_order_and_backend_change_nothing(model, weighted):
    training = engine.Training(
        3, lr=0.05, batch_size=3, epochs=2, weight_decay=0.1, stragglers=0.5, dropout=0.3
    )
    ends, rules = [], [Everything(weighted)] * 2
    for changes in ({}, {"backend": "loop"}, {"memory_limit": 100}):
        computing = replace(EXACT, **changes)
        simulation = trained(model, PARTS, rules, training, computing, seeds=[0, 1])
        ends.append([simulation.params, *(s[n] for s in simulation.states for n in s)])
    for other in ends[1:]:
        torch.testing.assert_close(other, ends[0], rtol=1e-12, atol=1e-12)


@dataclass(frozen=True)
class Cheat(Remembering):
    """A step, or a memory, that breaks a rule."""

    rule: str = ""

    def start(self, clients, weights, params):
        return {"v": params.new_zeros(clients, 2)}

    def client(self, round):
        if self.rule == "list":
            return (engine.LocalTask(step=[self.step]),)
        if self.rule == "alone":
            return (engine.LocalTask(memory=round.state),)
        rows = round.params if self.rule == "rows" else round.state["v"]
        task = engine.LocalTask(step=self.step, memory={"v": rows})
        return (task, task) if self.rule == "twice" else (task,)

    def step(self, params, gradient, batch):
        new, v = params - gradient(params), batch.memory["v"]
        returned = {
            "dtype": lambda: new.float(),
            "shape": lambda: new[:, 1:],
            "array": lambda: new.numpy(),
            "none": lambda: None,
            "writes": lambda: params.sub_(new),
            "anchor": lambda: (batch.anchor[:, 0].add_(1), new)[1],
            "memory": lambda: (v.add_(1), new)[1],
            "name": lambda: (new, {"w": v}),
            "wide": lambda: (new, {"v": new}),
            "number": lambda: (new, {"v": 1.0}),
            "models": lambda: gradient(params[:, 1:]),
            "three": lambda: (new, {}, {}),
            "nan": lambda: new / 0,
            "nan memory": lambda: (new, {"v": v * float("nan")}),
        }
        return returned[self.rule]()


@pytest.mark.parametrize("backend", ["batched", "loop"])
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("dtype", "the models of a step must be torch.float64 of .*, got torch.float32"),
        ("shape", r"the models of a step must be .*, got torch.float64 of \(\d, 14\)"),
        ("array", "the models of a step must be .*, got ndarray"),
        ("none", "the models of a step must be .*, got NoneType"),
        ("writes", "step must not write into its input 'params'"),
        ("anchor", r"step must not write into its input 'w\^t'"),
        ("memory", "step must not write into its input 'v'"),
        ("name", r"step must return names of the task's memory, \['v'\], got 'w'"),
        ("wide", "memory 'v' of a step must be .*, got torch.float64"),
        ("number", "memory 'v' of a step must be .*, got float"),
        ("models", "the models of a gradient must be"),
        ("three", "step must return models, or models and a memory, got 3 values"),
        ("nan", "the update of client 0, 1, 2 is NaN or infinite in round 0"),
        ("nan memory", "the update of client 0, 1, 2 is NaN or infinite in round 0"),
        ("list", "step must be a function, or hashable and callable, got"),
        ("alone", r"memory must go with a step, got \['v'\] without one"),
        ("rows", r"memory 'v' must be a tensor of shape \(3, S\), got .*15"),
        ("twice", r"memory must have other names in each task, got \['v', 'v'\]"),
    ],
)
def test_a_step_that_breaks_a_rule_is_one_clear_error(rule, message, backend):
    simulation = begun(SOFTMAX, PARTS, [Cheat(rule)], TRAINING, replace(EXACT, backend=backend))
    before = simulation.params.clone()
    with pytest.raises((ValueError, engine.NonFiniteUpdate), match=message):
        simulation.step()
    assert torch.equal(simulation.params, before) and not simulation.states[0]["v"].any()


def test_momentum_is_refused():
    with pytest.raises(ValueError, match="momentum must be 0 for a task with a step"):
        trained(SOFTMAX, PARTS, [SAM()], replace(TRAINING, momentum=0.9))
