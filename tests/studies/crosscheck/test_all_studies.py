"""Studies are found by their modules, each with all of its parts."""

from types import ModuleType

import pytest

from fairfl.studies.crosscheck.studies.all_studies import find, studies, study_of
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
