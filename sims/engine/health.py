"""NaN or infinite updates: raise, drop or clip, and count."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.algorithm import Arrivals
from fairfl.sims.engine.settings import Computing


class NonFiniteUpdate(ArithmeticError):
    """A client's update or loss is NaN or infinite, and the policy is to stop."""


class Dropped(Exception):
    """An update that was to be left out came after others had been used: ask again."""


def finite_rows(updates: Tensor) -> NDArray[np.bool_]:
    """Which rows (m, P) hold no NaN and no infinity (m,)."""
    # one pass without a mask; an overflowing sum is looked at again
    quick = np.isfinite(updates.sum(1).cpu().numpy())
    for row in () if quick.all() else np.flatnonzero(~quick):
        quick[row] = bool(torch.isfinite(updates[row]).all())
    return quick


def heal(
    updates: Tensor, ids: NDArray[np.int64], round: int, computing: Computing, what: str = "update"
) -> tuple[NDArray[np.bool_], int]:
    """Which rows to keep (m,), and how many were not finite; "clip" changes them in place."""
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


class Healed:
    """A round's updates as they come, some clients at a time, each task's (m', P), with what the
    policy makes of those that are not finite.

    ``train`` gives the parts, as often as they are asked for. ``bad`` counts the updates that were
    not finite; ``keep`` says whose are looked at. Under "drop" all are at first: a pass that finds
    one that is not finite goes on to the end, leaves all such out, and raises ``Dropped``.
    """

    def __init__(
        self, train: Arrivals, ids: NDArray[np.int64], round: int, computing: Computing
    ) -> None:
        self.train, self.ids, self.round, self.computing = train, ids, round, computing
        self.keep, self.bad = np.ones(len(ids), dtype=bool), 0

    def __call__(self) -> Iterator[tuple[Tensor, ...]]:
        """The updates of the clients that are kept."""
        passed = self._passed()
        for rows, part, fine in passed:
            keep = self.keep[rows]
            if not fine[keep].all():
                for some, good in [(rows, fine), *((at, ok) for at, _, ok in passed)]:
                    self.keep[some] &= good
                raise Dropped
            if keep.all():
                yield part
            elif keep.any():
                index = torch.from_numpy(np.flatnonzero(keep)).to(part[0].device)
                yield tuple(task[index] for task in part)

    def _passed(self) -> Iterator[tuple[slice, tuple[Tensor, ...], NDArray[np.bool_]]]:
        """The parts, healed, and which of their rows may be kept."""
        first, counts = 0, np.zeros(1)
        for part in self.train():
            rows = slice(first, first := first + len(part[0]))
            ids = self.ids[rows]
            found = [heal(task, ids, self.round, self.computing) for task in part]
            counts = counts + [count for _, count in found]
            yield rows, part, np.logical_and.reduce([fine for fine, _ in found])
        self.bad = max(self.bad, int(counts.max()))
