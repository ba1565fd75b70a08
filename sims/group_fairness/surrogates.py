"""FairBatch's surrogates of the statistics, from sums over cells."""

from __future__ import annotations

NEEDS: dict[str, frozenset[str]] = {
    "loss": frozenset(("loss",)),
    "acceptance": frozenset(("accepting",)),
    "zero_one": frozenset(("wrong",)),
}
"""By surrogate, see ``FairBatch``: entries of ``fairfl.sims.engine.group_label_sums.CellSums``."""
