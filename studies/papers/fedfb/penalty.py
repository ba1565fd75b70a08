"""AgnosticFair as FedFB's code has it: SGD on the pooled people with a penalty, without a minimax.

The penalty is the published code's; the routine and its grid are those of later copies of that code.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from fairfl.sims.engine import MLP, ClientData, Parts
from fairfl.sims.group_fairness import FairMeasures
from fairfl.sims.group_fairness.measures import accepts
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups
from fairfl.studies.papers.fedfb.data import SYNTHETIC, fedfb_data
from fairfl.studies.papers.fedfb.runs import BATCH, HIDDEN, beside, row_of

PENALTY, COVARIANCE = "AgnosticFair, published penalty", "AgnosticFair, penalty of the covariance"
EPOCHS = {"quick": 2, "paper": 300}
RATES, FACTORS = (0.001, 0.005), (0.0, 10.0, 100.0, 200.0, 500.0, 1000.0, 5000.0, 10000.0)
"""The grid of those copies."""


def penalty_unit(scale: Scale, dataset: str, method: str) -> Unit:
    """``method`` PENALTY or COVARIANCE."""
    slug = "penalty" if method == PENALTY else "covariance"
    label = f"fedfb-{dataset.lower()}-agnostic-{slug}-{scale.profile}-{scale.seeds}"
    return Unit(label, dataset, 0, (method,), partial(penalised, scale, dataset, method))


def penalised(scale: Scale, dataset: str, method: str) -> pd.DataFrame:
    """Measures of the pair of rate and factor with the smallest disparity on validation, in the mean over seeds.

    A row a seed and part, the columns lr and factor holding the pair. Not chosen, and counted in columns, are pairs
    that diverge with a seed, and those whose classifiers are constant with every seed: they would always be chosen.
    """
    parts = Parts.of(fedfb_data(dataset))
    model = MLP((parts.train.x.shape[1], HIDDEN, 2))
    pairs = [(lr, factor) for lr in RATES for factor in FACTORS]
    params = torch.stack(
        [train(model, parts.train, pairs, EPOCHS[scale.profile], seed, method == COVARIANCE)
         for seed in range(scale.seeds)]
    )  # (seeds, pairs, P)  # fmt: skip
    finite = torch.isfinite(params).all(2).all(0).numpy()
    held = [judged(model, one, parts.parts["validation"]) for one in params]
    dp, accepted = (np.array([[getattr(found, name) for found in row] for row in held]) for name in ("dp", "accepted"))
    constant = finite & ((accepted == 0) | (accepted == 1)).all(0)
    if not (finite & ~constant).any():
        raise RuntimeError(f"every pair of rate and factor diverged or ended in a constant on {dataset}")
    best = int(np.argmin(np.where(finite & ~constant, dp.mean(0), np.inf)))
    lr, factor = pairs[best]
    shared = {"alpha": np.nan, "lr": lr, "factor": factor, "bytes_down": 0, "bytes_up": 0}
    shared |= {"diverged": int((~finite).sum()), "constant": int(constant.sum())}
    rows = []
    for part in ("validation", "test"):
        data = model.prepare(parts.parts[part].to("cpu", torch.float64))
        y, group = data.y.numpy(), data.group
        assert group is not None
        for seed, accept in enumerate(accepts(model, params[:, best], data)):
            found = FairMeasures.of(accept, y, group)
            row = row_of(part, method, seed, found, len(y)) | shared
            known = part == "test" and dataset in SYNTHETIC
            rows.append(row | (beside(accept, found, data) if known else {}))
    return pd.DataFrame(rows).assign(round=EPOCHS[scale.profile])


def judged(model: MLP, params: Tensor, data: ClientData) -> list[FairMeasures]:
    """Measures of the models (M, P), one each."""
    data = model.prepare(data.to("cpu", torch.float64))
    assert data.group is not None
    return [FairMeasures.of(accept, data.y.numpy(), data.group) for accept in accepts(model, params, data)]


def train(
    model: MLP, people: ClientData, pairs: list[tuple[float, float]], epochs: int, seed: int, covariance: bool = False
) -> Tensor:
    """Parameters (M, P) after so many epochs, a row a pair of rate and factor, on the same batches of 128."""
    assert people.group is not None
    x, y = people.x.to(torch.float64), people.y.long()
    away = torch.from_numpy(people.group - people.group.mean())
    rates, factors = (torch.tensor(column, dtype=torch.float64) for column in zip(*pairs, strict=True))
    params = model.init(seed).repeat(len(pairs), 1)
    order = torch.Generator().manual_seed(seed)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for _ in range(epochs):
            for batch in torch.randperm(len(x), generator=order).split(BATCH):
                params.requires_grad_(True)
                z = scores(model, params, x[batch])
                loss = losses(z, y[batch]) + factors * penalties(z, away[batch], covariance)
                slope = torch.autograd.grad(loss.sum(), params)[0]
                params = params.detach() - rates[:, None] * slope
    finally:
        torch.set_num_threads(threads)
    return params


def losses(z: Tensor, y: Tensor) -> Tensor:
    """Cross entropies of scores z (M, B, 2), summed over the batch (M,)."""
    return (torch.logsumexp(z, 2) - z[:, torch.arange(len(y)), y]).sum(1)


def penalties(z: Tensor, away: Tensor, covariance: bool) -> Tensor:
    r"""Σ_j mean_s [(a_s - \bar a)(z_sj - mean z_j)]^2 (M,), away being a - \bar a (B,); or, with ``covariance``, the
    mean squared: Σ_j (mean_s (a_s - \bar a)(z_sj - mean z_j))^2.

    The first is what the published code has. It is a weighted variance of the scores: 0 where a score is constant, and
    large wherever scores differ, between the groups or within them.
    """
    products = away[:, None] * (z - z.mean(1, keepdim=True))
    return ((products.mean(1) ** 2) if covariance else (products**2).mean(1)).sum(1)


def scores(model: MLP, params: Tensor, x: Tensor) -> Tensor:
    """z (M, B, 2) of the models (M, P) on the same people (B, d)."""
    return model.scores(params, x.expand(len(params), *x.shape)).transpose(1, 2)


def penalty_notes(rows: pd.DataFrame) -> tuple[str, ...]:
    """What was chosen, a line a data set and method."""
    lines = []
    for (dataset, method), mine in groups(among(rows, "objective", [PENALTY, COVARIANCE]), ["dataset", "objective"]):
        lr, factor, lost, flat = (floats(mine, name)[0] for name in ("lr", "factor", "diverged", "constant"))
        chosen = f"rate {lr:g}, factor {factor:g} of {len(RATES) * len(FACTORS)} pairs, fairest on validation"
        lines.append(f"{dataset}, {method}: {chosen}; {lost:.0f} diverged, {flat:.0f} are constant.")
    return tuple(lines)
