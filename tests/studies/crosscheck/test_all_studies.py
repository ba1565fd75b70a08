"""Studies are found by their modules, each with all of its parts."""

import pytest

from fairfl.studies.crosscheck.studies.all_studies import find, studies
from fairfl.studies.experiment import Scale


@pytest.mark.parametrize("name", sorted(studies()))
def test_every_study_lists_units_with_names_of_their_own(name):
    study = find([name])[0]
    for profile in ("quick", "paper"):
        names = [unit.name for unit in study.units(Scale(profile, study.seeds[profile]))]
        assert names and len(set(names)) == len(names)
