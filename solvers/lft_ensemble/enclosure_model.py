"""A federation of normal laws and logistic η in exact rationals, its pooled MD in balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from flint import arb, fmpq

from fairfl._support.checks import shown
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.eta import Logistic
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.laws import Normal


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

    @property
    def narrow(self) -> int:
        """The group of smaller mass m."""
        return 0 if self.masses[0] <= self.masses[1] else 1

    def standardised(self, a: int) -> tuple[fmpq, fmpq]:
        """(μ_a + b_a/s_a)/σ_a and c_a = 2/(s_a σ_a)."""
        law, (slope, intercept) = self.laws[a], self.etas[a]
        assert law is not None
        return (law[0] + intercept / slope) / law[1], 2 / (slope * law[1])

    @property
    def free_thresholds(self) -> tuple[arb, arb]:
        """Those of the rules η > 1/2."""
        (s0, b0), (s1, b1) = self.etas
        return arb(-b0 / s0), arb(-b1 / s1)

    @property
    def constant(self) -> fmpq:
        """h at λ = 0."""
        return self.standardised(0)[0] - self.standardised(1)[0]


def exact_clients(fed: Federation) -> list[ExactClient]:
    """The federation in rationals: the doubles as they are, weights normalised exactly."""
    model = fed.model
    if not isinstance(model, ContinuousModel):
        raise ValueError("certify takes normal laws and logistic η, got a federation on a finite X")
    clients, total = [], sum((rational(w) for w in fed.weight), fmpq(0))
    for i, (laws, etas) in enumerate(zip(model.laws, model.etas, strict=True)):
        q = rational(fed.share[i, 1])
        masses, kept, rules = (1 - q, q), [], []
        for a, (law, eta) in enumerate(zip(laws, etas, strict=True)):
            who = f"for client {i}, group {a}"
            if not isinstance(eta, Logistic):
                raise ValueError(f"eta must be Logistic for an enclosure, got {shown(eta)} {who}")
            if masses[a] > 0 and not isinstance(law, Normal):
                raise ValueError(f"laws must be normal for an enclosure, got {shown(law)} {who}")
            rules.append((rational(eta.slope), rational(eta.intercept)))
            own = (rational(law.mean), rational(law.sd)) if isinstance(law, Normal) else None
            kept.append(own if masses[a] > 0 else None)
        weight = rational(fed.weight[i]) / total
        clients.append(ExactClient(weight, masses, (rules[0], rules[1]), (kept[0], kept[1])))
    return clients


def rational(x: float) -> fmpq:
    """The double as it is."""
    return fmpq(*float(x).as_integer_ratio())


def companion(r: fmpq, u: arb) -> arb:
    """artanh(r tanh u), the wide group's artanh(λ/M), for u >= 0 and r = m/M in (0, 1]."""
    if r == 1:
        return u
    if u < 1:
        return (r * u.tanh()).atanh()
    decay = (-2 * u).exp()
    return (((1 + r) + (1 - r) * decay) / ((1 - r) + (1 + r) * decay)).log() / 2


def above(law: tuple[fmpq, fmpq], x: arb) -> arb:
    """P(X > x) of a normal law."""
    return ((x - law[0]) / (law[1] * arb(2).sqrt())).erfc() / 2


def pooled_difference(clients: list[ExactClient], rates: Callable[[int], Iterable[arb]]) -> arb:
    """Pooled MD where the clients accept at ``rates(a)`` in group a: Σ ±P(i|a) rate."""
    total = arb(0)
    for a, sign in ((0, 1), (1, -1)):
        group = sum((c.weight * c.masses[a] for c in clients), fmpq(0))
        for client, rate in zip(clients, rates(a), strict=True):
            total += sign * client.weight * client.masses[a] / group * rate
    return total


def outward(ball: arb) -> tuple[float, float]:
    """Doubles certainly at or below a ball and at or above it."""
    below, above = float(ball.lower()), float(ball.upper())
    while not arb(below) <= ball and math.isfinite(below):
        below = math.nextafter(below, -math.inf)
    while not arb(above) >= ball and math.isfinite(above):
        above = math.nextafter(above, math.inf)
    return below, above
