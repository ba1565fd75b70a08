"""Models against torch's own modules, and stacked over clients by torch.func."""

import pytest
import torch

from fairfl.sims.models import CharLSTM, LeNet, ResNet18GN


def step_by_step(model: CharLSTM, x: torch.Tensor) -> torch.Tensor:
    """The equations, written out."""
    sequence = model.embedding(x)
    for into, across, bias in zip(model.weight_input, model.weight_hidden, model.bias, strict=True):
        inputs = sequence @ into.T + bias
        h = c = inputs.new_zeros(len(x), model.hidden)
        steps = []
        for t in range(inputs.shape[1]):
            i, f, g, o = (inputs[:, t] + h @ across.T).chunk(4, dim=-1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            steps.append(h)
        sequence = torch.stack(steps, dim=1)
    return model.last(sequence[:, -1])


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_char_lstm_is_its_equations(layers: int) -> None:
    torch.manual_seed(1)
    model, x = CharLSTM(7, 3, 4, layers).double(), torch.arange(10).reshape(2, 5) % 7
    outputs = [model(x), step_by_step(model, x)]
    torch.testing.assert_close(*outputs, rtol=1e-12, atol=1e-12)
    slopes = [torch.autograd.grad(out.square().sum(), list(model.parameters())) for out in outputs]
    torch.testing.assert_close(*slopes, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "count"),
    [
        # LeNet-5: 6(25+1) + 16(6 25+1) + 120(400+1) + 84(120+1) + 10(84+1)
        (lambda: LeNet(), 156 + 2416 + 48120 + 10164 + 850),
        # ResNet-18, 3 x 3 stem, as counted for CIFAR in many places: 11,173,962; GroupNorm has
        # BatchNorm's two vectors
        (lambda: ResNet18GN(), 11_173_962),
    ],
    ids=["lenet", "resnet"],
)
def test_numbers_of_parameters_and_each_is_used(model, count: int) -> None:
    module = model()
    assert sum(p.numel() for p in module.parameters()) == count
    scores = module(torch.rand(2, *((1, 28, 28) if count < 1e6 else (3, 32, 32))))
    assert scores.shape == (2, 10)
    scores.square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in module.parameters())
