"""The public ``Federation``: the theory's, with its constructor from the files of sites."""

from collections.abc import Sequence
from pathlib import Path

from fairfl.sims.data.joined_summaries import people_of, read_summaries
from fairfl.theory.populations.calibration import AUTO
from fairfl.theory.populations.federation import Federation as Federation


def from_summaries(paths: Sequence[str | Path], *, calibrate: str = AUTO) -> Federation:
    """As :meth:`fairfl.Federation.from_samples`, from the files that ``fairfl summarize`` wrote,
    one for each site, whose names and groups it has. ValueError: no summaries, altered ones, or
    such as do not fit together. OSError: a file that cannot be read.
    """
    return Federation.of_people(people_of(read_summaries(paths), calibrate))


Federation.from_summaries = staticmethod(from_summaries)
