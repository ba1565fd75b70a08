"""Translation, scaling, perspective, client weights: direct computation, and each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.aggregation import KolmogorovMean, NoClosedForm, RankWeighted, objectives

pytestmark = pytest.mark.whole

ALL = [example for cls in objectives().values() for example in cls.examples()]
CLOSED = [o for o in ALL if not isinstance(o, KolmogorovMean) or o.special_case is not None]


@pytest.mark.parametrize("objective", ALL, ids=repr)
def test_values_and_weights(objective):
    f, p = np.random.default_rng(41).uniform(0.4, 0.7, (50, 3)), (0.5, 0.2, 0.3)
    shift = np.array([0.1, -0.2, 0.3])
    value, weights = objective.value, objective.dual_weights
    for changed, expected, slope in (
        (objective.translate(shift), value(f - shift), weights(f - shift)),
        (objective.translate(0.2), value(f - 0.2), weights(f - 0.2)),
        (objective.scale(3.0), 3 * value(f), 3 * weights(f)),
        (objective.perspective(1.5), 1.5 * value(f / 1.5), weights(f / 1.5)),
    ):
        assert changed.value(f) == pytest.approx(expected, rel=1e-14)
        assert changed.dual_weights(f) == pytest.approx(slope, rel=1e-14)
    weighted = objective.weighted(p)
    assert objective.scale(2.0).weighted(p).value(f) == pytest.approx(
        2 * weighted.value(f), rel=1e-14
    )
    assert objective.translate(0.1).weighted(p) == weighted.translate(0.1)


NUMBER = st.one_of(st.sampled_from([0.0, 1.0, -0.5, 1 / 3, 1e-300, -1e-8, 7.0]), st.floats(-2, 2))
FACTOR = st.sampled_from([1.0, 0.1, 2.0, 10.0])
CHANGES = {
    "translate": NUMBER | st.lists(NUMBER, min_size=3, max_size=3),
    "scale": FACTOR,
    "perspective": FACTOR,
}
CHANGES["weighted"] = st.just((0.5, 0.2, 0.3))
CHAIN = st.lists(
    st.sampled_from(list(CHANGES)).flatmap(lambda c: st.tuples(st.just(c), CHANGES[c])), max_size=3
)


@given(st.sampled_from(CLOSED), CHAIN, st.integers(0, 999))
def test_the_conjugate_of_what_is_made(objective, chain, seed):
    """w.f - B(f) <= B*(w) for any w and f, equal at dual weights, after any chain of changes."""
    changed, rng = objective, np.random.default_rng(seed)
    for change, by in chain:
        changed = getattr(changed, change)(by)
    w, f = rng.choice([0.0, 1.0, 0.1, -0.5, rng.random(), 5.0], (2, 100, 3))
    w[:50], f[:50] = rng.dirichlet(np.ones(3), 50), rng.uniform(-1, 3, (50, 3))
    inside = f[:50][changed.domain.contains(f[:50])]  # where there are dual weights
    f = f[changed.domain.contains(f)]
    value, dual_weights = changed.value(f), changed.dual_weights(inside)
    assert (dual_weights >= 0).all()
    w = np.concatenate([w, dual_weights])
    for domain, allowed in (("native", f[:, 0] < np.inf), ("nonnegative", (f >= 0).all(-1))):
        try:
            bound = changed.conjugate(w, domain)
        except (ValueError, NoClosedForm) as error:
            assert "domain 'nonnegative' needs" in str(error) or "linear program" in str(error)
            continue
        assert not np.isnan(bound).any()
        gap = bound[:, None] - (w @ f.T - value)
        size = 1 + np.abs(w) @ np.abs(f.T) + np.abs(value)
        assert (gap >= -1e-9 * size)[:, allowed].all()
        assert np.isfinite(bound[100:]).all()
        met = np.arange(len(dual_weights))[allowed[: len(dual_weights)]]
        assert (gap <= 2e-9 * size)[100 + met, met].all()


def test_shifts_that_differ_need_a_linear_program():
    with pytest.raises(NoClosedForm, match="linear program"):
        RankWeighted.gini().translate([0.1, 0.3]).conjugate([0.4, 0.6], "nonnegative")
