"""Loaders, on small files in the published formats; damaged ones are read, or named."""

import gzip
import io
import json
import os
import random
import struct
from pathlib import Path

import numpy as np
import pytest
from archives import idx, png, tar

from fairfl.sims.data.federated import SOURCES, load_federated
from fairfl.sims.data.federated.shakespeare import LETTERS, encode, speeches, windows
from fairfl.sims.data.fetch import DataUnavailable

SHARED = os.environ.get("FAIRFL_DATA", "")
RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (7, 3, 32, 32)).astype(np.uint8)
TEN, HUNDRED = "cifar-10/cifar-10-binary.tar.gz", "cifar-100/cifar-100-binary.tar.gz"
NPZ, CINIC, VEHICLE = "mnist/mnist.npz", "cinic-10/CINIC-10.tar.gz", "vehicle/vehicle.json"
PLAYS_FILE = "shakespeare/1994-01-100.txt"


def put(folder, name, content):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def idx_files(folder, name):
    """Three images to train on and two to test on, and their labels."""
    x, y = RNG.integers(0, 256, (5, 4, 3)).astype(np.uint8), np.array([3, 1, 4, 1, 5], np.uint8)
    for part, rows in (("train", slice(0, 3)), ("t10k", slice(3, 5))):
        put(folder, f"{name}/{part}-images-idx3-ubyte.gz", idx(x[rows]))
        put(folder, f"{name}/{part}-labels-idx1-ubyte.gz", idx(y[rows]))
    return x, y


def npz(x, y):
    out = io.BytesIO()
    np.savez(out, x=x, y=y)
    return out.getvalue()


DIGITS = RNG.integers(0, 256, (21, 28, 28)).astype(np.uint8), (np.arange(21) % 10).astype(np.uint8)
NAMES = ("train/dog/b.png", "train/cat/a.png", "valid/dog/c.png", "test/cat/d.png")
FOUR = dict(zip(NAMES, PIXELS.transpose(0, 2, 3, 1), strict=False))
FINE = {f"c/{name}.bin": b"\x09\x63" + PIXELS[0].tobytes() for name in ("train", "test")}


def sensors(**changes):
    user_data = {
        "s1": {"x": [[1.0, 2.0], [3.0, 4.0]], "y": [-1, 1]},
        "s0": {"x": [[5.0, 6.0]], "y": [[1]]},
    }
    return json.dumps({"users": ["s1", "s0"], "user_data": user_data | changes}).encode()


def test_idx_files(tmp_path):
    for name in ("mnist", "fashion-mnist"):
        x, y = idx_files(tmp_path, name)
        data = load_federated(name, tmp_path)
        assert (data.x[:, 0] == x).all() and data.y.tolist() == y.tolist()
        assert data.part.tolist() == [0, 0, 0, 2, 2]


def test_mnist_as_one_file(tmp_path):
    put(tmp_path, NPZ, npz(*DIGITS))
    data = load_federated("mnist", tmp_path)
    assert (data.x[:, 0] == DIGITS[0]).all() and data.rows("test").tolist() == [18, 19, 20]


def test_cifar(tmp_path):
    x, y = PIXELS, np.arange(7, dtype=np.uint8)
    tens = {f"c/data_batch_{k}.bin": bytes([y[k]]) + x[k].tobytes() for k in range(1, 6)}
    put(tmp_path, TEN, tar(tens | {"c/test_batch.bin": bytes([y[6]]) + x[6].tobytes()}))
    data = load_federated("cifar-10", tmp_path)
    assert (data.x == x[1:]).all() and data.y.tolist() == [1, 2, 3, 4, 5, 6]
    assert data.rows("test").tolist() == [5]
    fine = {"c/train.bin": b"\x09\x63" + x[0].tobytes(), "c/test.bin": b"\x00\x01" + x[1].tobytes()}
    put(tmp_path, HUNDRED, tar(fine))
    data = load_federated("cifar-100", tmp_path)
    assert (data.x == x[:2]).all() and data.y.tolist() == [99, 1]  # the fine label comes second


def test_cinic(tmp_path):
    put(tmp_path, CINIC, tar({f"./{name}": png(pixels) for name, pixels in FOUR.items()}))
    data = load_federated("cinic-10", tmp_path)
    assert (data.x == PIXELS[[1, 0, 2, 3]]).all()  # by class, then by file
    assert data.y.tolist() == [0, 1, 1, 0] and data.part.tolist() == [0, 0, 1, 2]


def test_vehicle(tmp_path):
    put(tmp_path, VEHICLE, sensors())
    data = load_federated("vehicle", tmp_path)
    assert data.x.tolist() == [[1, 2], [3, 4], [5, 6]] and data.y.tolist() == [0, 1, 1]
    assert data.owner.tolist() == [0, 0, 1] and data.client_names == ("s1", "s0")
    assert "3 of 43,695" in data.note


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


def test_speeches_by_role():
    cheer = ["Here, master; what cheer?", "and a second line", " " * 34 + "Exit"]
    assert speeches(PLAYS) == {
        ("THE TEMPEST", "MASTER"): ["Boatswain!", "Good; speak to the mariners."],
        ("THE TEMPEST", "BOATSWAIN"): cheer,
        ("THE COMEDY OF ERRORS", "AEGEON"): ["Proceed, Solinus,", "and by the doom of death"],
    }


def test_windows_predict_the_next_character(tmp_path):
    past, following = windows(["to be or  not to be"], 4)
    codes = encode("to be or not to be")
    for k in range(len(codes) - 4):
        assert (past[k] == codes[k : k + 4]).all() and following[k] == codes[k + 4]
    assert encode("é").tolist() == [len(LETTERS)] and len(set(LETTERS)) == len(LETTERS)
    by = "by William Shakespeare\n"
    play = f"{by}A PLAY\n{by}  Master. " + "x" * 90 + "\n    more\n"
    put(tmp_path, PLAYS_FILE, play.encode())
    data = load_federated("shakespeare", tmp_path)
    assert data.client_names == ("A PLAY: MASTER",) and data.x.shape == (95 - 80, 80)


def test_the_registry_names_what_it_has(tmp_path):
    sources = {"vehicle", "mnist", "fashion-mnist", "cifar-10", "cifar-100", "cinic-10"}
    assert sources | {"shakespeare"} <= set(SOURCES)
    with pytest.raises(ValueError, match="name must be one of 'cifar-10'"):
        load_federated("iris")
    for name in SOURCES:
        with pytest.raises(DataUnavailable, match="is not in the folder"):
            load_federated(name, tmp_path)


@pytest.mark.skipif(not SHARED, reason="FAIRFL_DATA is not set: no real Vehicle and MNIST at hand")
def test_real_vehicle_and_mnist():
    vehicle, mnist = (load_federated(name, SHARED) for name in ("vehicle", "mnist"))
    assert vehicle.n_clients == 23 and vehicle.x.shape == (1860, 100)
    assert vehicle.y.shape == (1860,) and vehicle.sizes().sum() == 1860  # the file has one column
    # MNIST's rarest digit, five
    assert mnist.x.shape == (70_000, 1, 28, 28) and np.bincount(mnist.y).min() == 6313


FILES = {
    "npz": ("mnist", NPZ, lambda: npz(*DIGITS)),
    "idx": ("fashion-mnist", "fashion-mnist/train-labels-idx1-ubyte.gz", lambda: idx(DIGITS[1])),
    "tar": ("cifar-100", HUNDRED, lambda: tar(FINE)),
    "pngs": ("cinic-10", CINIC, lambda: tar({name: png(image) for name, image in FOUR.items()})),
    "json": ("vehicle", VEHICLE, sensors),
}


@pytest.mark.parametrize("kind", FILES)
def test_bytes_changed_and_cut_off(kind, tmp_path):
    """60 places at random and 20 lengths: ValueError that names the file, or data."""
    name, path, make = FILES[kind]
    whole = make()
    if kind == "idx":  # the other three parts, as they should be
        idx_files(tmp_path, name)
        put(tmp_path, "fashion-mnist/train-images-idx3-ubyte.gz", idx(DIGITS[0][:, :4, :3]))
    put(tmp_path, path, whole)
    assert len(load_federated(name, tmp_path)) > 0
    clock, refused = random.Random(3), 0
    damaged = [whole[: clock.randrange(len(whole))] for _ in range(20)]
    for _ in range(60):
        content = bytearray(whole)
        content[clock.randrange(len(content))] ^= 1 << clock.randrange(8)
        damaged.append(bytes(content))
    for content in damaged:
        (tmp_path / path).write_bytes(content)
        try:
            assert len(load_federated(name, tmp_path)) > 0
        except ValueError as error:
            refused += 1
            assert name in str(error) or Path(path).name in str(error) or "must be" in str(error)
    assert refused >= 20


TEST_LABELS = "mnist/t10k-labels-idx1-ubyte.gz"
UNPAIRED = {
    "s1": {"x": [[1.0, 2.0]], "y": [-1, 1]},
    "s0": {"x": [[3.0, 4.0], [5.0, 6.0]], "y": [1]},
}


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        (TEST_LABELS, idx(DIGITS[1]), "mnist must hold as many labels as images"),
        (TEST_LABELS, b"no", "must be a gzip file"),
        (TEST_LABELS, gzip.compress(b"\0\0\x0d\x01", mtime=0), "must be an IDX file"),
        (
            TEST_LABELS,
            gzip.compress(struct.pack(">HBBI", 0, 8, 1, 2) + b"\1", mtime=0),
            r"must hold \(2,\) bytes by its header, got 1",
        ),
        (NPZ, npz(DIGITS[0].astype(float), DIGITS[1]), "must hold x uint8"),
        (
            HUNDRED,
            tar({"c/train.bin": b"short", "c/test.bin": b""}),
            "records of 3074 bytes, got 5",
        ),
        (HUNDRED, tar({"c/train.bin": b""}), "test.bin is missing"),
        (TEN, b"not a tar", "must be a tar archive"),
        (CINIC, tar({NAMES[0]: png(FOUR[NAMES[0]])}), "must hold images below valid/, got none"),
        (PLAYS_FILE, b"by William Shakespeare", "must hold plays"),
        # three rows and three labels in all, and yet nobody's own
        (VEHICLE, sensors(**UNPAIRED), "s1 has 1 rows of x and 2 of y"),
        *(
            (VEHICLE, text.encode(), "vehicle.json must hold users and user_data")
            for text in ("[]", "3", "null", '{"users": 3}', '{"users": ["s1"]}', "{", "")
        ),
        (VEHICLE, b'{"users": [], "user_data": {}}', "vehicle.json must hold users and user_data"),
    ],
)
def test_what_a_file_is_not_is_told(path, content, message, tmp_path):
    idx_files(tmp_path, "mnist")
    put(tmp_path, path, content)
    with pytest.raises(ValueError, match=message):
        load_federated(path.partition("/")[0], tmp_path)
