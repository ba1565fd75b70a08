"""MNIST, Fashion-MNIST, CIFAR-10 and CIFAR-100: images as one client, uint8."""

import gzip
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.sources import register
from fairfl.sims.data.fetch import ChecksumMismatch, Progress, Remote, locate

DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    SyntaxError,
    ValueError,
    NotImplementedError,
)
"""Errors that the libraries raise for damaged archives and pictures (pillow: SyntaxError)."""


def images(
    name: str,
    train: tuple[NDArray, NDArray],
    test: tuple[NDArray, NDArray],
    note: str,
    validation: int = 0,
) -> FederatedData:
    """One client of training and test images; the last ``validation`` rows are for validation."""
    x = np.concatenate([train[0], test[0]])
    y = np.concatenate([train[1], test[1]]).astype(np.int64)
    counts = [len(train[1]) - validation, validation, len(test[1])]
    part = np.repeat(np.arange(3, dtype=np.int8), counts)
    return FederatedData(name, x, y, np.zeros(len(y), np.int64), 1, part=part, note=note)


IDX_PARTS = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Read a gzipped IDX file of unsigned bytes: magic 0, 0, 8, rank, sizes, then the bytes."""
    try:
        content = gzip.decompress(path.read_bytes())
    except DAMAGED as error:
        raise ValueError(f"{path.name} must be a gzip file, got one that is not: {error}") from None
    if len(content) < 4 or content[:3] != b"\x00\x00\x08" or len(content) < 4 + 4 * content[3]:
        raise ValueError(
            f"{path.name} must be an IDX file of bytes, got a start of {content[:4]!r}"
        )
    shape = struct.unpack(f">{content[3]}I", content[4 : 4 + 4 * content[3]])
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * content[3])
    if values.size != int(np.prod(shape)):
        raise ValueError(f"{path.name} must hold {shape} bytes by its header, got {values.size}")
    return values.reshape(shape)


def _idx_set(
    name: str,
    base: str,
    digests: tuple[str, ...],
    folder: str | Path | None,
    progress: Progress | None,
) -> FederatedData:
    files = []
    for part, digest in zip(IDX_PARTS, digests, strict=True):
        remote = Remote(f"{name}/{part}-ubyte.gz", ((f"{base}{part}-ubyte.gz",),), (digest,))
        files.append(locate([remote], folder, progress))
    x, y, x_test, y_test = (read_idx(file) for file in files)
    for pixels, labels in ((x, y), (x_test, y_test)):
        if pixels.ndim != 3 or labels.shape != pixels.shape[:1]:
            raise ValueError(
                f"{name} must hold as many labels as images, got {labels.shape} and {pixels.shape}"
            )
    return images(
        name, (x[:, None], y), (x_test[:, None], y_test), "Published training and test images."
    )


@register("mnist", "MNIST digits")
def mnist(folder: str | Path | None = None, progress: Progress | None = None) -> FederatedData:
    """MNIST from ``mnist/mnist.npz`` (the last 10,000 rows are the test's) or the IDX files."""
    local = Remote(
        "mnist/mnist.npz",
        digests=("a840c018491075634b1f72192817dd46a17eb3d2755b111b017d4b6a06cb7ee4",),
    )
    try:
        path = locate([local], folder)
    except ChecksumMismatch:
        raise
    except OSError:
        digests = (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        )
        return _idx_set(
            "mnist", "https://ossci-datasets.s3.amazonaws.com/mnist/", digests, folder, progress
        )
    try:
        # np.load leaves a damaged file open
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as content:
            x, y = content["x"], content["y"]
    except (KeyError, TypeError, *DAMAGED) as error:
        raise ValueError(f"{path.name} must hold the arrays x and y: {error}") from None
    if x.ndim != 3 or x.dtype != np.uint8 or y.shape != x.shape[:1]:
        raise ValueError(
            f"{path.name} must hold x uint8 (N, 28, 28) and y (N,), got {x.dtype} {x.shape} and "
            f"{y.shape}"
        )
    count = min(10_000, len(y) // 7)
    note = (
        f"{path.name}, an own order of rows: the last {count:,} are for testing, not the "
        "published test images."
    )
    return images("mnist", (x[:-count, None], y[:-count]), (x[-count:, None], y[-count:]), note)


@register("fashion-mnist", "Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017)")
def fashion_mnist(
    folder: str | Path | None = None, progress: Progress | None = None
) -> FederatedData:
    """Fashion-MNIST from its IDX files."""
    digests = (
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    )
    base = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/"
    return _idx_set("fashion-mnist", base, digests, folder, progress)


def tar_members(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The name of every file of a tar archive, links left out, and a callable for its content."""
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name, file.read


def _members(path: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """The content of the files of a tar archive that have these base names."""
    contents: dict[str, bytes] = {}
    try:
        for member, read in tar_members(path):
            name = Path(member).name
            if name in names:
                contents[name] = read()
    except DAMAGED as error:
        raise ValueError(f"{path.name} must be a tar archive: {error}") from None
    missing = [name for name in names if name not in contents]
    if missing:
        raise ValueError(f"{path.name} must hold {', '.join(names)}; {missing[0]} is missing")
    return contents


def _records(name: str, content: bytes, labels: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """CIFAR's binary records: label bytes, the last one the class, then 3 x 32 x 32 pixels."""
    width = labels + 3 * 32 * 32
    if len(content) == 0 or len(content) % width:
        raise ValueError(f"{name} must hold records of {width} bytes, got {len(content)} bytes")
    table = np.frombuffer(content, np.uint8).reshape(-1, width)
    return table[:, labels:].reshape(-1, 3, 32, 32), table[:, labels - 1]


def _cifar(
    name: str,
    digest: str,
    files: tuple[str, ...],
    labels: int,
    note: str,
    folder: str | Path | None,
    progress: Progress | None,
) -> FederatedData:
    """From ``{name}-binary.tar.gz``; the last of its ``files`` is for testing."""
    archive = f"{name}-binary.tar.gz"
    remote = Remote(
        f"{name}/{archive}", ((f"https://www.cs.toronto.edu/~kriz/{archive}",),), (digest,)
    )
    contents = _members(locate([remote], folder, progress), files)
    *parts, test = (_records(file, contents[file], labels) for file in files)
    train = np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])
    return images(name, train, test, note)


@register("cifar-10", "CIFAR-10 (Krizhevsky, 2009)")
def cifar_10(folder: str | Path | None = None, progress: Progress | None = None) -> FederatedData:
    """CIFAR-10 from ``cifar-10-binary.tar.gz``."""
    digest = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
    files = *(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"
    return _cifar("cifar-10", digest, files, 1, "Published parts.", folder, progress)


@register("cifar-100", "CIFAR-100 (Krizhevsky, 2009), fine labels")
def cifar_100(folder: str | Path | None = None, progress: Progress | None = None) -> FederatedData:
    """CIFAR-100 from ``cifar-100-binary.tar.gz``."""
    digest = "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"
    files, note = ("train.bin", "test.bin"), "Published parts, fine labels."
    return _cifar("cifar-100", digest, files, 2, note, folder, progress)
