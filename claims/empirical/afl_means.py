"""The mean of AFL's mixtures approaches the dual weights of the optimum; single mixtures oscillate
around them.
"""

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
from fairfl.studies.crosscheck.realised.effective_weights import apart

DATA = "realised-weights.json"
NEAR = 0.02
"""Of the weight with the wrong clients: the study's word for near, set on seed 0."""
GAP = 1e-6
"""Of the duality gap, relative to the optimum: how exactly the kept dual weights are the
optimum's.
"""


def mean(instance: dict[str, Any], near: float = NEAR, dual: str = "optimum") -> Case:
    """One run's mean mixture against the optimum's dual weights, whose optimality is proven from
    the losses alone.

    F_k(w) = w'S_k w - 2 b_k'w + c_k. For λ in the simplex and every v, min_w sum_k λ_k F_k(w) <=
    min_w max_k F_k(w) <= max_k F_k(v), so that at the minimiser of the first the two ends enclose
    the optimum. ``dual`` "even" puts 1/K for the optimum's.
    """
    kept = load(DATA)["mixtures"][instance["place"]]
    weights, best = np.array(kept["weights"]), np.array(kept["dual"])
    squares, products, constants = (
        np.array(kept[name]) for name in ("squares", "products", "constants")
    )
    w = np.linalg.solve(np.tensordot(best, squares, 1), best @ products)
    losses = np.einsum("i,kij,j->k", w, squares, w) - 2 * products @ w + constants
    gap = float(losses.max() / (best @ losses) - 1)
    aim = best if dual == "optimum" else np.full(len(best), 1 / len(best))
    name = f"{kept['algorithm']}, seed {kept['seed']}"
    return Case(
        (
            Relation(gap, "<=", GAP, f"the dual weights are the optimum's: {name}"),
            Relation(apart(weights, aim), "<=", near, f"the mean of the mixtures: {name}"),
        )
    )


def _check(effort: Effort, **changed: Any) -> Evidence:
    places = [{"place": k} for k in range(len(load(DATA)["mixtures"]))]
    return Evidence.of(tabulate(Call.of(mean, **changed), places, _scope()))


def _scope() -> str:
    kept = load(DATA)["mixtures"]
    seeds = sorted({int(one["seed"]) for one in kept})
    rounds = sorted({int(one["round"]) for one in kept})
    return (
        f"{', '.join(dict.fromkeys(one['algorithm'] for one in kept))}; six quadratic clients, "
        f"{rounds[-1]:,} rounds; bound set on seed 0, confirmed on seeds 1 to {seeds[-1]}"
    )


CLAIMS = (
    Claim(
        id="empirical/afl-means-near-dual-weights",
        number="crosscheck realised-weights",
        line=0,
        title="the mean of AFL's mixtures is near the dual weights of the optimum",
        printed="No paper at hand prints it.",
        statement=r"With everyone, one full step a round and mixtures stepped at 0.1, the mean "
        r"of the mixtures has at "
        rf"most {NEAR:g} of its weight with other clients than the dual weights $\lambda^*$ of "
        r"$\min_w\max_kF_k(w)$.",
        kind="limit",
        hypotheses=(),
        scope=_scope(),
        expected="holds",
        check=_check,
        mutants=(
            Mutant(
                "even", "1/K in place of the optimum's dual weights", partial(_check, dual="even")
            ),
            Mutant("a hundredth", "a hundredth of the bound", partial(_check, near=NEAR / 100)),
        ),
        notes="The optimum is enclosed anew from the clients' quadratic losses: the largest loss "
        "where the weighted loss is least is within 1e-6 of the weighted loss.",
    ),
)
