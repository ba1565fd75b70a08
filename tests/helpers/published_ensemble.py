"""LFT+Ensemble on FedFB's synthetic data by the procedure of its published code, written from its description.

What it does: x1, x2 and the group into a network of four hidden units; 90 % of each client's rows; Adam, rate 0.005,
weight decay 1e-4, 300 epochs of batches of 128, each batch's loss a weighted mean. A person of label y in group a
weighs λ_{y,a} n_y / n_{y,a}, λ at first P(y | a). After epoch t, with ℓ_{y,a} the cell's summed loss of being accepted
over n_a: where ℓ_00 - ℓ_01 > ℓ_10 - ℓ_11, λ_00 falls and λ_01 rises by α / t, the labels' λ of one group adding up to
one; elsewhere λ_00 rises and λ_10 falls, and λ_01 = 1 - λ_00, λ_11 = 1 - λ_10 (label and group exchanged).
The ensemble asks for the larger of the clients' sigmoids, each divided by its sum over the batch, weighed by size.
"""

import random

import numpy as np
import torch
from torch.nn.functional import softplus

from fairfl.sims.data.federated.fedfb_synthetic import PUBLISHED_SEED, SPLITS, _published

GRID = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)
ROWS, TEST, BATCH, LR, DECAY = 5000, 1500, 128, 0.005, 1e-4


def clients_of(group):
    """Rows of each client among the first 3,500: the shares go to group 1 first, in order, then shuffled."""
    random.seed(PUBLISHED_SEED)
    shares = list(zip(*SPLITS[3, "medium"], strict=True))
    pools = [np.flatnonzero(group[: ROWS - TEST] == a) for a in (1, 0)]
    cuts = [
        np.append((np.cumsum([share[j] for share in shares])[:-1] * len(pool)).astype(int), len(pool))
        for j, pool in enumerate(pools)
    ]
    starts, rows = [0, 0], []
    for k in range(len(shares)):
        mine = np.concatenate([pool[starts[j] : cuts[j][k]] for j, pool in enumerate(pools)])
        random.shuffle(mine)
        rows.append(mine)
        starts = [cuts[j][k] for j in (0, 1)]
    return rows


def first(seed):
    """Parameters as ``torch.nn.Linear`` draws them."""
    torch.manual_seed(seed)
    layers = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    return [p.detach().clone() for layer in layers for p in layer.parameters()]


def logits(w, x):
    hidden = torch.relu(torch.baddbmm(w[1][:, None], x, w[0].transpose(1, 2)))
    return hidden, torch.baddbmm(w[3][:, None], hidden, w[2].transpose(1, 2))


def train(x, y, cell, alphas, seeds, epochs):
    """Models of one client, a row a run (of these α and seeds)."""
    counts = np.bincount(cell, minlength=4).reshape(2, 2).T.astype(float)  # y, a
    lam = np.tile(counts / counts.sum(0), (len(alphas), 1, 1))
    w = [torch.stack(parts) for parts in zip(*(first(s) for s in seeds), strict=True)]
    moments, steps = [(torch.zeros_like(p), torch.zeros_like(p)) for p in w], 0
    code = torch.from_numpy(cell)
    orders = {s: np.random.default_rng([s, len(x)]) for s in seeds}
    for t in range(epochs):
        table = torch.from_numpy(lam * (counts.sum(1, keepdims=True) / counts)).float().transpose(1, 2).reshape(-1, 4)
        shuffled = {s: rng.permutation(len(x)) for s, rng in orders.items()}
        order = torch.from_numpy(np.stack([shuffled[s] for s in seeds]))
        for part in order.split(BATCH, 1):
            weight = torch.gather(table, 1, code[part])
            weight = weight / weight.sum(1, keepdim=True)
            hidden, z = logits(w, x[part])
            error = (torch.sigmoid(z[..., 1] - z[..., 0]) - y[part]) * weight
            back = torch.stack([-error, error], 2)
            down = torch.bmm(back, w[2]) * (hidden > 0)
            outer = torch.bmm(down.transpose(1, 2), x[part]), torch.bmm(back.transpose(1, 2), hidden)
            slopes = outer[0], down.sum(1), outer[1], back.sum(1)
            steps += 1
            for p, slope, (mean, square) in zip(w, slopes, moments, strict=True):
                slope = slope + DECAY * p
                mean.mul_(0.9).add_(slope, alpha=0.1)
                square.mul_(0.999).addcmul_(slope, slope, value=0.001)
                p -= LR / (1 - 0.9**steps) * mean / ((square / (1 - 0.999**steps)).sqrt() + 1e-8)
        _, z = logits(w, x[None].expand(len(alphas), -1, -1))
        accepted = softplus(z[..., 0] - z[..., 1]).double().numpy()
        sums = np.stack([accepted[:, cell == c].sum(1) for c in range(4)], 1).reshape(-1, 2, 2).transpose(0, 2, 1)
        lam = moved(lam, sums / counts.sum(0), np.asarray(alphas) / (t + 1))
    return w


def moved(lam, loss, step):
    """The step of λ (runs, y, a)."""
    up = loss[:, 0, 0] - loss[:, 0, 1] > loss[:, 1, 0] - loss[:, 1, 1]
    low, high = np.clip(lam[:, 0, 0] - step, 0, 1), np.clip(lam[:, 0, 1] + step, 0, 1)
    here = np.stack([np.stack([low, high], 1), np.stack([1 - low, 1 - high], 1)], 1)
    raised, lowered = np.clip(lam[:, 0, 0] + step, 0, 1), np.clip(lam[:, 1, 0] - step, 0, 1)
    there = np.stack([np.stack([raised, 1 - raised], 1), np.stack([lowered, 1 - lowered], 1)], 1)
    return np.where(up[:, None, None], here, there)


def ensemble(seeds, alphas=GRID, epochs=300):
    """P(ŷ = 1) on the test rows of every seed and α (seeds, alphas, 1500), with the rows' labels and groups."""
    x, y, group = _published(ROWS)
    inputs, labels = torch.from_numpy(np.column_stack([x, group])).float(), torch.from_numpy(y).float()
    runs = [(s, a) for s in seeds for a in alphas]
    votes = torch.zeros(len(runs), TEST, 2)
    test = inputs[ROWS - TEST :]
    for rows in clients_of(group):
        kept = rows[: int(0.9 * len(rows))]
        cell = 2 * group[kept] + y[kept]
        w = train(inputs[kept], labels[kept], cell, [a for _, a in runs], [s for s, _ in runs], epochs)
        asked = torch.sigmoid(logits(w, test[None].expand(len(runs), -1, -1))[1])
        votes += len(rows) * torch.cat([part / part.sum((1, 2), keepdim=True) for part in asked.split(BATCH, 1)], 1)
    accept = (votes[..., 1] > votes[..., 0]).numpy().astype(float).reshape(len(seeds), len(alphas), TEST)
    return accept, y[ROWS - TEST :], group[ROWS - TEST :]
