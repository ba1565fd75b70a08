"""Small data files in the real formats, and experiments cut to a few rounds."""

import json
from dataclasses import replace

import numpy as np
import pytest
from archives import idx, png, tar

from fairfl.sims.data.fetch import Remote
from fairfl.sims.data.tables.adult import COLUMNS
from fairfl.studies.papers.pffl import table_1 as pffl_table_1
from fairfl.studies.papers.propfair import propfair_runs
from fairfl.studies.papers.qffl import against_afl, figures_3_6_9, qffl_runs


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Vehicle (12 users), MNIST (700 images), Adult (150 and 60 people), in FAIRFL_DATA."""
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
            person = {"age": 30 + k % 40, "fnlwgt": 1000 + k, "education-num": 9, "race": "White"}
            person |= {"occupation": "Sales", "relationship": "Husband", "native-country": "Cuba"}
            person |= {"capital-gain": 0, "capital-loss": 0, "hours-per-week": 40}
            person["workclass"] = ("Private", "State-gov", "?")[k % 3]
            person["education"] = "Doctorate" if doctor else ("HS-grad", "Bachelors")[k % 2]
            person["marital-status"] = ("Divorced", "Never-married")[k // 3 % 2]
            person["sex"] = ("Male", "Female")[k % 2]
            person["income"] = ">50K" if doctor or k % 7 == 0 else "<=50K"
            rows.append(", ".join(str(person[column]) for column in COLUMNS))
        (folder / "adult" / name).write_text("\n".join(rows) + "\n")
    monkeypatch.setenv("FAIRFL_DATA", str(folder))
    unknown = property(lambda self: (), lambda self, digests: None)
    monkeypatch.setattr(Remote, "digests", unknown)  # what is made here is not the published data
    return folder


@pytest.fixture
def tiny(files, monkeypatch):
    """Every experiment with four rounds."""
    short = (4, 4)
    monkeypatch.setattr(qffl_runs, "ROUNDS", dict.fromkeys(qffl_runs.ROUNDS, short))
    monkeypatch.setattr(figures_3_6_9, "ROUNDS", {})
    monkeypatch.setattr(figures_3_6_9, "OTHERS", short)
    monkeypatch.setattr(figures_3_6_9, "RATES", (0.03, 0.3))
    monkeypatch.setattr(pffl_table_1, "ROUNDS", {"Synthetic": short, "Vehicle": short})
    monkeypatch.setattr(pffl_table_1, "CLASS_ROUNDS", short)
    monkeypatch.setattr(against_afl, "ROUNDS", dict.fromkeys(against_afl.ROUNDS, short))
    monkeypatch.setattr(against_afl, "QUICK_ROWS", 60)
    monkeypatch.setattr(qffl_runs, "ROLES", 12)
    few = {
        name: replace(task, rounds=(2, 2), rows=(240, 240))
        for name, task in propfair_runs.TASKS.items()
    }
    monkeypatch.setattr(propfair_runs, "TASKS", few)
    return files


@pytest.fixture
def others(files):
    """Beside them four image sets of 140 to 240 images, and fourteen roles of Shakespeare's."""
    rng = np.random.default_rng(1)
    contents = {}
    for kind, count in (("train", 120), ("t10k", 20)):
        images = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = (np.arange(count) % 10).astype(np.uint8)
        for kind_of_file, array in (("images-idx3", images), ("labels-idx1", labels)):
            contents[f"fashion-mnist/{kind}-{kind_of_file}-ubyte.gz"] = idx(array)
    names = (*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin")
    batch = b"".join(bytes([k % 10]) + rng.bytes(3072) for k in range(40))
    contents["cifar-10/cifar-10-binary.tar.gz"] = tar(dict.fromkeys(names, batch))
    fine = b"".join(bytes([0, k % 20]) + rng.bytes(3072) for k in range(120))
    contents["cifar-100/cifar-100-binary.tar.gz"] = tar({"train.bin": fine, "test.bin": fine})
    pictures = {
        f"{part}/class{k % 4}/{k}.png": png(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8))
        for part in ("train", "valid", "test")
        for k in range(60)
    }
    contents["cinic-10/CINIC-10.tar.gz"] = tar(pictures)
    by, letters = "by William Shakespeare\n", list("abcdefgh ")
    said = ["".join(rng.choice(letters, 90)) for _ in range(28)]
    lines = [f"  Role{chr(65 + k)}. x{said[k]}\n    x{said[k + 14]}" for k in range(14)]
    contents["shakespeare/1994-01-100.txt"] = f"{by}A PLAY\n{by}{chr(10).join(lines)}\n".encode()
    for name, content in contents.items():
        (files / name).parent.mkdir(exist_ok=True)
        (files / name).write_bytes(content)
    return files
