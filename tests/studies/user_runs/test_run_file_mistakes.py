"""Every key of a TOML run with every kind of wrong value: it runs, or one line says why."""

import copy
import datetime
import tomllib

import numpy as np
import pytest

from fairfl.sims.engine import NonFiniteUpdate
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.user_runs import run_file, run_file_parts
from fairfl.studies.user_runs.run_file import read_config

RUN = tomllib.loads(
    """
title = "all that a file may say"
algorithm = [
{name = "qfedavg", q = 1, L = 2, variant = "corrected", label = "a", lr = 0.05, server_lr = 0.9},
{name = "pfedavg", ranks = {kind = "geometric", z = 0.85}, client_weights = "none"},
{name = "dual_weighted", objective = {name = "QFFL", q = 1.0}, normalize = true},
{name = "gifair", lam = 1e-6, groups = [0, 0, 1]},
{name = "propfair", M = 5.0, epsilon = 0.1, variant = "linear", rescale = true},
{name = "term", alpha = 0.1, tau = 0.1},
{name = "dynamic_qfedavg", rule = {name = "modified_normalized_fedavg", beta = 1, norm = "global"}},
]
partition = {kind = "dirichlet", clients = 3, beta = 0.5, min_size = 2, grid = {seed = [1]}}
model = {kind = "mlp", hidden = [4], classes = 10}
run = {seeds = [0], evaluate_every = 1}
[data]
name = "synthetic"
clients = 4
alpha = 0.5
beta = 0.5
kind = "iid"
seed = 3
validation = 0.1
test = 0.1
[training]
rounds = 2
lr = 0.1
momentum = 0.1
weight_decay = 0.1
server_lr = 0.5
dropout = 0.1
stragglers = 0.1
batch_size = 10
epochs = 1
participation = {kind = "by_weight", count = 2, replace = false}
schedule = {kind = "polynomial", power = 0.5, scale = 1.0}
server_schedule = {kind = "steps", milestones = [1], factor = 0.5}
[computing]
device = "cpu"
dtype = "float32"
non_finite = "raise"
memory_limit = 100000000
masked_updates = false
"""
)
NAN, INF = float("nan"), float("inf")
PLAIN = (-1, 2.5, "x", "", True, [], {}, ["a"], {"a": 2})
WRONG = (*PLAIN, NAN, INF, 10**400, datetime.date(2020, 1, 1), None)


def places(table, above=()):
    """Every key, the tables' own as well."""
    if isinstance(table, dict):
        for key, value in table.items():
            yield (*above, key)
            yield from places(value, (*above, key))
    elif isinstance(table, list) and isinstance(table[0], dict):
        for k, value in enumerate(table):
            yield from places(value, (*above, k))


def changed(place, value):
    table = copy.deepcopy(RUN)
    inner = table
    for key in place[:-1]:
        inner = inner[key]
    if value is None:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return table


@pytest.fixture
def read(tmp_path, monkeypatch):
    """The experiment of a table."""
    file = tmp_path / "mine.toml"
    file.write_text("")

    def of(table):
        monkeypatch.setattr(run_file, "read_toml", lambda file: table)
        return read_config(file)

    return of


def ran(experiment):
    return experiment.values(run_units(experiment.units(Scale("quick", 1))))


def test_all_that_a_file_may_say(read):
    values = ran(read(RUN))
    assert len(values) == 7 * 5 and np.isfinite(values["value"]).all()


@pytest.mark.deep
def test_whatever_is_wrong_is_one_line(read):
    refused = 0
    for place in places(RUN):
        for value in WRONG:
            try:
                read(changed(place, value))
            except ValueError as error:
                refused += 1
                message = str(error)
                assert (
                    "\n" not in message
                    and len(message) < 400
                    and (" must " in message or " unknown" in message)
                ), (place, message)
    assert refused > 900


@pytest.mark.deep
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("data", "alpha"), 10**30),
        (("partition", "beta"), 1e308),
        (("algorithm", 0, "q"), 1e300),
        (("algorithm", 0, "L"), 1e-300),
        (("algorithm", 4, "M"), 1e300),
        (("algorithm", 5, "alpha"), 1e300),
        (("algorithm", 5, "tau"), -1e300),
        (("training", "lr"), 1e-300),
        (("training", "lr"), 1e38),
        (("training", "batch_size"), (1 << 63) - 1),
        (("training", "dropout"), 1),
        (("training", "schedule", "power"), 1e300),
        (("training", "schedule"), {"kind": "exponential", "factor": 1e-300}),
    ],
    ids=str,
)
def test_extremes_run_or_diverge_by_name(place, value, read):
    """Numbers, or the round in which there were none."""
    try:
        values = ran(read(changed(place, value)))
    except NonFiniteUpdate as error:
        assert " in round " in str(error)
    else:
        assert np.isfinite(values["value"]).all()


def test_groups_of_gifair(read):
    setting = read(RUN).units(Scale("quick", 1))[0].make()
    assert setting.replicates[3].algorithm.groups == (0, 0, 1)
    with pytest.raises(ValueError, match=r"\[3\].groups must be .* whole numbers, got \[0, 'b'\]"):
        read(changed(("algorithm", 3, "groups"), [0, "b"]))


def test_more_than_fits_into_memory_is_told(read, monkeypatch):
    """Not left to the allocator, which may promise what it does not have: it refuses here."""

    def refused(clients=4, alpha=1.0, beta=1.0, kind="iid", *, seed):
        raise MemoryError("Unable to allocate 745. GiB")

    monkeypatch.setitem(run_file_parts.DRAWN, "synthetic", refused)
    with pytest.raises(ValueError, match="mine.toml must ask for no more than .*: Unable to alloc"):
        read(RUN)


def test_without_test_rows_table_and_pictures_are_of_the_training_rows(read):
    table = changed(("data", "test"), 0.0)
    experiment = read(table)
    assert experiment.title.endswith("(on the training rows: there are no test rows)")
    assert {picture.part for picture in experiment.pictures} == {"train"}
    assert np.isfinite(ran(experiment)["value"]).all()
    assert {picture.part for picture in read(RUN).pictures} == {"test"}
