"""NaN or infinite updates: raise, drop or clip, and count."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.settings import Computing


class NonFiniteUpdate(ArithmeticError):
    """A client's update or loss is NaN or infinite, and the policy is to stop."""


def finite_rows(updates: Tensor) -> NDArray[np.bool_]:
    """Which rows (m, P) hold no NaN and no infinity (m,)."""
    # 0 times the sum: one pass without a mask; NaN where a row has either, and an overflowing sum
    # is looked at again.
    quick = (updates.sum(1) * 0 == 0).cpu().numpy()
    for row in np.flatnonzero(~quick):
        quick[row] = bool(torch.isfinite(updates[row]).all())
    return quick


def heal(
    updates: Tensor, ids: NDArray[np.int64], round: int, computing: Computing, what: str = "update"
) -> tuple[NDArray[np.bool_], int]:
    """Which rows to keep (m,), and how many were not finite; under "clip" such rows are changed in
    place.
    """
    fine = finite_rows(updates)
    bad = np.flatnonzero(~fine)
    if len(bad) == 0:
        return fine, 0
    if computing.non_finite == "raise":
        refuse(ids[bad], round, what)
    if computing.non_finite == "drop":
        return fine, len(bad)
    limit = float(computing.clip_norm or 0.0)
    for row in bad:
        fixed = torch.nan_to_num(
            updates[row].to(torch.float64), nan=0.0, posinf=limit, neginf=-limit
        )
        fixed *= min(1.0, limit / max(float(fixed.norm()), 1e-300))
        updates[row] = fixed.to(updates.dtype)
    return np.ones(len(fine), dtype=bool), len(bad)


def refuse(ids: NDArray[np.int64], round: int, what: str) -> None:
    """Raise, naming who and when."""
    told = ", ".join(str(int(k)) for k in ids[:5]) + (
        f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    )
    raise NonFiniteUpdate(
        f"the {what} of client {told} is NaN or infinite in round {round}: lower the learning "
        "rate, "
        "or set non_finite='drop' or 'clip'"
    )
