"""The toy federation of FedFB's figure 2, found by exhaustive search in exact fractions.

The paper draws three clients with four samples each, and prints no numbers. Let every sample's
label be 1 exactly where x > 0. Then a locally optimal rule depends on x through the label alone,
and an instance is, for each client, how many of its four samples are F, and how many of its F and
its M are positive: 25 kinds of client, 2,925 multisets of three. Solving all of them, exactly, for
budget 0, :func:`search` keeps those where

- every local rule is deterministic (it can be drawn as a pair of thresholds), and fair on its own
  data;
- the vote of the three, both as FedFB defines it (ŷ ~ Bern(mean of f_i), eq. (2)) and as a
  majority, is strictly less accurate and strictly less fair, on all twelve samples, than the pooled
  fair classifier CFL(0).

Four remain: :data:`KINDS`, and what becomes of it when F and M, or the labels, or both, are
exchanged.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from typing import NamedTuple

SAMPLES = 4


class Kind(NamedTuple):
    """A client's samples: how many of each group (F, M), and how many of those are positive."""

    size: tuple[int, int]
    positive: tuple[int, int]


Rule = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
"""rule[group][label]: the probability of acceptance."""

KINDS = (Kind((1, 3), (0, 3)), Kind((1, 3), (0, 3)), Kind((3, 1), (3, 0)))
"""Clients 1 and 2: one F, rejected, and three M, accepted. Client 3: three F, accepted, and one M,
rejected.
"""


def kinds() -> list[Kind]:
    """All clients with four samples, and both groups among them."""
    return [
        Kind((f, SAMPLES - f), (k, m))
        for f in range(1, SAMPLES)
        for k in range(f + 1)
        for m in range(SAMPLES - f + 1)
    ]


def fair_rule(kind: Kind) -> Rule:
    """The most accurate rule with equal acceptance rates: the cheaper group is flipped first, ties
    alike.
    """
    rule = [[Fraction(0), Fraction(1)], [Fraction(0), Fraction(1)]]
    gap = Fraction(kind.positive[0], kind.size[0]) - Fraction(kind.positive[1], kind.size[1])
    favoured, other = (0, 1) if gap > 0 else (1, 0)
    # (exchange rate, what the whole flip changes of the gap, which cell)
    flips = [
        (
            kind.size[favoured],
            Fraction(kind.positive[favoured], kind.size[favoured]),
            (favoured, 1),
        ),
        (kind.size[other], 1 - Fraction(kind.positive[other], kind.size[other]), (other, 0)),
    ]
    gap = abs(gap)
    for rate in sorted({flip[0] for flip in flips}):
        tied = [flip for flip in flips if flip[0] == rate]
        room = sum(flip[1] for flip in tied)
        share = min(Fraction(1), gap / room) if room else Fraction(0)
        for _, _, (a, y) in tied:
            rule[a][y] += share * (1 - 2 * rule[a][y])
        gap -= share * room
    return (rule[0][0], rule[0][1]), (rule[1][0], rule[1][1])


def vote(rules: list[Rule], *, majority: bool) -> Rule:
    """The mean of the rules, or acceptance where it exceeds one half."""
    mean = [
        [sum((r[a][y] for r in rules), Fraction(0)) / len(rules) for y in (0, 1)] for a in (0, 1)
    ]
    if majority:
        mean = [[Fraction(int(p > Fraction(1, 2))) for p in row] for row in mean]
    return (mean[0][0], mean[0][1]), (mean[1][0], mean[1][1])


def figures(rule: Rule, kind: Kind) -> tuple[Fraction, Fraction]:
    """(accuracy, |MD|) of a rule on the samples counted by ``kind``."""
    correct, rate = Fraction(0), []
    for a in (0, 1):
        yes, no = kind.positive[a], kind.size[a] - kind.positive[a]
        correct += yes * rule[a][1] + no * (1 - rule[a][0])
        rate.append((yes * rule[a][1] + no * rule[a][0]) / kind.size[a])
    return correct / sum(kind.size), abs(rate[0] - rate[1])


def pool(clients: tuple[Kind, ...]) -> Kind:
    """All samples together; four a client, so that clients weigh the same."""
    return Kind(
        (sum(c.size[0] for c in clients), sum(c.size[1] for c in clients)),
        (sum(c.positive[0] for c in clients), sum(c.positive[1] for c in clients)),
    )


def fails(clients: tuple[Kind, ...]) -> bool:
    """Whether an instance has the properties listed in the module's docstring."""
    rules = [fair_rule(kind) for kind in clients]
    if any(p not in (0, 1) for rule in rules for row in rule for p in row):
        return False
    everyone = pool(clients)
    accuracy, disparity = figures(fair_rule(everyone), everyone)
    votes = [figures(vote(rules, majority=majority), everyone) for majority in (False, True)]
    return all(won < accuracy and gap > disparity for won, gap in votes)


def search() -> list[tuple[Kind, ...]]:
    """All instances with the properties, out of 2,925."""
    return [clients for clients in combinations_with_replacement(kinds(), 3) if fails(clients)]
