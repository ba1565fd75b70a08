"""MNIST and Fashion-MNIST: gzipped IDX files, or MNIST as one npz file."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.fetch import Progress, Remote, locate
from fairfl.sims.federated.data import FederatedData
from fairfl.sims.federated.images import DAMAGED, images
from fairfl.sims.federated.registry import register

IDX_PARTS = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Read a gzipped IDX file of unsigned bytes: magic 0, 0, 8, rank, then the sizes, big-endian, then the bytes."""
    try:
        content = gzip.decompress(path.read_bytes())
    except DAMAGED as error:
        raise ValueError(f"{path.name} must be a gzip file, got one that is not: {error}") from None
    if len(content) < 4 or content[:3] != b"\x00\x00\x08" or len(content) < 4 + 4 * content[3]:
        raise ValueError(f"{path.name} must be an IDX file of bytes, got a start of {content[:4]!r}")
    shape = struct.unpack(f">{content[3]}I", content[4 : 4 + 4 * content[3]])
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * content[3])
    if values.size != int(np.prod(shape)):
        raise ValueError(f"{path.name} must hold {shape} bytes by its header, got {values.size}")
    return values.reshape(shape)


def _idx_set(
    name: str, bases: tuple[str, ...], md5: tuple[str, ...], folder: str | Path | None, progress: Progress | None
) -> FederatedData:
    files = []
    for part, digest in zip(IDX_PARTS, md5, strict=True):
        sources = tuple((f"{base}{part}-ubyte.gz",) for base in bases)
        files.append(locate([Remote(f"{name}/{part}-ubyte.gz", sources, md5=digest)], folder, progress))
    x, y, x_test, y_test = (read_idx(file) for file in files)
    for pixels, labels in ((x, y), (x_test, y_test)):
        if pixels.ndim != 3 or labels.shape != pixels.shape[:1]:
            raise ValueError(f"{name} must hold as many labels as images, got {labels.shape} and {pixels.shape}")
    return images(name, (x[:, None], y), (x_test[:, None], y_test), "Published training and test images.")


@register("mnist", "MNIST digits")
def mnist(folder: str | Path | None = None, progress: Progress | None = None) -> FederatedData:
    """MNIST from ``mnist/mnist.npz`` (x, y in any order: then the last 10,000 are the test rows) or the IDX files."""
    local = Remote("mnist/mnist.npz")
    try:
        path = locate([local], folder)
    except OSError:
        path = None
    if path is None:
        digests = (
            "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "d53e105ee54ea40749a09fcbcd1e9432",
            "9fb629c4189551a2d022fa330f9573f3",
            "ec29112dd5afa0611ce80d1b7f02629c",
        )
        bases = ("https://ossci-datasets.s3.amazonaws.com/mnist/",)
        return _idx_set("mnist", bases, digests, folder, progress)
    try:
        with open(path, "rb") as raw, np.load(raw) as content:  # a damaged one stays open otherwise
            x, y = content["x"], content["y"]
    except (KeyError, TypeError, *DAMAGED) as error:
        raise ValueError(f"{path.name} must hold the arrays x and y: {error}") from None
    if x.ndim != 3 or x.dtype != np.uint8 or y.shape != x.shape[:1]:
        raise ValueError(f"{path.name} must hold x uint8 (N, 28, 28) and y (N,), got {x.dtype} {x.shape} and {y.shape}")
    test = min(10_000, len(y) // 7)
    note = f"{path.name}, an own order of rows: the last {test:,} are for testing, not the published test images."
    return images("mnist", (x[:-test, None], y[:-test]), (x[-test:, None], y[-test:]), note)


@register("fashion-mnist", "Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017)")
def fashion_mnist(folder: str | Path | None = None, progress: Progress | None = None) -> FederatedData:
    """Fashion-MNIST from its IDX files."""
    digests = (
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "25c81989df183df01b3e8a0aad5dffbe",
        "bef4ecab320f06d8554ea6380940ec79",
        "bb300cfdad3c16e7a12a480ee83cd310",
    )
    bases = (
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",  # such addresses have no https: the MD5 counts
    )
    return _idx_set("fashion-mnist", bases, digests, folder, progress)
