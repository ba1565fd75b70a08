"""Table 6's clients as the published code draws them, by its description; and its rows on made-up people."""

import random

import numpy as np
import pytest

from fairfl.sims.experiments.fedfb_data import DIRICHLET, LEVELS
from fairfl.sims.experiments.fedfb_table_6_code import CLIENTS, FIXED, LEAST, PUBLISHED, adult_clients, compas_clients

FIRST, SECOND = np.arange(0, 4000), np.arange(4000, 5000)


def test_compas_by_a_plain_loop():
    """Two streams from seed 1, numpy's and Python's, one level after the other: the same rows in the same order."""
    numbers, shuffler = np.random.RandomState(1), random.Random(1)
    found = compas_clients(FIRST, SECOND)
    assert tuple(found) == LEVELS
    for level in LEVELS:
        clients = []
        for _ in range(5):
            p = numbers.dirichlet((level, level))
            one = numbers.choice(FIRST, int(p[0] * 4000), replace=True)
            other = numbers.choice(SECOND, int(p[1] * 1000), replace=True)
            clients.append(np.concatenate((one, other)))
        for rows, mine in zip(clients, found[level], strict=True):
            shuffler.shuffle(rows)
            assert rows.tolist() == mine.tolist()


def test_adult_has_the_mix_of_all_people_but_where_counts_are_fixed():
    found = adult_clients(FIRST, SECOND)
    for level, clients in found.items():
        assert len(clients) == CLIENTS
        for k, rows in enumerate(clients):
            white, others = int((rows < 4000).sum()), int((rows >= 4000).sum())
            if level in FIXED:
                assert (others, white) == FIXED[level][k]
            elif white > LEAST:
                assert white / 4000 == pytest.approx(others / 1000, abs=1e-3)  # one share of both


def test_the_published_rows_are_table_6():
    assert set(PUBLISHED["dataset"]) == set(DIRICHLET)
    assert set(PUBLISHED["objective"]) == {"FedFB", "FedFB, first version"}
