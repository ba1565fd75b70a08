"""The algorithms for dynamic participants: rounds by hand, a plain loop, and what must not matter.

The quadratics of ``test_exact_round``: F_A(w) = (w1 - 1)² + w2², F_B(w) = w1² + 4 (w2 - 2)², p =
(2/3, 1/3), w^0 = 0, lr 1/16, two full-batch steps. A joins in round 0, B in round 1. From w, A
moves by ((1 - w1) 15/64, -w2 15/64) and B by (-w1 15/64, (2 - w2) 3/4): see there. So w^1 = (15/64,
0), all of A's.
"""

from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest
import torch
from every_algorithm import (
    SHOWN,
    ClippingFedAvg,
    DynamicQFedAvg,
    FedAvg,
    FedOpt,
    ModifiedNormalizedFedAvg,
    NormalizedFedAvg,
)
from federations import EXACT, classified, quick, trained, two_quadratics

from fairfl.sims.engine import MLP, ClientData, Joining, LeastSquares, Parts, Replicate, Simulation

LR, P_A, P_B = Q(1, 16), Q(2, 3), Q(1, 3)
W1 = (Q(15, 64), Q(0))
NEW = (NormalizedFedAvg, ModifiedNormalizedFedAvg, ClippingFedAvg, DynamicQFedAvg)


class TwoLayers(LeastSquares):
    """Each entry of w a layer."""

    layers = (1, 1)


def moves(w):
    """The updates of A and of B from w."""
    return (((1 - w[0]) * Q(15, 64), -w[1] * Q(15, 64)), (-w[0] * Q(15, 64), (2 - w[1]) * Q(3, 4)))


def mean(a, b):
    return tuple(P_A * x + P_B * y for x, y in zip(a, b, strict=True))


def plus(w, step):
    return tuple(x + y for x, y in zip(w, step, strict=True))


def ended(algorithm, rounds, kind=LeastSquares, backend="batched", lr=float(LR)):
    training = quick(rounds=9, lr=lr, batch_size=None, epochs=2)
    training = replace(training, participation=Joining((0, 1)))
    computing = replace(EXACT, backend=backend)
    return trained(kind(2, bias=False), two_quadratics(), [algorithm], training, computing, rounds)


def check(algorithm, rounds, kind, expected):
    for backend in ("batched", "loop"):
        params = ended(algorithm, rounds, kind, backend).params[0].detach()
        np.testing.assert_allclose(params, [float(x) for x in expected], rtol=1e-12, atol=1e-12)


def test_the_printed_limit_is_negative_where_entries_grew():
    """w^0 - w^1 = -(15/64, 0): its largest entry is 0, all is held; of the first layer -15/64."""
    check(ClippingFedAvg("printed"), 3, LeastSquares, W1)
    with pytest.raises(ValueError, match=r"variant must be 'corrected' .* -0.234 in round 1"):
        ended(ClippingFedAvg("printed"), 2, TwoLayers)


@pytest.mark.parametrize("kind", ["momentum", "adagrad", "yogi", "adam"])
def test_server_optimisers_by_hand(kind):
    """d = (15/64, 0), then w's moves; beta_1 = 1/2, beta_2 = 3/4, tau = 1/8."""
    w, m, v = (Q(0), Q(0)), (Q(0), Q(0)), (Q(1, 64), Q(1, 64))
    for t in (1, 2):
        d = mean(*moves(w)) if t == 2 else W1  # A alone
        if kind == "momentum":
            m = tuple(x / 2 + y for x, y in zip(m, d, strict=True))
            w = plus(w, m)
        else:
            m = tuple((x + y) / 2 for x, y in zip(m, d, strict=True))
            v = tuple(
                {
                    "adagrad": x + y**2,
                    "yogi": x - y**2 / 4 * ((x > y**2) - (x < y**2)),
                    "adam": x * 3 / 4 + y**2 / 4,
                }[kind]
                for x, y in zip(v, d, strict=True)
            )
            pairs = zip(map(float, m), map(float, v), strict=True)
            w = plus(w, (Q(x / (y**0.5 + 1 / 8)) for x, y in pairs))
        check(FedOpt(kind, 0.5, 0.75, 1 / 8), t, LeastSquares, w)


EVERY = [rule for kind in NEW for rule in SHOWN.get(kind, [kind()])]
EVERY.append(DynamicQFedAvg(0.0, variant="printed", rule=ClippingFedAvg()))
SIZES, GROUPS, JOINS = (5, 9, 4, 6, 11, 3), (0, 0, 1, 1, 2, 2), (0, 2, 4)
SETTING = quick(rounds=6, epochs=2, momentum=0.5, participation=Joining(JOINS, groups=GROUPS))
MODEL = MLP((4, 3, 3))


def plain(algorithm, data, rounds, lr=0.1):
    """The rounds in the words of the paper, one client, layer and entry after the other."""
    w, n, layers = MODEL.init(0), data.train.sizes, [slice(0, 15), slice(15, 27)]
    rule = algorithm.rule if isinstance(algorithm, DynamicQFedAvg) else algorithm
    G = limits = last = None
    for t in range(rounds):
        join = max(j for j in JOINS if j <= t)
        present = [k for k in range(6) if JOINS[GROUPS[k]] <= t]
        p = {k: n[k] / sum(n[j] for j in present) for k in present}
        if limits is None or t == join:
            limits = last
        u, F = {}, {}
        for k in present:
            alone_data = Parts(data.train.take([k]))
            training = replace(SETTING, rounds=rounds, participation=Joining((0,)))
            slow = replace(EXACT, backend="loop")
            alone = Simulation(MODEL, alone_data, [Replicate(FedAvg())], training, slow)
            F[k] = float(MODEL.reference(w, alone.data.x, alone.data.y).mean())
            alone.params[0], alone.round = w, t
            alone.step()
            u[k] = (alone.params[0] - w).detach().clone()
            parts = layers if getattr(rule, "norm", "layer") == "layer" else [slice(0, 27)]
            if join > 0:
                for at, part in enumerate(parts):
                    norm = float(u[k][part].norm())
                    if isinstance(rule, NormalizedFedAvg):
                        u[k][part] *= (rule.length or lr) / norm
                    elif isinstance(rule, ClippingFedAvg):
                        for i in range(*part.indices(27)):
                            u[k][i] = min(max(float(u[k][i]), -limits[at]), limits[at])
                    elif t > join:
                        b = rule.beta
                        u[k][part] *= (b * G[at] / (1 + t - join) + (1 - b) * norm) / norm
        step = sum(p[k] * u[k] for k in present)
        if isinstance(algorithm, DynamicQFedAvg):
            q, h = algorithm.q, {}
            if algorithm.variant == "printed":
                step = torch.zeros(27, dtype=torch.float64)
                for k in present:
                    for part in layers:
                        norm = float(u[k][part].norm())
                        h = q * F[k] ** (q - 1) * norm + F[k] ** q
                        step[part] += p[k] * F[k] ** q * u[k][part] / h
            else:
                for k in present:
                    h[k] = F[k] ** q / lr + q * F[k] ** (q - 1) * float(u[k].norm() / lr) ** 2
                top = sum(p[k] * F[k] ** q * u[k] / lr for k in present)
                step = top / sum(p[k] * h[k] for k in present)
        if t == join and t > 0:
            G = [float(step[part].norm()) for part in parts]
        last = [float(step[part].abs().max()) for part in layers]
        w = w + step
    return w


def test_a_plain_loop_in_any_order_of_the_clients():
    data, order = classified(SIZES), np.random.default_rng(3).permutation(6)
    groups = tuple(int(GROUPS[k]) for k in order)
    moved = replace(SETTING, participation=Joining(JOINS, groups=groups))
    params = trained(MODEL, data, EVERY, SETTING).params
    moved_params = trained(MODEL, Parts(data.train.take(order)), EVERY, moved).params
    for algorithm, row, moved_row in zip(EVERY, params, moved_params, strict=True):
        close = {"rtol": 1e-12, "atol": 1e-12, "err_msg": repr(algorithm)}
        np.testing.assert_allclose(row, plain(algorithm, data, 6), **close)
        np.testing.assert_allclose(moved_row, row, **close)


def test_all_at_once_is_fedavg():
    data = classified(SIZES)
    training = replace(SETTING, participation=Joining((0, 0, 0), groups=GROUPS))
    params = trained(MODEL, data, [FedAvg(), *(kind() for kind in NEW[:3])], training).params
    assert all(torch.equal(params[0], row) for row in params[1:])


def test_a_client_that_does_not_move_stays_where_it_is():
    """B's targets are met by every w: its update is 0, and has no direction."""
    data = Parts(ClientData([[1.0], [0.0]], [1.0, 0.0], range(3)))
    training = quick(rounds=3, lr=0.1, batch_size=None, participation=Joining((0, 1)))
    rules = [NormalizedFedAvg(), NormalizedFedAvg("global"), ModifiedNormalizedFedAvg()]
    params = trained(LeastSquares(1, bias=False), data, rules, training).params
    np.testing.assert_allclose(params[:2], 0.1 + 2 * 0.05, rtol=1e-12)  # then lr / 2 twice
    # 0.1 + 0.045, which is G; then half of G / 2
    np.testing.assert_allclose(params[2], 0.145 + 0.045 / 4, rtol=1e-12)
