"""The federations of FedFB's figures 5 and 9: laws N(mean, 1), logistic η, equal weights."""

from collections.abc import Sequence

from fairfl.theory.populations.federation import Federation

MEANS_5 = ((3.0, 5.0), (1.0, -1.0))
"""Means by client and group, of figure 4 (c) too."""
MEANS_9 = (*MEANS_5, (1.0, 2.0))
SHARES_5 = ((0.5, 0.5), (0.4, 0.6), (0.3, 0.7), (0.2, 0.8))
"""P(a = 1 | i): a row for each panel, (a) to (d)."""
SHARES_9 = tuple((first, 0.5, second) for first, second in SHARES_5)


def figure_5(q: Sequence[float] = (0.5, 0.5)) -> Federation:
    """Two clients, with shares q of group 1."""
    return Federation.normal(MEANS_5, 1.0, q)


def figure_9(q: Sequence[float]) -> Federation:
    """Three clients, with shares q of group 1."""
    return Federation.normal(MEANS_9, 1.0, q)
