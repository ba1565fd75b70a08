"""Grids of a TOML file: which tables they stand for, what is refused, and runs that go on."""

import itertools
from pathlib import Path

import numpy as np
from run_files import GRID

from fairfl.cli import simulate
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.grid import point_label, points


def test_tables_are_the_product_of_the_lists():
    """By loops, nested as the file is."""
    table = {"a": 1, "grid": {"b": [1, 2]}, "c": {"grid": {"d": [[3], [4, 5]], "b": ["x", "y"]}}}
    settings = points(table, "t")
    expected = [
        ({"a": 1, "b": b, "c": {"d": d, "b": c}}, {"t.b": b, "t.c.d": d, "t.c.b": c})
        for b in (1, 2)
        for d in ([3], [4, 5])
        for c in ("x", "y")
    ]
    assert settings == expected
    assert point_label(settings[1][1]) == "t.b = 1, t.c.d = [3], t.c.b = y"  # two are called b
    assert point_label({"x.p": {"kind": "steps", "factor": 0.5}}) == "p = steps (factor = 0.5)"
    assert points({"a": {"b": 2}}, "") == [({"a": {"b": 2}}, {})] and point_label({}) == ""


def test_settings_are_units_and_algorithms_replicates(toml):
    experiment = toml(GRID)
    units = experiment.units(Scale("quick", 2))
    assert len(units) == 2 * 2 * 2 * 2 and len({unit.name for unit in units}) == 16
    assert units[0].objectives == (
        *(f"qfedavg, q = {q}, lr = {lr}" for q in (0.0, 2.0) for lr in (0.05, 0.1)),
        "dual, q = 1.0",
        "dual, q = 3.0",
    )
    order = itertools.product((3, 5), (0.0, 1.0), (2, 3), ("constant", "cosine"))
    for unit, (seed, beta, count, kind) in zip(units, order, strict=True):
        assert unit.seed == seed
        words = f"beta = {beta}, count = {count}, schedule = {kind}"
        assert unit.dataset.startswith(f"synthetic; {words}")
        assert unit.name.startswith(f"mine-{seed}-beta={beta}_count={count}_schedule={kind}")
    setting = units[-1].make()
    assert setting.training.participation.count == 3 and setting.training.schedule.last == 0.1
    assert [replicate.lr for replicate in setting.replicates] == [0.05, 0.1, 0.05, 0.1, None, None]
    assert [replicate.algorithm.q for replicate in setting.replicates[:4]] == [0.0, 0.0, 2.0, 2.0]
    # another beta is another data set
    fingerprint = units[0].make().parts.fingerprint()
    assert fingerprint != units[4].make().parts.fingerprint() and units[0].seed == units[4].seed
    chosen = simulate._chosen(units, ("*-5-*count=3*cosine*",))
    assert [unit.seed for unit in chosen] == [5, 5]


def test_a_point_is_the_file_without_grids(toml):
    """Each point's numbers are those of the file that says it alone, to the order of summation."""
    together = f'{GRID}[computing]\ndtype = "float64"\n'
    unit = toml(together).units(Scale("quick", 2))[-1]
    alone = together.replace("grid = {beta = [0.0, 1.0]}", "beta = 1.0")
    alone = alone.replace("grid = {q = [0.0, 2.0], lr = [0.05, 0.1]}", "q = 2.0\nlr = 0.05")
    alone = alone.replace("grid = {q = [1.0, 3.0]}", "q = 3.0")
    alone = alone.replace('"uniform", grid = {count = [2, 3]}', '"uniform", count = 3')
    alone = alone.replace(
        'grid = {schedule = [{kind = "constant"}, {kind = "cosine", last = 0.1}]}',
        'schedule = {kind = "cosine", last = 0.1}',
    )
    assert "grid" not in alone
    plain = run_units([toml(alone).units(Scale("quick", 2))[-1]])
    both = run_units([unit])
    for name, plain_name in (("qfedavg, q = 2.0, lr = 0.05",) * 2, ("dual, q = 3.0", "dual")):
        rows, theirs = both[both.objective == name], plain[plain.objective == plain_name]
        assert len(rows) == len(theirs) > 0
        np.testing.assert_allclose(rows["loss"], theirs["loss"], rtol=1e-12)


def test_names_that_folders_cannot_tell_apart_are_numbered(toml):
    text = GRID.replace("beta = [0.0, 1.0]", 'kind = ["iid", "hybrid"]').replace("[3, 5]", "[0]")
    text = text.replace('"cosine", last = 0.1', '"constant"').replace(
        '[{kind = "constant"}, {kind = "constant"}]',
        '[{kind = "steps", milestones = [1, 2]}, {kind = "steps", milestones = [12]}]',
    )
    names = [unit.name for unit in toml(text).units(Scale("quick", 1))]
    assert len(set(names)) == 8 and all(Path(name).name == name for name in names)
