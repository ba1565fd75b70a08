"""The list of claims, kept in the cache folder: importing all claims' modules takes seconds."""

import gc
import hashlib
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from fairfl._support.cache_folder import cache_folder
from fairfl._support.json_file import read_json, sealed, unsealed
from fairfl._support.layers import LAYERS
from fairfl._support.own_parts import DIGESTS, own_modules
from fairfl._support.whole_file import write_whole
from fairfl.claims import record


def listing() -> dict[str, dict[str, Any]]:
    """The rows of ``fairfl claims list --json`` by id, anew where a source or record changed."""
    file, key = cache_folder() / "claims.json", _key()
    with suppress(OSError, ValueError):
        stored = unsealed(read_json(file))
        if stored["key"] == key:
            return stored["claims"]
    gc.disable()  # the sources' syntax trees are many objects that stay alive
    try:
        from fairfl.claims.runner import recorded

        claims = {checked.claim.id: checked.to_json() for checked in recorded()}
    finally:
        gc.enable()
    with suppress(OSError):  # a cache that cannot be written only costs time
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, sealed({"key": key, "claims": claims}))
    return claims


def _key() -> str:
    """Digest of all sources, a user's own among them, their data and the record."""
    layers = LAYERS[: LAYERS.index("claims") + 1]  # what a claim may import
    folders = [folder for layer in layers for folder in import_module(f"fairfl.{layer}").__path__]
    files = {file for folder in folders for file in Path(folder).rglob("*.*")} | {record.COMMITTED}
    own = [module.__name__ for module in own_modules("claims")]
    total = hashlib.sha256(repr((own, sorted(DIGESTS.items()), str(record.COMMITTED))).encode())
    for file in sorted(f for f in files if f.suffix in (".py", ".json", ".v") and f.is_file()):
        total.update(f"{file}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()
