"""FedFB, lemma 20: many clients, split into two pooled subsets; and the strict inequality of
theorem 21.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, DefiniteForm, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.lemma_10 import GAP, opposed
from fairfl.claims.fedfb.worlds import Population, World, worlds
from fairfl.claims.instances import explore
from fairfl.claims.picture import Curve, Picture

ZERO, ONE = Fraction(0), Fraction(1)
GRID = 3
"""Parts of [0, c] at which the condition on ψ̃ is tested."""
Pair = tuple[Population, Population]
DEFINITIONS = r"""
Definition clamp (x : R) : R := Rmax 0 (Rmin 1 x).
Definition rate (m t : R) : R := (1 - m) * clamp (1 - 2 * t) + m * clamp (2 - 2 * t).
Definition md (a b lam : R) : R := rate a (1/2 - lam) - rate b (1/2 + lam).
Definition g0 := md (4/5) (1/5).
Definition g1 := md (1/2) (5/6).
Definition g2 := md (1/2) (2/11).
Definition h (lam : R) : R := (g1 lam + g2 lam) / 2.
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Definition psi (l0 l1 : R) : R :=
  1/3 * (2/3) * (g0 l1 + h l0) + 1/3 * (1/3) * g0 l0 + 2/3 * (2/3) * h l1.
Definition ensemble (l0 l1 l2 : R) : R :=
  ((g0 l0 + g1 l0 + g2 l0) + (g0 l1 + g1 l1 + g2 l1) + (g0 l2 + g1 l2 + g2 l2)) / 9.
"""
PREMISED = (
    DEFINITIONS
    + r"""
Theorem premises : g0 0 = 3/5 /\ h 0 = -1/132
  /\ forall e0 e1 l0 l1, 0 <= e0 <= 1/132 -> 0 <= e1 <= 1/132 -> g0 l0 = e0 -> h l1 = - e1 ->
     0 < psi l0 l1.
"""
)
COUNTEREXAMPLE = (
    DEFINITIONS
    + r"""
Theorem counterexample : exists l0 l1 l2 e0 e1 e2,
  0 <= e0 <= 1 /\ 0 <= e1 <= 1 /\ 0 <= e2 <= 1
  /\ g0 l0 = clip e0 (g0 0) /\ g1 l1 = clip e1 (g1 0) /\ g2 l2 = clip e2 (g2 0)
  /\ ensemble l0 l1 l2 = 0.
"""
)
RANGE = r"""
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Definition increasing (h : R -> R) : Prop := forall x y, x < y -> h x < h y.
Definition client (c : R * (R -> R) * R) : Prop :=
  let '(w, h, z) := c in 0 <= w /\ increasing h /\ h z = 0 /\ -1 <= h 0 <= 1.
Definition returned (c : R * (R -> R) * R) (lam : R) : Prop :=
  let '(w, h, z) := c in exists eps, 0 <= eps <= 1 /\ h lam = clip eps (h 0).
Definition total (t : R * (R -> R) * R -> R) (cs : list (R * (R -> R) * R)) : R :=
  fold_right (fun c s => t c + s) 0 cs.
Definition difference (g : R -> R) (cs : list (R * (R -> R) * R)) (lams : list R) : R :=
  fold_right (fun p s => fst (fst (fst p)) * g (snd p) + s) 0 (combine cs lams).
Definition low (g : R -> R) := total (fun '(w, h, z) => w * Rmin (g 0) (g z)).
Definition high (g : R -> R) := total (fun '(w, h, z) => w * Rmax (g 0) (g z)).
Theorem range : forall g cs, continuity g -> (forall x y, x <= y -> g x <= g y) ->
  Forall client cs ->
  (forall lams, Forall2 returned cs lams -> low g cs <= difference g cs lams <= high g cs)
  /\ (forall t, low g cs <= t <= high g cs ->
      exists lams, Forall2 returned cs lams /\ difference g cs lams = t).
"""


def psi(pair: Pair, shares: tuple[Fraction, Fraction], eps: tuple[Fraction, Fraction]) -> Fraction:
    """(62)."""
    one, two = pair
    first, second = (1 if p.g(ZERO) > 0 else -1 for p in pair)
    lams = [p.multiplier(e) for p, e in zip(pair, eps, strict=True)]
    mixed = shares[0] * shares[1] * (one.g(lams[1]) + two.g(lams[0]))
    return mixed + shares[0] ** 2 * first * eps[0] + shares[1] ** 2 * second * eps[1]


def conditions(world: World, split: list[list[int]]) -> tuple[dict[str, bool], Fraction, Pair]:
    """Lemma 20's premises, δ̃, and the two pooled subsets."""
    count = len(world.q)
    pair = world.pool(split[0]), world.pool(split[1])
    shares = Fraction(len(split[0]), count), Fraction(len(split[1]), count)
    start = [p.g(ZERO) for p in pair]
    c = min(map(abs, start))
    steps = [c * k / GRID for k in range(GRID + 1)]
    values = [psi(pair, shares, (a, b)) for a in steps for b in steps]
    opposite = start[0] * start[1] < 0
    premises = {
        "common q": len(set(world.q)) == 1,
        "opposite": opposite,
        "ψ": opposite and all(v * sum(start) > 0 for v in values),
        "g_i increase": world.positive,
    }
    return premises, min(map(abs, values)), pair


def printed(instance: dict[str, Any], who: str = "clients") -> Case:
    """DP Disp >= δ̃ of the ensemble of all clients; or, repaired, of the two classifiers of the
    pooled subsets.
    """
    world = World.of(instance["laws"], instance["q"])
    split, eps = instance["split"], instance["eps"]
    premises, delta, pair = conditions(world, split)
    if who == "clients":
        lams = [client.multiplier(e) for client, e in zip(world.clients, eps, strict=True)]
        disparity = abs(world.ensemble(lams)[0])
    else:
        rules = [p.rule(p.multiplier(e)) for p, e in zip(pair, eps[:2], strict=True)]
        sizes = [Fraction(len(part), len(world.q)) for part in split]
        disparity = abs(
            sum((s * world.pooled.difference(r) for s, r in zip(sizes, rules, strict=True)), ZERO)
        )
    return Case((Relation(delta, "<=", disparity, "DP Disp"),), premises)


def reachable(instance: dict[str, Any], wider: Fraction = ZERO, low: str = "least") -> Case:
    """MD lies in [L, U], the sums over clients of the ends of g(λ_i)/I, and takes each value there.

    ``part`` says which value: each client's g(λ_i) is that part of the way between its ends, and
    its budget is |g_i(λ_i)|. ``wider`` moves L and U.
    """
    world = World.of(instance["laws"], instance["q"])
    pooled, clients, count = world.pooled, world.clients, len(world.q)
    ends = [sorted((pooled.g(ZERO), pooled.g(c.multiplier(ZERO)))) for c in clients]
    if low == "ERM":
        ends = [[pooled.g(ZERO)] * 2 for _ in clients]
    least, most = (sum((end[k] for end in ends), ZERO) / count for k in (0, 1))
    least, most = least - wider, most + wider

    def difference(budgets: list[Fraction]) -> Fraction:
        return world.ensemble([c.multiplier(e) for c, e in zip(clients, budgets, strict=True)])[0]

    value = least + instance["part"] * (most - least)
    inner = [end[0] + instance["part"] * (end[1] - end[0]) for end in ends]
    lams = [pooled.preimage(v)[0] for v in inner]
    budgets = [abs(c.g(lam)) for c, lam in zip(clients, lams, strict=True)]
    drawn = difference(instance["eps"])
    return Case(
        (
            Relation(least, "<=", drawn, "L <= MD"),
            Relation(drawn, "<=", most, "MD <= U"),
            Relation(difference(budgets), "==", value, "reached"),
        ),
        {"common q": len(set(world.q)) == 1},
    )


def form(square: int = 2) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """(63) - ψ̃(c, 0), for g̃_0(0) = -c < 0 < b = g̃_1(0): the sum of what monotonicity makes
    non-negative.
    """
    j = sympy.symbols("j", positive=True)  # J_0 and 1 - J_0 are shares; write them j/(j+k), k/(j+k)
    k, c, b = sympy.symbols("k c b", positive=True)
    p, r, s, t = sympy.symbols("p r s t", nonnegative=True)
    d = sympy.Symbol("d", real=True)  # g̃_0(λ*), λ* = g̃_1⁻¹(0)
    one, two = j / (j + k), k / (j + k)
    mixed = one * two * ((b + r) + (d + s))
    difference = one**square * (-c + p) + mixed + two**2 * t
    corner = one * two * (d + b) - one**2 * c
    return difference - corner, [one**2 * p, one * two * r, one * two * s, two**2 * t]


COUNTER: dict[str, Any] = {
    "laws": [[[1, 4], [4, 1]], [[3, 3], [1, 5]], [[2, 2], [9, 2]]],
    "q": Fraction(1, 2),
    "split": [[0], [1, 2]],
    "eps": [Fraction(34841, 171535), ONE, ZERO],
}


def _check_printed(effort: Effort, who: str = "clients") -> Evidence:
    shows = (
        "three clients, P(u > 1/2 | a) = (4/5, 1/5), (1/2, 5/6), (1/2, 2/11): MD takes both "
        "signs, and is 0 here"
    )
    found = Counterexample.at(Call.of(printed, who=who), shows, **COUNTER)
    return Evidence.against(
        KernelProof.of("lemma_20.v", PREMISED + COUNTEREXAMPLE, found, axioms=REALS)
    )


def halved() -> st.SearchStrategy[dict[str, Any]]:
    """Opposed clients, the second one split in two equal ones."""

    def split(instance: dict[str, Any]) -> dict[str, Any]:
        laws = instance["laws"]
        return {**instance, "laws": [laws[0], laws[1], laws[1]], "split": [[0], [1, 2]]}

    return opposed().map(split)


def budgeted() -> st.SearchStrategy[dict[str, Any]]:
    """Three clients, their budgets and a place in the range."""
    unit = st.integers(0, 16).map(lambda k: Fraction(k, 16) ** 2)
    more = st.fixed_dictionaries({"eps": st.lists(unit, min_size=3, max_size=3), "part": unit})
    return st.tuples(worlds(3), more).map(lambda pair: {**pair[0], **pair[1]})


def _check_pooled(effort: Effort, square: int = 2) -> Evidence:
    point = {
        "j": "1",
        "k": "2",
        "c": "1/5",
        "b": "1/2",
        "p": "1/9",
        "r": "0",
        "s": "2/7",
        "t": "1/11",
        "d": "-1/3",
    }
    proof = DefiniteForm(Call.of(form, square=square), "together", (point,))
    run = explore(Call.of(printed, who="subsets"), Call.of(halved), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("ensemble_gap.v", GAP, proof, run, axioms=REALS))


def _check_reachable(effort: Effort, wider: Fraction = ZERO, low: str = "least") -> Evidence:
    run = explore(
        Call.of(reachable, wider=wider, low=low), Call.of(budgeted), effort, tolerance=0.0
    )
    return Evidence.of(KernelProof.of("range.v", RANGE, run, axioms=REALS))


PRINTED = (
    r"Let $q_i=q$ for all $i\in[I]$. Consider a partition which divides $I$ clients into two "
    r"subsets [with pooled laws $\tilde{\mathcal P}_a^{(j)}$, shares $J_0,J_1$, and $\tilde g_j$ "
    r"as $g_i$]. Let $c=\min\{|\tilde g_0(0)|,|\tilde g_1(0)|\}$, "
    r"$\tilde\psi(\tilde\varepsilon_0,\tilde\varepsilon_1)=J_0J_1\tilde g_0(\tilde "
    r"g_1^{-1}(\mathrm{sign}(\tilde g_1(0))\tilde\varepsilon_1))+J_0J_1\tilde g_1(\tilde "
    r"g_0^{-1}(\mathrm{sign}(\tilde g_0(0))\tilde\varepsilon_0))+J_0^2\mathrm{sign}(\tilde "
    r"g_0(0))\tilde\varepsilon_0+J_1^2\mathrm{sign}(\tilde g_1(0))\tilde\varepsilon_1$. If there "
    r"exists a partition such that $\tilde g_0(0)\tilde g_1(0)<0$ and $\tilde\psi\cdot(\tilde "
    r"g_0(0)+\tilde g_1(0))>0$ on $[0,c]^2$, then for all "
    r"$\tilde\varepsilon_0,\tilde\varepsilon_1\in[0,1]$, "
    r"$DP\,Disp(f^{LFT+Ensemble}_{\varepsilon})\ge\tilde\delta=\min|\tilde\psi|>0$."
)
PREMISES = (
    ("common q", "q_i = q for all clients"),
    ("opposite", "g̃_0(0) g̃_1(0) < 0"),
    ("ψ", "ψ̃ (g̃_0(0) + g̃_1(0)) > 0 on [0, c]²"),
    ("g_i increase", "each density is positive on (0, 1)"),
)

CLAIMS = (
    Claim(
        id="fedfb/lemma-20",
        number="Lemma 20",
        line=1042,
        title="I clients in two pooled subsets: DP Disp of LFT+Ensemble is at least δ̃ > 0",
        printed=PRINTED,
        statement=r"$DP\,Disp(f^{LFT+Ensemble}_\varepsilon)\ge\tilde\delta$, $f_\varepsilon$ the "
        r"average of all $I$ local classifiers.",
        kind="bound",
        hypotheses=PREMISES,
        scope="I = 3, as stated",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "pooled subsets",
                "the pooled subsets' classifiers",
                lambda e: _check_printed(e, "subsets"),
            ),
        ),
        severity="theorem",
        erratum="The bound is for the average of two classifiers, each trained on the pooled "
        "data of a subset, not for LFT+Ensemble of I > 2 clients. 'Pooling the datasets in one "
        "subset can clearly achieve a wider range of fairness' is false: a client that is far "
        "less fair than its subset moves its own λ further.",
        notes="Lemma 1 and remark 10 for more than two clients, and the second half of theorem "
        "21, rest on it (fedfb/theorem-21/strict). What does hold for I clients: "
        "fedfb/lemma-20/range.",
    ),
    Claim(
        id="fedfb/lemma-20/repaired",
        number="Lemma 20",
        line=1042,
        title="the average of the two pooled subsets' classifiers, with weights J_0, J_1, has DP "
        "Disp at least δ̃ > 0",
        printed=PRINTED,
        statement=r"$DP\,Disp(J_0\tilde f_0+J_1\tilde f_1)\ge\tilde\delta>0$ for all "
        r"$\tilde\varepsilon_0,\tilde\varepsilon_1\in[0,1]$.",
        kind="bound",
        hypotheses=PREMISES,
        scope="each g̃_j strictly increasing, any shares",
        expected="holds",
        check=_check_pooled,
        mutants=(Mutant("J_0", "J_0 for J_0² in (63)", lambda e: _check_pooled(e, square=1)),),
        gap="the printed proof assumes |g̃_0(0)| < |g̃_1(0)| and J_0 <= J_1 at once 'without "
        "loss of generality': only one of them is. Case 1 sets J_0² g̃_0(0) + J_1² g̃_1(0) + J_0 "
        "J_1 g̃_0(g̃_1⁻¹(0)) equal to ψ̃(c, 0), which has J_0 J_1 g̃_1(0) in place of J_1² "
        "g̃_1(0); case 4 does so too. Neither is needed.",
    ),
    Claim(
        id="fedfb/lemma-20/range",
        number="Lemma 20",
        line=1042,
        title="(ours) the mean differences that LFT+Ensemble of I clients reaches",
        printed=PRINTED,
        statement=r"$MD\in[L,U]$, $L=\frac1I\sum_i\min\{g(0),g(g_i^{-1}(0))\}$, $U$ with $\max$; "
        r"all of it is reached, so $\min DP\,Disp=\max\{0,L,-U\}$.",
        kind="tight bound",
        hypotheses=(PREMISES[0], ("g_i increase", "each density is positive on (0, 1)")),
        scope="any I; each g_i strictly increasing, g continuous",
        expected="holds",
        check=_check_reachable,
        mutants=(
            Mutant("ERM alone", "L = U = g(0)", lambda e: _check_reachable(e, low="ERM")),
            Mutant(
                "wider",
                "L and U moved apart by 1/1000 each",
                lambda e: _check_reachable(e, Fraction(1, 1000)),
            ),
            Mutant(
                "narrower",
                "L and U moved together by 1/1000 each",
                lambda e: _check_reachable(e, Fraction(-1, 1000)),
            ),
        ),
        rests_on=("fedfb/eq-32",),
        notes="With the q_i different, the same with MD's own terms: "
        "solvers/lft_ensemble/densities.py computes it so.",
        whose="ours",
    ),
)


def zero_reached() -> Picture:
    """MD of the three clients' ensemble as client 0's budget grows, against δ̃."""
    world = World.of(COUNTER["laws"], COUNTER["q"])
    _, delta, _ = conditions(world, COUNTER["split"])
    budgets = [Fraction(k, 40) for k in range(25)]
    fixed = [c.multiplier(e) for c, e in zip(world.clients[1:], COUNTER["eps"][1:], strict=True)]
    x = tuple(map(float, budgets))
    values = tuple(
        float(world.ensemble([world.clients[0].multiplier(e), *fixed])[0]) for e in budgets
    )
    bound = Curve("δ̃, said to be a lower bound of |MD|", (x[0], x[-1]), (float(delta),) * 2)
    caption = "three clients, ε_1 = 1, ε_2 = 0: MD of LFT+Ensemble passes through 0"
    return Picture(caption, "ε_0", "MD", (Curve("MD", x, values), bound))


PICTURES = {"fedfb/lemma-20": zero_reached}
