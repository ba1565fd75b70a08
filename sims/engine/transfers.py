"""Numbers to and from the device: those of all replicates in one transfer each way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.task import Floats


def brought(tensors: Sequence[Tensor]) -> list[Floats]:
    """The tensors as arrays of float64, of one device: the host waits for it once."""
    if not tensors or tensors[0].device.type == "cpu":
        return [tensor.numpy().astype(np.float64) for tensor in tensors]
    whole = torch.cat([tensor.reshape(-1).to(torch.float64) for tensor in tensors]).cpu().numpy()
    ends = np.cumsum([tensor.numel() for tensor in tensors])[:-1]
    parts = np.split(whole, ends)
    return [part.reshape(tensor.shape) for part, tensor in zip(parts, tensors, strict=True)]


def sent(arrays: Sequence[NDArray], device: torch.device) -> list[Tensor]:
    """The arrays, of one dtype, as tensors on ``device``: one transfer."""
    given = [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays]
    if not given or device.type == "cpu":
        return given
    whole = torch.cat([tensor.reshape(-1) for tensor in given]).to(device)
    parts = whole.split([tensor.numel() for tensor in given])
    return [part.view(tensor.shape) for part, tensor in zip(parts, given, strict=True)]
