"""Dual weights are gradients: against finite differences, and against torch's autograd."""

import numpy as np
import pytest

from fairfl.theory.aggregation import AFL, KolmogorovMean, RankWeighted, objectives

ALL = [example for cls in objectives().values() for example in cls.examples()]
P5 = (0.1, 0.3, 0.2, 0.15, 0.25)
BOTH = [*ALL, *(o.weighted(P5) for o in ALL)]


def losses(rows, seed):
    """Away from ties, zeros and upper bounds, where some objectives have kinks."""
    rng = np.random.default_rng(seed)
    spaced = np.linspace(0.1, 0.85, 5) + rng.uniform(-0.05, 0.05, (rows, 5))
    return rng.permuted(spaced, axis=-1)


@pytest.mark.parametrize("objective", BOTH, ids=repr)
def test_against_finite_differences(objective):
    f, h = losses(20, 30), 1e-4
    steps = [(objective.value(f + h * e), objective.value(f - h * e)) for e in np.eye(5)]
    wide = [(objective.value(f + 2 * h * e), objective.value(f - 2 * h * e)) for e in np.eye(5)]
    pairs = zip(steps, wide, strict=True)
    numeric = np.stack([(8 * (a - b) - (c - d)) / (12 * h) for (a, b), (c, d) in pairs], axis=-1)
    # the stencil misses by h^4/30 of a fifth derivative, below alpha^4/8 = 2e8 for TERM(200), and
    # by rounding / h
    assert objective.dual_weights(f) == pytest.approx(numeric, abs=1e-16 / 30 * 2e8 + 1e-11)


@pytest.mark.parametrize("objective", BOTH, ids=repr)
def test_against_autograd(objective):
    torch = pytest.importorskip("torch")
    f = losses(20, 31)
    x = torch.tensor(f, requires_grad=True)
    value = objective.value(x)
    (slope,) = torch.autograd.grad(value.sum(), x)
    expected_value, expected = objective.value_and_dual_weights(f)
    assert value.detach().numpy() == pytest.approx(expected_value, rel=1e-12)
    assert slope.numpy() == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert objective.dual_weights(x).detach().numpy() == pytest.approx(
        expected, rel=1e-11, abs=1e-14
    )


@pytest.mark.parametrize("objective", ALL, ids=repr)
def test_torch_keeps_dtype_shape_and_ties(objective):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(32)
    f = np.round(rng.uniform(0.1, 0.9, (4, 3, 6)), 1)
    value, weights = objective.value_and_dual_weights(torch.tensor(f))
    assert value.shape == (4, 3) and weights.dtype == torch.float64
    assert value.numpy() == pytest.approx(objective.value(f), rel=1e-12)
    assert weights.numpy() == pytest.approx(objective.dual_weights(f), rel=1e-11, abs=1e-14)
    single = torch.tensor(f, dtype=torch.float32)
    assert (
        objective.value(single).dtype == torch.float32
        and objective.dual_weights(single).dtype == torch.float32
    )
    assert objective.value(torch.tensor(f[0, 0])).shape == ()
    with pytest.raises(ValueError, match="float32, float64 or integers"):
        objective.value(torch.tensor(f, dtype=torch.float16))
    with pytest.raises(ValueError, match=r"at index \(1, 2\)"):
        objective.value(torch.where(torch.arange(12).reshape(3, 4) == 6, torch.nan, 0.5))


@pytest.mark.parametrize(
    "objective", [AFL(), RankWeighted.gini(), RankWeighted.cvar(0.6)], ids=repr
)
def test_autograd_at_ties_gives_the_canonical_element(objective):
    torch = pytest.importorskip("torch")
    f = np.array([[0.5, 0.5, 0.2], [0.1, 0.1, 0.1], [0.3, 0.1, 0.3]])
    x = torch.tensor(f, requires_grad=True)
    (slope,) = torch.autograd.grad(objective.value(x).sum(), x)
    assert slope.numpy() == pytest.approx(objective.dual_weights(f), abs=1e-15)


def test_autograd_through_a_bisected_inverse():
    torch = pytest.importorskip("torch")
    f = losses(5, 34)
    x = torch.tensor(f, requires_grad=True)
    mean = KolmogorovMean(torch.sinh, derivative=torch.cosh)
    (slope,) = torch.autograd.grad(mean.value(x).sum(), x)
    assert slope.numpy() == pytest.approx(
        np.cosh(f) / np.cosh(np.arcsinh(np.sinh(f).mean(-1)))[:, None] / 5
    )
    with pytest.raises(ValueError, match="inverse or derivative must be given"):
        KolmogorovMean(torch.sinh).value(x)
    assert KolmogorovMean(torch.sinh).value(x.detach()).numpy() == pytest.approx(
        np.arcsinh(np.sinh(f).mean(-1))
    )


def test_translated_losses_pass_through_autograd():
    torch = pytest.importorskip("torch")
    f = losses(5, 33)
    for objective in ALL:
        moved = objective.translate([0.01, 0.02, 0.03, 0.0, 0.01]).scale(2.0).perspective(1.1)
        x = torch.tensor(f, requires_grad=True)
        (slope,) = torch.autograd.grad(moved.value(x).sum(), x)
        assert slope.numpy() == pytest.approx(moved.dual_weights(f), rel=1e-9, abs=1e-13)
