"""One round of every algorithm on two quadratic clients in R², by hand, in fractions.

F_A(w) = (w1 - 1)² + w2², F_B(w) = w1² + 4 (w2 - 2)², p = (2/3, 1/3), w^0 = 0, lr 1/16, two
full-batch steps. Losses at 0: 1 and 16. Gradients at 0: (-2, 0) and (0, -16).
A: w1 <- w1 - 2 (w1 - 1)/16, so 1 - w1 shrinks by 7/8 a step: w_A = (1 - 49/64, 0) = (15/64, 0).
B: w2 <- w2 - 8 (w2 - 2)/16, so 2 - w2 halves: w_B = (0, 3/2).
"""

from dataclasses import replace
from fractions import Fraction as Q
from math import log

import every_algorithm as every
import numpy as np
import pytest
from federations import EXACT, trained, two_quadratics

from fairfl.sims.engine import LeastSquares, Training
from fairfl.theory import aggregation as aims

MODEL = LeastSquares(2, bias=False)
LR = Q(1, 16)
P_A, P_B = Q(2, 3), Q(1, 3)
A, B = Q(15, 64), Q(3, 2)  # w_A = (A, 0), w_B = (0, B)
F_A, F_B = Q(1), Q(16)
SQUARE = aims.ConvexFunction(lambda f: (f**2).mean(-1) / 2, lambda f: f / f.shape[-1])
G = 31 ** (2 / 3) * 16 ** (1 / 3)


def prox():
    """mu = 1: w <- 13/16 w + 1/8 for A, w <- 7/16 w + 1 for B; from 0, twice."""
    return P_A * (Q(13, 16) * Q(1, 8) + Q(1, 8)), P_B * (Q(7, 16) + 1)


def q_step(q, unit, L, a=A, b=B):
    """g = -(w_k)/unit; h = L F^q + q F^(q-1) g²; w = sum p F^q (-g) / sum p h."""
    h_a = L * F_A**q + q * F_A ** (q - 1) * (a / unit) ** 2
    h_b = L * F_B**q + q * F_B ** (q - 1) * (b / unit) ** 2
    total = P_A * h_a + P_B * h_b
    return P_A * F_A**q * a / unit / total, P_B * F_B**q * b / unit / total


def log_steps(M, epsilon, below, factor=1):
    """Two steps on -log(M - F), or where M - F < epsilon on what has slope ``below(gap)``."""

    def slope(loss):
        return factor * (1 / (M - loss) if M - loss >= epsilon else below(M - loss))

    a = b = Q(0)
    for _ in range(2):
        a = a - LR * slope((a - 1) ** 2) * 2 * (a - 1)
        b = b - LR * slope(4 * (b - 2) ** 2) * 8 * (b - 2)
    return P_A * a, P_B * b


def tilted_batches():
    """tau = log 2: each batch is two samples; A's losses are 2 (w1 - 1)² = 2 and 2 w2² = 0 at w =
    0.

    One step only, lr 1/16. Softmax of tau loss: A (4, 1)/5, B's second loss is (4 w2 - 8)²/2 = 32,
    so (1, 2^32)/(1 + 2^32). Gradients of the losses at 0: A 4 (w1 - 1) = -4 in w1; B 4 (4 w2 - 8) =
    -32 in w2.
    """
    share_b = Q(2**32, 1 + 2**32)
    return LR * Q(4, 5) * 4, LR * share_b * 32


CASES = [
    (every.FedAvg(), (P_A * A, P_B * B)),
    (every.FedSGD(), (P_A * LR * 2, P_B * LR * 16)),
    (every.FedProx(1.0), prox()),
    (every.QFedAvg(1.0), q_step(1, LR, 16)),
    (every.QFedAvg(2.0, L=3.0), q_step(2, Q(1, 3), 3)),
    (every.QFedAvg(2.0, L=3.0, variant="printed"), q_step(2, Q(1), 3)),
    (every.QFedSGD(1.0), q_step(1, LR, 16, 2 * LR, 16 * LR)),
    (every.QFedSGD(2.0, L=3.0), q_step(2, LR, 3, 2 * LR, 16 * LR)),
    (every.AFL(0.1), (P_A * A, P_B * B)),  # the first mixture is p
    (every.TERM(log(2) / 15), (A / 2, B / 2)),  # weights 2/3 : 1/3 * 2
    (every.PropFair(32.0, 0.25), log_steps(Q(32), Q(1, 4), None)),
    (
        every.PropFair(16.0, 2.0),
        log_steps(Q(16), Q(2), lambda gap: Q(1, 16)),
    ),  # B starts at M - F = 0
    (every.PropFair(16.0, 2.0, "linear"), log_steps(Q(16), Q(2), lambda gap: Q(1, 2))),
    (every.PropFair(17.0, 2.0, "quadratic"), log_steps(Q(17), Q(2), lambda gap: (2 - gap / 2) / 2)),
    (every.PropFair(32.0, 0.25, rescale=True), log_steps(Q(32), Q(1, 4), None, 32)),
    (
        every.PFedAvg(aims.RankWeighted.gini()),
        (A / 4, B * Q(3, 4)),
    ),  # (2 (n - k) + 1)/n² = 3/4, 1/4
    (every.PFedAvg(aims.RankWeighted.geometric(0.5)), (A / 3, B * Q(2, 3))),
    # 2/3 * 1/4 : 1/3 * 3/4
    (every.PFedAvg(aims.RankWeighted.gini(), "product"), (A * Q(2, 5), B * Q(3, 5))),
    # W runs through (0, 0), (1/2, 3/4), (1, 1); B has the largest loss and a third of the people:
    # W(1/3) = 1/2.
    (every.PFedAvg(aims.RankWeighted.gini(), "quantile"), (A / 2, B / 2)),
    # Orthogonal unit updates: the least norm is at (1/2, 1/2).
    (every.FedMGDA(1.0), (Q(1, 2), Q(1, 2))),
    (every.FedMGDA(0.0625), (P_A - Q(1, 16), P_B + Q(1, 16))),  # the box stops it on the way there
    # Without normalisation (v A)² + ((1 - v) B)² is least at v = B²/(A² + B²).
    (every.FedMGDA(1.0, normalize=False), (B**2 * A / (A**2 + B**2), A**2 * B / (A**2 + B**2))),
    # lam = 1/6: A is better, factor 1 - (1/6)/(2/3) = 3/4: 1 - w1 shrinks by 1 - 3/32; B: 3/2, 2 -
    # w2 by 1/4.
    (every.GIFAIR(1 / 6), (P_A * (1 - Q(29, 32) ** 2), P_B * (2 - 2 * Q(1, 16)))),
    (every.Ditto(1.0), (P_A * A, P_B * B)),
    # q = 1: p F / sqrt(sum p F²), with sum p F² = (2 + 256)/3 = 86.
    (every.DualWeighted(aims.QFFL(1.0), normalize=True), (A * Q(2, 18), B * Q(16, 18))),
    (every.DualWeighted(aims.AFL()), (Q(0), B)),
    # Two clients with M - F = 31 and 16: p / (M - F), normalised.
    (every.DualWeighted(aims.PropFair(32.0), normalize=True), (A * Q(32, 63), B * Q(31, 63))),
    # p G / (M - F), G = 31^(2/3) 16^(1/3)
    (every.DualWeighted(aims.PropFair(32.0)), (G * 2 / 3 / 31 * A, G / 3 / 16 * B)),
    # A function of the losses has no client weights: mean F² / 2 has slopes F / 2; twice, at F - 1.
    (every.DualWeighted(SQUARE), (A / 2, B * 8)),
    (every.DualWeighted(SQUARE.scale(2.0).translate(1.0)), (Q(0), B * 15)),
]


@pytest.mark.parametrize("backend", ["batched", "loop"])
@pytest.mark.parametrize(("algorithm", "expected"), CASES, ids=[str(k) for k in range(len(CASES))])
def test_one_round_by_hand(algorithm, expected, backend):
    training, computing = Training(1, 1 / 16, None, epochs=2), replace(EXACT, backend=backend)
    (params,) = trained(MODEL, two_quadratics(), [algorithm], training, computing).params
    np.testing.assert_allclose(params, [float(x) for x in expected], rtol=1e-12, atol=1e-12)


def test_every_algorithm_has_a_case():
    dynamic = {every.NormalizedFedAvg, every.ModifiedNormalizedFedAvg, every.ClippingFedAvg}
    dynamic |= {every.DynamicQFedAvg, every.FedOpt}
    by_hand = {type(algorithm) for algorithm, _ in CASES} | dynamic  # of these in test_dynamic
    assert by_hand == set(every.KINDS.values())


def test_hierarchical_tilt_by_hand():
    training = Training(rounds=1, lr=1 / 16, batch_size=None)
    a, b = tilted_batches()
    # R_A = log2((4 + 1)/2), R_B = log2((1 + 2^32)/2); alpha = log 2 weighs by p 2^R: 2/3 * 5 to 1/3
    # * (1 + 2^32).
    v_a, v_b = P_A * 5, P_B * (1 + 2**32)
    done = trained(MODEL, two_quadratics(), [every.TERM(log(2), tau=log(2))], training)
    expected = [float(v_a * a / (v_a + v_b)), float(v_b * b / (v_a + v_b))]
    np.testing.assert_allclose(done.params[0].numpy(), expected, rtol=1e-12)


def test_ditto_keeps_personal_models_by_hand():
    done = trained(
        MODEL, two_quadratics(), [every.Ditto(1.0)], Training(2, 1 / 16, None, 2), rounds=1
    )
    ends = done.states[0]["personal"].numpy()
    # The first round starts at w^0: the same steps as FedProx with mu = 1.
    np.testing.assert_allclose(ends, [[float(Q(29, 128)), 0], [0, float(Q(23, 16))]], rtol=1e-12)
    done.step()
    w = np.array([float(P_A * A), float(P_B * B)])
    a = ends[0]
    for _ in range(2):
        a = a - (2 * (a - [1, 0]) + (a - w)) / 16
    np.testing.assert_allclose(done.states[0]["personal"][0].numpy(), a, rtol=1e-12)
