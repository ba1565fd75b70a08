"""Rank weights averaged over the draws of clients, where the drawn are ranked among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any

from fairfl._support.checks import whole


def weights_of_draws(ranks: Sequence[Any], clients: int) -> list[Any]:
    """Mean weight of the client with the k-th largest of ``clients`` different losses, k = 1, 2,
    ...

    m = len(ranks) clients are drawn, every set of them equally likely, and the j-th largest loss
    among them weighs ranks_j. The k-th largest of all is the j-th of the draw where j - 1 of the k
    - 1 larger and m - j of the n - k smaller ones are drawn, so that

        w_k = sum_j ranks_j C(k - 1, j - 1) C(n - k, m - j) / C(n, m),
        sum_k w_k = sum_j ranks_j.

    So p-FedAvg with m of n clients and one full step descends, on average, on the rank-weighted
    mean with w, not on the one with n weights of the same family. Gini weights (2 (m - j) + 1) / m²
    become w_k = 1/n + (n + 1 - 2 k) (m - 1) / (m n (n - 1)), Gini's tilt (n + 1 - 2 k) / n² times n
    (m - 1) / (m (n - 1)).

    Fractions where ``ranks`` are.
    Errors: ValueError unless 1 <= m <= clients.
    Source: ours; p-FFL, algorithm 1, draws clients and ranks them so.
    """
    m, n = len(ranks), int(whole("clients", clients, 1))
    if not 1 <= m <= n:
        raise ValueError(f"ranks must be from 1 to {n} weights, one a client drawn, got {m}")
    return [
        sum(
            v * Fraction(comb(k, j) * comb(n - 1 - k, m - 1 - j), comb(n, m))
            for j, v in enumerate(ranks)
        )
        for k in range(n)
    ]
