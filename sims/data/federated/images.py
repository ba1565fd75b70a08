"""Images as one client, uint8 (N, channels, height, width); ``by_client`` gives x / 255."""

from __future__ import annotations

import struct
import tarfile
import zipfile
import zlib

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.federated.data import FederatedData

TRAIN, VALIDATION, TEST = 0, 1, 2

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
"""What damaged archives and pictures raise, each library its own (pillow a SyntaxError)."""


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
    part = np.repeat(np.array([TRAIN, VALIDATION, TEST], np.int8), counts)
    return FederatedData(name, x, y, np.zeros(len(y), np.int64), 1, part=part, note=note)
