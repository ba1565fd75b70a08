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


def masked(
    rows: Tensor, ids: Tensor, *words: int, column: int = 0, others: Tensor | None = None
) -> Tensor:
    """``masks.mask`` of rows (k, S) of clients ``ids`` (k,) as int64; without its error."""
    sent = (rows.to(torch.float64) * 2.0**masks.FRACTION).round().to(torch.int64)
    count, width = rows.shape
    slots = torch.arange(column, column + width, device=rows.device)
    state, step = signed(int(counter.key(*words)[0])), max(1, masks.PAIRS // max(1, count * width))

    def pads(one: Tensor, other: Tensor) -> Tensor:
        one, other, found = one[:, None, None], other[None, :, None], state
        for word in (torch.minimum(one, other), torch.maximum(one, other), slots):
            found = mix((mix(word + STRIDE) ^ found) + STRIDE)
        return torch.where(one < other, found, -found)

    for begin in range(0, count - 1, step):  # the pairs of some clients with all after them
        own = pads(ids[begin : begin + step], ids[begin:])
        own *= torch.ones(own.shape[:2], dtype=torch.int64, device=rows.device).triu(1)[..., None]
        sent[begin : begin + step] += own.sum(1)
        sent[begin:] -= own.sum(0)
    for some in () if others is None else others.split(step):
        sent += pads(ids, some).sum(1)
    return sent


def masked_sum(rows: Tensor, ids: Tensor, *words: int, others: Tensor | None = None) -> Tensor:
    """The sum (S,) of the messages, made some columns at a time, as ``masks.mask`` makes them."""
    wide = max(1, masks.PAIRS // len(rows))
    parts = [
        masked(part, ids, *words, column=k * wide, others=others).sum(0)
        for k, part in enumerate(rows.split(wide, 1))
    ]
    return torch.cat(parts)
