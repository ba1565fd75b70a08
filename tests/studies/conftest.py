"""Data files in the real formats, small enough for a run to take a moment, and experiments cut to a
few rounds.
"""

import json

import numpy as np
import pytest

from fairfl.sims.data.fetch import Remote
from fairfl.sims.data.tables.adult import COLUMNS
from fairfl.studies.papers.pffl import table_1 as pffl_table_1
from fairfl.studies.papers.propfair import runs as propfair_runs
from fairfl.studies.papers.qffl import figures_3_6_9, three_classes
from fairfl.studies.papers.qffl import runs as qffl_runs
from fairfl.studies.papers.qffl import table_2 as qffl_table_2


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with Vehicle (12 users), MNIST (700 images) and Adult (150 and 60 people), named by
    FAIRFL_DATA.
    """
    folder = tmp_path / "data"
    rng = np.random.default_rng(0)
    for name in ("vehicle", "mnist", "adult"):
        (folder / name).mkdir(parents=True)
    users = {f"s{k}": 10 + 3 * k for k in range(12)}
    data = {}
    for user, n in users.items():
        x = rng.normal(size=(n, 100))
        data[user] = {
            "x": x.tolist(),
            "y": np.where(x[:, :1] + 0.3 * rng.normal(size=(n, 1)) > 0, 1, -1).tolist(),
        }
    (folder / "vehicle/vehicle.json").write_text(
        json.dumps({"users": list(users), "user_data": data})
    )
    label = np.arange(700, dtype=np.uint8) % 10
    image = rng.integers(0, 60, (700, 28, 28), dtype=np.uint8)
    image[np.arange(700), label, :] = 250  # a bright row tells the class
    np.savez(folder / "mnist/mnist.npz", x=image, y=label)
    for name, count in (("adult.data", 150), ("adult.test", 60)):
        rows = []
        for k in range(count):
            doctor = k % 5 == 0
            known = {
                "age": 30 + k % 40,
                "workclass": ("Private", "State-gov", "?")[k % 3],
                "fnlwgt": 1000 + k,
                "education": "Doctorate" if doctor else ("HS-grad", "Bachelors")[k % 2],
                "education-num": 9,
                "marital-status": ("Divorced", "Never-married")[k // 3 % 2],
                "occupation": "Sales",
                "relationship": "Husband",
                "race": "White",
                "sex": ("Male", "Female")[k % 2],
                "capital-gain": 0,
                "capital-loss": 0,
                "hours-per-week": 40,
                "native-country": "Cuba",
                "income": ">50K" if doctor or k % 7 == 0 else "<=50K",
            }
            rows.append(", ".join(str(known[column]) for column in COLUMNS))
        (folder / "adult" / name).write_text("\n".join(rows) + "\n")
    monkeypatch.setenv("FAIRFL_DATA", str(folder))
    monkeypatch.setattr(Remote, "known", ())  # what is made here is not the published data
    monkeypatch.setattr(three_classes, "which", lambda: three_classes.DIGITS)  # no download
    return folder


@pytest.fixture
def tiny(files, monkeypatch):
    """Every experiment with four rounds."""
    short = (4, 4)
    monkeypatch.setattr(qffl_runs, "ROUNDS", {"Synthetic": short, "Vehicle": short})
    monkeypatch.setattr(figures_3_6_9, "ROUNDS", {})
    monkeypatch.setattr(figures_3_6_9, "OTHERS", short)
    monkeypatch.setattr(pffl_table_1, "ROUNDS", {"Synthetic": short, "Vehicle": short})
    monkeypatch.setattr(pffl_table_1, "CLASS_ROUNDS", short)
    monkeypatch.setattr(qffl_table_2, "ROUNDS", {"Adult": short, "classes": short})
    monkeypatch.setattr(qffl_table_2, "QUICK_ROWS", 60)
    monkeypatch.setattr(propfair_runs, "ROUNDS", {False: 4, True: 4})
    monkeypatch.setattr(propfair_runs, "ROWS", {False: 600, True: 600})
    return files
