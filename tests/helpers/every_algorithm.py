"""Every algorithm by its class's name, and the instances that show them."""

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
from fairfl.sims.engine.algorithm import ALGORITHMS
from fairfl.theory import aggregation as aims

KINDS = ALGORITHMS.parts()
RULES = NormalizedFedAvg(), ModifiedNormalizedFedAvg(0.5), ClippingFedAvg()
AIMS = aims.QFFL(1.0), aims.TERM(1.0), aims.AFL(), aims.PropFair(50.0), aims.RankWeighted.gini()
RANKS = [aims.RankWeighted.gini(), aims.RankWeighted.linear()]
RANKS += [aims.RankWeighted.geometric(0.85), aims.RankWeighted.harmonic()]
SHOWN = {
    AFL: [AFL(0.1), AFL(0.5, "exponentiated")],
    Ditto: [Ditto(0.1), Ditto(1.0)],
    DualWeighted: [*map(DualWeighted, AIMS), DualWeighted(aims.QFFL(2.0), normalize=True)],
    DynamicQFedAvg: [
        *(DynamicQFedAvg(rule=rule) for rule in RULES),
        DynamicQFedAvg(1.0, variant="printed", rule=RULES[0]),
    ],
    FedMGDA: [FedMGDA(0.1), FedMGDA(1.0), FedMGDA(0.5, normalize=False)],
    FedOpt: [FedOpt("momentum"), *(FedOpt(kind, tau=1.0) for kind in ("adagrad", "yogi", "adam"))],
    FedProx: [FedProx(0.1), FedProx(1.0)],
    GIFAIR: [GIFAIR(), GIFAIR(0.001), GIFAIR(0.0)],
    ModifiedNormalizedFedAvg: [
        *map(ModifiedNormalizedFedAvg, (1.0, 0.5)),
        ModifiedNormalizedFedAvg(0.7, "global"),
    ],
    NormalizedFedAvg: [*map(NormalizedFedAvg, ("layer", "global")), NormalizedFedAvg(length=0.2)],
    PFedAvg: [*map(PFedAvg, RANKS), PFedAvg(RANKS[0], "product"), PFedAvg(RANKS[2], "quantile")],
    PropFair: [
        PropFair(2.0),
        PropFair(5.0, variant="linear"),
        PropFair(3.0, 0.5, "quadratic", rescale=True),
    ],
    QFedAvg: [*map(QFedAvg, (0.0, 1.0, 0.5)), QFedAvg(2.0, L=3.0), QFedAvg(variant="printed")],
    QFedSGD: [QFedSGD(0.0), QFedSGD(1.0), QFedSGD(2.0, L=3.0)],
    TERM: [TERM(1.0), TERM(0.1, tau=0.5), TERM(2.0, tau=-0.5)],
}
"""Settings in which an algorithm is tested; of the others, a new one too, its defaults."""
EVERY = [rule for kind in KINDS.values() for rule in SHOWN.get(kind, [kind()])]
