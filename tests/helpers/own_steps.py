"""Algorithms with local steps of their own, as a user writes them, and what they train."""

from dataclasses import dataclass, replace

import torch
from federations import classified
from torch.func import grad, vmap
from torch.nn.functional import cosine_similarity, normalize

from fairfl.sims import engine

PARTS = classified((5, 8, 6))
SOFTMAX, NETWORK = engine.Softmax(4, 3), engine.MLP((4, 5, 3))
HEAD = torch.arange(NETWORK.size) >= NETWORK.layers[0]
ROUNDS, STEPS, LR = 3, 4, 0.3
TRAINING = engine.Training(rounds=ROUNDS, lr=LR, batch_size=None, steps=STEPS)


class Remembering(engine.Algorithm):
    """FedAvg, with a memory of the clients that ``step`` changes."""

    def client(self, round):
        memory = {name: rows[round.rows] for name, rows in round.state.items()}
        return (engine.LocalTask(step=self.step, memory=memory),)

    def server(self, received):
        state = {name: rows.clone() for name, rows in received.state.items()}
        for name, rows in received.memory.items():
            state[name][received.rows] = rows
        return engine.Aggregate(received.p, state)


@dataclass(frozen=True)
class APFL(Remembering):
    """Deng, Kamani and Mahdavi (2020), algorithm 1, with the adaptive mixture of section 4.1."""

    def start(self, clients, weights, params):
        return {"v": params.repeat(clients, 1), "alpha": params.new_full((clients, 1), 0.3)}

    def step(self, params, gradient, batch):
        v, alpha = batch.memory["v"], batch.memory["alpha"]
        slope = gradient(alpha * v + (1 - alpha) * params)
        mixed = alpha - batch.lr * ((v - params) * slope).sum(1, keepdim=True)
        memory = {"v": v - batch.lr * alpha * slope, "alpha": mixed.clamp(0, 1)}
        return params - batch.lr * gradient(params), memory


@dataclass(frozen=True)
class FedRep(engine.Algorithm):
    """Collins et al. (ICML 2021), algorithm 1: steps of the own head, then of the shared body."""

    def start(self, clients, weights, params):
        return {"models": params.repeat(clients, 1)}

    def step(self, params, gradient, batch):
        mask = HEAD == (batch.number < batch.steps / 2)
        return params - batch.lr * mask * gradient(params)

    def client(self, round):
        own = torch.where(HEAD, round.state["models"][round.rows], round.params)
        return (engine.LocalTask(start=own, step=self.step),)

    def server(self, received):
        models, step = received.state["models"].clone(), received.total(received.p)
        models[received.rows] = received.params + received.updates
        return engine.Aggregate(received.p, {"models": models}, torch.where(HEAD, 0, step))


@dataclass(frozen=True)
class PerFedAvg(Remembering):
    """Fallah, Mokhtari and Ozdaglar (NeurIPS 2020), first order: one batch inward, the next out."""

    alpha: float = 0.2

    def start(self, clients, weights, params):
        return {"outer": params.repeat(clients, 1)}

    def step(self, params, gradient, batch):
        if batch.number % 2:
            return batch.memory["outer"] - batch.lr * gradient(params)
        return params - self.alpha * gradient(params), {"outer": params}


@dataclass(frozen=True)
class MOON(engine.Algorithm):
    """Li, He and Song (CVPR 2021): the own features near the global ones, far from the last."""

    mu: float = 1.0
    tau: float = 0.5

    def start(self, clients, weights, params):
        return {"last": params.repeat(clients, 1)}

    def contrast(self, params, anchor, last, x, share):
        z, *others = (torch.relu(x @ w[: 5 * 5].view(5, 5)) for w in (params, anchor, last))
        likeness = torch.stack([cosine_similarity(z, other) for other in others], 1) / self.tau
        return -(share * likeness.log_softmax(1)[:, 0]).sum()

    def step(self, params, gradient, batch):
        rows = params, batch.anchor, batch.memory["last"], batch.x, batch.share
        slope = vmap(grad(self.contrast))(*rows)
        return params - batch.lr * (gradient(params) + self.mu * slope)

    def client(self, round):
        memory = {"last": round.state["last"][round.rows]}
        return (engine.LocalTask(step=self.step, memory=memory),)

    def server(self, received):
        last = received.state["last"].clone()
        last[received.rows] = received.params + received.updates
        return engine.Aggregate(received.p, {"last": last})


@dataclass(frozen=True)
class SAM(Remembering):
    """Foret et al. (ICLR 2021), in federated training FedSAM."""

    rho: float = 0.5

    def step(self, params, gradient, batch):
        uphill = self.rho * normalize(gradient(params))
        return params - batch.lr * gradient(params + uphill)


@dataclass(frozen=True)
class PFedMe(Remembering):
    """Dinh, Tran and Nguyen (NeurIPS 2020), algorithm 1, with inner gradient descent."""

    lam: float = 2.0
    beta: float = 0.5

    def start(self, clients, weights, params):
        return {"theta": params.repeat(clients, 1)}

    def step(self, params, gradient, batch):
        theta = params
        for _ in range(3):
            theta = theta - 0.1 * (gradient(theta) + self.lam * (theta - params))
        return params - batch.lr * self.lam * (params - theta), {"theta": theta}

    def server(self, received):
        step = self.beta * received.total(received.p)
        return replace(super().server(received), step=step)


@dataclass(frozen=True)
class OwnRateDitto(engine.Algorithm):
    """Li et al. (ICML 2021), algorithm 1, with a rate of the personal models."""

    lam: float = 0.5
    rate: float = 0.1

    def start(self, clients, weights, params):
        return {"personal": params.repeat(clients, 1)}

    def step(self, params, gradient, batch):
        return params - self.rate * gradient(params)

    def client(self, round):
        personal = round.state["personal"][round.rows]
        own = engine.LocalTask(prox=self.lam, start=personal, step=self.step)
        return engine.LocalTask(), own

    def server(self, received):
        personal = received.state["personal"].clone()
        personal[received.rows] = received.params + received.further[0]
        return engine.Aggregate(received.p, {"personal": personal})
