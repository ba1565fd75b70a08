"""Every algorithm by its class's name, and the instances that show them."""

from fairfl.sims.algorithms import algorithms
from fairfl.sims.algorithms.afl import AFL as AFL
from fairfl.sims.algorithms.ditto import Ditto as Ditto
from fairfl.sims.algorithms.dual_weighted import DualWeighted as DualWeighted
from fairfl.sims.algorithms.dynamic import ClippingFedAvg as ClippingFedAvg
from fairfl.sims.algorithms.dynamic import ModifiedNormalizedFedAvg as ModifiedNormalizedFedAvg
from fairfl.sims.algorithms.dynamic import NormalizedFedAvg as NormalizedFedAvg
from fairfl.sims.algorithms.dynamic_qfedavg import DynamicQFedAvg as DynamicQFedAvg
from fairfl.sims.algorithms.fedavg import FedAvg as FedAvg
from fairfl.sims.algorithms.fedavg import FedSGD as FedSGD
from fairfl.sims.algorithms.fedmgda import FedMGDA as FedMGDA
from fairfl.sims.algorithms.fedopt import FedOpt as FedOpt
from fairfl.sims.algorithms.fedprox import FedProx as FedProx
from fairfl.sims.algorithms.gifair import GIFAIR as GIFAIR
from fairfl.sims.algorithms.pfedavg import PFedAvg as PFedAvg
from fairfl.sims.algorithms.propfair import PropFair as PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg as QFedAvg
from fairfl.sims.algorithms.qfedavg import QFedSGD as QFedSGD
from fairfl.sims.algorithms.term import TERM as TERM

KINDS = algorithms()
EVERY = [algorithm for kind in KINDS.values() for algorithm in kind.examples()]
