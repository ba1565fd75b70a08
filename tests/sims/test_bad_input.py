"""What sims/ refuses: calls, and the words of their errors."""

import every_algorithm
import grouped
import numpy as np
import small_data
import torch
from bad_input import refused
from federations import EXACT, classified, quick
from torch import nn

from fairfl.sims import engine, group_fairness, models
from fairfl.sims.data import partition, tables
from fairfl.sims.data.federated import synthetic
from fairfl.sims.data.federated.fedfb_synthetic import fedfb_synthetic
from fairfl.sims.data.table_file import Form
from fairfl.sims.data.tables.published_tables import register
from fairfl.sims.engine import ClientData, Computing, LocalTask, Parts, Replicate, Simulation
from fairfl.sims.group_fairness import fedfb
from fairfl.theory import aggregation as aims


def scored(**changes):
    arguments = {"X": np.arange(6.0)[:, None], "y": [0, 1, 0, 1, 0, 1], "folds": 3}
    return tables.cross_fitted_score(**(arguments | changes))


FOUR = [0, 1, 0, 1]
DATA = vars(partition) | vars(tables) | vars(small_data)
DATA |= {
    function.__name__: function for function in (synthetic, fedfb_synthetic, register, scored, Form)
}
test_data = refused(
    r"""
fedfb_synthetic(clients=5) | clients must be 3, or 2 or 4
fedfb_synthetic(heterogeneity="none") | heterogeneity must be one of
fedfb_synthetic(test=0.6, validation=0.5) | less than 1
synthetic(alpha=-1.0) | alpha
synthetic(kind="mixed") | kind
synthetic(clients=0) | clients
iid(0, 1) | rows must be a whole number of at least 1, got 0
iid(3, 4) | clients must be a whole number of at most 3, got 4
iid(3, 2, -1) | seed must be a whole number of at least 0, got -1
dirichlet(FOUR, 2, 0.0) | beta must be positive
dirichlet(FOUR, 2, 1.0, min_size=3) | min_size must be at most N / clients = 2
dirichlet([], 1, 1.0) | label must have shape \(N,\)
dirichlet([0.0, np.nan], 1, 1.0) | label must not hold NaN, got NaN at row 1
label_shards(FOUR, 2, 3) | at most the number of rows \(4\), got 6
two_groups(FOUR, 1.5) | alpha must be in \[0, 1\], got 1.5
two_groups([0, 0], 1.0) | label must hold at least 2 classes, one for each group, got 1
two_groups(FOUR, 1.0, 3) | clients_per_group must be at most the 2 rows of group
samples(y=[0, 1]) | y must have shape \(4, ...\), got shape \(2,\)
samples(x=np.array([["a"]] * 4)) | x must be numbers
samples(x=[[1.0], [np.nan], [1.0], [1.0]]) | x must be finite, got NaN or infinity in row 1
samples(owner=[0, 1, 2, 4]) | owner must be in 0..3, got 4 at row 3
samples(n_clients=0) | n_clients must be a whole number of at least 1, got 0
samples(part=[0, 1, 2, 3]) | part must be in 0..2, got 3 at row 3
samples(group=[0, 1, -1, 0]) | group must be >= 0, got -1 at row 2
samples(client_names=("a",)) | client_names must name 4 clients, got 1
samples().rows("dev") | part must be one of 'train', 'validation', 'test', 'all', got 'dev'
samples().split(0.5, 0.5) | validation \+ test must be less than 1, got 1
scored(folds=1) | folds must be from 2 to the number of rows \(6\), got 1
scored(y=[1, 0, 0, 0, 0, 0]) | y must be 1 in at least two rows, got 1
load("adlut") | name must be one of 'adult', 'bank', 'compas'.*, got 'adlut'
load("adult", groups="race") | groups of 'adult' must be one of 'two', 'all', got 'race'
load("compas", groups="x") | 'two', 'all', 'race', 'sex', 'black-white', got 'x'
load("adult", seed=-1) | seed must be a whole number of at least 0, got -1
Form(sep="") | sep must be one character
Form(sep='"') | neither a quote nor the decimal sign '.'
Form(decimal="'") | decimal must be one of '.', ','
Form(encoding="") | got ''
Form(encoding="a\0") | encoding must be
register("adult")(DATASETS["adult"].build) | name must be new, got 'adult' in .*, taken by adult\.py
""",
    DATA | {"FOUR": FOUR, "np": np},
)


X, Y = torch.zeros(4, 2), torch.tensor(FOUR)
MASKED = Computing(device="cpu", masked_updates=True)


class Wrong(every_algorithm.FedAvg):
    """Steps or starts of one client's shape, one task, or losses that nobody asked for."""

    def __init__(self, name):
        object.__setattr__(self, "wrong", name)

    def client(self, round):
        if self.wrong in ("task", "number"):
            return LocalTask() if self.wrong == "task" else (1,)
        return (LocalTask(**{"start": round.params} if self.wrong == "start" else {}),)

    def server(self, received):
        weights = received.losses if self.wrong == "losses" else received.p
        return engine.Aggregate(weights, {}, received.params[:2])


class Shifted(engine.LeastSquares):
    """Losses below 0."""

    def sample_losses(self, z, y):
        return super().sample_losses(z, y) - 100


def started(algorithm=None, model=None, data=None, computing=EXACT, options=None, **changes):
    """A round of three clients' training, some of it changed."""
    replicate = Replicate(algorithm or every_algorithm.FedAvg(), **(options or {}))
    parts = classified((5, 9, 8)) if data is None else data
    arguments = model or engine.Softmax(4, 3), parts, [replicate], quick(**changes), computing
    Simulation(*arguments).step()


def whole_numbers(kind):
    """Pixels that nobody scaled."""
    return Parts(ClientData(torch.ones(4, 4).to(kind), Y, [0, 2, 4]))


def regression():
    """Targets that are floats."""
    data = classified((5, 9, 8)).train
    return Parts(ClientData(data.x, data.x.sum(1), data.offsets))


ENGINE = vars(engine) | vars(group_fairness) | vars(models) | vars(every_algorithm) | vars(grouped)
ENGINE |= {"nn": nn, "aims": aims, "Quantiser": fedfb.Quantiser}
test_engine = refused(
    r"""
ClientData(X, Y[:3], [0, 4]) | x and y must have one row a sample
ClientData(X, Y, [0, 3]) | offsets must rise from 0 to N = 4
ClientData(X, Y, [0.0, 4.0]) | offsets must be K \+ 1 whole numbers
ClientData(X * np.nan, Y, [0, 4]) | x must be finite, got NaN or an infinity in row 0
ClientData(X, Y, [0, 2, 4], [1, 1]) | ids must be distinct
ClientData(X, Y, [0, 2, 4], [1, -1]) | ids must be >= 0, got -1 at row 1
ClientData.from_owner(X, Y, [0, 1, 2, 3], clients=3) | owner must be in 0..2
ClientData.from_owner(X, Y, [0, 0, 1, 1], group=[0, 1]) | group must be whole numbers
ClientData.from_clients([]) | parts must hold at least one client
Parts(ClientData(X, Y, [0, 4, 4])) | train must hold a sample of every client, got none of client 1
Parts(ClientData(X, Y, [0, 4]), ClientData(X, Y, [0, 2, 4])) | test must have the clients of train
Parts(ClientData(X, Y, [0, 2, 4]), weights=np.array([0.5, 0.6])) | weights must sum to one
Training(0) | rounds must be a whole number of at least 1, got 0
Training(1, lr=0) | lr must be in \(0, 1e\+38\]
Training(1, momentum=1.0) | momentum must be in \[0, 1\), got 1
Training(1, weight_decay=-1) | weight_decay must be in
Training(1, server_lr=np.inf) | server_lr must be in
Training(1, batch_size=0) | batch_size must be a whole number
Training(1, epochs=1, steps=2) | epochs and steps must not both be given
Training(1, steps=0) | steps must be a whole number
Training(1, dropout=1.5) | dropout must be in
Computing(dtype="float16") | dtype must be one of
Computing(backend="ray") | backend must be one of
Computing(non_finite="ignore") | non_finite must be one of
Computing(memory_limit=0) | memory_limit must be
Computing(threads=0) | threads must be
Computing(device="cuda:99") | device must be there
Steps((0,)) | milestones
Exponential(0.0) | factor must be
Polynomial(-1.0) | power must be
Uniform(0) | count must be
Replicate("fedavg") | algorithm must be
LocalTask(batch_objective=max) | batch_objective must have a static __call__
Replicate(FedAvg(), -1) | seed must be
Softmax(0, 3) | features must be
Softmax(3, 1) | outputs must be at least 2
Logistic(3, 2) | outputs must be 1
MLP((3, 2)) | widths must be
MLP((3, 0, 2)) | widths\[1\] must be
Module(lambda: nn.BatchNorm1d(3, momentum=None)) | have a momentum
Module(lambda: nn.ReLU()) | with parameters
Module(nn.Linear(4, 3)) | factory must be a function that makes a module
Module(3) | factory must be a function that makes a module
Module(lambda: 3) | what factory makes must be a Module, got int
Module(lambda: nn.Linear(4, 3).requires_grad_(False)) | with parameters to train
FedProx(-1.0) | mu must be
QFedAvg(-1.0) | q must be
QFedAvg(1.0, L=0.0) | L must be
QFedAvg(1.0, variant="other") | variant must be one of
AFL(0.0) | rate must be
AFL(1.0, "sideways") | ascent must be one of
TERM(-1.0) | alpha must be
TERM(1.0, np.nan) | tau must not hold NaN
PropFair(0.0) | M must be
PropFair(1.0, 1.0) | epsilon must be below M = 1
PropFair(variant="x") | variant must be one of
PFedAvg(aims.AFL()) | ranks must be a RankWeighted
PFedAvg(client_weights="all") | client_weights must be one of
FedMGDA(2.0) | epsilon must be
GIFAIR(-1.0) | lam must be
GIFAIR(0.0, (0, -1)) | groups must be
Ditto(np.inf) | lam must be
DualWeighted(aims.QFFL(1.0).weighted([0.5, 0.5])) | objective must be
Joining(()) | joins must name the round of at least one group
Joining([0, 1]) | joins must be a tuple
Joining((0, -1)) | joins\[1\] must be
Joining((0, 1), (3,)) | leaves must be 2, one for each group
Joining((0, 5), (3, 5)) | leaves\[1\] must be 0 or above 5, got 5
Joining((0, 1), groups=(0, 2, 0)) | groups must hold each code from 0 to 1
Joining((0,), share=0.0) | share must be
Joining((0, 20)).check(5, 20) | joins must be below the 20 rounds, got 20
Joining((0, 1), groups=(0, 1)).check(3, 9) | groups must be 3, one for each client
Joining((0, 1, 2)).check(2, 9) | at most as many groups as clients, 2, got 3
NormalizedFedAvg("row") | norm must be
NormalizedFedAvg(length=0.0) | length must be
ModifiedNormalizedFedAvg(1.5) | beta must be
ClippingFedAvg("other") | variant must be
DynamicQFedAvg(rule=FedAvg()) | rule must be NormalizedFedAvg
DynamicQFedAvg(-1.0) | q must be
FedOpt("sgd") | kind must be
FedOpt(beta_1=1.0) | beta_1 must be
FedOpt(tau=0.0) | tau must be
FairBatch(budget=-0.1) | budget must be in
FairBatch("sp") | notion must be one of
FairBatch(alpha=0) | alpha must be positive
FairBatch(decay=-1) | decay must be in
FairBatch(surrogate="hinge") | surrogate must be one of
FairBatch(projection="plane") | projection must be one of 'box', 'sum', got 'pl
LocalFairBatch(budgets=(0.1, -1.0)) | budgets must be in .* got -1
run(people(), LocalFairBatch(budgets=(0.1,)), 1) | budgets must be 3, one for each client, got 1
LocalFairBatch(FairBatch("cp")) | rule.notion
LocalFairBatch(average_every=0) | average_every
FedFB(every=0) | every
FedFB(evaluated="both") | evaluated
FedFB(bits=0) | bits
FedFB(loss_bound=-1) | loss_bound
run(Parts(ClientData(X, Y, [0, 4])), FedFB()) | group must be given
FairFed(-1) | beta
FairFed(notion="eodds") | notion
FairFed(local="massaging") | local
AgnosticFair(kernels=0) | kernels
AgnosticFair(cap=0.5) | cap
AgnosticFair(rate=0) | rate
AgnosticFair(momentum=1.0) | momentum
AgnosticFair(decay=0.0) | decay
AgnosticFair().fit(Logistic(2), Parts(ClientData(X, Y, [0, 4])), 1, 0.1) | group
Quantiser(17, 0, 1) | bits
Quantiser(4, 1, 1) | high - low
FairMeasures.of([1, 0], [1, 0], [0]) | group must have shape \(2,\), as accept, got \(1,\)
LeNet(size=30) | size must be 28 or 32, got 30
ResNet18GN(width=3) | width must be a multiple of groups \(2\), got 3
CharLSTM(5, layers=0) | layers must be a whole number of at least 1, got
Simulation(Softmax(4, 3), regression(), [], quick()) | replicates must be at least
started(participation=Uniform(9)) | count must be a whole number of at most 3, got 9
started(model=Softmax(5, 3)) | x must have shape \(N, 5\)
started(model=Softmax(4, 2)) | y must be in 0..1 for Softmax, got 0 to 2
started(model=LeastSquares(4)) | y must be floats
started(model=Module(lambda: nn.Linear(3, 3), name="three")) | data must fit Module\(three
started(model=Module(lambda: nn.Linear(4, 2))) | y must be in 0..1
started(model=Module(lambda: nn.Linear(4, 3), lambda z, y: z.sum()))
    | loss must give one number a sample
started(GIFAIR(0.5)) | lam must be at most
started(GIFAIR(0.0, (0, 1))) | groups must be one code a client, 3, got 2
started(DualWeighted(aims.PropFair(0.5))) | losses must be finite, with f_i <= M
started(QFedAvg(), Shifted(4), regression()) | losses must be >= 0
started(Wrong("step")) | step must have shape \(15,\), got \(2,\)
started(Wrong("task")) | the tasks of Wrong.client must be a tuple, got LocalTask
started(Wrong("number")) | a task of Wrong.client must be a LocalTask, got int
started(Wrong("losses")) | losses must be asked for
started(Wrong("start")) | start must have shape \(3, 15\), got \(15,\) from
started(computing=MASKED) | masked_updates must be False for FedAvg\(\)
Computing(device="cpu", masked_updates="yes") | masked_updates must be True or
started(options={"lr": 1e39}) | lr must be in
started(data=whole_numbers(torch.int64)) | x must be floating point for .*, got torch.int64
Computing(device='cuda:x') | device must be 'auto', 'cpu', 'cuda' or 'cuda:N'
Computing(device=None) | device must be 'auto', 'cpu', 'cuda' or 'cuda:N'
""",
    ENGINE | globals(),
)
