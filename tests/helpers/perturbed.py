"""The tests under another rounding: what a test says of the outcome of training must hold on any
processor.

``PERTURB=start-0 pytest tests/sims/experiments``, or with another of ``KINDS``, runs tests so;
``make perturbed``, a part of ``make verify-deep``, runs those below tests/sims under each kind.
Left out are statements on arithmetic itself: last digits, equal bytes, a start at exactly 0, what a
precision holds. They are tests/sims/engine and tests/sims/algorithms, which hold the engine to its
twin and to fractions, and elsewhere the tests marked ``exact``.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

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


@contextmanager
def precision(dtype: torch.dtype) -> Iterator[None]:
    """All simulations in one precision, whatever is asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Computing, "torch_dtype", dtype)
        yield


KINDS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    **{f"start-{seed}": partial(start, seed) for seed in range(3)},
    "float32": partial(precision, torch.float32),
    "float64": partial(precision, torch.float64),
}


def perturbed(kind: str) -> AbstractContextManager[object]:
    """Another rounding for all that is trained within."""
    if kind not in KINDS:
        raise ValueError(f"PERTURB must be one of {', '.join(KINDS)}, got {kind!r}")
    return KINDS[kind]()
