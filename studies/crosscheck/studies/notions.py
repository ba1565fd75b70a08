"""Equal opportunity, equalised odds, three groups: learned rules against exact optima."""

from itertools import product

import numpy as np
import pandas as pd

from fairfl.studies.crosscheck import prediction
from fairfl.studies.crosscheck.population.frontier_distance import below, optimum, supporting_plane
from fairfl.studies.crosscheck.population.learned_rules import Performance
from fairfl.studies.crosscheck.population.worlds import World, by_name, in_words
from fairfl.studies.crosscheck.practice import CFL, ENSEMBLE, LEARNERS, Practice, spelt, vote
from fairfl.studies.crosscheck.study import Verdict, exact_curve, series, summary, trade_off
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups
from fairfl.theory.populations.notions import Notion

NAME = "notions"
TITLE = "Equal opportunity, equalised odds and three groups below the exact optima"
SEEDS = {"quick": 6, "paper": 20}

NOTIONS: dict[Notion, str] = {"dp": "parity", "eo": "equal opportunity", "eodds": "equalised odds"}
SMALL: tuple[tuple[str, Notion], ...] = (
    ("figure-5d", "eo"),
    ("figure-5d", "eodds"),
    ("random-0-2-3", "dp"),
)
"""Pairs of a world and a notion. Parity of two groups is in the study ``frontier``."""
SHOWN = (*SMALL, ("figure-9d", "eo"), ("random-0-2-3", "eo"), ("random-1-3-3", "eodds"))
TWO, THREE = ("figure-5d", "figure-9d", "random-0"), ("random-0-2-3", "random-1-3-3")
QUESTIONS: dict[tuple[str, Notion], None] = dict.fromkeys(
    (*SMALL, *product(TWO, ("eo", "eodds")), *product(THREE, NOTIONS))
)
ROUNDS = dict.fromkeys(product(LEARNERS, NOTIONS), 20) | {(CFL, "dp"): 100, (CFL, "eo"): 100}
"""Steps of λ: of CFL three groups are .07 apart at ε = 0 after 40, .05 after 100."""
CASES: dict[str, tuple[str, Notion, Practice]] = {
    f"{world}, {notion}, {scheme}": (
        world,
        notion,
        Practice(scheme, rounds=ROUNDS[scheme, notion], notion=notion),
    )
    for world, notion in QUESTIONS
    for scheme in LEARNERS
}
BUDGETS = ((0.0,), (0.1,))
OTHERS = 4
"""CFL's learner has this many times as many seeds as others, which take the solvers longest."""
LOST = "below the plane"


def units(scale: Scale) -> list[Unit]:
    """A unit for each question and scheme. Quick: three questions, paper: twelve."""
    count = len(CASES) if scale.paper else len(SMALL) * len(LEARNERS)
    return prediction.units_of(NAME, [*CASES][:count], rows, scale)


def rows(case: str, seeds: int) -> pd.DataFrame:
    """A row for each budget and sample: the rule's exact measures, and how much more accurate than
    it are CFL's optimum at its own disparity (``below``), the plane (``LOST``), LFT+FedAvg's
    optimum at its local disparities, and of an ensemble a client's optimum than its member, the
    least.
    """
    name, notion, practice = CASES[case]
    world, lines = by_name(name), []
    alone = [world.alone(client) for client in range(world.clients)]
    count = seeds if practice.scheme == CFL else -(-seeds // OTHERS)  # only CFL's has an interval
    trained = practice.trained(world, BUDGETS, count)
    for budget, samples in zip(BUDGETS, trained, strict=True):
        for seed, members in enumerate(samples):
            worth = Performance.of(vote(world, members), world.federation, notion)
            plane = supporting_plane(world.federation, worth.rates, notion)
            local = optimum(world, "lft_fedavg", np.abs(worth.local), notion)
            line = {"world": name, "notion": notion, "groups": world.groups, "seed": seed}
            line |= {"scheme": practice.scheme, "people": practice.people, "budget": spelt(budget)}
            line |= worth.columns | {LOST: plane - worth.accuracy}
            line |= {"below locally": local - worth.accuracy}
            if practice.scheme == ENSEMBLE:
                line["members"] = min(
                    _behind(client, Performance.of(member, client.federation, notion), notion)
                    for client, member in zip(alone, members, strict=True)
                )
            lines.append(line)
    table = pd.DataFrame(lines)
    short = below(world, table["disparity"], table["accuracy"], notion=notion)
    return table.assign(below=short)


def _behind(client: World, worth: Performance, notion: Notion) -> float:
    """How much more accurate a client's own optimum is at a rule's own disparity."""
    return optimum(client, "cfl", worth.disparity, notion) - worth.accuracy


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Table by notion, groups, scheme, people and budget: rules, their loss and disparity."""
    keys = ["notion", "groups", "scheme", "people", "budget"]
    return {"points": summary(measures, keys, _means)}


def _means(part: pd.DataFrame) -> dict[str, float]:
    columns = ("below", LOST, "below locally", "disparity")
    return {"rules": len(part)} | {f"{n}, mean": float(floats(part, n).mean()) for n in columns}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """Three hard inequalities; what CFL's learner of one rate leaves at ε = 0: its class has the
    optimum. That of equalised odds is a mixture.
    """
    fair = among(among(measures, "scheme", [CFL]), "budget", [spelt(BUDGETS[0])])
    single = among(fair, "notion", ["dp", "eo"]).assign(case=prediction.TRAINED)
    limit = float(2 / np.sqrt(floats(fair, "people").max()))
    learner = "CFL's learner of equal opportunity, and of parity of three groups, at ε = 0:"
    lost = f"{learner} no accuracy is lost against the plane."
    return (
        prediction.hard_verdict(
            "below-cfl",
            "No learned rule is more accurate than the exact CFL optimum at its own disparity, nor "
            "above the plane through CFL's optimum at ε = 0.",
            np.concatenate([floats(measures, column) for column in ("below", LOST)]),
        ),
        prediction.hard_verdict(
            "below-lft-fedavg",
            "None is more accurate than LFT+FedAvg's exact optimum at its own local disparities.",
            floats(measures, "below locally"),
        ),
        prediction.hard_verdict(
            "members-below-their-own",
            "No member of an ensemble is more accurate on its own client's law than that client's "
            "exact optimum at the member's own disparity.",
            floats(among(measures, "scheme", [ENSEMBLE]), "members"),
        ),
        prediction.limit_verdict("plane-of-one-rate", lost, single, prediction.NEAR, column=LOST),
        prediction.limit_verdict(
            "disparity-of-one-rate", f"{learner} no disparity.", single, limit, column="disparity"
        ),
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """CFL's exact frontier of each question, and the learned rules."""
    parts = []
    for (name, notion), part in groups(measures, ["world", "notion"]):
        if (name, notion) not in SHOWN:
            continue
        panel = f"{in_words(name).removeprefix('random ')}, {NOTIONS[notion]}"
        parts.append(exact_curve(by_name(name), "cfl", notion).assign(panel=panel))
        for (scheme,), of_scheme in groups(part, ["scheme"]):
            at = floats(of_scheme, "disparity"), floats(of_scheme, "accuracy")
            parts.append(series(panel, f"{scheme}, learned", "points", *at))
    return pd.concat(parts, ignore_index=True)


BY_NOTION = "Learned rules and CFL's exact frontier, by notion"
PICTURES = (trade_off("crosscheck-notions", BY_NOTION, points, x="disparity"),)
