"""People as the published code has them, small and drawn by a seed."""

import numpy as np

from fairfl.studies.papers.fedfb.code_data import CodeRows


def code_people(groups=2, n=200, clients=2):
    """Rows of two features and the group; three quarters train."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, groups, n)
    x = np.column_stack([rng.normal(size=(n, 2)), a]).astype(np.float64)
    y = (x[:, 0] + rng.normal(size=n) > 0).astype(int)
    known, owner = np.arange(3 * n // 4), rng.integers(0, clients, 3 * n // 4)
    return CodeRows(x, y, a, tuple(known[owner == k] for k in range(clients)), known, np.arange(len(known), n))
