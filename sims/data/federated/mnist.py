"""MNIST and Fashion-MNIST: gzipped IDX files, or MNIST as one npz file."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.archives import gunzip, npz
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.images import DAMAGED, images
from fairfl.sims.data.federated.registry import register
from fairfl.sims.data.fetch import ChecksumMismatch, Progress, Remote, locate

IDX_PARTS = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Read a gzipped IDX file of unsigned bytes: magic 0, 0, 8, rank, sizes, then the bytes."""
    try:
        content = gunzip(path)
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
        remote = Remote(f"{name}/{part}-ubyte.gz", ((f"{base}{part}-ubyte.gz",),), digest)
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
        copies=("a840c018491075634b1f72192817dd46a17eb3d2755b111b017d4b6a06cb7ee4",),
    )
    try:
        path = locate([local], folder)
    except ChecksumMismatch:
        raise
    except OSError:
        path = None
    if path is None:
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
        content = npz(path)
        x, y = content["x"], content["y"]
    except (KeyError, TypeError, *DAMAGED) as error:
        raise ValueError(f"{path.name} must hold the arrays x and y: {error}") from None
    if x.ndim != 3 or x.dtype != np.uint8 or y.shape != x.shape[:1]:
        raise ValueError(
            f"{path.name} must hold x uint8 (N, 28, 28) and y (N,), got {x.dtype} {x.shape} and "
            f"{y.shape}"
        )
    test = min(10_000, len(y) // 7)
    note = (
        f"{path.name}, an own order of rows: the last {test:,} are for testing, not the "
        "published test images."
    )
    return images("mnist", (x[:-test, None], y[:-test]), (x[-test:, None], y[-test:]), note)


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
