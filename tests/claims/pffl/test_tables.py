"""The enclosure of a variance holds the variances of all points of its box."""

from fractions import Fraction

import numpy as np
from flint import arb

from fairfl.claims.pffl.tables import HALF_DIGIT, too_much


def test_the_enclosure_holds_every_point() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        low, width = rng.random(3), 0.2 * rng.random(3)
        box = [arb(m + r / 2, r / 2) for m, r in zip(low, width, strict=True)]
        found = too_much(box, "0.350", 2)
        for x in low + width * rng.random((20, 3)):
            exact = sum(((Fraction(v) - sum(map(Fraction, x)) / 3) ** 2 for v in x), Fraction(0))
            value = Fraction("0.350") - HALF_DIGIT - exact / 2
            assert found.contains(arb(value.numerator) / value.denominator)
