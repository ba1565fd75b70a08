"""CIFAR-10 and CIFAR-100: the binary versions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.archives import tar_members
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.images import DAMAGED, images
from fairfl.sims.data.federated.registry import register
from fairfl.sims.data.fetch import Progress, Remote, locate


def _members(path: Path, wanted: tuple[str, ...]) -> dict[str, bytes]:
    """The files of a tar archive whose base names are wanted."""
    found: dict[str, bytes] = {}
    try:
        for member, read in tar_members(path):
            name = Path(member).name
            if name in wanted:
                found[name] = read()
    except DAMAGED as error:
        raise ValueError(f"{path.name} must be a tar archive: {error}") from None
    missing = [name for name in wanted if name not in found]
    if missing:
        raise ValueError(f"{path.name} must hold {', '.join(wanted)}; {missing[0]} is missing")
    return found


def _records(name: str, content: bytes, labels: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """CIFAR's binary records: label bytes, the last one the class, then 3 x 32 x 32 pixels."""
    width = labels + 3 * 32 * 32
    if len(content) == 0 or len(content) % width:
        raise ValueError(f"{name} must hold records of {width} bytes, got {len(content)} bytes")
    table = np.frombuffer(content, np.uint8).reshape(-1, width)
    return table[:, labels:].reshape(-1, 3, 32, 32), table[:, labels - 1]


@register("cifar-10", "CIFAR-10 (Krizhevsky, 2009)")
def cifar_10(folder: str | Path | None = None, progress: Progress | None = None) -> FederatedData:
    """CIFAR-10 from ``cifar-10-binary.tar.gz``."""
    source = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
    digest = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
    remote = Remote("cifar-10/cifar-10-binary.tar.gz", ((source,),), digest)
    path = locate([remote], folder, progress)
    names = tuple(f"data_batch_{k}.bin" for k in range(1, 6))
    files = _members(path, (*names, "test_batch.bin"))
    parts = [_records(name, files[name], 1) for name in names]
    train = np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])
    return images(
        "cifar-10",
        train,
        _records("test_batch.bin", files["test_batch.bin"], 1),
        "Published parts.",
    )


@register("cifar-100", "CIFAR-100 (Krizhevsky, 2009), fine labels")
def cifar_100(folder: str | Path | None = None, progress: Progress | None = None) -> FederatedData:
    """CIFAR-100 from ``cifar-100-binary.tar.gz``."""
    source = "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz"
    digest = "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"
    remote = Remote("cifar-100/cifar-100-binary.tar.gz", ((source,),), digest)
    files = _members(locate([remote], folder, progress), ("train.bin", "test.bin"))
    train, test = (_records(name, files[name], 2) for name in ("train.bin", "test.bin"))
    return images("cifar-100", train, test, "Published parts, fine labels.")
