"""CINIC-10: PNGs in a tar archive, a folder a part and a class."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.fetch import Progress, Remote, locate
from fairfl.sims.federated.data import FederatedData
from fairfl.sims.federated.images import DAMAGED, images
from fairfl.sims.federated.registry import register

PARTS = ("train", "valid", "test")


@register("cinic-10", "CINIC-10 (Darlow et al., 2018)")
def load(folder: str | Path | None = None, progress: Progress | None = None) -> FederatedData:
    """CINIC-10 from ``CINIC-10.tar.gz``: train/, valid/ and test/, a folder a class, 32 x 32 PNGs; classes by name."""
    source = "https://datashare.ed.ac.uk/bitstream/handle/10283/3192/CINIC-10.tar.gz"
    remote = Remote("cinic-10/CINIC-10.tar.gz", ((source,),), md5="6ee4d0c996905fe93221de577967a372")
    path = locate([remote], folder, progress)
    found = _read(path)
    classes = sorted({kind for rows in found.values() for kind, _, _ in rows})
    x, y = {}, {}
    for part, rows in found.items():
        if not rows:
            raise ValueError(f"{path.name} must hold images below {part}/, got none")
        rows.sort(key=lambda row: row[:2])
        x[part] = np.stack([row[2] for row in rows])
        y[part] = np.array([classes.index(row[0]) for row in rows])
    train = np.concatenate([x["train"], x["valid"]]), np.concatenate([y["train"], y["valid"]])
    return images("cinic-10", train, (x["test"], y["test"]), "Published parts.", validation=len(y["valid"]))


def _read(path: Path) -> dict[str, list[tuple[str, str, NDArray[np.uint8]]]]:
    """For each part (class, file, pixels (3, 32, 32)), in the order of the archive."""
    found: dict[str, list[tuple[str, str, NDArray[np.uint8]]]] = {part: [] for part in PARTS}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                pieces = Path(member.name).parts
                if not (member.isfile() and member.name.endswith(".png") and len(pieces) >= 3 and pieces[-3] in found):
                    continue
                file = archive.extractfile(member)
                assert file is not None  # it is a file
                found[pieces[-3]].append((pieces[-2], pieces[-1], _pixels(member.name, file.read())))
    except DAMAGED as error:
        raise ValueError(f"{path.name} must be a tar archive of PNGs of 32 x 32: {error}") from None
    return found


def _pixels(name: str, png: bytes) -> NDArray[np.uint8]:
    from matplotlib.image import imread  # reads PNGs, and is a dependency already

    shown = np.asarray(imread(io.BytesIO(png)))
    colour = np.repeat(shown[..., None], 3, axis=2) if shown.ndim == 2 else shown[..., :3]  # some are grey
    if colour.shape != (32, 32, 3):
        raise ValueError(f"{name} must be 32 x 32, got {colour.shape[:2]}")
    return np.rint(255 * colour).astype(np.uint8).transpose(2, 0, 1)
