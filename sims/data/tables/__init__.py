"""Tables of people: public data sets as FedFB prepared and split them, one of your own (`load`,
`read_people`: a `Dataset`), and a scalar score of either (`cross_fitted_score`). No torch here.
"""

from fairfl.sims.data.fetch import ChecksumMismatch as ChecksumMismatch
from fairfl.sims.data.fetch import DataUnavailable as DataUnavailable
from fairfl.sims.data.tables.people import read_people as read_people
from fairfl.sims.data.tables.published_tables import DATASETS as DATASETS
from fairfl.sims.data.tables.published_tables import FEDFB_SEED as FEDFB_SEED
from fairfl.sims.data.tables.published_tables import load as load
from fairfl.sims.data.tables.score import cross_fitted_score as cross_fitted_score
from fairfl.sims.data.tables.table import Dataset as Dataset
