"""The state of a simulation between two rounds, as one file without pickles."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from fairfl._support.manifest import tell
from fairfl._support.whole_file import write_whole
from fairfl.sims.engine.simulation import Simulation
from fairfl.sims.runs.files import RunFolderError
from fairfl.sims.runs.metrics import TABLES

NAME = "checkpoint.npz"


def save(simulation: Simulation, folder: Path, tables: Mapping[str, bytes]) -> None:
    """Write round, parameters, states, last weights and the ``tables`` up to this round to
    ``folder/checkpoint.npz``, whole or not at all.
    """
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
    write_whole(folder / NAME, lambda file: np.savez(file, **arrays), sync=True)  # type: ignore[arg-type]


def load(simulation: Simulation, folder: Path) -> dict[str, bytes]:
    """Set the simulation to the checkpoint, and return the tables up to it.

    Without a checkpoint the simulation stays at its beginning. An altered checkpoint gives a
    warning and is removed: the simulation begins anew. RunFolderError where an earlier version,
    whose tables were in files beside it, wrote it: it stays as it is.
    """
    path = folder / NAME
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
