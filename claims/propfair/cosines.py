"""PropFair with local steps on cosines: bounded losses, known constants, expectations by
enumeration.

Client i has batches of loss 1 + a cos(theta - u) +- k cos(theta - v), both signs equally likely, in
one dimension; ``world["clients"]`` lists (a, u, k, v). Floats throughout.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from fairfl.claims.propfair.rounds import front


def waves(world: dict[str, Any]) -> tuple[Any, Any]:
    """Loss and slope of client i's batch at theta: 1 + a cos(theta - u) + sign k cos(theta - v)."""

    def loss(i: int, sign: float, theta: Any) -> Any:
        a, u, k, v = world["clients"][i]
        return 1 + a * np.cos(theta - u) + sign * k * np.cos(theta - v)

    def slope(i: int, sign: float, theta: Any) -> Any:
        a, u, k, v = world["clients"][i]
        return -a * np.sin(theta - u) - sign * k * np.sin(theta - v)

    return loss, slope


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
    loss, slope = waves(world)
    n = len(world["clients"])
    values = [loss(i, 0, theta) for i in range(n)]
    slopes = [slope(i, 0, theta) for i in range(n)]
    pi = -sum(np.log(world["M"] - f) for f in values) / n
    return pi, sum(g / (world["M"] - f) for f, g in zip(values, slopes, strict=True)) / n


def biased_psi(eta: Any, L: Any, K: Any, s: Any, g: Any, e2: Any) -> tuple[Any, Any]:
    """The two sums of Psi~ for one client, s = sigma~_l^2 and g = sigma~_g^2: 3 eta/2 K^2 (s + g)
    and 3 eta/2 8 (e - 2) eta^2 L~^2 K^4 (s + g).
    """
    lead = 3 * eta / 2
    return lead * K**2 * (s + g), lead * 8 * e2 * (eta * L) ** 2 * K**4 * (s + g)


def repaired_bound(
    world: dict[str, Any], eta: float, gap: float, c: float = 1.0, apart: float = 1.0
) -> float:
    """12/((11 mu - 9) eta) (gap/T + Psi): for c = 1 of propfair/theorem-3.3-direct, for c = 3 as
    printed, without the second sum. ``apart`` is the share of sigma~_g^2.
    """
    made, M, e2 = constants(world), world["M"], np.e - 2
    tilde = 2 * made["L"] / M + 4 * made["L0"] ** 2 / M**2
    g2 = apart * (2 * c * made["between"] / M + 4 * made["L0"] * made["between"] / M**2) ** 2
    noise = [8 / M**4 * (c**2 * M**2 * k**2 + 4 * made["L0"] ** 2 * k**2) for k in made["local"]]
    steps, p = world["steps"], np.array(world["sizes"]) / sum(world["sizes"])
    full = world["law"] is None

    def a(c: list[float]) -> float:
        return float((p**2).sum() * sum(c)) if full else max(c)

    mu = float(p @ steps) if full else min(steps)
    each = [biased_psi(eta, tilde, k, s, g2, e2) for k, s in zip(steps, noise, strict=True)]
    psi = sum(a(list(column)) for column in zip(*each, strict=True))
    if c == 3:
        psi = eta / 2 * a([k**2 * (s + 2 * g2) for k, s in zip(steps, noise, strict=True)])
    return front(mu, eta) * (gap / world["T"] + psi)


def limit(world: dict[str, Any], c: float = 1.0) -> float:
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
    return float(first if c == 3 else min(first, 1 / (tilde * np.sqrt(48 * (np.e - 2) * fourth))))


def expected(world: dict[str, Any], eta: float) -> list[float]:
    """E pi'(theta_t)^2, t < T: every outcome of every batch, participation and round, as a tree."""
    loss, slope = waves(world)
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
                            local -= eta * slope(i, sign, local) / (M - loss(i, sign, local))
                        moved += world["sizes"][i] / total * local
                    share = w * chance / float(np.prod([len(r) for r in runs]))
                    new[moved] = new.get(moved, 0.0) + share
        state = new
    return found
