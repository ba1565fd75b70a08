"""A character LSTM by torch's fused steps: the engine takes clients in turn."""

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
