"""Vehicle: 23 sensors, 100 acoustic, seismic and infrared features, AAV or DW (q-FFL, E.1)."""

import numpy as np

from fairfl._support.json_file import read_json
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.sources import register
from fairfl.sims.data.fetch import Folder, Progress, Remote, locate

# The original (Duarte and Hu, 2004) has no address that still answers: a local copy, in whole or in
# part, is read. No digest of a whole one is known, so that any is taken.
FILES = (
    Remote("vehicle/vehicle.json"),
    Remote(
        "vehicle/vehicle_1860.json",
        digests=("a8c8b22a89ea64e5a563cffe94352b48c1f44a02100fd3256adfc09dc43d9ddc",),
    ),
)
FULL_ROWS = 43_695


@register("vehicle", "Vehicle sensor network (Duarte and Hu, 2004), a sensor a client")
def load(folder: Folder = None, progress: Progress | None = None) -> FederatedData:
    """Read the LEAF-style file; labels become 0 and 1, and a part is noted as one."""
    path = locate(FILES, folder, progress)
    try:
        content = read_json(path)
        users = [str(user) for user in content["users"]]
        x = [np.asarray(content["user_data"][user]["x"], dtype=np.float64) for user in users]
        columns = [np.asarray(content["user_data"][user]["y"], dtype=np.float64) for user in users]
        y = [part.ravel() for part in columns]  # (n,) or (n, 1)
        for user, rows, targets in zip(users, x, y, strict=True):
            if len(rows) != len(targets):
                raise ValueError(f"{user} has {len(rows)} rows of x and {len(targets)} of y")
        features, raw = np.concatenate(x), np.concatenate(y)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path.name} must hold users and user_data with x and y: {error!r}"
        ) from None
    labels = np.unique(raw)
    if labels.size != 2:
        raise ValueError(f"{path.name} must hold two labels, got {labels.tolist()[:5]}")
    owner = np.repeat(np.arange(len(users)), [len(part) for part in y])
    note = "A sensor a client, features as published."
    if raw.size != FULL_ROWS:
        note += f" A part of the original: {raw.size:,} of {FULL_ROWS:,} rows."
    return FederatedData(
        "vehicle",
        features,
        (raw == labels[1]).astype(np.int64),
        owner,
        len(users),
        client_names=tuple(users),
        note=note,
    )
