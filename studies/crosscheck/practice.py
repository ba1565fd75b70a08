"""Schemes trained on many samples in one run, with each source of error switched on or off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd
from scipy import special
from torch import Tensor

from fairfl._support.checks import Array, one_of
from fairfl.sims import engine
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.population import sample
from fairfl.sims.engine.secure_sums import CellRound
from fairfl.sims.group_fairness import FairBatch, LocalFairBatch
from fairfl.sims.group_fairness.lft import MODELS
from fairfl.solvers.api import solve
from fairfl.solvers.schemes import LABELS, SchemeName
from fairfl.studies.crosscheck.population.learned_rules import Basis, Performance, learned
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.notions import Notion

CFL, LFT_AVG, ENSEMBLE = LABELS.values()
FEDFB = "FedFB"
LEARNERS = (CFL, ENSEMBLE, LFT_AVG, FEDFB)
"""The methods that are trained, FedFB with Σ λ_a = 1 beside equation (6)'s clipping."""
ALPHA, DECAY = 0.3, 1.0
"""Steps of λ, 0.3 / (t + 1): their sum exceeds the width of λ's box, and after 100 of them the
learned |MD| on the sample is within about 0.004 of its budget.
"""
LR, MOMENTUM = 0.5, 0.9
MOST_ROUNDS = 1_000_000
"""Of a run that goes on; nothing depends on it."""

Budget = tuple[float, ...]
"""ε of a run, a number for all clients or one for each."""
Aims = dict[Budget, tuple[float, float]]
"""By budget the MD, with its sign, and the accuracy that theory predicts."""


@dataclass(frozen=True)
class BySample(LocalFairBatch):
    """Local fair training of the clients of several samples, which share nothing, in one run.

    A sample's ``clients`` follow one another. ``is_averaged``: their models are averaged after
    every round (LFT+FedAvg). ``is_pooled``: they have one λ, which follows the sum of their
    reports. ``weights`` (N,) multiply the people's losses, not their reports.
    """

    clients: int = 1
    is_averaged: bool = False
    is_pooled: bool = False
    weights: tuple[float, ...] | None = None

    def client(self, round: CellRound) -> tuple[engine.LocalTask, ...]:  # type: ignore[override]
        (task,) = super().client(round)
        if self._weights is None or task.sample_weights is None:
            return (task,)
        return (replace(task, sample_weights=task.sample_weights * self._weights),)

    @cached_property
    def _weights(self) -> Tensor | None:
        return None if self.weights is None else engine.as_tensor(np.array(self.weights))

    def remember(self, round: CellRound, cells: engine.CellSums) -> engine.State:
        wrong = self._totals(cells.wrong) if self.is_pooled else cells.wrong
        return super().remember(round, replace(cells, wrong=wrong))

    def keep(self, round: CellRound, received: engine.Received) -> engine.State:
        models = super().keep(round, received)[MODELS]
        if self.is_averaged:
            weight = round.p.reshape(-1, self.clients)
            share = models.new_tensor(weight / weight.sum(1, keepdims=True))[:, :, None]
            means = (share * models.view(*weight.shape, -1)).sum(1)
            models = means.repeat_interleave(self.clients, 0)
        return {MODELS: models}

    def _people(self, counts: Array) -> Array:
        return self._totals(counts) if self.is_pooled else counts

    def _totals(self, values: Array) -> Array:
        """Sums (K, ...) over the clients of a sample, a row for each of them."""
        by_sample = values.reshape(-1, self.clients, *values.shape[1:]).sum(1)
        return by_sample.repeat(self.clients, axis=0)


@dataclass(frozen=True)
class Practice:
    """How a scheme of ``LEARNERS`` is trained; each field switches a source of error off: people in
    each sample; ``is_sampled``, else ``even_sample`` stands for the laws; degree of the model class
    (``Basis``); rounds, the steps of λ, and full gradient steps between two; their lr and momentum,
    which starts anew in every round. notion: "dp", "eo" or "eodds"; "dp" alone with
    ``even_sample``, as reports do not weigh labels.
    """

    scheme: str
    people: int = 1_000
    is_sampled: bool = True
    degree: int = 1
    rounds: int = 24
    steps: int = 10
    lr: float = LR
    momentum: float = MOMENTUM
    notion: Notion = "dp"

    def __post_init__(self) -> None:
        one_of("scheme", self.scheme, LEARNERS)
        one_of("notion", self.notion, ("dp", "eo", "eodds") if self.is_sampled else ("dp",))

    def bases(self, world: World) -> list[Basis]:
        """One for all; for LFT+Ensemble, where no model leaves a client, one per client."""
        clients = range(world.clients) if self.scheme == ENSEMBLE else [None]
        return [Basis.of(world, self.degree, client) for client in clients]

    def simulation(self, world: World, budgets: Sequence[Budget], seeds: int) -> engine.Simulation:
        """The run, not begun: its clients by budget, then by sample."""
        count, parts = 1 if self.scheme == CFL else world.clients, []
        bases, draw = self.bases(world), people_of if self.is_sampled else even_sample
        for seed in range(seeds):
            people, weight = draw(world, self.people, seed)
            owner, x = seed * count + people.owner * (count > 1), featured(people, bases).x
            parts.append((x, people.y, owner, people.group, weight))
        parts = [
            (x, y, owner + k * seeds * count, group, weight)
            for k in range(len(budgets))
            for x, y, owner, group, weight in parts
        ]
        x, y, owner, group, weight = map(np.concatenate, zip(*parts, strict=True))
        clients = len(budgets) * seeds * count
        data = FederatedData("samples", x, y, owner, clients, group=group)
        by_client = [budget if len(budget) > 1 else budget * count for budget in budgets]
        algorithm = BySample(
            FairBatch(self.notion, ALPHA, DECAY, "zero_one", projection="sum"),
            budgets=sum((budget * seeds for budget in by_client), ()),
            clients=count,
            is_averaged=self.scheme in (LFT_AVG, FEDFB),
            is_pooled=self.scheme == FEDFB,
            weights=None if self.is_sampled else tuple(weight.tolist()),
        )
        settings = {"steps": self.steps, "momentum": self.momentum, "batch_size": None}
        training = engine.Training(self.rounds, self.lr, **settings)
        model, parts = engine.Logistic(bases[0].size, bias=False), engine.Parts.of(data)
        replicates, computing = [engine.Replicate(algorithm)], engine.Computing("cpu", "float64")
        return engine.Simulation(model, parts, replicates, training, computing)

    def path(self, world: World, budgets: Sequence[Budget], seeds: int) -> list[engine.State]:
        """The state after each round. A longer run of the same goes on where this one ended."""
        run = _run(replace(self, rounds=MOST_ROUNDS), world, tuple(budgets), seeds)
        return [state for (state,) in run.to(self.rounds).states[1 : self.rounds + 1]]

    def trained(
        self, world: World, budgets: Sequence[Budget], seeds: int
    ) -> list[list[list[Classifier]]]:
        """The rules learned, by budget and sample: one, or for LFT+Ensemble one a client."""
        bases, count = self.bases(world), 1 if self.scheme == CFL else world.clients
        models = engine.as_floats(self.path(world, budgets, seeds)[-1][MODELS])
        return [
            [[learned(*pair) for pair in zip(bases, rows, strict=False)] for rows in samples]
            for samples in models.reshape(len(budgets), seeds, count, -1)
        ]

    def measures(
        self, world: World, aims: Aims, seeds: int, is_personal: bool = False
    ) -> pd.DataFrame:
        """A row for each budget and sample: the learned rule's exact measures, and its distance in
        (MD, accuracy) from the aim. ``is_personal``: every client has its member's rule.
        """
        lines, rules = [], self.trained(world, [*aims], seeds)
        for (budget, (md, accuracy)), samples in zip(aims.items(), rules, strict=True):
            for seed, members in enumerate(samples):
                rule = ClientClassifiers(members) if is_personal else vote(world, members)
                worth = Performance.of(rule, world.federation)
                line = {"world": world.name, "seed": seed, "budget": spelt(budget)}
                line |= worth.columns | {"rows": self.people}
                line |= {"aim_disparity": abs(md), "aim_accuracy": accuracy}
                off = np.hypot(worth.difference - md, worth.accuracy - accuracy)
                lines.append(line | {"distance": float(off)})
        return pd.DataFrame(lines)


class Run:
    """A simulation, with its models (R, P) and its states after 0, 1, ... rounds."""

    def __init__(self, simulation: engine.Simulation) -> None:
        self.simulation = simulation
        self.models, self.states = [engine.as_floats(simulation.params)], [[*simulation.states]]

    def to(self, rounds: int) -> Run:
        """The same, with at least so many rounds."""
        while len(self.models) <= rounds:
            self.simulation.step()
            self.models.append(engine.as_floats(self.simulation.params))
            self.states.append([*self.simulation.states])
        return self


@lru_cache(maxsize=4)
def _run(practice: Practice, world: World, budgets: tuple[Budget, ...], seeds: int) -> Run:
    return Run(practice.simulation(world, budgets, seeds))


def vote(world: World, members: Sequence[Classifier]) -> Classifier:
    """The rule of one model, or of an ensemble of one per client."""
    return Classifier.average(members, np.array(world.weight if len(members) > 1 else (1.0,)))


@lru_cache(maxsize=16)
def aims_of(world: World, scheme: SchemeName, budgets: tuple[Budget, ...]) -> Aims:
    """The exact MD and accuracy of a scheme at budgets; those of client-aware rules are local."""
    aims = {}
    for budget in budgets:
        eps = np.array(budget) if len(budget) > 1 else float(*budget)
        if scheme == "client_aware":
            solution = solve(world.federation, scheme, np.inf, local_eps=eps)
        else:
            solution = solve(world.federation, scheme, eps)
        aims[budget] = solution.mean_difference, solution.accuracy
    return aims


def spelt(budget: Budget) -> str:
    """A budget as a table has it."""
    return " ".join(f"{v:g}" for v in budget)


def people_of(world: World, rows: int, seed: int) -> tuple[FederatedData, Array]:
    """A sample of a world, all weights one; ValueError where a client or a group has nobody."""
    data = sample(world.federation, rows, seed)
    assert data.group is not None
    counts = np.zeros((world.clients, world.groups))
    np.add.at(counts, (data.owner, data.group), 1)
    if (counts == 0).any():
        at = divmod(int(np.argmin(counts)), world.groups)
        raise ValueError(f"rows must be enough for people of every group, got {rows}: none at {at}")
    return data, np.ones(rows)


def even_sample(world: World, rows: int, seed: int = 0) -> tuple[FederatedData, Array]:
    """People who stand for the laws without sampling error, and their weights: equal steps of the
    distribution function of x in every client and group, shifted by the seed; each x with label 1
    and 0, of weights 2 η and 2 (1 - η). Shares of people are right to the order of 1/n.
    """
    rng, parts = np.random.default_rng([seed, 4111]), []
    for i in range(world.clients):
        for a in range(world.groups):
            count = max(1, round(rows * world.weight[i] * world.shares[i, a] / 2))
            u = (np.arange(count) + rng.random()) / count
            x = world.mean[i][a] + world.sd[i][a] * special.ndtri(np.clip(u, 1e-12, 1 - 1e-12))
            label, weight = np.repeat([1, 0], count), 2 * special.expit(np.concatenate([x, -x]))
            columns = np.tile(x, 2), label, np.full(2 * count, i), np.full(2 * count, a), weight
            parts.append(columns)
    x, y, owner, group, weight = map(np.concatenate, zip(*parts, strict=True))
    return FederatedData("even", x[:, None], y, owner, world.clients, group=group), weight


def featured(data: FederatedData, bases: Sequence[Basis]) -> FederatedData:
    """People, their x replaced by the features of one basis, or of their owner's."""
    assert data.group is not None
    x = bases[0](data.x[:, 0], data.group)
    for client, basis in enumerate(bases[1:], start=1):
        is_owner = data.owner == client
        x[is_owner] = basis(data.x[is_owner, 0], data.group[is_owner])
    return replace(data, x=x)
