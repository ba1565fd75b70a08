"""FedFB, table 1 on the synthetic data (and table 7's FedFB): all methods, a network with four hidden units."""

from __future__ import annotations

import pandas as pd

from fairfl.sims.experiments import fedfb_runs
from fairfl.sims.experiments.experiment import Scale, Unit
from fairfl.sims.experiments.fedfb_numbers import TABLE_1, doubled
from fairfl.sims.experiments.fedfb_points import of_choices, picture

NAME = "fedfb-table-1"
TITLE = "FedFB, table 1, synthetic data: accuracy and disparity of FedAvg, LFT, FedFB, CFL"
SEEDS = {"quick": 2, "paper": 5}
PUBLISHED = doubled(TABLE_1, ("Synthetic",))
PICTURES = picture("table-1", TITLE)
points = of_choices(PUBLISHED)


def units(scale: Scale) -> list[Unit]:
    """Three schedules."""
    return fedfb_runs.family(scale, ("Synthetic",))


values = fedfb_runs.values


def differences(rows: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *fedfb_runs.differences(rows),
        "LFT: x given the group has one law on all clients here, so a rule that is fair on one is fair on all: the "
        "published .248 and .305 are no limit of local training.",
        "LFT+Ensemble: the published .727 ± .194, .248 ± .194 is a mean over a grid. Its code averages all eight α of "
        "its grid on seed 0, whose α = 1 inverts the classifier (.197, .611), with seeds 1 to 4 at the α that is "
        "fairest on test. Its procedure (experiment fedfb-code, and apart from it in our tests) so gives .729 ± .193, "
        ".247 ± .195, and five seeds at that α .673 ± .006, .051 ± .010.",
        "LFT+FedAvg: the published code's step of λ exchanges label and group, and with a larger α λ runs into a "
        "corner that inverts the classifier. Rebuilt, with its choice α = .02, four seeds have .885 and one is "
        "inverted: .747 ± .307, .477 ± .080 (at α = .01 .869 ± .025, .437 ± .076). That is the kind of spread that is "
        "published, here and for four clients (.608 ± .367), but no α and none of 19 variants tried (weights, "
        "averaging, steps an epoch) gave .823 ± .102, .305 ± .131. Leaving client 0 out of the average is a small "
        "part: .747, .456 without.",
        "FedAvg: .417 beside .406 ± .009 is a matter of draws. Over 40 seeds ours has .886 ± .004, .416 ± .010; six "
        "draws of who goes to which client have means of .412 to .429; the published code's clients and five "
        "initialisations give .886 ± .003, .407 ± .011 with its Adam, .887 ± .002, .409 ± .005 with our SGD.",
    )
