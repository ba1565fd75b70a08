"""Each trait declared True holds on many samples; each declared False has a counterexample."""

import numpy as np
import pytest

from fairfl.theory.aggregation import (
    FedAvg,
    KolmogorovMean,
    PropFair,
    RankWeighted,
    Traits,
    objectives,
)

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
SAMPLES = 1500


def sample(objective, seed):
    """Losses of four clients inside the domain, half near to each other, one in four rounded."""
    rng, box = np.random.default_rng(seed), objective.domain
    low, high = np.maximum(box.lower, -3.0) + 0.06, np.minimum(box.upper, 3.0) - 0.06
    f = low + rng.random((SAMPLES, 4)) * (high - low)
    f[1::2] = 0.1 * f[1::2] + 0.9 * f[1::2].mean(-1, keepdims=True)
    tied = np.round(f, 1)
    inside = box.contains(tied - 0.05) & box.contains(tied + 0.05)
    f[::4] = np.where(inside[::4, None], tied[::4], f[::4])
    return np.where(box.contains(f)[:, None], f, (low + high) / 2)


def worst(o, trait):
    """The largest violation: of A at ``moved`` losses, which has an expected value, or bound."""
    A, f, g, rng = o.value, sample(o, 1), sample(o, 2), np.random.default_rng(3)
    if trait == "smooth":
        # twice the jump of a directional derivative, of order h without a kink
        h = 1e-7
        return max(np.abs(A(f + h * e) - 2 * A(f) + A(f - h * e)).max() / h for e in np.eye(4))
    s = rng.random(SAMPLES)
    share, c = s[:, None], 0.3 + 1.2 * s
    # a transfer from a larger to a smaller loss (Robin Hood)
    evened = np.hstack([share * f[:, :2] + (1 - share) * f[:, 1::-1], f[:, 2:]])
    moved, expected = {
        "convex": (share * f + (1 - share) * g, s * A(f) + (1 - s) * A(g)),
        "symmetric": (f[:, [1, 0, 3, 2]], A(f)),
        "translation_equivariant": (f + share - 0.5, A(f) + s - 0.5),
        "positively_homogeneous": (c[:, None] * f, c * A(f)),
        "schur_convex": (evened, A(f)),
    }[trait]
    inside = o.domain.contains(moved)
    off = A(moved[inside]) - expected[inside]
    return (off if trait in ("convex", "schur_convex") else np.abs(off)).max()


# From where on a violation counts: rounding is below 1e-12, and 1e-4 for second differences over
# h = 1e-7 (the curvature of TERM(200), 50 h = 5e-6, included); kinks of these examples exceed 0.02.
TRAITS = dict.fromkeys(Traits.__dataclass_fields__, (1e-11, 1e-4)) | {"smooth": (1e-3, 1e-2)}
DECIDED = [
    (o, trait) for o in [*ALL, *MADE] for trait in TRAITS if getattr(o.traits, trait) is not None
]


@pytest.mark.parametrize(("objective", "trait"), DECIDED, ids=str)
def test_declared_traits_hold_and_denied_ones_fail(objective, trait):
    violation, (holds, fails) = worst(objective, trait), TRAITS[trait]
    assert violation <= holds if getattr(objective.traits, trait) else violation >= fails


def test_traits_of_special_parameters():
    assert RankWeighted.geometric(1.0).traits == FedAvg().traits
    assert RankWeighted.cvar(0.0).traits.smooth
    assert FedAvg().translate([0.5, -0.5]).traits.symmetric
    assert not PropFair(1.0).translate([0.5, -0.5]).traits.symmetric
    undecided = [t for o in ALL if isinstance(o, KolmogorovMean) for t in vars(o.traits).values()]
    assert None not in undecided  # each of the examples is decided by sympy
