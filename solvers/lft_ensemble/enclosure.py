"""LFT+Ensemble's smallest disparity enclosed in ball arithmetic, for normal laws and logistic η
(FedFB, lemma 7).

Client j with both groups, masses m_0 = 1 - q_j and m_1 = q_j, uses at its multiplier λ the rule x >
t_a,

    η_j0(t_0) = 1/2 - λ/(2 m_0),    η_j1(t_1) = 1/2 + λ/(2 m_1)        (FedFB, lemma 7),

λ between 0 and the root λ_j* of P_j0(x > t_0) = P_j1(x > t_1). The pooled MD of the ensemble is Σ_j
π_j G_j(λ_j),

    G_j(λ) = Σ_i P(i|a=0) P_i0(x > t_0) - Σ_i P(i|a=1) P_i1(x > t_1),    increasing,

so it reaches [Σ_j π_j min(G_j(0), G_j(λ_j*)), Σ_j π_j max(G_j(0), G_j(λ_j*))]. Clients of one group
keep λ = 0.

The root asks for no tail probability. Normal tails are equal where the standardised thresholds are,
and the logits of the levels are ∓2 artanh(λ/m_a): with slope s_a and intercept b_a of η_ja, mean
μ_a and sd σ_a of the client's own laws,

    h = (μ_0 + b_0/s_0)/σ_0 - (μ_1 + b_1/s_1)/σ_1 + c_0 artanh(λ/m_0) + c_1 artanh(λ/m_1) = 0,
    c_a = 2/(s_a σ_a).

It is solved for u = artanh(λ/m), m = min(m_0, m_1), which runs over the whole line: h is increasing
in u with slopes between c and c_0 + c_1, and neither underflowing tails nor λ within 1e-300 of ±m
cost any accuracy. The constant of h is rational, so its sign, and the side of 0 on which λ* lies,
is decided exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb, ctx

from fairfl.solvers.lft_ensemble.enclosure_model import (
    ExactClient,
    above,
    companion,
    exact_clients,
    outward,
    pooled_difference,
)
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.federation import Federation

BITS, LARGEST_PRECISION = 128, 1 << 13
"""Bits to start with, doubled until balls are narrow, and those at which the search gives up."""
WIDTH = 1e-12
"""The balls around both ends of the reachable MD are no wider."""

Root = tuple[arb, arb]


@dataclass(frozen=True)
class Enclosure:
    """Proven bounds of LFT+Ensemble's smallest disparity, min |MD| over all eps in [0, 1]^I.

    Attributes
    ----------
    lower, upper : the smallest disparity lies in [lower, upper]; both are 0 where MD = 0 is
        certainly reached.
    low, high : balls around the smallest and around the largest reachable MD.
    roots : I pairs of exact points around artanh(λ_j*/min(q_j, 1 - q_j)), from which all can be
        recomputed; (0, 0) for clients of one group.
    bits : the precision of the balls.
    """

    lower: float
    upper: float
    low: arb
    high: arb
    roots: list[Root]
    bits: int


def enclose_min_disparity(fed: Federation) -> Enclosure:
    """Enclose the smallest disparity that LFT+Ensemble reaches, rigorously (ball arithmetic).

    min |MD| over eps in [0, 1]^I is 0 where the reachable interval of MD holds 0, else the absolute
    value of its nearer end. The bounds hold for the federation whose parameters are exactly the
    doubles it stores: q = 0.2 is the double next to 1/5; group 0 has mass 1 - q and the weights sum
    to one exactly, without rounding.

    Raises
    ------
    ValueError : X is finite, a law is not normal, an η not logistic.
    CertificationError : the balls are not narrow with ``LARGEST_PRECISION`` bits.

    Notes
    -----
    Source: FedFB, lemma 7 and eq. (32), the latter by Bayes' rule and for any q_i; the algebraic
    root equation is ours.
    """
    clients, bits = exact_clients(fed), BITS
    while bits <= LARGEST_PRECISION:
        roots = [_root(client, bits) for client in clients]
        with ctx.workprec(bits):
            low, high = _reachable(clients, roots)
            if 2 * low.rad() <= WIDTH and 2 * high.rad() <= WIDTH:
                (below, over), (least, most) = outward(low), outward(high)
                ends = max(0.0, below, -most), max(0.0, over, -least)
                return Enclosure(*ends, low, high, roots, bits)
        bits *= 2
    raise CertificationError(
        f"no enclosure as narrow as {WIDTH:g} with {LARGEST_PRECISION} bits; use laws and η of "
        "scales nearer to each other"
    )


def _root(client: ExactClient, bits: int) -> Root:
    """Exact points beside the root, relatively 2^-bits apart, by bisection; (0, 0) at a root 0."""
    if not client.bound or client.constant == 0:
        return arb(0), arb(0)
    with ctx.workprec(2 * bits):
        lo, hi = arb(0), arb.pi().mid()  # no middle is a fraction, as a root may be
        while not _excess(client, hi) > 0:
            lo, hi = hi, 2 * hi
        while not (hi - lo) < hi * arb((1, -bits)):
            middle = ((lo + hi) / 2).mid()
            excess = _excess(client, middle)
            if not (excess < 0 or excess > 0):
                raise CertificationError(f"no root isolated to {bits} bits")
            lo, hi = (middle, hi) if excess < 0 else (lo, middle)
        return (lo, hi) if client.constant < 0 else (-hi, -lo)


def _excess(client: ExactClient, u: arb) -> arb:
    """c u + c' artanh(r tanh u) - |h(0)| for u > 0: increasing, 0 at |u*|."""
    narrow = client.narrow
    own, other = client.standardised(narrow)[1], client.standardised(1 - narrow)[1]
    r = client.masses[narrow] / client.masses[1 - narrow]
    return own * u + other * companion(r, u) - abs(client.constant)


def _reachable(clients: list[ExactClient], roots: list[Root]) -> tuple[arb, arb]:
    """Balls around the smallest and the largest reachable MD."""
    free = dict[object, arb]()
    # a little more than rounding, for a check with other formulas to fit in
    low = high = arb(0, arb((1, -ctx.prec)))
    for client, (lo, hi) in zip(clients, roots, strict=True):
        if client.etas not in free:  # G_j(0), once for each pair of η
            free[client.etas] = _difference(clients, client.free_thresholds)
        first = last = free[client.etas]
        if lo != 0 or hi != 0:
            at_root = _difference(clients, _thresholds(client, lo.union(hi)))
            first, last = (first, at_root) if lo >= 0 else (at_root, last)
        low, high = low + client.weight * first, high + client.weight * last
    return low, high


def _thresholds(client: ExactClient, u: arb) -> tuple[arb, arb]:
    """t_0, t_1 at λ = m tanh u, for a ball u that does not hold 0: logits ∓2 artanh(λ/m_a)."""
    narrow = client.narrow
    r = client.masses[narrow] / client.masses[1 - narrow]
    other = companion(r, u) if u > 0 else -companion(r, -u)
    x = (u, other) if narrow == 0 else (other, u)
    (s0, b0), (s1, b1) = client.etas
    return (-2 * x[0] - b0) / s0, (2 * x[1] - b1) / s1


def _difference(clients: list[ExactClient], thresholds: tuple[arb, arb]) -> arb:
    """Pooled MD of the rules x > t_a."""

    def rates(a: int) -> list[arb]:
        laws = [client.laws[a] for client in clients]
        return [arb(0) if law is None else above(law, thresholds[a]) for law in laws]

    return pooled_difference(clients, rates)
