"""What holds for every experiment: its contract, and that it runs from data to a table."""

import pickle

import numpy as np
import pandas as pd
import pytest

from fairfl.studies.beside_published import COLUMNS, cells, compare
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.all_experiments import experiments, find

NAMES = tuple(experiments())
TINY = tuple(name for name in NAMES if name.startswith(("qffl", "pffl", "propfair")))
"""Those that the fixture ``tiny`` cuts to a few rounds."""
ALL_PUBLISHED = (*(f"qffl-table-{k}" for k in (1, 5, 6, 9)), "pffl-table-1")
"""Every published row of Synthetic and Vehicle has its like among ours."""


@pytest.mark.parametrize("name", NAMES)
def test_units_have_names_and_can_be_sent_to_another_process(name, files):
    for profile in ("quick", "paper"):
        units = find(name).units(Scale(profile, 2))
        assert len({unit.name for unit in units}) == len(units)
        assert all(unit.name.isascii() for unit in units)
        assert all(pickle.loads(pickle.dumps(unit)) is not None for unit in units)


def test_one_folder_holds_one_run(files):
    """Units of the same name are the same run, whichever experiment asks for them."""
    contents = {}
    for name in TINY:
        for profile in ("quick", "paper"):
            for unit in find(name).units(Scale(profile, 2)):
                content = (unit.make.func, unit.make.args, unit.objectives, unit.seed)
                assert contents.setdefault(unit.name, content) == content


@pytest.fixture(scope="module")
def runs():
    """By the units' names: experiments share runs."""
    return {}


@pytest.mark.parametrize("name", TINY)
@pytest.mark.every(2)
def test_from_data_to_a_table(name, tiny, runs):
    experiment = find(name)
    units = experiment.units(Scale("quick", 1))
    runs |= {unit.name: run_units([unit]) for unit in units if unit.name not in runs}
    parts = (runs[unit.name].assign(dataset=unit.dataset) for unit in units)
    clients = pd.concat(parts, ignore_index=True)
    assert set(clients["unit"]) == {unit.name for unit in units}
    values = experiment.values(clients)
    assert list(values.columns) == ["dataset", "objective", "seed", "measure", "value"]
    assert np.isfinite(values["value"]).all()
    table = compare(values, experiment.published)
    keys = ["dataset", "objective", "measure"]
    assert len(table) == len(values.drop_duplicates(keys))  # one seed: a row each
    if name in ALL_PUBLISHED:  # else a wrong name would leave numbers beside nothing, unnoticed
        is_published = experiment.published["dataset"].isin(["Synthetic", "Vehicle"])
        assert table["published"].notna().sum() == is_published.sum() > 0
    assert len(cells(table)) == 1 + len(table[["dataset", "objective"]].drop_duplicates())
    notes = experiment.differences(clients)
    assert notes and all(note.endswith(".") and "\n" not in note for note in notes)
    for picture in experiment.pictures:
        shown = experiment.shown(clients)
        assert set(picture.objectives) <= set(shown["objective"])
        assert picture.part in set(shown["part"])


@pytest.mark.parametrize("name", NAMES)
def test_published_rows_are_well_formed(name):
    published = find(name).published
    assert list(published.columns) == COLUMNS
    assert not published.duplicated(["dataset", "objective", "measure"]).any()
