"""Models as plain ``torch.nn.Module``s without state beside their parameters, so that
``torch.func`` can stack them.

Linear models have kernels of their own in `fairfl.sims.engine`; everything else goes by
``torch.func``, where it can. Each takes x of shape (batch, ...) and returns (batch, classes)
scores.
"""

from fairfl.sims.models.char_lstm import CharLSTM
from fairfl.sims.models.lenet import LeNet
from fairfl.sims.models.resnet import ResNet18GN

__all__ = ["CharLSTM", "LeNet", "ResNet18GN"]
