"""The last paragraph of the proof of theorem A.1, and what holds where the law of S_t is
uniform.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

from flint import arb
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.instances import explore
from fairfl.claims.propfair.averaging import CHANCE, SETTING
from fairfl.claims.propfair.rounds import averaged, front, shares, step_limit
from fairfl.claims.propfair.theorem_A_1 import HYPOTHESES, PRINTED, changed, crowd, proved, worlds
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


def check_uniform(effort: Effort, share: Fraction = Fraction(1), dropped: str = "") -> Evidence:
    """The printed constants, for equal clients and uniform subsets: b_i = 1/n in the proof."""
    statement = Call.of(bounded, kind="printed", share=share, dropped=dropped)
    noisy = {
        **crowd(2, 200),
        "noise": [Fraction(11)] * 2,
        "law": [[[0], Fraction(1, 2)], [[1], Fraction(1, 2)]],
    }
    run = explore(statement, Call.of(equals), effort, examples=effort.pick(60, 1500))
    one = Witness.at(statement, "two clients, one of them taken, noise", **noisy)
    return proved(SETTING + CHANCE, run, one)


def uneven(n: int, s: int, size: int, full: bool = False) -> tuple[Fraction, Fraction]:
    """E p'_1^2 and sum p_i^2: client 1 of ``size`` beside n - 1 of size 1, s of the n drawn
    uniformly; ``full``: all.
    """
    s = n if full else s
    drawn = Fraction(s, n) * Fraction(size, size + s - 1) ** 2
    return drawn, Fraction(size**2 + n - 1, (size + n - 1) ** 2)


def largest(instance: dict[str, Any], size: int = 10, full: bool = False) -> Case:
    """x'Qx <= sum p_i^2 ||x||^2, Q = E p'p'^T, for x = (1, 0, ..., 0), where s of n clients are
    drawn uniformly: client 1 of ``size``, the others of size 1.
    """
    drawn, squares = uneven(instance["n"], instance["s"], size, full)
    return Case((Relation(drawn, "<=", squares, "x'Qx", float(squares)),))


def selected(instance: dict[str, Any], size: int, kind: str = "printed") -> Case:
    """Theorem A.1 for T rounds of n clients theta^2/2, s of them drawn uniformly, K_i = 1, eta =
    1/6, theta_0 = 1, noise at client 1 alone, of ``size``, beside others of size 1.

    E theta_t^2 satisfies v' = (1 - eta)^2 v + eta^2 E p'_1^2 noise: where the noise is such that
    it stays at 1, E||grad F||^2 = 1 in all T rounds.
    """
    n, eta = instance["n"], Fraction(1, 6)
    drawn, squares = uneven(n, instance["s"], size)
    noise = (1 - (1 - eta) ** 2) / (eta**2 * drawn)
    fourth, averaged_noise = (n * squares, squares * noise) if kind == "printed" else (1, noise)
    e2 = arb(1).exp() - 2
    psi = ball(eta / 2 * averaged_noise) * (1 + 2 * e2 * ball(eta) ** 2)
    right = front(1, ball(eta)) * (ball(Fraction(1, 2 * instance["T"])) + psi)
    return Case(
        (Relation(arb(1), "<=", right, "min_t E||grad F||^2, and the bound"),),
        {
            "smooth": True,
            "steps": True,
            "step size": not ball(eta) > step_limit(1, [1], fourth),
            "participation": 0 < instance["s"] <= n,
        },
    )


def check_selection(effort: Effort, size: int = 10**3, full: bool = False) -> Evidence:
    """One large client among a million."""
    shows = "one client of size 1,000, 999,999 of size 1, 10,000 drawn: 8e-5 > 2e-6"
    return Evidence.of(
        Counterexample.at(Call.of(largest, size=size, full=full), shows, n=10**6, s=10**4)
    )


def check_unequal(effort: Effort, size: int = 10**4, kind: str = "printed") -> Evidence:
    """The printed bound for the large client's noise."""
    shows = (
        "a client of size 10^4 with all the noise, 10^8 - 1 of size 1, 10^5 drawn uniformly: "
        "E||grad F||^2 stays 1, the bound is 0.085"
    )
    statement = Call.of(selected, size=size, kind=kind)
    return Evidence.of(Counterexample.at(statement, shows, n=10**8, s=10**5, T=10**4))


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
                "22.8 for 24", "a longer step in (A.3)", changed(CHANCE, "24 *", "(228 / 10) *")
            ),
        ),
        whose="ours",
    ),
    Claim(
        id="propfair/theorem-A.1-unequal",
        number="Theorem A.1",
        line=407,
        title="Uniformly random subsets of unequal clients: FedAvg's bound with the printed "
        "constants",
        printed=PRINTED,
        statement="As printed, for $S_t$ uniform among the subsets of a fixed size.",
        kind="bound",
        hypotheses=HYPOTHESES,
        scope="K_i = 1, one size larger than the others",
        expected="refuted",
        check=check_unequal,
        mutants=(
            Mutant("equal", "clients of one size", partial(check_unequal, size=1)),
            Mutant("max", "max_i c_i for (sum p_i^2) sum c_i", partial(check_unequal, kind="max")),
        ),
        severity="theorem",
        whose="reading",
        erratum=(
            "Uniform selection does not save the constants for partial participation either: a "
            "client whose share of all the data is small has a large one of the few that are "
            "drawn with it. Average by max_i, or suppose equal n_i."
        ),
    ),
    Claim(
        id="propfair/uniform-selection",
        number="Theorem A.1",
        line=632,
        title="(ours) Uniformly random subsets: the mean square of the shares drawn is no larger "
        "than that of all shares",
        printed="Finally, for the partial participation, it suffices to replace the client set "
        "with its subset.",
        statement=(
            r"$\lambda_{\max}(E_S[p' p'^\top]) \le \sum_i p_i^2$, for $S$ uniform among the "
            r"subsets of a fixed size."
        ),
        kind="bound",
        hypotheses=(),
        scope="one large client among a million",
        expected="refuted",
        check=check_selection,
        mutants=(
            Mutant("equal", "clients of one size", partial(check_selection, size=1)),
            Mutant("all", "all clients drawn", partial(check_selection, full=True)),
        ),
        erratum=(
            "A client's mean square share of those drawn can exceed sum p_i^2 many times: with it "
            "the printed constants would do for uniform subsets. A search finds nothing for up to "
            "nine clients; at ten it fails by 0.1 %, with eight drawn and sizes 17, 4, ..., 4."
        ),
        whose="ours",
    ),
)
