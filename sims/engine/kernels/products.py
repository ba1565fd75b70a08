"""Products of matrices, one a client, whose bits do not depend on how many clients there are.

On a CPU torch multiplies one pair of which a side is 1 by another routine than several: such a pair
goes twice.
"""

from __future__ import annotations

import torch
from torch import Tensor


def product(a: Tensor, b: Tensor) -> Tensor:
    """a b (A, n, m), of a (A, n, k) and b (A, k, m)."""
    if a.size(0) == 1 and _thin(a, b):
        return torch.bmm(_twice(a), _twice(b))[:1]
    return torch.bmm(a, b)


def add_product(out: Tensor, a: Tensor, b: Tensor, factor: float) -> None:
    """out += factor a b."""
    if a.size(0) == 1 and _thin(a, b):
        out.copy_(torch.baddbmm(_twice(out), _twice(a), _twice(b), alpha=factor)[:1])
    else:
        out.baddbmm_(a, b, alpha=factor)


def _thin(a: Tensor, b: Tensor) -> bool:
    return 1 in (a.size(1), a.size(2), b.size(2))


def _twice(a: Tensor) -> Tensor:
    return a.expand(2, -1, -1)
