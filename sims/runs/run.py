"""A run from its configuration to its tables, in a folder from which a stopped run resumes."""

import dataclasses
import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairfl._support.checks import flag, one_of, shown, whole
from fairfl._support.json_file import read_json, sealed, unsealed
from fairfl._support.own_parts import DIGESTS
from fairfl._support.version import __version__
from fairfl._support.whole_file import PARTIAL, remove_partial, write_whole
from fairfl.sims.engine.data import Parts
from fairfl.sims.engine.kernels.model import Model
from fairfl.sims.engine.settings import Computing, Replicate, Training
from fairfl.sims.engine.simulation import Row, Simulation
from fairfl.sims.runs import metrics
from fairfl.sims.runs.files import (
    LOCK,
    RunFolderError,
    load_checkpoint,
    locked,
    save_checkpoint,
    telling,
)

CONFIGURATION = "run.json"
LIBRARIES = ("torch", "numpy", "pyarrow")

Progress = Callable[[int, int], None]
Callback = Callable[[Simulation, list[Row]], bool | None]


@dataclass(frozen=True, eq=False)
class Result:
    """The end of a run.

    Attributes
    ----------
    params : (R, P) global parameters.
    rounds, clients : the tables of ``metrics.py``.
    simulation : with the algorithms' states, and the weights of the last round.
    """

    params: NDArray[np.floating]
    rounds: pd.DataFrame
    clients: pd.DataFrame
    simulation: Simulation


def simulate(
    model: Model,
    data: Parts,
    replicates: Sequence[Replicate],
    training: Training,
    computing: Computing | None = None,
    *,
    evaluate_every: int | None = None,
    folder: str | Path | None = None,
    checkpoint_every: int = 10,
    resume: bool = False,
    progress: Progress | None = None,
    callback: Callback | None = None,
) -> Result:
    """Train all replicates for all rounds.

    Parameters
    ----------
    model : what is trained; each replicate starts from its ``init``.
    data : the training, validation and test samples, with the client of each row.
    replicates : the algorithm and the seed of each, trained side by side.
    training : rounds, participation, local epochs and step sizes, the same for all replicates.
    computing : device, dtype and memory: how, but not what, is computed.
    evaluate_every : measure all clients after so many rounds each time, and at the end; the end
        alone by default.
    folder : where configuration, versions, tables and checkpoints go; nothing is written without
        one.
    checkpoint_every : rounds between checkpoints; a killed run loses fewer rounds than that.
    resume : go on from the folder's checkpoint, or start where there is none. On a CPU, with the
        same versions, the end is the same to the bit, tables included, as if it had never stopped.
    progress : callable (rounds done, rounds), optional
    callback : callable (simulation, rows), optional
        Called after each round with its rows, a dict for each replicate, for logs of one's own and
        for early stopping: where it returns True the run ends, is measured, and is complete.

    Raises
    ------
    ValueError : for settings that do not fit, and where ``folder`` holds a run: another one, or
        this one without ``resume``.
    RunFolderError : an OSError: the folder cannot be written (full disk, read-only, not a folder),
        or another process is in it.
    NonFiniteUpdate : see ``Computing.non_finite``.
    """
    simulation = Simulation(model, data, replicates, training, computing)
    interval = (
        training.rounds if evaluate_every is None else whole("evaluate_every", evaluate_every, 1)
    )
    whole("checkpoint_every", checkpoint_every, 1)
    if resume and folder is None:
        raise ValueError("folder must be given to resume, got None")
    rows = metrics.Metrics()
    with ExitStack() as stack:
        if folder is not None:
            folder = Path(folder)
            with telling(folder):
                _make(folder)
            stack.enter_context(locked(folder))
            with telling(folder):
                rows.read(_open(folder, simulation, interval, checkpoint_every, resume=resume))
        while not simulation.done:
            new_rows = simulation.step()
            rows.rounds += new_rows
            answer = None if callback is None else callback(simulation, new_rows)
            simulation.is_stopped = answer is not None and flag("what callback returns", answer)
            done = simulation.round
            if done % interval == 0 or simulation.done:
                rows.clients += simulation.evaluate()
            if folder is not None and (done % checkpoint_every == 0 or simulation.done):
                with telling(folder):
                    save_checkpoint(simulation, folder, rows.to_parquet())
            if progress is not None:
                progress(done, training.rounds)
    rounds, clients = (rows.table(name).to_pandas() for name in ("rounds", "clients"))
    return Result(simulation.params.cpu().numpy(), rounds, clients, simulation)


def configuration(
    simulation: Simulation, evaluate_every: int, checkpoint_every: int
) -> dict[str, object]:
    """What determines a run and its files, as JSON."""
    return {
        "model": simulation.model.describe(),
        "data": simulation.source.fingerprint(),
        "replicates": [plain(replicate) for replicate in simulation.replicates],
        "training": plain(simulation.training),
        "dtype": simulation.computing.dtype,
        "device": simulation.device.type,
        "backend": simulation.computing.backend,
        "non_finite": simulation.computing.non_finite,
        "evaluate_every": evaluate_every,
        "checkpoint_every": checkpoint_every,
        **({"masked_updates": True} if simulation.computing.masked_updates else {}),
        **({"imported": dict(DIGESTS)} if DIGESTS else {}),
    }


def plain(value: object) -> object:
    """Settings as JSON: a dataclass is its class and its fields, and what else a class below it
    keeps; an array a list; none is cut.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [(f.name, getattr(value, f.name), f.repr) for f in dataclasses.fields(value)]
        # what is not shown, and not there, came after configurations that must stay the same
        shown_fields = {name: plain(v) for name, v, is_shown in fields if is_shown or v is not None}
        if "__dataclass_fields__" not in vars(type(value)):
            names = {name for name, *_ in fields}
            shown_fields |= {k: plain(v) for k, v in vars(value).items() if k not in names}
        return {"class": type(value).__name__, **shown_fields}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def first_difference(old: object, new: object, where: str) -> tuple[str, object, object]:
    """Path of the first difference of two JSON values, and the two values there."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        pairs = [(f"{where}.{key}", old[key], new[key]) for key in old]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(f"{where}[{k}]", *pair) for k, pair in enumerate(zip(old, new, strict=True))]
    elif isinstance(old, list) and isinstance(new, list):
        return f"the number of {where}", len(old), len(new)
    else:
        return where, old, new
    return next(first_difference(a, b, name) for name, a, b in pairs if a != b)


def versions() -> dict[str, str]:
    """What a result depends on besides its configuration."""
    return {
        "fairfl": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{name: metadata.version(name) for name in LIBRARIES},
    }


def _make(folder: Path) -> None:
    """Make the folder; ValueError where it holds something that is no run."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {file.name for file in folder.iterdir() if not file.name.endswith(PARTIAL)} - {LOCK}
    if names and CONFIGURATION not in names:
        raise ValueError(
            f"folder must be new, empty or a run's, got {str(folder)!r}, which holds something else"
        )


def _open(
    folder: Path,
    simulation: Simulation,
    evaluate_every: int,
    checkpoint_every: int,
    *,
    resume: bool,
) -> dict[str, bytes]:
    """Begin a run, or set the simulation to the folder's checkpoint; the tables up to it."""
    current = configuration(simulation, evaluate_every, checkpoint_every)
    path = folder / CONFIGURATION
    if not path.exists():
        remove_partial(folder)
        write_whole(path, sealed({"configuration": current, "versions": [versions()]}), sync=True)
        return {}
    try:
        content = unsealed(read_json(path))
    except ValueError:
        raise RunFolderError(
            f"{path}, the configuration of a run, was altered since it was written; to run anew, "
            "remove its folder"
        ) from None
    stored, history = content["configuration"], content["versions"]
    latest = dict(history[-1])
    for name in (*current, *stored):  # a name may be in only one of the two
        if stored.get(name) != current.get(name):
            where, old, new = first_difference(stored.get(name), current.get(name), name)
            raise ValueError(
                f"folder must hold a run of the same configuration, got {str(folder)!r} with "
                f"{where} = {shown(old)}, not {shown(new)}"
            )
    if not resume:
        raise ValueError(
            f"folder must be new or empty without resume, got {str(folder)!r}, which holds this "
            "very run"
        )
    remove_partial(folder)
    tables = load_checkpoint(simulation, folder)
    latest.pop("round", None)
    # other versions compute the remaining rounds: recorded, since the last bits may differ
    if latest != versions():
        history = [*history, {"round": simulation.round, **versions()}]
        write_whole(path, sealed({"configuration": stored, "versions": history}), sync=True)
    return tables


def best_of(
    clients: pd.DataFrame, *, by: str = "accuracy", part: str = "validation"
) -> pd.DataFrame:
    """For each client the replicate that is best on ``part`` after the last round, the first where
    several are.

    q-FFL, section 4.2: several q in parallel, each device keeps its best model. Columns client and
    replicate.
    """
    one_of("by", by, ("accuracy", "loss"))
    rows = clients.query("round == round.max() and model == 'global' and part == @part")
    quality = rows[by].to_numpy(dtype=np.float64) * (1 if by == "accuracy" else -1)
    if np.isnan(quality).all():
        raise ValueError(f"part must be measured, with {by}, for every client, got {part!r}")
    replicate, client = rows["replicate"].to_numpy(), rows["client"].to_numpy()
    order = np.lexsort((replicate, -np.nan_to_num(quality, nan=-np.inf), client))
    first = np.unique(client[order], return_index=True)[1]
    return pd.DataFrame({"client": client[order][first], "replicate": replicate[order][first]})
