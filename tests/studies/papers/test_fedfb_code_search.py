"""How the published code searches: which trials are stopped, which is chosen, which is nearest."""

from itertools import count

import numpy as np
import pytest
import torch
from code_people import code_people
from hypothesis import given
from hypothesis import strategies as st

from fairfl.studies.papers.fedfb.code_search import Grid, Trials, best, disparities, measures
from fairfl.studies.papers.fedfb.code_training import (
    World,
    accepted,
)


@pytest.fixture(scope="module")
def world():
    """Two clients, two groups, 200 rows, 3 features."""
    return World.of(code_people(), "logistic")


def test_who_is_stopped_by_hand():
    """Marks at the rung 3, 1, 2, 0.5 and at the end 0.4, 0.9, 0.1, 0.6.

    The first is never stopped; the second is better than it; the third is above the quartile 1.5 of (3, 1) and
    stopped at 2; the fourth is below that of (3, 1, 2). So the last marks are 0.4, 0.9, 2, 0.6.
    """
    rung, end = np.array([3.0, 1.0, 2.0, 0.5]), np.array([0.4, 0.9, 0.1, 0.6])
    assert best(np.stack([rung, end])) == (0, 1)
    assert best(np.stack([rung, end + [1.0, 0, 0, 1]])) == (1, 1)
    assert best(np.stack([rung - [0, 0, 0.9, 0], end + 2])) == (2, 1)
    assert best(np.stack([np.array([0.0, 0.3, 0.2]), np.array([0.9, 0.0, 0.0])])) == (2, 0)
    assert best(end[None]) == (2, 0)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9))
def test_the_best_of_those_left(pairs):
    """The slow twin: a loop over trials, each of which looks at all before it."""
    marks, last = np.array(pairs).T, []
    for t in range(len(pairs)):
        goes_on = t == 0 or marks[0, t] <= np.quantile(marks[0, :t], 0.25)
        last.append(marks[1, t] if goes_on else marks[0, t])
    at, when = best(marks)
    assert marks[when, at] == min(last)
    assert at == last.index(min(last))


def test_trials(world):
    """Models are kept at the stops, and no iteration is asked for beyond the last; the nearest is by test measures."""
    asked = count(1)
    starts = [world.start([1, 2, 3]) * t for t in (1, 2, 3)]

    def runs():
        for params in starts:
            next(asked)
            yield params

    grid: Grid = [(0.1, 1.0), (0.2, 2.0), (0.3, 3.0)]
    trials = Trials.of(world, grid, runs(), (1, 2), world.test)
    assert next(asked) == 3
    found = accepted(world.model, starts[1], world.test)
    np.testing.assert_allclose(trials.marks[1], disparities(found, world.test))
    at, when = best(trials.marks)
    assert (trials.rungs, len(trials.models)) == (2, 2)
    choice = trials.chosen()
    assert choice.point == grid[at]
    torch.testing.assert_close(choice.model, starts[when][at : at + 1])
    assert choice.stopped == (1 if when == 0 else 0)
    for r in range(3):
        accuracy = (found[r] == world.test.y.numpy()).mean()
        published = np.array([accuracy, disparities(found[r : r + 1], world.test)[0]])
        near = trials.near(world, published, np.array([0.01, 0.0]))
        assert near[0].mark == pytest.approx(0)
        np.testing.assert_array_equal(accepted(world.model, near[0].model, world.test)[0], found[r])
        # spreads: .01 of the accuracy, and the least one, .005, of the disparity
        away = [np.hypot(*((measures(world, row[None])[0] - published) / [0.01, 0.005])) for row in found]
        assert [choice.mark for choice in near] == pytest.approx(sorted(away))
    longer = Trials.of(world, grid, iter(starts), (1, 2, 3), world.test, rungs=2).chosen()
    assert (longer.point, longer.stopped) == (grid[at], (1, 2)[when])
