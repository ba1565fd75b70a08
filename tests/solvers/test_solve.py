"""solve() on a finite X, on laws, and with an η that stays within (0.1, 0.9), where thresholds run
to ±inf and optima randomise: what every solution must satisfy, whatever the federation.
"""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from populations import continuous_model, finite_model
from scipy import integrate, stats
from strategies import (
    PROBIT,
    federations,
    finite_federations,
    laws,
    local_budgets,
    mixtures,
    normals,
)

import fairfl as ff
from fairfl.solvers.solution import FINITE_TOLERANCE, LAW_TOLERANCE

FEWER = settings(max_examples=max(5, settings.default.max_examples // 5))  # type: ignore[union-attr]
SCHEMES = ("cfl", "lft_ensemble", "lft_fedavg")
LOCAL = ("lft_ensemble", "lft_fedavg")
EPS = st.one_of(st.sampled_from([0.0, 1e-9, 1e-3, 1.0]), st.integers(1, 20).map(lambda k: k / 50))
SMOOTH = st.one_of(normals(), mixtures())


def clients_of(fed: ff.Federation) -> list[ff.Client]:
    table = zip(continuous_model(fed).laws, fed.q, fed.weight, strict=True)
    return [ff.Client(laws, q=float(q), weight=float(w)) for laws, q, w in table]


KINDS = {
    "finite": finite_federations(),
    "laws": federations(law=SMOOTH, max_clients=3),
    "any law": federations(law=laws(), max_clients=3),
    "bounded eta": federations(law=SMOOTH, max_clients=3, eta="shared").map(
        lambda fed: ff.Federation(clients_of(fed), eta=PROBIT)
    ),
    "many": federations(law=normals(), min_clients=20, max_clients=30, q="inner", eta="shared"),
}
TWO = ("finite", "laws")


def tolerance(fed: ff.Federation) -> float:
    return FINITE_TOLERANCE if fed.is_finite else LAW_TOLERANCE


def budget(data: st.DataObject, fed: ff.Federation, scheme: str) -> Any:
    return data.draw(EPS if scheme == "cfl" else local_budgets(fed))


def check(fed: ff.Federation, s: ff.Solution) -> None:
    """Feasible, certified, and its figures those of its classifier."""
    close, local, eps = tolerance(fed), s.local_mean_differences, s.eps
    for c in s.certificates:
        assert max(abs(c.gap), c.violation, c.numerical_error) <= close and c.violation >= 0
    assert s.duality_gap == max(c.gap for c in s.certificates)
    assert np.isnan(local).tolist() == [not d for d in fed.defined]
    if s.scheme == "cfl":
        assert s.disparity <= eps[0] + close
    else:
        assert (s.multipliers[~fed.defined] == 0).all()
    if s.scheme == "lft_fedavg":
        assert (np.abs(local[fed.defined]) <= eps[fed.defined] + close).all()
        # complementary slackness and the sign of multipliers
        for lam, md, budget in zip(s.multipliers, local, eps, strict=True):
            if abs(lam) > 1e-7 and not fed.is_finite:
                margin = 1e-3 if abs(lam) < 1e-4 else 1e-5
                assert md == pytest.approx(-np.sign(lam) * budget, abs=margin)
    assert s.accuracy == pytest.approx(s.classifier.accuracy(fed), abs=1e-14)
    assert s.mean_difference == pytest.approx(s.classifier.mean_difference(fed), abs=1e-14)
    if fed.is_finite:
        points = finite_model(fed).points
        f = np.stack([s.classifier(points, a) for a in (0, 1)])
        right = (joint(fed) * (f * eta(fed) + (1 - f) * (1 - eta(fed)))).sum()
        assert s.accuracy == pytest.approx(float(right), abs=1e-13)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", KINDS)
@FEWER
@given(data=st.data())
@pytest.mark.every(2)
def test_solutions_are_feasible_and_certified(kind: str, scheme: str, data: st.DataObject) -> None:
    """And no local scheme beats CFL at its disparity."""
    fed = data.draw(KINDS[kind])
    s = ff.solve(fed, scheme, budget(data, fed, scheme))
    check(fed, s)
    if scheme in LOCAL:
        assert s.accuracy <= ff.solve(fed, "cfl", s.disparity).accuracy + 2 * tolerance(fed)


@pytest.mark.parametrize("kind", TWO)
@FEWER
@given(data=st.data())
def test_the_ensemble_averages_clients_solved_alone(kind: str, data: st.DataObject) -> None:
    fed: Any = data.draw(KINDS[kind])
    eps = data.draw(local_budgets(fed))
    s, model, members = ff.solve(fed, "lft_ensemble", eps), fed.model, []
    for i in range(fed.n_clients):
        if fed.defined[i]:
            if fed.is_finite:
                mass = (fed.share[i][:, None] * model.conditional[i])[None]
                alone = ff.Federation.finite(model.points, mass, model.eta[i : i + 1])
            else:
                alone = ff.Federation([clients_of(fed)[i]], eta=[model.etas[i]])
            members.append(ff.solve(alone, "cfl", eps[i]).classifier)
        elif fed.is_finite:  # an undefined constraint binds nobody: both groups at η > 1/2
            members.append(ff.Classifier.on_points(model.points, (model.eta[i] > 0.5) * 1.0))
        else:
            cuts = [float(e.at_odds(0.0)) for e in model.etas[i]]
            members.append(ff.Classifier.thresholds(cuts))
    vote = ff.Classifier.average(members, fed.weight)
    if not fed.is_finite:
        assert s.accuracy == pytest.approx(vote.accuracy(fed), abs=1e-12)
        assert s.mean_difference == pytest.approx(vote.mean_difference(fed), abs=1e-9)
    elif finite_model(fed).shared:  # else a rule is free where its client has nobody
        seen = (joint(fed) > 0).all(axis=0)
        points = finite_model(fed).points
        rates, expected = (np.stack([f(points, a) for a in (0, 1)]) for f in (s.classifier, vote))
        np.testing.assert_allclose(rates[seen], expected[seen], atol=1e-9)


# on a finite X: by hand


def joint(fed: ff.Federation) -> Any:
    """P(x, a, i), shape (I, A, n)."""
    return fed.mass[:, :, None] * finite_model(fed).conditional


def eta(fed: ff.Federation) -> Any:
    return finite_model(fed).eta


def test_a_randomised_tie_by_hand() -> None:
    # one client, groups alike in mass; group 0 has everybody at η = 3/4, group 1 at η = 1/4: MD = 1
    # unconstrained. a flip costs ½·½ = 1/4 per unit of MD in both groups: at eps = 1/2 half a unit
    # is flipped, cost 1/8
    fed = ff.Federation.finite([0.0, 1.0], [[[0, 0.5], [0.5, 0]]], [0.25, 0.75])
    assert ff.solve(fed, "cfl", 1.0).accuracy == 0.75
    s = ff.solve(fed, "cfl", 0.5)
    figures = s.accuracy, s.mean_difference, s.multipliers[0]
    assert figures == pytest.approx((0.75 - 0.125, 0.5, -0.25), abs=1e-15)
    # ties are flipped together: both groups a quarter each
    assert float(s.classifier(1.0, 0)) == pytest.approx(0.75, abs=1e-15)
    assert float(s.classifier(0.0, 1)) == pytest.approx(0.25, abs=1e-15)


# on laws: against quadrature


def slow_dual(fed: ff.Federation, rows: Any, lam: Any, eps: Any) -> float:
    """D(λ) = P(y=0) + Σ_a ∫ max(u_a + λ·v_a, 0) + Σ eps |λ| by scipy's quadrature, split where s
    changes sign.
    """
    model = continuous_model(fed)
    total = 1.0
    for a in (0, 1):
        charged = lam @ rows[a]

        def s(x: Any, a: int = a, charged: Any = charged) -> Any:
            p = model.pdf(a, x)
            gain = np.einsum("i,ix,ix->x", model.mass[:, a], p, 2 * model.eta(a, x) - 1)
            return gain + charged @ p

        def both(x: float, a: int = a, s: Any = s) -> float:
            """What is won there, less the people with y = 1."""
            at = np.array([x])
            positive = np.einsum("i,ix,ix->x", model.mass[:, a], model.pdf(a, at), model.eta(a, at))
            return max(float(s(at)[0]), 0.0) - float(positive[0])

        ends = np.concatenate([pair[a].breaks for pair in model.laws])
        grid = np.unique(np.concatenate([ends, np.linspace(ends.min(), ends.max(), 3001)]))
        value = s(grid)
        turns = np.flatnonzero((value[:-1] > 0) != (value[1:] > 0))
        cuts = np.unique(np.concatenate([ends, grid[turns], grid[turns + 1]]))
        for lo, hi in zip(cuts, cuts[1:], strict=False):
            total += integrate.quad(both, lo, hi, epsabs=1e-13, limit=100)[0]
    return total + float(np.abs(lam) @ np.where(lam == 0, 0.0, eps))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@FEWER
@given(federations(law=normals(), max_clients=3), st.data())
def test_the_dual_bound_is_a_bound(fed: ff.Federation, data: st.DataObject) -> None:
    # nothing of the solver but λ: any λ gives an upper bound on the accuracy, the right one a tight
    # bound
    eps = data.draw(local_budgets(fed))
    s = ff.solve(fed, "lft_fedavg", eps)
    eye = np.diag(fed.defined.astype(float))
    assert slow_dual(fed, (eye, -eye), s.multipliers, eps) == pytest.approx(s.accuracy, abs=1e-9)
    pooled = ff.solve(fed, "cfl", 0.02)
    rows = (fed.within[None, :, 0], -fed.within[None, :, 1])
    bound = slow_dual(fed, rows, pooled.multipliers, np.array([0.02]))
    assert bound == pytest.approx(pooled.accuracy, abs=1e-9)


n, mixed = stats.norm, ff.Mixture
HARD = {
    # next to λ = M_a (1 - 2·0.1) two neighbouring doubles are 1e-9 to 1e-6 of MD apart, on both
    # sides of zero
    "one client": ([ff.Client((n(2.625, 2), n(-3, 1.5)), 0.8125)], 0.0),
    "narrow": ([ff.Client((n(1.5, 0.25), n(1.125, 2)), 0.0625)], 0.0),
    "narrow, near": ([ff.Client((n(2.75, 0.25), n(2.25, 2)), 0.125)], 0.0),
    # HiGHS called a single column optimal that breaks a constraint by 5e-10
    "three clients": (
        [
            ff.Client(
                (n(2.625, 2), mixed([n(2.5, 0.25), n(0.75, 1), n(0.25, 1.5)], [8, 5, 8])), 0.4375, 3
            ),
            ff.Client((n(2.125, 0.5), n(2, 0.25)), 0.9375, 7),
            ff.Client((n(2.625, 0.5), mixed([n(-3, 1), n(0.75, 1)], [1, 5])), 0.1875, 8),
        ],
        [0, 0, 0.03125],
    ),
}


@pytest.mark.parametrize("name", HARD)
def test_fair_rules_of_a_bounded_eta_that_are_mixtures(name: str) -> None:
    clients, eps = HARD[name]
    fed = ff.Federation(clients, eta=PROBIT)
    solutions = [ff.solve(fed, scheme, eps) for scheme in (SCHEMES if len(clients) == 1 else LOCAL)]
    for s in solutions:
        check(fed, s)
        if len(clients) == 1:
            assert s.accuracy == pytest.approx(solutions[0].accuracy, abs=2 * LAW_TOLERANCE)
            accuracy = ff.frontier(fed, "cfl", 2).accuracy[0]
            assert s.accuracy == pytest.approx(accuracy, abs=2 * LAW_TOLERANCE)


@pytest.mark.parametrize(
    "wrong", [(1.1, 0.0, 0.0), (0.9, 0.0, 0.0), (1.0, 0.1, 0.0), (1.0, 0.0, 0.1)]
)
def test_each_part_of_a_certificate_counts(wrong: Any) -> None:
    ff.Certificate(1.0, 1.0, 0.0).check(0.01, "")
    with pytest.raises(ff.CertificationError, match="no solution certified to 0.01"):
        ff.Certificate(1.0, *wrong).check(0.01, "")


@pytest.mark.parametrize("scheme", ["cfl", "client_aware"])
@pytest.mark.parametrize("finite", [True, False])
def test_a_pickled_solution_knows_its_figures_without_the_federation(
    finite: bool, scheme: Any
) -> None:
    masses = [[[0.1, 0.2, 0.5], [0.1, 0.1, 0.0]], [[0.1, 0.1, 0.0], [0.5, 0.2, 0.1]]]
    fed = ff.Federation.finite([0, 1, 2], masses, [0.1, 0.5, 0.8])
    s = ff.solve(fed if finite else ff.Federation.normal([[3, 5], [1, -1]]), scheme, 0.05)
    copy = pickle.loads(pickle.dumps(s))
    assert b"Federation" not in pickle.dumps(s)
    assert copy.to_frame().equals(s.to_frame()) and repr(copy) == repr(s)
    at = (0.5, 1, 0) if scheme == "client_aware" else (0.5, 1)
    assert copy.classifier(*at) == s.classifier(*at) and copy.certificates == s.certificates
