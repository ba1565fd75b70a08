"""Files of the public data sets' formats, as bytes."""

from __future__ import annotations

import io
import tarfile

import numpy as np
from matplotlib.image import imsave


def tar(files: dict[str, bytes]) -> bytes:
    """A gzipped archive of named contents."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def png(pixels: np.ndarray) -> bytes:
    """An image of pixels (height, width, 3)."""
    out = io.BytesIO()
    imsave(out, pixels, format="png")
    return out.getvalue()
