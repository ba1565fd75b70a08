"""Groups of clients with different classes: the dynamic-participants paper's alpha-split."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import in_range, whole
from fairfl.sims.data.partition.checks import Owner, generator, labels


def two_groups(
    label: ArrayLike, alpha: float, clients_per_group: int = 5, seed: int = 0, groups: int = 2
) -> Owner:
    """The first half of the classes goes to group 1 with share ``alpha``, the second half to group
    2.

    "One group has 90 % of the data in 5 classes and the second group has 90 % of the data in the
    other 5": alpha = 0.9, ten classes (dynamic participants, section 5). alpha = 1/2 makes the
    groups alike, alpha = 1 disjoint. Within a group rows are dealt out evenly and at random.

    With more ``groups``, of which the paper has ten and does not say how, each has its run of the
    classes, and what it does not keep goes to the others evenly: 1 / groups makes them alike.

    Returns
    -------
    owner : shape (N,)
        Clients 0..clients_per_group-1 are group 1, the next clients_per_group are group 2, and so
        on. Where classes cannot be divided evenly, later groups have more.

    Raises
    ------
    ValueError
        If there are fewer classes than groups, a client would be left without a row, or an argument
        is not allowed.
    """
    classes, code = labels(label)
    in_range("alpha", alpha, 0.0, 1.0)
    each = whole("clients_per_group", clients_per_group, 1)
    many = whole("groups", groups, 2)
    if classes.size < many:
        raise ValueError(
            f"label must hold at least {many} classes, one a group, got {classes.size}"
        )
    rng = generator(seed)
    group = np.empty(code.size, dtype=np.int64)
    for c in range(classes.size):
        members = rng.permutation(np.flatnonzero(code == c))
        home = many - 1 - (classes.size - 1 - c) * many // classes.size
        at_home = int(np.rint(float(alpha) * members.size))
        group[members[:at_home]] = home
        away = np.arange(members.size - at_home)
        group[members[at_home:]] = (home + 1 + away % (many - 1)) % many
    owner = np.empty(code.size, dtype=np.int64)
    for g in range(many):
        members = rng.permutation(np.flatnonzero(group == g))
        if members.size < each:
            raise ValueError(
                f"clients_per_group must be at most the {members.size} rows of group {g + 1}, "
                f"got {each}"
            )
        owner[members] = g * each + np.arange(members.size) % each
    return owner
