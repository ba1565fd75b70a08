"""Studies are found by their modules, each with all of its parts."""

from types import ModuleType

import pandas as pd
import pytest

from fairfl.studies.crosscheck.studies.all_studies import find, studies, study_of
from fairfl.studies.crosscheck.study import Drawing, Verdict, fresh, predicted
from fairfl.studies.experiment import Scale


def planted(**parts):
    module = ModuleType("planted")
    whole = {
        "NAME": "planted",
        "TITLE": "t",
        "units": lambda scale: [],
        "tables": lambda measures: {},
        "verdicts": lambda measures: (),
    }
    for name, value in (whole | parts).items():
        setattr(module, name, value)
    return module


def test_a_module_with_a_name_is_a_study():
    study = study_of(planted())
    assert study.seeds == {"quick": 2, "paper": 5} and study.pictures == ()
    assert study_of(planted(SEEDS={"quick": 1, "paper": 3})).seeds["paper"] == 3


@pytest.mark.parametrize("name", sorted(studies()))
def test_every_study_lists_units_with_names_of_their_own(name):
    study = find([name])[0]
    for profile in ("quick", "paper"):
        names = [unit.name for unit in study.units(Scale(profile, study.seeds[profile]))]
        assert names and len(set(names)) == len(names)


def test_an_unknown_study_is_refused():
    with pytest.raises(ValueError, match="study must be one of"):
        find(["nothing"])


def test_a_drawing_has_axes_that_exist():
    with pytest.raises(ValueError, match="log must be one of"):
        Drawing("n", "t", "x", "y", lambda measures: pd.DataFrame(), log="z")


def rows_said(measures):
    said = {"holds": True, "statement": "It holds.", "found": f"{len(measures)} rows"}
    return Verdict("soft", **said), Verdict("hard", **said, hard=True)


def test_a_prediction_is_of_unseen_seeds_and_of_populations():
    """Samples of seeds 0, 1 and 2, and a population's row, which no seed made."""
    study = study_of(planted(SEEN=2, verdicts=rows_said))
    table = pd.DataFrame({"seed": [0, 1, 2, 0], "rows": [500, 500, 500, 0], "x": [1, 2, 3, 4]})
    assert fresh(study, table)["x"].tolist() == [3, 4]
    whole = rows_said(table)
    assert {name: verdict.found for name, verdict in predicted(study, table, whole).items()} == {
        "soft": "2 rows"
    }
    # the same is found of all: no seed plays a part
    assert predicted(study, table, rows_said(table[:2])) == {}
    assert (
        predicted(study, table[:2], whole)
        == {}
        == predicted(study_of(planted(verdicts=rows_said)), table, whole)
    )
    assert fresh(study, table[["seed", "x"]])["x"].tolist() == [3]
