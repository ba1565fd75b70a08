"""What of the cells each of FairBatch's surrogates is made of."""

from __future__ import annotations

NEEDS: dict[str, frozenset[str]] = {
    "loss": frozenset(("loss",)),
    "acceptance": frozenset(("accepting",)),
    "zero_one": frozenset(("wrong",)),
}
"""By surrogate, see ``FairBatch``: entries of ``fairfl.sims.engine.cells.CellSums``."""
