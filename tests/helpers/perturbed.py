"""The tests under another rounding: what a test says of the outcome of training must hold on any
processor.

``PERTURB=start-0 pytest tests/sims/experiments``, or with another of ``KINDS``, runs tests so;
``make perturbed``, a part of ``make verify-deep``, runs those below tests/sims under each kind.
Left out are statements on arithmetic itself: last digits, equal bytes, a start at exactly 0, what a
precision holds. They are tests/sims/engine and tests/sims/algorithms, which hold the engine to its
twin and to fractions, and elsewhere the tests marked ``exact``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

import fairfl.sims.models  # noqa: F401 - all models are known once it is there
from fairfl.sims.engine import Computing, Model

RELATIVE = 1e-7
"""How far each of the first parameters is moved, as a share of it; where it is 0, this much."""


@contextmanager
def start(seed: int) -> Iterator[None]:
    """The first parameters w become w ± 1e-7 |w|, or ± 1e-7 where they are 0."""

    def moved(first: Tensor) -> Tensor:
        draws = torch.rand(len(first), generator=torch.Generator().manual_seed(seed))
        size = torch.where(first == 0, torch.ones_like(first), first.abs())
        return first + RELATIVE * torch.where(draws < 0.5, -size, size)

    def wrapped(init: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda *args, **named: moved(init(*args, **named))

    with pytest.MonkeyPatch.context() as patch:
        for kind in set(descendants(Model)):
            if "init" in vars(kind):
                patch.setattr(kind, "init", wrapped(kind.init))
        yield


def descendants(kind: type) -> Iterator[Any]:
    for child in kind.__subclasses__():
        yield child
        yield from descendants(child)


class Backwards(TorchFunctionMode):
    """torch's products and sums, over samples, clients, features, from the last term."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = getattr(func, "__name__", ""), dict(kwargs or {})
        if name in TURNED:
            args = TURNED[name](args, kwargs)
        result = func(*args, **kwargs)
        return result.flip(0) if name == "segment_reduce" else result


def _product(args: Any, kwargs: Any) -> Any:
    """(a, b), after what they are added to."""
    *before, a, b = args
    return *before, a.flip(-1), b.flip(-2 if b.ndim > 1 else -1)


def _linear(args: Any, kwargs: Any) -> Any:
    x, weight, *bias = args
    return x.flip(-1), weight.flip(-1), *bias


def _sum(args: Any, kwargs: Any) -> Any:
    x, *others = args
    dim = kwargs.get("dim", others[0] if others else None)
    return x.flip(tuple(range(x.ndim)) if dim is None else dim), *others


def _segments(args: Any, kwargs: Any) -> Any:
    kwargs["lengths"] = kwargs["lengths"].flip(0)
    return args[0].flip(0), *args[1:]


TURNED: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("matmul", "__matmul__", "mm", "bmm", "baddbmm", "baddbmm_"), _product),
    "__rmatmul__": lambda args, kwargs: _product(args[::-1], kwargs)[::-1],
    "linear": _linear,
    "sum": _sum,
    "mean": _sum,
    "segment_reduce": _segments,
}


@contextmanager
def threads() -> Iterator[None]:
    """torch has two threads, as on a machine of two cores; the engine may still go down to one."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def precision(dtype: torch.dtype) -> Iterator[None]:
    """All simulations in one precision, whatever is asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Computing, "torch_dtype", dtype)
        yield


KINDS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    **{f"start-{seed}": partial(start, seed) for seed in range(3)},
    "order": Backwards,
    "threads": threads,
    "float32": partial(precision, torch.float32),
    "float64": partial(precision, torch.float64),
}


def perturbed(kind: str) -> AbstractContextManager[object]:
    """Another rounding for all that is trained within."""
    if kind not in KINDS:
        raise ValueError(f"PERTURB must be one of {', '.join(KINDS)}, got {kind!r}")
    return KINDS[kind]()
