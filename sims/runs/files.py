"""The folder of a run: its lock and checkpoint, and errors that say what could not be written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from filelock import FileLock, Timeout

from fairfl._support.manifest import tell
from fairfl._support.whole_file import write_whole
from fairfl.sims.runs.metrics import TABLES

if TYPE_CHECKING:  # the engine imports this file
    from fairfl.sims.engine.simulation import Simulation

LOCK, CHECKPOINT = "run.lock", "checkpoint.npz"
PATIENCE = 0.1
"""Seconds until another try for the lock: the process that ends just now removes the file."""


class RunFolderError(OSError):
    """The folder of a run cannot be made, read or written; its files are whole."""


@contextmanager
def telling(folder: Path) -> Iterator[None]:
    """Turn the system's errors into one that names the folder and the reason."""
    try:
        yield
    except RunFolderError:
        raise
    except OSError as error:
        file = f" ({Path(error.filename).name})" if error.filename else ""
        failure = RunFolderError(
            f"the run folder {folder} cannot be used: {error.strerror or error}{file}; the last "
            "checkpoint there, if any, is whole"
        )
        failure.errno = error.errno
        raise failure from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold ``folder/run.lock``, and remove it in the end.

    The operating system releases the lock when the process ends, even if it is killed: a file left
    behind is taken over.

    Errors: RunFolderError where another process (or another run in this one) is in the folder.
    """
    path = folder / LOCK
    lock = FileLock(path, timeout=PATIENCE)
    with telling(folder):
        try:
            lock.acquire()
        except Timeout:
            raise RunFolderError(
                f"the run folder {folder} is in use by another process: wait for its end, or take "
                "another folder"
            ) from None
    try:
        yield
    finally:
        with suppress(PermissionError):  # Windows removes no open file
            # before the release, so that no other process's file is removed
            path.unlink(missing_ok=True)
        lock.release()


def save_checkpoint(simulation: Simulation, folder: Path, tables: Mapping[str, bytes]) -> None:
    """Write the ``tables`` up to this round, and round, parameters, states, last weights and these
    tables to ``folder/checkpoint.npz``, each file whole or not at all, without pickles.
    """
    for name, content in tables.items():
        write_whole(folder / f"{name}.parquet", content, sync=True)
    arrays: dict[str, np.ndarray] = {
        "round": np.array(simulation.round),
        "is_stopped": np.array(simulation.is_stopped),
        "params": simulation.params.cpu().numpy(),
    }
    devices: dict[str, str] = {}
    for r, state in enumerate(simulation.states):
        for name, value in state.items():
            arrays[f"state/{r}/{name}"] = value.cpu().numpy()
            devices[f"state/{r}/{name}"] = value.device.type
    for r, (clients, weights) in enumerate(simulation.weights):
        arrays[f"weights/{r}/clients"], arrays[f"weights/{r}/weights"] = clients, weights
    arrays["places"] = np.array(json.dumps(devices, sort_keys=True))
    for name, content in tables.items():
        arrays[f"table/{name}"] = np.frombuffer(content, np.uint8)
    write_whole(folder / CHECKPOINT, lambda file: np.savez(file, **arrays), sync=True)  # type: ignore[arg-type]


def load_checkpoint(simulation: Simulation, folder: Path) -> dict[str, bytes]:
    """Set the simulation to the checkpoint, and return the tables up to it.

    Without a checkpoint the simulation stays at its beginning. An altered checkpoint gives a
    warning and is removed: the simulation begins anew. RunFolderError where an earlier version,
    whose tables were in files beside it, wrote it: it stays as it is.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return {}
    try:
        # np.load leaves a damaged file open
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays: dict[str, np.ndarray] = {name: file[name] for name in file.files}
        if "parts" in arrays:
            raise RunFolderError(
                f"{folder} holds a run of an earlier version: go on with that, or in a new folder"
            )
        params = torch.from_numpy(arrays["params"])
        if params.shape != simulation.params.shape or params.dtype != simulation.params.dtype:
            raise ValueError(f"parameters {tuple(params.shape)} {params.dtype}")
        devices = json.loads(str(arrays["places"]))
        states: list[dict[str, torch.Tensor]] = [{} for _ in simulation.replicates]
        for name, device_type in devices.items():
            _, r, key = name.split("/", 2)
            is_there = device_type == simulation.device.type
            device = simulation.device if is_there else torch.device("cpu")
            states[int(r)][key] = torch.from_numpy(arrays[name]).to(device)
        weights = [
            (arrays[f"weights/{r}/clients"], arrays[f"weights/{r}/weights"])
            for r in range(len(states))
        ]
        round = int(arrays["round"])
        if not 0 <= round <= simulation.training.rounds:
            raise ValueError(f"round {round} of {simulation.training.rounds}")
        tables = {name: arrays[f"table/{name}"].tobytes() for name in TABLES}
    except (PermissionError, RunFolderError):
        raise
    except Exception:
        # a zip archive of arrays of JSON, damaged anywhere: each layer has errors of its own
        tell([path])
        path.unlink()
        return {}
    simulation.params = params.to(simulation.device)
    simulation.states = [*states]
    simulation.weights, simulation.round = weights, round
    simulation.is_stopped = bool(arrays.get("is_stopped", False))
    return tables
