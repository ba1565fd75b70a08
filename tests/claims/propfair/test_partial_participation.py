"""The largest eigenvalue under drawn participants: with all of them it is sum p_i^2, at x = p."""

from fractions import Fraction

from fairfl.claims.propfair.partial_participation import largest


def test_with_all_clients_the_bound_is_reached() -> None:
    for sizes in ([1, 1], [3, 1, 4], [2, 7, 1, 8]):
        p = [Fraction(n, sum(sizes)) for n in sizes]
        for scale in (1, 2, Fraction(1, 3)):
            x = [scale * v for v in p]
            instance = {"sizes": [Fraction(n) for n in sizes], "x": x, "s": len(sizes)}
            (relation,) = largest(instance).relations
            assert relation.left == relation.right
