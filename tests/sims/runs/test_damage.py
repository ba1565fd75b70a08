"""A damaged run's folder: what is damaged is told and done again, to the same end."""

import json
import random
from functools import partial

import numpy as np
import pytest
import torch
from federations import EXACT, classified, quick
from torch import nn

from fairfl._support.json_file import parsed, read_json, sealed, unsealed
from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Module, Replicate, RunFolderError, Softmax, Training, simulate
from fairfl.sims.runs import run
from fairfl.sims.runs.files import CHECKPOINT
from fairfl.theory.aggregation import RankWeighted


def short(folder, resume=True, training: Training | None = None, replicate=None):
    arguments = [replicate or Replicate(Ditto(0.1))], training or quick(rounds=4), EXACT
    options = {"folder": folder, "resume": resume, "checkpoint_every": 2}
    return simulate(Softmax(4, 3), classified((3, 4)), *arguments, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished run: its parameters, and its files."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    return short(folder).params, {file.name: file.read_bytes() for file in folder.iterdir()}


def tables(files):
    return {name: content for name, content in files.items() if name.endswith(".parquet")}


def damaged(tmp_path, whole, **changed):
    """The folder, its checkpoint maybe changed."""
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    for name, content in (whole[1] | {f"{k}.npz": v for k, v in changed.items()}).items():
        (folder / name).write_bytes(content)
    return folder


def told_and_done_again(folder, whole, caplog, *names):
    """True where the change was told, by the file's name; the end is the same either way."""
    caplog.clear()
    assert (short(folder).params == whole[0]).all()
    assert tables({file.name: file.read_bytes() for file in folder.iterdir()}) == tables(whole[1])
    said = [record.getMessage() for record in caplog.records]
    assert not said or all(any(name in line for line in said) for name in names)
    caplog.clear()
    short(folder)
    assert not caplog.records  # it is whole again
    return bool(said)


def flipped(content, clock):
    changed = bytearray(content)
    changed[clock.randrange(len(content))] ^= 1 << clock.randrange(8)
    return bytes(changed)


def test_a_checkpoint_that_is_cut_short_or_has_a_bit_flipped(tmp_path, whole, caplog):
    """12 bits: what is read has checksums, what is not (times in the archive) is harmless."""
    clock, content, refused_count = random.Random(1), whole[1][CHECKPOINT], 0
    for length in (0, 3, 1000, -200, -1):
        folder = damaged(tmp_path, whole, checkpoint=content[:length])
        assert told_and_done_again(folder, whole, caplog, CHECKPOINT)
    for _ in range(12):
        folder = damaged(tmp_path, whole, checkpoint=flipped(content, clock))
        refused_count += told_and_done_again(folder, whole, caplog, CHECKPOINT)
    assert refused_count > 3


@pytest.mark.exact  # one change is the precision
@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("places"),
        lambda arrays: arrays.pop("weights/0/clients"),
        lambda arrays: arrays.update(params=arrays["params"][:, 1:]),
        lambda arrays: arrays.update(params=arrays["params"].astype(np.float32)),
        lambda arrays: arrays.update(params=np.array(["a"])),
        lambda arrays: arrays.update(round=np.array([1, 2])),
        lambda arrays: arrays.update(round=np.array(99)),
        lambda arrays: arrays.update(places=np.array("[1, 2]")),
        lambda arrays: arrays.pop("table/clients"),
        lambda arrays: arrays.update(places=np.array(json.dumps({"state/7/personal": "cpu"}))),
        lambda arrays: arrays.update({"places": np.array(json.dumps({"state/0/gone": "cpu"}))}),
    ],
)
def test_a_checkpoint_of_something_else(change, tmp_path, whole, caplog):
    folder = with_arrays(tmp_path, whole, change)
    assert told_and_done_again(folder, whole, caplog)


def test_a_run_of_an_earlier_version_is_left_as_it_is(tmp_path, whole):
    folder = with_arrays(tmp_path, whole, lambda arrays: arrays.update(parts=np.array("{}")))
    before = (folder / CHECKPOINT).read_bytes()
    with pytest.raises(RunFolderError, match="holds a run of an earlier version"):
        short(folder)
    assert (folder / CHECKPOINT).read_bytes() == before


def with_arrays(tmp_path, whole, change):
    """The folder, the arrays of its checkpoint changed."""
    folder = damaged(tmp_path, whole)
    with np.load(folder / CHECKPOINT) as file:
        arrays = {name: file[name] for name in file.files}
    change(arrays)
    with open(folder / CHECKPOINT, "wb") as file:
        np.savez(file, **arrays)
    return folder


def altered(folder, change):
    """Change the folder's configuration, and seal it."""
    path = folder / run.CONFIGURATION
    record = unsealed(read_json(path))
    change(record)
    path.write_text(sealed(record), "utf-8")


def unsealed_as(change):
    """Content of the configuration's file after a change by somebody who does not seal it."""

    def changed(text):
        record = unsealed(parsed(text))
        change(record)
        return json.dumps(record)

    return changed


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", "3", "{}", "\xff", '{"versions": [{}]}'),
        unsealed_as(lambda record: record["configuration"]["training"].update(lr=0.5)),
        unsealed_as(lambda record: record["configuration"]["training"].pop("lr")),
        unsealed_as(lambda record: record["configuration"].update(model="another")),
        unsealed_as(lambda record: record["versions"].clear()),
    ],
)
def test_a_configuration_that_is_none_or_was_altered(content, tmp_path, whole):
    folder = damaged(tmp_path, whole)
    path = folder / run.CONFIGURATION
    path.write_text(content if isinstance(content, str) else content(path.read_text()), "latin-1")
    with pytest.raises(RunFolderError, match="altered since it was written"):
        short(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"training": 1}, "with training = 1, not {'"),
        ({"masked_updates": True}, "with masked_updates = True, not None"),  # not mentioned here
    ],
)
def test_another_configuration_is_named_in_a_line(change, message, tmp_path, whole):
    folder = damaged(tmp_path, whole)
    altered(folder, lambda record: record["configuration"].update(change))
    with pytest.raises(ValueError, match=message) as raised:
        short(folder)
    assert len(str(raised.value)) < 300 + len(str(folder))


def test_a_change_of_versions_is_recorded_once(tmp_path, whole):
    folder = damaged(tmp_path, whole)
    altered(folder, lambda record: record["versions"][0].update(torch="1.0"))
    for _ in range(3):
        short(folder)
    again = json.loads((folder / run.CONFIGURATION).read_text())["versions"]
    assert [seen["torch"] == "1.0" for seen in again] == [True, False] and again[1]["round"] == 4
    assert {"fairfl", "torch", "numpy", "python"} <= set(again[0])


def test_numbers_of_numpy_are_the_numbers_they_are(tmp_path):
    folder = tmp_path / "run"
    training = quick(rounds=4, lr=np.float64(0.1))
    short(folder, training=training, replicate=Replicate(Ditto(0.1), seed=np.int64(1)))
    assert short(folder, replicate=Replicate(Ditto(0.1), seed=1)).simulation.done


def lowered(amount):
    """Many weights that differ in the middle."""
    weights = np.arange(3000.0, 0, -1)
    weights[1500] -= amount
    return tuple(weights / weights.sum())


class Scaled(FedAvg):
    """No dataclass of its own: the factor is none of its fields."""

    def __init__(self, factor):
        vars(self)["factor"] = factor


def loss_of(factor):
    return lambda outputs, y: factor * (outputs[:, 0] - y) ** 2


def buffered(value):
    layer = nn.Linear(3, 2)
    layer.register_buffer("value", torch.tensor(value))
    return layer


@pytest.mark.parametrize(
    "configured",
    [
        lambda k: run.plain(RankWeighted(lowered(k))),
        lambda k: run.plain(Scaled(k)),
        lambda k: Module(lambda: buffered(k)).describe(),
        lambda k: Module(partial(buffered, k)).describe(),
        lambda k: Module(lambda: nn.Linear(3, 1), loss_of(k)).describe(),
    ],
    ids=["many weights", "an algorithm's own", "buffers", "partial", "loss"],
)
def test_each_number_is_in_the_configuration(configured):
    assert configured(0.25) == configured(0.25) != configured(0.5)
