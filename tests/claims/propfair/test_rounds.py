"""The exact moments of federated averaging against a tree of every outcome, and the bounds."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from fairfl.claims.exact import ball
from fairfl.claims.propfair import rounds, theorem_A_1

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
    """E of the squared gradient by every sign of the noise and every draw of the participants."""
    state, squares = [(float(world["theta"]), 1.0)], []
    h, b = float(world["h"]), [float(x) for x in world["slopes"]]
    for _ in range(world["T"]):
        squares.append(sum(w * (h * at + np.mean(b)) ** 2 for at, w in state))
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
                            noise = sign * float(world["noise"][i]) ** 0.5
                            local -= eta * (h * local + b[i] + noise)
                        moved += float(world["sizes"][i]) / total * local
                    new.append((moved, w * float(chance) / np.prod([len(r) for r in runs])))
        state = new
    return squares


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


@pytest.mark.parametrize("n, s, size", [(1, 1, 3), (4, 2, 3), (6, 5, 2), (7, 3, 10)])
def test_the_mean_square_of_a_share_is_that_of_every_subset(n, s, size):
    sizes = [size, *[1] * (n - 1)]
    subsets = list(combinations(range(n), s))
    total = sum(Fraction(size, sum(sizes[i] for i in m)) ** 2 for m in subsets if 0 in m)
    squares = sum(Fraction(v, sum(sizes)) ** 2 for v in sizes)
    assert theorem_A_1.uneven(n, s, size) == (total / len(subsets), squares)
