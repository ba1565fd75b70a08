"""Synthetic(alpha, beta): softmax models and features that differ by client (q-FFL, E.1)."""

import numpy as np
from numpy.typing import NDArray

from fairfl._support.checks import in_range, one_of, whole
from fairfl.sims.data.checks import generator
from fairfl.sims.data.federated.data import FederatedData

FEATURES, CLASSES = 60, 10
PARETO_SHAPE = 3.00665
PARETO_LEAST = 84.76
"""The power law of the sizes: q-FFL prints their mean, 127, and spread, 73, and "a power law", no
more. A Pareto law with shape a and least value m has mean a m / (a - 1) and squared coefficient of
variation 1 / (a (a - 2)); from (73/127)^2 = 0.3304 follows a = 1 + sqrt(1 + 1/0.3304) = 3.00665,
and m = 127 (a - 1) / a = 84.76.
"""
KINDS = ("non-iid", "iid", "hybrid")
MEANS = ("number", "class")
MOST_CLIENTS = 10_000
"""Largest number of clients, with some 130 rows of 60 numbers each: 0.6 GB in all."""


def client_sizes(clients: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sizes by the power law above, rounded."""
    return np.rint(PARETO_LEAST * (1 + rng.pareto(PARETO_SHAPE, clients))).astype(np.int64)


def synthetic(
    alpha: float = 1.0,
    beta: float = 1.0,
    clients: int = 100,
    kind: str = "non-iid",
    seed: int = 0,
    means: str = "number",
) -> FederatedData:
    r"""Draw :math:`y = \arg\max(W_k x + b_k)`, 60 features, 10 classes; all rows for training.

    .. math:: u_k \sim N(0, \alpha),\; W_k, b_k \sim N(u_k, 1),\; B_k \sim N(0, \beta),\; v_k \sim
        N(B_k, 1),\; x \sim N(v_k, \mathrm{diag}(j^{-1.2}))

    Parameters
    ----------
    alpha, beta : >= 0; variances of the models' and of the features' means between clients; q-FFL
        uses (1, 1).
    kind : "non-iid"; "iid": one model for all, x ~ N(0, diag); "hybrid": the first half of the
        clients iid.
    means : what u_k is: "number", as printed, or "class", a number for each class. With "number"
        alpha changes no label: u_k adds u_k (1 + sum_j x_j) to every score, and the largest stays.
        With "class" each entry has the same law, N(0, alpha + 1), and labels depend on alpha.

    Notes
    -----
    W_k ~ N(u_k, 1) is read as: every entry, the number u_k its mean, as in Li et al. (2018) from
    whom q-FFL takes it. alpha and beta are *variances*, as q-FFL prints; its code passes them as
    standard deviations, which is the same at 1 and at 0.
    """
    in_range("alpha", alpha, 0.0, 1e300)
    in_range("beta", beta, 0.0, 1e300)
    one_of("kind", kind, KINDS)
    one_of("means", means, MEANS)
    n_clients = whole("clients", clients, 1, MOST_CLIENTS)
    rng = generator(seed)
    sizes = client_sizes(n_clients, rng)
    feature_deviations = np.arange(1, FEATURES + 1) ** -0.6  # the variance is j^-1.2
    shared = rng.normal(size=(CLASSES, FEATURES)), rng.normal(size=CLASSES)
    n_iid = {"non-iid": 0, "iid": n_clients, "hybrid": n_clients // 2}[kind]
    x, y = [], []
    for k, size in enumerate(sizes):
        model_mean = rng.normal(0.0, np.sqrt(alpha), 1 if means == "number" else CLASSES)
        feature_mean = rng.normal(0.0, np.sqrt(beta))
        W = rng.normal(model_mean[:, None], 1.0, (CLASSES, FEATURES))
        b = rng.normal(model_mean, 1.0, CLASSES)
        centre = rng.normal(feature_mean, 1.0, FEATURES)
        if k < n_iid:
            (W, b), centre = shared, np.zeros(FEATURES)
        features = centre + feature_deviations * rng.normal(size=(size, FEATURES))
        x.append(features)
        y.append((features @ W.T + b).argmax(axis=1))
    return FederatedData(
        f"synthetic({alpha:g}, {beta:g})" if kind == "non-iid" else f"synthetic-{kind}",
        np.concatenate(x),
        np.concatenate(y),
        np.repeat(np.arange(n_clients), sizes),
        n_clients,
        note=f"q-FFL, appendix E.1: {kind}, seed {seed}; sizes from a Pareto law with the "
        "printed mean and spread.",
    )
