"""A file is there whole or not at all. No mathematics: it stands in the lowest layer, since every other one writes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(file: Path, content: bytes | str) -> Path:
    """Write a file in one step, text as UTF-8: readers see the old one or the new one, never a part."""
    data = content.encode() if isinstance(content, str) else content
    handle, partial = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(partial, 0o644)  # mkstemp's own 0600 would hide the file from other users
        os.replace(partial, file)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return file
