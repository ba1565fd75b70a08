"""Each trait declared True holds on many samples, and each declared False has a counterexample
among them.
"""

import numpy as np
import pytest

from fairfl.theory.aggregation import FedAvg, KolmogorovMean, PropFair, RankWeighted, objectives

ALL = [example for cls in objectives().values() for example in cls.examples()]
P4 = (0.1, 0.4, 0.3, 0.2)
MADE = [
    o
    for base in [example for cls in objectives().values() for example in list(cls.examples())[-2:]]
    for o in (
        base.weighted(P4),
        base.translate(0.25),
        base.translate([0.0, 0.2, 0.1, 0.05]),
        base.scale(3.0),
        base.perspective(1.5),
        base.weighted(P4).scale(0.5).translate(0.1),
    )
]
SAMPLES = 4000


def sample(objective, seed, count=SAMPLES):
    """Loss vectors of four clients well inside the domain, one in four rounded, so that there are
    ties.
    """
    rng = np.random.default_rng(seed)
    low = np.maximum(objective.domain.lower, -3.0) + 0.06
    high = np.minimum(objective.domain.upper, 3.0) - 0.06
    f = (
        rng.uniform(low, high, (count, 4))
        if np.ndim(low) == 0 and np.ndim(high) == 0
        else (np.asarray(low) + rng.random((count, 4)) * (np.asarray(high) - np.asarray(low)))
    )
    near = f.mean(-1, keepdims=True) + 0.1 * (f - f.mean(-1, keepdims=True))
    f[1::4] = near[1::4]
    tied = np.round(f, 1)
    inside = objective.domain.contains(tied - 0.05) & objective.domain.contains(tied + 0.05)
    f[::4] = np.where(inside[::4, None], tied[::4], f[::4])
    return f[objective.domain.contains(f)]


def worst_convex(o):
    f, g = sample(o, 1), sample(o, 2)
    count = min(len(f), len(g))
    f, g = f[:count], g[:count]
    s = np.random.default_rng(3).random((count, 1))
    return (o.value(s * f + (1 - s) * g) - s[:, 0] * o.value(f) - (1 - s[:, 0]) * o.value(g)).max()


def worst_symmetric(o):
    f = sample(o, 4)
    g = f[:, [1, 0, 3, 2]]
    both = o.domain.contains(g)
    return np.abs(o.value(f[both]) - o.value(g[both])).max()


def worst_translation_equivariant(o):
    f = sample(o, 5)
    t = np.random.default_rng(6).uniform(-0.5, 0.5, (len(f), 1))
    both = o.domain.contains(f + t)
    return np.abs(o.value((f + t)[both]) - o.value(f[both]) - t[both, 0]).max()


def worst_positively_homogeneous(o):
    f = sample(o, 7)
    c = np.random.default_rng(8).uniform(0.3, 1.5, (len(f), 1))
    both = o.domain.contains(c * f)
    return np.abs(o.value((c * f)[both]) - c[both, 0] * o.value(f[both])).max()


def worst_smooth(o):
    """Twice the jump of a directional derivative: (A(f+he) - 2A(f) + A(f-he)) / h, of order h
    without a kink.
    """
    f, h = sample(o, 9), 1e-7
    return max(
        np.abs(o.value(f + h * e) - 2 * o.value(f) + o.value(f - h * e)).max() / h
        for e in np.eye(4)
    )


def worst_schur_convex(o):
    """f after a transfer from a larger to a smaller loss (Robin Hood) is majorised by f: A must not
    rise.
    """
    f = sample(o, 10)
    g = f.copy()
    share = np.random.default_rng(11).uniform(0, 1, len(f))
    g[:, 0] = share * f[:, 0] + (1 - share) * f[:, 1]
    g[:, 1] = share * f[:, 1] + (1 - share) * f[:, 0]
    both = o.domain.contains(g)
    return (o.value(g[both]) - o.value(f[both])).max()


# For each trait the worst violation found, and from where on it counts: rounding is below 1e-12,
# and 1e-4 for second differences over h = 1e-7 (the curvature of TERM(200), 50 h = 5e-6, included);
# kinks of these examples exceed 0.02.
CHECKS = {
    "convex": (worst_convex, 1e-11, 1e-4),
    "symmetric": (worst_symmetric, 1e-11, 1e-4),
    "translation_equivariant": (worst_translation_equivariant, 1e-11, 1e-4),
    "positively_homogeneous": (worst_positively_homogeneous, 1e-11, 1e-4),
    "smooth": (worst_smooth, 1e-3, 1e-2),
    "schur_convex": (worst_schur_convex, 1e-11, 1e-4),
}


DECIDED = [
    (o, trait) for o in [*ALL, *MADE] for trait in CHECKS if getattr(o.traits, trait) is not None
]


@pytest.mark.parametrize(("objective", "trait"), DECIDED, ids=str)
def test_declared_traits_hold_and_denied_ones_fail(objective, trait):
    declared = getattr(objective.traits, trait)
    worst, holds, fails = CHECKS[trait]
    found = worst(objective)
    if declared:
        assert found <= holds
    else:
        assert found >= fails


def test_every_trait_is_seen_both_ways():
    """Else one side of the test above would be idle."""
    for trait in CHECKS:
        seen = {getattr(o.traits, trait) for o in [*ALL, *MADE]}
        assert {True, False} <= seen, trait


def test_traits_of_special_parameters():
    assert RankWeighted.geometric(1.0).traits == FedAvg().traits
    assert RankWeighted.cvar(0.0).traits.smooth
    assert FedAvg().translate([0.5, -0.5]).traits.symmetric
    assert not PropFair(1.0).translate([0.5, -0.5]).traits.symmetric
    undecided = [t for o in ALL if isinstance(o, KolmogorovMean) for t in vars(o.traits).values()]
    assert None not in undecided  # each of the examples is decided by sympy
