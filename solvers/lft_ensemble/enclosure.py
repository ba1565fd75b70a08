"""LFT+Ensemble's smallest disparity enclosed in ball arithmetic, for normal laws and logistic η
(FedFB, lemma 7).

Client j with both groups, masses m_0 = 1 - q_j and m_1 = q_j, uses at its multiplier λ the rule x >
t_a with m_0 (1 - 2 η_j0(t_0)) = λ = -m_1 (1 - 2 η_j1(t_1)), λ between 0 and the λ_j* at which its
own rates are equal. The pooled MD is Σ_j π_j G_j(λ_j), G_j increasing, so it reaches [Σ_j π_j
min(G_j(0), G_j(λ_j*)), Σ_j π_j max(G_j(0), G_j(λ_j*))]. Clients of one group keep λ = 0.

The rates of normal laws are equal where the standardised thresholds are: t_a = μ_a + σ_a z. With
y_a = logit η_ja(t_a)/2, increasing in z, that is sinh(y_0 + y_1) + (m_0 - m_1) sinh(y_0 - y_1) = 0,
which keeps its digits where both tanh are within rounding of ±1. The root z lies between the zeros
of y_0 and y_1, which are rational: the side of 0 on which λ_j* lies is decided exactly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb, ctx, fmpq

from fairfl._support.checks import shown
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.eta import Logistic
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.laws import Normal

BITS = 256  # working precision; roots are halved half as often
SPLIT = 0.4567  # a bracket is split here: at its middle many roots lie exactly, and have no sign
WIDTH = 1e-12  # the balls around both ends of the reachable MD are no wider


@dataclass(frozen=True)
class ExactClient:
    """One client in exact rationals; by group, and a law None where nobody is."""

    weight: fmpq
    masses: tuple[fmpq, fmpq]
    etas: tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]  # slope, intercept
    laws: tuple[tuple[fmpq, fmpq] | None, tuple[fmpq, fmpq] | None]  # mean, sd

    @property
    def bound(self) -> bool:
        """Whether both groups have people."""
        return all(m > 0 for m in self.masses)


def exact_clients(fed: Federation) -> list[ExactClient]:
    """The federation in rationals: the doubles as they are, weights normalised exactly."""
    model = fed.model
    if not isinstance(model, ContinuousModel):
        raise ValueError("certify takes normal laws and logistic η, got a federation on a finite X")
    clients, total = [], sum((rational(w) for w in fed.weight), fmpq(0))
    for i, (laws, etas) in enumerate(zip(model.laws, model.etas, strict=True)):
        q = rational(fed.share[i, 1])
        masses, parameters, rules = (1 - q, q), [], []
        for a, (law, eta) in enumerate(zip(laws, etas, strict=True)):
            place = f"for client {i}, group {a}"
            if not isinstance(eta, Logistic):
                raise ValueError(f"eta must be Logistic for an enclosure, got {shown(eta)} {place}")
            if masses[a] > 0 and not isinstance(law, Normal):
                raise ValueError(f"laws must be normal for an enclosure, got {shown(law)} {place}")
            rules.append((rational(eta.slope), rational(eta.intercept)))
            moments = (rational(law.mean), rational(law.sd)) if isinstance(law, Normal) else None
            parameters.append(moments if masses[a] > 0 else None)
        weight = rational(fed.weight[i]) / total
        clients.append(
            ExactClient(weight, masses, (rules[0], rules[1]), (parameters[0], parameters[1]))
        )
    return clients


def rational(x: float) -> fmpq:
    """The double as it is."""
    return fmpq(*float(x).as_integer_ratio())


def enclose_min_disparity(fed: Federation) -> tuple[float, float]:
    """(lower, upper) around the smallest disparity that LFT+Ensemble reaches, rigorously: 0 where
    the reachable interval of MD holds 0, else the absolute value of its nearer end.

    The bounds hold for the federation whose parameters are exactly the doubles it stores: group 0
    has mass 1 - q and the weights sum to one exactly. ValueError where X is finite, a law is not
    normal, an η not logistic; CertificationError where the balls are not narrow. Source: FedFB,
    lemma 7 and eq. (32), the latter by Bayes' rule and for any q_i; the equation of the root is
    ours.
    """
    low, high = reachable(exact_clients(fed))
    if not (2 * low.rad() <= WIDTH and 2 * high.rad() <= WIDTH):
        raise CertificationError(
            f"no enclosure as narrow as {WIDTH:g} with {BITS} bits; use laws and η of scales "
            "nearer to each other"
        )
    (low_lower, low_upper), (high_lower, high_upper) = outward(low), outward(high)
    return max(0.0, low_lower, -high_upper), max(0.0, low_upper, -high_lower)


def reachable(clients: list[ExactClient]) -> tuple[arb, arb]:
    """Balls around the smallest and the largest reachable MD."""
    with ctx.workprec(BITS):
        low = high = arb(0)
        for client in clients:
            smallest = largest = _difference(clients, [arb(-b / s) for s, b in client.etas])
            if client.bound:
                z, free_is_most, laws = *_fair(client), filter(None, client.laws)
                fair = _difference(clients, [mean + sd * z for mean, sd in laws])
                smallest, largest = (fair, largest) if free_is_most else (smallest, fair)
            low, high = low + client.weight * smallest, high + client.weight * largest
        return low, high


def _fair(client: ExactClient) -> tuple[arb, bool]:
    """A ball around the z of the client's fair rule, and whether its free rule's MD is positive."""
    groups = list(zip(client.etas, filter(None, client.laws), strict=True))
    zeros = [(-b / s - mean) / sd for (s, b), (mean, sd) in groups]
    low, high = arb(min(zeros)).lower(), arb(max(zeros)).upper()
    for _ in range(BITS // 2):
        z = (low + (high - low) * SPLIT).mid()
        y0, y1 = ((s * (mean + sd * z) + b) / 2 for (s, b), (mean, sd) in groups)
        sign = (y0 + y1).sinh() + (client.masses[0] - client.masses[1]) * (y0 - y1).sinh()
        if sign > 0:
            high = z
        elif sign < 0:
            low = z
        else:
            break
    return low.union(high), zeros[0] < zeros[1]


def _difference(clients: list[ExactClient], thresholds: Sequence[arb]) -> arb:
    """Pooled MD of the rules x > t_a."""
    pairs = enumerate(thresholds)
    rates = [[above(law, t) if (law := c.laws[a]) else arb(0) for c in clients] for a, t in pairs]
    return pooled_difference(clients, rates)


def above(law: tuple[fmpq, fmpq], x: arb) -> arb:
    """P(X > x) of a normal law."""
    return ((x - law[0]) / (law[1] * arb(2).sqrt())).erfc() / 2


def pooled_difference(clients: list[ExactClient], rates: Sequence[Sequence[arb]]) -> arb:
    """Pooled MD where the clients accept at ``rates[a]`` in group a: Σ ±P(i|a) rate."""
    total = arb(0)
    for a, sign in ((0, 1), (1, -1)):
        group = sum((c.weight * c.masses[a] for c in clients), fmpq(0))
        for client, rate in zip(clients, rates[a], strict=True):
            total += sign * client.weight * client.masses[a] / group * rate
    return total


def outward(ball: arb) -> tuple[float, float]:
    """Doubles certainly below a ball and above it: those beside its rounded ends."""
    below, above = float(ball.lower()), float(ball.upper())
    return math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
