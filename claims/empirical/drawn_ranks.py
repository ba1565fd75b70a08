"""p-FedAvg with a part of the clients realises other rank weights on average."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.empirical.crosscheck_files import load
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import tabulate
from fairfl.studies.crosscheck.realised.aims import RANKS, drawn_weights
from fairfl.studies.crosscheck.realised.drawn_ranks import weights_of_draws
from fairfl.studies.crosscheck.realised.effective_weights import apart

DATA = "realised-weights.json"
EXACT = 1e-9


def enumerated(instance: dict[str, Any], shift: int = 0) -> Case:
    """The formula against the mean over all sets, for each unit vector of rank weights: both sides
    are linear in it.
    """
    n, m = instance["n"], instance["m"]
    sets = list(combinations(range(n), m))
    relations = []
    for j in range(m):
        ranks = [Fraction(int(i == j)) for i in range(m)]
        formula = weights_of_draws(ranks, n)
        for k in range(n):
            mean = Fraction(sum(k in s and s.index(k) == j for s in sets), len(sets))
            name = f"rank {k + 1} of {n} as {j + 1} of {m}"
            relations.append(Relation(mean, "==", formula[min(k + shift, n - 1)], name))
    return Case(tuple(relations))


def measured(instance: dict[str, Any], own: bool = False) -> Case:
    """Kept mean weights over all sets of clients against the formula, or (``own``) the family's own
    n weights.
    """
    kept = load(DATA)["draws"][instance["place"]]
    losses, found = np.array(kept["losses"]), np.array(kept["weights"])
    drawn = len(losses) if own else kept["drawn"]
    return Case(
        (
            Relation(
                apart(found, drawn_weights(RANKS[kept["algorithm"]], losses, drawn)), "<=", EXACT
            ),
        )
    )


def _check(effort: Effort, shift: int = 0, own: bool = False) -> Evidence:
    sizes = [{"n": n, "m": m} for n in range(1, effort.pick(7, 10)) for m in range(1, n + 1)]
    places = [
        {"place": k} for k, one in enumerate(load(DATA)["draws"]) if one["algorithm"] in RANKS
    ]
    steps = "steps of p-FedAvg (Gini, z = 0.5) with all sets of 3 of 6 clients"
    return Evidence.of(
        tabulate(Call.of(enumerated, shift=shift), sizes, "all n and m, every rank, in rationals"),
        tabulate(Call.of(measured, own=own), places, steps),
    )


CLAIMS = (
    Claim(
        id="empirical/p-fedavg-of-draws",
        number="crosscheck realised-weights",
        line=0,
        title="p-FedAvg with m of n clients realises, on average, other rank weights",
        printed="p-FFL, algorithm 1, draws clients and ranks the drawn; it does not say what "
        "that minimises.",
        statement=r"With every set of $m$ of $n$ clients equally likely, rank weights "
        r"$v_1,\dots,v_m$ among the drawn and different losses, the client with the $k$-th "
        r"largest loss of all has mean weight $\sum_j v_j\binom{k-1}{j-1}\binom{n-k}{m-j}/\binom "
        r"nm$.",
        kind="identity",
        hypotheses=(),
        scope="n <= 6 in rationals; steps of p-FedAvg with m = 3 of n = 6 quadratic clients",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("shifted", "the weight of the next rank", partial(_check, shift=1)),
            Mutant("own weights", "the family's own n weights", partial(_check, own=True)),
        ),
        notes="For Gini weights the tilt shrinks by n (m - 1) / (m (n - 1)) alone: 0.91 for 10 "
        "of 100 clients. One full step with m clients is then an unbiased subgradient step of "
        "the rank-weighted mean with these weights.",
    ),
)
