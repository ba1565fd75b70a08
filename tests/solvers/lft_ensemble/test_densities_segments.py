"""Ensembles on densities of several rates, or blind: tables against solutions, their number."""

from typing import Any
from unittest import mock

import audit
import numpy as np
import pytest

import fairfl as ff
from fairfl.solvers.cfl import budget_path
from fairfl.solvers.lft_ensemble.densities_segments import SegmentSearch, parts_at
from fairfl.solvers.task import Task
from fairfl.theory.populations.fedfb_figures import SHARES_5, figure_5

TASKS: Any = pytest.mark.parametrize(
    ("task", "solve_limit"),
    [
        ({"notion": "true_positive_rate_parity"}, 4),
        ({"notion": "equalized_odds"}, 60),
        pytest.param({"sees": "x"}, 110, marks=pytest.mark.deep),
    ],
    ids=["opportunity", "odds", "blind"],
)
"""Questions, and how many problems may be solved one by one for a frontier on two clients."""


@TASKS
def test_tables_are_the_solutions_and_few_are_solved_one_by_one(
    task: dict[str, Any], solve_limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = mock.Mock(wraps=budget_path.solve_by_dual)
    monkeypatch.setattr(budget_path, "solve_by_dual", solved)
    fed = figure_5(SHARES_5[1])
    search = SegmentSearch.of(fed, Task.of(fed, "lft_ensemble", **task))
    assert not search.frontier(10).unfilled.size and solved.call_count <= solve_limit
    top = np.array([table.eps[-1] for table in search.tables])
    eps = np.random.default_rng(0).uniform(0.01, 1.0, (4, 2)) * top
    for value, budgets in zip(parts_at(search.tables, eps).sum(axis=2), eps, strict=True):
        solved = ff.solve(fed, "lft_ensemble", budgets, **task)
        assert value[0] == pytest.approx(solved.accuracy, abs=1e-9)
        assert np.abs(value[1:]).max() == pytest.approx(solved.disparity, abs=1e-9)
    step = 1e-6 * top
    moved = (parts_at(search.tables, eps - step) - parts_at(search.tables, eps - 2 * step)).sum(
        axis=2
    )
    said = parts_at(search.tables, eps, 1) @ step
    np.testing.assert_allclose(moved, said, rtol=0, atol=1e-4 * np.abs(said).max())


@pytest.mark.parametrize("task", [{"sees": "x"}, {"notion": "equalized_odds"}])
@pytest.mark.every(2)
def test_free_rules_of_hardly_any_disparity(task: dict[str, Any]) -> None:
    # a client whose own disparity is 1e-7 without a budget has a table that is hardly wider than
    # a rounding
    fed = audit.Densities.random(np.random.default_rng([7, 1])).build().part([3, 4])
    F = ff.frontier(fed, "lft_ensemble", 2, **task)
    assert F.reproduced.all()


def test_blind_rules_have_points_at_all_disparities() -> None:
    """A client's free rule has a slope of 1e11 in its budget: no cubic goes there."""
    F = ff.frontier(figure_5(SHARES_5[0]), "lft_ensemble", 6, sees="x")
    assert F.disparity.size == 6


def test_clients_at_an_end_leave_it_to_others_to_meet_a_disparity() -> None:
    fed = audit.Densities.random(np.random.default_rng([0, 0])).build()
    F = ff.frontier(fed, "lft_ensemble", 2, notion="eo")
    disparity = np.linspace(0.2, 0.4, 3)
    shortfall = disparity - F.evaluate(disparity).disparity
    assert shortfall.max() < 1e-8  # accuracy rises till 0.76
