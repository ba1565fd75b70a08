"""The memory of tensors that are alive, measured."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def peak_bytes(function: Callable[[], Any]) -> int:
    """The most bytes that tensors made within ``function`` held at a time; what an operation needs
    inside is not seen.

    Counted when a storage is first seen and when it goes: any device, and no allocator is asked.
    """
    with _Counting() as counting:
        function()
    return counting.most


class _Counting(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()
        self.now = self.most = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._note((args, kwargs), counted=False)  # what was there before, or is counted already
        made = func(*args, **(kwargs or {}))
        self._note(made, counted=True)
        self.most = max(self.most, self.now)
        return made

    def _note(self, values: Any, *, counted: bool) -> None:
        for tensor in tree_leaves(values):
            if isinstance(tensor, Tensor):
                storage = tensor.untyped_storage()
                if storage._cdata not in self.seen:
                    self.seen.add(storage._cdata)
                    size = storage.nbytes() if counted else 0
                    self.now += size
                    weakref.finalize(storage, self._gone, storage._cdata, size)

    def _gone(self, key: int, size: int) -> None:
        self.seen.discard(key)
        self.now -= size
