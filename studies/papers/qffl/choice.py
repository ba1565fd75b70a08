"""Which q q-FFL's protocol chooses, and the tables of q = 0, the paper's q and that one."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.execute import last_round
from fairfl.studies.frames import among, floats, groups, has
from fairfl.studies.measures import statistics
from fairfl.studies.papers.qffl.runs import CHOSEN, QS, name_of

TOLERANCE = 1.0  # percentage points of average accuracy, appendix E.2.3


def chosen_q(clients: pd.DataFrame, dataset: str) -> float:
    """The q of least validation variance among those within 1 % of q = 0 in average accuracy, means
    over the seeds.

    Source: q-FFL, appendix E.2.3. q = 0 is among them, so that there always is one; of several the
    smallest.
    """
    values = statistics(
        last_round(among(clients, "dataset", [dataset]), "validation"), ("average", "variance")
    )
    mean = {
        key: float(floats(part, "value").mean())
        for key, part in groups(values, ["objective", "measure"])
    }
    average, variance = (
        {q: mean[name_of(q), measure] for q in QS} for measure in ("average", "variance")
    )
    return min(
        (q for q in QS if abs(average[q] - average[0.0]) <= TOLERANCE), key=lambda q: variance[q]
    )


def chosen_rows(clients: pd.DataFrame, part: str, measures: tuple[str, ...]) -> pd.DataFrame:
    """Measures of q = 0, of the paper's q, and of the q chosen on our validation data."""
    final = last_round(clients, part)
    found = []
    for dataset, q in CHOSEN.items():
        mine = among(final, "dataset", [dataset])
        if mine.empty:
            continue
        best = chosen_q(clients, dataset)
        kept = list(dict.fromkeys([name_of(0.0), name_of(q), name_of(best)]))
        values = statistics(among(mine, "objective", kept), measures)
        if best != q:
            values["objective"] = values["objective"].replace(
                name_of(best), f"{name_of(best)}, chosen here"
            )
            if best == 0.0:  # then nothing is fairer within the tolerance: q = 0 stands as it is
                values["objective"] = values["objective"].replace(
                    f"{name_of(best)}, chosen here", name_of(best)
                )
        found.append(values)
    return pd.concat(found, ignore_index=True)


def choice_notes(clients: pd.DataFrame) -> tuple[str, ...]:
    """A line that says which q was chosen."""
    names = [dataset for dataset in CHOSEN if has(clients, "dataset", dataset)]
    said = ", ".join(
        f"{name}: {name_of(chosen_q(clients, name))} (the paper: {CHOSEN[name]:g})"
        for name in names
    )
    return (f"Chosen on our validation data by the rule of appendix E.2.3: {said}.",)
