"""The exact moments of federated averaging against a tree of every outcome, and the bounds against
theory's.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fairfl.claims.exact import ball
from fairfl.claims.propfair import cosines, rounds, theorem_3_3, theorem_A_1
from fairfl.theory.bounds import fedavg_convergence, propfair_constants, propfair_convergence

WORLD = {
    "h": Fraction(1, 2),
    "L": Fraction(1),
    "slopes": [Fraction(1), Fraction(-2)],
    "noise": [Fraction(1), Fraction(4)],
    "steps": [1, 2],
    "sizes": [Fraction(3), Fraction(1)],
    "theta": Fraction(1, 3),
    "T": 3,
}
LAW = [([0], Fraction(1, 4)), ([0, 1], Fraction(3, 4))]


def enumerated(world, eta, law):
    """E of the squared gradient by every sign of the noise (+- its deviation) and every draw of the
    participants.
    """
    state, found = [(float(world["theta"]), 1.0)], []
    h, b = float(world["h"]), [float(x) for x in world["slopes"]]
    for _ in range(world["T"]):
        found.append(sum(w * (h * at + np.mean(b)) ** 2 for at, w in state))
        new = []
        for at, w in state:
            for members, chance in law:
                total = sum(float(world["sizes"][i]) for i in members)
                runs = [list(product((-1, 1), repeat=world["steps"][i])) for i in members]
                for outcome in product(*runs):
                    moved = 0.0
                    for i, signs in zip(members, outcome, strict=True):
                        local = at
                        for sign in signs:
                            local -= eta * (
                                h * local + b[i] + sign * float(world["noise"][i]) ** 0.5
                            )
                        moved += float(world["sizes"][i]) / total * local
                    new.append((moved, w * float(chance) / np.prod([len(r) for r in runs])))
        state = new
    return found


@pytest.mark.parametrize("law", [None, LAW], ids=["full", "partial"])
def test_moments_are_those_of_every_outcome(law):
    eta = 0.07
    exact = [float(v.mid()) for v in rounds.squared_gradients(WORLD, ball(Fraction(7, 100)), law)]
    assert exact == pytest.approx(enumerated(WORLD, eta, law or [([0, 1], 1.0)]), rel=1e-12)


def test_the_gap_is_the_height_above_the_minimum():
    grid = np.linspace(-20, 20, 400_001)
    h, b = 0.5, -0.5  # the mean slope
    values = h * grid**2 / 2 + b * grid
    start = h * (1 / 3) ** 2 / 2 + b / 3
    assert float(rounds.gap(WORLD).mid()) == pytest.approx(start - values.min(), abs=1e-9)


@pytest.mark.parametrize(
    "kind, participation, variant",
    [
        ("printed", "full", "printed"),
        ("printed", "partial", "printed"),
        ("max", "partial", "repaired"),
    ],
)
def test_the_bound_is_the_one_in_theory(kind, participation, variant):
    steps, sizes = WORLD["steps"], np.array([3.0, 1.0])
    p = sizes / sizes.sum()
    mu = Fraction(5, 4) if participation == "full" else Fraction(1)
    fourth = rounds.averaged([k**4 for k in steps], rounds.shares(WORLD["sizes"]), kind)
    limit = rounds.step_limit(WORLD["L"], steps, fourth)
    eta = limit / 2
    ours = rounds.bound(WORLD, rounds.gap(WORLD), eta, kind, mu)
    told = fedavg_convergence(
        gap=float(rounds.gap(WORLD).mid()),
        rounds=3,
        eta=float(eta.mid()),
        L=1.0,
        steps=steps,
        local=[1.0, 2.0],
        between=3.0,
        shares=p,
        participation=participation,
        variant=variant,
    )
    assert float(ours.mid()) == pytest.approx(told.value, rel=1e-12)
    assert float(limit.mid()) == pytest.approx(told.step_limit, rel=1e-12)


def test_the_crowd_keeps_its_mean_square():
    """rho = 1 and L = 1 make eta = 1/6; nine times in ten the noise is 11 eta^2, else 11
    eta^2/100^2.
    """
    world = theorem_A_1.crowd(100, 400)
    law = [(list(m), c) for m, c in world.pop("law")]
    world.pop("rho")
    values = rounds.squared_gradients(world, ball(Fraction(1, 6)), law)
    added = Fraction(11, 36) * (Fraction(9, 10) + Fraction(1, 10) / 100**2)
    assert float(values[-1].mid()) == pytest.approx(
        float(added / (1 - Fraction(25, 36))), rel=1e-12
    )


def test_waves_keep_within_their_constants():
    """Suprema over theta, on a grid: no larger than claimed, and close to it."""
    world = {"clients": [[0.5, 0.3, 0.25, 1.0], [0.2, 2.0, 0.5, 0.1]], "M": 4.0}
    loss, slope = cosines.waves(world)
    made = cosines.constants(world)
    grid = np.linspace(0, 2 * np.pi, 20_001)
    top = max(np.abs(slope(i, 0, grid)).max() for i in range(2))
    between = np.abs(slope(0, 0, grid) - slope(1, 0, grid)).max()
    local = [np.abs(slope(i, 1, grid) - slope(i, 0, grid)).max() for i in range(2)]
    values = [np.abs(loss(i, 1, grid) - loss(i, 0, grid)).max() for i in range(2)]
    assert [top, between, *local, *values] == pytest.approx(
        [made["L"], made["between"], *made["local"], *made["local"]], rel=1e-6
    )


def test_the_repaired_bound_of_propfair_is_the_one_in_theory():
    world = {
        "clients": [[0.5, 0.3, 0.25, 1.0], [0.2, 2.0, 0.5, 0.1]],
        "M": 4.0,
        "steps": [1, 2],
        "sizes": [1, 3],
    }
    world |= {"T": 5, "law": [[[0], 0.5], [[1], 0.5]]}
    made = cosines.constants(world)
    eta = cosines.limit(world)
    told = propfair_convergence(
        gap=0.2,
        rounds=5,
        eta=eta,
        M=4.0,
        L=made["L"],
        lipschitz=made["L0"],
        steps=[1, 2],
        local=made["local"],
        between=made["between"],
        local_loss=made["local"],
        between_loss=made["between"],
        participation="partial",
    )
    assert cosines.repaired_bound(world, eta, 0.2) == pytest.approx(told.value, rel=1e-12)
    assert eta == pytest.approx(told.step_limit, rel=1e-12)


def test_printed_smoothness_is_the_one_in_theory():
    told = propfair_constants(
        M=3.0,
        L=2.0,
        lipschitz=0.5,
        local=1.0,
        between=0.0,
        local_loss=1.0,
        between_loss=0.0,
        variant="printed",
    )
    assert float(theorem_3_3.smoothness(Fraction(3), Fraction(2), Fraction(1, 2))) == pytest.approx(
        told.smoothness
    )


def test_a_step_of_the_crowd_is_what_four_samples_make_it():
    """after_a_step at points against the formula in floats."""
    for theta in (0.3, 2.0, 4.5):
        total = 0.0
        for sign, shape in product((-1, 1), ("cos", "sin")):
            c, s = np.cos(theta), np.sin(theta)
            batch = 1 + c / 2 + sign * (c if shape == "cos" else s) / 2
            moved = theta - 0.2 * (-s / 2 + sign * (-s if shape == "cos" else c) / 2) / (4 - batch)
            total += (np.sin(moved) / 2 / (3 - np.cos(moved) / 2)) ** 2 / 4
        found = theorem_3_3.after_a_step(ball(Fraction(theta)), Fraction(1, 5))
        assert float(found.mid()) == pytest.approx(total, rel=1e-12)
