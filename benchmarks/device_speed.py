"""The speed of a device: bandwidth of a copy, rate of a matrix product, and wall times."""

import time
from collections.abc import Callable

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from fairfl.sims.models import ResNet18GN

NUMBER = 4
"""Bytes of one float32."""


def has_gpu() -> bool:
    """Whether there is a CUDA device."""
    return torch.cuda.is_available()


def name_of(device: str) -> str:
    """A GPU's product name, else the name of the device."""
    return torch.cuda.get_device_name() if device.startswith("cuda") else device


def room(device: str) -> int:
    """Memory limit of a chunk in bytes: half of the free memory of a GPU, else 1 GiB."""
    return torch.cuda.mem_get_info()[0] // 2 if device.startswith("cuda") else 1 << 30


def timed(function: Callable[[], object], device: str, rounds: int) -> float:
    """The shortest wall time of ``rounds`` runs after two, each synchronised with the device."""
    best = np.inf
    for k in range(rounds + 2):
        wait(device)
        begin = time.perf_counter()
        function()
        wait(device)
        best = min(best, time.perf_counter() - begin) if k >= 2 else best
    return float(best)


def wait(device: str) -> None:
    """Return when the device has done its work."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def bandwidth(device: str, numbers: int, rounds: int) -> float:
    """Bytes per second that a copy of ``numbers`` float32 reads and writes."""
    source = torch.zeros(numbers, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    return 2 * NUMBER * numbers / timed(lambda: target.copy_(source), device, rounds)


def precision() -> str:
    """The precision of float32 convolutions on a GPU under torch's settings."""
    return "TF32" if torch.cuda.is_available() and torch.backends.cudnn.allow_tf32 else "float32"


def product_rate(device: str, side: int, rounds: int) -> float:
    """Floating-point operations a second of a product of two square float32 matrices."""
    a, before = torch.ones(side, side, device=device), torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = precision() == "TF32"
    try:
        return 2 * side**3 / timed(lambda: a @ a, device, rounds)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def resnet_operations(width: int, side: int) -> float:
    """Floating-point operations of an image's forward and backward pass (ResNet-18-GN)."""
    module = ResNet18GN(width=width)
    with FlopCounterMode(display=False) as counter:
        module(torch.zeros(1, 3, side, side)).sum().backward()
    return float(counter.get_total_flops())
