"""Verification of an enclosure from its roots alone, by other formulas and with more bits than the
search.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from flint import arb, ctx, fmpq

from fairfl._support.checks import whole
from fairfl.solvers.lft_ensemble.enclosure import Enclosure
from fairfl.solvers.lft_ensemble.enclosure_model import (
    GUARD_BITS,
    LARGEST_PRECISION,
    ExactClient,
    FreeRules,
    difference,
    difference_tables,
    exact_clients,
)
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.federation import Federation


def verify(claim: Enclosure, fed: Federation, precision_bits: int | None = None) -> None:
    """Check every number again, without the search: from ``roots`` alone, in another form, with
    more bits; raised where that decides nothing.

    λ is written as anchor + offset and put into the definition of the rules; the standardised
    thresholds must certainly be out of order one way at the lower and the other way at the upper
    end of each root; and G_j, increasing, is evaluated at these two points rather than on a ball.
    CertificationError names the number that is wrong, or cannot be confirmed.
    """
    bits = 2 * claim.precision_bits
    if precision_bits is not None:
        bits = whole("precision_bits", precision_bits, 32)
    bits, clients = max(bits, claim.precision_bits + GUARD_BITS), exact_clients(fed)
    _require(
        len(claim.roots) == len(claim.multipliers) == len(clients),
        "one root and multiplier for each client",
    )
    for j, (client, (lo, hi), multiplier) in enumerate(
        zip(clients, claim.roots, claim.multipliers, strict=True)
    ):
        if lo == hi == 0:
            _require(not client.bound or client.constant == 0, f"root {j} at exactly 0")
        else:
            _require(client.bound, f"root {j}: the client has one group, its multiplier is 0")
            _require(0 < lo < hi or lo < hi < 0, f"root {j} within an interval on one side of 0")
            _require(
                _order(client, lo, bits) == -1, f"root {j} above {_point(lo).str(17, radius=False)}"
            )
            _require(
                _order(client, hi, bits) == 1, f"root {j} below {_point(hi).str(17, radius=False)}"
            )
        with ctx.workprec(bits):
            m = client.masses[client.narrow] if client.bound else fmpq(0)
            inside = arb(multiplier[0]) <= m * _point(lo).tanh() and m * _point(hi).tanh() <= arb(
                multiplier[1]
            )
            _require(inside, f"multiplier {j} within {multiplier}")
    while True:
        with ctx.workprec(bits):
            balls = _recompute(clients, claim.roots)
            # what the ends were widened by, and some room
            rounding = arb((1, -claim.precision_bits - 2))
        if all(ball.rad() <= rounding for ball in balls) or bits > LARGEST_PRECISION:
            break
        bits *= 2
    with ctx.workprec(bits):
        low, low_top, high_bottom, high = (
            ball.lower() if k % 2 == 0 else ball.upper() for k, ball in enumerate(balls)
        )
        for name, ends, found in (
            ("reachable_low", claim.reachable_low, (low, low_top)),
            ("reachable_high", claim.reachable_high, (high_bottom, high)),
        ):
            _require(arb(ends[0]) <= found[0] and found[1] <= arb(ends[1]), f"{name} within {ends}")
        least = _greatest([arb(0), low, -high])
        most = _greatest([arb(0), low_top, -high_bottom])
        _require(
            0 <= claim.lower and arb(claim.lower) <= least,
            f"smallest disparity at least {claim.lower!r}",
        )
        _require(most <= arb(claim.upper), f"smallest disparity at most {claim.upper!r}")
        shown = arb(claim.digits)
        _require(
            shown.lower() <= least and most <= shown.upper(),
            f"smallest disparity in digits {claim.digits}",
        )


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise CertificationError(f"the enclosure is not confirmed: {what}")


def _point(u: Fraction) -> arb:
    return arb(fmpq(u.numerator, u.denominator))


def _greatest(points: Iterable[arb]) -> arb:
    """The largest of exact points (balls of radius 0, whose comparisons are always decided)."""
    best = arb("-inf")
    for point in points:
        assert point.is_exact()
        best = point if point > best else best
    return best


def _order(client: ExactClient, u: Fraction, bits: int) -> int:
    """Certain sign of (μ_0 - t_0)/σ_0 - (μ_1 - t_1)/σ_1 at λ = m tanh u, i.e. of the client's MD; 0
    when undecided.
    """
    (law0, law1), work = client.laws, bits
    assert law0 is not None and law1 is not None
    while work <= 2 * LARGEST_PRECISION:
        with ctx.workprec(work):
            t0, t1 = _defined_thresholds(client, _point(u))
            gap = (law0[0] - t0) / law0[1] - (law1[0] - t1) / law1[1]
            if gap < 0 or gap > 0:
                return -1 if gap < 0 else 1
        work *= 2
    return 0


def _defined_thresholds(client: ExactClient, u: arb) -> tuple[arb, arb]:
    """t_0, t_1 by the definition: η_a(t_a) = (m_a ∓ λ)/(2 m_a), with λ = offset, or λ = ±m + offset
    far from 0.
    """
    m, out = client.masses[client.narrow], []
    near = abs(u) < 1
    side = 1 if u > 0 else -1
    anchor = fmpq(0) if near else side * m
    offset = m * u.tanh() if near else -side * 2 * m / ((2 * side * u).exp() + 1)
    for sign, mass, (slope, intercept) in zip((-1, 1), client.masses, client.etas, strict=True):
        if near:
            logit = (sign * offset / mass).log1p() - (-sign * offset / mass).log1p()
        else:
            logit = (
                ((mass + sign * anchor) + sign * offset) / ((mass - sign * anchor) - sign * offset)
            ).log()
        out.append((logit - intercept) / slope)
    return out[0], out[1]


def _recompute(
    clients: list[ExactClient], roots: tuple[tuple[Fraction, Fraction], ...]
) -> tuple[arb, arb, arb, arb]:
    """Balls around lower and upper bounds of the smallest, then of the largest reachable MD, by
    monotonicity.
    """
    tables, free = difference_tables(clients), FreeRules()
    low, low_top, high_bottom, high = (arb(0) for _ in range(4))
    for client, (lo, hi) in zip(clients, roots, strict=True):
        at_zero = free.difference(client, tables)
        at_lo = at_hi = at_zero
        if not lo == hi == 0:
            at_lo, at_hi = (
                difference(tables, _defined_thresholds(client, _point(u))) for u in (lo, hi)
            )
        first, last = (
            ((at_zero, at_zero), (at_lo, at_hi))
            if lo >= 0
            else ((at_lo, at_hi), (at_zero, at_zero))
        )
        low, low_top = low + client.weight * first[0], low_top + client.weight * first[1]
        high_bottom, high = high_bottom + client.weight * last[0], high + client.weight * last[1]
    return low, low_top, high_bottom, high
