"""From a table of people to a federation: the score that is made, and levels."""

from dataclasses import replace

import numpy as np
import pytest

from fairfl.reports.people import _score, read
from fairfl.reports.question import Question
from fairfl.sims.data.tables import cross_fitted_score, read_people


def test_the_score_is_out_of_fold_and_says_what_it_is_made_of(people, table):
    data = read_people(table, label="y", group="a", client="site")
    score, source, _, model = _score(data, "people.csv", Question("eo"))
    expected = cross_fitted_score(data.features, data.label, group=data.group, client=data.client)
    np.testing.assert_allclose(score, expected, rtol=0, atol=1e-12)
    assert model is not None and model().columns == ("s", "z", "a")
    assert source == "logistic regression on s, z, a, 5-fold cross-fitted (seed 0)"
    data = read_people(table, label="y", group="a", score="s")
    score, source, _, model = _score(data, "people.csv", Question("eo"))
    assert source == "column 's'" and score.tolist() == people["s"].tolist()


def test_rules_that_do_not_see_the_group_learn_its_chances_too(people, table):
    data = read_people(table, label="y", group="a", client="site", blind=True)
    data = replace(data, weight=np.linspace(1.0, 9.0, len(data)))
    strata = {"group": data.group, "client": data.client}
    for notion, names in (("dp", ["group young"]), ("eo", ["group young with y = 1"])):
        numbers, source, labels, _ = _score(data, "f", Question(notion, sees="x"))
        assert set(names) < set(labels) and f"regressions of {', '.join(labels)} on" in source
        for column, target in ((0, people["y"] == 1), (1, people["a"] == "young")):
            expected = cross_fitted_score(data.features, target, **strata, weight=data.weight)
            np.testing.assert_allclose(numbers[:, column], expected, rtol=0, atol=1e-12)


def test_too_few_rows_for_a_score(tmp_path):
    (tmp_path / "people.csv").write_text("s,y,a\n0.5,1,f\n-2,0,m\n3,1,m\n0.25,0,f\n")
    with pytest.raises(
        ValueError, match="no score can be made from the 4 rows of people.csv: folds must be"
    ):
        read(tmp_path / "people.csv", label="y", group="a")
