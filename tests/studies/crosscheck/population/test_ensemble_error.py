"""The two parts of a missed MD: their sum is what the ensemble misses, and each is what it says."""

import numpy as np
import pytest

from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.ensemble_error import exact_members, missed
from fairfl.studies.crosscheck.population.learned_rules import ensemble
from fairfl.studies.crosscheck.population.worlds import figure_5, random_world
from fairfl.theory.populations.classifiers import Classifier


@pytest.mark.parametrize("world", [figure_5("c"), random_world(2)], ids=lambda world: world.name)
def test_the_parts_add_up(world):
    rng = np.random.default_rng(0)
    budgets = tuple(rng.uniform(0, 0.3, world.clients))
    exact = solve(world.federation, "lft_ensemble", budgets)
    members = [Classifier.thresholds(rng.normal(size=2)) for _ in range(world.clients)]
    own, others = missed(world, members, budgets)
    found = ensemble(members, world.weight).mean_difference(world.federation)
    assert own + others == pytest.approx(found - exact.mean_difference, abs=1e-9)
    assert missed(world, exact_members(world, budgets), budgets) == (0.0, 0.0)


def test_a_member_that_differs_where_nobody_of_its_own_is_misses_on_others():
    """Member 0 accepts group 1 below -1.5: nobody of its own N(5, 1), a third of N(-1, 1)."""
    world, budgets = figure_5("a"), (1.0, 1.0)
    first, second = exact_members(world, budgets)
    odd = Classifier(
        [first.edges[0], [-1.5, *first.edges[1]]], [first.values[0], [1.0, *first.values[1]]]
    )
    own, others = missed(world, [odd, second], budgets)
    # half the vote, a third of N(-1, 1), half of the group's people
    assert abs(own) < 1e-8 and others < -0.05
