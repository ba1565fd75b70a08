"""PropFair with local steps on cosines: bounded losses, known constants, expectations by
enumeration.

Client i has batches of loss 1 + a cos(theta - u) +- k cos(theta - v), both signs equally likely, in
one dimension; ``world["clients"]`` lists (a, u, k, v). Floats throughout.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.certificates.kernel_proof import constant
from fairfl.claims.exact import ball
from fairfl.claims.forms import Attack, Case, Part, Relation, witness
from fairfl.claims.propfair.rounds import APART, front

LEAD, AGAIN, SLOW = (int(constant("averaging.v", name)) for name in ("lead", "again", "slow"))
"""The numbers 3, 8 and 48 of propfair/theorem-3.3-direct, which the proof and the instances
share.
"""


def batch(world: dict[str, Any], i: int, sign: float, theta: Any) -> tuple[Any, Any]:
    """Loss and slope of client i's batch, 1 + a cos(theta - u) + sign k cos(theta - v); of client i
    itself for sign 0.
    """
    a, u, k, v = world["clients"][i]
    loss = 1 + a * np.cos(theta - u) + sign * k * np.cos(theta - v)
    return loss, -a * np.sin(theta - u) - sign * k * np.sin(theta - v)


def constants(world: dict[str, Any]) -> dict[str, Any]:
    """L, L_0 and the four variances of the waves, exactly: suprema over theta are amplitudes."""
    clients = world["clients"]
    top = max(a for a, *_ in clients)
    pairs = [
        abs(a * np.exp(1j * u) - b * np.exp(1j * w))
        for a, u, _, _ in clients
        for b, w, _, _ in clients
    ]
    return {"L": top, "L0": top, "between": max(pairs), "local": [k for _, _, k, _ in clients]}


def objective(world: dict[str, Any], theta: Any) -> tuple[Any, Any]:
    """pi and its derivative."""
    n, M = len(world["clients"]), world["M"]
    clients = [batch(world, i, 0, theta) for i in range(n)]
    return -sum(np.log(M - f) for f, _ in clients) / n, sum(g / (M - f) for f, g in clients) / n


def biased_psi(eta: Any, L: Any, K: Any, s: Any, g: Any, e2: Any) -> tuple[Any, Any]:
    """The two sums of Psi~ for one client, s = sigma~_l^2 and g = sigma~_g^2: 3 eta/2 K^2 (s + g)
    and 3 eta/2 8 (e - 2) eta^2 L~^2 K^4 (s + g).
    """
    lead = LEAD * eta / 2
    return lead * K**2 * (s + g), lead * AGAIN * e2 * (eta * L) ** 2 * K**4 * (s + g)


def right_side(
    mu: Any, eta: Any, L: Any, gap: Any, clients: list[tuple[Any, Any]], g: Any, a: Any, c: float
) -> Any:
    """12/((11 mu - 9) eta) (gap + Psi~), of numbers of any type: for c = 1 of
    propfair/theorem-3.3-direct, for c = 3 as printed, without the second sum; ``clients`` are K_i
    and sigma~_l,i^2, ``a`` averages over them, ``gap`` is that of a round.
    """
    if c == 3:
        psi = eta / 2 * a([k**2 * (s + int(APART) * g) for k, s in clients])
    else:
        e2 = np.e - 2 if isinstance(eta, float) else arb(1).exp() - 2
        each = [biased_psi(eta, L, k, s, g, e2) for k, s in clients]
        psi = sum(a(list(column)) for column in zip(*each, strict=True))
    return front(mu, eta) * (gap + psi)


def as_proved(instance: dict[str, Any], c: int) -> Case:
    """The right side for two clients of shares 1/3 and 2/3, and what ``averaging.v`` proves that it
    is there: its sigma_l^2 is 5/9 of the printed sigma~_l^2.
    """
    names = ("at_eta", "within", "wide_there", "biased_there", "biased_drift")
    eta, within, wide, plain, drift = (ball(constant("averaging.v", name)) for name in names)
    printed = [s * (within if c == 3 else 1) for s in instance["noise"]]
    found = right_side(
        ball(Fraction(8, 3)),
        eta,
        instance["L"],
        ball(Fraction(19, instance["T"])),
        list(zip(instance["steps"], printed, strict=True)),
        4,
        lambda values: sum(values) * 5 / 9,
        c,
    )
    told = wide if c == 3 else plain + drift * (arb(1).exp() - 2)
    return Case((Relation(abs(found - told), "<=", Fraction(1, 10**9), "difference"),))


def proved_side(c: int) -> Part:
    """That the proof speaks of the right side which instances are held to."""
    shows = "the proof's right side at two clients is the one that instances are held to"
    return witness(as_proved, shows, {"L": 17, "noise": [5, 7], "steps": [2, 3], "T": 23}, c=c)


def bound(
    world: dict[str, Any], eta: float, gap: float, c: float = 1.0, apart: float = 1.0
) -> float:
    """:func:`right_side` at a world. ``apart`` is the share of sigma~_g^2."""
    made, M = constants(world), world["M"]
    tilde = 2 * made["L"] / M + 4 * made["L0"] ** 2 / M**2
    g2 = apart * (2 * c * made["between"] / M + 4 * made["L0"] * made["between"] / M**2) ** 2
    noise = [8 / M**4 * (c**2 * M**2 * k**2 + 4 * made["L0"] ** 2 * k**2) for k in made["local"]]
    steps, p = world["steps"], np.array(world["sizes"]) / sum(world["sizes"])
    full = world["law"] is None

    def a(c: list[float]) -> float:
        return float((p**2).sum() * sum(c)) if full else max(c)

    mu, clients = float(p @ steps) if full else min(steps), list(zip(steps, noise, strict=True))
    return right_side(mu, eta, tilde, gap / world["T"], clients, g2, a, c)


def step_limit(world: dict[str, Any], c: float = 1.0) -> float:
    """The largest step size, 1/(6 L~ K_i) and 1/(L~ sqrt(48 (e-2) a(K_i^4))); c = 3: the first."""
    made, M = constants(world), world["M"]
    tilde = 2 * c * made["L"] / M + 4 * made["L0"] ** 2 / M**2
    steps, p = world["steps"], np.array(world["sizes"]) / sum(world["sizes"])
    fourth = (
        float((p**2).sum() * sum(k**4 for k in steps))
        if world["law"] is None
        else max(k**4 for k in steps)
    )
    first = 1 / (6 * tilde * max(steps))
    return float(first if c == 3 else min(first, 1 / (tilde * np.sqrt(SLOW * (np.e - 2) * fourth))))


def expected(world: dict[str, Any], eta: float) -> list[float]:
    """E pi'(theta_t)^2, t < T: every outcome of every batch, participation and round, as a tree."""
    n, M = len(world["clients"]), world["M"]
    law = world["law"] or [[list(range(n)), 1.0]]
    state = {world["theta"]: 1.0}
    found = []
    for _ in range(world["T"]):
        found.append(sum(w * float(objective(world, at)[1]) ** 2 for at, w in state.items()))
        new: dict[float, float] = {}
        for at, w in state.items():
            for members, chance in law:
                total = sum(world["sizes"][i] for i in members)
                runs = [list(product((-1.0, 1.0), repeat=world["steps"][i])) for i in members]
                for outcome in product(*runs):
                    moved = 0.0
                    for i, signs in zip(members, outcome, strict=True):
                        local = at
                        for sign in signs:
                            loss, slope = batch(world, i, sign, local)
                            local -= eta * slope / (M - loss)
                        moved += world["sizes"][i] / total * local
                    share = w * chance / float(np.prod([len(r) for r in runs]))
                    new[moved] = new.get(moved, 0.0) + share
        state = new
    return found


def case(instance: dict[str, Any], share: float = 1.0, c: float = 3.0, apart: float = 1.0) -> Case:
    """Theorem 3.3 with the printed constants (c = 3), or smaller ones (c = 1), at one world; pi* on
    a grid, which errs against the bound. ``apart`` is the share of sigma~_g^2.
    """
    eta = instance["rho"] * step_limit(instance, c)
    grid = objective(instance, np.linspace(0, 2 * np.pi, 2001))[0]
    gap = float(objective(instance, instance["theta"])[0] - grid.min())
    right = share * bound(instance, eta, max(gap, 0.0), c, apart)
    left = min(expected(instance, eta))
    inside = all(
        abs(a) + abs(k) <= min(1.0, instance["M"] / 2 - 1) + 1e-12
        for a, _, k, _ in instance["clients"]
    )
    premises = {"range": inside, "step size": 0 < instance["rho"] <= 1, "participation": True}
    return Case((Relation(left, "<=", right, scale=max(right, 1e-12)),), premises)


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    """One or two clients, one or two local steps, few rounds: the tree of outcomes is
    enumerated.
    """
    n = draw(st.integers(1, 2))
    part = st.integers(1, 8).map(lambda k: k / 16)
    angle = st.integers(0, 11).map(lambda k: k * np.pi / 6)
    clients = [
        [draw(part), draw(angle), draw(st.integers(0, 8)) / 16, draw(angle)] for _ in range(n)
    ]
    law = [[[0], 0.5], [[1], 0.5]] if n == 2 and draw(st.booleans()) else None
    return {
        "clients": clients,
        "steps": [draw(st.integers(1, 2)) for _ in range(n)],
        "sizes": [draw(st.integers(1, 5)) for _ in range(n)],
        "M": draw(st.sampled_from([4.0, 8.0])),
        "theta": draw(angle),
        "T": draw(st.integers(1, 2 if n == 2 else 4)),
        "rho": draw(st.sampled_from([0.5, 1.0])),
        "law": law,
    }


def attacked(point: list[float], law: bool) -> dict[str, Any]:
    """Two clients with one and two local steps, from a box of real parameters."""
    a, b, k, m, u, theta = point
    clients = [[a, 0.0, k, np.pi / 3], [b, u, m, 1.0]]
    world = {
        "clients": clients,
        "steps": [1, 2],
        "sizes": [1, 1],
        "M": 4.0,
        "theta": theta,
        "T": 2,
        "rho": 1.0,
    }
    return {**world, "law": [[[0], 0.5], [[1], 0.5]] if law else None}


def family(law: bool) -> Attack:
    """The optimiser's instances."""
    box = ((0.05, 0.5), (0.05, 0.5), (0.0, 0.5), (0.0, 0.5), (0.0, 6.28), (0.0, 6.28))
    return Attack(box, partial(attacked, law=law), steps=40)


ALONE = {
    "clients": [[0.5, np.pi, 0.0, 0.0], [0.5, np.pi / 2, 0.0, 0.0]],
    "steps": [1, 1],
    "sizes": [1, 1],
    "M": 4.0,
    "theta": 0.0,
    "T": 1000,
    "rho": 1.0,
    "law": [[[0], 1.0]],
}
"""Client 0 takes part alone, and rests at its own minimum: only sigma~_g^2 is in the bound."""

UNEQUAL = {**ALONE, "sizes": [9, 1], "law": None}
"""Both take part, and rest where their weighted mean is least."""


def mixed() -> st.SearchStrategy[dict[str, Any]]:
    """The worlds, and one that is known to need sigma~_g^2."""
    return st.just(ALONE) | worlds()


def full() -> st.SearchStrategy[dict[str, Any]]:
    """Worlds in which every client takes part in every round, and one that needs sigma~_g^2."""
    return st.just(UNEQUAL) | worlds().map(lambda w: {**w, "law": None})
