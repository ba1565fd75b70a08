"""Loaders, on small files written here in the published formats."""

import gzip
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from archives import png, tar

from fairfl.sims.data.federated import SOURCES, load_federated
from fairfl.sims.data.federated.shakespeare import LETTERS, encode, speeches, windows
from fairfl.sims.data.fetch import DataUnavailable

SHARED = os.environ.get("FAIRFL_DATA", "")
RNG = np.random.default_rng(0)


def put(folder: Path, name: str, content: bytes) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def idx(array: np.ndarray) -> bytes:
    return gzip.compress(
        struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()
    )


def test_idx_files(tmp_path: Path) -> None:
    x = RNG.integers(0, 256, (5, 4, 3)).astype(np.uint8)
    y = np.array([3, 1, 4, 1, 5], np.uint8)
    for name in ("mnist", "fashion-mnist"):
        put(tmp_path, f"{name}/train-images-idx3-ubyte.gz", idx(x[:3]))
        put(tmp_path, f"{name}/train-labels-idx1-ubyte.gz", idx(y[:3]))
        put(tmp_path, f"{name}/t10k-images-idx3-ubyte.gz", idx(x[3:]))
        put(tmp_path, f"{name}/t10k-labels-idx1-ubyte.gz", idx(y[3:]))
        data = load_federated(name, tmp_path)
        assert (data.x[:, 0] == x).all() and data.y.tolist() == y.tolist()
        assert data.part is not None and data.part.tolist() == [0, 0, 0, 2, 2]
    put(tmp_path, "mnist/t10k-labels-idx1-ubyte.gz", idx(y))
    with pytest.raises(ValueError, match="mnist must hold as many labels as images"):
        load_federated("mnist", tmp_path)
    for content, message in (
        (b"no", "must be a gzip file"),
        (gzip.compress(b"\0\0\x0d\x01"), "must be an IDX file"),
    ):
        put(tmp_path, "mnist/t10k-labels-idx1-ubyte.gz", content)
        with pytest.raises(ValueError, match=message):
            load_federated("mnist", tmp_path)
    put(
        tmp_path,
        "mnist/t10k-labels-idx1-ubyte.gz",
        gzip.compress(struct.pack(">HBBI", 0, 8, 1, 2) + b"\1"),
    )
    with pytest.raises(ValueError, match=r"must hold \(2,\) bytes by its header, got 1"):
        load_federated("mnist", tmp_path)


def test_mnist_as_one_file(tmp_path: Path) -> None:
    (tmp_path / "mnist").mkdir()
    x, y = RNG.integers(0, 256, (21, 28, 28)).astype(np.uint8), np.arange(21) % 10
    np.savez(tmp_path / "mnist" / "mnist.npz", x=x, y=y.astype(np.uint8))
    data = load_federated("mnist", tmp_path)
    assert (data.x[:, 0] == x).all() and data.rows("test").tolist() == [18, 19, 20]
    np.savez(tmp_path / "mnist" / "mnist.npz", x=x.astype(float), y=y)
    with pytest.raises(ValueError, match="must hold x uint8"):
        load_federated("mnist", tmp_path)


def test_cifar(tmp_path: Path) -> None:
    x = RNG.integers(0, 256, (7, 3, 32, 32)).astype(np.uint8)
    y = np.arange(7, dtype=np.uint8)
    tens = {f"c/data_batch_{k}.bin": bytes([y[k]]) + x[k].tobytes() for k in range(1, 6)}
    put(
        tmp_path,
        "cifar-10/cifar-10-binary.tar.gz",
        tar(tens | {"c/test_batch.bin": bytes([y[6]]) + x[6].tobytes()}),
    )
    data = load_federated("cifar-10", tmp_path)
    assert (
        (data.x == x[1:]).all()
        and data.y.tolist() == [1, 2, 3, 4, 5, 6]
        and data.rows("test").tolist() == [5]
    )
    hundred = {
        "c/train.bin": b"\x09\x63" + x[0].tobytes(),
        "c/test.bin": b"\x00\x01" + x[1].tobytes(),
    }
    put(tmp_path, "cifar-100/cifar-100-binary.tar.gz", tar(hundred))
    data = load_federated("cifar-100", tmp_path)
    assert (data.x == x[:2]).all() and data.y.tolist() == [99, 1]  # the fine label comes second
    put(
        tmp_path,
        "cifar-100/cifar-100-binary.tar.gz",
        tar({"c/train.bin": b"short", "c/test.bin": b""}),
    )
    with pytest.raises(ValueError, match="must hold records of 3074 bytes, got 5"):
        load_federated("cifar-100", tmp_path)
    put(tmp_path, "cifar-100/cifar-100-binary.tar.gz", tar({"c/train.bin": b""}))
    with pytest.raises(ValueError, match=r"test.bin is missing"):
        load_federated("cifar-100", tmp_path)
    put(tmp_path, "cifar-10/cifar-10-binary.tar.gz", b"not a tar")
    with pytest.raises(ValueError, match="must be a tar archive"):
        load_federated("cifar-10", tmp_path)


def test_cinic(tmp_path: Path) -> None:
    x = RNG.integers(0, 256, (4, 32, 32, 3)).astype(np.uint8)
    names = ("train/dog/b.png", "train/cat/a.png", "valid/dog/c.png", "test/cat/d.png")
    put(
        tmp_path,
        "cinic-10/CINIC-10.tar.gz",
        tar({f"./{n}": png(p) for n, p in zip(names, x, strict=True)}),
    )
    data = load_federated("cinic-10", tmp_path)
    assert (data.x == x[[1, 0, 2, 3]].transpose(0, 3, 1, 2)).all()  # by class, then by file
    assert (
        data.y.tolist() == [0, 1, 1, 0]
        and data.part is not None
        and data.part.tolist() == [0, 0, 1, 2]
    )
    put(tmp_path, "cinic-10/CINIC-10.tar.gz", tar({"train/dog/b.png": png(x[0])}))
    with pytest.raises(ValueError, match="must hold images below valid/, got none"):
        load_federated("cinic-10", tmp_path)


PLAYS = """\
The contents, by William Shakespeare
  Nobody. This line belongs to no play.

1599
THE TEMPEST
by William Shakespeare

  Master. Boatswain!
  Boatswain. Here, master; what cheer?
    and a second line
                                      Exit
  MASTER. Good; speak to the mariners.

1594
THE COMEDY OF ERRORS
by William Shakespeare

ACT I. A hall
AEGEON. Proceed, Solinus,
and by the doom of death
<stage>
not his
DUKE. Merchant of Syracusa
"""


def test_speeches_by_role() -> None:
    assert speeches(PLAYS) == {
        ("THE TEMPEST", "MASTER"): ["Boatswain!", "Good; speak to the mariners."],
        ("THE TEMPEST", "BOATSWAIN"): [
            "Here, master; what cheer?",
            "and a second line",
            " " * 34 + "Exit",
        ],
        ("THE COMEDY OF ERRORS", "AEGEON"): ["Proceed, Solinus,", "and by the doom of death"],
    }


def test_windows_predict_the_next_character(tmp_path: Path) -> None:
    text = "to be or  not to be"
    past, following = windows([text], 4)
    joined = "to be or not to be"
    for k in range(len(joined) - 4):
        assert (past[k] == encode(joined[k : k + 4])).all() and following[k] == encode(
            joined[k + 4]
        )[0]
    assert encode("é").tolist() == [len(LETTERS)] and len(set(LETTERS)) == len(LETTERS)
    by = "by William Shakespeare\n"
    play = f"{by}A PLAY\n{by}  Master. " + "x" * 90 + "\n    more\n"
    put(tmp_path, "shakespeare/1994-01-100.txt", play.encode())
    data = load_federated("shakespeare", tmp_path)
    assert data.client_names == ("A PLAY: MASTER",) and data.x.shape == (95 - 80, 80)
    put(tmp_path, "shakespeare/1994-01-100.txt", b"by William Shakespeare")
    with pytest.raises(ValueError, match="must hold plays"):
        load_federated("shakespeare", tmp_path)


def test_vehicle(tmp_path: Path) -> None:
    user_data = {
        "s1": {"x": [[1.0, 2.0], [3.0, 4.0]], "y": [-1, 1]},
        "s0": {"x": [[5.0, 6.0]], "y": [[1]]},
    }
    put(
        tmp_path,
        "vehicle/vehicle.json",
        json.dumps({"users": ["s1", "s0"], "user_data": user_data}).encode(),
    )
    data = load_federated("vehicle", tmp_path)
    assert data.x.tolist() == [[1, 2], [3, 4], [5, 6]] and data.y.tolist() == [0, 1, 1]
    assert (
        data.owner.tolist() == [0, 0, 1]
        and data.client_names == ("s1", "s0")
        and "3 of 43,695" in data.note
    )
    put(tmp_path, "vehicle/vehicle.json", b'{"users": ["s1"]}')
    with pytest.raises(ValueError, match="must hold users and user_data"):
        load_federated("vehicle", tmp_path)


def test_the_registry_names_what_it_has(tmp_path: Path) -> None:
    assert {
        "vehicle",
        "mnist",
        "fashion-mnist",
        "cifar-10",
        "cifar-100",
        "cinic-10",
        "shakespeare",
    } <= set(SOURCES)
    with pytest.raises(ValueError, match="name must be one of 'cifar-10'"):
        load_federated("iris")
    for name in SOURCES:
        with pytest.raises(DataUnavailable, match="is not in the folder"):
            load_federated(name, tmp_path)


@pytest.mark.skipif(not SHARED, reason="FAIRFL_DATA is not set: no real Vehicle and MNIST at hand")
def test_real_vehicle_and_mnist() -> None:
    vehicle = load_federated("vehicle", SHARED)
    assert (
        vehicle.n_clients == 23 and vehicle.x.shape == (1860, 100) and vehicle.sizes().sum() == 1860
    )
    assert vehicle.y.shape == (1860,)  # the file has one column
    mnist = load_federated("mnist", SHARED)
    # MNIST's rarest digit, five
    assert mnist.x.shape == (70_000, 1, 28, 28) and np.bincount(mnist.y).min() == 6313
