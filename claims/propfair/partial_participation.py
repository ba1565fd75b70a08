"""The last paragraph of the proof of theorem A.1, and what holds where the law of S_t is
uniform.
"""

from __future__ import annotations

import time
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import minimize

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, KernelProof, Search, Witness
from fairfl.claims.certificates.kernel_proof import CLASSICAL
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import encode
from fairfl.claims.instances import explore
from fairfl.claims.propfair.averaging import CHANCE, SETTING
from fairfl.claims.propfair.rounds import averaged, shares
from fairfl.claims.propfair.theorem_A_1 import HYPOTHESES, PRINTED, crowd, worlds
from fairfl.claims.propfair.theorem_A_1 import case as bounded


def fewer(instance: dict[str, Any], renormalised: bool = True) -> Case:
    """Psi' <= Psi for the participants: both terms have the form (sum p_i^2) sum c_i, here with c_i
    as given.
    """
    sizes, c, members = instance["sizes"], instance["c"], instance["members"]
    p = shares(sizes)
    chosen = [sizes[i] for i in members]
    few = shares(chosen) if renormalised else [p[i] for i in members]
    left = averaged([c[i] for i in members], few, "printed")
    return Case(
        (Relation(left, "<=", averaged(c, p, "printed"), "Psi' and Psi"),), {"noise": min(c) >= 0}
    )


def check_fewer(effort: Effort, renormalised: bool = True) -> Evidence:
    """Two equal clients, one noisy."""
    shows = (
        "two equal clients, K = 1, noise (1, 0): with client 1 alone the term is 1, with "
        "both it is 1/2"
    )
    world = {"sizes": [Fraction(1)] * 2, "c": [Fraction(1), Fraction(0)], "members": [0]}
    return Evidence.of(Counterexample.at(Call.of(fewer, renormalised=renormalised), shows, **world))


@st.composite
def equals(draw: st.DrawFn) -> dict[str, Any]:
    """Worlds of equal clients, with a uniformly random subset of fixed size."""
    world = draw(worlds(partial_participation=False))
    n = len(world["steps"])
    subsets = list(combinations(range(n), draw(st.integers(1, n))))
    law = [[list(s), Fraction(1, len(subsets))] for s in subsets]
    return {**world, "sizes": [Fraction(1)] * n, "law": law}


def check_uniform(
    effort: Effort, share: Fraction = Fraction(1), dropped: str = "", proof: str = SETTING + CHANCE
) -> Evidence:
    """The printed constants, for equal clients and uniform subsets: b_i = 1/n in the proof."""
    statement = Call.of(bounded, kind="printed", share=share, dropped=dropped)
    noisy = {
        **crowd(2, 200),
        "noise": [Fraction(11)] * 2,
        "law": [[[0], Fraction(1, 2)], [[1], Fraction(1, 2)]],
    }
    run = explore(statement, Call.of(equals), effort, examples=effort.pick(60, 1500))
    one = Witness.at(statement, "two clients, one of them taken, noise", **noisy)
    return Evidence.of(KernelProof.of("averaging.v", proof, run, one, axioms=CLASSICAL))


def largest(instance: dict[str, Any], cap: Fraction = Fraction(1)) -> Case:
    """x'Qx <= sum p_i^2 ||x||^2 for Q = E p'p'^T under a uniform subset of size s, in fractions."""
    sizes, x, s = instance["sizes"], instance["x"], instance["s"]
    subsets = list(combinations(range(len(sizes)), s))
    total = Fraction(0)
    for members in subsets:
        q = shares([sizes[i] for i in members])
        total += sum((a * x[i] for a, i in zip(q, members, strict=True)), Fraction(0)) ** 2 / len(
            subsets
        )
    right = (
        cap
        * sum((a * a for a in shares(sizes)), Fraction(0))
        * sum((v * v for v in x), Fraction(0))
    )
    return Case(
        (Relation(total, "<=", right, "x'Qx", float(right) or 1.0),), {"sizes": min(sizes) > 0}
    )


def check_selection(effort: Effort, cap: Fraction = Fraction(1)) -> Evidence:
    """Attack the largest eigenvalue over sizes; keep the worst points as fractions."""
    begin, rng, worst, count = time.perf_counter(), np.random.default_rng(0), [], 0
    for n in range(2, 5 if effort.name == "quick" else 8):
        for s in range(1, n):
            for _ in range(effort.restarts):
                ended = minimize(
                    _negative,
                    rng.normal(size=n),
                    (s,),
                    method="Nelder-Mead",
                    options={"maxfev": 150},
                )
                count += ended.nfev
                sizes = [_near(v) + Fraction(1, 10**4) for v in np.exp(ended.x - ended.x.max())]
                worst.append({"sizes": sizes, "x": [_near(v) for v in _vector(ended.x, s)], "s": s})
    statement = Call.of(largest, cap=cap)
    found = ({"instance": encode(w), "margin": statement(w).margin} for w in worst)
    kept = sorted(found, key=lambda k: k["margin"])[:3]
    missing = (
        "a proof of lambda_max(E p'p'^T) <= sum p_i^2 for uniform subsets; with it, the "
        "printed constants would do"
    )
    return Evidence.of(
        Search(
            statement, 1e-9, tuple(kept), "Nelder-Mead", count, time.perf_counter() - begin, missing
        )
    )


def _matrix(logs: np.ndarray, s: int) -> tuple[np.ndarray, float]:
    w = np.exp(logs - logs.max())
    p, q = w / w.sum(), np.zeros((len(w), len(w)))
    subsets = list(combinations(range(len(w)), s))
    for members in subsets:
        v = np.zeros(len(w))
        v[list(members)] = w[list(members)] / w[list(members)].sum()
        q += np.outer(v, v) / len(subsets)
    return q, float(p @ p)


def _near(value: float) -> Fraction:
    return Fraction(float(value)).limit_denominator(10**4)


def _negative(logs: np.ndarray, s: int) -> float:
    return -_ratio(logs, s)


def _ratio(logs: np.ndarray, s: int) -> float:
    q, squares = _matrix(logs, s)
    return float(np.linalg.eigvalsh(q)[-1]) / squares


def _vector(logs: np.ndarray, s: int) -> np.ndarray:
    return np.linalg.eigh(_matrix(logs, s)[0])[1][:, -1]


CLAIMS = (
    Claim(
        id="propfair/theorem-A.1-fewer",
        number="Proof of theorem A.1, last paragraph",
        line=632,
        title="With fewer participants the variance term is smaller",
        printed=(
            r"the new variance term satisfies $\Psi'_\sigma \leq \Psi_\sigma$ since this term "
            r"increases with more participants"
        ),
        statement=(
            r"$(\sum_{i \in S} p_i'^2) \sum_{i \in S} c_i \le (\sum_i p_i^2) \sum_i c_i$ for $S "
            r"\subset [n]$, with $p_i' = n_i / \sum_{j \in S} n_j$ and $c_i \ge 0$, which is the "
            r"form of both terms of $\Psi_\sigma$."
        ),
        kind="bound",
        hypotheses=(("noise", "c_i >= 0"),),
        scope="n = 2",
        expected="refuted",
        check=check_fewer,
        mutants=(
            Mutant(
                "p_i kept", "the shares not renormalised", partial(check_fewer, renormalised=False)
            ),
        ),
        severity="step",
        erratum=(
            "Algorithm 1 divides by the N of the participants, so the p_i grow as clients leave. "
            "The same error makes (A.39) fail 'since we subtract a smaller term'. Repair: "
            "theorem A.1 with the average over the clients replaced by the largest, max_i, among "
            "those that take part."
        ),
    ),
    Claim(
        id="propfair/theorem-A.1-uniform",
        number="Theorem A.1",
        line=407,
        title="(ours) Uniformly random subsets of equal clients: FedAvg's bound with the printed "
        "constants",
        printed=PRINTED,
        statement=(
            r"If $n_i$ are equal and $S_t$ is uniform among the subsets of a fixed size, theorem "
            r"A.1 holds as printed: by Jensen $E_S\|\sum_S p_i' x_i\|^2 \le \sum_i E_S[p_i' 1_{i "
            r"\in S}] \|x_i\|^2 = \frac1n \sum_i \|x_i\|^2$."
        ),
        kind="bound",
        hypotheses=HYPOTHESES,
        scope="as propfair/theorem-A.1/repaired",
        expected="holds",
        check=check_uniform,
        mutants=(
            Mutant(
                "a fortieth",
                "a fortieth of the bound",
                partial(check_uniform, share=Fraction(1, 40)),
            ),
            Mutant("no noise", "sigma_l left out of Psi", partial(check_uniform, dropped="noise")),
            Mutant(
                "22.8 for 24",
                "a longer step in (A.3)",
                partial(check_uniform, proof=(SETTING + CHANCE).replace("24 *", "(228 / 10) *")),
            ),
        ),
        whose="ours",
    ),
    Claim(
        id="propfair/uniform-selection",
        number="Theorem A.1",
        line=632,
        title="(ours) Uniformly random subsets of unequal clients: the printed constants would do",
        printed="Finally, for the partial participation, it suffices to replace the client set "
        "with its subset.",
        statement=(
            r"$\lambda_{\max}(E_S[p' p'^\top]) \le \sum_i p_i^2$, for $S$ uniform among the "
            r"subsets of a fixed size."
        ),
        kind="bound",
        hypotheses=(("sizes", "n_i > 0"),),
        scope="n <= 7",
        expected="open",
        check=check_selection,
        mutants=(
            Mutant(
                "99/100",
                "less than what equal clients attain",
                partial(check_selection, cap=Fraction(99, 100)),
            ),
        ),
        notes=(
            "Equality for equal clients and one direction x; the trace, and the row sums of Q, "
            "can exceed the right side."
        ),
        whose="ours",
    ),
)
