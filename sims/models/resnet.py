"""ResNet-18 for 32 x 32 images with group normalisation: no running statistics to average."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fairfl._support.checks import whole


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
