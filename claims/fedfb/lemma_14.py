"""FedFB, lemma 14: where the clients' ERMs favour different groups, LFT+Ensemble never matches
CFL.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.lemma_12 import ENSEMBLE, SCOPE
from fairfl.claims.fedfb.worlds import World, less, worlds
from fairfl.claims.instances import explore
from fairfl.claims.search import Attack

ZERO = Fraction(0)
WORSE = (
    ENSEMBLE
    + r"""
Theorem lemma_14 : forall X L E0 E1 (u v : X -> R) f M eps0 eps1 eps a s t lam,
  setting L E0 E1 u v f M -> md E0 v f 0 * md E1 v f 0 < 0 ->
  returned (md E0 v f) M eps0 s -> returned (md E1 v f) M eps1 t ->
  returned (md (pooled E0 E1) v f) M eps lam -> best L (pooled E0 E1) u v eps a ->
  eps < Rabs (md (pooled E0 E1) v f 0) ->
  Rabs (pooled E0 E1 (fun x => v x * ensemble f s t x)) <= eps ->
  pooled E0 E1 (fun x => u x * ensemble f s t x) < a.
"""
)


def worse(world: World, lams: list[Fraction], eps: Fraction) -> Relation:
    """LFT+Ensemble(ε_0, ε_1; ε) < CFL(ε): too unfair, or strictly less accurate."""
    difference, accuracy = world.ensemble(lams)
    if abs(difference) > eps:
        return less(eps, abs(difference), "DP Disp")
    return less(accuracy, world.pooled.best(eps), "accuracy")


def multipliers(world: World, instance: dict[str, Any], eps: Fraction) -> list[Fraction]:
    """λ_i = place_i · g_i⁻¹(0); with ``aim`` the point of that range next to CFL(ε)'s own λ."""
    ends = [client.multiplier(ZERO) for client in world.clients]
    if not instance["aim"]:
        return [p * end for p, end in zip(instance["place"], ends, strict=True)]
    goal = world.pooled.multiplier(eps)
    return [min(max(goal, min(end, ZERO)), max(end, ZERO)) for end in ends]


def strict(instance: dict[str, Any], opposite: bool = True) -> Case:
    """The statement at one ε < |g(0)| and one pair of multipliers."""
    world = World.of(instance["laws"], instance["q"])
    start = [client.g(ZERO) for client in world.clients]
    eps = instance["part"] * abs(world.pooled.g(ZERO))
    premises = {
        "common q": True,
        "g_i increase": world.positive,
        "ε < |g(0)|": eps < abs(world.pooled.g(ZERO)),
    }
    if opposite:
        premises["opposite"] = start[0] * start[1] < 0
    return Case((worse(world, multipliers(world, instance, eps), eps),), premises)


def choices(instance: dict[str, Any], choice: str = "any") -> Case:
    """The statement for given solutions λ_i of the clients' own problems, where g_i⁻¹ is a set."""
    world, eps = World.of(instance["laws"], instance["q"]), instance["eps"]
    lams, local = instance["lams"], instance["local"]
    wanted = [client.multiplier(e) for client, e in zip(world.clients, local, strict=True)]
    solve = all(c.g(a) == c.g(b) for c, a, b in zip(world.clients, lams, wanted, strict=True))
    start = [client.g(ZERO) for client in world.clients]
    premises = {
        "common q": True,
        "opposite": start[0] * start[1] < 0,
        "ε < |g(0)|": eps < abs(world.pooled.g(ZERO)),
        "λ_i solves": solve,
    }
    return Case((worse(world, lams if choice == "any" else wanted, eps),), premises)


def disagreeing(instance: dict[str, Any]) -> dict[str, Any]:
    """The instance with its groups exchanged where need be: client 0 favours group 1, client 1
    group 0.
    """
    world = World.of(instance["laws"], instance["q"])
    signs = [client.g(ZERO) > 0 for client in world.clients]
    pairs = zip(instance["laws"], signs, (False, True), strict=True)
    laws = [pair if sign == wanted else pair[::-1] for pair, sign, wanted in pairs]
    return {**instance, "laws": laws}


def instances(opposite: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Two clients, a part of |g(0)| for ε, and where in their ranges the λ_i lie.

    ``opposite``: they favour different groups.
    """
    unit = st.integers(0, 8).map(lambda k: Fraction(k, 8))
    part = st.integers(0, 15).map(lambda k: Fraction(k, 16))
    place = st.lists(unit, min_size=2, max_size=2)
    more = st.fixed_dictionaries({"place": place, "part": part, "aim": st.booleans()})
    drawn = st.tuples(worlds(2), more).map(lambda pair: {**pair[0], **pair[1]})
    return drawn.map(disagreeing) if opposite else drawn


def _attack(point: list[float]) -> dict[str, Any]:
    first, second, part = (Fraction(v).limit_denominator(10_000) for v in point)
    laws = [[[9, 2, 3, 7], [7, 2, 3, 9]], [[1, 2, 9, 4], [3, 9, 2, 2]]]
    return {"laws": laws, "q": Fraction(3, 8), "place": [first, second], "part": part, "aim": False}


def _check(effort: Effort, opposite: bool = True, proof: str = WORSE) -> Evidence:
    drawn = Call.of(instances, opposite=opposite)
    family = Attack([(0, 1), (0, 1), (0, 0.999)], _attack, steps=effort.pick(60, 400))
    run = explore(
        Call.of(strict, opposite=opposite), drawn, effort, tolerance=0.0, attacks=[family]
    )
    return Evidence.of(KernelProof.of("ensemble.v", proof, run, axioms=REALS))


def _check_gaps(effort: Effort, choice: str = "any") -> Evidence:
    lam = Fraction(-1, 16)
    shows = (
        "λ_0 = λ_1 = λ_CFL = -1/16 at ε = 1/12 < |g(0)| = 1/3: client 0 has no one with u in "
        "(1/4, 3/4)"
    )
    one = Counterexample.at(
        Call.of(choices, choice=choice),
        shows,
        laws=[[[2, 0, 0, 1], [1, 0, 0, 2]], [[0, 0, 1, 0], [0, 1, 0, 0]]],
        q=Fraction(1, 2),
        eps=Fraction(1, 12),
        local=[Fraction(1), Fraction(1, 2)],
        lams=[lam, lam],
    )
    return Evidence.of(one)


PRINTED = (
    r"Let $q\in(0,1)$. If $g_0(0)g_1(0)<0$, "
    r"$\max_{\varepsilon_0,\varepsilon_1}LFT+Ensemble(\varepsilon_0,\varepsilon_1;"
    r"\varepsilon)<CFL(\varepsilon)$ for all $\varepsilon<|g(0)|$."
)
PREMISES = (
    ("common q", "q_0 = q_1"),
    ("opposite", "g_0(0) g_1(0) < 0"),
    ("ε < |g(0)|", "the unconstrained solution is not fair enough"),
)

CLAIMS = (
    Claim(
        id="fedfb/lemma-14",
        number="Lemma 14",
        line=775,
        title="if g_0(0) g_1(0) < 0: max LFT+Ensemble < CFL(ε) for all ε < |g(0)|",
        printed=PRINTED,
        statement=r"For every pair of budgets, $DP\,Disp>\varepsilon$ or $Acc<CFL(\varepsilon)$.",
        kind="bound",
        hypotheses=(*PREMISES, ("g_i increase", "each g_i is strictly increasing")),
        scope=SCOPE,
        expected="holds",
        check=_check,
        mutants=(
            Mutant("any signs", "without g_0(0) g_1(0) < 0", lambda e: _check(e, opposite=False)),
            Mutant(
                "fair",
                "ε <= |g(0)| for <, in the theorem that is proved",
                lambda e: _check(e, proof=WORSE.replace("eps < Rabs", "eps <= Rabs")),
            ),
        ),
        rests_on=("fedfb/lemma-7/repaired", "fedfb/lemma-7/onto"),
        reading="g_i⁻¹ is a function; else see fedfb/lemma-14/gaps.",
        gap="the statement survives: the proof treats g_1(0) > 0, |g_1(0)| >= |g_0(0)|, and "
        "names the same case again as the one that is similar (read g_1(0) < 0 or |g_1(0)| < "
        "|g_0(0)|).",
    ),
    Claim(
        id="fedfb/lemma-14/gaps",
        number="Lemma 14",
        line=775,
        title="lemma 14 for whichever solutions of their own problems the clients return",
        printed=PRINTED,
        statement=r"The same for every choice of $\lambda_i\in g_i^{-1}(\cdot)$.",
        kind="bound",
        hypotheses=(*PREMISES, ("λ_i solves", "λ_i gives a solution of LFT+Ensemble(i, ε_i)")),
        scope="densities with gaps, n = 2",
        expected="refuted",
        check=_check_gaps,
        mutants=(
            Mutant(
                "nearest", "λ_i the point of g_i⁻¹ next to 0", lambda e: _check_gaps(e, "nearest")
            ),
        ),
        severity="theorem",
        erratum="Assume that every client's law has full support: without, g_i is flat "
        "somewhere, λ_i may have the sign that lemma 9 excludes, and the ensemble may be CFL's "
        "own solution.",
        whose="reading",
    ),
)
