"""A multilayer perceptron."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from fairfl._support.checks import whole


class MLP(nn.Module):
    """features -> hidden layers with ReLU -> classes.

    Parameters
    ----------
    features, classes : int
    hidden : widths of the hidden layers, for instance (200, 200).
    """

    def __init__(self, features: int, hidden: Sequence[int], classes: int) -> None:
        super().__init__()
        between = [whole("hidden", h, 1) for h in hidden]
        widths = [whole("features", features, 1), *between, whole("classes", classes, 1)]
        self.layers = nn.ModuleList(
            nn.Linear(a, b) for a, b in zip(widths[:-1], widths[1:], strict=True)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Scores (batch, classes) of x (batch, ...), flattened."""
        x = x.flatten(1)
        for layer in self.layers[:-1]:  # type: ignore[index]
            x = torch.relu(layer(x))
        return self.layers[-1](x)
