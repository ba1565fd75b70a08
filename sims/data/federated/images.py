"""MNIST, Fashion-MNIST, CIFAR-10, CIFAR-100 and CINIC-10: images as one client, uint8."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.sources import register
from fairfl.sims.data.fetch import ChecksumMismatch, Folder, Progress, Remote, locate

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
Images = tuple[NDArray, NDArray]
"""Pixels (N, channels, height, width) and classes (N,)."""


def images(
    name: str, note: str, train: Images, test: Images, validation: Images | None = None
) -> FederatedData:
    """One client of images."""
    parts = (train, validation or (train[0][:0], train[1][:0]), test)
    x, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    part = np.repeat(np.arange(3, dtype=np.int8), [len(labels) for _, labels in parts])
    owner = np.zeros(len(y), np.int64)
    return FederatedData(name, x, y.astype(np.int64), owner, 1, part=part, note=note)


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
    name: str, base: str, digests: tuple[str, ...], folder: Folder, progress: Progress | None
) -> FederatedData:
    arrays = []
    for part, digest in zip(IDX_PARTS, digests, strict=True):
        file = f"{part}-ubyte.gz"
        remote = Remote(f"{name}/{file}", ((base + file,),), (digest,))
        arrays.append(read_idx(locate([remote], folder, progress)))
    train, test = arrays[:2], arrays[2:]
    for pixels, labels in (train, test):
        if pixels.ndim != 3 or labels.shape != pixels.shape[:1]:
            raise ValueError(
                f"{name} must hold as many labels as images, got {labels.shape} and {pixels.shape}"
            )
    parts = ((pixels[:, None], labels) for pixels, labels in (train, test))
    return images(name, "Published training and test images.", *parts)


@register("mnist", "MNIST digits")
def mnist(folder: Folder = None, progress: Progress | None = None) -> FederatedData:
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
        base = "https://ossci-datasets.s3.amazonaws.com/mnist/"
        return _idx_set("mnist", base, digests, folder, progress)
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
    x = x[:, None]
    return images("mnist", note, (x[:-count], y[:-count]), (x[-count:], y[-count:]))


@register("fashion-mnist", "Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017)")
def fashion_mnist(folder: Folder = None, progress: Progress | None = None) -> FederatedData:
    """Fashion-MNIST from its IDX files."""
    digests = (
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    )
    base = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/"
    return _idx_set("fashion-mnist", base, digests, folder, progress)


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """The name and the content of every file of a tar archive, links left out."""
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    yield member.name, file.read()
    except DAMAGED as error:
        raise ValueError(f"{path.name} must be a tar archive: {error}") from None


def _records(name: str, content: bytes, labels: int) -> Images:
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
    folder: Folder,
    progress: Progress | None,
) -> FederatedData:
    """From ``{name}-binary.tar.gz``; the last of its ``files`` is for testing."""
    archive = f"{name}-binary.tar.gz"
    source = f"https://www.cs.toronto.edu/~kriz/{archive}"
    path = locate([Remote(f"{name}/{archive}", ((source,),), (digest,))], folder, progress)
    contents = {Path(member).name: content for member, content in _members(path)}
    if missing := [file for file in files if file not in contents]:
        raise ValueError(f"{path.name} must hold {', '.join(files)}; {missing[0]} is missing")
    *parts, test = (_records(file, contents[file], labels) for file in files)
    train = np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])
    return images(name, note, train, test)


@register("cifar-10", "CIFAR-10 (Krizhevsky, 2009)")
def cifar_10(folder: Folder = None, progress: Progress | None = None) -> FederatedData:
    """CIFAR-10 from ``cifar-10-binary.tar.gz``."""
    digest = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
    files = *(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"
    return _cifar("cifar-10", digest, files, 1, "Published parts.", folder, progress)


@register("cifar-100", "CIFAR-100 (Krizhevsky, 2009), fine labels")
def cifar_100(folder: Folder = None, progress: Progress | None = None) -> FederatedData:
    """CIFAR-100 from ``cifar-100-binary.tar.gz``."""
    digest = "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"
    files, note = ("train.bin", "test.bin"), "Published parts, fine labels."
    return _cifar("cifar-100", digest, files, 2, note, folder, progress)


CINIC_PARTS = ("train", "valid", "test")
CINIC_IMAGES = 90_000
"""Images in each part of CINIC-10."""


@register("cinic-10", "CINIC-10 (Darlow et al., 2018)")
def cinic_10(folder: Folder = None, progress: Progress | None = None) -> FederatedData:
    """CINIC-10 from ``CINIC-10.tar.gz``: three parts, a folder for each class, 32 x 32 PNGs."""
    source = "https://datashare.ed.ac.uk/bitstream/handle/10283/3192/CINIC-10.tar.gz"
    # The publisher states an MD5 alone, which a forger can meet: the content is verified.
    path = locate(
        [Remote("cinic-10/CINIC-10.tar.gz", ((source,),), check=check_cinic)], folder, progress
    )
    rows: dict[str, list[tuple[str, str, NDArray]]] = {part: [] for part in CINIC_PARTS}
    for (part, label, name), png in _cinic_members(path):
        rows[part].append((label, name, _pixels(name, png)))
    classes = sorted({label for part in rows.values() for label, _, _ in part})
    parts = []
    for part, members in rows.items():
        if not members:
            raise ValueError(f"{path.name} must hold images below {part}/, got none")
        members.sort(key=lambda member: member[:2])
        labels = np.array([classes.index(label) for label, _, _ in members])
        parts.append((np.stack([pixels for _, _, pixels in members]), labels))
    train, validation, test = parts
    return images("cinic-10", "Published parts.", train, test, validation)


def check_cinic(path: Path) -> None:
    """ValueError if a download is not CINIC-10, as far as the numbers of its images tell."""
    counts = Counter(part for (part, _, _), _ in _cinic_members(path))
    if counts != dict.fromkeys(CINIC_PARTS, CINIC_IMAGES):
        raise ValueError(
            f"it must hold {CINIC_IMAGES} images in each of {', '.join(CINIC_PARTS)}, got "
            f"{dict(counts)}"
        )


def _cinic_members(path: Path) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Part, class and file of every image, and its bytes."""
    for name, content in _members(path):
        places = Path(name).parts[-3:]
        if name.endswith(".png") and len(places) == 3 and places[0] in CINIC_PARTS:
            yield places, content


def _pixels(name: str, png: bytes) -> NDArray[np.uint8]:
    from matplotlib.image import imread  # reads PNGs, and is a dependency already

    try:
        shown = np.asarray(imread(io.BytesIO(png)))
    except DAMAGED as error:
        raise ValueError(f"{name} must be a PNG: {error}") from None
    # some are grey
    colour = np.repeat(shown[..., None], 3, axis=2) if shown.ndim == 2 else shown[..., :3]
    if colour.shape != (32, 32, 3):
        raise ValueError(f"{name} must be 32 x 32, got {colour.shape[:2]}")
    return np.rint(255 * colour).astype(np.uint8).transpose(2, 0, 1)
