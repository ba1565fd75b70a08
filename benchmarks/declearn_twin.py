"""FedFB for demographic parity in declearn, where it is installed, to compare results and time.

declearn (Inria) comes with the extra ``declearn``, in an environment of its own: its releases up to
2.9.1 want pandas < 3.
"""

# pyright: reportMissingImports=false, reportCallIssue=false, reportGeneralTypeIssues=false
# declearn wants older packages than constraints.txt pins: it is installed by itself, where it is

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from fairfl._support.checks import positive, whole
from fairfl.sims.engine import MLP, ClientData
from fairfl.sims.engine.task import Floats


@dataclass(frozen=True, eq=False)
class Found:
    """A run: the model in the layout of our ``MLP`` (P,), λ of the groups in each round (T, 2), CPU
    seconds.

    λ_a is the share of a batch that is people of group a and label 0, within [0, P(a)]; the server
    sets it before each round, the first time from the losses of the untrained model.
    """

    params: Tensor
    lam: Floats
    seconds: float


def fedfb(
    data: ClientData,
    model: MLP,
    *,
    rounds: int,
    epochs: int,
    batch: int,
    lr: float,
    momentum: float,
    alpha: float,
    seed: int,
    server_lr: float = 1.0,
    turned: bool = False,
    untrained: bool = True,
) -> Found:
    r"""FedFB's controller of declearn, all clients in this process.

    Its problem is FairBatch's, not FedFB's: a batch holds λ_0, P(0) - λ_0, λ_1 and P(1) - λ_1 of
    the four cells on every client, whatever that client's own shares are. Its F is the printed one,
    of the log loss. It adds the clients' updates up, unweighted: w ← w + server_lr Σ_k (w_k - w).

    Parameters
    ----------
    data : ClientData
        Training rows with ``group`` of 0 and 1, labels 0 and 1; declearn knows two groups.
    model : MLP
        Two classes, one hidden layer.
    alpha : float > 0
        λ moves by alpha / sqrt(2).
    server_lr : float > 0
        1 is declearn's default; 1 / K takes the mean.
    turned : bool
        declearn moves λ_0 and λ_1 the same way. FedFB's (9) moves them apart, μ_0 = -μ_1: True
        turns λ_1's steps.
    untrained : bool
        declearn's first step of λ is by the losses of the untrained model; False leaves it out.

    Errors: ImportError where declearn is not installed, ValueError for other data.
    Source: declearn 2.9.1, ``fairness/fairbatch``; FedFB, section 4.
    """
    for name, value in (("rounds", rounds), ("epochs", epochs), ("batch", batch)):
        whole(name, value, 1)
    for name, number in (("lr", lr), ("alpha", alpha), ("server_lr", server_lr)):
        positive(name, number)
    if data.group is None or set(np.unique(data.group)) != {0, 1}:
        raise ValueError("group must hold the groups 0 and 1 for declearn")
    if len(model.widths) != 3 or model.widths[-1] != 2:
        raise ValueError(
            f"model must have one hidden layer and two classes for declearn, got {model.widths}"
        )
    # it tells that it replaces the averaging of updates by their sum
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _fedfb(
            data,
            model,
            rounds,
            epochs,
            batch,
            lr,
            momentum,
            alpha,
            seed,
            server_lr,
            turned,
            untrained,
        )


def _fedfb(
    data: ClientData,
    model: MLP,
    rounds: int,
    epochs: int,
    batch: int,
    lr: float,
    momentum: float,
    alpha: float,
    seed: int,
    server_lr: float,
    turned: bool,
    untrained: bool,
) -> Found:
    from declearn.fairness.core import FairnessInMemoryDataset
    from declearn.fairness.fairbatch import FairbatchControllerServer
    from declearn.main import FederatedClient, FederatedServer
    from declearn.main.config import FLOptimConfig, FLRunConfig
    from declearn.model.torch import TorchModel
    from declearn.optimizer import Optimizer
    from declearn.optimizer.modules import MomentumModule

    logging.getLogger("declearn").setLevel(logging.ERROR)
    network = model.sequential()
    start = torch.empty(model.size)
    start[model.places] = model.init(seed).float()
    vector_to_parameters(start, network.parameters())
    controller = FairbatchControllerServer("demographic_parity", alpha=alpha, fedfb=True)
    lam: list[tuple[float, float]] = []
    _watch(controller, lam, turned, untrained)
    make_server, make_client = _network()
    wire = make_server("localhost", 0, heartbeat=0.0)
    optimiser = Optimizer(lrate=lr, modules=[MomentumModule(beta=momentum)] if momentum else [])
    server = FederatedServer(
        TorchModel(network, nn.CrossEntropyLoss()),
        wire,
        FLOptimConfig(
            client_opt=optimiser, server_opt=Optimizer(lrate=server_lr), fairness=controller
        ),
    )
    clients = []
    group = data.group
    assert group is not None  # checked
    for k in range(data.clients):
        rows = slice(int(data.offsets[k]), int(data.offsets[k + 1]))
        mine = FairnessInMemoryDataset(
            data.x[rows].float().numpy(),
            target=data.y[rows].numpy(),
            s_attr=group[rows, None],
            expose_classes=True,
            seed=1000 * seed + k,
        )
        clients.append(FederatedClient(make_client(wire, f"client-{k}"), mine, verbose=False))
    config = FLRunConfig.from_params(
        rounds=rounds,
        register=len(clients),
        training={"batch_size": batch, "shuffle": True, "drop_remainder": False, "n_epoch": epochs},
        evaluate={"batch_size": len(data.x), "frequency": rounds + 1},
        fairness={"batch_size": len(data.x)},
    )

    async def everyone() -> None:
        await asyncio.gather(server.async_run(config), *(client.async_run() for client in clients))

    threads, before = torch.get_num_threads(), process_time()
    torch.set_num_threads(1)
    try:
        asyncio.run(everyone())
    finally:
        torch.set_num_threads(threads)
    took = process_time() - before
    last = parameters_to_vector(network.parameters()).detach().double()
    return Found(last[model.places], np.array(lam), took)


def _watch(controller: Any, lam: list[tuple[float, float]], turned: bool, untrained: bool) -> None:
    """Keep λ after each of the server's steps, turn those of λ_1, and leave the first one out."""
    setup: Callable[..., Any] = controller._setup_function

    def made(**kwargs: Any) -> Any:
        rule = setup(**kwargs)
        step: Callable[[Mapping[Any, float]], None] = rule.update_from_losses

        def stepped(losses: Mapping[Any, float]) -> None:
            states = rule.states
            if not lam and not untrained:
                lam.append((states["lambda_1"], states["lambda_2"]))
                return
            if turned:  # a step down of P(1) - λ_1, kept within [0, P(1)], is a step up of λ_1
                states["lambda_2"] = states["p_attr_1"] - states["lambda_2"]
            step(losses)
            if turned:
                states["lambda_2"] = states["p_attr_1"] - states["lambda_2"]
            lam.append((states["lambda_1"], states["lambda_2"]))

        rule.update_from_losses = stepped
        return rule

    controller._setup_function = made


def _network() -> tuple[Any, Any]:
    """Endpoints that hand bytes over in memory, packed as on a wire; no socket is opened."""
    from declearn.communication.api import NetworkClient, NetworkServer

    class Server(NetworkServer, register=False):
        protocol, uri = "memory", "memory"

        @staticmethod
        def _setup_ssl_context(*args: Any, **kwargs: Any) -> None:
            return None

        async def start(self) -> None:
            pass

        async def stop(self) -> None:
            await self.handler.purge()

    class Client(NetworkClient, register=False):
        protocol = "memory"

        def __init__(self, server: Server, name: str) -> None:
            super().__init__("memory", name)
            self.server = server

        @staticmethod
        def _setup_ssl_context(*args: Any, **kwargs: Any) -> None:
            return None

        async def start(self) -> None:
            pass

        async def stop(self) -> None:
            pass

        async def _send_message(self, message: bytes) -> bytes:
            answer = await self.server.handler.handle_message(message, context=self.name)
            return answer.serialize()

    return Server, Client
