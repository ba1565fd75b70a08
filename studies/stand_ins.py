"""The available data sets of a paper, and replacements where none is available."""

from collections.abc import Sequence

from fairfl.sims.data.fetch import at_hand

FETCHING = (
    "`fairfl.sims.data.federated.load_federated(NAME)` fetches what can be had, and an experiment "
    "takes what is in FAIRFL_DATA or the cache."
)


def those_at_hand(datasets: Sequence[str], instead: Sequence[str] = ()) -> tuple[str, ...]:
    """Those of the data sets, as tables name them, that are on this machine; else ``instead``."""
    return tuple(name for name in datasets if at_hand(name.lower())) or tuple(instead)
