"""Who holds which sample: partitions of a labelled data set among clients.

Each function returns the owner of every row, an int array of shape (N,) with values 0..clients-1,
drawn from ``seed`` alone. `summarise` turns one into a table; `fairfl.figures` draws it.

>>> from fairfl.sims.data.partition import dirichlet, summarise
>>> owner = dirichlet([0, 1] * 50, clients=2, beta=0.5, min_size=10, seed=0)
>>> int(summarise(owner, [0, 1] * 50)["total"].sum())
100
"""

from fairfl.sims.data.partition.by_user import by_user
from fairfl.sims.data.partition.dirichlet import PartitionError, dirichlet
from fairfl.sims.data.partition.iid import iid
from fairfl.sims.data.partition.shards import label_shards
from fairfl.sims.data.partition.summary import summarise
from fairfl.sims.data.partition.two_groups import two_groups

__all__ = [
    "PartitionError",
    "by_user",
    "dirichlet",
    "iid",
    "label_shards",
    "summarise",
    "two_groups",
]
