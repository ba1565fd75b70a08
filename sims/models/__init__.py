"""Models as plain ``torch.nn.Module``s without state beside their parameters, so that
``torch.func`` can stack them: x of shape (batch, ...) to (batch, classes) scores.
"""

from fairfl.sims.models.networks import CharLSTM, LeNet, ResNet18GN

__all__ = ["CharLSTM", "LeNet", "ResNet18GN"]
