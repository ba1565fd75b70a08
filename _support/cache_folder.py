"""The folder of files that can be made again: downloads, and tables that take long to compute."""

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """`fairfl` in the platform's cache folder. It need not exist yet."""
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):  # the XDG specification: a relative path is to be ignored
        return Path(xdg) / "fairfl"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "fairfl"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fairfl"
    return Path.home() / ".cache" / "fairfl"
