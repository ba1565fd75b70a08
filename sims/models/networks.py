"""LeNet-5, ResNet-18 with group normalisation, and a character LSTM."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fairfl._support.checks import whole


class LeNet(nn.Module):
    """Two 5 x 5 convolutions (6 and 16 channels, each pooled by 2) and layers of 120 and 84 (LeCun
    et al., 1998).

    Parameters
    ----------
    channels : 1 (grey) or 3 (colour).
    size : 28 (the first convolution pads by 2, as LeCun's padded images did) or 32.
    classes : int
    """

    def __init__(self, channels: int = 1, size: int = 28, classes: int = 10) -> None:
        super().__init__()
        if size not in (28, 32):
            raise ValueError(f"size must be 28 or 32, got {size!r}")
        self.first = nn.Conv2d(whole("channels", channels, 1), 6, 5, padding=(32 - size) // 2)
        self.second = nn.Conv2d(6, 16, 5)
        self.third = nn.Linear(16 * 5 * 5, 120)
        self.fourth = nn.Linear(120, 84)
        self.last = nn.Linear(84, whole("classes", classes, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Scores (batch, classes) of x (batch, channels, size, size)."""
        x = F.max_pool2d(torch.relu(self.first(x)), 2)
        x = F.max_pool2d(torch.relu(self.second(x)), 2)
        x = torch.relu(self.third(x.flatten(1)))
        return self.last(torch.relu(self.fourth(x)))


class Block(nn.Module):
    """Two 3 x 3 convolutions beside a shortcut."""

    def __init__(self, inside: int, outside: int, stride: int, groups: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inside, outside, 3, stride, padding=1, bias=False)
        self.norm_first = nn.GroupNorm(groups, outside)
        self.second = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
        self.norm_second = nn.GroupNorm(groups, outside)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inside != outside:
            narrow = nn.Conv2d(inside, outside, 1, stride, bias=False)
            self.shortcut = nn.Sequential(narrow, nn.GroupNorm(groups, outside))

    def forward(self, x: Tensor) -> Tensor:
        """relu(convolutions(x) + shortcut(x))."""
        y = torch.relu(self.norm_first(self.first(x)))
        return torch.relu(self.norm_second(self.second(y)) + self.shortcut(x))


class ResNet18GN(nn.Module):
    """He et al.'s (2016) 18 layers with the 3 x 3 stem used for CIFAR; GroupNorm after Hsieh et al.
    (2020).

    Parameters
    ----------
    channels, classes : int
    width : channels of the first stage, a multiple of ``groups``; 64 in the paper.
    groups : of the normalisation.
    """

    def __init__(
        self, channels: int = 3, classes: int = 10, width: int = 64, groups: int = 2
    ) -> None:
        super().__init__()
        if whole("width", width, 1) % whole("groups", groups, 1):
            raise ValueError(f"width must be a multiple of groups ({groups}), got {width}")
        self.stem = nn.Conv2d(whole("channels", channels, 1), width, 3, padding=1, bias=False)
        self.norm = nn.GroupNorm(groups, width)
        blocks: list[Block] = []
        inside = width
        for stage in range(4):
            outside = width * 2**stage
            blocks += [
                Block(inside, outside, 1 if stage == 0 else 2, groups),
                Block(outside, outside, 1, groups),
            ]
            inside = outside
        self.blocks = nn.ModuleList(blocks)
        self.last = nn.Linear(inside, whole("classes", classes, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Scores (batch, classes) of x (batch, channels, height, width)."""
        x = torch.relu(self.norm(self.stem(x)))
        for block in self.blocks:
            x = block(x)
        return self.last(F.adaptive_avg_pool2d(x, 1).flatten(1))


class CharLSTM(nn.Module):
    """Embedding, LSTM layers, and scores of the next character (q-FFL, appendix E.1: embedding 8, 2
    layers of 256).

    Parameters
    ----------
    letters : size of the alphabet.
    embedding, hidden, layers : int

    Notes
    -----
    ``nn.LSTM``'s equations and order of gates (input, forget, cell, output), and its law of the
    first weights, U(-h^-1/2, h^-1/2).
    """

    def __init__(
        self, letters: int, embedding: int = 8, hidden: int = 256, layers: int = 2
    ) -> None:
        super().__init__()
        self.hidden = whole("hidden", hidden, 1)
        self.embedding = nn.Embedding(
            whole("letters", letters, 1), whole("embedding", embedding, 1)
        )
        widths = [embedding] + [hidden] * (whole("layers", layers, 1) - 1)
        self.weight_input = nn.ParameterList(self._uniform(4 * hidden, k) for k in widths)
        self.weight_hidden = nn.ParameterList(self._uniform(4 * hidden, hidden) for _ in widths)
        self.bias = nn.ParameterList(self._uniform(4 * hidden) for _ in widths)
        self.last = nn.Linear(hidden, letters)

    def _uniform(self, *shape: int) -> nn.Parameter:
        bound = 1 / math.sqrt(self.hidden)
        return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Scores (batch, letters) of the character after x (batch, length), int64 codes."""
        sequence = self.embedding(x)
        start = sequence.new_zeros(len(self.bias), len(x), self.hidden)
        weights = []
        for weight_in, weight_h, bias in zip(
            self.weight_input, self.weight_hidden, self.bias, strict=True
        ):
            weights += [weight_in, weight_h, bias, torch.zeros_like(bias)]  # torch's has two biases
        outputs, *_ = torch.lstm(
            sequence,
            (start, start),
            weights,
            has_biases=True,
            num_layers=len(self.bias),
            dropout=0.0,
            train=self.training,
            bidirectional=False,
            batch_first=True,
        )
        return self.last(outputs[:, -1])
