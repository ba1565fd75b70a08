"""When the client weights that an algorithm realises in a step are the dual weights of its
objective.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.empirical.crosscheck_files import load
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import tabulate
from fairfl.studies.crosscheck.realised.aims import BEYOND, dual_of, objective_of
from fairfl.studies.crosscheck.realised.effective_weights import apart, effective_weights

DATA = "realised-weights.json"
EXACT = 1e-9
"""Of the weight: what least squares on nearly dependent gradients may lose."""
ALONE = ("FedAvg", "PropFair")
"""Algorithms whose unscaled weight of a client hangs on its own loss alone."""


def step(instance: dict[str, Any], nudge: float = 1.0, fallback: bool = False) -> Case:
    """One kept step: its weights, by least squares on the gradients, are in proportion to the dual
    weights.

    ``nudge`` multiplies the objective's parameter; ``fallback`` has 1/M for the weight of whom
    PropFair's threshold lets fall.
    """
    kept = load(DATA)["steps"][instance["place"]]
    losses, p = np.array(kept["losses"]), np.array(kept["p"])
    # the last direction is outside their span
    slopes = np.pad(np.array(kept["gradients"]), ((0, 0), (0, 1)))
    found = effective_weights(np.append(kept["step"], kept["rest"]), slopes, kept["lr"])
    if fallback:
        M, gap = kept["M"], kept["M"] - losses
        dual = p * np.where(gap >= kept["epsilon"], 1 / gap, 1 / M)
    else:
        dual = dual_of(objective_of(kept["algorithm"], kept.get("M"), nudge), losses, p)
    return Case(
        (
            Relation(apart(found.weights, dual), "<=", EXACT, "weights"),
            Relation(found.outside, "<=", EXACT, "the step is a weighing of the gradients"),
        ),
        {"below": fallback or kept["beyond"] == 0},
    )


def propfair(instance: dict[str, Any], fallback: bool = False) -> Case:
    """The same as PropFair's algorithm has it, whether or not somebody is beyond the threshold."""
    return Case(step(instance, fallback=fallback).relations)


def draws(instance: dict[str, Any], among: bool = False, nudge: float = 1.0) -> Case:
    """Mean weights over all sets of m clients, one full step each, against the dual weights at all
    losses.

    ``among``: against the mean of the dual weights that the drawn have among themselves, scaled to
    sum one.
    """
    kept = load(DATA)["draws"][instance["place"]]
    losses, found = np.array(kept["losses"]), np.array(kept["weights"])
    aim, n, m = objective_of(kept["algorithm"], kept["M"], nudge), len(losses), kept["drawn"]
    if among:
        dual = np.zeros(n)
        for drawn in map(list, combinations(range(n), m)):
            mine = np.asarray(aim.dual_weights(losses[drawn]))
            dual[drawn] += mine / mine.sum()
    else:
        dual = np.asarray(aim.dual_weights(losses))
    return Case((Relation(apart(found, dual), "<=", EXACT, kept["algorithm"]),))


def _steps(beyond: bool, name: str = "") -> list[dict[str, Any]]:
    kept = load(DATA)["steps"]
    return [
        {"place": k}
        for k, one in enumerate(kept)
        if (one["beyond"] > 0) == beyond and one["algorithm"].startswith(name)
    ]


def _check_steps(effort: Effort, **changed: Any) -> Evidence:
    return Evidence.of(tabulate(Call.of(step, **changed), _steps(False), _scope()))


def _check_propfair(effort: Effort, **changed: Any) -> Evidence:
    kept = load(DATA)["steps"]
    worst = max(_steps(True), key=lambda one: float(propfair(one).relations[0].left))
    one = kept[worst["place"]]
    shows = (
        f"{one['world']}, seed {one['seed']}, round {one['round']}: {one['beyond']} clients "
        "beyond the threshold"
    )
    return Evidence.of(Counterexample.at(Call.of(propfair, **changed), shows, **worst))


def _check_fallback(effort: Effort, **changed: Any) -> Evidence:
    places = [*_steps(False, "PropFair"), *_steps(True, "PropFair")]
    return Evidence.of(
        tabulate(Call.of(propfair, **{"fallback": True, **changed}), places, _scope())
    )


def _draws(names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{"place": k} for k, one in enumerate(load(DATA)["draws"]) if one["algorithm"] in names]


def _check_draws(effort: Effort, **changed: Any) -> Evidence:
    shows = "all sets of three of six quadratic clients, TERM(2)"
    return Evidence.of(Counterexample.at(Call.of(draws, **changed), shows, **_draws(("TERM",))[0]))


def _check_alone(effort: Effort, names: tuple[str, ...] = ALONE, **changed: Any) -> Evidence:
    grid = "all sets of three of six quadratic clients, one full step each, " + ", ".join(names)
    return Evidence.of(tabulate(Call.of(draws, **changed), _draws(names), grid))


def _scope() -> str:
    kept = load(DATA)["steps"]
    worlds = ", ".join(dict.fromkeys(one["world"] for one in kept))
    rounds = ", ".join(str(t) for t in sorted({one["round"] for one in kept}))
    seeds = max(one["seed"] for one in kept)
    return (
        f"steps of rounds {rounds} on {worlds} (six least-squares, 20 softmax clients), "
        f"seeds 0 to {seeds}"
    )


PRINTED = "No paper prints it; it is what the weights of PropFair, section 4, are for."

CLAIMS = (
    Claim(
        id="empirical/full-steps-realise-dual-weights",
        number="crosscheck realised-weights",
        line=0,
        title="with everyone and one full step, the weights in the step are the objective's dual "
        "weights",
        printed=PRINTED,
        statement=r"For FedAvg, q-FedSGD, q-FedAvg (also as printed), TERM, PropFair below its "
        r"threshold, p-FedAvg and FedAvg with dual weights: "
        r"$w^{t+1}-w^t=-c\,\sum_k\lambda_k\nabla F_k(w^t)$ with $c>0$ and $\lambda=\nabla "
        r"A(F(w^t))$.",
        kind="identity",
        hypotheses=(("below", "nobody is beyond PropFair's threshold M - epsilon"),),
        scope=_scope(),
        expected="holds",
        check=_check_steps,
        mutants=(
            Mutant(
                "nudged",
                "objectives whose parameter is a hundredth larger",
                partial(_check_steps, nudge=1.01),
            ),
        ),
        notes="The weights are measured: least squares of the step on the clients' gradients. "
        "Kept are their coordinates in the span of the gradients, so that steps can be checked "
        "without training.",
    ),
    Claim(
        id="empirical/propfair-realises-dual-weights",
        number="crosscheck realised-weights",
        line=0,
        title="PropFair's algorithm realises the dual weights of its objective",
        printed=r"PropFair, algorithm 1 and section 4: the weights are $\lambda_i\propto "
        r"p_i/(M-f_i)$.",
        statement=r"With everyone and one full step PropFair weighs client $i$ in proportion to "
        r"$p_i/(M-f_i)$.",
        kind="identity",
        hypotheses=(),
        scope="the kept step that is furthest off",
        expected="holds-repaired",
        check=_check_propfair,
        mutants=(
            Mutant("fallback", "1/M beyond the threshold", partial(_check_propfair, fallback=True)),
        ),
        erratum="Algorithm 1's fallback l/M beyond M - l < epsilon weighs a client by 1/M, less "
        "than one whose loss is smaller: the objective and its dual weights are those of the "
        "algorithm only while nobody is beyond.",
    ),
    Claim(
        id="empirical/propfair-realises-dual-weights/repaired",
        number="crosscheck realised-weights",
        line=0,
        title="PropFair weighs by 1/(M - f) below its threshold, and by 1/M beyond",
        printed=r"PropFair, algorithm 1, lines 8 to 11.",
        statement=r"With everyone and one full step PropFair weighs client $i$ in proportion to "
        r"$p_i/(M-f_i)$ where $M-f_i\ge\epsilon$, and to $p_i/M$ otherwise.",
        kind="identity",
        hypotheses=(),
        scope=_scope(),
        expected="holds",
        check=_check_fallback,
        mutants=(
            Mutant("no fallback", "1/(M - f) everywhere", partial(_check_fallback, fallback=False)),
        ),
        notes=f"Runs named {BEYOND!r} have M at 1.2 to 2.2 times the largest first loss, and "
        "epsilon at half of it or "
        "more, so that the threshold is met.",
    ),
    Claim(
        id="empirical/draws-keep-dual-weights",
        number="crosscheck realised-weights",
        line=0,
        title="with some clients a round, the mean weights are the dual weights at everybody's "
        "losses",
        printed="No paper prints it; experiments with ten devices a round suppose it.",
        statement=r"With every set of $m$ clients equally likely and one full step, the mean "
        r"over the sets of the weights in the step is in proportion to $\nabla A(F(w^t))$.",
        kind="identity",
        hypotheses=(),
        scope="TERM, m = 3 of n = 6",
        expected="holds-repaired",
        check=_check_draws,
        mutants=(
            Mutant(
                "among the drawn",
                "the mean of the draws' dual weights",
                partial(_check_draws, among=True),
            ),
        ),
        erratum="Weights that are scaled, or ranked, among the drawn clients are softer than "
        "those among all: a quarter of TERM's weight goes to other clients here. Only where a "
        "client's weight hangs on its own loss is the mean right.",
    ),
    Claim(
        id="empirical/draws-keep-dual-weights/repaired",
        number="crosscheck realised-weights",
        line=0,
        title="with some clients a round, FedAvg and PropFair keep their dual weights on average",
        printed="No paper prints it; experiments with ten devices a round suppose it.",
        statement=r"For FedAvg and PropFair, whose unscaled weight of a client hangs on its own "
        r"loss alone, the mean over all sets of $m$ clients of the weights in the step is in "
        r"proportion to $\nabla A(F(w^t))$.",
        kind="identity",
        hypotheses=(),
        scope="m = 3 of n = 6 quadratic clients of equal weight",
        expected="holds",
        check=_check_alone,
        mutants=(
            Mutant("TERM", "TERM among them", partial(_check_alone, names=(*ALONE, "TERM"))),
            Mutant("nudged", "M a hundredth larger", partial(_check_alone, nudge=1.01)),
        ),
    ),
)
