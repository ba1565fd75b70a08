"""Ensembles on densities of several rates, or blind: tables against solutions, their number."""

from typing import Any

import audit
import numpy as np
import pytest

import fairfl as ff
from fairfl.solvers.lft_ensemble import densities_segments
from fairfl.solvers.lft_ensemble.densities_segments import SegmentSearch
from fairfl.solvers.problem import Task
from fairfl.theory.populations.fedfb_figures import SHARES_5, figure_5

TASKS: Any = pytest.mark.parametrize(
    "more", [{"notion": "equalized_odds"}, {"sees": "x"}], ids=["odds", "blind"]
)


def searched(fed: ff.Federation, more: dict[str, Any]) -> SegmentSearch:
    asked = {
        "notion": "demographic_parity",
        "difference": "pairwise",
        "costs": (1, 1),
        "sees": "xa",
    }
    return SegmentSearch(fed, fed.model, Task.of(fed, "lft_ensemble", **{**asked, **more}))  # type: ignore[arg-type]


@TASKS
def test_tables_are_the_solutions_and_take_few(
    more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    count, solve = [0], densities_segments.solve_by_dual

    def counted(*args: Any) -> Any:
        count[0] += 1
        return solve(*args)

    monkeypatch.setattr(densities_segments, "solve_by_dual", counted)
    search = searched(figure_5(SHARES_5[1]), more)
    search.frontier(10)
    assert count[0] <= 90  # two for each of ten points, and some for the tables
    top = np.array([table.eps[-1] for table in search.tables])
    for share in np.random.default_rng(0).uniform(0.01, 1.0, (4, 2)):
        value, slope = search.model_at(share * top)
        solved = search.tried(share * top)
        assert value[0] == pytest.approx(solved.worth[0], abs=1e-9)
        assert np.abs(value[1:]).max() == pytest.approx(solved.disparity[0], abs=1e-9)
        step = 1e-6 * top
        moved = search.model_at(share * top - step)[0] - search.model_at(share * top - 2 * step)[0]
        assert slope @ step == pytest.approx(moved, abs=1e-4 * np.abs(slope * step).max())


@TASKS
def test_free_rules_of_hardly_any_disparity(more: dict[str, Any]) -> None:
    # a client whose own disparity is 1e-7 without a budget has a table that is hardly wider than
    # a rounding
    fed = audit.Densities.drawn(np.random.default_rng([7, 1])).build().part([3, 4])
    F = ff.frontier(fed, "lft_ensemble", 4, **more)
    assert F.reproduced.all()
