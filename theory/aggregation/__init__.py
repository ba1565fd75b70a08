"""The objectives of fair federated learning: values, dual weights, conjugates, traits and a
calculus of them.

>>> from fairfl.theory.aggregation import PropFair
>>> aim = PropFair(M=2.0)
>>> aim.value([0.0, 1.5])
np.float64(1.0)
>>> aim.dual_weights([0.0, 1.5])
array([0.25, 1.  ])
>>> aim.conjugate([0.25, 1.0])  # M (sum w - 1): so w.f - A*(w) = 1.5 - 0.5 = A(f)
np.float64(0.5)
"""

from fairfl.theory.aggregation._base import (
    Domain,
    NoClosedForm,
    NotAttained,
    Objective,
    Traits,
    objectives,
)
from fairfl.theory.aggregation.afl import AFL
from fairfl.theory.aggregation.convex_function import ConvexFunction
from fairfl.theory.aggregation.fedavg import FedAvg
from fairfl.theory.aggregation.kolmogorov import KolmogorovMean
from fairfl.theory.aggregation.propfair import PropFair
from fairfl.theory.aggregation.qffl import QFFL
from fairfl.theory.aggregation.rank_weighted import RankWeighted
from fairfl.theory.aggregation.term import TERM

__all__ = [
    "AFL",
    "QFFL",
    "TERM",
    "ConvexFunction",
    "Domain",
    "FedAvg",
    "KolmogorovMean",
    "NoClosedForm",
    "NotAttained",
    "Objective",
    "PropFair",
    "RankWeighted",
    "Traits",
    "objectives",
]
