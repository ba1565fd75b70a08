"""PropFair with local steps on cosines: bounded losses, known constants, expectations by
enumeration.

Client i has batches of loss 1 + a cos(theta - u) +- k cos(theta - v), both signs equally likely, in
one dimension; ``world["clients"]`` lists (a, u, k, v). Floats throughout.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from fairfl.claims.certificates.kernel_proof import constant
from fairfl.claims.exact import Instance, ball
from fairfl.claims.forms import Case, Relation, witness
from fairfl.claims.propfair.rounds import APART, front


def batch(world: Instance, i: int, sign: float, theta: float | np.ndarray) -> tuple[Any, Any]:
    """Loss and slope of client i's batch, 1 + a cos(theta - u) + sign k cos(theta - v); of client i
    itself for sign 0.
    """
    a, u, k, v = world["clients"][i]
    loss = 1 + a * np.cos(theta - u) + sign * k * np.cos(theta - v)
    return loss, -a * np.sin(theta - u) - sign * k * np.sin(theta - v)


class Constants(NamedTuple):
    """L, L_0, and how far gradients and losses vary between clients, and within each."""

    L: float
    L0: float
    between: float
    local: list[float]


def constants(world: Instance) -> Constants:
    """Those of the waves, exactly: suprema over theta are amplitudes."""
    a, u, k, _ = np.array(world["clients"]).T
    waves = a * np.exp(1j * u)
    between = float(np.abs(waves[:, None] - waves).max())
    return Constants(a.max(), a.max(), between, k.tolist())


def objective(world: Instance, theta: float | np.ndarray) -> tuple[Any, Any]:
    """pi and its derivative."""
    n, M = len(world["clients"]), world["M"]
    clients = [batch(world, i, 0, theta) for i in range(n)]
    return -sum(np.log(M - f) for f, _ in clients) / n, sum(g / (M - f) for f, g in clients) / n


def right_side(mu: Any, eta: Any, gap: Any, clients: list[tuple[Any, Any]], g: Any, a: Any) -> Any:
    """12/((11 mu - 9) eta) (gap + Psi~) without the second sum of Psi~, for numbers of any type;
    ``clients`` are K_i and sigma~_l,i^2, g is sigma~_g^2, ``a`` averages over the clients, ``gap``
    is (pi_0 - pi*)/T.
    """
    return front(mu, eta) * (gap + eta / 2 * a([k**2 * (s + int(APART) * g) for k, s in clients]))


def as_proved(instance: Instance) -> Case:
    """The right side for two clients of shares 1/3 and 2/3 is the value proved in ``averaging.v``;
    its sigma_l^2 is 5/9 of the printed sigma~_l^2.
    """
    names = ("at_eta", "within", "wide_there")
    eta, within, proved = (ball(constant("averaging.v", name)) for name in names)
    clients = [(k, within * s) for k, s in zip(instance["steps"], instance["noise"], strict=True)]
    gap = ball(Fraction(19, instance["T"]))
    computed = right_side(ball("8/3"), eta, gap, clients, 4, lambda values: sum(values) * 5 / 9)
    return Case((Relation(abs(computed - proved), "<=", Fraction(1, 10**9), "difference"),))


AS_PROVED = witness(
    as_proved,
    "the proof's right side at two clients is the one that instances are held to",
    {"noise": [5, 7], "steps": [2, 3], "T": 23},
)


def averages(world: Instance) -> tuple[Callable[[list[float]], float], float]:
    """a(c), and mu: of all clients, or of any that take part."""
    p = np.array(world["sizes"]) / sum(world["sizes"])
    if world["law"] is None:
        return (lambda c: float((p**2).sum() * sum(c))), float(p @ world["steps"])
    return max, min(world["steps"])


def bound(world: Instance, eta: float, gap: float, spread: float = 1.0) -> float:
    """The :func:`right_side` at a world. ``spread`` is the share of sigma~_g^2."""
    _, L0, between, local = constants(world)
    M, (a, mu) = world["M"], averages(world)
    g2 = spread * (6 * between / M + 4 * L0 * between / M**2) ** 2
    noise = [8 / M**4 * (9 * M**2 + 4 * L0**2) * k**2 for k in local]
    clients = list(zip(world["steps"], noise, strict=True))
    return right_side(mu, eta, gap / world["T"], clients, g2, a)


def step_limit(world: Instance) -> float:
    """The largest step size, 1/(6 L~ K_i)."""
    (L, L0, *_), M = constants(world), world["M"]
    tilde = 6 * L / M + 4 * L0**2 / M**2
    return float(1 / (6 * tilde * max(world["steps"])))


def expected(world: Instance, eta: float) -> list[float]:
    """E pi'(theta_t)^2, t < T: every outcome of every batch, participation and round, as a tree."""
    n, M = len(world["clients"]), world["M"]
    law = world["law"] or [[list(range(n)), 1.0]]
    state = {world["theta"]: 1.0}
    squares = []
    for _ in range(world["T"]):
        squares.append(
            sum(w * float(objective(world, theta)[1]) ** 2 for theta, w in state.items())
        )
        following: dict[float, float] = {}
        for theta, w in state.items():
            for members, chance in law:
                total = sum(world["sizes"][i] for i in members)
                runs = [list(product((-1.0, 1.0), repeat=world["steps"][i])) for i in members]
                for outcome in product(*runs):
                    moved = 0.0
                    for i, signs in zip(members, outcome, strict=True):
                        local = theta
                        for sign in signs:
                            loss, slope = batch(world, i, sign, local)
                            local -= eta * slope / (M - loss)
                        moved += world["sizes"][i] / total * local
                    share = w * chance / float(np.prod([len(r) for r in runs]))
                    following[moved] = following.get(moved, 0.0) + share
        state = following
    return squares


def premises(instance: Instance) -> dict[str, bool]:
    """Waves within the range of the losses, shares and a step size that are allowed."""
    waves = [abs(a) + abs(k) for a, _, k, _ in instance["clients"]]
    return {
        "range": max(waves) <= min(1.0, instance["M"] / 2 - 1) + 1e-12
        and all(a > 0 and k >= 0 for a, _, k, _ in instance["clients"]),
        "step size": 0 < instance["rho"] <= 1,
        "participation": instance["law"] is None or sum(c for _, c in instance["law"]) == 1,
    }


def case(instance: Instance, spread: float = 1.0) -> Case:
    """Theorem 3.3 at one world; pi* on a grid, an error against the bound. ``spread`` is the share
    of sigma~_g^2.
    """
    allowed = premises(instance)
    if not all(allowed.values()):
        return Case.outside(allowed)
    eta = instance["rho"] * step_limit(instance)
    grid = objective(instance, np.linspace(0, 2 * np.pi, 2001))[0]
    gap = float(objective(instance, instance["theta"])[0] - grid.min())
    right = bound(instance, eta, max(gap, 0.0), spread)
    left = min(expected(instance, eta))
    return Case((Relation(left, "<=", right, scale=max(right, 1e-12)),), allowed)


@st.composite
def worlds(draw: st.DrawFn) -> Instance:
    """One or two clients and local steps, few rounds: the tree of outcomes is enumerated."""
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
"""Client 0 takes part alone and starts at its minimum: the bound has only sigma~_g^2."""

UNEQUAL = {**ALONE, "sizes": [9, 1], "law": None}
"""Both take part and start at the minimum of their weighted mean."""


def mixed() -> st.SearchStrategy[Instance]:
    """The worlds, and one whose bound needs sigma~_g^2."""
    return st.just(ALONE) | worlds()


def full() -> st.SearchStrategy[Instance]:
    """Worlds where all clients take part in all rounds, and one whose bound needs sigma~_g^2."""
    return st.just(UNEQUAL) | worlds().map(lambda w: {**w, "law": None})
