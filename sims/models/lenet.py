"""LeNet-5 with ReLU and max-pooling, for images of 28 x 28 or 32 x 32."""

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
