"""The printed constant of theorem 3.3, a step of the crowd that refutes it, and the sawtooth: a run
of its steps, against what the claim says of them.
"""

from bisect import bisect_right

import pytest

from fairfl.claims.propfair import theorem_3_3
from fairfl.claims.propfair.rounds import front


def test_a_run_along_the_teeth_keeps_what_the_claim_says():
    """pi' piecewise linear, integrated between its kinks; a tooth is as long as K steps."""
    K, M, L, L0, c, G = (float(theorem_3_3.TOOTH[k]) for k in ("K", "M", "L", "L0", "c", "G"))
    eta = 1 / (6 * theorem_3_3.smoothness(M, L, L0) * K)
    x, half = c * eta, int(K) // 2
    low = G / (1 + x) ** half
    # what is walked down: to where |pi'| is low, and back up to G
    first, tooth = (G - low) * (1 + x) / c, (G - low) * (1 + x) / c + (G - low) / c
    kinks = [first, tooth]

    def slope(s):
        s %= tooth
        return (G - c / (1 + x) * s, low + c * (s - first))[bisect_right(kinks, s)]

    at, seen = 0.0, []
    for _ in range(3):
        seen.append(slope(at + 1e-15))
        for _ in range(int(K)):
            at += eta * slope(at)
    assert at == pytest.approx(3 * tooth, rel=1e-9)
    assert seen == pytest.approx([G] * 3, rel=1e-9)
    fall = (G + low) / 2 * tooth  # of pi in a tooth
    end = G**2 / (2 * c / (1 + x))
    bound = front(K, eta) * (fall + end / theorem_3_3.TOOTH["T"])
    (relation,) = theorem_3_3.sawtooth(theorem_3_3.TOOTH).relations
    assert float(relation.left) == pytest.approx(G**2 / bound, rel=1e-9)
