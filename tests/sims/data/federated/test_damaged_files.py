"""Damaged data files: read for what they are, or one error that names the file."""

import gzip
import io
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from archives import png, tar

from fairfl.sims.data.federated import load_federated

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (6, 32, 32, 3)).astype(np.uint8)


def npz() -> bytes:
    out = io.BytesIO()
    np.savez(
        out,
        x=RNG.integers(0, 256, (14, 28, 28)).astype(np.uint8),
        y=np.arange(14, dtype=np.uint8) % 10,
    )
    return out.getvalue()


def cinic() -> bytes:
    names = ("train/dog/b.png", "train/cat/a.png", "valid/dog/c.png", "test/cat/d.png")
    return tar({name: png(pixels) for name, pixels in zip(names, PIXELS, strict=False)})


def cifar() -> bytes:
    return tar({f"c/{name}.bin": b"\x09\x63" + PIXELS[0].tobytes() for name in ("train", "test")})


def idx() -> bytes:
    return gzip.compress(
        struct.pack(">HBBI", 0, 8, 1, 200) + RNG.integers(0, 10, 200).astype(np.uint8).tobytes()
    )


def vehicle(**changes: object) -> bytes:
    user_data = {
        "s1": {"x": [[1.0, 2.0], [3.0, 4.0]], "y": [-1, 1]},
        "s0": {"x": [[5.0, 6.0]], "y": [[1]]},
    }
    return json.dumps({"users": ["s1", "s0"], "user_data": user_data | changes}).encode()


FILES: dict[str, tuple[str, str, Callable[[], bytes]]] = {
    "npz": ("mnist", "mnist/mnist.npz", npz),
    "idx": ("fashion-mnist", "fashion-mnist/train-labels-idx1-ubyte.gz", idx),
    "tar": ("cifar-100", "cifar-100/cifar-100-binary.tar.gz", cifar),
    "pngs": ("cinic-10", "cinic-10/CINIC-10.tar.gz", cinic),
    "json": ("vehicle", "vehicle/vehicle.json", vehicle),
}


@pytest.mark.parametrize("kind", FILES)
def test_bytes_changed_and_cut_off(kind: str, tmp_path: Path) -> None:
    """60 places at random and 20 lengths: ValueError that names the file, or data."""
    name, path, make = FILES[kind]
    whole = make()
    if kind == "idx":  # the other three parts, as they should be
        shapes = {
            "train-images-idx3": (200, 2, 2),
            "t10k-images-idx3": (3, 2, 2),
            "t10k-labels-idx1": (3,),
        }
        for part, shape in shapes.items():
            header = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
            file = tmp_path / f"fashion-mnist/{part}-ubyte.gz"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(gzip.compress(header + bytes(int(np.prod(shape)))))
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_bytes(whole)
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


def test_a_sensor_with_more_rows_than_labels_is_not_made_up_by_another(tmp_path: Path) -> None:
    """Three rows and three labels in all, and yet nobody's own."""
    wrong = {
        "s1": {"x": [[1.0, 2.0]], "y": [-1, 1]},
        "s0": {"x": [[3.0, 4.0], [5.0, 6.0]], "y": [1]},
    }
    (tmp_path / "vehicle").mkdir()
    (tmp_path / "vehicle/vehicle.json").write_bytes(vehicle(**wrong))
    with pytest.raises(ValueError, match="s1 has 1 rows of x and 2 of y"):
        load_federated("vehicle", tmp_path)


@pytest.mark.parametrize(
    "text", ["[]", "3", "null", '{"users": 3}', '{"users": [], "user_data": {}}', "{", ""]
)
def test_json_of_something_else(text: str, tmp_path: Path) -> None:
    (tmp_path / "vehicle").mkdir()
    (tmp_path / "vehicle/vehicle.json").write_text(text)
    with pytest.raises(ValueError, match="vehicle.json must hold users and user_data"):
        load_federated("vehicle", tmp_path)
