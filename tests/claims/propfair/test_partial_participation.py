"""The shares of participants that are drawn uniformly, against every subset."""

from fractions import Fraction
from itertools import combinations

from fairfl.claims.propfair.partial_participation import uneven


def test_the_mean_square_of_a_share_is_that_of_every_subset() -> None:
    for n, s, size in ((1, 1, 3), (4, 2, 3), (6, 5, 2), (7, 3, 10)):
        sizes = [size, *[1] * (n - 1)]
        subsets = list(combinations(range(n), s))
        shares = [Fraction(size, sum(sizes[i] for i in m)) for m in subsets if 0 in m]
        squares = sum(Fraction(v, sum(sizes)) ** 2 for v in sizes)
        drawn = sum(v**2 for v in shares) / len(subsets)
        assert uneven(n, s, size) == (drawn, squares)
        assert uneven(n, s, size, full=True) == (Fraction(size, sum(sizes)) ** 2, squares)
