"""A GPU that is none: tensors that say they are on another device, and compute on the CPU. Last,
the same of a real one.

What a real one refuses is refused: an operation on tensors of two devices (numbers of no dimension
aside), an index from the host, ``numpy()`` of its tensors. What makes the host wait for it, or
sends it something, is counted. So the engine's path on a GPU runs without one, and must end where
the CPU's does. The device is called "meta": torch asks for CUDA itself as soon as it hears of
"cuda".
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from fairfl.sims.engine import Computing

GPU = torch.device("meta")
aten = torch.ops.aten
COPIES = (aten._to_copy.default, aten.copy_.default)


class OnGPU(Tensor):
    """A tensor of the pretended GPU; ``tensor`` has its numbers."""

    tensor: Tensor

    @staticmethod
    def __new__(cls, tensor: Tensor) -> OnGPU:
        places = {"strides": tensor.stride(), "storage_offset": tensor.storage_offset()}
        kind = {"dtype": tensor.dtype, "device": GPU}
        wrapper = Tensor._make_wrapper_subclass(cls, tensor.shape, **places, **kind)
        wrapper.tensor = tensor
        return wrapper

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{func} on a tensor of the pretended GPU outside of it")


class Counted(TorchDispatchMode):
    """Counts a real GPU's operations, and in ``waited`` what torch warns of: waits and sends."""

    place = torch.device("cuda", 0)
    close = 1e-9  # relative to the CPU's: sums have another order
    waits = 28  # and sends

    def __init__(self) -> None:
        super().__init__()
        self.sent: Counter[str] = Counter()
        self.waited: Counter[str] = Counter()
        self.operations = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operations += 1
        return func(*args, **(kwargs or {}))


class Pretended(Counted):
    """Runs the pretended GPU's operations; ``sent``, ``waited`` count transfers and waits."""

    place = GPU
    close = 1e-12  # relative to the CPU's: the same sums in the same order
    waits = 4  # at most, in a round

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        tensors = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, Tensor)]
        on_gpu = [t for t in tensors if isinstance(t, OnGPU)]
        target = kwargs.get("device")
        to_gpu = target is not None and torch.device(target) == GPU
        if not on_gpu and not to_gpu:
            return func(*args, **kwargs)
        self.operations += 1
        name = str(func)
        others = [t for t in tensors if not isinstance(t, OnGPU) and t.dim() > 0]
        if func in COPIES:
            self._count(func, args, on_gpu, others, target, to_gpu)
        elif on_gpu and others:
            raise RuntimeError(
                f"{name}: expected all tensors on one device, found the GPU and the CPU"
            )
        elif name.startswith("aten._local_scalar_dense"):
            self.waited[name] += 1
        if target is not None:
            kwargs["device"] = torch.device("cpu")
        kwargs.pop("non_blocking", None)
        gpu_of = {id(t.tensor): t for t in on_gpu}
        out = func(*tree_map(_open, args), **tree_map(_open, kwargs))
        stays = to_gpu if func is COPIES[0] and target is not None else bool(on_gpu) or to_gpu
        if name.startswith("aten._local_scalar_dense") or not stays:
            return out
        return tree_map(lambda t: gpu_of.get(id(t), OnGPU(t)) if isinstance(t, Tensor) else t, out)

    def _count(
        self, func: Any, args: Any, on_gpu: Any, others: Any, target: Any, to_gpu: bool
    ) -> None:
        if func is COPIES[0]:
            if on_gpu and target is not None and not to_gpu:
                self.waited[str(func)] += 1
            elif not on_gpu and to_gpu:
                self.sent[str(func)] += 1
        elif on_gpu and others:
            (self.sent if isinstance(args[0], OnGPU) else self.waited)[str(func)] += 1


def _open(value: Any) -> Any:
    return value.tensor if isinstance(value, OnGPU) else value


@contextmanager
def pretended_gpu(monkeypatch: Any) -> Iterator[Pretended]:
    """In this context every ``Computing`` is on the pretended GPU."""
    with monkeypatch.context() as patch:
        patch.setattr(Computing, "place", lambda self: GPU)
        with Pretended() as mode:
            yield mode


@contextmanager
def real_gpu(monkeypatch: Any) -> Iterator[Counted]:
    """In this context every ``Computing`` is on the first GPU."""
    mode = Counted()
    with monkeypatch.context() as patch, warnings.catch_warnings():
        patch.setattr(Computing, "place", lambda self: mode.place)
        warnings.filterwarnings("always", message=".*synchronizing CUDA operation")
        patch.setattr(
            warnings, "showwarning", lambda message, *_, **__: mode.waited.update([str(message)])
        )
        with warnings.catch_warnings(action="ignore"):  # that this is a prototype
            torch.cuda.set_sync_debug_mode("warn")
        try:
            with mode:
                yield mode
        finally:
            torch.cuda.set_sync_debug_mode("default")
