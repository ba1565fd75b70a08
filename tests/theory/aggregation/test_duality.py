"""Conjugates at losses known to be optimal, and the sets of dual weights."""

import numpy as np
import pytest

from fairfl.theory import aggregation as aims

pytestmark = pytest.mark.whole

ALL = [example for cls in aims.objectives().values() for example in cls.examples()]
CLOSED = [o for o in ALL if not isinstance(o, aims.KolmogorovMean) or o.special_case is not None]
DOMAINS = ("native", "nonnegative")


@pytest.mark.parametrize("n", [2, 10, 50])
@pytest.mark.parametrize("objective", CLOSED, ids=repr)
def test_conjugate_of_a_w_whose_losses_are_known(objective, n):
    """f >= 0 maximises w.f - A(f) iff w is a dual weight vector at f, less anything where f_i is at
    its lower bound (Karush, Kuhn and Tucker).
    """
    rng = np.random.default_rng(n)
    p, shifts = rng.dirichlet(np.full(n, 5.0)), (0.0, 0.25, -0.5, -rng.uniform(0.25, 1.0, n))
    for aim in (objective, objective.weighted(p)):
        if objective.traits.positively_homogeneous:  # w.f = A(f): beyond w it is unbounded
            beyond = aim.dual_weights(rng.random(n)) * (1 + 1e-9)
            assert aim.conjugate(beyond, "nonnegative", tolerance=1e-12) == np.inf
        for shift in shifts[: 3 if isinstance(objective, aims.RankWeighted) else 4]:
            translated = aim.translate(shift)
            low = np.broadcast_to(np.maximum(translated.domain.lower, 0.0), n)
            high = np.minimum(translated.domain.upper, low + 1.0)
            f, is_lowest = low + rng.uniform(0, 0.95, n) * (high - low), rng.random(n) < 0.4
            f[is_lowest] = low[is_lowest]
            w = translated.dual_weights(f) - rng.exponential(size=n) * is_lowest
            expected = w @ f - translated.value(f)
            assert translated.conjugate(w, "nonnegative") == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5, 50])
def test_propfair_conjugate_where_the_maximum_is_at_its_corner(n):
    """prod (n w) >= 1: the maximum is at f = (M, ..., M), and A* is M (sum w - 1)."""
    rng = np.random.default_rng(n)
    M, p = 5.0, rng.dirichlet(np.full(n, 5.0))
    objective, w = aims.PropFair(M).weighted(p), p * rng.uniform(1.0, 2.0, n)
    for domain in DOMAINS:
        assert objective.conjugate(w, domain) == pytest.approx(M * (w.sum() - 1), abs=1e-12)
    f = rng.uniform(0, M, (2000, n))
    assert (f @ w - objective.value(f)).max() <= M * (w.sum() - 1) + 1e-12
    w *= np.exp(-np.log(w / p) @ p)  # prod (w/p)^p = 1: below, w.f - A(f) grows without end
    assert objective.conjugate(w * 0.999) == objective.conjugate(-w) == np.inf


def test_rank_weighted_conjugate_under_client_weights_by_all_subsets():
    """w(S) <= W(p(S)) for all subsets S: the core of the distorted probability."""
    rng = np.random.default_rng(14)
    n, seen = 4, set()
    subsets = [[i for i in range(n) if s >> i & 1] for s in range(1, 2**n)]
    for objective in (
        aims.RankWeighted.gini(),
        aims.RankWeighted.cvar(0.6),
        aims.RankWeighted.geometric(0.4),
    ):
        caps = np.concatenate([[0], np.cumsum(objective.rank_weights(n))])
        at = np.arange(n + 1) / n
        if objective.profile == "cvar":
            at, caps = np.array([0, 0.4, 1]), np.array([0, 1, 1])
        for k in range(100):
            p = rng.dirichlet(np.full(n, 4.0)) if k % 4 else np.full(n, 1 / n)
            weighted = objective.weighted(p)
            w = (
                rng.dirichlet(np.full(n, 6.0))
                if rng.random() < 0.5
                else weighted.dual_weights(rng.random(n))
            )
            w = 0.7 * w + 0.3 * weighted.dual_weights(rng.random(n))
            slack = min(np.interp(p[s].sum(), at, caps) - w[s].sum() for s in subsets)
            assert np.isfinite(weighted.conjugate(w, tolerance=1e-9)) == (slack >= -1e-9)
            assert np.isfinite(weighted.conjugate(0.9 * w, "nonnegative")) == (
                min(np.interp(p[s].sum(), at, caps) - 0.9 * w[s].sum() for s in subsets) >= -1e-9
            )
            seen.add(bool(slack >= -1e-9))
    assert seen == {True, False}


def finite(objective, w, domain="native"):
    """Which dual weights have a finite conjugate: Table 1's column."""
    return np.isfinite(objective.conjugate(w, domain))


def test_sets_of_dual_weights_in_table_1():
    """Where Table 1 states the set on which A* is finite, and where it states something else."""
    rng = np.random.default_rng(15)
    w = np.concatenate(
        [rng.random((300, 3)), rng.dirichlet(np.ones(3), 200), np.full((1, 3), 1 / 3)]
    )
    # AFL's row is that of f >= 0
    assert (finite(aims.AFL(), w, "nonnegative") == (w.sum(-1) <= 1 + 1e-10)).all()
    assert not finite(aims.AFL(), [0.2, 0.2])
    for q in (0.5, 1.0, 3.0):
        row = np.linalg.norm(w, (q + 1) / q, axis=-1) <= 3 ** (-1 / (q + 1)) * (1 + 1e-10)
        assert (finite(aims.QFFL(q), w) == row).all() and row.any() and not row.all()
    # FedAvg's row is that of R^n, and not that of f >= 0, the domain of q-FFL's row
    assert finite(aims.FedAvg(), w).sum() == 1 and finite(aims.FedAvg(), [0.1, 0.2], "nonnegative")
    # on the simplex, though proportional to exp(alpha f) for one f only
    assert finite(aims.TERM(1.0), [0.7, 0.3])
    # prod (n w) = 2.24 > 1: finite, against Table 1's "= 1"
    assert finite(aims.PropFair(2.0), [0.7, 0.8]) and not finite(aims.PropFair(2.0), [0.4, 0.5])
    assert finite(aims.PropFair(2.0), [0.4, -5.0], "nonnegative")


def test_no_closed_form_says_so():
    case = next(o for o in ALL if isinstance(o, aims.KolmogorovMean) and not o.traits.convex)
    with pytest.raises(aims.NoClosedForm, match="linear, exponential, power and logarithmic"):
        case.conjugate([0.5, 0.5])
