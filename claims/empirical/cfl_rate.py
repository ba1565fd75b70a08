"""The rates at which CFL's learner approaches the frontier and its budget with the sample size."""

from __future__ import annotations

from functools import cache
from typing import Any

from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim
from fairfl.claims.empirical.crosscheck_files import PARTS, confirmed_on, in_part, load
from fairfl.claims.forms import grid
from fairfl.studies.crosscheck.population.frontier_distance import below, exact
from fairfl.studies.crosscheck.population.kept_rules import read
from fairfl.studies.crosscheck.population.learned_rules import Found
from fairfl.studies.crosscheck.rates import Rate

DATA = "frontier.json"
SLACK = 0.3
"""How far a slope that was measured at four sizes, from some two dozen rules each, may be from its
power. Set on the seeds that were seen.
"""


@cache
def runs() -> tuple[tuple[str, int, int, float, float], ...]:
    """World, seed, people, accuracy below the frontier and how far |MD| is from its budget, of
    every rated rule.
    """
    found = []
    for part in load(DATA)["rated"]:
        kept = list(read({"worlds": [part]}))
        world, most = kept[0][0], float(exact(kept[0][0]).disparity[-1])
        rules = [Found.of(rule, world.federation) for _, _, rule in kept]
        short = below(world, [rule.disparity for rule in rules], [rule.accuracy for rule in rules])
        for (_, entry, _), rule, less in zip(kept, rules, short, strict=True):
            missed = abs(rule.disparity - min(float(entry["budget"]), most))
            found.append((world.name, int(entry["seed"]), int(entry["rows"]), float(less), missed))
    return tuple(found)


def case(instance: dict[str, Any], power: float = 0.0) -> Case:
    """The slope of log distance on log n: of the distance below the frontier -1, of |MD| from its
    budget -1/2, ``power`` more for a mutant.

    Of the "seeds" that the bound was set on, or of the others; every world has an intercept of its
    own.
    """
    mine = [run for run in runs() if in_part(run[1], load(DATA)["runs"], instance["seeds"])]
    worlds, _, people, short, missed = zip(*mine, strict=True)
    rate = Rate.of(people, short if instance["of"] == "accuracy" else missed, worlds)
    assert rate is not None  # four sizes are kept of every world
    expected = -1.0 if instance["of"] == "accuracy" else -0.5
    return Case(
        (Relation(abs(rate.slope - expected - power), "<=", SLACK, f"slope of {instance['of']}"),)
    )


def _scope() -> str:
    rated = load(DATA)["rated"]
    kept = [{int(entry["rows"]) for entry in part["rules"]} for part in rated]
    people = ", ".join(f"{size:,}" for size in sorted(set.intersection(*kept)))
    last = max(int(entry["seed"]) for part in rated for entry in part["rules"])
    names = ", ".join(part["world"]["name"] for part in rated)
    told = confirmed_on(load(DATA)["runs"], last)
    return f"{names}; {people} people, budgets 0.1 and 0.2, logistic regression by group; {told}"


CLAIMS = (
    Claim(
        "empirical/cfl-regret-rate",
        "crosscheck frontier",
        0,
        "CFL's learner: below the frontier by the order of 1/n, off its budget by that of the root "
        "of 1/n",
        printed="No paper prints it.",
        statement="FairBatch on pooled people, its class containing the optimum. Of root mean "
        "squares by world, with an intercept for each, the logarithm of "
        r"accuracy lost against the exact CFL optimum at its own $|\mathrm{MD}|$ has a slope "
        r"within 0.3 of $-1$ on $\log n$, that of $||\mathrm{MD}|-\varepsilon|$ within 0.3 of "
        r"$-\frac12$.",
        kind="limit",
        scope=_scope(),
        whose="ours",
        check=grid(
            case,
            [{"of": of, "seeds": part} for part in PARTS for of in ("accuracy", "disparity")],
            _scope(),
            tolerance=0.0,
        ),
        mutants={
            "faster": ("slopes of -2 and -3/2", {"power": -1.0}),
            "slower": ("slopes of 0 and 1/2", {"power": 1.0}),
        },
        notes="The optimum is stationary along rules of the same |MD|: what a cut misses by the "
        "root of 1/n costs its square.",
    ),
)
