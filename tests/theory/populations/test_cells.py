"""Cells of several numbers of a person, held against counts, linear programmes and a law."""

import json

import numpy as np
import pytest
from scipy.optimize import linprog

import fairfl as ff
from fairfl.theory.populations.cells import Cells

LAW_ETA = np.array([0.15, 0.4, 0.6, 0.85])
CHANCE = np.array([0.2, 0.5, 0.8])
"""P(a = 1 | x) on a grid with η: one score of η cannot tell its columns apart."""


def drawn(n=6000, seed=0):
    """Numbers (n, 2) near (η, P(a|x)), label, group and client of a law whose best rules need
    both.
    """
    rng = np.random.default_rng(seed)
    k, m = rng.integers(0, 4, n), rng.integers(0, 3, n)
    y, a = (rng.random(n) < p for p in (LAW_ETA[k], CHANCE[m]))
    numbers = np.stack([LAW_ETA[k], CHANCE[m]], axis=1) + rng.uniform(-0.05, 0.05, (n, 2))
    return numbers, y.astype(int), a.astype(int), rng.integers(0, 2, n)


def programme(accepts, y, a, eps):
    """The best accuracy of a rule of these cells with acceptance rates at most eps apart."""
    cells, n = np.unique(accepts), len(y)
    gain = np.array([(2 * y[accepts == c] - 1).sum() / n for c in cells])
    rate = np.array(
        [[((accepts == c) & (a == g)).sum() / (a == g).sum() for c in cells] for g in (0, 1)]
    )
    gap = rate[0] - rate[1]
    best = linprog(-gain, [gap, -gap], [eps, eps], bounds=(0, 1))
    return 1 - y.mean() - best.fun


def test_rules_of_cells_are_the_best_and_counted() -> None:
    numbers, y, a, client = drawn()
    fed = ff.Federation.from_samples(numbers, y, a, client)
    cell = fed.model.cells(numbers)
    assert np.bincount(cell).min() >= 10 * 4 and len(fed.model.cells) <= 100
    share = np.bincount(cell, y) / np.bincount(cell)
    assert (np.diff(share) >= 0).all()  # cells are numbered by their shares of y = 1
    for eps in (0.0, 0.05, 1.0):
        solution = ff.solve(fed, "cfl", eps, sees="x")
        assert solution.accuracy == pytest.approx(programme(cell, y, a, eps), abs=1e-9)
        chance = solution.classifier(numbers, a)
        assert np.where(y == 1, chance, 1 - chance).mean() == pytest.approx(solution.accuracy)
        gap = abs(chance[a == 0].mean() - chance[a == 1].mean())
        assert gap == pytest.approx(solution.disparity, abs=1e-12)
    one = ff.solve(ff.Federation.from_samples(numbers[:, 0], y, a, client), "cfl", 0.0, sees="x")
    law = ff.Federation.finite(
        range(12),
        [[np.outer(np.full(4, 1 / 4), p / 3).ravel() for p in (1 - CHANCE, CHANCE)]],
        np.repeat(LAW_ETA, 3),
    )
    best = ff.solve(law, "cfl", 0.0, sees="x").accuracy
    both = ff.solve(fed, "cfl", 0.0, sees="x").accuracy
    assert both == pytest.approx(best, abs=0.02) and one.accuracy <= both + 1e-12


def test_one_column_is_a_score_and_frames_name_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    numbers, y, a, client = drawn(800)
    columns = [
        ff.Federation.from_samples(score, y, a, client).model.points
        for score in (numbers[:, 0], numbers[:, :1])
    ]
    np.testing.assert_array_equal(*columns)
    frame = pandas.DataFrame(numbers, columns=["eta", "chance"])
    assert ff.Federation.from_samples(frame, y, a, client).model.cells.names == ("eta", "chance")
    with pytest.raises(ValueError, match="levels, of several numbers of a person, must be"):
        ff.Federation.from_samples(numbers, y, a, client, levels=0)


def test_people_of_no_weight_make_no_cells() -> None:
    numbers, y, a, client = drawn(4000)
    weight = np.where(np.arange(4000) % 2, 1e-9, np.random.default_rng(1).uniform(0.5, 2, 4000))
    heavy = weight > 1e-9
    y = np.where(heavy, y, numbers[:, 0] < 0.5).astype(int)  # the others' labels are reversed
    fed = ff.Federation.from_samples(numbers, y, a, client, weight=weight)
    assert fed.model.cells is not None
    cell = fed.model.cells(numbers[heavy])
    size, share = (np.bincount(cell, weight[heavy] * v) for v in (np.ones(heavy.sum()), y[heavy]))
    assert size.min() >= 40 * 0.9 and (np.diff(share / size) > -1e-6).all()
    assert np.ptp(share / size) > 0.5  # the law's is 0.7


def test_a_rule_of_cells_is_kept_as_text() -> None:
    numbers, y, a, client = drawn(2000)
    rule = ff.solve(ff.Federation.from_samples(numbers, y, a, client), "cfl", 0.02).classifier
    text = rule.to_json()
    again = ff.Classifier.from_json(text)
    fresh = np.random.default_rng(5).random((500, 2))
    group = np.arange(500) % 2
    np.testing.assert_array_equal(rule(fresh, group), again(fresh, group))
    assert again.to_json() == text and f"of {len(rule.cells)} cells of x0 and x1" in str(rule)
    with pytest.raises(ValueError, match=r"x must hold 2 numbers of a person .*\(500, 3\)"):
        rule(np.zeros((500, 3)), group)
    tree = json.loads(text)["cells"]
    for change in ({"low": [5] * len(tree["low"])}, {"number": tree["number"][:-1]}, {"names": []}):
        with pytest.raises(ValueError, match="cells must be a tree over the numbers"):
            Cells.from_data(tree | change)
    for change in ({"threshold": None}, {"number": ["a"]}):
        with pytest.raises(ValueError, match="cells (threshold|number) must be a list"):
            Cells.from_data(tree | change)


@pytest.mark.filterwarnings("ignore::fairfl.theory.populations.calibration.ScoreWarning")
def test_a_target_that_never_occurs_in_a_part_is_judged() -> None:
    """A group of two people is in no more than two of five parts."""
    numbers, y, a, client = drawn(400)
    a[:2] = 2
    fed = ff.Federation.from_samples(numbers, y, a, client)
    assert fed.n_groups == 3 and len(fed.model.cells) >= 2
