"""Fenchel-Young, biconjugation, conjugates against numeric maximisation, and the sets of dual
weights.
"""

import mpmath as mp
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
P4 = (0.1, 0.4, 0.3, 0.2)
WEIGHTED = [o.weighted(P4) for o in CLOSED]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("objective", CLOSED, ids=repr)
@given(data=st.data())
def test_fenchel_young(objective, domain, data):
    """w.f <= A(f) + A*(w) for all w, with equality at the dual weights."""
    n = data.draw(st.integers(1, 6))
    f = data.draw(hnp.arrays(np.float64, n, elements=LOSSES[isinstance(objective, KolmogorovMean)]))
    w = data.draw(hnp.arrays(np.float64, n, elements=st.floats(-1, 2)))
    value, dual = objective.value_and_dual_weights(f)
    tolerance = 1e-9 * (1 + abs(w).sum())
    assert w @ f <= value + objective.conjugate(w, domain) + tolerance
    assert (dual >= 0).all()
    scale = 1 + dual.sum() * (objective.domain.upper if np.isfinite(objective.domain.upper) else 1)
    assert value + objective.conjugate(dual, domain) - dual @ f == pytest.approx(
        0, abs=1e-12 * scale
    )
    assert objective.dual_constraint(dual, domain)
    # the inequality once more where the conjugate is finite more often than not: near the dual
    # weights of another f
    other = objective.dual_weights(
        data.draw(hnp.arrays(np.float64, n, elements=LOSSES[isinstance(objective, KolmogorovMean)]))
    )
    assert other @ f <= value + objective.conjugate(other, domain) + 1e-12 * (scale + other.sum())
    assert np.isfinite(objective.conjugate(other, domain))


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("objective", WEIGHTED, ids=repr)
def test_fenchel_young_under_client_weights(objective, domain):
    rng = np.random.default_rng(10)
    f = np.concatenate(
        [rng.uniform(0, 0.99, (400, 4)), np.round(rng.uniform(0, 0.99, (100, 4)), 1) * 0.9]
    )
    value, dual = objective.value_and_dual_weights(f)
    assert value + objective.conjugate(dual, domain) - (dual * f).sum(-1) == pytest.approx(
        np.zeros(500), abs=1e-11
    )
    cross = value[:, None] + objective.conjugate(dual, domain)[None, :] - f @ dual.T
    assert cross.min() >= -1e-10


def test_equality_holds_on_the_whole_native_domain():
    rng = np.random.default_rng(11)
    f = rng.normal(0, 3, (500, 5))
    for objective in (FedAvg(), AFL(), TERM(2.0), RankWeighted.gini(), PropFair(2.0)):
        here = np.minimum(f, 1.9) if isinstance(objective, PropFair) else f
        value, dual = objective.value_and_dual_weights(here)
        assert value + objective.conjugate(dual) - (dual * here).sum(-1) == pytest.approx(
            np.zeros(500), abs=1e-11
        )


# -- the conjugate against a numeric maximisation that knows the value alone


def term_sup_in_high_precision(alpha, w):
    """sup over f in R^n of w.f - A(f) by Newton steps with 40 digits; f_n = 0, as adding a constant
    changes nothing.
    """
    with mp.workdps(40):
        n, a, w = len(w), mp.mpf(alpha), [mp.mpf(x) for x in w]
        w = [x / mp.fsum(w) for x in w]
        f = [mp.mpf(0)] * n

        def gain(f):
            return mp.fdot(w, f) - mp.log(mp.fsum(mp.e ** (a * x) for x in f) / n) / a

        for _ in range(100):
            e = [mp.e ** (a * x) for x in f]
            total = mp.fsum(e)
            s = [x / total for x in e]
            slope = [w[i] - s[i] for i in range(n - 1)]
            if max(map(abs, slope)) < mp.mpf(10) ** -25:
                break
            # the Hessian of A in f_1..f_(n-1) is a (diag(s) - s s'), its inverse (diag(1/s) +
            # 1/s_n) / a
            common = mp.fsum(slope) / s[-1]
            step = [(slope[i] / s[i] + common) / a for i in range(n - 1)]
            length, before = mp.mpf(1), gain(f)
            while True:
                moved = [f[i] + length * step[i] for i in range(n - 1)] + [mp.mpf(0)]
                if gain(moved) >= before:
                    break
                length /= 2
            f = moved
        else:
            raise AssertionError("Newton did not converge")
        return float(gain(f))


@pytest.mark.parametrize(("n", "alpha"), [(2, 0.1), (3, 30.0), (10, 2.0), (25, 1.0), (50, 1.0)])
def test_term_conjugate_in_high_precision(n, alpha):
    w = np.random.default_rng(n).dirichlet(np.ones(n))
    assert TERM(alpha).conjugate(w) == pytest.approx(
        term_sup_in_high_precision(alpha, w), abs=1e-10
    )


def numeric_sup(value, slope, w, lower, upper):
    """The largest w.f - A(f) found on the box; A convex, so the rounding of the iterate enters
    squared.
    """
    n = len(w)
    best = -np.inf
    for start in (np.full(n, 0.5), np.random.default_rng(0).uniform(0.2, 0.8, n)):
        f = np.clip(lower + start * np.minimum(upper - lower, 2.0), lower, upper)
        for _ in range(3):  # restarts: a fresh curvature estimate digs deeper
            found = optimize.minimize(
                lambda f: value(f) - w @ f,
                f,
                jac=lambda f: slope(f) - w,
                method="L-BFGS-B",
                bounds=list(zip(lower, upper, strict=True)),
                options={
                    "maxiter": 20000,
                    "maxfun": 50000,
                    "ftol": 1e-17,
                    "gtol": 1e-13,
                    "maxcor": 40,
                },
            )
            f = found.x
            best = max(best, -found.fun)
    return best


def plain_term(alpha, p):
    def value(f):
        return np.log(p @ np.exp(alpha * f)) / alpha

    def slope(f):
        e = p * np.exp(alpha * f)
        return e / e.sum()

    return value, slope


def plain_propfair(M, p):
    def value(f):
        return M - np.exp(p @ np.log(M - f))

    def slope(f):
        return p * np.exp(p @ np.log(M - f)) / (M - f)

    return value, slope


def plain_qffl(q, p):
    def value(f):
        return (p @ f ** (q + 1)) ** (1 / (q + 1))

    def slope(f):
        return p * (f / value(f)) ** q

    return value, slope


@pytest.mark.parametrize("n", [1, 2, 5, 20, 50])
def test_term_conjugate_on_nonnegative_losses(n):
    rng = np.random.default_rng(n)
    for alpha, p in ((1.0, np.full(n, 1 / n)), (4.0, rng.dirichlet(np.full(n, 5.0)))):
        objective = TERM(alpha) if alpha == 1 else TERM(alpha).weighted(p)
        for total in (0.3, 0.9):
            w = total * rng.dirichlet(np.ones(n)) - (rng.random(n) < 0.2) * 0.05
            found = numeric_sup(*plain_term(alpha, p), w, np.zeros(n), np.full(n, 100.0))
            assert objective.conjugate(w, "nonnegative") == pytest.approx(found, abs=1e-10)
        assert objective.conjugate(1.001 * p, "nonnegative") == np.inf


@pytest.mark.parametrize("n", [1, 2, 5, 20, 50])
def test_propfair_conjugate_on_nonnegative_losses(n):
    rng = np.random.default_rng(n)
    for M, p in ((2.0, np.full(n, 1 / n)), (5.0, rng.dirichlet(np.full(n, 5.0)))):
        objective = PropFair(M) if M == 2 else PropFair(M).weighted(p)
        seen = 0
        for _ in range(6):
            w = rng.uniform(-0.2, 1.1, n) * p
            if (w > 0).all() and p @ np.log(w / p) >= 0:
                continue  # attained at the corner f = (M, ..., M), where nothing is smooth: below
            seen += 1
            found = numeric_sup(*plain_propfair(M, p), w, np.zeros(n), np.full(n, M * (1 - 1e-6)))
            assert objective.conjugate(w, "nonnegative") == pytest.approx(found, abs=1e-10)
        assert seen
        w = p * rng.uniform(1.0, 2.0, n)  # prod >= 1: the maximum is at f = M
        assert objective.conjugate(w, "nonnegative") == pytest.approx(M * (w.sum() - 1), abs=1e-12)
        assert objective.conjugate(w) == objective.conjugate(w, "nonnegative")
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


@pytest.mark.parametrize("n", [1, 2, 5, 20, 50])
@pytest.mark.parametrize("q", [0.25, 1.0, 4.0])
def test_qffl_conjugate_is_the_unit_ball_found_numerically(n, q):
    """max over f >= 0 with A(f) = 1 of w.f, found in the coordinates log f; the conjugate jumps
    where it is one.
    """
    rng = np.random.default_rng(n)
    for p in (np.full(n, 1 / n), rng.dirichlet(np.full(n, 5.0))):
        objective = QFFL(q).weighted(p)
        w = p * rng.uniform(0.2, 2.0, n)

        def loss(u, w=w, p=p):
            f = np.exp(u)
            mean = p @ f ** (q + 1)
            return np.log(mean) / (q + 1) - np.log(w @ f), p * f ** (q + 1) / mean - w * f / (w @ f)

        found = optimize.minimize(
            loss, np.zeros(n), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}
        )
        support = np.exp(-found.fun)
        assert objective.conjugate(w / support * (1 - 1e-9)) == 0
        assert objective.conjugate(w / support * (1 + 1e-9)) == np.inf
        # the same number from the formula of the paper, (15), n^(1/(q+1)) ||w||_r, where p = 1/n
        r = (q + 1) / q
        if p[0] == 1 / n:
            assert n ** (1 / (q + 1)) * np.linalg.norm(w, r) == pytest.approx(support, rel=1e-10)


def test_the_printed_qffl_conjugate_is_wrong_for_negative_weights():
    """(15) says infinity for w = (-1, -1); over f >= 0 the supremum is 0, at f = 0."""
    for objective in (QFFL(1.0), QFFL(0.0)):
        assert objective.conjugate([-1.0, -1.0]) == 0
        f = np.random.default_rng(0).exponential(size=(1000, 2))
        assert (-f.sum(-1) - objective.value(f)).max() <= 0


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


# -- biconjugation


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("objective", CLOSED, ids=repr)
def test_biconjugation_for_two_clients(objective, domain):
    """A(f) = sup over w of w.f - A*(w), on a grid w = s (t, 1-t) of step 1/500 in s and t, to some
    steps.
    """
    s, t = np.linspace(0, 3, 1501)[:, None], np.linspace(0, 1, 501)[None, :]
    w = np.stack([s * t, s * (1 - t)], -1).reshape(-1, 2)
    conjugate = objective.conjugate(w, domain)
    finite = np.isfinite(conjugate)
    for f in ([0.3, 0.8], [0.5, 0.5], [0.0, 0.6], [0.9, 0.1]):
        sup = (w[finite] @ np.array(f) - conjugate[finite]).max()
        assert sup <= objective.value(f) + 1e-9
        assert sup == pytest.approx(objective.value(f), abs=6e-3)


# -- sets of dual weights


def test_dual_set_of_afl():
    found = AFL().dual_set([1.0, 3.0, 3.0])
    assert (
        not found.unique and found.canonical.tolist() == [0, 0.5, 0.5] and "[1, 2]" in found.words
    )
    inside = found.contains(
        [[0, 0.5, 0.5], [0, 1, 0], [0.1, 0.4, 0.5], [0, 1.1, -0.1], [0, 0.4, 0.4]]
    )
    assert inside.tolist() == [True, True, False, False, False]
    assert AFL().dual_set([1.0, 3.0, 2.0]).unique


def test_dual_set_of_rank_weights_is_a_face_of_the_permutahedron():
    aim = RankWeighted(weights=(0.5, 0.3, 0.2))
    found = aim.dual_set([2.0, 1.0, 1.0])
    assert found.canonical == pytest.approx([0.5, 0.25, 0.25]) and not found.unique
    assert found.contains(
        [[0.5, 0.3, 0.2], [0.5, 0.22, 0.28], [0.5, 0.31, 0.19], [0.4, 0.3, 0.3]]
    ).tolist() == [True, True, False, False]
    # equal weights: nothing to share
    assert RankWeighted(weights=(0.6, 0.2, 0.2)).dual_set([2.0, 1.0, 1.0]).unique
    assert not RankWeighted(weights=(0.6, 0.2, 0.2)).dual_set([1.0, 1.0, 0.5]).unique
    assert not RankWeighted.cvar(0.5).weighted([0.25, 0.5, 0.25]).dual_set([1.0, 1.0, 2.0]).unique
    # both past the tail
    assert RankWeighted.cvar(0.5).weighted([0.3, 0.1, 0.6]).dual_set([1.0, 1.0, 2.0]).unique


def test_dual_sets_at_the_boundary_and_of_smooth_objectives():
    assert TERM(1.0).dual_set([0.0, 1.0]).unique
    # the weight of client 0 may be lowered
    assert not TERM(1.0).dual_set([0.0, 1.0], "nonnegative").unique
    lower = TERM(1.0).dual_weights([0.0, 1.0]) * [0.3, 1.0]
    assert TERM(1.0).dual_set([0.0, 1.0], "nonnegative").contains(lower)
    assert not TERM(1.0).dual_set([0.0, 1.0]).contains(lower)
    assert QFFL(1.0).dual_set([0.0, 1.0]).unique and not QFFL(1.0).dual_set([0.0, 0.0]).unique
    # 2^(-1/2)
    assert QFFL(1.0).dual_set([0.0, 0.0]).contains([[0.7, 0.0], [0.8, 0.0]]).tolist() == [
        True,
        False,
    ]
    assert not QFFL(0.0).dual_set([0.0, 1.0]).unique
    assert not PropFair(1.0).dual_set([1.0, 1.0]).unique and PropFair(1.0).dual_set(
        [1.0, 1.0]
    ).contains([5.0, 0.1])
    with pytest.raises(ValueError, match="one vector"):
        AFL().dual_set([[1.0, 2.0]])


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
