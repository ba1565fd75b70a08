"""The algorithms for dynamic participants and server optimisers: rounds by hand, a plain loop, and
what must not matter. The quadratics are those of ``test_exact_round``.
"""

from dataclasses import replace

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
from federations import EXACT, begun, classified, quick, trained, two_quadratics

from fairfl.sims.engine import MLP, ClientData, Joining, LeastSquares, Parts, Replicate, Simulation

NEW = (NormalizedFedAvg, ModifiedNormalizedFedAvg, ClippingFedAvg, DynamicQFedAvg)


class TwoLayers(LeastSquares):
    """Each entry of w a layer."""

    layers = (1, 1)


def test_the_printed_limit_is_negative_where_entries_grew():
    """w^1 = (15/64, 0) is A's alone. w^0 - w^1 has the largest entry 0: all is held; its first
    layer has -15/64.
    """
    training = quick(rounds=3, lr=1 / 16, batch_size=None, epochs=2)
    training = replace(training, participation=Joining((0, 1)))
    arguments = two_quadratics(), [ClippingFedAvg("printed")], training
    held = trained(LeastSquares(2, bias=False), *arguments).params
    assert held.tolist() == [[15 / 64, 0]]
    with pytest.raises(ValueError, match=r"variant must be 'corrected' .* -0.234 in round 1"):
        trained(TwoLayers(2, bias=False), *arguments)


@pytest.mark.parametrize("kind", ["momentum", "adagrad", "yogi", "adam"])
def test_server_optimisers_by_hand(kind):
    """d = -lr sum_k p_k grad F_k(w), lr 1/16; beta_1 = 1/2, beta_2 = 3/4, tau = 1/8."""
    rule, training = FedOpt(kind, 0.5, 0.75, 1 / 8), quick(lr=1 / 16, batch_size=None)
    simulation = begun(LeastSquares(2, bias=False), two_quadratics(), [rule], training)
    w, m, v = np.zeros(2), np.zeros(2), np.full(2, 1 / 64)
    for _ in range(3):
        simulation.step()
        d = (
            np.array([2 / 3 * 2 * (1 - w[0]) - 2 * w[0] / 3, -4 * w[1] / 3 + 8 * (2 - w[1]) / 3])
            / 16
        )
        m = m / 2 + d if kind == "momentum" else (m + d) / 2
        v = {
            "momentum": v,
            "adagrad": v + d**2,
            "yogi": v - d**2 / 4 * np.sign(v - d**2),
            "adam": v * 3 / 4 + d**2 / 4,
        }[kind]
        w = w + (m if kind == "momentum" else m / (np.sqrt(v) + 1 / 8))
        np.testing.assert_allclose(simulation.params[0], w, rtol=1e-12)


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
