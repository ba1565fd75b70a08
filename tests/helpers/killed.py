"""A small run in a folder, to be stopped and taken up."""

import every_algorithm as every
from federations import EXACT, classified, quick

from fairfl.sims.engine import Joining, Replicate, Softmax, simulate


def run(folder, progress=None, rounds=120, computing=EXACT):
    """Replicates with state, clients that join and leave, measured every third round."""
    data = classified((3, 17, 4, 9, 30, 8), test=5)
    replicates = [Replicate(every.Ditto(0.1)), Replicate(every.AFL(0.1), seed=1)]
    replicates += [Replicate(every.QFedAvg(1.0), seed=2)]
    replicates += [Replicate(every.ModifiedNormalizedFedAvg(0.5))]
    replicates += [Replicate(every.ClippingFedAvg(), seed=1)]
    replicates += [Replicate(every.DynamicQFedAvg(rule=every.ModifiedNormalizedFedAvg()), seed=2)]
    replicates += [Replicate(every.FedOpt())]
    joins = tuple(min(t, rounds - 1) for t in (0, 3, 5))
    joining = Joining(joins, (6, 0, 0), share=0.8)
    training = quick(rounds=rounds, momentum=0.5, participation=joining, dropout=0.2)
    options = {"evaluate_every": 3, "checkpoint_every": 2, "progress": progress}
    options |= {"folder": folder, "resume": folder is not None}
    return simulate(Softmax(4, 3), data, replicates, training, computing, **options)
