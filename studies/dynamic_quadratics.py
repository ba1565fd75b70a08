"""FedAvg and its normalised form on two quadratics, exactly: who leads after one round, after many,
and in the limit.

Two groups of one client each, L_i(w) = (l_i/2) ||w - x_i||^2, weights 1/2, one local step of eta a
round, from a w where the gradients have lengths a, b and cosine c. The *lead* of the newcomer is
its benefit less that of group 1 since it joined: a round is dynamically fair where group 1 has
gained more than the lead before, and of two rules the one with the smaller lead is the fairer.

FedAvg moves by s = (eta/2) (g_1 + g_2) and leads by

    (eta/2) (b^2 - a^2) - (l_2 - l_1) (eta^2/8) (a^2 + b^2 + 2abc);

T rounds of it are one of step size (1 - (1 - eta l)^T)/l, l the mean curvature. The normalised step
leads by (eta/2) (b - a) (1 + c) - (l_2 - l_1) (eta^2/4) (1 + c). Its flow (eta to 0, time t = eta
T) keeps the difference of the distances, delta = r_2 - r_1, r_1 = a/l_1, r_2 = b/l_2, since (u_1 -
u_2).(u_1 + u_2) = 0. Their sum e falls as e' = -2 (e^2 - D^2)/(e^2 - delta^2) to D = ||x_1 - x_2||,

    t = (e_0 - e)/2 + (D^2 - delta^2)/(4D) log((e_0 - D) (e + D) / ((e_0 + D) (e - D))),

where the model rests, on the segment between x_1 and x_2: any point of it is one where normalised
steps cancel. With one curvature 1 the lead tends to (b - a) (a + b - D)/2 <= a (b - a), and that of
FedAvg to (b^2 - a^2)/2.

By layer, every layer is a pair of its own under the normalised step.

Source: Fairness of Federated Learning with Dynamic Participants, theorems 1 and 2; the flow and the
limits are ours (claims dynamic/ngd-flow, dynamic/each-time).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array

RULES = ("fedavg", "normalised", "by layer")
HALVINGS = 80
FAR = 700.0
"""exp(-FAR) is above the smallest double."""


@dataclass(frozen=True)
class Pair:
    """Two quadratics as seen from where the second joins.

    Attributes
    ----------
    a, b, cosine : arrays (..., layers): lengths > 0 of the gradients, and the cosine between them,
        of each layer. A number is one layer.
    first, second : the curvatures l_1, l_2 > 0.
    """

    a: Array
    b: Array
    cosine: Array
    first: float = 1.0
    second: float = 1.0

    @classmethod
    def of(
        cls, a: ArrayLike, b: ArrayLike, cosine: ArrayLike, first: float = 1.0, second: float = 1.0
    ) -> Pair:
        """Checked, and of one shape."""
        parts = (
            checks.positive("a", a),
            checks.positive("b", b),
            checks.in_range("cosine", cosine, -1.0, 1.0),
        )
        one, two, angle = np.broadcast_arrays(*map(np.atleast_1d, parts))
        curvatures = (
            float(checks.positive(n, v)) for n, v in (("first", first), ("second", second))
        )
        return cls(one, two, angle, *curvatures)

    @property
    def whole(self) -> Pair:
        """The same pair with all layers as one."""
        a, b = (np.sqrt((v**2).sum(-1, keepdims=True)) for v in (self.a, self.b))
        product = (self.a * self.b * self.cosine).sum(-1, keepdims=True)
        cosine = np.clip(product / (a * b), -1.0, 1.0)
        return Pair(a, b, cosine, self.first, self.second)


def lead(pair: Pair, eta: ArrayLike, rule: str) -> Array:
    """The newcomer's lead after one round, shape (...)."""
    rate, p = checks.positive("eta", eta), _seen(pair, rule)
    apart = p.second - p.first
    if rule == "fedavg":
        first = (p.b**2 - p.a**2).sum(-1)
        square = (p.a**2 + p.b**2 + 2 * p.a * p.b * p.cosine).sum(-1)
    else:
        first = ((p.b - p.a) * (1 + p.cosine)).sum(-1)
        square = 2 * (1 + p.cosine).sum(-1)
    return rate / 2 * first - apart * rate**2 / 8 * square


def lead_after(pair: Pair, eta: float, rounds: int, rule: str) -> Array:
    """The lead after many rounds: FedAvg's in closed form (eta l < 2), the other's by rounds."""
    rate, count = float(checks.positive("eta", eta)), checks.whole("rounds", rounds, 1)
    p = _seen(pair, rule)
    if rule == "fedavg":
        mean = (p.first + p.second) / 2
        return lead(pair, (1 - (1 - rate * mean) ** count) / mean, rule)
    one = np.stack([p.a, np.zeros_like(p.a)], -1)
    sine = np.sqrt(1 - p.cosine**2)
    two = p.b[..., None] * np.stack([p.cosine, sine], -1)
    for _ in range(count):
        step = rate / 2 * (_unit(one) + _unit(two))
        one, two = one - p.first * step, two - p.second * step
    gains = [
        (size**2 - (g**2).sum(-1)).sum(-1) / (2 * curvature)
        for size, g, curvature in ((p.a, one, p.first), (p.b, two, p.second))
    ]
    return gains[1] - gains[0]


def lead_of_flow(pair: Pair, time: float, rule: str) -> Array:
    """The lead after ``time`` = eta T for eta to 0; infinite: in the limit."""
    t, p = float(checks.in_range("time", time, 0.0, np.inf, open_low=True)), _seen(pair, rule)
    if rule == "fedavg":
        mean = (p.first + p.second) / 2
        return lead(pair, -np.expm1(-t * mean) / mean, rule)
    r, q = p.a / p.first, p.b / p.second
    apart = np.sqrt(np.maximum((r - q) ** 2 + 2 * r * q * (1 - p.cosine), 0.0))
    e = _sum_of_distances(r + q, q - r, apart, t)
    gain_one = p.first / 2 * (r**2 - ((e - (q - r)) / 2) ** 2)
    gain_two = p.second / 2 * (q**2 - ((e + (q - r)) / 2) ** 2)
    return (gain_two - gain_one).sum(-1)


def _sum_of_distances(start: Array, delta: Array, apart: Array, time: float) -> Array:
    """e(time), by bisection in x of e = D + (e_0 - D) exp(-x)."""
    rest = start - apart
    if np.isinf(time):
        return apart
    coefficient = np.divide(
        apart**2 - delta**2, 4 * apart, out=np.zeros_like(apart), where=apart > 0
    )
    low, high = np.zeros_like(start), np.full_like(start, FAR)
    for _ in range(HALVINGS):
        x = (low + high) / 2
        e = apart + rest * np.exp(-x)
        grown = np.log((e + apart) / (start + apart)) + x
        early = (start - e) / 2 + coefficient * grown < time
        low, high = np.where(early, x, low), np.where(early, high, x)
    return apart + rest * np.exp(-low)


def _seen(pair: Pair, rule: str) -> Pair:
    """The pair with the layers that the rule tells apart."""
    checks.one_of("rule", rule, RULES)
    return pair if rule == "by layer" else pair.whole


def _unit(g: Array) -> Array:
    length = np.sqrt((g**2).sum(-1, keepdims=True))
    return np.divide(g, length, out=np.zeros_like(g), where=length > 0)
