"""Group-fair federated learning: notions, the algorithms of FedFB's experiments, measures of
disparity.

The servers of these algorithms see sums over clients (``fairfl.sims.engine.secure_sums``), client
parity's excepted, whose statistic is the clients' losses. Registered by ``name`` in
``fairfl.sims.engine.secure_sums.SUM_ONLY``.
"""

from fairfl.sims.group_fairness.agnostic import AgnosticFair as AgnosticFair
from fairfl.sims.group_fairness.fairbatch import FairBatch as FairBatch
from fairfl.sims.group_fairness.fairfed import FairFed as FairFed
from fairfl.sims.group_fairness.fedfb import FedFB as FedFB
from fairfl.sims.group_fairness.fedminmax import FedMinMax as FedMinMax
from fairfl.sims.group_fairness.lft import LocalFairBatch as LocalFairBatch
from fairfl.sims.group_fairness.measures import FairMeasures as FairMeasures
from fairfl.sims.group_fairness.measures import trivial as trivial
from fairfl.sims.group_fairness.notions import NOTIONS as NOTIONS
from fairfl.sims.group_fairness.notions import BilevelProblem as BilevelProblem
