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

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from fairfl._support.checks import positive, whole
from fairfl.solvers.lft_ensemble.enclosure_model import (
    GUARD_BITS,
    LARGEST_PRECISION,
    ExactClient,
    FreeRules,
    companion,
    difference,
    difference_tables,
    exact_clients,
)
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.federation import Federation

Pair = tuple[float, float]


@dataclass(frozen=True)
class Enclosure:
    """Proven bounds of LFT+Ensemble's smallest disparity, min |MD| over all eps in [0, 1]^I.

    Attributes
    ----------
    lower, upper : the smallest disparity lies in [lower, upper]; both are 0 where MD = 0 is
        certainly reached.
    reachable_low, reachable_high : (lo, hi) around the smallest and around the largest reachable
        MD.
    digits : the smallest disparity as "[midpoint +/- radius]" in the digits that the precision
        gave, or "0".
    multipliers : I pairs (lo, hi) around λ_j*, the far ends of the multipliers; (0, 0) for clients
        of one group.
    roots : I pairs (lo, hi) of exact fractions around artanh(λ_j*/min(q_j, 1 - q_j)), from which
        all can be recomputed.
    precision_bits : the working precision that reached the tolerance.
    """

    lower: float
    upper: float
    reachable_low: Pair
    reachable_high: Pair
    digits: str
    multipliers: tuple[Pair, ...]
    roots: tuple[tuple[Fraction, Fraction], ...]
    precision_bits: int


def enclose_min_disparity(
    fed: Federation, precision_bits: int = 128, tolerance: float = 1e-12
) -> Enclosure:
    """Enclose the smallest disparity that LFT+Ensemble reaches, rigorously (ball arithmetic).

    min |MD| over eps in [0, 1]^I is 0 where the reachable interval of MD holds 0, else the absolute
    value of its nearer end. The bounds hold for the federation whose parameters are exactly the
    doubles it stores: q = 0.2 is the double next to 1/5; group 0 has mass 1 - q and the weights sum
    to one exactly, without rounding.

    Parameters
    ----------
    fed : laws :class:`Normal` for all people, η :class:`Logistic` for all rules; any weights, any
        q_i in [0, 1].
    precision_bits : precision to start with, at least 32; doubled until the ends are as narrow as
        ``tolerance``.
    tolerance : largest width of the two ends' balls. Bounds in floats are rounded outward on top of
        that; where the tolerance is finer than a double, ``digits`` has what they cannot show.

    Returns
    -------
    The :class:`Enclosure`.

    Raises
    ------
    ValueError : X is finite, a law is not normal, an η not logistic; ``precision_bits`` or
        ``tolerance`` out of range.
    CertificationError : the tolerance is not reached with 8192 bits.

    Notes
    -----
    Source: FedFB, lemma 7 and eq. (32), the latter by Bayes' rule and for any q_i; the algebraic
    root equation is ours.
    """
    bits = whole("precision_bits", precision_bits, 32)
    width = float(positive("tolerance", tolerance))
    clients = exact_clients(fed)
    while bits <= LARGEST_PRECISION:
        roots = [_root(client, bits) for client in clients]
        with ctx.workprec(bits):
            low, high = _reachable(clients, roots)
            if 2 * low.rad() <= width and 2 * high.rad() <= width:
                return _assemble(clients, roots, low, high, bits)
        bits *= 2
    raise CertificationError(
        f"no enclosure as narrow as {width:g} with {LARGEST_PRECISION} bits; raise the tolerance"
    )


def _root(client: ExactClient, bits: int) -> tuple[arb, arb]:
    """Exact points with h(lo) < 0 < h(hi), 2^(1-bits) apart relative to the root; (0, 0) where the
    root is 0.
    """
    if not client.bound or client.constant == 0:
        return arb(0), arb(0)
    work = bits + GUARD_BITS
    while work <= 2 * LARGEST_PRECISION:
        with ctx.workprec(work):
            guess = _newton(client, bits)
            slack = guess * arb((1, -bits))
            lo, hi = (guess - slack).mid(), (guess + slack).mid()
            if lo > 0 and _excess(client, lo)[0] < 0 < _excess(client, hi)[0]:
                return (lo, hi) if client.constant < 0 else (-hi, -lo)
        work *= 2
    raise CertificationError(
        f"no root isolated to {bits} bits with {2 * LARGEST_PRECISION}; lower precision_bits"
    )


def _excess(client: ExactClient, u: arb) -> tuple[arb, arb]:
    """c u + c' artanh(r tanh u) - |h(0)| for u > 0, and its slope: increasing and concave, 0 at
    |u*|.
    """
    narrow = client.narrow
    own, other = client.standardised(narrow)[1], client.standardised(1 - narrow)[1]
    r = client.masses[narrow] / client.masses[1 - narrow]
    value = own * u + other * companion(r, u) - abs(client.constant)
    return value, own + other * r / (1 + (1 - r * r) * u.sinh() ** 2)


def _newton(client: ExactClient, bits: int) -> arb:
    """|u*| by Newton's method from 0: h is concave on u > 0, so the steps never pass the root and
    all are positive.
    """
    u, close = arb(0), arb((1, -bits))
    for _ in range(5000):
        value, slope = _excess(client, u)
        step = -(value / slope).mid()
        u = (u + step).mid()
        if not step > u * close:  # converged, or down to rounding
            break
    return u


def _reachable(clients: list[ExactClient], roots: list[tuple[arb, arb]]) -> tuple[arb, arb]:
    """Balls around the smallest and the largest reachable MD."""
    tables, free = difference_tables(clients), FreeRules()
    # a little more than rounding, for a check with other formulas to fit in
    low = high = arb(0, arb((1, -ctx.prec)))
    for client, (lo, hi) in zip(clients, roots, strict=True):
        at_zero = free.difference(client, tables)
        at_root = (
            at_zero
            if hi == 0 and lo == 0
            else difference(tables, _thresholds(client, lo.union(hi)))
        )
        first, last = (at_zero, at_root) if lo >= 0 else (at_root, at_zero)
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


def _assemble(
    clients: list[ExactClient], roots: list[tuple[arb, arb]], low: arb, high: arb, bits: int
) -> Enclosure:
    low_ends, high_ends = _outward(low, low), _outward(high, high)
    lower = max(0.0, low_ends[0], -high_ends[1])
    upper = max(0.0, low_ends[1], -high_ends[0])
    count = math.ceil(bits * math.log10(2))
    if low > 0 or high < 0:
        digits = (low if low > 0 else -high).str(count)
    else:
        digits = "0" if upper == 0 else arb(0, upper).str(count)
    multipliers = tuple(
        _outward(c.masses[c.narrow] * lo.tanh(), c.masses[c.narrow] * hi.tanh())
        for c, (lo, hi) in zip(clients, roots, strict=True)
    )
    exact = tuple((_fraction(lo), _fraction(hi)) for lo, hi in roots)
    return Enclosure(lower, upper, low_ends, high_ends, digits, multipliers, exact, bits)


def _outward(first: arb, last: arb) -> Pair:
    """Doubles certainly at or below the ball ``first`` and at or above ``last``, which are
    finite.
    """
    below, above = float(first.lower()), float(last.upper())
    while not arb(below) <= first.lower():
        below = math.nextafter(below, -math.inf)
    while not arb(above) >= last.upper():
        above = math.nextafter(above, math.inf)
    return below, above


def _fraction(point: arb) -> Fraction:
    mantissa, exponent = (int(v) for v in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
