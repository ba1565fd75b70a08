r"""Theorems 1 and 2 of the dynamic paper on trained models: the round in which a second group
joins.

Two groups of one client each hold nine tenths of their own five of ten classes. The first trains
alone, then both make one round: by one full gradient each, as the theorems have it, or by five
epochs of batches, as the algorithms do. Whatever the step s, the *lead* of the newcomer, its
benefit of the round less the other's, is (g_2 - g_1).s less a remainder. Where both losses are
convex and L-smooth it is at most L ||s||²/2 (``theory.bounds.gaps``): softmax regression, L half of
the largest eigenvalue of E x x'.

A network V relu(W x + b) + c has no L for all models. Its Hessian is E J'(diag p - pp')J, J the
slope of the scores, and terms that vanish where the scores are linear in the weights. The first is
at most half of

    C = E [1 + |h|² + ||V||² (1 + |x|²)],    h = relu(W x + b),

for the change of the scores under a step (S, s), (T, t) is T h + t + V D (S x + s). So L is of the
order of C, which grows as the model is trained: ``NETWORK`` C was set on the seen seeds. A share of
E |x|² alone, which does not know ||V||, is no such L: see docs/results/crosscheck.md.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch

from fairfl._support.checks import Array
from fairfl.sims.algorithms.dynamic import NormalizedFedAvg
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.partition import two_groups
from fairfl.sims.engine import (
    MLP,
    Algorithm,
    Computing,
    Joining,
    Model,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Training,
)
from fairfl.studies.crosscheck.rates import TOO_FEW, Rate
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.crosscheck.told import counted, every, series, summary
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups, rows
from fairfl.theory.bounds.gaps import gap_bounds

NAME = "joining"
TITLE = "Theorems 1 and 2 of the dynamic paper in the round in which a second group joins"
SEEDS = {"quick": 1, "paper": 12}
SEEN = 6

NETWORK = 0.018
"""L of the network over C: twice the largest on the seen seeds. 1/2 bounds its first term."""
ALPHA, CLASSES, FEATURES, EACH = 0.9, 10, 20, 40
SIZES = (0.5, 2.5)
"""Of the features: the gradients' norms are in proportion."""
ETA, HIDDEN = 0.1, 32
TRAINED = (1, 10, 100)
"""Rounds of the first group alone."""
WORK: dict[str, dict[str, int | None]] = {
    "one step": {"batch_size": None, "steps": 1},
    "five epochs": {"batch_size": 32, "epochs": 5},
}
PLAIN, GLOBAL, LAYERS = "FedAvg", "normalised", "by layer"
RULES: dict[str, Algorithm] = {
    PLAIN: FedAvg(),
    GLOBAL: NormalizedFedAvg("global"),
    LAYERS: NormalizedFedAvg("layer"),
}
PARTS = (1.0, 0.5, 0.25, 0.125)
"""Of the round's step, for the order of the remainder."""
SOFTMAX, TWO = "softmax", "two layers"
ROUNDING = 1e-12


def units(scale: Scale) -> list[Unit]:
    """A unit a seed and model."""
    return [
        Unit(
            f"joining-{name.replace(' ', '-')}-{seed}", name, seed, (), partial(measure, name, seed)
        )
        for name in (SOFTMAX, TWO)
        for seed in range(scale.seeds)
    ]


def measure(name: str, seed: int) -> pd.DataFrame:
    """A row for each length of training, work of a client, rule, and part of the step."""
    data = sample(seed)
    model: Model = (
        Softmax(FEATURES, CLASSES) if name == SOFTMAX else MLP((FEATURES, HIDDEN, CLASSES))
    )
    return pd.DataFrame(
        [
            {"trained": trained, "work": work, "rule": rule, **line}
            for trained in TRAINED
            for work in WORK
            for rule, lines in joined(model, data, trained, work, seed).items()
            for line in lines
        ]
    ).assign(model=name, world=name, seed=seed)


def sample(seed: int) -> Parts:
    """Two clients of 400 rows, classes around centres; the seed draws these and the scales."""
    rng = np.random.default_rng([seed, 15])
    centre = rng.normal(size=(CLASSES, FEATURES)) * rng.uniform(0.3, 1.5)
    label = np.tile(np.arange(CLASSES), 2 * EACH)
    x = rng.uniform(*SIZES) * (centre[label] + rng.normal(size=(len(label), FEATURES)))
    owner = two_groups(label, ALPHA, 1, seed)
    return Parts.of(FederatedData("groups", x, label, owner, 2))


def joined(
    model: Model, data: Parts, trained: int, work: str, seed: int
) -> dict[str, list[dict[str, Any]]]:
    """Each rule's round after ``trained`` ones: lead and its first order, by part of the step."""
    training = Training(
        trained + 1,
        lr=ETA,
        participation=Joining((0, trained)),
        **WORK[work],  # type: ignore[arg-type]
    )
    replicates = [Replicate(rule, seed) for rule in RULES.values()]
    computing = Computing(device="cpu", dtype="float64")
    simulation = Simulation(model, data, replicates, training, computing)
    course = []
    for _ in range(trained):
        course.append(losses(simulation, simulation.params[0])[0])
        simulation.step()
    here = simulation.params[0].clone()
    before, slopes = losses(simulation, here), gradients(simulation, here)
    L = smoothness(data) if isinstance(model, Softmax) else NETWORK * curvature(simulation, here)
    a, b = np.linalg.norm(slopes, axis=1)
    known = {"a": a, "b": b, "cosine": float(slopes[0] @ slopes[1] / (a * b)), "L": L}
    known |= {"head": course[0] - before[0], "recent": course[-1] - before[0]}
    simulation.step()
    found = {}
    for name, end in zip(RULES, simulation.params, strict=True):
        step, lines = here - end, []
        for part in PARTS:
            s = part * step.numpy()
            gain = before - losses(simulation, here - part * step)
            low, high = gap_bounds(slopes, s, L, 0.0)
            line = {"first": float((slopes[1] - slopes[0]) @ s), "lead": gain[1] - gain[0]}
            line |= {"low": low[1, 0], "high": high[1, 0], "reach": float(s @ s) / 2}
            lines.append({"part": part, **known, **line})
        found[name] = lines
    return found


def losses(simulation: Simulation, w: torch.Tensor) -> Array:
    """The two clients' losses (2,)."""
    x, y = _batches(simulation)
    return simulation.model.losses(w.expand(2, -1).contiguous(), x, y).mean(1).numpy()


def gradients(simulation: Simulation, w: torch.Tensor) -> Array:
    """(2, P)."""
    x, y = _batches(simulation)
    return simulation.model.gradient(w.repeat(2, 1), x, y, 1.0 / x.shape[1]).numpy()


def _batches(simulation: Simulation) -> tuple[torch.Tensor, torch.Tensor]:
    """All rows of both clients, which have as many."""
    x, y = simulation.data.x, simulation.data.y
    return x.view(2, -1, x.shape[1]), y.view(2, -1)


def curvature(simulation: Simulation, w: torch.Tensor) -> float:
    """C of the network, the larger of the clients."""
    x, _ = _batches(simulation)  # with a column of ones
    first, last = w.split(simulation.model.layers)
    V = last[: HIDDEN * CLASSES].view(HIDDEN, CLASSES)
    hidden = torch.relu(x @ first.view(FEATURES + 1, HIDDEN)).square().sum(2)
    spread = torch.linalg.matrix_norm(V, 2).square() * x.square().sum(2)
    return float((1 + hidden + spread).mean(1).max())


def smoothness(data: Parts) -> float:
    """L of softmax regression with a bias: half the largest eigenvalue of E x x' of a client."""
    x = data.train.x.numpy().reshape(2, -1, FEATURES)
    x = np.concatenate([x, np.ones((*x.shape[:2], 1))], axis=2)
    second = np.einsum("kni,knj->kij", x, x) / x.shape[1]
    return float(np.linalg.eigvalsh(second)[:, -1].max() / 2)


def whole(measures: pd.DataFrame) -> pd.DataFrame:
    """Of whole steps, with ``width``: what the remainder may be at most."""
    found = among(measures, "part", [1.0])
    return found.assign(width=floats(found, "L") * floats(found, "reach"))


def pairs(measures: pd.DataFrame, other: str) -> pd.DataFrame:
    """FedAvg's lead less another rule's, ``less``; its first order ``told``; the ``width``."""
    keys = ["model", "seed", "trained", "work"]
    found = whole(measures)
    one, two = (among(found, "rule", [name]).set_index(keys) for name in (PLAIN, other))
    columns = {
        "less": one["lead"] - two["lead"],
        "told": one["first"] - two["first"],
        "width": one["width"] + two["width"],
    }
    return one[["a", "b", "cosine"]].assign(**columns).reset_index()


def used(measures: pd.DataFrame) -> Array:
    """The remainder over L ||s||²/2."""
    off = np.abs(floats(measures, "lead") - floats(measures, "first"))
    return off / floats(measures, "L") / floats(measures, "reach")


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By model, rounds before, work and rule: means over seeds of norms, lead and its first order;
    the largest remainder over L ||s||²/2; and in how many runs the newcomer has gained more than
    group 1 since the first model, and in the last round alone.
    """

    def of(part: pd.DataFrame) -> dict[str, Any]:
        named = ("a", "b", "cosine", "head", "first", "lead")
        lead = floats(part, "lead")
        return {
            **{name: float(floats(part, name).mean()) for name in named},
            "remainder, most": float(used(part).max()),
            "unfair, all": int((lead >= floats(part, "head")).sum()),
            "unfair, last round": int((lead >= floats(part, "recent")).sum()),
            "runs": len(part),
        }

    return {"joining": summary(whole(measures), ["model", "trained", "work", "rule"], of)}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """A theorem; what it says with a constant that was measured; and what it does not say."""
    return (
        _remainder(
            measures,
            SOFTMAX,
            "softmax-remainder",
            "The newcomer's lead after any step is its first order to within L ||s||²/2.",
            hard=True,
        ),
        _remainder(
            measures, TWO, "network-remainder", f"The same of a network with L = {NETWORK:g} C."
        ),
        _order(measures),
        *_theorems(measures),
    )


def _remainder(
    measures: pd.DataFrame, model: str, name: str, asked: str, hard: bool = False
) -> Verdict:
    part = among(measures, "model", [model])
    lead, low, high = (floats(part, column) for column in ("lead", "low", "high"))
    inside = (lead >= low - ROUNDING) & (lead <= high + ROUNDING)
    told = f"{_what(part)}: {used(part).max(initial=0.0):.2f} of it at most"
    return every(name, part, inside, asked, told, hard)


def _order(measures: pd.DataFrame) -> Verdict:
    off = np.abs(floats(measures, "lead") - floats(measures, "first"))
    world = [f"{m}, {w}" for m, w in zip(measures["model"], measures["work"], strict=True)]
    rate = Rate.of(measures["part"], off, world)
    return Verdict(
        "remainder-order",
        None if rate is None else rate.is_near(2.0),
        "The remainder falls like the square of the step.",
        TOO_FEW if rate is None else f"{rate}, n the part of the step; {_what(measures)}",
    )


def _theorems(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    plain = among(whole(measures), "rule", [PLAIN])
    heads = [plain.assign(since=floats(plain, name)) for name in ("head", "recent")]
    started = pd.concat(heads, ignore_index=True)
    told, true = (floats(started, name) - floats(started, "since") for name in ("first", "lead"))
    both = pairs(measures, GLOBAL)
    single = among(both, "work", ["one step"])
    a, b, cosine = (floats(single, name) for name in ("a", "b", "cosine"))
    large = rows(single, b >= 2)
    natural = rows(single, floats(single, "trained") > 1)
    layers = among(pairs(measures, LAYERS), "work", ["five epochs"])
    late = rows(layers, floats(layers, "trained") > 1)
    return (
        _decides(
            "theorem-1-decides",
            started,
            told,
            true,
            "Where (g_2 - g_1).s differs by more than the remainder from what group 1 has gained "
            "before (since the first model, or in the last round alone), it tells whether FedAvg "
            "is fair after the round.",
        ),
        _decides(
            "theorem-2-decides",
            both,
            floats(both, "told"),
            floats(both, "less"),
            "Where the first orders of the two leads differ by more than the remainders, they tell "
            "which rule is fairer.",
        ),
        _all(
            "theorem-2-first-order",
            single,
            floats(single, "less") * (b - a) * (a + b - 1 - cosine) > 0,
            "With one step the normalised rule is fairer where (b - a)(a + b - 1 - c) > 0, and "
            "FedAvg where it is below 0, however large the remainder may be.",
        ),
        _all(
            "theorem-2-printed",
            large,
            floats(large, "less") > 0,
            "With one step the normalised rule is fairer wherever ||g_2|| is 2 or more.",
        ),
        _all(
            "newcomers-gradient-is-larger",
            natural,
            floats(natural, "b") > floats(natural, "a"),
            "After ten rounds or more of training on group 1, group 2 has the larger gradient.",
        ),
        _all(
            "normalising-is-fairer-in-practice",
            late,
            floats(late, "less") > 0,
            "With five epochs, after ten rounds or more, the rule by layer is fairer than FedAvg.",
        ),
    )


def _decides(name: str, part: pd.DataFrame, told: Array, true: Array, asked: str) -> Verdict:
    """Signs agree wherever the first order is beyond the remainder."""
    sure = np.abs(told) > floats(part, "width")
    right = told[sure] * true[sure] > 0
    found = f"{_what(part)}: decided in {sure.sum()}, right in {right.sum()} of these"
    agree = int((told * true > 0).sum())
    holds = bool(right.all()) if sure.any() else None
    return Verdict(name, holds, asked, f"{found}; the signs agree in {agree}")


def _all(name: str, part: pd.DataFrame, true: Array, asked: str) -> Verdict:
    return every(name, part, true, asked, f"{int(true.sum())} of {_what(part)}")


def _what(part: pd.DataFrame) -> str:
    return counted(part, "rounds")


def shown(measures: pd.DataFrame) -> pd.DataFrame:
    """Lead against its first order, whole steps."""
    parts = []
    for (model, work), here in groups(whole(measures), ["model", "work"]):
        panel = f"{model}, {work}"
        ends = np.array([floats(here, "first").min(), floats(here, "first").max()])
        parts.append(series(panel, "first order", "line", ends, ends))
        for rule in RULES:
            mine = among(here, "rule", [rule])
            x, y = floats(mine, "first"), floats(mine, "lead")
            parts.append(series(panel, rule, "points", x, y))
    return pd.concat(parts, ignore_index=True)


PICTURES = (
    Drawing(
        "crosscheck-joining",
        "The newcomer's lead in the round in which it joins",
        "(g₂ − g₁)·s (nats)",
        "lead (nats)",
        shown,
    ),
)
