"""The timings of a GPU: their code on the CPU, small, and what is said where there is no GPU."""

import pytest
import torch

from benchmarks import bench, device_speed, timing
from benchmarks import gpu as bench_gpu


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_one_row_says_so():
    (row,) = bench_gpu.on_gpu(timing.FULL)
    assert row.cells()[1] == "not measured" and row.cells()[5] == "" and "no CUDA" in row.note
    assert "not measured" in bench.markdown([row], timing.FULL)


@pytest.mark.slow
def test_all_rows_on_the_cpu():
    *rounds, networks = bench_gpu.rows("cpu", bench_gpu.FEW)
    names = ("softmax", "MLP 60-64-10", "sweep of 8", "unequal sizes", "a tenth", "FedFB")
    assert len(rounds) == len(names)
    for row, name in zip(rounds, names, strict=True):
        assert name in row.title and row.ours > 0
        assert "client steps a second" in row.note and "% of a copy's" in row.note
    assert networks.ours > 0 and networks.alternative is not None and networks.alternative > 0
    assert "images a second" in networks.note and "TFLOP/s" in networks.note


def test_operations_of_a_resnet():
    """Forward 0.556 G multiplications and additions at width 64 (He et al.'s ResNet-18 on 32 x 32:
    11.2 M parameters).

    By hand: 3x3 convolutions of the stages on 32, 16, 8, 4: stem 3*64*9*1024 = 1.77 M; stage 1 four
    of 64*64*9*1024 = 37.7 M; each further stage one of half that, three of 37.7 M, and a 1x1
    shortcut of 2.1 M; the last layer 5,120.
    """
    forward = 3 * 64 * 9 * 1024 + 4 * 64 * 64 * 9 * 1024 + 512 * 10
    for stage in (1, 2, 3):
        inside, outside, pixels = 32 * 2**stage, 64 * 2**stage, (32 >> stage) ** 2
        forward += (inside * outside * 9 + 3 * outside * outside * 9 + inside * outside) * pixels
    assert forward == pytest.approx(556e6, rel=2e-3)
    counted = device_speed.resnet_operations(64, 32)
    # a multiplication and an addition each; backward twice as many, but for the gradient of the
    # images
    assert counted == 2 * (3 * forward - 3 * 64 * 9 * 1024)
