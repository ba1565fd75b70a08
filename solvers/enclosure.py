"""A rigorous enclosure of LFT+Ensemble's smallest disparity, for normal laws and logistic η, in ball arithmetic.

Client j with both groups, masses m_0 = 1 - q_j and m_1 = q_j, plays at its multiplier λ the rule x > t_a,

    η_j0(t_0) = 1/2 - λ/(2 m_0),    η_j1(t_1) = 1/2 + λ/(2 m_1)        (FedFB, lemma 7),

λ between 0 and the root λ_j* of P_j0(x > t_0) = P_j1(x > t_1). The pooled MD of the ensemble is Σ_j π_j G_j(λ_j),

    G_j(λ) = Σ_i P(i|a=0) P_i0(x > t_0) - Σ_i P(i|a=1) P_i1(x > t_1),    increasing,

so it reaches [Σ_j π_j min(G_j(0), G_j(λ_j*)), Σ_j π_j max(G_j(0), G_j(λ_j*))]. Clients of one group keep λ = 0.

The root asks for no tail probability. Normal tails are equal where the standardised thresholds are, and the logits of
the levels are ∓2 artanh(λ/m_a): with slope s_a and intercept b_a of η_ja, mean μ_a and sd σ_a of the client's own laws,

    h = (μ_0 + b_0/s_0)/σ_0 - (μ_1 + b_1/s_1)/σ_1 + c_0 artanh(λ/m_0) + c_1 artanh(λ/m_1) = 0,    c_a = 2/(s_a σ_a).

It is solved for u = artanh(λ/m), m = min(m_0, m_1), which runs over the whole line: h is increasing in u with slopes
between c and c_0 + c_1, and neither underflowing tails nor λ within 1e-300 of ±m cost any accuracy. The constant of h
is rational, so its sign, and the side of 0 on which λ* lies, is decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq

from fairfl.solvers.solution import CertificationError
from fairfl.theory.checks import positive, whole
from fairfl.theory.continuous import ContinuousModel
from fairfl.theory.eta import Logistic
from fairfl.theory.federation import Federation
from fairfl.theory.laws import Normal

GUARD_BITS = 32
"""Working precision beyond that of the root, where roots are sought and where they are checked."""
LARGEST_PRECISION = 1 << 13
"""Bits at which the search gives up."""

Pair = tuple[float, float]


@dataclass(frozen=True)
class Enclosure:
    """Proven bounds of LFT+Ensemble's smallest disparity, min |MD| over all eps in [0, 1]^I.

    Attributes
    ----------
    lower, upper : the smallest disparity lies in [lower, upper]; both are 0 where MD = 0 is certainly reached.
    reachable_low, reachable_high : (lo, hi) around the smallest and around the largest reachable MD.
    digits : the smallest disparity as "[midpoint +/- radius]" in the digits that the precision gave, or "0".
    multipliers : I pairs (lo, hi) around λ_j*, the far ends of the multipliers; (0, 0) for clients of one group.
    roots : I pairs (lo, hi) of exact fractions around artanh(λ_j*/min(q_j, 1 - q_j)), from which all can be recomputed.
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

    def verify(self, fed: Federation, precision_bits: int | None = None) -> None:
        """Check every number again, without the search: from ``roots`` alone, in another form, with more bits.

        λ is written as anchor + offset and put into the definition of the rules; the standardised thresholds must
        certainly be out of order one way at the lower and the other way at the upper end of each root; and G_j,
        increasing, is evaluated at these two points rather than on a ball.

        Parameters
        ----------
        fed : the federation of which the enclosure is claimed.
        precision_bits : working precision to start with, default twice that of the enclosure and never below it;
            raised where that decides nothing.

        Raises
        ------
        CertificationError : a bound is wrong, or cannot be confirmed; the message names it.
        ValueError : ``fed`` is not of the kind that :func:`enclose_min_disparity` takes.
        """
        bits = 2 * self.precision_bits if precision_bits is None else whole("precision_bits", precision_bits, 32)
        _verify(self, _exact(fed), max(bits, self.precision_bits + GUARD_BITS))


@dataclass(frozen=True)
class _Client:
    """One client in exact rationals; ``laws`` and ``masses`` by group, a law None where nobody is."""

    weight: fmpq
    masses: tuple[fmpq, fmpq]
    etas: tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]  # slope, intercept
    laws: tuple[tuple[fmpq, fmpq] | None, tuple[fmpq, fmpq] | None]  # mean, sd

    @property
    def bound(self) -> bool:
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
    def constant(self) -> fmpq:
        """h at λ = 0."""
        return self.standardised(0)[0] - self.standardised(1)[0]


Table = list[tuple[arb, arb, arb]]


def enclose_min_disparity(fed: Federation, precision_bits: int = 128, tolerance: float = 1e-12) -> Enclosure:
    """Enclose the smallest disparity that LFT+Ensemble reaches, rigorously (ball arithmetic).

    min |MD| over eps in [0, 1]^I is 0 where the reachable interval of MD holds 0, else the absolute value of its
    nearer end. The bounds hold for the federation whose parameters are exactly the doubles it stores: q = 0.2 is the
    double next to 1/5; group 0 has mass 1 - q and the weights sum to one exactly, without rounding.

    Parameters
    ----------
    fed : laws :class:`Normal` for all people, η :class:`Logistic` for all rules; any weights, any q_i in [0, 1].
    precision_bits : precision to start with, at least 32; doubled until the ends are as narrow as ``tolerance``.
    tolerance : largest width of the two ends' balls. Bounds in floats are rounded outward on top of that; where the
        tolerance is finer than a double, ``digits`` has what they cannot show.

    Returns
    -------
    The :class:`Enclosure`, whose ``verify(fed)`` checks it again.

    Raises
    ------
    ValueError : X is finite, a law is not normal, an η not logistic; ``precision_bits`` or ``tolerance`` out of range.
    CertificationError : the tolerance is not reached with 8192 bits.

    Notes
    -----
    Source: FedFB, lemma 7 and eq. (32), the latter by Bayes' rule and for any q_i; the algebraic root equation is ours.
    """
    bits, width = whole("precision_bits", precision_bits, 32), float(positive("tolerance", tolerance))
    clients = _exact(fed)
    while bits <= LARGEST_PRECISION:
        roots = [_root(client, bits) for client in clients]
        with ctx.workprec(bits):
            low, high = _reachable(clients, roots)
            if 2 * low.rad() <= width and 2 * high.rad() <= width:
                return _assemble(clients, roots, low, high, bits)
        bits *= 2
    raise CertificationError(f"no enclosure as narrow as {width:g} with {LARGEST_PRECISION} bits; raise the tolerance")


def _exact(fed: Federation) -> list[_Client]:
    """The federation in rationals, its doubles taken as they are and its weights normalised exactly."""
    model = fed.model
    if not isinstance(model, ContinuousModel):
        raise ValueError("enclosures are for normal laws and logistic η, got a federation on a finite X")
    clients = []
    total = sum((_rational(w) for w in fed.weight), fmpq(0))
    for i, (laws, etas) in enumerate(zip(model.laws, model.etas, strict=True)):
        q = _rational(fed.share[i, 1])
        masses, kept, rules = (1 - q, q), [], []
        for a, (law, eta) in enumerate(zip(laws, etas, strict=True)):
            if not isinstance(eta, Logistic):
                raise ValueError(f"eta must be Logistic for an enclosure, got {eta!r:.60} for client {i}, group {a}")
            rules.append((_rational(eta.slope), _rational(eta.intercept)))
            if masses[a] == 0:
                kept.append(None)
            elif isinstance(law, Normal):
                kept.append((_rational(law.mean), _rational(law.sd)))
            else:
                raise ValueError(f"laws must be normal for an enclosure, got {law!r:.60} for client {i}, group {a}")
        clients.append(_Client(_rational(fed.weight[i]) / total, masses, (rules[0], rules[1]), (kept[0], kept[1])))
    return clients


def _rational(x: float) -> fmpq:
    return fmpq(*float(x).as_integer_ratio())


def _root(client: _Client, bits: int) -> tuple[arb, arb]:
    """Exact points with h(lo) < 0 < h(hi), 2^(1-bits) apart relative to the root; (0, 0) where the root is 0."""
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
    raise CertificationError(f"no root isolated to {bits} bits with {2 * LARGEST_PRECISION}; lower precision_bits")


def _excess(client: _Client, u: arb) -> tuple[arb, arb]:
    """c u + c' artanh(r tanh u) - |h(0)| for u > 0, and its slope: increasing and concave, 0 at |u*|."""
    narrow = client.narrow
    own, other = client.standardised(narrow)[1], client.standardised(1 - narrow)[1]
    r = client.masses[narrow] / client.masses[1 - narrow]
    value = own * u + other * _companion(r, u) - abs(client.constant)
    return value, own + other * r / (1 + (1 - r * r) * u.sinh() ** 2)


def _companion(r: fmpq, u: arb) -> arb:
    """artanh(r tanh u), the wide group's artanh(λ/M), for u >= 0 and r = m/M in (0, 1]; as accurate as u."""
    if r == 1:
        return u
    if u < 1:
        return (r * u.tanh()).atanh()
    decay = (-2 * u).exp()
    return (((1 + r) + (1 - r) * decay) / ((1 - r) + (1 + r) * decay)).log() / 2


def _newton(client: _Client, bits: int) -> arb:
    """|u*| by Newton's method from 0: h is concave on u > 0, so the steps never pass the root and all are positive."""
    u, close = arb(0), arb((1, -bits))
    for _ in range(5000):
        value, slope = _excess(client, u)
        step = -(value / slope).mid()
        u = (u + step).mid()
        if not step > u * close:  # converged, or down to rounding
            break
    return u


def _reachable(clients: list[_Client], roots: list[tuple[arb, arb]]) -> tuple[arb, arb]:
    """Balls around the smallest and the largest reachable MD."""
    tables, free = _tables(clients), _FreeRules()
    low = high = arb(0, arb((1, -ctx.prec)))  # a little more than rounding, for ``verify`` to fit in
    for client, (lo, hi) in zip(clients, roots, strict=True):
        at_zero = free.difference(client, tables)
        at_root = at_zero if hi == 0 and lo == 0 else _difference(tables, _thresholds(client, lo.union(hi)))
        first, last = (at_zero, at_root) if lo >= 0 else (at_root, at_zero)
        low, high = low + client.weight * first, high + client.weight * last
    return low, high


def _thresholds(client: _Client, u: arb) -> tuple[arb, arb]:
    """t_0, t_1 at λ = m tanh u, for a ball u that does not hold 0: logits ∓2 artanh(λ/m_a)."""
    narrow = client.narrow
    r = client.masses[narrow] / client.masses[1 - narrow]
    other = _companion(r, u) if u > 0 else -_companion(r, -u)
    x = (u, other) if narrow == 0 else (other, u)
    (s0, b0), (s1, b1) = client.etas
    return (-2 * x[0] - b0) / s0, (2 * x[1] - b1) / s1


def _tables(clients: list[_Client]) -> tuple[Table, Table]:
    """For each group, its clients' means, 1/(σ√2), and ±P(i|a)/2 (+ for group 0)."""
    tables: tuple[Table, Table] = ([], [])
    root_two = arb(2).sqrt()
    for a, sign in ((0, 1), (1, -1)):
        group = sum((c.weight * c.masses[a] for c in clients), fmpq(0))
        for c in clients:
            law = c.laws[a]
            if law is not None:
                share = c.weight * c.masses[a] / group
                tables[a].append((arb(law[0]), 1 / (law[1] * root_two), arb(share * sign / 2)))
    return tables


def _difference(tables: tuple[Table, Table], thresholds: tuple[arb, arb]) -> arb:
    """Pooled MD of the rules x > t_a: Σ ±P(i|a)/2 erfc((t_a - μ)/(σ√2))."""
    total = arb(0)
    for table, t in zip(tables, thresholds, strict=True):
        for mean, scale, weight in table:
            total += weight * ((t - mean) * scale).erfc()
    return total


class _FreeRules:
    """G_j(0), evaluated once for each pair of η."""

    def __init__(self) -> None:
        self.known: dict[object, arb] = {}

    def difference(self, client: _Client, tables: tuple[Table, Table]) -> arb:
        if client.etas not in self.known:
            (s0, b0), (s1, b1) = client.etas
            self.known[client.etas] = _difference(tables, (arb(-b0 / s0), arb(-b1 / s1)))
        return self.known[client.etas]


def _assemble(clients: list[_Client], roots: list[tuple[arb, arb]], low: arb, high: arb, bits: int) -> Enclosure:
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
    """Doubles certainly at or below the ball ``first`` and at or above ``last``, which are finite."""
    below, above = float(first.lower()), float(last.upper())
    while not arb(below) <= first.lower():
        below = math.nextafter(below, -math.inf)
    while not arb(above) >= last.upper():
        above = math.nextafter(above, math.inf)
    return below, above


def _fraction(point: arb) -> Fraction:
    mantissa, exponent = (int(v) for v in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _verify(claim: Enclosure, clients: list[_Client], bits: int) -> None:
    """See :meth:`Enclosure.verify`."""
    _require(len(claim.roots) == len(claim.multipliers) == len(clients), "one root and multiplier for each client")
    for j, (client, (lo, hi), multiplier) in enumerate(zip(clients, claim.roots, claim.multipliers, strict=True)):
        if lo == hi == 0:
            _require(not client.bound or client.constant == 0, f"root {j} at exactly 0")
        else:
            _require(client.bound, f"root {j}: the client has one group, its multiplier is 0")
            _require(0 < lo < hi or lo < hi < 0, f"root {j} within an interval on one side of 0")
            _require(_order(client, lo, bits) == -1, f"root {j} above {_point(lo).str(17, radius=False)}")
            _require(_order(client, hi, bits) == 1, f"root {j} below {_point(hi).str(17, radius=False)}")
        with ctx.workprec(bits):
            m = client.masses[client.narrow] if client.bound else fmpq(0)
            inside = arb(multiplier[0]) <= m * _point(lo).tanh() and m * _point(hi).tanh() <= arb(multiplier[1])
            _require(inside, f"multiplier {j} within {multiplier}")
    while True:
        with ctx.workprec(bits):
            balls = _recompute(clients, claim.roots)
            rounding = arb((1, -claim.precision_bits - 2))  # what the ends were widened by, and some room
        if all(ball.rad() <= rounding for ball in balls) or bits > LARGEST_PRECISION:
            break
        bits *= 2
    with ctx.workprec(bits):
        low, low_top, high_bottom, high = (ball.lower() if k % 2 == 0 else ball.upper() for k, ball in enumerate(balls))
        for name, ends, found in (
            ("reachable_low", claim.reachable_low, (low, low_top)),
            ("reachable_high", claim.reachable_high, (high_bottom, high)),
        ):
            _require(arb(ends[0]) <= found[0] and found[1] <= arb(ends[1]), f"{name} within {ends}")
        least = _greatest([arb(0), low, -high])
        most = _greatest([arb(0), low_top, -high_bottom])
        _require(0 <= claim.lower and arb(claim.lower) <= least, f"smallest disparity at least {claim.lower!r}")
        _require(most <= arb(claim.upper), f"smallest disparity at most {claim.upper!r}")
        shown = arb(claim.digits)
        _require(shown.lower() <= least and most <= shown.upper(), f"smallest disparity in digits {claim.digits}")


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


def _order(client: _Client, u: Fraction, bits: int) -> int:
    """Certain sign of (μ_0 - t_0)/σ_0 - (μ_1 - t_1)/σ_1 at λ = m tanh u, i.e. of the client's MD; 0 when undecided."""
    (law0, law1), work = client.laws, bits
    assert law0 is not None and law1 is not None
    while work <= 2 * LARGEST_PRECISION:
        with ctx.workprec(work):
            t0, t1 = _defined_thresholds(client, _point(u))
            difference = (law0[0] - t0) / law0[1] - (law1[0] - t1) / law1[1]
            if difference < 0 or difference > 0:
                return -1 if difference < 0 else 1
        work *= 2
    return 0


def _defined_thresholds(client: _Client, u: arb) -> tuple[arb, arb]:
    """t_0, t_1 by the definition: η_a(t_a) = (m_a ∓ λ)/(2 m_a), with λ = offset, or λ = ±m + offset far from 0."""
    m, out = client.masses[client.narrow], []
    near = abs(u) < 1
    side = 1 if u > 0 else -1
    anchor = fmpq(0) if near else side * m
    offset = m * u.tanh() if near else -side * 2 * m / ((2 * side * u).exp() + 1)
    for sign, mass, (slope, intercept) in zip((-1, 1), client.masses, client.etas, strict=True):
        if near:
            logit = (sign * offset / mass).log1p() - (-sign * offset / mass).log1p()
        else:
            logit = (((mass + sign * anchor) + sign * offset) / ((mass - sign * anchor) - sign * offset)).log()
        out.append((logit - intercept) / slope)
    return out[0], out[1]


def _recompute(clients: list[_Client], roots: tuple[tuple[Fraction, Fraction], ...]) -> tuple[arb, arb, arb, arb]:
    """Balls around lower and upper bounds of the smallest, then of the largest reachable MD, by monotonicity."""
    tables, free = _tables(clients), _FreeRules()
    low, low_top, high_bottom, high = (arb(0) for _ in range(4))
    for client, (lo, hi) in zip(clients, roots, strict=True):
        at_zero = free.difference(client, tables)
        at_lo = at_hi = at_zero
        if not lo == hi == 0:
            at_lo, at_hi = (_difference(tables, _defined_thresholds(client, _point(u))) for u in (lo, hi))
        first, last = ((at_zero, at_zero), (at_lo, at_hi)) if lo >= 0 else ((at_lo, at_hi), (at_zero, at_zero))
        low, low_top = low + client.weight * first[0], low_top + client.weight * first[1]
        high_bottom, high = high_bottom + client.weight * last[0], high + client.weight * last[1]
    return low, low_top, high_bottom, high
