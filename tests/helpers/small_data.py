"""A few samples with a client, and a few people, some of their fields changed."""

from typing import Any

import numpy as np

from fairfl.sims.data.federated import FederatedData
from fairfl.sims.data.tables.table import Dataset


def samples(**changes: Any) -> FederatedData:
    fields = {"x": np.arange(8.0).reshape(4, 2), "y": [0, 1, 1, 0], "owner": [1, 0, 1, 2]}
    return FederatedData("small", **(fields | {"n_clients": 4} | changes))


def people(**changes: Any) -> Dataset:
    fields = {"features": np.arange(10.0).reshape(5, 2), "feature_names": ("x", "z")}
    fields |= {"label": np.array([0, 1, 1, 0, 1]), "group": np.array([0, 1, 2, 2, 0])}
    fields |= {"group_names": ("a", "b", "c"), "client": np.array([1, 0, 1, 0, 1])}
    fields |= {"client_names": ("here", "there")}
    fields |= {"is_test": np.array([False, False, False, True, True]), "note": "Made up."}
    return Dataset("small", **(fields | changes))
