"""With one full step a round, algorithms end at the certified optimum of their objective."""

from functools import cache

import every_algorithm as every
import numpy as np
import pytest
import torch
from federations import trained

from fairfl.sims.algorithms.min_norm import min_norm_weights
from fairfl.sims.engine import ClientData, Parts, Polynomial, Softmax, Training
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.theory import aggregation as aims

CLIENTS, ROWS, MODEL = 4, 24, Softmax(3, 3, bias=False)
RATE = 0.5
"""A step: the losses' gradients are 1.5-Lipschitz or less with high probability."""


def random_data():
    """Clients alike in size; labels are drawn, so that means of losses have a minimiser."""
    rng = np.random.default_rng([2, 3])
    scale = rng.uniform(0.6, 1.4, (CLIENTS, 1, 3))
    x = rng.normal(size=(CLIENTS, ROWS, 3)) * scale
    truth = rng.normal(size=(CLIENTS, 3, 3)) * 1.5
    noise = rng.gumbel(size=(CLIENTS, ROWS, 3))  # the largest sum is a draw of softmax
    y = (np.einsum("kcd,knd->knc", truth, x) + noise).argmax(2)
    return torch.from_numpy(x), torch.from_numpy(y)


X, Y = random_data()
DATA = Parts(ClientData.from_clients(list(zip(X, Y, strict=True))))


def losses(w):
    """F_k(w) (K,)."""
    return MODEL.losses(torch.from_numpy(w).expand(CLIENTS, -1), X, Y).mean(1).numpy()


def gradients(w):
    """Their gradients (K, P)."""
    return MODEL.gradient(torch.from_numpy(w).repeat(CLIENTS, 1), X, Y, 1 / ROWS).numpy()


GINI, Z = aims.RankWeighted.gini(), aims.RankWeighted.geometric(0.5)
# 1/4 + lam r_k in the order of falling losses, r_k = 5 - 2 k
PENALISED = aims.RankWeighted((0.31, 0.27, 0.23, 0.19))
SMOOTH = [(every.FedSGD(), aims.FedAvg()), (every.FedAvg(), aims.FedAvg())]
SMOOTH += [(every.FedProx(1.0), aims.FedAvg()), (every.Ditto(1.0), aims.FedAvg())]
SMOOTH += [(every.QFedSGD(2.0), aims.QFFL(2.0)), (every.QFedAvg(2.0), aims.QFFL(2.0))]
SMOOTH += [(every.DualWeighted(aims.QFFL(2.0)), aims.QFFL(2.0)), (every.TERM(2.0), aims.TERM(2.0))]
SMOOTH += [(every.DualWeighted(aims.TERM(2.0)), aims.TERM(2.0))]
SMOOTH += [(every.PropFair(6.0, rescale=True), aims.PropFair(6.0))]
SMOOTH += [(every.DualWeighted(aims.PropFair(2.5)), aims.PropFair(2.5))]
KINKED = [(every.PFedAvg(GINI), GINI), (every.PFedAvg(Z), Z), (every.DualWeighted(GINI), GINI)]
KINKED += [(every.GIFAIR(0.02), PENALISED), (every.AFL(0.1), aims.AFL())]
KINKED += [(every.AFL(0.1, "exponentiated"), aims.AFL())]
KINKED += [(every.DualWeighted(aims.AFL()), aims.AFL())]


@cache
def optimum(aim):
    return solve_minimax(losses, aim, np.zeros(9), jac=gradients).value


def gap(aim, w):
    """The excess over the optimum, relative."""
    return float(aim.value(losses(w))) / optimum(aim) - 1


@pytest.mark.parametrize(
    ("cases", "training", "reached"),
    [
        (SMOOTH, Training(240, RATE, None), 1e-9),
        # subgradient steps of a length eta end within eta G² / (2 A*) (Nedic and Bertsekas 2001)
        (KINKED, Training(350, RATE, None, schedule=Polynomial(1.0, 40.0)), 5e-3),
    ],
    ids=["smooth", "kinked"],
)
def test_they_reach_the_optimum(cases, training, reached):
    ends = trained(MODEL, DATA, [rule for rule, _ in cases], training).params.numpy()
    gaps = {rule: gap(aim, w) for (rule, aim), w in zip(cases, ends, strict=True)}
    assert all(-1e-11 < excess <= reached for excess in gaps.values()), gaps
    assert gap(aims.QFFL(2.0), ends[1]) > 1e-4  # of another objective's optimum


def test_fedmgda_ends_pareto_stationary():
    """The least norm of a convex combination of gradients is 0 there, and not at the start."""

    def stationary(w):
        slopes = gradients(w)
        gram = slopes @ slopes.T / np.linalg.norm(slopes, axis=1).mean() ** 2
        v = min_norm_weights(gram, np.full(4, 1 / 4), 1.0)
        return v @ gram @ v

    rule, training = every.FedMGDA(1.0, normalize=False), Training(300, RATE, None)
    (end,) = trained(MODEL, DATA, [rule], training).params.numpy()
    assert stationary(end) < 1e-9 < 1e-3 < stationary(np.zeros(9))
