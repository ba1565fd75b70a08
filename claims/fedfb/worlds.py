"""Section 3's setting in exact rationals: laws of u = η(x) with piecewise constant densities on (0,
1).

Section 3 depends on x through u = η(x) alone. A law of u with a density is the law of η(x) for
x = η⁻¹(u), with any continuous increasing η onto (0, 1), e.g. the logistic one, so these instances
belong to the paper's setting. g is piecewise linear, accuracies are integrals of 2u - 1 over cells,
and all of it is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from hypothesis import strategies as st

from fairfl.claims.exact import Instance, dot

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
Masses = tuple[Fraction, ...]
Rule = tuple[Fraction, Fraction]
"""Thresholds (t_0, t_1): accept u > t_a in group a."""


@dataclass(frozen=True)
class Population:
    """The masses of u | a on K cells of equal width, uniform within each, and q = P(a = 1)."""

    laws: tuple[Masses, Masses]
    q: Fraction

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """P(a = 0), P(a = 1)."""
        return 1 - self.q, self.q

    @property
    def reach(self) -> Fraction:
        """g lives on [-reach, reach], reach = max(q, 1 - q)."""
        return max(self.q, 1 - self.q)

    def rule(self, lam: Fraction) -> Rule:
        """The thresholds 1/2 - λ/(2(1-q)) and 1/2 + λ/(2q)."""
        return HALF - lam / (2 * (1 - self.q)), HALF + lam / (2 * self.q)

    def rate(self, a: int, t: Fraction) -> Fraction:
        """P(u > t | a)."""
        return rate(self.laws[a], t)

    def rates(self, rule: Rule) -> tuple[Fraction, Fraction]:
        """The rates of a threshold rule, by group."""
        return self.rate(0, rule[0]), self.rate(1, rule[1])

    def difference(self, rule: Rule) -> Fraction:
        """MD of a threshold rule."""
        first, second = self.rates(rule)
        return first - second

    def accuracy(self, rule: Rule) -> Fraction:
        """P(ŷ = y) = P(y = 0) + Σ_a P(a) E[(2u - 1) 1{u > t_a} | a]."""
        parts = zip(self.shares, self.laws, rule, strict=True)
        gains = (share * gain(law, t) for share, law, t in parts)
        return sum(gains, self.negatives)

    @cached_property
    def negatives(self) -> Fraction:
        """P(y = 0) = 1 - E u."""
        means = (
            share * (HALF + gain(law, Fraction(0)) / 2)
            for share, law in zip(self.shares, self.laws, strict=True)
        )
        return 1 - sum(means, Fraction(0))

    def g(self, lam: Fraction) -> Fraction:
        """MD of the rule of λ: lemma 7's g."""
        return self.difference(self.rule(lam))

    @cached_property
    def nodes(self) -> list[tuple[Fraction, Fraction]]:
        """(λ, g(λ)) wherever a threshold is at the edge of a cell; g is linear in between."""
        cells = len(self.laws[0])
        edges = [Fraction(k, cells) for k in range(cells + 1)]
        places = {(1 - 2 * e) * (1 - self.q) for e in edges} | {(2 * e - 1) * self.q for e in edges}
        places |= {-self.reach, Fraction(0), self.reach}
        return [(lam, self.g(lam)) for lam in sorted(places)]

    def preimage(self, value: Fraction) -> tuple[Fraction, Fraction]:
        """The interval {λ : g(λ) = value}, for a value in [-1, 1]."""
        nodes = self.nodes
        if not nodes[0][1] <= value <= nodes[-1][1]:
            raise ValueError(f"value must lie in [-1, 1], got {value}")
        return _end(nodes, value), -_end([(-lam, -v) for lam, v in reversed(nodes)], -value)

    def multiplier(self, eps: Fraction) -> Fraction:
        """λ = g⁻¹(sign(g(0)) min(eps, |g(0)|)), the closest to 0 of several."""
        start = self.g(Fraction(0))
        low, high = self.preimage(min(eps, start) if start >= 0 else max(-eps, start))
        return min(max(low, Fraction(0)), high)

    def best(self, eps: Fraction) -> Fraction:
        """The accuracy CFL(eps)."""
        return self.accuracy(self.rule(self.multiplier(eps)))


@dataclass(frozen=True)
class Clients:
    """Clients with equal weights: laws[i] the masses of u | a, i, and q_i."""

    laws: tuple[tuple[Masses, Masses], ...]
    q: tuple[Fraction, ...]

    @classmethod
    def of(
        cls, laws: Sequence[Sequence[Sequence[int | Fraction]]], q: Sequence[Fraction] | Fraction
    ) -> Clients:
        """From weights of any sum, laws[i][a][k], and one q for all clients or one each."""
        q_by_client = [q] * len(laws) if isinstance(q, Fraction) else q
        shares = tuple(Fraction(v) for v in q_by_client)
        normal = tuple((masses(pair[0]), masses(pair[1])) for pair in laws)
        return cls(normal, shares)

    @cached_property
    def clients(self) -> tuple[Population, ...]:
        """Every client's own law."""
        return tuple(Population(pair, q) for pair, q in zip(self.laws, self.q, strict=True))

    @cached_property
    def pooled(self) -> Population:
        """The law of (u, a) by Bayes' rule: P(i | a) is proportional to P(a | i)."""
        return self.pool(range(len(self.q)))

    def pool(self, members: Sequence[int]) -> Population:
        """The pooled law of some clients."""
        of_a = [[self.clients[i].shares[a] for i in members] for a in (0, 1)]
        laws = tuple(mix([self.laws[i][a] for i in members], of_a[a]) for a in (0, 1))
        return Population((laws[0], laws[1]), sum(of_a[1], ZERO) / len(members))

    def multipliers(self, eps: Sequence[Fraction]) -> list[Fraction]:
        """The λ_i of the clients' own problems with budgets ε_i."""
        return [c.multiplier(e) for c, e in zip(self.clients, eps, strict=True)]

    def ensemble(self, lams: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
        """MD and accuracy of the average of the clients' rules: both are linear in f."""
        rules = [client.rule(lam) for client, lam in zip(self.clients, lams, strict=True)]
        return self.mixture(rules)

    def mixture(
        self, rules: Sequence[Rule], weights: Sequence[Fraction] | None = None
    ) -> tuple[Fraction, Fraction]:
        """MD and accuracy of a weighted average of rules."""
        shares = weights or [Fraction(1, len(rules))] * len(rules)
        difference = dot(shares, map(self.pooled.difference, rules))
        return difference, dot(shares, map(self.pooled.accuracy, rules))

    def solved_by(self, eps: Sequence[Fraction], lams: Sequence[Fraction]) -> bool:
        """Whether the λ_i solve the clients' problems: g_i is as at the solution closest to 0."""
        pairs = zip(self.clients, lams, self.multipliers(eps), strict=True)
        return all(client.g(lam) == client.g(nearest) for client, lam, nearest in pairs)

    @property
    def positive(self) -> bool:
        """Whether every density is positive on (0, 1); every g_i is then strictly increasing."""
        return all(m > 0 for pair in self.laws for law in pair for m in law)


def rate(law: Masses, t: Fraction) -> Fraction:
    """P(u > t)."""
    place = max(len(law) * t, Fraction(0))
    k = int(place)  # the cell that contains t
    return sum(law[k + 1 :], law[k] * (k + 1 - place)) if k < len(law) else Fraction(0)


def gain(law: Masses, t: Fraction) -> Fraction:
    """E[(2u - 1) 1{u > t}]."""
    cells, start = len(law), max(t, Fraction(0))
    k = int(cells * start)
    if k >= cells:
        return Fraction(0)
    end = Fraction(k + 1, cells)
    cut = law[k] * cells * ((end * end - end) - (start * start - start))
    whole = (m * (2 * j + 1 - cells) for j, m in enumerate(law) if j > k)
    return cut + sum(whole, Fraction(0)) / cells


def masses(weights: Sequence[int | Fraction]) -> Masses:
    """Weights divided by their sum."""
    total = sum((Fraction(w) for w in weights), Fraction(0))
    return tuple(Fraction(w) / total for w in weights)


def mix(laws: Sequence[Masses], weights: Sequence[Fraction]) -> Masses:
    """The mixture of laws with weights of any sum."""
    total = sum(weights, Fraction(0))
    cells = zip(*laws, strict=True)
    return tuple(dot(weights, cell) / total for cell in cells)


def parts(count: int, last: int | None = None) -> st.SearchStrategy[Fraction]:
    """k/count for k = 0, ..., ``last``, by default up to 1."""
    return st.integers(0, count if last is None else last).map(lambda k: Fraction(k, count))


def worlds(
    clients: int = 2,
    cells: int = 4,
    *,
    equal: bool = True,
    minimum: int = 1,
    **fields: st.SearchStrategy[object],
) -> st.SearchStrategy[Instance]:
    """{"laws", "q"} and ``fields``: weights from ``minimum`` up (0 leaves gaps), q ``equal``."""
    weights = st.lists(st.integers(minimum, 9), min_size=cells, max_size=cells).filter(any)
    unit = st.integers(1, 7).map(lambda k: Fraction(k, 8))
    shares = st.lists(unit, min_size=clients, max_size=clients)
    if equal:
        shares = unit.map(lambda q: [q] * clients)
    pairs = st.lists(st.lists(weights, min_size=2, max_size=2), min_size=clients, max_size=clients)
    return st.fixed_dictionaries({"laws": pairs, "q": shares, **fields})


def _end(nodes: list[tuple[Fraction, Fraction]], value: Fraction) -> Fraction:
    """The least λ at which the piecewise linear function of ``nodes`` reaches ``value``."""
    if nodes[0][1] >= value:
        return nodes[0][0]
    for (a, low), (b, high) in zip(nodes, nodes[1:], strict=False):
        if high >= value:
            return a + (b - a) * (value - low) / (high - low)
    raise ValueError(f"value must be reached, got {value}")
