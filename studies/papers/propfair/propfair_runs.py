"""PropFair's experiments (appendix B), on its data sets where at hand, or stand-ins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.algorithms.term import TERM
from fairfl.sims.data.federated import FederatedData, load_federated, synthetic
from fairfl.sims.data.federated.shakespeare import LETTERS
from fairfl.sims.data.partition import dirichlet
from fairfl.sims.engine import MLP, Algorithm, Model, Module, Parts, Replicate, Softmax, Training
from fairfl.sims.models import CharLSTM, LeNet, ResNet18GN
from fairfl.studies.experiment import Scale, Setting, Unit
from fairfl.studies.notes import notes
from fairfl.studies.row_subset import some_clients, some_rows
from fairfl.studies.stand_ins import FETCHING, those_at_hand

STAND_INS = ("MNIST", "Synthetic")
BETA, HIDDEN = 0.5, 64
ROLE = 10_000
"""The least number of samples of a role of Shakespeare's."""
NAMES = ("FedAvg", "q-FFL", "AFL", "TERM", "PropFair")


@dataclass(frozen=True)
class DataSettings:
    """Settings of tables 2 to 5: clients; train, the share of a client's rows; rates of ``NAMES``;
    q, alpha of TERM, M; rounds and rows (0: all), quick and paper; min_rows of a client, paper.
    """

    clients: int
    train: float
    rates: tuple[float, ...]
    q: float = 0.1
    alpha: float = 0.01
    M: float = 5.0
    rounds: tuple[int, int] = (2, 100)
    rows: tuple[int, int] = (400, 0)
    min_rows: int = 300


STANDING = DataSettings(10, 0.6, (0.1,) * 5, rounds=(12, 40), rows=(2000, 10_000), min_rows=30)
TASKS = {
    "CIFAR-10": DataSettings(10, 0.5, (5e-3, 2e-3, 2e-3, 1e-2, 1e-2)),
    "CIFAR-100": DataSettings(10, 0.6, (1e-2,) * 5, alpha=0.1, M=2.0),
    "CINIC-10": DataSettings(50, 0.5, (1e-2, 5e-3, 1e-2, 1e-2, 2e-2), rows=(2000, 0)),
    "Shakespeare": DataSettings(20, 0.5, (1.0, 0.5, 1.0, 0.1, 2.0), q=1.0, alpha=0.1, M=2.0),
    **dict.fromkeys(STAND_INS, STANDING),
}


def five(dataset: str) -> dict[str, tuple[Algorithm, float]]:
    """The five with their learning rates; of stand-ins PropFair's objective is times M."""
    task, scaled = TASKS[dataset], dataset in STAND_INS
    fair = PropFair(task.M, rescale=scaled)
    algorithms = FedAvg(), QFedAvg(task.q), AFL(0.1), TERM(task.alpha), fair
    return dict(zip(NAMES, zip(algorithms, task.rates, strict=True), strict=True))


def data_of(dataset: str, rows: int, seed: int, train: float) -> tuple[Model, Parts]:
    """A share ``train`` of each client's rows to train on, the rest to test, by seed."""
    model, data = _shared_out(dataset, rows, seed)
    pooled = replace(data, part=None)  # clients part their own rows, whoever published a split
    return model, Parts.of(pooled.split(0.0, 1 - train, seed))


def _shared_out(dataset: str, rows: int, seed: int) -> tuple[Model, FederatedData]:
    """The model and the clients' data of appendix B: ``rows`` rows at random, 0 for all."""
    task = TASKS[dataset]
    if dataset == "Synthetic":
        return Softmax(60, 10), synthetic(clients=2 * task.clients, seed=seed)
    data = load_federated(dataset.lower())
    if dataset == "Shakespeare":
        data = some_clients(data, task.clients, ROLE, seed)
        data = some_rows(data, rows, seed) if rows else data
        return Module(partial(CharLSTM, len(LETTERS) + 1, layers=1), name="LSTM"), data
    if dataset.startswith("CIFAR"):  # table 2 counts 50,000 images: the published test rows are out
        data = data.at(data.rows("train"))
    data = some_rows(data, rows, seed) if rows else data
    min_size = max(1, min(task.min_rows, len(data) // task.clients // 10))
    owner = dirichlet(data.y, task.clients, BETA, min_size=min_size, seed=seed)
    channels, size, classes = data.x.shape[1], data.x.shape[2], int(data.y.max()) + 1
    data = data.assigned(owner, task.clients)
    if dataset == "MNIST":
        flat = (data.x.reshape(len(data), -1) / np.float32(255)).astype(np.float32)
        return MLP((784, HIDDEN, 10)), replace(data, x=flat)
    if dataset == "CINIC-10":
        return Module(partial(LeNet, channels, size, classes), name="LeNet"), data
    return Module(partial(ResNet18GN, channels, classes), name="ResNet-18"), data


Made = Callable[[str], dict[str, tuple[Algorithm, float]]]
"""The algorithms and learning rates for a data set."""


def make(
    dataset: str, algorithms: Made, rows: int, rounds: int, batch: int, train: float, seed: int
) -> Setting:
    """Everyone takes part, one local epoch (section 5.1)."""
    model, parts = data_of(dataset, rows, seed, train)
    training = Training(rounds, lr=TASKS[dataset].rates[0], batch_size=batch, epochs=1)
    replicates = tuple(
        Replicate(algorithm, seed, lr=rate) for algorithm, rate in algorithms(dataset).values()
    )
    return Setting(model, parts, replicates, training, max(1, rounds // 12))


def units(
    label: str,
    scale: Scale,
    datasets: Sequence[str],
    algorithms: Made = five,
    batches: Sequence[int] = (64,),
    ratios: Sequence[float] = (),
) -> list[Unit]:
    """A unit a data set at hand (or stand-in), batch size or ratio, and seed."""
    all_units = []
    for dataset in those_at_hand(datasets, STAND_INS):
        task = TASKS[dataset]
        rounds, rows = task.rounds[scale.paper], task.rows[scale.paper]
        for batch in batches:
            for ratio in ratios or (task.train,):
                shown, folder = dataset, f"{dataset.lower()}-{label}-{rounds}-b{batch}"
                shown += f", batch {batch}" if len(batches) > 1 else ""
                shown += f", ratio {ratio:g}" if ratios else ""
                folder += f"-r{ratio:g}" if ratio != task.train else ""
                for seed in range(scale.seeds):
                    setting = partial(make, dataset, algorithms, rows, rounds, batch, ratio, seed)
                    names = tuple(algorithms(dataset))
                    all_units.append(Unit(f"{folder}-{seed}", shown, seed, names, setting))
    return all_units


def differences(paper_datasets: Sequence[str], datasets: set[str]) -> tuple[str, ...]:
    """Differences from the paper; ``paper_datasets`` are its data sets and ``datasets`` ours."""
    standing = datasets & set(STAND_INS)
    missing = [name for name in paper_datasets if name not in datasets]
    settings = {"rows": STANDING.rows, "clients": STANDING.clients, "beta": BETA, "hidden": HIDDEN}
    subjects = {"missing": missing, "stand-ins": standing, "own data": datasets - standing}
    said = [*(subject for subject, names in subjects.items() if names), "seeds"]
    told = {"missing": ", ".join(missing), "fetching": FETCHING}
    return notes("propfair", *said, **settings, **told)
