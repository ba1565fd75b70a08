"""A run's folder that something else has damaged: one error that names the file, or the same end; never a traceback."""

import json
import random

import numpy as np
import pytest
from federations import EXACT, classified, quick

from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.engine import Replicate, RunFolderError, Softmax, Training, checkpoint, run, simulate
from fairfl.theory.aggregation import RankWeighted


def short(folder, resume=True, training: Training | None = None, replicate=None):
    return simulate(
        Softmax(4, 3), classified((3, 4)), [replicate or Replicate(Ditto(0.1))], training or quick(rounds=4), EXACT,
        folder=folder, resume=resume, checkpoint_every=2,
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a checkpoint, and where its run ended."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    return short(folder).params, (folder / checkpoint.NAME).read_bytes(), (folder / run.CONFIGURATION).read_bytes()


def damaged(tmp_path, whole, content):
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    (folder / run.CONFIGURATION).write_bytes(whole[2])
    (folder / checkpoint.NAME).write_bytes(content)
    return folder


def refused_or_harmless(folder, params):
    """True where it was refused, by name; else it must have been read for what it was."""
    try:
        found = short(folder).params
    except RunFolderError as error:
        assert checkpoint.NAME in str(error) and "not a checkpoint of this run" in str(error)
        return True
    assert (found == params).all()
    return False


@pytest.mark.parametrize("length", [0, 1, 3, 4, 100, 1000, -200, -22, -1])
def test_a_checkpoint_that_is_cut_short(length, tmp_path, whole):
    content = whole[1][:length]
    assert refused_or_harmless(damaged(tmp_path, whole, content), whole[0])


def test_a_checkpoint_with_a_byte_changed(tmp_path, whole):
    """300 places at random: what is read has checksums, what is not (times in the archive) does no harm."""
    clock = random.Random(1)
    refused = 0
    for _ in range(300):
        content = bytearray(whole[1])
        content[clock.randrange(len(content))] ^= 1 << clock.randrange(8)
        refused += refused_or_harmless(damaged(tmp_path, whole, bytes(content)), whole[0])
    assert refused > 100


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("params"),
        lambda arrays: arrays.pop("places"),
        lambda arrays: arrays.pop("weights/0/clients"),
        lambda arrays: arrays.update(params=arrays["params"][:, 1:]),
        lambda arrays: arrays.update(params=arrays["params"].astype(np.float32)),
        lambda arrays: arrays.update(params=np.array(["a"])),
        lambda arrays: arrays.update(round=np.array([1, 2])),
        lambda arrays: arrays.update(round=np.array(99)),
        lambda arrays: arrays.update(round=np.array(-1)),
        lambda arrays: arrays.update(places=np.array("[1, 2]")),
        lambda arrays: arrays.update(places=np.array("{")),
        lambda arrays: arrays.update(places=np.array(json.dumps({"state/7/personal": "cpu"}))),
        lambda arrays: arrays.update({"places": np.array(json.dumps({"state/0/gone": "cpu"}))}),
    ],
    ids=[str(k) for k in range(13)],
)  # fmt: skip
def test_a_checkpoint_of_something_else(change, tmp_path, whole):
    folder = damaged(tmp_path, whole, whole[1])
    with np.load(folder / checkpoint.NAME) as file:
        arrays = {name: file[name] for name in file.files}
    change(arrays)
    with open(folder / checkpoint.NAME, "wb") as file:
        np.savez(file, **arrays)
    assert refused_or_harmless(folder, whole[0])


NONE = ["", "{", "[]", "3", "null", "{}", "\xff", '{"configuration": 1, "versions": [{}]}',
        '{"configuration": {}, "versions": []}', '{"configuration": {}, "versions": [1]}']  # fmt: skip


@pytest.mark.parametrize("text", NONE)
def test_a_configuration_that_is_none(text, tmp_path, whole):
    folder = damaged(tmp_path, whole, whole[1])
    (folder / run.CONFIGURATION).write_text(text, "latin-1")
    with pytest.raises(RunFolderError, match="not the configuration of a run"):
        short(folder)


def test_a_change_of_versions_is_recorded_once(tmp_path, whole):
    folder = damaged(tmp_path, whole, whole[1])
    kept = json.loads((folder / run.CONFIGURATION).read_text())
    kept["versions"][0]["torch"] = "1.0"
    (folder / run.CONFIGURATION).write_text(json.dumps(kept))
    for _ in range(3):
        short(folder)
    again = json.loads((folder / run.CONFIGURATION).read_text())["versions"]
    assert [seen["torch"] == "1.0" for seen in again] == [True, False]


def test_numbers_of_numpy_are_the_numbers_they_are(tmp_path):
    folder = tmp_path / "run"
    short(folder, training=quick(rounds=4, lr=np.float64(0.1)), replicate=Replicate(Ditto(0.1), seed=np.int64(1)))
    assert short(folder, replicate=Replicate(Ditto(0.1), seed=1)).simulation.done


def test_given_rank_weights_are_not_cut_short():
    """Two objectives of many weights that differ in the middle are two configurations."""
    weights = np.arange(3000.0, 0, -1)
    other = weights.copy()
    other[1500] -= 0.5
    one, two = (run.plain(RankWeighted(tuple(w / w.sum()))) for w in (weights, other))
    assert one != two


def test_a_setting_that_this_run_does_not_mention_is_another_run(tmp_path, whole):
    folder = damaged(tmp_path, whole, whole[1])
    kept = json.loads((folder / run.CONFIGURATION).read_text())
    kept["configuration"]["masked_updates"] = True
    (folder / run.CONFIGURATION).write_text(json.dumps(kept))
    with pytest.raises(ValueError, match="with masked_updates = True, not None"):
        short(folder)
