"""Verification of an enclosure from its roots alone, by other formulas and with more bits than the
search.
"""

from __future__ import annotations

from flint import arb, ctx, fmpq

from fairfl.solvers.lft_ensemble.enclosure import Enclosure
from fairfl.solvers.lft_ensemble.enclosure_model import (
    ExactClient,
    difference,
    difference_tables,
    exact_clients,
)
from fairfl.theory.populations.federation import Federation


class NotConfirmed(AssertionError):
    """The enclosure is wrong, or the check decides nothing."""


def verify(claim: Enclosure, fed: Federation) -> None:
    """Check every number again, without the search: from ``roots`` alone, in another form, with
    four times as many bits.

    λ is written as anchor + offset and put into the definition of the rules; the standardised
    thresholds must certainly be out of order one way at the lower and the other way at the upper
    end of each root; and G_j, increasing, is evaluated at these two points rather than on a ball.
    """
    clients = exact_clients(fed)
    _require(len(claim.roots) == len(clients), "one root for each client")
    with ctx.workprec(4 * claim.bits):
        tables, reached = difference_tables(clients), [[arb(0), arb(0)], [arb(0), arb(0)]]
        for j, (client, root) in enumerate(zip(clients, claim.roots, strict=True)):
            free = difference(tables, client.free_thresholds)
            ends = [free, free]
            if root[0] == root[1] == 0:
                _require(not client.bound or client.constant == 0, f"root {j} at exactly 0")
            else:
                _require(client.bound, f"root {j}: the client has one group, its multiplier is 0")
                one_side = 0 < root[0] < root[1] or root[0] < root[1] < 0
                _require(one_side, f"root {j} within an interval on one side of 0")
                _require(_order(client, root[0]) < 0, f"root {j} above {root[0]}")
                _require(_order(client, root[1]) > 0, f"root {j} below {root[1]}")
                ends = [difference(tables, _defined_thresholds(client, u)) for u in root]
            pair = ([free, free], ends) if root[0] >= 0 else (ends, [free, free])
            for total, part in zip(reached, pair, strict=True):
                for k in (0, 1):
                    total[k] += client.weight * part[k]
        (low, low_top), (bottom, high) = reached
        _require(claim.low.contains(low) and claim.low.contains(low_top), "the smallest MD")
        _require(claim.high.contains(bottom) and claim.high.contains(high), "the largest MD")
        least = max(0, low.lower(), -high.upper())
        most = max(0, low_top.upper(), -bottom.lower())
        _require(0 <= claim.lower and arb(claim.lower) <= least, "smallest disparity at least")
        _require(most <= arb(claim.upper), "smallest disparity at most")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise NotConfirmed(f"not confirmed: {what}")


def _order(client: ExactClient, u: arb) -> arb:
    """(μ_0 - t_0)/σ_0 - (μ_1 - t_1)/σ_1 at λ = m tanh u: the sign of the client's MD."""
    (law0, law1), (t0, t1) = client.laws, _defined_thresholds(client, u)
    assert law0 is not None and law1 is not None
    return (law0[0] - t0) / law0[1] - (law1[0] - t1) / law1[1]


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
