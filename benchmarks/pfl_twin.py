"""The simulator's benchmark job in pfl-research, where it is installed, to compare results and
time.

pfl (``pip install pfl``, Granqvist et al. 2024) is no dependency: its releases up to 0.6 want
packaging < 26.
"""

# pyright: reportMissingImports=false
# pfl wants older packages than constraints.txt pins: it is installed by itself, where it is

from __future__ import annotations

import logging
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn


class Network(nn.Module):
    """A module with the loss that pfl asks for."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: Tensor) -> Tensor:
        """The module's scores."""
        return self.module(x)

    def loss(self, x: Tensor, y: Tensor, eval: bool = False) -> Tensor:
        """Mean cross entropy."""
        self.train(not eval)
        return nn.functional.cross_entropy(self(x), y)

    def metrics(self, x: Tensor, y: Tensor) -> dict[str, Any]:
        """Nothing: what is timed is training."""
        return {}


def linear(features: int, classes: int) -> nn.Module:
    """Softmax regression from zero."""
    module = nn.Linear(features, classes)
    nn.init.zeros_(module.weight)
    nn.init.zeros_(module.bias)
    return module


def rounds(
    make: Callable[[], nn.Module],
    x: ArrayLike,
    y: ArrayLike,
    count: int,
    *,
    batch: int,
    lr: float = 0.1,
) -> tuple[list[float], nn.Module]:
    """CPU seconds of ``count`` rounds of FedAvg, one epoch a round, and the module; x (K, n,
    features), y (K, n).

    The first round is timed too, from its start; users weigh alike, as they are alike in size.
    Errors: ImportError where pfl is not installed.
    """
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.algorithm.base import NNAlgorithmParams
    from pfl.algorithm.federated_averaging import FederatedAveraging
    from pfl.callback.base import TrainingProcessCallback
    from pfl.data.dataset import Dataset
    from pfl.data.federated_dataset import FederatedDataset
    from pfl.data.sampling import get_user_sampler
    from pfl.hyperparam import NNTrainHyperParams
    from pfl.metrics import Metrics
    from pfl.model.pytorch import PyTorchModel

    inputs, labels = torch.as_tensor(np.asarray(x)), torch.as_tensor(np.asarray(y))
    users = list(range(len(inputs)))
    ends = []

    class Clock(TrainingProcessCallback):
        def after_central_iteration(
            self, aggregate_metrics: Any, model: Any, *, central_iteration: int
        ) -> Any:
            ends.append(process_time())
            return False, Metrics()

    network = Network(make())
    model = PyTorchModel(
        network,
        local_optimizer_create=torch.optim.SGD,
        central_optimizer=torch.optim.SGD(network.parameters(), lr=1.0),
    )
    sampler = get_user_sampler("minimize_reuse", users)
    data = FederatedDataset(lambda user: Dataset([inputs[user], labels[user]]), sampler)
    quiet, logger = logging.disable, logging.root.manager.disable
    quiet(logging.INFO)
    before, threads = process_time(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        FederatedAveraging().run(
            algorithm_params=NNAlgorithmParams(
                central_num_iterations=count,
                evaluation_frequency=count + 1,
                train_cohort_size=len(users),
                val_cohort_size=0,
            ),
            backend=SimulatedBackend(training_data=data, val_data=None),
            model=model,
            model_train_params=NNTrainHyperParams(
                local_num_epochs=1, local_learning_rate=lr, local_batch_size=batch
            ),
            model_eval_params=None,
            callbacks=[Clock()],
        )
    finally:
        torch.set_num_threads(threads)
        quiet(logger)
    return np.diff([before, *ends]).tolist(), network.module
