"""Timings of the objectives: values and dual weights of many loss vectors, against a plain sum.

The sum reads the array once; what an objective must do besides is to write as large an array of
weights, into memory that is fresh, and to take an exponential or a logarithm a number, or to sort.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.timing import Row, Sizes, interleaved
from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, Objective, PropFair, RankWeighted

CLIENTS = 100
OBJECTIVES: tuple[Objective, ...] = (
    FedAvg(),
    AFL(),
    QFFL(1.0),
    QFFL(1.3),
    PropFair(2.0),
    TERM(1.0),
    RankWeighted.gini(),
)


def objectives(sizes: Sizes) -> Iterator[Row]:
    """A row per objective, and one with ties everywhere."""
    losses = np.random.default_rng(4).random((sizes.vectors, CLIENTS))
    told = f"{sizes.vectors:,} vectors of {CLIENTS} losses"
    ours = [(f"{aim!r}: {told}", aim, losses) for aim in OBJECTIVES]
    gini = RankWeighted.gini()
    ours.append((f"{gini!r}, losses rounded to 0.01: {told}", gini, np.round(losses, 2)))
    # in pairs: a long row has as many chances of a quiet machine as a short one
    for name, aim, given in ours:
        total, took = interleaved(
            sizes.rounds, lambda: losses.sum(axis=-1), partial(aim.value_and_dual_weights, given)
        )
        note = f"{took / total:.3g} times the sum"
        yield Row(f"value and dual weights of {name}", took, "a plain sum", total, None, note)
