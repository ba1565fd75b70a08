"""Learned LFT+Ensemble: its limit is the exact point, and small samples may be fairer than the
theory's minimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.empirical.crosscheck_files import PARTS, confirmed_on, in_part, load
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import tabulate
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.ensemble_error import missed
from fairfl.studies.crosscheck.population.frontier_distance import exact
from fairfl.studies.crosscheck.population.kept_rules import members_of, read
from fairfl.studies.crosscheck.population.learned_rules import Found
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.crosscheck.rates import Rate

DATA = "ensemble.json"
OWN, SLACK = -0.5, 0.15
"""The slope of what is missed on own people, and how far a slope that was measured at four sizes
may be from it. These numbers and the following were set on the seeds that were seen; every claim is
checked on the others by itself.
"""
BELOW, KEPT = 0.1, 0.03
"""How far below the smallest exact disparity, of members that break no budget by more, on the
population.
"""
RUN = ("budget", "rows", "seed")


def nearer(instance: dict[str, Any], share: float = 1.0, scheme: str = "lft_ensemble") -> Case:
    """Distances in (MD, accuracy) from the exact point of one world and one vector of budgets, root
    mean squares.
    """
    runs = list(_runs(instance["world"], instance["seeds"], instance["budget"]))
    eps = _numbers(instance["budget"])
    aim = solve(runs[0][0].federation, scheme, eps if scheme == "lft_ensemble" else min(eps))
    sizes = np.array([entry["rows"] for _, entry, _ in runs], dtype=float)
    off = np.array(
        [
            np.hypot(one.accuracy - aim.accuracy, one.difference - aim.mean_difference)
            for _, _, one in runs
        ]
    )
    first, last = (
        float(np.sqrt(np.mean(off[sizes == size] ** 2))) for size in (sizes.min(), sizes.max())
    )
    return Case((Relation(last, "<", share * first, "largest and smallest samples"),))


def own_slope(instance: dict[str, Any], slope: float = OWN) -> Case:
    """What ensembles miss of MD on each member's own people, by size; an intercept for each
    world.
    """
    entries = [(world, entry) for world, entry, _ in _entries(instance["seeds"])]
    own = [
        missed(world, members_of(entry), tuple(_numbers(entry["budget"])))[0]
        for world, entry in entries
    ]
    rate = Rate.of(
        [entry["rows"] for _, entry in entries], own, [world.name for world, _ in entries]
    )
    assert rate is not None  # four sizes are kept of every world
    return Case((Relation(abs(rate.slope - slope), "<=", SLACK, "slope of log distance on log n"),))


def fairer(instance: dict[str, Any], below: float = BELOW) -> Case:
    """A learned ensemble's |MD| is below the smallest one of exact ensembles by more than
    ``below``.
    """
    run = {name: instance[name] for name in RUN}
    runs = (one for part in PARTS for one in _runs(instance["world"], part))
    world, entry, found = next(one for one in runs if one[1].items() >= run.items())
    least = float(exact(world, "lft_ensemble").disparity[0])
    relation = Relation(found.disparity, "<", least - below, "|MD| and the smallest exact one")
    return Case((relation,), {"kept": _excess(world, entry) <= KEPT})


def _excess(world: World, entry: Mapping[str, Any]) -> float:
    """By how much the worst member breaks its budget on its own client, exactly."""
    members, budgets = members_of(entry), _numbers(entry["budget"])
    own = [
        Found.of(member, world.alone(i).federation).disparity for i, member in enumerate(members)
    ]
    return max(disparity - eps for disparity, eps in zip(own, budgets, strict=True))


def elsewhere(instance: dict[str, Any], times: float = 2.0) -> Case:
    """Of the missed MD, root mean squares: on other clients' people more than ``times`` that on own
    people.
    """
    parts = []
    for world, entry, _ in _entries(instance["seeds"]):
        if (world.name, entry["rows"]) == (instance["world"], instance["rows"]):
            parts.append(missed(world, members_of(entry), tuple(_numbers(entry["budget"]))))
    own, others = np.sqrt(np.mean(np.square(parts), axis=0))
    return Case((Relation(times * float(own), "<", float(others), "own people and others'"),))


@cache
def _kept() -> tuple[tuple[World, Mapping[str, Any], Found], ...]:
    """Every ensemble, evaluated once."""
    return tuple(
        (world, entry, Found.of(rule, world.federation)) for world, entry, rule in read(load(DATA))
    )


def _entries(seeds: str) -> Iterator[tuple[World, Mapping[str, Any], Found]]:
    return (one for one in _kept() if in_part(one[1]["seed"], load(DATA)["runs"], seeds))


def _runs(
    world: str, seeds: str, budget: str | None = None
) -> Iterator[tuple[World, Mapping[str, Any], Found]]:
    mine = (one for one in _entries(seeds) if one[0].name == world)
    return (one for one in mine if budget in (None, one[1]["budget"]))


def _numbers(text: str) -> list[float]:
    return [float(value) for value in text.split()]


def _points() -> list[dict[str, Any]]:
    pairs = dict.fromkeys((world.name, entry["budget"]) for world, entry, _ in _kept())
    return [
        {"world": world, "budget": budget, "seeds": part}
        for part in PARTS
        for world, budget in pairs
    ]


def _scope() -> str:
    runs = load(DATA)["runs"]
    sizes = ", ".join(f"{size:,}" for size in runs["people"])
    told = confirmed_on(runs, runs["seeds"] - 1)
    return (
        f"{', '.join(_worlds())}; two budgets; {sizes} people; logistic regression by group; {told}"
    )


def _check_nearer(effort: Effort, **changed: Any) -> Evidence:
    return Evidence.of(tabulate(Call.of(nearer, **changed), _points(), _scope(), tolerance=0.0))


def _check_own(effort: Effort, slope: float = OWN) -> Evidence:
    both = [{"seeds": part} for part in PARTS]
    return Evidence.of(tabulate(Call.of(own_slope, slope=slope), both, _scope(), tolerance=0.0))


def _check_fairer(effort: Effort, below: float = BELOW) -> Evidence:
    """The furthest below of those whose members keep their budgets, found anew in the data: of
    either part.
    """
    return Evidence.of(*(_furthest(part, below) for part in PARTS))


def _furthest(seeds: str, below: float) -> Witness:
    runs = [
        run for name in _worlds() for run in _runs(name, seeds) if _excess(run[0], run[1]) <= KEPT
    ]
    world, entry, _ = max(
        runs, key=lambda run: exact(run[0], "lft_ensemble").disparity[0] - run[2].disparity
    )
    shows = (
        f"{world.name}, {entry['rows']:,} people, budgets {entry['budget']}, seed {entry['seed']}"
    )
    where = {"world": world.name, **{name: entry[name] for name in RUN}}
    return Witness.at(Call.of(fairer, below=below), shows, **where)


def _check_elsewhere(effort: Effort, **changed: Any) -> Evidence:
    sizes = load(DATA)["runs"]["people"][:2]
    names = [name for name in _worlds() if name.startswith("figure")]
    instances = [
        {"world": name, "rows": size, "seeds": part}
        for part in PARTS
        for name in names
        for size in sizes
    ]
    return Evidence.of(tabulate(Call.of(elsewhere, **changed), instances, _scope(), tolerance=0.0))


def _worlds() -> list[str]:
    return [part["world"]["name"] for part in load(DATA)["worlds"]]


CLAIMS = (
    Claim(
        id="empirical/ensemble-approaches-its-point",
        number="crosscheck ensemble",
        line=0,
        title="LFT+Ensemble approaches the exact ensemble of its budgets as the sample grows",
        printed="No paper prints it; FedFB's section 3 is on the population, its section 5.3 on "
        "samples.",
        statement=r"The distance in $(\mathrm{MD},\mathrm{acc})$ of learned ensembles from the "
        r"exact one of the same "
        "budgets, root mean square over seeds, is smaller at the largest size than at the "
        "smallest.",
        kind="limit",
        hypotheses=(),
        scope=_scope(),
        expected="holds",
        check=_check_nearer,
        mutants=(
            Mutant(
                "to half", "at most half, as seeds 0 to 3 had it", partial(_check_nearer, share=0.5)
            ),
            Mutant(
                "another point",
                "CFL's optimum at the smallest budget",
                partial(_check_nearer, scheme="cfl"),
            ),
        ),
        notes="At most half, and at most 0.07, were the bounds set on seeds 0 to 3. Seeds 4 to 7 "
        "refuted both: figure 9(d) keeps 64 % of its distance, and figure 5(d) is 0.136 off with "
        "the largest samples, where one sample of 32,000 is 0.26 off, nearly all of it on other "
        "clients' people. Seeds 8 and 9 were run after the claim was changed.",
    ),
    Claim(
        id="empirical/own-people-rate",
        number="crosscheck ensemble",
        line=0,
        title="what LFT+Ensemble misses on each member's own people shrinks like the root of 1/n",
        printed="No paper prints it.",
        statement=r"The logarithm of the part of the missed MD that is on each member's own "
        r"people, root mean square by world, has a slope within 0.15 of $-\frac12$ on $\log n$, "
        r"with an intercept for each world.",
        kind="limit",
        hypotheses=(),
        scope=_scope(),
        expected="holds",
        check=_check_own,
        mutants=(
            Mutant("1/n", "a slope of -1", partial(_check_own, slope=-1.0)),
            Mutant("no rate", "a slope of 0", partial(_check_own, slope=0.0)),
        ),
    ),
    Claim(
        id="empirical/fairer-than-ensembles-can-be",
        number="crosscheck ensemble",
        line=0,
        title="a learned ensemble has a disparity far below the smallest one that FedFB's theory "
        "allows ensembles",
        printed=r"LFT+Ensemble fails to achieve perfect fairness, i.e., $\delta>0$. [FedFB, 5.1, "
        r"of the population]",
        statement=r"There is a learned ensemble with $|\mathrm{MD}|<\delta-0.1$ whose members "
        r"keep their budgets, $\delta$ being the smallest disparity of exact ensembles over all "
        r"budgets.",
        kind="existence",
        hypotheses=(("kept", "|MD_i| of member i on its own client is at most ε_i + 0.03"),),
        scope=_scope(),
        expected="holds",
        check=_check_fairer,
        mutants=(Mutant("by more", "half a unit below", partial(_check_fairer, below=0.5)),),
        notes="No contradiction: the theory is of exactly optimal members, and the gap closes as "
        "the sample grows. Small samples leave a member's rule undetermined where its client has "
        "few people, and the vote asks it there.",
    ),
    Claim(
        id="empirical/members-miss-elsewhere",
        number="crosscheck ensemble",
        line=0,
        title="small samples: ensembles miss their exact MD on other clients' people, not on "
        "their members' own",
        printed="No paper prints it.",
        statement="Of the missed MD, the part from members' answers on other clients' people is "
        "more than twice the part from those on their own people, root mean squares over budgets "
        "and seeds.",
        kind="bound",
        hypotheses=(),
        scope="FedFB's figures among: " + _scope() + "; the two smallest sizes",
        expected="holds",
        check=_check_elsewhere,
        mutants=(
            Mutant(
                "hundredfold",
                "more than a hundred times the part",
                partial(_check_elsewhere, times=100.0),
            ),
        ),
    ),
)
