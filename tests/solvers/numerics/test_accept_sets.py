"""Accept sets: every sign change, against a fine grid, and holes made to measure."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from strategies import federations, laws, mixtures, normals

import fairfl as ff
from fairfl.solvers.densities.problem import DensityProblem
from fairfl.solvers.numerics.accept_sets import AcceptSets, accept_sets
from fairfl.solvers.numerics.dual import dual_point, overlooked
from fairfl.solvers.task import Task
from fairfl.theory.populations.continuous import ContinuousModel

LAMBDAS = st.integers(-24, 24).map(lambda k: k / 32)


def score(model: ContinuousModel, a: int, weights: Any, x: Any) -> Any:
    """s = w_0 u_a + Σ w_i p_i straight from the densities, and the size of its terms."""
    p = model.pdf(a, x)
    u = np.einsum("i,ix,ix->x", model.mass[:, a], p, 2 * model.eta(a, x) - 1)
    terms = np.concatenate([u[None], p]) * np.asarray(weights)[:, None]
    return terms.sum(axis=0), np.abs(terms).sum(axis=0)


SMOOTH = st.one_of(normals(), mixtures())


@given(st.one_of(federations(law=SMOOTH), federations(law=laws(), max_clients=3)), st.data())
def test_no_sign_change_is_missed(fed: ff.Federation, data: st.DataObject) -> None:
    model: Any = fed.model
    weights = [1.0, *(data.draw(LAMBDAS) for _ in range(fed.n_clients))]
    reach = [end for pair in model.laws for law in pair for end in (law.low, law.high)]
    for a in (0, 1):
        low, high = np.clip([min(reach), max(reach)], -50, 50)
        x = np.linspace(low, high, 20011) + 0.00123
        accepted = accept_sets([model.profile((a,))], [np.asarray(weights)[None]])[0]
        ends, accepts = accepted.line(0)
        s, size = score(model, a, weights, x)
        inside = accepts[np.searchsorted(ends, x)] > 0
        distance = np.abs(x[:, None] - ends).min(axis=1, initial=np.inf)
        # expansions hold 1e-13 of a panel's scale; a cut may be off by that over the slope alone
        loud = (np.abs(s) > 1e-11 * max(1.0, float(size.max()))) & (distance > 1e-7)
        wrong = loud & (inside != (s > 0))
        assert not wrong.any(), f"sign wrong at x = {x[wrong][:3]}, s = {s[wrong][:3]}, ends {ends}"
        for j, total in enumerate(accepted.integrals[0][1:]):
            below = model.laws[j][a].cdf(np.concatenate([[-np.inf], ends, [np.inf]]))
            assert total == pytest.approx(accepts @ np.diff(below), abs=1e-12)


def tangent(model: ContinuousModel, a: int, x0: float, width: float) -> Any:
    """Weights (1, c, d) with s(x0 ± width/2) = 0: two linear equations."""
    ends = np.array([x0 - width / 2, x0 + width / 2])
    p = model.pdf(a, ends)[:2]
    u, _ = score(model, a, [1.0] + [0.0] * len(model.laws), ends)
    assume(abs(np.linalg.det(p)) > 1e-7 * width)
    c = np.linalg.solve(p.T, -u)
    assume(np.abs(c).max() < 5)
    return [1.0, *c]


@given(
    federations(law=SMOOTH, min_clients=2, max_clients=2, q="inner"),
    st.integers(-16, 16).map(lambda k: k / 8 + 0.0137),
    st.sampled_from([1e-1, 1e-2, 1e-3, 1e-4, 3e-5]),
    st.booleans(),
)
def test_holes_of_any_width_are_found(
    fed: ff.Federation, x0: float, width: float, at_edge: bool
) -> None:
    model: Any = fed.model
    edges = model.profile((0,)).edges
    if at_edge:  # across the seam of two panels
        x0 = float(edges[np.abs(edges - x0).argmin()]) + 0.1 * width
    weights = tangent(model, 0, x0, width)
    x = x0 + width * np.array([-1.0, -0.75, -0.25, 0.0, 0.25, 0.75, 1.0])
    s, size = score(model, 0, weights, x)
    middle = s[3]
    # a hole is decided by its integral, 2/3·depth·width, which must stand above the rounding of the
    # sums around it
    assume(abs(middle) > 2e-13 * size.max() and abs(middle) * width > 1e-15)
    assume(np.sign(s[1]) == np.sign(s[5]) == -np.sign(middle))
    accepted = accept_sets([model.profile((0,))], [np.array([weights])])[0]
    close = np.abs(accepted.cut - x0) <= 0.7 * width
    cuts = accepted.cut[close]
    assert cuts.size == 2, f"{cuts.size} cuts within {width} of {x0}, all {accepted.cut}"
    assert accepted.sign[close].tolist() == [np.sign(middle), -np.sign(middle)]
    # depth ≈ s''·w²/8, so at the ends |s'| ≈ 4·depth/w: a rounding of 1e-13·size moves them by that
    # over the slope
    slack = 2e-13 * size.max() / (4 * abs(middle) / width) + 1e-12
    np.testing.assert_allclose(cuts, [x0 - width / 2, x0 + width / 2], atol=slack)


def test_jumps_between_panels_are_cuts() -> None:
    # uniform laws: s = u + λ p jumps from 0 to λ - 1/2.. at the ends of the support
    fed = ff.Federation([ff.Client((stats.uniform(-1, 2), stats.uniform(0, 1)), q=0.5)])
    model: Any = fed.model
    everything = accept_sets([model.profile((0,))], [np.array([[0.0, 1.0]])])[0]
    mass = everything.integrals[0, 1]
    assert mass == pytest.approx(1.0, abs=1e-14)
    nothing = accept_sets([model.profile((0,))], [np.array([[0.0, -1.0]])])[0]
    assert nothing.integrals[0, 1] == 0.0 and nothing.line(0)[1].tolist() == [0.0]


def law_problem(seed: int) -> tuple[ff.Federation, Any]:
    """Three groups under accuracy parity, scores with a root at the end of a panel."""
    rng = np.random.default_rng([seed, 1, 3])
    mean, sd = rng.normal(0, 2, (1, 3)), rng.uniform(0.5, 2.5, (1, 3))
    fed = ff.Federation.normal(mean, sd, rng.dirichlet(3.0 * np.ones(3), 1))
    task, model = Task.of(fed, "cfl", "accuracy_parity"), fed.model
    assert isinstance(model, ContinuousModel)
    return fed, DensityProblem.of(task, model, np.array([0.01])).constraints


@pytest.mark.parametrize("seed", range(4))
def test_a_root_at_the_end_of_a_panel_is_found(seed: int) -> None:
    """Every multiple of the score, whatever its rounding, is positive right of zero."""
    for profile in law_problem(seed)[1].profiles:
        assert 0.0 in profile.edges
        factors = np.random.default_rng(seed).uniform(0.0, 3.0, 500)
        weights = np.stack([np.ones(500), factors], axis=1)
        weights = np.pad(weights, ((0, 0), (0, len(profile.coefficients) - 2)))
        accepted = accept_sets([profile], [weights])[0]
        assert accepted.sign.tolist() == [[1.0]] * 500 and np.abs(accepted.cut).max() < 1e-12


def test_a_missed_root_is_told_by_the_dual_value() -> None:
    """A rule without its cut is as bad as the bound that it gives: only the signs between the cuts
    tell.
    """
    fed, problem = law_problem(2)
    lam = np.array([[0.3, 0.1, 0.0]])
    point = dual_point(problem, lam)
    assert overlooked(problem, point)[0] < 1e-15
    profile, rows = problem.profiles[0], problem.coefficients[0]
    whole = profile.above(np.array([-np.inf])).T
    sets = AcceptSets(np.empty((1, 0)), np.empty((1, 0)), np.ones(1, bool), whole)
    missed = replace(point, sets=(sets, *point.sets[1:]))
    score = np.concatenate([[1.0], lam[0] @ rows])
    below = (profile.above(np.array([-np.inf])) - profile.above(np.zeros(1)))[:, 0]
    assert overlooked(problem, missed)[0] == pytest.approx(-score @ below, rel=1e-6)
