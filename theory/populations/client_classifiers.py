"""Classifiers f(x, a, i) that are told the client."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, whole
from fairfl.theory.populations.classifiers import Classifier


class ClientClassifiers:
    """f(x, a, i): a classifier for each client, for rules that are told the client.

    ``f(x, a, i)`` broadcasts as :class:`Classifier` does; ``f[i]`` is client i's own f(x, a).
    """

    def __init__(self, members: Sequence[Classifier]) -> None:
        self.members = tuple(members)

    def __call__(self, x: ArrayLike, a: ArrayLike, i: ArrayLike) -> Array:
        """P(ŷ = 1 | x, a, i), broadcasting x, the groups' names a and the client numbers i."""
        first = self.members[0]
        at, group, client = np.broadcast_arrays(first.level(x), first.number(a), np.asarray(i))
        if not np.isin(client, np.arange(len(self))).all():
            raise ValueError(
                f"i must be a client number in 0..{len(self) - 1}, got {np.unique(client).tolist()}"
            )
        out = np.empty(at.shape)
        for k, member in enumerate(self.members):
            rows = client == k
            out[rows] = member.of_number(at[rows], group[rows])
        return out[()]

    def named(self, groups: Sequence[Hashable]) -> "ClientClassifiers":
        """The same rules, with the groups' names."""
        return ClientClassifiers([member.named(groups) for member in self.members])

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Classifier]:
        return iter(self.members)

    def __getitem__(self, client: int) -> Classifier:
        return self.members[whole("client", client, 0, len(self) - 1)]
