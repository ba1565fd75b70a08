"""No learned rule lies above CFL's exact optimum, of any notion."""

from __future__ import annotations

from typing import Any

from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim
from fairfl.claims.empirical.crosscheck_files import load
from fairfl.claims.forms import Part, grid

FRONTIER, NOTIONS = "frontier.json", "notions.json"


def case(instance: dict[str, Any], share: float = 1.0, push: float = 0.0) -> Case:
    """Every kept rule of a world in a "file" against CFL's optimum at ``share`` of its own
    disparity, solved anew; ``push`` adds to accuracies.
    """
    from fairfl.studies.crosscheck.population.frontier_distance import optimum
    from fairfl.studies.crosscheck.population.kept_rules import read
    from fairfl.studies.crosscheck.population.learned_rules import Found

    worlds = load(instance["file"])["worlds"]
    kept = [part for part in worlds if part["world"]["name"] == instance["world"]]
    margins = []
    for world, run, rule in read({"worlds": kept}):
        notion = run.get("notion", "dp")
        found = Found.of(rule, world.federation, notion)
        best = optimum(world, "cfl", share * found.disparity, notion)
        margins.append(best - found.accuracy - push)
    nearest = f"the nearest of {len(margins)} rules is not above"
    return Case((Relation(0.0, "<=", min(margins), nearest),))


def _worlds(file: str, words: str) -> Part:
    names = [part["world"]["name"] for part in load(file)["worlds"]]
    worlds = [{"file": file, "world": name} for name in names]
    return grid(case, worlds, words)


def _frontier() -> str:
    runs = load(FRONTIER)["runs"]
    sizes = ", ".join(f"{size:,}" for size in runs["people"])
    return (
        f"{runs['worlds']} Gaussian federations; of {runs['rules']:,} rules learned by "
        f"{', '.join(runs['schemes'])} from {sizes} people, seeds {runs['seeds']}, polynomials "
        f"of degree {runs['degrees']}, those nearest to the frontier"
    )


def _notions() -> str:
    data = load(NOTIONS)
    runs, rules = data["runs"], [rule for part in data["worlds"] for rule in part["rules"]]
    schemes, notions = (
        ", ".join(dict.fromkeys(rule[key] for rule in rules)) for key in ("scheme", "notion")
    )
    return (
        f"{len(data['worlds'])} Gaussian federations, notions {notions}; of {runs['rules']:,} "
        f"rules learned by {schemes}, seeds {min(runs['seeds'])} to {max(runs['seeds'])}, the "
        f"{len(rules)} that are nearest to the frontier"
    )


def _bound(id: str, study: str, whose_rules: str, scope: str, file: str) -> Claim:
    return Claim(
        f"empirical/{id}",
        f"crosscheck {study}",
        0,
        f"no {whose_rules} is more accurate than the exact CFL optimum at its own disparity",
        printed="No paper prints it; it is what the word optimum means.",
        statement=r"For every learned rule $f(x,a)$, votes of several rules included, and its "
        r"notion's disparity $D$: $\mathrm{acc}(f)\le\max\{\mathrm{acc}(g):D(g)\le D(f)\}$, both "
        r"sides on the population.",
        kind="bound",
        scope=scope,
        whose="ours",
        check=_worlds(file, scope),
        mutants={
            "pushed": ("rules a hundredth more accurate than they are", {"push": 0.01}),
            "half": ("the optimum at half the disparity", {"share": 0.5}),
        },
        notes="The rules are committed as cut points and values; accuracies and disparities "
        f"follow from the laws, so that there is no test noise. fairfl crosscheck {study} trains "
        "them anew.",
    )


CLAIMS = (
    _bound("cfl-frontier-is-a-bound", "frontier", "learned rule", _frontier(), FRONTIER),
    _bound(
        "other-notions-below-cfl",
        "notions",
        "rule of equal opportunity, equalised odds or three groups",
        _notions(),
        NOTIONS,
    ),
)
