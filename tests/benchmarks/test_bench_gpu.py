"""The timings of a GPU: their code on the CPU, small, and what is said where there is no GPU."""

import pytest
import torch

from benchmarks import bench, timing
from benchmarks import gpu as bench_gpu


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_one_row_says_so():
    (row,) = bench_gpu.gpu(timing.FULL)
    assert row.cells()[1] == "not measured" and row.cells()[5] == "" and "no CUDA" in row.note
    assert "not measured" in bench.markdown([row], timing.FULL)


@pytest.mark.slow
def test_all_rows_on_the_cpu():
    *rounds, networks = bench_gpu.rows("cpu", bench_gpu.FEW)
    names = ("softmax", "MLP 60-64-10", "sweep of 8", "unequal sizes", "a tenth", "FedFB")
    assert len(rounds) == len(names)
    for row, name in zip(rounds, names, strict=True):
        assert name in row.title and row.ours > 0
        assert "samples in batches of 10" in row.note
    assert networks.ours > 0 and networks.alternative is not None and networks.alternative > 0
    assert "images a second" in networks.note
