"""Tables of people: public data sets as FedFB prepared and split them, one of your own, and a score
for either.

`load("adult")` and `read_people("people.csv", ...)` give a `Dataset`; `cross_fitted_score` turns
its features into the scalar score that the theory is about. No file here imports torch.
"""

from fairfl.sims.data.fetch import ChecksumMismatch as ChecksumMismatch
from fairfl.sims.data.fetch import DataUnavailable as DataUnavailable
from fairfl.sims.data.tables.people import read_people as read_people
from fairfl.sims.data.tables.published_tables import DATASETS as DATASETS
from fairfl.sims.data.tables.published_tables import FEDFB_SEED as FEDFB_SEED
from fairfl.sims.data.tables.published_tables import load as load
from fairfl.sims.data.tables.score import cross_fitted_score as cross_fitted_score
from fairfl.sims.data.tables.table import Dataset as Dataset
