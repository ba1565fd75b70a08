"""Training on a sample of a world, and evaluation of the learned rules on the world."""

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from fairfl._support.checks import Array, one_of, whole
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.population import sample
from fairfl.sims.engine import Computing, Logistic, Parts, Replicate, Result, Training
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.engine.secure_sums import as_floats
from fairfl.sims.group_fairness import FairBatch, FedFB, LocalFairBatch
from fairfl.sims.group_fairness.lft import MODELS
from fairfl.solvers.schemes import LABELS
from fairfl.studies.crosscheck.population.features import Basis
from fairfl.studies.crosscheck.population.learned_rules import Performance, learned
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.experiment import Setting, Unit
from fairfl.studies.papers.fedfb.data import pooled
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.notions import Notion

CFL, LFT_AVG, ENSEMBLE = LABELS.values()
FEDFB = "FedFB"
LEARNERS = (CFL, ENSEMBLE, LFT_AVG, FEDFB)
"""The methods that are trained. FedFB's equation (6) clips each λ_a to its range; here sum_a λ_a =
1 is kept as well (``FairBatch.projection``).
"""

ALPHA, DECAY = 0.3, 1.0
"""Steps of λ, α_t = 0.3 / (t + 1). Their sum exceeds the width of λ's box. After 100 steps the
learned |MD| on the sample is within about 0.004 of its budget, also for clients whose λ* is within
1e-2 of the box's edge.
"""
LR, MOMENTUM = 0.5, 0.9


@dataclass(frozen=True)
class Plan:
    """One run: a learner on a sample, a replicate for each budget.

    Attributes
    ----------
    world : World
    scheme : one of ``LEARNERS``.
    degree : of the polynomials (``Basis``).
    rows : people in the sample.
    seed : of the sample.
    budgets : for each replicate ε of |MD|, one for all or one per client (LFT alone).
    rounds, steps : steps of λ, by default 100, 150 with 10,000 people or more; and full gradient
        steps between two.
    notion : "dp", "eo" or "eodds".
    """

    world: World
    scheme: str
    degree: int
    rows: int
    seed: int
    budgets: tuple[tuple[float, ...], ...]
    rounds: int | None = None
    steps: int = 10
    notion: Notion = "dp"

    def __post_init__(self) -> None:
        one_of("scheme", self.scheme, LEARNERS)
        one_of("notion", self.notion, ("dp", "eo", "eodds"))
        whole("rows", self.rows, 1)
        allowed = {1, self.world.clients} if self.local else {1}
        if not self.budgets or any(len(budget) not in allowed for budget in self.budgets):
            raise ValueError(
                f"budgets must hold {sorted(allowed)} numbers each for {self.scheme}, got "
                f"{self.budgets}"
            )

    @property
    def local(self) -> bool:
        """Whether each client is fair to its own people."""
        return self.scheme in (ENSEMBLE, LFT_AVG)

    @property
    def name(self) -> str:
        """Name of the run's folder."""
        slug = re.sub("[^a-z]+", "-", self.scheme.lower())
        size = f"{self.lengths}x{self.steps}-{zlib.crc32(repr(self.budgets).encode()):08x}"
        notion = "" if self.notion == "dp" else f"-{self.notion}"
        data = f"{self.world.name}{notion}-d{self.degree}-n{self.rows}-s{self.seed}"
        return f"cross-{slug}-{data}-{size}"

    @property
    def lengths(self) -> int:
        """Steps of λ, whose last ones are much smaller than the sampling error."""
        return self.rounds if self.rounds is not None else 100 if self.rows < 10_000 else 150

    def algorithms(self) -> list[Algorithm]:
        """One for each budget."""
        rules = [
            FairBatch(self.notion, ALPHA, DECAY, "zero_one", budget=budget[0], projection="sum")
            for budget in self.budgets
        ]
        if not self.local:
            return [FedFB(rule) for rule in rules]
        average = 1 if self.scheme == LFT_AVG else None
        local_budgets = [budget if len(budget) > 1 else None for budget in self.budgets]
        return [
            LocalFairBatch(rule, average, budgets)
            for rule, budgets in zip(rules, local_budgets, strict=True)
        ]

    def bases(self) -> list[Basis]:
        """One for all; for LFT+Ensemble, where no model leaves a client, one per client."""
        clients = range(self.world.clients) if self.scheme == ENSEMBLE else [None]
        return [Basis.of(self.world, self.degree, client) for client in clients]

    def setting(self) -> Setting:
        """The engine's arguments."""
        bases = self.bases()
        replicates = tuple(Replicate(algorithm, self.seed) for algorithm in self.algorithms())
        training = Training(
            rounds=self.lengths, steps=self.steps, batch_size=None, lr=LR, momentum=MOMENTUM
        )
        computing = Computing(device="cpu", dtype="float64")
        parts = featured(self.world, self.rows, self.seed, bases)
        parts = pooled(parts) if self.scheme == CFL else parts
        return Setting(
            Logistic(bases[0].size, bias=False),
            parts,
            replicates,
            training,
            self.lengths,
            computing,
        )

    def members(self, result: Result) -> list[list[Classifier]]:
        """The rules that each replicate learned: one per client for LFT+Ensemble, else one."""
        bases, rules = self.bases(), []
        for r, state in enumerate(result.simulation.states):
            params = (
                as_floats(state[MODELS]) if self.scheme == ENSEMBLE else result.params[r : r + 1]
            )
            rules.append([learned(basis, row) for basis, row in zip(bases, params, strict=True)])
        return rules

    def measured(self, result: Result) -> pd.DataFrame:
        """A row per replicate: its settings, the rule with its members, and its exact measures."""
        p = result.simulation.source.p if self.scheme == ENSEMBLE else np.ones(1)
        plan = {key: getattr(self, key) for key in ("notion", "scheme", "degree", "rows", "seed")}
        lines = []
        for budget, members in zip(self.budgets, self.members(result), strict=True):
            rule = Classifier.average(members, p)
            measures = Performance.of(rule, self.world.federation, self.notion)
            line = {"world": self.world.name, **plan, "budget": spelt(budget)}
            line |= {key: getattr(measures, key) for key in ("accuracy", "difference", "disparity")}
            line |= {"local": max(map(abs, measures.local)), "rule": rule.to_json()}
            texts = [member.to_json() for member in members]
            lines.append(line | {"members": json.dumps(texts)})
        return pd.DataFrame(lines)

    def unit(self) -> Unit:
        """The run as the machinery of experiments takes it."""
        objectives = tuple(spelt(budget) for budget in self.budgets)
        return Unit(
            self.name,
            self.world.name,
            self.seed,
            objectives,
            partial(type(self).setting, self),
            partial(type(self).measured, self),
        )


def spelt(budget: Sequence[float]) -> str:
    """A replicate's budgets as a table has them."""
    return " ".join(f"{v:g}" for v in budget)


def featured(world: World, rows: int, seed: int, bases: Sequence[Basis]) -> Parts:
    """A sample, its x replaced by the features of one basis, or of its owner's.

    Errors: ValueError where the sample holds nobody of a client or of a group (too small a sample).
    """
    data = sample(world.federation, rows, seed)
    assert data.group is not None
    counts = np.bincount(
        data.owner * world.groups + data.group, minlength=world.groups * world.clients
    )
    if (counts == 0).any():
        at = divmod(int(np.argmin(counts)), world.groups)
        raise ValueError(f"rows must be enough for people of every group, got {rows}: none at {at}")
    return Parts.of(replace(data, x=features(data, bases)))


def features(data: FederatedData, bases: Sequence[Basis]) -> Array:
    """The features of one basis, or of each person's owner's."""
    assert data.group is not None
    x = bases[0](data.x[:, 0], data.group)
    for client, basis in enumerate(bases[1:], start=1):
        is_owner = data.owner == client
        x[is_owner] = basis(data.x[is_owner, 0], data.group[is_owner])
    return x
