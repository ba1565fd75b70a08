"""The folder of ``--out``, made and tried before the work."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile


def out_folder(path: Path) -> Path:
    """``path``, made if missing, and written into once.

    Raises
    ------
    RuntimeError : it cannot be made or written; what was asked for cannot be done, which is exit code 1.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise RuntimeError(f"--out must be a folder that can be written, got {path}: {error.strerror}") from None
    return path
