"""Runs in folders: the same end however often they are stopped; a second process is refused, and a
dead one's lock taken over; errors say what is wrong.
"""

import os
import subprocess
import sys
from pathlib import Path

import killed
import numpy as np
import own_steps
import pandas as pd
import pytest
import torch
from every_algorithm import FedAvg, QFedAvg
from federations import EXACT, classified, quick
from grouped import people

from fairfl.sims.engine import (
    Logistic,
    Replicate,
    RunFolderError,
    Simulation,
    Softmax,
    best_of,
    simulate,
)
from fairfl.sims.group_fairness import FairFed, FedFB, LocalFairBatch
from fairfl.sims.runs.files import LOCK

PARTIAL = ".partial"


class Killed(BaseException):
    """What a test throws in place of SIGKILL: nobody catches it."""


def contents(folder):
    """Every table's bytes, and the arrays of the checkpoint (its archive has a clock in it)."""
    tables = {file.name: file.read_bytes() for file in folder.glob("*.parquet")}
    with np.load(folder / "checkpoint.npz") as file:
        arrays = {name: file[name].tobytes() for name in file.files}
    assert {file.name for file in folder.iterdir()} == {*tables, "checkpoint.npz", "run.json"}
    return tables, arrays


@pytest.fixture(scope="module")
def through(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "through"
    return killed.run(folder, rounds=8), contents(folder)


def test_a_folder_changes_nothing(through):
    result, _ = through
    bare = killed.run(None, rounds=8)
    assert (result.params == bare.params).all()
    pd.testing.assert_frame_equal(result.rounds, bare.rounds)
    pd.testing.assert_frame_equal(result.clients, bare.clients)


@pytest.mark.parametrize(
    ("stage", "when"), [*(("replace", k) for k in (1, 5, 11)), *(("fsync", k) for k in (2, 10, 22))]
)
def test_stopped_at_any_write_it_comes_to_the_same_end(stage, when, tmp_path, monkeypatch, through):
    """Each write in turn: run.json, tables' parts, checkpoints; before the rename and halfway."""
    folder, count = tmp_path / "run", 0
    original = getattr(os, stage)

    def dying(*arguments):
        nonlocal count
        count += 1
        if count == when:  # who is killed tidies nothing up
            patch.setattr(Path, "unlink", lambda self, **options: None)
            raise Killed
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(os, stage, dying)
        with pytest.raises(Killed):
            killed.run(folder, rounds=8)
        left = [file.name for file in folder.iterdir() if file.name.endswith(PARTIAL)]
        assert left or stage == "fsync"  # of a file; the folder is synced after the rename
    result = killed.run(folder, rounds=8)
    assert (result.params == through[0].params).all()
    assert contents(folder) == through[1]
    pd.testing.assert_frame_equal(result.rounds, through[0].rounds)


OWN_STEPS = own_steps.SOFTMAX, own_steps.PARTS, [own_steps.APFL(), own_steps.PFedMe()]
GROUP_FAIR = [FedFB(bits=8), FedFB(evaluated="local", every=2), LocalFairBatch(), FairFed()]
GROUP_FAIR.append(LocalFairBatch(average_every=2))


@pytest.mark.exact
@pytest.mark.parametrize(
    ("model", "parts", "rules"), [OWN_STEPS, (Logistic(2), people(), GROUP_FAIR)]
)
def test_what_clients_remember_is_in_the_checkpoint(model, parts, rules, tmp_path):
    replicates = [Replicate(rule, seed) for rule in rules for seed in (0, 1)]

    def go(name, progress=None):
        options = {"folder": tmp_path / name, "checkpoint_every": 3, "resume": True}
        arguments = model, parts, replicates, quick(rounds=6), EXACT
        return simulate(*arguments, progress=progress, **options)

    def stop(done, rounds):
        if done == 4:
            raise Killed

    whole = go("whole")
    with pytest.raises(Killed):
        go("cut", stop)
    again = go("cut")
    assert again.params.tobytes() == whole.params.tobytes() and whole.rounds.equals(again.rounds)
    for state, again_state in zip(whole.simulation.states, again.simulation.states, strict=True):
        assert sorted(state) == sorted(again_state)
        assert all(torch.equal(state[name], again_state[name]) for name in state)


@pytest.mark.parametrize(
    ("code", "owner", "name", "message"),
    [(28, os, "fsync", "No space left on device"), (30, Path, "mkdir", "Read-only file system")],
)
def test_what_the_system_refuses_is_told(code, owner, name, message, tmp_path, monkeypatch):
    def refused(*arguments, **options):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(owner, name, refused)
    with pytest.raises(RunFolderError, match=message) as raised:
        killed.run(tmp_path / "run", rounds=2)
    assert raised.value.errno == code


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="Not a directory"):
        killed.run(tmp_path / "file" / "run", rounds=2)


def short(folder, resume=False, **changes):
    settings = {"algorithm": QFedAvg(1.0), "seed": 0, "lr": 0.1, "data": 0, "every": 1} | changes
    data, training = classified((3, 4), seed=settings["data"]), quick(rounds=2, lr=settings["lr"])
    replicate = Replicate(settings["algorithm"], settings["seed"])
    options = {"folder": folder, "resume": resume, "checkpoint_every": settings["every"]}
    return simulate(Softmax(4, 3), data, [replicate], training, EXACT, **options)


def test_another_run_is_not_taken_up(tmp_path):
    short(tmp_path / "run")
    with pytest.raises(ValueError, match="without resume"):
        short(tmp_path / "run")
    others = {"algorithm": QFedAvg(2.0), "seed": 1, "lr": 0.2, "data": 1, "every": 2}
    for change in ({name: value} for name, value in others.items()):
        with pytest.raises(ValueError, match="same configuration"):
            short(tmp_path / "run", resume=True, **change)
    assert short(tmp_path / "run", resume=True).simulation.done


def test_strange_folders_are_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds something else"):
        short(tmp_path)
    short(tmp_path / "run")
    with pytest.raises(ValueError, match="folder must be given"):
        short(None, resume=True)


@pytest.mark.exact
def test_tables_hold_what_happened():
    data = classified((3, 17, 4), test=6)
    replicates, training = [Replicate(QFedAvg(1.0)), Replicate(FedAvg())], quick(rounds=3, epochs=2)
    result = simulate(Softmax(4, 3), data, replicates, training, EXACT, evaluate_every=2)
    rounds, clients = result.rounds, result.clients
    assert list(rounds["round"]) == [0, 0, 1, 1, 2, 2]
    # 1 + 5 + 1 steps of four, twice; 24 samples, twice
    assert (rounds["steps"] == 14).all() and (rounds["samples"] == 48).all()
    assert list(rounds["loss_samples"]) == [24, 0] * 3
    assert rounds["mean_loss"][0] == pytest.approx(np.log(3)) and np.isnan(rounds["mean_loss"][1])
    assert sorted(set(clients["round"])) == [2, 3] and len(clients) == 2 * 2 * 2 * 3
    last = clients.query("round == 3 and part == 'test' and replicate == 1")
    w = result.params[1].reshape(3, 5)
    for k in range(3):
        rows = slice(*data.test.offsets[k : k + 2])
        scores = data.test.x[rows].numpy() @ w[:, :4].T + w[:, 4]
        y = data.test.y[rows].numpy()
        loss = np.log(np.exp(scores).sum(1)) - scores[np.arange(6), y]
        assert last["loss"].iloc[k] == pytest.approx(loss.mean(), rel=1e-12)
        assert last["accuracy"].iloc[k] == pytest.approx((scores.argmax(1) == y).mean())


def test_each_device_keeps_its_best_model():
    clients = pd.DataFrame({"replicate": [0, 0, 0, 1, 1, 1], "client": [7, 8, 9] * 2})
    clients["accuracy"], clients["loss"] = [0.5, 0.9, 0.3, 0.6, 0.1, 0.3], [1.0, 2, 3, 2, 1, 2]
    clients = clients.assign(round=1, model="global", part="validation")
    assert dict(best_of(clients).to_numpy()) == {7: 1, 8: 0, 9: 0}
    assert dict(best_of(clients, by="loss").to_numpy()) == {7: 0, 8: 1, 9: 1}
    with pytest.raises(ValueError, match="part must be measured"):
        best_of(clients, part="test")


def test_a_run_starts_where_another_ended(tmp_path):
    """Two runs of two rounds are one of four, whose rates do not change; folders tell starts."""
    parts, model, training = classified((5, 9)), Softmax(4, 3), quick(rounds=2, batch_size=None)
    whole = simulate(model, parts, [Replicate(FedAvg())], quick(rounds=4, batch_size=None), EXACT)
    first = simulate(model, parts, [Replicate(FedAvg())], training, EXACT)
    started = [Replicate(FedAvg(), start=first.params[0])]
    second = simulate(model, parts, started, training, EXACT, folder=tmp_path)
    np.testing.assert_array_equal(second.params, whole.params)
    with pytest.raises(ValueError, match="configuration"):
        simulate(model, parts, [Replicate(FedAvg())], training, EXACT, folder=tmp_path, resume=True)
    with pytest.raises(ValueError, match=r"start must have shape \(15,\) .*, got \(14,\)"):
        Simulation(model, parts, [Replicate(FedAvg(), start=np.zeros(14))], training, EXACT)
    with pytest.raises(ValueError, match="start must not hold NaN"):
        Replicate(FedAvg(), start=[np.nan] * 15)


def test_a_callback_sees_every_round_and_stops_the_run(tmp_path):
    """Early stopping: the end is that of a run of as many rounds, measured; resumed it stays."""
    parts, model = classified((5, 9), test=4), Softmax(4, 3)
    seen = []

    def stop(simulation, rows):
        seen.append((simulation.round, rows[0]["round"], len(rows)))
        return simulation.round == 3

    def run(rounds, **options):
        return simulate(model, parts, [Replicate(FedAvg())], quick(rounds=rounds), EXACT, **options)

    stopped = run(8, folder=tmp_path, callback=stop)
    assert seen == [(1, 0, 1), (2, 1, 1), (3, 2, 1)]
    short = run(3)
    pd.testing.assert_frame_equal(stopped.rounds, short.rounds)
    pd.testing.assert_frame_equal(stopped.clients, short.clients)
    resumed = run(8, folder=tmp_path, resume=True)
    assert resumed.params.tobytes() == stopped.params.tobytes() == short.params.tobytes()
    with pytest.raises(ValueError, match="what callback returns must be True or False, got 'yes'"):
        run(8, callback=lambda *_: "yes")


HOLDER = """
import sys
from pathlib import Path
from fairfl.sims.runs.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A folder, and another process that is in it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "held\n"
        yield tmp_path, process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_the_second_process_is_refused_and_comes_in_when_the_first_is_killed(holder):
    folder, process = holder
    with pytest.raises(RunFolderError, match="is in use by another process") as raised:
        killed.run(folder, rounds=2)
    assert str(folder) in str(raised.value) and "\n" not in str(raised.value)
    assert names(folder) == [LOCK]
    process.kill()
    process.wait()
    assert names(folder) == [LOCK]  # left behind, and held by nobody
    assert killed.run(folder, rounds=2).simulation.done and LOCK not in names(folder)


def test_a_run_inside_a_run_is_refused_and_does_no_harm(tmp_path):
    def again(done, rounds):
        with pytest.raises(RunFolderError, match="in use by another process"):
            killed.run(tmp_path, rounds=4)

    outer = killed.run(tmp_path, again, rounds=4)
    np.testing.assert_array_equal(outer.params, killed.run(None, rounds=4).params)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_let_go_where_a_run_is_stopped(error, tmp_path):
    def stop(done, rounds):
        assert LOCK in names(tmp_path)
        raise error

    with pytest.raises(error):
        killed.run(tmp_path, stop, rounds=4)
    assert LOCK not in names(tmp_path) and killed.run(tmp_path, rounds=4).simulation.done
