"""Group-fair federated learning: notions, the algorithms of FedFB's experiments, measures of
disparity.

The servers of these algorithms see sums over clients (``fairfl.sims.engine.secure_sums``), client
parity's excepted, whose statistic is the clients' losses. Registered by ``name`` in
``fairfl.sims.engine.secure_sums.SUM_ONLY``.
"""

from fairfl.sims.group_fairness.agnostic import AgnosticFair
from fairfl.sims.group_fairness.fairbatch import FairBatch
from fairfl.sims.group_fairness.fairfed import FairFed
from fairfl.sims.group_fairness.fedfb import FedFB
from fairfl.sims.group_fairness.fedminmax import FedMinMax
from fairfl.sims.group_fairness.lft import LocalFairBatch
from fairfl.sims.group_fairness.measures import FairMeasures, trivial
from fairfl.sims.group_fairness.notions import NOTIONS, BilevelProblem

__all__ = ["AgnosticFair", "BilevelProblem", "FairBatch", "FairFed", "FairMeasures", "FedFB"]
__all__ += ["FedMinMax", "LocalFairBatch", "NOTIONS", "trivial"]
