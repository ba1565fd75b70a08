"""The simulator's engine: clients are an axis of the tensors, not a loop.

What goes in
    ``ClientData(x (N, ...), y (N,), offsets (K + 1,))``: the samples of all clients, one client
    after the other, on one device; ``Parts(train, test, validation, weights)``: such parts with the
    same clients, ``Parts.of`` a data set of ``fairfl.sims.data.federated``.
    ``ClientData.from_owner`` sorts samples by an owner column (what ``fairfl.sims.data.partition``
    gives), ``from_clients`` joins lists. A ``Model`` (``Softmax``, ``Logistic``, ``LeastSquares``,
    ``LinearSVM``, ``MLP``, or ``Module`` for any ``nn.Module``), replicates (an algorithm, a seed,
    rates), and the settings ``Training`` and ``Computing``.

What happens
    Parameters are rows: of all replicates (R, P), and of all clients that train (J, P). A round
    draws who takes part, takes full-data losses where an algorithm asks for them, runs local SGD
    for all clients of all replicates together, chunk by chunk, and asks each replicate's algorithm
    what it makes of the updates. Randomness is by counter (``draws/counter.py``): it depends on
    seed, round and client id only.
"""

from fairfl.sims.engine.algorithm import Aggregate, Algorithm, NonFiniteUpdate
from fairfl.sims.engine.data import ClientData, Parts
from fairfl.sims.engine.draws.participation import (
    ByWeight,
    Everyone,
    Joining,
    Participation,
    Uniform,
)
from fairfl.sims.engine.group_label_sums import CellSums
from fairfl.sims.engine.kernels.linear import LeastSquares, LinearSVM, Logistic, Softmax
from fairfl.sims.engine.kernels.mlp import MLP
from fairfl.sims.engine.kernels.model import Model
from fairfl.sims.engine.kernels.module import Module
from fairfl.sims.engine.round import Received, Round, State
from fairfl.sims.engine.schedule import Constant, Cosine, Exponential, Polynomial, Schedule, Steps
from fairfl.sims.engine.secure_sums import CellRound, SumOnly
from fairfl.sims.engine.settings import Computing, Replicate, Training
from fairfl.sims.engine.simulation import Simulation
from fairfl.sims.engine.step import Batch, LocalStep
from fairfl.sims.engine.task import Floats, LocalTask, SampleWeights, as_floats, as_tensor
from fairfl.sims.runs.files import RunFolderError
from fairfl.sims.runs.run import Result, best_of, simulate

__all__ = ["Aggregate", "Algorithm", "Batch", "ByWeight", "CellRound", "CellSums"]
__all__ += ["ClientData", "Computing", "Constant", "Cosine", "Everyone", "Exponential"]
__all__ += ["Floats", "Joining", "LeastSquares", "LinearSVM", "LocalStep", "LocalTask"]
__all__ += ["Logistic", "MLP", "Model", "Module", "NonFiniteUpdate", "Participation", "Parts"]
__all__ += ["Polynomial", "Received", "Replicate", "Result", "Round", "RunFolderError"]
__all__ += ["SampleWeights", "Schedule", "Simulation", "Softmax", "State", "Steps", "SumOnly"]
__all__ += ["Training", "Uniform", "as_floats", "as_tensor", "best_of", "simulate"]
