"""Fenchel-Young, biconjugation, conjugates against numeric maximisation, and the sets of dual
weights.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from fairfl.theory.aggregation import (
    AFL,
    QFFL,
    TERM,
    FedAvg,
    KolmogorovMean,
    NoClosedForm,
    PropFair,
    RankWeighted,
    objectives,
)

ALL = [example for cls in objectives().values() for example in cls.examples()]
CLOSED = [o for o in ALL if not isinstance(o, KolmogorovMean) or o.special_case is not None]
DOMAINS = ("native", "nonnegative")
# its t^2 is naive: 1e-200 underflows
LOSSES = (st.floats(0, 0.999), st.integers(0, 999).map(lambda k: k / 1000))


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("objective", CLOSED, ids=repr)
@given(data=st.data())
def test_fenchel_young(objective, domain, data):
    """w.f <= A(f) + A*(w) for all w, with equality at the dual weights: so A is the conjugate of
    A*. Under client weights too.
    """
    n = data.draw(st.integers(1, 6))
    losses = hnp.arrays(np.float64, n, elements=LOSSES[isinstance(objective, KolmogorovMean)])
    if data.draw(st.booleans()):
        p = np.array(data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)))
        objective = objective.weighted(p / p.sum())
    f, w = data.draw(losses), data.draw(hnp.arrays(np.float64, n, elements=st.floats(-1, 2)))
    value, dual = objective.value_and_dual_weights(f)
    tolerance = 1e-9 * (1 + abs(w).sum())
    assert w @ f <= value + objective.conjugate(w, domain) + tolerance
    assert (dual >= 0).all() and objective.dual_constraint(dual, domain)
    scale = 1 + dual.sum() * (objective.domain.upper if np.isfinite(objective.domain.upper) else 1)
    gap = value + objective.conjugate(dual, domain) - dual @ f
    assert gap == pytest.approx(0, abs=1e-12 * scale)
    # the inequality once more where the conjugate is finite more often than not: near the dual
    # weights of another f
    other = objective.dual_weights(data.draw(losses))
    assert other @ f <= value + objective.conjugate(other, domain) + 1e-12 * (scale + other.sum())
    assert np.isfinite(objective.conjugate(other, domain))


def test_equality_holds_on_the_whole_native_domain():
    rng = np.random.default_rng(11)
    f = rng.normal(0, 3, (500, 5))
    for objective in (FedAvg(), AFL(), TERM(2.0), RankWeighted.gini(), PropFair(2.0)):
        here = np.minimum(f, 1.9) if isinstance(objective, PropFair) else f
        value, dual = objective.value_and_dual_weights(here)
        assert value + objective.conjugate(dual) - (dual * here).sum(-1) == pytest.approx(
            np.zeros(500), abs=1e-11
        )


# -- conjugates: TERM, PropFair and q-FFL on f >= 0 are in test_conjugates_in_high_precision


@pytest.mark.parametrize("n", [1, 2, 5, 50])
def test_propfair_conjugate_where_the_maximum_is_at_its_corner(n):
    """prod (n w) >= 1: the maximum is at f = (M, ..., M), and A* is M (sum w - 1)."""
    rng = np.random.default_rng(n)
    M, p = 5.0, rng.dirichlet(np.full(n, 5.0))
    objective, w = PropFair(M).weighted(p), p * rng.uniform(1.0, 2.0, n)
    for domain in DOMAINS:
        assert objective.conjugate(w, domain) == pytest.approx(M * (w.sum() - 1), abs=1e-12)
    f = rng.uniform(0, M, (2000, n))
    assert (f @ w - objective.value(f)).max() <= M * (w.sum() - 1) + 1e-12


def test_propfair_native_conjugate_is_the_limit_of_bounded_ones():
    """sup over -R <= f <= M: for prod (n w_i) >= 1 it is C.21's value for all R; else it grows with
    R, to infinity.
    """
    rng = np.random.default_rng(12)
    aim = PropFair(2.0)
    for _ in range(10):
        w = rng.uniform(0.05, 0.8, 3)
        sups = []
        for R in (0.0, 10.0, 1000.0):
            sups.append(aim.translate(R).conjugate(w, "nonnegative") - R * w.sum())  # f + R >= 0
        if np.log(3 * w).sum() >= 0:
            assert sups == pytest.approx([aim.conjugate(w)] * 3, abs=1e-9)
        else:
            assert aim.conjugate(w) == np.inf and sups[2] > sups[1] + 0.001 and sups[1] >= sups[0]
    assert aim.conjugate([0.0, 5.0]) == np.inf and aim.conjugate([-1.0, -1.0]) == np.inf


def linear_program(ranked, w, lower):
    """sup of w.f - sum_k ranked_k f_[k] over f >= lower (None: no bound), |f| <= 50, by HiGHS.

    A as the mixture of means of the k largest, each the least over t of k t + sum_i (f_i - t)+
    (Rockafellar, Uryasev).
    """
    n = len(w)
    steps = ranked - np.append(ranked[1:], 0.0)
    used = np.flatnonzero(steps > 0)
    m = len(used)
    size = n + m + m * n  # f, t_k, s_ki
    cost = np.zeros(size)
    cost[:n] = -w
    rows = []
    for j, k in enumerate(used):
        cost[n + j] = steps[k] * (k + 1)
        for i in range(n):
            at = n + m + j * n + i
            cost[at] = steps[k]
            row = np.zeros(size)
            row[i], row[n + j], row[at] = 1, -1, -1
            rows.append(row)
    low = -50.0 if lower is None else lower
    bounds = [(low, 50.0)] * n + [(None, None)] * m + [(0, None)] * (m * n)
    found = optimize.linprog(
        cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=bounds, method="highs"
    )
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize("lower", [None, 0.0])
@pytest.mark.parametrize(
    "objective",
    [AFL(), FedAvg(), RankWeighted.gini(), RankWeighted.cvar(0.5), RankWeighted.geometric(0.5)],
    ids=repr,
)
def test_polyhedral_conjugates_against_a_linear_program(objective, lower):
    """The indicator: 0 where the bounded supremum is 0, infinite where it grows with the bound
    (here to 50 times).
    """
    rng = np.random.default_rng(13)
    ranked = {"afl": np.eye(5)[0], "fedavg": np.full(5, 0.2)}.get(objective.name)
    ranked = objective.rank_weights(5) if ranked is None else ranked
    domain = "native" if lower is None else "nonnegative"
    seen = set()
    for k in range(24):
        w = np.mean([rng.permutation(ranked) for _ in range(3)], axis=0)  # in the permutahedron
        if k % 3 == 1:
            w = rng.dirichlet(np.ones(5) * 3)
        if k % 3 == 2:
            w = w * rng.uniform(0.5, 1.2) - 0.1 * (rng.random(5) < 0.2)
        found, claimed = linear_program(ranked, w, lower), objective.conjugate(w, domain)
        assert (claimed == 0) == (found <= 1e-9), (w, found, claimed)
        assert claimed == 0 or (claimed == np.inf and found > 1e-6)
        seen.add(bool(claimed == 0))
    assert seen == {True, False}


def test_rank_weighted_conjugate_under_client_weights_by_all_subsets():
    """w(S) <= W(p(S)) for all subsets S, tried one by one: the core of the distorted
    probability.
    """
    rng = np.random.default_rng(14)
    n, seen = 4, set()
    subsets = [[i for i in range(n) if s >> i & 1] for s in range(1, 2**n)]
    for objective in (RankWeighted.gini(), RankWeighted.cvar(0.6), RankWeighted.geometric(0.4)):
        caps = np.concatenate([[0], np.cumsum(objective.rank_weights(n))])
        at = np.arange(n + 1) / n
        if objective.profile == "cvar":
            at, caps = np.array([0, 0.4, 1]), np.array([0, 1, 1])
        for _ in range(100):
            p = rng.dirichlet(np.full(n, 4.0))
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


# -- Table 1


def test_dual_constraints_in_table_1():
    """Where Table 1 states the set on which A* is finite, and where it states something else."""
    rng = np.random.default_rng(15)
    w = np.concatenate(
        [rng.random((300, 3)), rng.dirichlet(np.ones(3), 200), np.full((1, 3), 1 / 3)]
    )
    afl = AFL().dual_constraint
    assert (afl(w, "nonnegative") == (w.sum(-1) <= 1 + 1e-10)).all()  # AFL's row: that of f >= 0
    assert not afl([0.2, 0.2], "native") and afl([0.2, 0.2], "nonnegative")
    for q in (0.5, 1.0, 3.0):
        row = np.linalg.norm(w, (q + 1) / q, axis=-1) <= 3 ** (-1 / (q + 1)) * (1 + 1e-10)
        assert (QFFL(q).dual_constraint(w) == row).all() and row.any() and not row.all()
    assert FedAvg().dual_constraint(w).sum() == 1  # FedAvg's row: that of R^n,
    # not that of f >= 0, the domain of q-FFL's row
    assert FedAvg().dual_constraint([0.1, 0.2], "nonnegative")
    # on the simplex, though proportional to exp(alpha f) for one f only
    assert TERM(1.0).dual_constraint([0.7, 0.3])
    # prod (n w) = 2.24 > 1: finite, against Table 1's "= 1"
    assert PropFair(2.0).dual_constraint([0.7, 0.8])
    assert not PropFair(2.0).dual_constraint([0.4, 0.5]) and PropFair(2.0).dual_constraint(
        [0.4, -5.0], "nonnegative"
    )
    for objective in ALL:
        assert objective.dual_constraint.native and objective.dual_constraint.nonnegative


def test_no_closed_form_says_so():
    case = next(o for o in ALL if isinstance(o, KolmogorovMean) and not o.traits.convex)
    with pytest.raises(NoClosedForm, match="linear, exponential, power and logarithmic"):
        case.conjugate([0.5, 0.5])
