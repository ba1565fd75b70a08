"""Statistics of the clients' accuracies, as q-FFL's tables 1 to 10 report them: in percent."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairfl.studies.frames import floats, groups, rows
from fairfl.theory.measures import uniformity

Floats = NDArray[np.float64]
Measure = Callable[[Floats, Floats], float]

MEASURES: dict[str, Measure] = {
    "average": lambda a, n: 100 * float(np.average(a, weights=n)),
    "devices": lambda a, n: 100 * float(a.mean()),
    "worst": lambda a, n: 100 * float(a.min()),
    # of accuracies the worst are the smallest
    "worst 10%": lambda a, n: 100 * float(uniformity.best(a)),
    "best": lambda a, n: 100 * float(a.max()),
    "best 10%": lambda a, n: 100 * float(uniformity.worst(a)),
    "std": lambda a, n: 100 * float(np.sqrt(uniformity.variance(a))),
    "variance": lambda a, n: 1e4 * float(uniformity.variance(a)),
    "angle": lambda a, n: float(np.degrees(uniformity.angle(a))),
    "KL": lambda a, n: float(uniformity.kl_to_uniform(a)),
}
"""Functions of the accuracies a (K,) of clients with n (K,) samples: mean over samples; mean over
devices; mean of the worst and of the best tenth of the devices (the last device counts in part);
spread over the devices, with divisor K; angle with (1, ..., 1) in degrees; divergence of a / sum a
from the uniform distribution, in nats.
"""

KEYS = ["dataset", "objective", "seed"]


def statistics(clients: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """The named measures of each run; clients without samples count in none."""
    lines, chosen = [], list(names)
    for key, run in groups(rows(clients, floats(clients, "samples") > 0), KEYS):
        accuracy, samples = floats(run, "accuracy"), floats(run, "samples")
        lines += rows_of(key, {name: MEASURES[name](accuracy, samples) for name in chosen})
    return pd.DataFrame(lines)


def rows_of(key: Sequence[object], measures: Mapping[str, object]) -> list[dict[str, object]]:
    """A row for each measure of the run with these ``KEYS``."""
    run = dict(zip(KEYS, key, strict=True))
    return [run | {"measure": name, "value": value} for name, value in measures.items()]


def long(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """A row per run and measure that has a value; ``names``: columns there may be, and measures."""
    present = [name for name in names if name in table]
    melted = table.melt(KEYS, present, "measure", "value").replace({"measure": dict(names)})
    return rows(melted, np.isfinite(floats(melted, "value")))
