"""Public names: examples that run, tables, notebooks, pictures, pickles, and their types."""

import copy
import dataclasses
import doctest
import pickle
from typing import Any, get_args

import matplotlib
import numpy as np
import pytest

import fairfl as ff
from fairfl.solvers.schemes import SOLVED, SchemeName
from fairfl.theory.aggregation import AFL
from fairfl.theory.populations.notions import ALIASES, NOTIONS, Notion

matplotlib.use("agg")
FED = ff.Federation.normal(mean=[[3, 5], [1, -1]], sd=1.0, q=[0.5, 0.4])
CFL, ENSEMBLE = (ff.frontier(FED, scheme, 5) for scheme in ("cfl", "lft_ensemble"))
COSTLY = ff.frontier(FED, "cfl", 5, costs=(2, 1))
NAMED = ff.Federation.from_samples(
    [0.1, 0.9] * 40, [0, 1] * 40, ["<a>", "<a>", "b", "b"] * 20, ["x & y"] * 80
)
RESULTS = {
    "solution": (ff.solve(FED, "lft_ensemble", [0.1, 0.2]), 1, {"eps_1": 0.2}),
    "aware": (ff.solve(FED, "client_aware", 0.1), 1, {"scheme": "client_aware", "eps_0": 0.1}),
    "frontier": (ENSEMBLE, 5, {"accuracy": ENSEMBLE.accuracy[0], "eps_1": ENSEMBLE.eps[0, 1]}),
    "utilities": (COSTLY, 5, {"utility": COSTLY.utility[0], "disparity": COSTLY.disparity[0]}),
    "least": (ff.min_disparity(FED, "lft_ensemble"), 1, {"eps_0": ENSEMBLE.eps[0, 0]}),
    "federation": (FED, 2, {"weight": 0.5, "share_1": 0.5}),
    "named": (NAMED, 1, {"client": "x & y", "share_<a>": 0.5}),
    "minimax": (
        ff.solve_minimax(
            lambda t: [t[0] ** 2, t[0] ** 2 + 1], AFL(), [1.0], jac=lambda t: [2 * t] * 2
        ),
        2,
        {"dual_weight": 0.0, "loss": 0.0},
    ),
}
"""A result, the rows of its table, and numbers of the first of them."""


@pytest.mark.parametrize("name", sorted({*dir(ff)} - {"__version__"}))
def test_every_public_name_has_an_example_that_runs(name: str) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(ff, name), name, globs={})
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_tables_and_have_a_page_in_notebooks(name: str) -> None:
    result, rows, first = RESULTS[name]
    assert result == result and result != copy.copy(result)
    table = result.to_frame()
    assert len(table) == rows
    assert {key: table[key][0] for key in first} == pytest.approx(first, abs=1e-9)
    page = result._repr_html_()
    assert page.count("<tr") == rows + 1 and "<a>" not in page and "x & y" not in page
    assert pickle.loads(pickle.dumps(result)).to_frame().equals(table)


def test_a_curve_is_pale_between_points_of_which_one_is_not_proven() -> None:
    above = np.array([0, 0, 2e-6, 0, 0])
    ax = dataclasses.replace(CFL, exact=False, bounds=CFL.accuracy + above).plot()
    full, pale = (ax.lines[k].get_xydata() for k in (0, 2))
    assert _drawn(full) == {(0, 1), (3, 4)} and _drawn(pale) == {(1, 2), (2, 3)}
    assert (ax.lines[2].get_alpha() or 1) < 1 and ax.lines[0].get_alpha() is None
    proven = dataclasses.replace(CFL, exact=False, bounds=CFL.accuracy + above / 4)
    assert _legend(ff.plot_frontiers([proven])) == ["CFL"]
    ensemble = ff.frontier(FED, "lft_ensemble", 3)  # its bound takes time: it has to be asked for
    assert "gap" not in ensemble.to_frame() and not _drawn(ensemble.plot().lines[0].get_xydata())
    assert ensemble.proven[-1] and "gap" in ensemble.to_frame()
    assert np.isfinite(ensemble.plot().lines[0].get_ydata()).tolist() == ensemble.proven.tolist()


def _legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def _drawn(points: Any) -> set[tuple[int, int]]:
    """Pairs of CFL's points that a line joins."""
    pairs = [p for p in zip(points, points[1:], strict=False) if np.isfinite(p).all()]
    return {tuple(np.searchsorted(CFL.disparity, [a[0], b[0]]).tolist()) for a, b in pairs}


@pytest.mark.parametrize("wrong", [[], CFL, [CFL, 3], "cfl", [CFL, COSTLY]])
def test_what_cannot_be_drawn_together_is_said(wrong: Any) -> None:
    with pytest.raises(ValueError, match="frontiers must be") as raised:
        ff.plot_frontiers(wrong)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("scheme", "rows"), [("cfl", 2), ("lft_ensemble", 2), ("client_aware", 4)])
def test_accept_sets_are_drawn_where_the_rule_accepts(scheme: str, rows: int) -> None:
    solution = ff.solve(FED, scheme, 0.1)  # type: ignore[arg-type]
    ax = solution.plot(color="black")
    assert len(ax.get_yticks()) == rows
    low, high = ax.get_xlim()
    bars = [(box.get_paths()[0].get_extents(), box.get_alpha()) for box in ax.collections]
    for k in range(rows):
        row_bars = [(box.x0, box.x1, alpha) for box, alpha in bars if box.y0 < k < box.y1]
        i = {"i": k // 2} if scheme == "client_aware" else {}
        for x in (low + (high - low) * share for share in (0.013, 0.31, 0.52, 0.77, 0.987)):
            opacity = sum(alpha for start, end, alpha in row_bars if start < x <= end)
            assert opacity == pytest.approx(solution.classifier(x, a=k % 2, **i))


def test_a_rule_without_cuts_is_drawn() -> None:
    everybody = ff.Federation.finite([0, 1], [[[0.25, 0.25]] * 2], [0.9, 0.9])
    assert len(ff.solve(everybody, "cfl", 1).plot().collections) == 2


def test_the_types_are_what_is_accepted() -> None:
    assert {*get_args(SchemeName)} == {*SOLVED}
    assert {*get_args(Notion)} == {*NOTIONS, *ALIASES}
