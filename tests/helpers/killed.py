"""A small run in a folder, to be stopped and taken up."""

import every_algorithm as every
from federations import EXACT, classified, quick

from fairfl.sims.engine import Joining, Replicate, Softmax, simulate


def run(folder, progress=None, rounds=120, computing=EXACT):
    """Replicates with state, whose clients join and leave, measured every third round, kept every
    second.
    """
    data = classified((3, 17, 4, 9, 30, 8), test=5)
    replicates = [
        Replicate(every.Ditto(0.1)),
        Replicate(every.AFL(0.1), seed=1),
        Replicate(every.QFedAvg(1.0), seed=2),
        Replicate(every.ModifiedNormalizedFedAvg(0.5)),
        Replicate(every.ClippingFedAvg(), seed=1),
        Replicate(every.DynamicQFedAvg(rule=every.ModifiedNormalizedFedAvg()), seed=2),
        Replicate(every.FedOpt()),
    ]
    joins = tuple(min(t, rounds - 1) for t in (0, 3, 5))
    joining = Joining(joins, (6, 0, 0), share=0.8)
    training = quick(rounds=rounds, momentum=0.5, participation=joining, dropout=0.2)
    return simulate(
        Softmax(4, 3),
        data,
        replicates,
        training,
        computing,
        evaluate_every=3,
        folder=folder,
        checkpoint_every=2,
        resume=folder is not None,
        progress=progress,
    )
