"""Files of the public data sets' formats, as bytes."""

import gzip
import io
import struct
import tarfile

import numpy as np
from matplotlib.image import imsave


def tar(files: dict[str, bytes]) -> bytes:
    """A gzipped archive of named contents; without a time, since tests are named by bytes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(out.getvalue(), mtime=0)


def png(pixels: np.ndarray) -> bytes:
    """An image of pixels (height, width, 3)."""
    out = io.BytesIO()
    imsave(out, pixels, format="png")
    return out.getvalue()


def idx(array: np.ndarray) -> bytes:
    """A gzipped IDX file of bytes."""
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)
