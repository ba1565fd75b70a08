"""``masks.py`` on a GPU: the same messages of updates, masked and added up on the device.

Words of 64 bits are torch's int64 here, whose sums wrap as the unsigned ones do
(``draws/device_order.py``).
"""

from __future__ import annotations

import torch
from torch import Tensor

from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.draws.device_order import STRIDE, mix, signed
from fairfl.sims.engine.secure import masks


def masked(rows: Tensor, ids: Tensor, *words: int, column: int = 0) -> Tensor:
    """``masks.mask`` of rows (k, S) of clients ``ids`` (k,) as int64, but for its error: nothing
    waits for the device.
    """
    sent = (rows.to(torch.float64) * 2.0**masks.FRACTION).round().to(torch.int64)
    count, width = rows.shape
    slots = torch.arange(column, column + width, device=rows.device)
    state, step = signed(int(counter.key(*words)[0])), max(1, masks.PAIRS // max(1, count * width))
    for begin in range(0, count - 1, step):  # the pairs of some clients with all after them
        one, other = ids[begin : begin + step, None, None], ids[None, begin:, None]
        pads = state
        for word in (torch.minimum(one, other), torch.maximum(one, other), slots):
            pads = mix((mix(word + STRIDE) ^ pads) + STRIDE)
        pads = torch.where(one < other, pads, -pads)
        pads *= torch.ones(pads.shape[:2], dtype=torch.int64, device=rows.device).triu(1)[..., None]
        sent[begin : begin + step] += pads.sum(1)
        sent[begin:] -= pads.sum(0)
    return sent


def masked_sum(rows: Tensor, ids: Tensor, *words: int) -> Tensor:
    """The sum (S,) of the reports from their messages, some columns at a time, in float64; NaN
    where a report is not finite or too large.
    """
    count, width = rows.shape
    wide = max(1, masks.PAIRS // count)
    parts = [
        masked(part, ids, *words, column=k * wide).sum(0)
        for k, part in enumerate(rows.split(wide, 1))
    ]
    total = torch.cat(parts).to(torch.float64) * 2.0**-masks.FRACTION
    fits = (rows.abs() < masks.LARGEST / count).all()
    return torch.where(fits, total, torch.nan)
