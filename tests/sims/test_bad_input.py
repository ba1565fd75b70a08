"""Bad input of the simulator: a ValueError that names the argument, the value, what is allowed."""

import numpy as np
import pytest
import torch
from every_algorithm import (
    AFL,
    GIFAIR,
    TERM,
    ClippingFedAvg,
    Ditto,
    DualWeighted,
    DynamicQFedAvg,
    FedAvg,
    FedMGDA,
    FedOpt,
    FedProx,
    ModifiedNormalizedFedAvg,
    NormalizedFedAvg,
    PFedAvg,
    PropFair,
    QFedAvg,
    QFedSGD,
)
from federations import EXACT, classified, quick
from grouped import people, run
from torch import nn

from fairfl.sims import models
from fairfl.sims.data.federated import synthetic
from fairfl.sims.data.federated.fedfb_synthetic import fedfb_synthetic
from fairfl.sims.data.partition import dirichlet, iid, label_shards, summarise, two_groups
from fairfl.sims.engine import (
    MLP,
    Aggregate,
    ByWeight,
    ClientData,
    Computing,
    Exponential,
    Given,
    Joining,
    LeastSquares,
    LocalTask,
    Logistic,
    Module,
    Parts,
    Polynomial,
    Replicate,
    Simulation,
    Softmax,
    Steps,
    Training,
    Uniform,
)
from fairfl.sims.group_fairness import (
    AgnosticFair,
    FairBatch,
    FairFed,
    FairMeasures,
    FedFB,
    LocalFairBatch,
)
from fairfl.sims.group_fairness.fedfb import Quantiser
from fairfl.theory import aggregation as aims

X, Y = torch.zeros(4, 2), torch.tensor([0, 1, 0, 1])
FOUR = [0, 1, 0, 1]
MASKED = Computing(device="cpu", masked_updates=True)


class Wrong(FedAvg):
    """Steps, starts or linear terms of one client's shape."""

    def __init__(self, name):
        object.__setattr__(self, "wrong", name)

    def client(self, round):
        return (LocalTask(**{} if self.wrong == "step" else {self.wrong: round.params}),)

    def server(self, received):
        return Aggregate(received.p, {}, received.params[:2])


class Shifted(LeastSquares):
    """Losses below 0."""

    def sample_losses(self, z, y):
        return super().sample_losses(z, y) - 100


def started(algorithm=None, model=None, data=None, computing=EXACT, **changes):
    """A round of three clients' training, some of it changed."""
    own = {name: changes.pop(name) for name in [*changes] if name.startswith("own_")}
    replicate = Replicate(algorithm or FedAvg(), **{k[4:]: v for k, v in own.items()})
    parts = classified((5, 9, 8)) if data is None else data
    Simulation(model or Softmax(4, 3), parts, [replicate], quick(**changes), computing).step()


def whole_numbers(kind):
    """Pixels that nobody scaled."""
    return Parts(ClientData(torch.ones(4, 4).to(kind), Y, [0, 2, 4]))


def regression():
    """Targets that are floats."""
    data = classified((5, 9, 8)).train
    return Parts(ClientData(data.x, data.x.sum(1), data.offsets))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ClientData(X, Y[:3], [0, 4]), "x and y must have one row a sample"),
        (lambda: ClientData(X, Y, [0, 3]), "offsets must rise from 0 to N = 4"),
        (lambda: ClientData(X, Y, [0, 3, 2, 4]), "offsets must rise"),
        (lambda: ClientData(X, Y, [0.0, 4.0]), "offsets must be K \\+ 1 whole numbers"),
        (
            lambda: ClientData(X * np.nan, Y, [0, 4]),
            "x must be finite, got NaN or an infinity in row 0",
        ),
        (lambda: ClientData(X, Y, [0, 2, 4], [1, 1]), "ids must be distinct"),
        (lambda: ClientData(X, Y, [0, 2, 4], [1, -1]), "ids must be >= 0, got -1 at row 1"),
        (lambda: ClientData.from_owner(X, Y, [0, 1, 2, 3], clients=3), "owner must be in 0..2"),
        (
            lambda: ClientData.from_owner(X, Y, [0, 1]),
            r"owner must be whole numbers of shape \(4,\)",
        ),
        (lambda: ClientData.from_clients([]), "parts must hold at least one client"),
        (
            lambda: Parts(ClientData(X, Y, [0, 4, 4])),
            "train must hold a sample of every client, got none of client 1",
        ),
        (
            lambda: Parts(ClientData(X, Y, [0, 4]), ClientData(X, Y, [0, 2, 4])),
            "test must have the clients of train",
        ),
        (
            lambda: Parts(ClientData(X, Y, [0, 2, 4]), weights=np.array([0.5, 0.6])),
            "weights must sum to one",
        ),
        (
            lambda: Parts(ClientData(X, Y, [0, 2, 4]), weights=np.array([1.5, -0.5])),
            "weights must be 2 numbers > 0",
        ),
        (lambda: Training(0), "rounds must be a whole number of at least 1, got 0"),
        (lambda: Training(1, lr=0), "lr must be positive"),
        (lambda: Training(1, momentum=1.0), "momentum must be in \\[0, 1\\), got 1"),
        (lambda: Training(1, weight_decay=-1), "weight_decay must be in"),
        (lambda: Training(1, server_lr=np.inf), "server_lr must be positive and finite"),
        (lambda: Training(1, batch_size=0), "batch_size must be a whole number"),
        (lambda: Training(1, epochs=1, steps=2), "epochs and steps must not both be given"),
        (lambda: Training(1, steps=0), "steps must be a whole number"),
        (lambda: Training(1, dropout=1.5), "dropout must be in"),
        (lambda: Computing(dtype="float16"), "dtype must be one of"),
        (lambda: Computing(backend="ray"), "backend must be one of"),
        (lambda: Computing(non_finite="ignore"), "non_finite must be one of"),
        (lambda: Computing(memory_limit=0), "memory_limit must be"),
        (lambda: Computing(threads=0), "threads must be"),
        (lambda: Computing(device="cuda:99"), "device must be there"),
        (lambda: Steps((0,)), "milestones"),
        (lambda: Exponential(0.0), "factor must be"),
        (lambda: Polynomial(-1.0), "power must be"),
        (lambda: Uniform(0), "count must be"),
        (
            lambda: Given(np.zeros((2, 3), bool)),
            "masks must choose a client in every round, got none in row 0",
        ),
        (lambda: Given(np.zeros((2, 3))), "masks must be bool"),
        (lambda: Replicate("fedavg"), "algorithm must be"),
        (lambda: Replicate(FedAvg(), -1), "seed must be"),
        (lambda: Softmax(0, 3), "features must be"),
        (lambda: Softmax(3, 1), "outputs must be at least 2"),
        (lambda: Logistic(3, 2), "outputs must be 1"),
        (lambda: MLP((3, 2)), "widths must be"),
        (lambda: MLP((3, 0, 2)), "widths\\[1\\] must be"),
        (lambda: Module(lambda: nn.BatchNorm1d(3)), "without buffers"),
        (lambda: Module(lambda: nn.ReLU()), "with parameters"),
        (lambda: FedProx(-1.0), "mu must be"),
        (lambda: QFedAvg(-1.0), "q must be"),
        (lambda: QFedAvg(1.0, L=0.0), "L must be"),
        (lambda: QFedAvg(1.0, variant="other"), "variant must be one of"),
        (lambda: QFedSGD(1.0, variant="printed"), "variant must be left alone"),
        (lambda: AFL(0.0), "rate must be"),
        (lambda: AFL(1.0, "sideways"), "ascent must be one of"),
        (lambda: TERM(-1.0), "alpha must be"),
        (lambda: TERM(1.0, np.nan), "tau must not hold NaN"),
        (lambda: PropFair(0.0), "M must be"),
        (lambda: PropFair(1.0, 1.0), "epsilon must be below M = 1"),
        (lambda: PropFair(variant="x"), "variant must be one of"),
        (lambda: PFedAvg(aims.AFL()), "ranks must be a RankWeighted"),
        (lambda: PFedAvg(client_weights="all"), "client_weights must be one of"),
        (lambda: FedMGDA(2.0), "epsilon must be"),
        (lambda: GIFAIR(-1.0), "lam must be"),
        (lambda: GIFAIR(0.0, (0, -1)), "groups must be"),
        (lambda: Ditto(np.inf), "lam must be"),
        (lambda: DualWeighted(aims.QFFL(1.0).weighted([0.5, 0.5])), "objective must be"),
        (lambda: DualWeighted("afl"), "objective must be"),
        (lambda: Joining(()), "joins must name the round of at least one group"),
        (lambda: Joining([0, 1]), "joins must be a tuple"),
        (lambda: Joining((0, -1)), r"joins\[1\] must be"),
        (lambda: Joining((0, 1.5)), r"joins\[1\] must be"),
        (lambda: Joining((0, 1), (3,)), "leaves must be 2, one a group"),
        (lambda: Joining((0, 5), (3, 5)), r"leaves\[1\] must be 0 or above 5, got 5"),
        (lambda: Joining((0, 1), groups=(0, 2, 0)), "groups must hold each code from 0 to 1"),
        (lambda: Joining((0,), share=0.0), "share must be"),
        (lambda: Joining((0, 20)).check(5, 20), "joins must be below the 20 rounds, got 20"),
        (lambda: Joining((0, 1), groups=(0, 1)).check(3, 9), "groups must be 3, one a client"),
        (lambda: Joining((0, 1, 2)).check(2, 9), "at most as many groups as clients, 2, got 3"),
        (lambda: NormalizedFedAvg("row"), "norm must be"),
        (lambda: NormalizedFedAvg(length=0.0), "length must be"),
        (lambda: ModifiedNormalizedFedAvg(1.5), "beta must be"),
        (lambda: ClippingFedAvg("other"), "variant must be"),
        (lambda: DynamicQFedAvg(rule=FedAvg()), "rule must be NormalizedFedAvg"),
        (lambda: DynamicQFedAvg(-1.0), "q must be"),
        (lambda: FedOpt("sgd"), "kind must be"),
        (lambda: FedOpt(beta_1=1.0), "beta_1 must be"),
        (lambda: FedOpt(tau=0.0), "tau must be"),
        (lambda: FairBatch(budget=-0.1), "budget must be in"),
        (lambda: FairBatch(budget=np.nan), "budget must not hold NaN"),
        (lambda: FairBatch("sp"), "notion must be one of"),
        (lambda: FairBatch(alpha=0), "alpha must be positive"),
        (lambda: FairBatch(decay=-1), "decay must be in"),
        (lambda: FairBatch(surrogate="hinge"), "surrogate must be one of"),
        (lambda: FairBatch(projection="plane"), "projection must be one of 'box', 'sum', got 'pl"),
        (lambda: LocalFairBatch(budgets=(0.1, -1.0)), "budgets must be in .* got -1"),
        (
            lambda: run(people(), LocalFairBatch(budgets=(0.1,)), 1),
            "budgets must be 3, one a client, got 1",
        ),
        (lambda: LocalFairBatch(FairBatch("cp")), "rule.notion"),
        (lambda: LocalFairBatch(average_every=0), "average_every"),
        (lambda: FedFB(every=0), "every"),
        (lambda: FedFB(evaluated="both"), "evaluated"),
        (lambda: FedFB(bits=0), "bits"),
        (lambda: FedFB(loss_bound=-1), "loss_bound"),
        (lambda: run(Parts(ClientData(X, Y, [0, 4])), FedFB()), "group must be given"),
        (lambda: FairFed(-1), "beta"),
        (lambda: FairFed(notion="eodds"), "notion"),
        (lambda: FairFed(local="massaging"), "local"),
        (lambda: AgnosticFair(kernels=0), "kernels"),
        (lambda: AgnosticFair(cap=0.5), "cap"),
        (lambda: AgnosticFair(rate=0), "rate"),
        (lambda: AgnosticFair(momentum=1.0), "momentum"),
        (lambda: AgnosticFair(momentum=-0.1), "momentum"),
        (lambda: AgnosticFair(decay=0.0), "decay"),
        (lambda: AgnosticFair(decay=2.0), "decay"),
        (lambda: AgnosticFair().fit(Logistic(2), Parts(ClientData(X, Y, [0, 4])), 1, 0.1), "group"),
        (lambda: Quantiser(0, 0, 1), "bits"),
        (lambda: Quantiser(17, 0, 1), "bits"),
        (lambda: Quantiser(2.5, 0, 1), "bits"),
        (lambda: Quantiser(4, 1, 1), "high - low"),
        (lambda: FairMeasures.of([1, 0], [1, 0], [0]), "one shape"),
        (lambda: fedfb_synthetic(clients=5), "clients must be 3, or 2 or 4"),
        (lambda: fedfb_synthetic(2, "low"), "clients must be 3, or 2 or 4"),
        (lambda: fedfb_synthetic(heterogeneity="none"), "heterogeneity must be one of"),
        (lambda: fedfb_synthetic(test=0.6, validation=0.5), "less than 1"),
        (lambda: models.LeNet(size=30), "size must be 28 or 32, got 30"),
        (lambda: models.ResNet18GN(width=3), r"width must be a multiple of groups \(2\), got 3"),
        (lambda: models.CharLSTM(5, layers=0), "layers must be a whole number of at least 1, got"),
        (lambda: synthetic(alpha=-1.0), "alpha"),
        (lambda: synthetic(kind="mixed"), "kind"),
        (lambda: synthetic(clients=0), "clients"),
        (lambda: iid(0, 1), "rows must be a whole number of at least 1, got 0"),
        (lambda: iid(3, 4), r"clients must be at most the number of rows \(3\), got 4"),
        (lambda: iid(3, 2.0), "clients must be a whole number"),
        (lambda: iid(3, 2, -1), "seed must be a whole number of at least 0, got -1"),
        (lambda: dirichlet(FOUR, 2, 0.0), "beta must be positive"),
        (lambda: dirichlet(FOUR, 2, 1.0, min_size=3), "min_size must be at most N / clients = 2"),
        (lambda: dirichlet([], 1, 1.0), r"label must have shape \(N,\)"),
        (lambda: dirichlet([0.0, np.nan], 1, 1.0), "label must not hold NaN, got NaN at row 1"),
        (
            lambda: dirichlet(FOUR, 4, 1e-9, min_size=1, tries=3),
            "no draw of 3 gave every one of 4 clients 1 rows",
        ),
        (lambda: label_shards(FOUR, 2, 3), r"at most the number of rows \(4\), got 6"),
        (lambda: two_groups(FOUR, 1.5), r"alpha must be in \[0, 1\], got 1.5"),
        (lambda: two_groups([0, 0], 1.0), "label must hold at least 2 classes, one a group, got 1"),
        (lambda: two_groups(FOUR, 1.0, 3), "clients_per_group must be at most the 2 rows of group"),
        (lambda: summarise([0, 1], FOUR), r"owner must be whole numbers of shape \(4,\)"),
        (lambda: summarise([0, 1, -2, 0], FOUR), "owner must be >= 0, got -2 at row 2"),
        (
            lambda: Simulation(Softmax(4, 3), regression(), [], quick()),
            "replicates must be at least",
        ),
        (
            lambda: started(participation=Uniform(9)),
            "count must be at most the number of clients, 3, got 9",
        ),
        (lambda: started(participation=ByWeight(9, replace=False)), "count must be at most"),
        (
            lambda: started(participation=Given(np.ones((1, 2), bool))),
            "masks must have one column a client, 3",
        ),
        (lambda: started(model=Softmax(5, 3)), r"x must have shape \(N, 5\)"),
        (lambda: started(model=Softmax(4, 2)), "y must be in 0..1 for Softmax, got 0 to 2"),
        (lambda: started(model=LeastSquares(4)), "y must be floats"),
        (lambda: started(model=MLP((4, 3, 2))), "y must be in 0..1 for MLP"),
        (
            lambda: started(model=Module(lambda: nn.Linear(3, 3), name="three")),
            r"data must fit Module\(three",
        ),
        (lambda: started(model=Module(lambda: nn.Linear(4, 2))), "y must be in 0..1"),
        (
            lambda: started(model=Module(lambda: nn.Linear(4, 3), lambda z, y: z.sum())),
            "loss must give one number a sample",
        ),
        (lambda: started(GIFAIR(0.5)), "lam must be at most"),
        (lambda: started(GIFAIR(0.0, (0, 1))), "groups must be one code a client, 3, got 2"),
        (lambda: started(own_lr=-1.0), "lr must be positive"),
        (lambda: started(DualWeighted(aims.PropFair(0.5))), "losses must be finite, with f_i <= M"),
        (lambda: started(QFedAvg(), Shifted(4), regression()), "losses must be >= 0"),
        (lambda: started(Wrong("step")), r"step must have shape \(15,\), got \(2,\)"),
        (lambda: started(Wrong("start")), r"start must have shape \(3, 15\), got \(15,\) from"),
        (lambda: started(Wrong("linear")), r"linear must have shape \(3, 15\), got \(15,\) from"),
        *(
            (lambda given=given: started(**given, computing=Computing(device="cpu")), told)
            for rate in ("lr", "weight_decay", "server_lr")
            for told in [f"{rate} must be at most 3.4e\\+38 in float32, got 1e\\+39"]
            for given in ({rate: 1e39}, {f"own_{rate}": 1e39})
        ),
        *(
            (lambda kind=kind, model=model: started(model=model, data=whole_numbers(kind)), told)
            for told in ["x must be floating point for .*, got torch.int64"]
            for kind in (torch.uint8, torch.int64, torch.bool)
            for model in (Softmax(4, 3), MLP((4, 3, 3)))
        ),
        *(
            (lambda name=name: Computing(device=name), "device must be 'auto', 'cpu', 'cuda' or ")
            for name in ("cuda:", "cuda:x", "cpu:1", "CUDA", "", "tpu", "meta", None, 3)
        ),
        (lambda: started(computing=MASKED), r"masked_updates must be False for FedAvg\(\)"),
        (lambda: Computing(device="cpu", masked_updates="yes"), "masked_updates must be True or"),
    ],
)
def test_is_refused_when_it_is_made(make, told):
    with pytest.raises(ValueError, match=told):
        make()
