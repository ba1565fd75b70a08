"""Real data: public data sets as FedFB prepared and split them, a table of one's own, and a score for either.

`load("adult")` gives a `Dataset`; `read_samples("people.csv", ...)` reads a table; `cross_fitted_score` turns features
into the scalar score that the theory is about. No file here imports torch.
"""

from importlib import import_module
from pkgutil import iter_modules

from fairfl.sims.data.fetch import ChecksumMismatch, DataUnavailable
from fairfl.sims.data.tables.csv import Samples, read_samples
from fairfl.sims.data.tables.registry import DATASETS, FEDFB_SEED, load
from fairfl.sims.data.tables.score import LogisticScore, cross_fitted_score
from fairfl.sims.data.tables.table import Dataset

__all__ = [
    "DATASETS",
    "FEDFB_SEED",
    "ChecksumMismatch",
    "DataUnavailable",
    "Dataset",
    "LogisticScore",
    "Samples",
    "cross_fitted_score",
    "load",
    "read_samples",
]

for _module in iter_modules(__path__):  # a data set registers itself when its file is imported
    import_module(f"{__name__}.{_module.name}")
