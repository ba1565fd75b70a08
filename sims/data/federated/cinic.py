"""CINIC-10: PNGs in a tar archive, a folder for each part and class."""

import io
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.images import DAMAGED, images, tar_members
from fairfl.sims.data.federated.sources import register
from fairfl.sims.data.fetch import Progress, Remote, locate

PARTS = ("train", "valid", "test")
IMAGES = 90_000
"""Images in each part."""


@register("cinic-10", "CINIC-10 (Darlow et al., 2018)")
def load(folder: str | Path | None = None, progress: Progress | None = None) -> FederatedData:
    """CINIC-10 from ``CINIC-10.tar.gz``: three parts, a folder for each class, 32 x 32 PNGs."""
    source = "https://datashare.ed.ac.uk/bitstream/handle/10283/3192/CINIC-10.tar.gz"
    # The publisher states an MD5 alone, which a forger can meet: a download is verified by its
    # content.
    remote = Remote("cinic-10/CINIC-10.tar.gz", ((source,),), check=check)
    path = locate([remote], folder, progress)
    rows_by_part = _read(path)
    classes = sorted({label for rows in rows_by_part.values() for label, _, _ in rows})
    x, y = {}, {}
    for part, rows in rows_by_part.items():
        if not rows:
            raise ValueError(f"{path.name} must hold images below {part}/, got none")
        rows.sort(key=lambda row: row[:2])
        x[part] = np.stack([row[2] for row in rows])
        y[part] = np.array([classes.index(row[0]) for row in rows])
    train = np.concatenate([x["train"], x["valid"]]), np.concatenate([y["train"], y["valid"]])
    return images(
        "cinic-10", train, (x["test"], y["test"]), "Published parts.", validation=len(y["valid"])
    )


def check(path: Path) -> None:
    """ValueError if a download is not CINIC-10, as far as the numbers of its images tell."""
    try:
        counts = Counter(part for part, _, _, _ in _members(path))
    except DAMAGED as error:
        raise ValueError(f"it must be a tar archive: {error}") from None
    if counts != dict.fromkeys(PARTS, IMAGES):
        raise ValueError(
            f"it must hold {IMAGES} images in each of {', '.join(PARTS)}, got {dict(counts)}"
        )


def _members(path: Path) -> Iterator[tuple[str, str, str, Callable[[], bytes]]]:
    """Part, class, file, and what gives its bytes, of every image."""
    for name, read in tar_members(path):
        pieces = Path(name).parts
        if name.endswith(".png") and len(pieces) >= 3 and pieces[-3] in PARTS:
            yield pieces[-3], pieces[-2], pieces[-1], read


def _read(path: Path) -> dict[str, list[tuple[str, str, NDArray[np.uint8]]]]:
    """Each part's images (class, file, pixels (3, 32, 32)), in the order of the archive."""
    images_of: dict[str, list[tuple[str, str, NDArray[np.uint8]]]] = {part: [] for part in PARTS}
    try:
        for part, label, name, read in _members(path):
            images_of[part].append((label, name, _pixels(name, read())))
    except DAMAGED as error:
        raise ValueError(f"{path.name} must be a tar archive of PNGs of 32 x 32: {error}") from None
    return images_of


def _pixels(name: str, png: bytes) -> NDArray[np.uint8]:
    from matplotlib.image import imread  # reads PNGs, and is a dependency already

    shown = np.asarray(imread(io.BytesIO(png)))
    # some are grey
    colour = np.repeat(shown[..., None], 3, axis=2) if shown.ndim == 2 else shown[..., :3]
    if colour.shape != (32, 32, 3):
        raise ValueError(f"{name} must be 32 x 32, got {colour.shape[:2]}")
    return np.rint(255 * colour).astype(np.uint8).transpose(2, 0, 1)
