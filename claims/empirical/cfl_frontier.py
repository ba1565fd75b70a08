"""No learned rule lies above the exact CFL frontier."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.empirical.crosscheck_files import load
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import tabulate
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, below
from fairfl.studies.crosscheck.population.kept_rules import read
from fairfl.studies.crosscheck.population.learned_rules import Found

DATA = "frontier.json"


def case(instance: dict[str, Any], scheme: str = "cfl", push: float = 0.0) -> Case:
    """Every kept rule of a world, evaluated exactly, against the frontier solved anew; ``push``
    adds to accuracies.
    """
    rules = [
        (world, rule) for world, _, rule in read(load(DATA)) if world.name == instance["world"]
    ]
    found = [Found.of(rule, world.federation) for world, rule in rules]
    short = below(
        rules[0][0],
        [one.disparity for one in found],
        [one.accuracy + push for one in found],
        scheme,
    )
    missed = np.isnan(short)  # disparities that the scheme does not reach: CFL reaches all
    least = (
        float(np.min(short[~missed], initial=np.inf))
        if scheme != "cfl" or not missed.any()
        else -np.inf
    )
    return Case((Relation(0.0, "<=", least, f"the nearest of {len(rules)} rules is not above"),))


def _check(effort: Effort, **changed: Any) -> Evidence:
    worlds = [{"world": part["world"]["name"]} for part in load(DATA)["worlds"]]
    return Evidence.of(tabulate(Call.of(case, **changed), worlds, _runs(), TOLERANCE))


def _runs() -> str:
    runs = load(DATA)["runs"]
    sizes = ", ".join(f"{size:,}" for size in runs["people"])
    return (
        f"{runs['worlds']} Gaussian federations; of {runs['rules']:,} rules learned by "
        f"{', '.join(runs['schemes'])} from {sizes} people, seeds {runs['seeds']}, polynomials "
        f"of degree {runs['degrees']}, those nearest to the "
        "frontier"
    )


CLAIMS = (
    Claim(
        id="empirical/cfl-frontier-is-a-bound",
        number="crosscheck frontier",
        line=0,
        title="no learned rule is more accurate than the exact CFL optimum at its own disparity",
        printed="No paper prints it; it is what the word optimum means.",
        statement=r"For every learned rule $f(x,a)$, votes of several rules included: "
        r"$\mathrm{acc}(f)\le\max\{\mathrm{acc}(g):|\mathrm{MD}(g)|\le|\mathrm{MD}(f)|\}$, both "
        r"sides on the population.",
        kind="bound",
        hypotheses=(),
        scope=_runs(),
        expected="holds",
        check=_check,
        mutants=(
            Mutant(
                "pushed",
                "rules a hundredth more accurate than they are",
                partial(_check, push=0.01),
            ),
            Mutant(
                "another frontier",
                "that of LFT+Ensemble as the bound",
                partial(_check, scheme="lft_ensemble"),
            ),
        ),
        notes="The rules are committed as cut points and values; accuracies and disparities "
        "follow from the laws, so that there is no test noise. fairfl crosscheck frontier trains "
        "them anew.",
    ),
)
