"""What client parity costs: best accuracies by disparity of clients' losses and errors."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import root_scalar
from scipy.special import xlog1py, xlogy

from fairfl._support.checks import Array, one_of
from fairfl.sims.data.federated.fedfb_synthetic import chance_of_label
from fairfl.sims.data.tables.score import cross_fitted_score
from fairfl.studies.papers.fedfb.data import REAL, SYNTHETIC, fedfb_data
from fairfl.studies.papers.fedfb.limits import STEP

LN2 = float(np.log(2))


def entropy(rate: ArrayLike) -> Array:
    """-r log r - (1 - r) log(1 - r), in nats."""
    r = np.asarray(rate, dtype=np.float64)
    return -xlogy(r, r) - xlog1py(1 - r, -r)


def levelled_margins(accuracy: ArrayLike) -> Array:
    r"""Margins t_k (K,) with which the scores 1/2 ± t_k have one log loss at every client, and the
    decisions are kept.

    A client whose decisions are right at a rate r has, with the score 1/2 + t where it accepts and
    1/2 - t where it does not, the log loss -r log(1/2 + t) - (1 - r) log(1/2 - t). On (0, r - 1/2]
    it falls from log 2 to the entropy h(r). So all clients can be given the loss max_k h(r_k),
    which is below log 2 where all r_k exceed 1/2: in log losses *client parity costs no accuracy*,
    for whatever decisions, and the frontier of (max_ij |L_i - L_j|, accuracy) is level at the
    accuracy of the most accurate decisions.

    ``accuracy`` (K,): each r_k in (1/2, 1]. Errors: ValueError for another.
    """
    right = np.asarray(accuracy, dtype=np.float64)
    if right.ndim != 1 or not right.size or not ((right > 0.5) & (right <= 1)).all():
        raise ValueError(f"accuracy must be rates in (1/2, 1], got {right.tolist()}")
    level = float(entropy(right).max())
    return np.array([_margin(float(r), level) for r in right])


def margin_loss(accuracy: ArrayLike, margin: ArrayLike) -> Array:
    """The log loss of scores 1/2 ± ``margin``, right at a rate ``accuracy``."""
    r, t = np.asarray(accuracy, dtype=np.float64), np.asarray(margin, dtype=np.float64)
    return -xlogy(r, 0.5 + t) - xlogy(1 - r, 0.5 - t)


def _margin(right: float, level: float) -> float:
    least = right - 0.5
    if float(entropy(right)) >= level:
        return least
    found = root_scalar(
        lambda t: float(margin_loss(right, t)) - level, bracket=(0.0, least), xtol=1e-14
    )
    return float(found.root)


def levelling_down(weights: ArrayLike, best: ArrayLike, disparity: ArrayLike) -> Array:
    r"""The best accuracy with error rates of the clients at most so far apart: the frontier, at
    each disparity (n,).

    .. math::
        \sum_k w_k \min(r_k^*, \min_j r_j^* + \varepsilon)

    for rules that may tell the clients apart and randomise: client k can have any accuracy in [1 -
    r_k*, r_k*], r_k* its best one, and all others are held within ε of the worst-off, who has
    nothing to gain: everyone else is levelled down. ``weights`` (K,) sum to 1; ``best`` (K,) the
    r_k* >= 1/2.
    """
    share, top = np.asarray(weights, dtype=np.float64), np.asarray(best, dtype=np.float64)
    if (
        share.shape != top.shape
        or share.ndim != 1
        or not np.isclose(share.sum(), 1)
        or (share < 0).any()
    ):
        raise ValueError(
            f"weights must be shares of the clients that sum to 1, got {share.tolist()}"
        )
    if not ((top >= 0.5) & (top <= 1)).all():
        raise ValueError(f"best must be rates in [1/2, 1], got {top.tolist()}")
    eps = np.asarray(disparity, dtype=np.float64)
    if not (eps >= 0).all():
        raise ValueError(f"disparity must be at least 0, got {eps.tolist()}")
    return np.minimum(top, top.min() + eps[..., None]) @ share


@lru_cache(maxsize=8)
def best_by_group(name: str) -> tuple[Array, Array]:
    """Shares (A,) of the test people's groups, and the best accuracy (A,) on each.

    Synthetic data: of any classifier of (x, a), the labels' P(y=1 | x) being known, in expectation
    over labels. Real data: of a threshold, one a group, on a cross-fitted logistic score rounded as
    in ``limits``, on the same test people and their labels: no bound for classifiers that see the
    features.
    """
    one_of("name", name, (*SYNTHETIC, *REAL))
    data = fedfb_data(name)
    assert data.group is not None
    test = data.rows("test")
    group = data.group[test]
    share = np.bincount(group) / len(group)
    if name in SYNTHETIC:
        eta = chance_of_label(data.x[test, :2])
        return share, np.bincount(group, np.maximum(eta, 1 - eta)) / np.bincount(group)
    score = (
        np.round(
            cross_fitted_score(data.x, data.y, group=data.group, client=data.owner)[test] / STEP
        )
        * STEP
    )
    y = data.y[test]
    best = [best_threshold(score[group == a], y[group == a]) for a in range(len(share))]
    return share, np.array(best)


def best_threshold(score: ArrayLike, y: ArrayLike) -> float:
    """The accuracy of the best rule "accept where the score exceeds a level" on these people."""
    x, label = np.asarray(score, dtype=np.float64), np.asarray(y)
    levels, where = np.unique(x, return_inverse=True)
    positive, everyone = np.bincount(where, label), np.bincount(where)
    refused_right = np.concatenate([[0], np.cumsum(everyone - positive)])
    accepted_right = positive.sum() - np.concatenate([[0], np.cumsum(positive)])
    return float((refused_right + accepted_right).max() / len(x))
