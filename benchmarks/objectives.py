"""Timings of the objectives: values and dual weights of many loss vectors, against a plain sum.

The sum reads the array once; what an objective must do besides is to write as large an array of
weights, into memory that is fresh, and to take an exponential or a logarithm a number, or to sort.
Both of these are timed alone, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.timing import Row, Sizes, interleaved
from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, Objective, PropFair, RankWeighted
from fairfl.theory.aggregation._arrays import BLOCK

CLIENTS = 100
AIM, AIM_SORTING = 10, 40
"""Times the sum."""
OBJECTIVES: tuple[tuple[Objective, int], ...] = (
    (FedAvg(), AIM),
    (AFL(), AIM),
    (QFFL(1.0), AIM),
    (QFFL(1.3), AIM),
    (PropFair(2.0), AIM),
    (PropFair(50.0), AIM),
    (TERM(0.01), AIM),
    (TERM(1.0), AIM),
    (RankWeighted.gini(), AIM_SORTING),
    (RankWeighted.cvar(0.9), AIM_SORTING),
)


def objectives(sizes: Sizes) -> Iterator[Row]:
    """A row an objective, one with ties everywhere, and what a bare exponential and a bare sort
    take.
    """
    losses = np.random.default_rng(4).random((sizes.vectors, CLIENTS))
    tied = np.round(losses, 2)
    room = np.empty_like(losses)
    ours: list[tuple[str, int | None, Callable[[], Any]]] = [
        (_named(aim), times, lambda aim=aim: aim.value_and_dual_weights(losses))
        for aim, times in OBJECTIVES
    ]
    gini = RankWeighted.gini()
    ours.append(
        (
            f"{_named(gini)}, losses rounded to 0.01",
            AIM_SORTING,
            lambda: gini.value_and_dual_weights(tied),
        )
    )
    ours.append(("exp of every loss, nothing else", None, lambda: blockwise(np.exp, losses, room)))
    ours.append(
        ("sort of every vector, nothing else", None, lambda: blockwise(_sort, losses, room))
    )
    told = f"{sizes.vectors:,} vectors of {CLIENTS} losses"
    # in pairs: a long row has as many chances of a quiet machine as a short one
    for name, times, call in ours:
        total, took = interleaved(sizes.rounds, lambda: losses.sum(axis=-1), call)
        note = f"{took / total:.3g} times the sum" + ("" if times is None else f", aim {times}")
        yield Row(
            f"{name}: {told}",
            took,
            "a plain sum",
            total,
            None if times is None else times * total,
            note,
        )


def blockwise(function: Callable[..., Any], x: np.ndarray, out: np.ndarray) -> None:
    """``function(x, out=...)`` on as many rows at a time as the objectives take."""
    step = max(1, BLOCK // x.shape[-1])
    for start in range(0, len(x), step):
        function(x[start : start + step], out=out[start : start + step])


def _sort(x: np.ndarray, out: np.ndarray) -> None:
    out[...] = np.sort(x, axis=-1)


def _named(objective: Objective) -> str:
    return f"value and dual weights of {objective!r}"
