"""Loss and accuracy of every client on every part of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.losses import measure
from fairfl.sims.engine.model import Model
from fairfl.sims.engine.transfers import brought


def evaluated(
    model: Model, which: Mapping[str, Tensor], parts: Mapping[str, ClientData], memory_limit: int
) -> Iterator[dict[str, Any]]:
    """A row a part and each of the parameters: one model's (P,), or a row a client (K, P)."""
    for part, data in parts.items():
        for name, params in which.items():
            everyone, own = np.arange(data.clients), params.ndim > 1
            found = measure(model, params, data, everyone, own=own, memory_limit=memory_limit)
            right = found.accuracies()
            means, *accuracies = brought([found.means(), *([] if right is None else [right])])
            yield {
                "part": part,
                "model": name,
                "client": data.names,
                "samples": data.sizes,
                "loss": means,
                "accuracy": accuracies[0] if accuracies else None,
            }
