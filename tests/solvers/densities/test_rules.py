"""Rules as functions of multipliers: what they solve, slopes, turning points, and the climb."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import federations, mixtures, normals

import fairfl as ff
from fairfl.solvers.densities.rules import RuleFamily, Rules, certify_rules
from fairfl.solvers.lft_fedavg import densities_sqp
from fairfl.solvers.lft_fedavg.closed_gaps import critical_points
from fairfl.solvers.numerics.descent import descend
from fairfl.solvers.task import Task
from fairfl.theory.populations.fedfb_figures import figure_5

FEDAVG = Task.of(ff.Federation.normal([[0, 1]]), "lft_fedavg")
SMOOTH = st.one_of(normals(), mixtures())
FEWER = settings(max_examples=max(5, settings.default.max_examples // 5))  # type: ignore[union-attr]
LAMBDAS = st.integers(-24, 24).map(lambda k: k / 64)


@FEWER
@given(federations(law=SMOOTH, max_clients=3), st.data())
def test_every_multiplier_solves_its_own_budgets(fed: ff.Federation, data: st.DataObject) -> None:
    family = RuleFamily.of(fed)
    free = family.at(np.zeros((1, fed.n_clients)))
    # small multipliers against the signs of the free rule's MD_i: most solve something
    lam = -np.sign(free.values) * np.array(
        [data.draw(st.integers(0, 16)) / 1024 for _ in range(fed.n_clients)]
    )
    rule = family.at(lam)
    assume((rule.excess == 0).all())
    eps = np.where(lam[0] != 0, np.abs(rule.values[0]), 1.0)
    s = ff.solve(fed, "lft_fedavg", eps)
    assert s.accuracy == pytest.approx(rule.accuracy[0], abs=1e-10)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("theory.numerics.piecewise_chebyshev.Piecewise.error_at", lambda *_: np.full(3, 1e-9)),
        ("solvers.densities.solve_by_dual.overlooked", lambda *_: np.array([1e-9])),
        ("solvers.densities.rules.overlooked", lambda *_: np.array([1e-9])),
    ],
)
def test_what_expansions_miss_counts(name: str, wrong: Any, monkeypatch: Any) -> None:
    fed = ff.Federation.normal([[3, 5], [1, -1]])
    family, s = RuleFamily.of(fed), ff.solve(fed, "lft_fedavg", 0.1)
    rules = family.at(s.multipliers[None])
    assert certify_rules(fed, FEDAVG, family, rules)[2].all()
    monkeypatch.setattr(f"fairfl.{name}", wrong)
    if "densities.rules" not in name:
        with pytest.raises(ff.CertificationError):
            ff.solve(fed, "lft_fedavg", 0.1)
    if "solve_by_dual" not in name:
        assert not certify_rules(fed, FEDAVG, family, rules)[2].any()


@pytest.mark.parametrize("notion", ["dp", "eodds"])
@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_are_difference_quotients(seed: int, groups: int, notion: str) -> None:
    """Those of rates in λ, and of the Lagrangian A + ν·y + κ·w, twice."""
    rng = np.random.default_rng([seed, groups])
    mean, sd = rng.normal(0, 1.5, (3, groups)), rng.uniform(0.5, 2.5, (3, groups))
    fed = ff.Federation.normal(mean, sd, rng.dirichlet(3.0 * np.ones(groups), 3))
    family = RuleFamily.of(fed, Task.of(fed, "lft_fedavg", notion))
    free = np.nan_to_num(ff.solve(fed, "lft_fedavg", 1.0, notion=notion).local_disparities)
    limits = family.limits(free * rng.uniform(0.3, 0.7, 3))
    base = family.at(descend(family.problem, limits)[-1].lam)
    assert base.excess.max() <= 1e-11
    k, m = family.client.size, base.pooled.shape[1]
    score = np.concatenate([[1.0], rng.normal(0, 0.1, k + m)])

    def slopes(rules: Rules) -> tuple[Any, Any]:
        change = densities_sqp.derivatives(family, rules, score[None])[0][0]
        return change, score[1:] @ change - rules.lam[0] @ change[:k]

    step = 1e-7 * rng.uniform(-1, 1, k)
    ends = [family.at(base.lam + sign * step) for sign in (1.0, -1.0)]
    assert all((end.cuts == base.cuts).all() for end in ends)
    above, below = (np.concatenate([end.values[0], end.pooled[0]]) for end in ends)
    change, _ = slopes(base)
    expected = change @ step
    assert (above - below) / 2 == pytest.approx(expected, abs=2e-3 * np.abs(expected).max())
    bend = (slopes(ends[0])[1] - slopes(ends[1])[1]) / 2
    curvature = densities_sqp.derivatives(family, base, score[None])[1][0]
    assert bend == pytest.approx(-curvature @ step, abs=2e-3 * np.abs(bend).max())


@FEWER
@given(federations(law=SMOOTH, max_clients=3), st.data())
def test_all_turning_points_are_found(fed: ff.Federation, data: st.DataObject) -> None:
    model: Any = fed.model
    profile = model.profile((0,))
    weights = np.array([[1.0, *(data.draw(LAMBDAS) for _ in range(fed.n_clients))]])
    _, points, values, peaks = critical_points([profile], [weights])[0]
    x = np.linspace(profile.edges[0], profile.edges[-1], 20011)
    s = weights[0] @ profile.values(x)
    size = np.abs(weights[0]) @ np.abs(profile.values(x))
    drop = np.diff(s)
    loud = np.abs(drop) > 1e-12 * max(float(size.max()), 1.0)
    turns = np.flatnonzero(
        ((drop[:-1] > 0) != (drop[1:] > 0)) & loud[:-1] & loud[1:] & (size[1:-1] > 1e-8)
    )
    for k in turns:
        nearest = np.abs(points - x[k + 1]).argmin()
        assert abs(points[nearest] - x[k + 1]) <= 2 * (x[1] - x[0])
        assert peaks[nearest] == (drop[k] > 0)
        assert weights[0] @ values[nearest] == pytest.approx(
            s[k + 1], abs=1e-3 * (abs(s[k + 1]) + float(size.max()))
        )


def test_the_frontier_reaches_the_opening_of_a_hole() -> None:
    # along MD = d the accuracy rises with λ_0 until a hole opens in group 1, then falls like a
    # root: a slow scan
    fed, target = figure_5((0.2, 0.8)), 0.45
    family = RuleFamily.of(fed)
    scan = np.concatenate([np.linspace(0.05, 0.0912, 10), np.linspace(0.0912, 0.0925, 200)])
    low, high = np.full(scan.size, -0.15), np.zeros(scan.size)
    for _ in range(32):
        middle = (low + high) / 2
        above = family.at(np.stack([scan, middle], axis=1)).md > target
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    rules = family.at(np.stack([scan, low], axis=1))
    assert rules.cuts[:, 1].min() == 1 and rules.cuts[:, 1].max() == 3
    best = float(rules.accuracy.max())
    assert best <= ff.frontier(fed, "lft_fedavg", 4).accuracy_at(target) <= best + 1e-6
