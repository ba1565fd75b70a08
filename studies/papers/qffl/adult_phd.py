"""Adult as AFL and q-FFL use it: two clients, people with a doctorate and all others, categorical features alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch

from fairfl.sims.data.fetch import locate
from fairfl.sims.data.tables.adult import TEST, TRAIN, read
from fairfl.sims.engine import ClientData, Parts

CATEGORICAL = (
    "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country",
)  # fmt: skip
CLIENTS = ("PhD", "non-PhD")


def adult_phd(*, equal: bool) -> Parts:
    """Published training and test rows; client 0 has education Doctorate.

    One column for each known value, 99 in all; a missing value ("?") is none of them, as in q-FFL's published code.
    ``equal``: client weights 1/2 each, else by training rows.
    """
    frames = [read(locate([remote])) for remote in (TRAIN, TEST)]
    frame = pd.concat(frames, ignore_index=True)
    known = frame[list(CATEGORICAL)].replace("?", np.nan)
    x = pd.get_dummies(known).to_numpy(np.float32)
    y = (frame["income"] == ">50K").to_numpy(np.int64)
    others = (frame["education"] != "Doctorate").to_numpy(np.int64)
    train = np.arange(len(frame)) < len(frames[0])

    def part(rows: np.ndarray) -> ClientData:
        return ClientData.from_owner(torch.from_numpy(x[rows]), torch.from_numpy(y[rows]), others[rows])

    return Parts(part(train), part(~train), weights=np.array([0.5, 0.5]) if equal else None)
