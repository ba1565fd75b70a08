"""No rule of other notions lies above CFL's exact optimum."""

from __future__ import annotations

from functools import partial
from typing import Any

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.empirical.crosscheck_files import load
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import tabulate
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, optimum
from fairfl.studies.crosscheck.population.kept_rules import read
from fairfl.studies.crosscheck.population.learned_rules import Found

FILE = "notions.json"


def case(instance: dict[str, Any], share: float = 1.0, push: float = 0.0) -> Case:
    """Every kept rule of a world against CFL's optimum at ``share`` of its own disparity, solved
    anew; ``push`` adds to accuracies.
    """
    kept = [part for part in load(FILE)["worlds"] if part["world"]["name"] == instance["world"]]
    margins = []
    for world, run, rule in read({"worlds": kept}):
        found = Found.of(rule, world.federation, run["notion"])
        best = optimum(world, "cfl", share * found.disparity, run["notion"])
        margins.append(best - found.accuracy - push)
    nearest = f"the nearest of {len(margins)} rules is not above"
    return Case((Relation(0.0, "<=", min(margins), nearest),))


def _check(effort: Effort, **changed: Any) -> Evidence:
    worlds = [{"world": part["world"]["name"]} for part in load(FILE)["worlds"]]
    return Evidence.of(tabulate(Call.of(case, **changed), worlds, _scope(), TOLERANCE))


def _scope() -> str:
    data = load(FILE)
    runs, rules = data["runs"], [rule for part in data["worlds"] for rule in part["rules"]]
    schemes = ", ".join(dict.fromkeys(rule["scheme"] for rule in rules))
    notions = ", ".join(dict.fromkeys(rule["notion"] for rule in rules))
    return (
        f"{len(data['worlds'])} Gaussian federations, notions {notions}; of {runs['rules']:,} "
        f"rules learned by {schemes}, seeds {min(runs['seeds'])} to {max(runs['seeds'])}, the "
        f"{len(rules)} that are nearest to the frontier"
    )


CLAIMS = (
    Claim(
        id="empirical/other-notions-below-cfl",
        number="crosscheck notions",
        line=0,
        title="no rule of equal opportunity, equalised odds or three groups is more accurate than "
        "the exact CFL optimum at its own disparity",
        printed="No paper prints it; it is what the word optimum means.",
        statement=r"For every learned rule $f(x,a)$ and its notion's disparity $D$: "
        r"$\mathrm{acc}(f)\le\max\{\mathrm{acc}(g):D(g)\le D(f)\}$, both sides on the population.",
        kind="bound",
        hypotheses=(),
        scope=_scope(),
        expected="holds",
        check=_check,
        mutants=(
            Mutant("pushed", "rules a hundredth more accurate", partial(_check, push=0.01)),
            Mutant("half", "the optimum at half the disparity", partial(_check, share=0.5)),
        ),
        notes="The rules are committed as cut points and values, so that there is no test noise. "
        "fairfl crosscheck notions trains them anew.",
    ),
)
