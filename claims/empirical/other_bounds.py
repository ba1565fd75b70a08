"""No rule of FairFed or AgnosticFair, and none of other notions, lies above CFL's exact optimum."""

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

LEARNERS, NOTIONS = "other-learners.json", "notions.json"


def case(instance: dict[str, Any], share: float = 1.0, push: float = 0.0) -> Case:
    """Every kept rule of a world against CFL's optimum at ``share`` of its own disparity, solved
    anew; ``push`` adds to accuracies.
    """
    kept = [
        part
        for part in load(instance["file"])["worlds"]
        if part["world"]["name"] == instance["world"]
    ]
    margins = []
    for world, run, rule in read({"worlds": kept}):
        found = Found.of(rule, world.federation, run["notion"])
        best = optimum(world, "cfl", share * found.disparity, run["notion"])
        margins.append(best - found.accuracy - push)
    nearest = f"the nearest of {len(margins)} rules is not above"
    return Case((Relation(0.0, "<=", min(margins), nearest),))


def _check(effort: Effort, file: str, **changed: Any) -> Evidence:
    worlds = [{"world": part["world"]["name"], "file": file} for part in load(file)["worlds"]]
    return Evidence.of(tabulate(Call.of(case, **changed), worlds, _scope(file), TOLERANCE))


def _scope(file: str) -> str:
    data = load(file)
    runs, rules = data["runs"], [rule for part in data["worlds"] for rule in part["rules"]]
    schemes = ", ".join(dict.fromkeys(rule["scheme"] for rule in rules))
    notions = ", ".join(dict.fromkeys(rule["notion"] for rule in rules))
    return (
        f"{len(data['worlds'])} Gaussian federations, notions {notions}; of {runs['rules']:,} "
        f"rules learned by {schemes}, seeds {min(runs['seeds'])} to {max(runs['seeds'])}, the "
        f"{len(rules)} that are nearest to the frontier"
    )


def _claim(id: str, study: str, file: str, who: str) -> Claim:
    check = partial(_check, file=file)
    return Claim(
        id=id,
        number=f"crosscheck {study}",
        line=0,
        title=f"no rule {who} is more accurate than the exact CFL optimum at its own disparity",
        printed="No paper prints it; it is what the word optimum means.",
        statement=r"For every learned rule $f(x,a)$ and its notion's disparity $D$: "
        r"$\mathrm{acc}(f)\le\max\{\mathrm{acc}(g):D(g)\le D(f)\}$, both sides on the population.",
        kind="bound",
        hypotheses=(),
        scope=_scope(file),
        expected="holds",
        check=check,
        mutants=(
            Mutant("pushed", "rules a hundredth more accurate", partial(check, push=0.01)),
            Mutant("half", "the optimum at half the disparity", partial(check, share=0.5)),
        ),
        notes="The rules are committed as cut points and values, so that there is no test noise. "
        f"fairfl crosscheck {study} trains them anew.",
    )


CLAIMS = (
    _claim(
        "empirical/other-learners-below-cfl",
        "other-learners",
        LEARNERS,
        "of FairFed or AgnosticFair",
    ),
    _claim(
        "empirical/other-notions-below-cfl",
        "notions",
        NOTIONS,
        "of equal opportunity, equalised odds or three groups",
    ),
)
