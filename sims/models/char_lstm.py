"""A character LSTM written step by step, since torch.func cannot stack torch's fused one over
clients.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from fairfl._support.checks import whole


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
        inside = [embedding] + [hidden] * (whole("layers", layers, 1) - 1)
        self.weight_input = nn.ParameterList(self._drawn(4 * hidden, k) for k in inside)
        self.weight_hidden = nn.ParameterList(self._drawn(4 * hidden, hidden) for _ in inside)
        self.bias = nn.ParameterList(self._drawn(4 * hidden) for _ in inside)
        self.last = nn.Linear(hidden, letters)

    def _drawn(self, *shape: int) -> nn.Parameter:
        bound = 1 / math.sqrt(self.hidden)
        return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Scores (batch, letters) of the character after x (batch, length), int64 codes."""
        sequence = self.embedding(x)
        for into, across, bias in zip(
            self.weight_input, self.weight_hidden, self.bias, strict=True
        ):
            given = sequence @ into.T + bias
            h = given.new_zeros(given.shape[0], self.hidden)
            c = h
            steps = []
            for t in range(given.shape[1]):
                i, f, g, o = (given[:, t] + h @ across.T).chunk(4, dim=-1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
                steps.append(h)
            sequence = torch.stack(steps, dim=1)
        return self.last(sequence[:, -1])
