"""Tables of people: public data sets as FedFB prepared and split them, one of your own, and a score
for either.

`load("adult")` and `read_people("people.csv", ...)` give a `Dataset`; `cross_fitted_score` turns
its features into the scalar score that the theory is about. Names are imported on first use. No
file here imports torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairfl.sims.data.fetch import ChecksumMismatch as ChecksumMismatch
    from fairfl.sims.data.fetch import DataUnavailable as DataUnavailable
    from fairfl.sims.data.tables.people import read_people as read_people
    from fairfl.sims.data.tables.registry import DATASETS as DATASETS
    from fairfl.sims.data.tables.registry import FEDFB_SEED as FEDFB_SEED
    from fairfl.sims.data.tables.registry import load as load
    from fairfl.sims.data.tables.score import cross_fitted_score as cross_fitted_score
    from fairfl.sims.data.tables.table import Dataset as Dataset

_WHERE = {
    "DATASETS": "tables.registry",
    "FEDFB_SEED": "tables.registry",
    "ChecksumMismatch": "fetch",
    "DataUnavailable": "fetch",
    "Dataset": "tables.table",
    "cross_fitted_score": "tables.score",
    "load": "tables.registry",
    "read_people": "tables.people",
}

__all__ = [*_WHERE]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"fairfl.sims.data.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
