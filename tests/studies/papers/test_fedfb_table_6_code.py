"""Table 6's clients as the published code draws them, by its description; and its rows on made-up people."""

import random

import numpy as np
import pytest
from code_people import code_people

from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.fedfb import code_rules as fedfb_code_rules
from fairfl.studies.papers.fedfb import table_6_code as fedfb_table_6_code
from fairfl.studies.papers.fedfb.data import DIRICHLET, LEVELS
from fairfl.studies.papers.fedfb.table_6_code import METHODS, PUBLISHED
from fairfl.studies.papers.fedfb.table_6_rows import CLIENTS, FIXED, LEAST, adult_clients, compas_clients

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


def test_from_data_to_a_table(monkeypatch, tmp_path):
    """Every method, kept and read again: choices are words, and both seeds are there."""
    for name, few in (("EPOCHS", 1), ("ROUNDS", 6)):
        monkeypatch.setattr(fedfb_code_rules, name, few)
    monkeypatch.setattr(fedfb_table_6_code, "ROUNDS", 6)
    monkeypatch.setattr(fedfb_table_6_code, "ALPHAS", (0.05, 0.1))
    monkeypatch.setattr(fedfb_table_6_code, "code_rows", lambda name: code_people())
    units = [unit for unit in fedfb_table_6_code.units(Scale("paper", 2)) if unit.dataset == "COMPAS, 0.1"]
    rows = run_units(units, tmp_path)
    assert run_units(units, tmp_path, resume=True).equals(rows)
    assert {name: len(mine) for name, mine in rows.groupby("objective")} == dict.fromkeys(METHODS, 2) | {
        "all 0": 1, "all 1": 1,
    }  # fmt: skip
    told = fedfb_table_6_code.differences(rows)
    assert any(line.startswith("COMPAS, 0.1, FedFB: lr ") for line in told)
    assert set(fedfb_table_6_code.values(rows)["measure"]) == {"Acc.", "DP disp.", "|SPD|"}
