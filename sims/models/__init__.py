"""Models as plain ``torch.nn.Module``s without state beside their parameters, so that
``torch.func`` can stack them: x of shape (batch, ...) to (batch, classes) scores.
"""

from fairfl.sims.models.networks import CharLSTM as CharLSTM
from fairfl.sims.models.networks import LeNet as LeNet
from fairfl.sims.models.networks import ResNet18GN as ResNet18GN
