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

from fairfl.sims.engine.algorithm import Aggregate as Aggregate
from fairfl.sims.engine.algorithm import Algorithm as Algorithm
from fairfl.sims.engine.algorithm import NonFiniteUpdate as NonFiniteUpdate
from fairfl.sims.engine.data import ClientData as ClientData
from fairfl.sims.engine.data import Parts as Parts
from fairfl.sims.engine.draws.participation import ByWeight as ByWeight
from fairfl.sims.engine.draws.participation import Everyone as Everyone
from fairfl.sims.engine.draws.participation import Joining as Joining
from fairfl.sims.engine.draws.participation import Participation as Participation
from fairfl.sims.engine.draws.participation import Uniform as Uniform
from fairfl.sims.engine.group_label_sums import CellSums as CellSums
from fairfl.sims.engine.kernels.linear import LeastSquares as LeastSquares
from fairfl.sims.engine.kernels.linear import LinearSVM as LinearSVM
from fairfl.sims.engine.kernels.linear import Logistic as Logistic
from fairfl.sims.engine.kernels.linear import Softmax as Softmax
from fairfl.sims.engine.kernels.mlp import MLP as MLP
from fairfl.sims.engine.kernels.model import Model as Model
from fairfl.sims.engine.kernels.module import Module as Module
from fairfl.sims.engine.round import Received as Received
from fairfl.sims.engine.round import Round as Round
from fairfl.sims.engine.round import State as State
from fairfl.sims.engine.schedule import Constant as Constant
from fairfl.sims.engine.schedule import Cosine as Cosine
from fairfl.sims.engine.schedule import Exponential as Exponential
from fairfl.sims.engine.schedule import Polynomial as Polynomial
from fairfl.sims.engine.schedule import Schedule as Schedule
from fairfl.sims.engine.schedule import Steps as Steps
from fairfl.sims.engine.secure_sums import CellRound as CellRound
from fairfl.sims.engine.secure_sums import SumOnly as SumOnly
from fairfl.sims.engine.settings import Computing as Computing
from fairfl.sims.engine.settings import Replicate as Replicate
from fairfl.sims.engine.settings import Training as Training
from fairfl.sims.engine.simulation import Simulation as Simulation
from fairfl.sims.engine.step import Batch as Batch
from fairfl.sims.engine.step import LocalStep as LocalStep
from fairfl.sims.engine.task import Floats as Floats
from fairfl.sims.engine.task import LocalTask as LocalTask
from fairfl.sims.engine.task import SampleWeights as SampleWeights
from fairfl.sims.engine.task import as_floats as as_floats
from fairfl.sims.engine.task import as_tensor as as_tensor
from fairfl.sims.runs.files import RunFolderError as RunFolderError
from fairfl.sims.runs.run import Result as Result
from fairfl.sims.runs.run import best_of as best_of
from fairfl.sims.runs.run import simulate as simulate
