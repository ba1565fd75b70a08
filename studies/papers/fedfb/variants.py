"""Variants of FedFB's methods that one experiment alone has, in a folder of their own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fairfl.sims.engine import MLP, Computing, Logistic, Model, Parts, Replicate, Training
from fairfl.sims.group_fairness import FairFed, FedFB
from fairfl.studies.experiment import Scale, Setting, Unit
from fairfl.studies.papers.fedfb import runs as fedfb_runs
from fairfl.studies.papers.fedfb.data import SYNTHETIC, fedfb_data
from fairfl.studies.papers.fedfb.runs import BATCH, EPOCHS, HIDDEN, LR, MOMENTUM, PLAIN_GRID, Method, measured, rule

ON_PLANE, PLAIN_ON_PLANE = "FedFB, λ on its plane", "FedFB, step α μ, λ on its plane"
REWEIGHING, NO_REWEIGHING = "FairFed, reweighing alone", "FairFed, no reweighing"
PLANE_GRID = (0.05, 0.08, 0.1, 0.2)


def on_plane() -> tuple[Method, ...]:
    """FedFB whose λ is projected on Σ λ_a = 1 too, a plane that its steps keep and that clipping leaves."""
    plane = [(ON_PLANE, FedFB(replace(rule(alpha), projection="sum"))) for alpha in PLANE_GRID]
    plain = [
        (PLAIN_ON_PLANE, FedFB(replace(rule(alpha, normalised=False), projection="sum"))) for alpha in PLAIN_GRID
    ]  # fmt: skip
    return (*plane, *plain)


def halves_of_fairfed() -> tuple[Method, ...]:
    """FairFed's two ingredients, each alone: reweighing at the clients (β = 0), and weights of the average."""
    return (REWEIGHING, FairFed(0.0)), *((NO_REWEIGHING, FairFed(beta, local="none")) for beta in (1.0, 30.0))


def unit(scale: Scale, dataset: str, model: str, slug: str, methods: tuple[Method, ...]) -> Unit:
    """The methods' runs on one data set, all seeds together, in the federated schedule."""
    objectives = tuple(name for name, _ in methods for _ in range(scale.seeds))
    label = f"fedfb-{dataset.lower()}-{model}-{slug}-{scale.profile}-{scale.seeds}"
    run, found = partial(make, scale, dataset, model, methods), partial(measured, objectives, dataset in SYNTHETIC)
    return Unit(label, dataset, 0, objectives, run, found)


def make(scale: Scale, dataset: str, model: str, methods: tuple[Method, ...]) -> Setting:
    """Rounds, epochs and steps of ``fedfb_runs``."""
    parts = Parts.of(fedfb_data(dataset))
    epochs = EPOCHS if scale.paper else fedfb_runs.QUICK
    replicates = tuple(Replicate(algorithm, seed) for _, algorithm in methods for seed in range(scale.seeds))
    rounds = fedfb_runs.ROUNDS
    training = Training(rounds=rounds, epochs=epochs, lr=LR, momentum=MOMENTUM, batch_size=BATCH)
    width = parts.train.x.shape[1]
    kernel: Model = MLP((width, HIDDEN, 2)) if model == "mlp" else Logistic(width)
    return Setting(kernel, parts, replicates, training, rounds, Computing(device="cpu"))
