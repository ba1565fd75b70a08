"""Budgets at the corners of the box, which searches start from."""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array

SLACK_BUDGET = 1.0
"""A budget that binds nobody: |MD_k| never exceeds one."""


def corner_budgets(bound: Array, count: int) -> Array:
    """Budgets (B, K) at corners of the box: every subset of constraints exactly tight, for many clients a selection.

    None tight and all tight are always among them.
    """
    rng = np.random.default_rng(2)
    if bound.size <= 5:
        tight = (np.arange(2**bound.size)[:, None] >> np.arange(bound.size)) & 1 == 1
    else:
        none, one = np.zeros((1, bound.size), bool), np.eye(bound.size, dtype=bool)
        tight = np.concatenate([none, one, ~one, rng.random((32, bound.size)) < 0.5, ~none])
    eps = np.full((tight.shape[0], count), SLACK_BUDGET)
    eps[:, bound] = np.where(tight, 0.0, SLACK_BUDGET)
    return eps
