"""FedFB, theorem 24: convergence of λ for two groups; the update (9) and its box."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, KernelProof, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.bilevel import instances, outer, slope
from fairfl.claims.fedfb.lemma_23 import FLAT
from fairfl.claims.instances import explore
from fairfl.claims.picture import Curve, Picture

ZERO = Fraction(0)
ROOT = sympy.sqrt(2)
DEFINITIONS = r"""
Fixpoint used (a : nat -> R) (s n : nat) : R :=
  match n with O => 0 | S m => used a s m + a (s + m)%nat end.
Definition steps (a p : nat -> R) (zero : R) : Prop := forall t,
  0 <= a t /\ (p t < zero -> p (S t) = p t + a t) /\ (zero < p t -> p (S t) = p t - a t)
  /\ (p t = zero -> Rabs (p (S t) - zero) <= a t).
Definition updates (alpha l0 l1 : nat -> R) (F : R -> R -> R) : Prop := forall t,
  let f := F (l0 t) (l1 t) in let norm := sqrt (- f * - f + f * f) in
  0 <= alpha t /\ l0 (S t) = l0 t + alpha t / norm * - f
  /\ l1 (S t) = l1 t + alpha t / norm * f.
"""
BOUND = r"""
Theorem bound : forall a p zero n T, steps a p zero ->
  Rabs (p (n + T)%nat - zero) <= Rabs (p n - zero) - used a n T
  \/ exists s, (s < T)%nat
     /\ Rabs (p (n + T)%nat - zero) <= a (n + s)%nat - used a (S (n + s)) (T - S s).
"""
SLOWLY = r"""
Theorem slowly : forall a p zero T, steps a p zero -> (forall t, a t <= 2 * a (S t)) ->
  Rabs (p (S T) - zero) <= Rmax (Rabs (p O - zero) - used a 0 (S T)) (a T).
"""
LIMIT = r"""
Theorem limit : forall a p zero, steps a p zero -> Un_cv a 0 ->
  (forall n B, exists T, B <= used a n T) -> Un_cv p zero.
"""
SIGNS = r"""
Theorem signs : forall alpha l0 l1 F zero, updates alpha l0 l1 F ->
  (forall x, x < zero -> 0 < F (l0 O + l1 O - x) x) ->
  (forall x, zero < x -> F (l0 O + l1 O - x) x < 0) ->
  (forall t, l0 t + l1 t = l0 O + l1 O) /\ steps (fun t => alpha t / sqrt 2) l1 zero.
"""


def path(instance: dict[str, Any]) -> tuple[list[Fraction], list[Fraction], bool]:
    """λ_1 after each update (85), F_1 before it, and whether the inner problem was strictly convex
    each time.

    The steps are a_t = α_t/√2, the inner problem is solved exactly.
    """
    problem = outer("dp", 2, instance["shares"], instance["constants"])
    zero, one = instance["lam"]
    places, signs, convex = [one], [], True
    for step in instance["steps"]:
        shift = places[-1] - one
        found = slope(problem, instance["losses"], [zero - shift, places[-1]])
        gap, convex = found["mu"][1], convex and found["H"] > 0
        signs.append(gap)
        places.append(places[-1] + step * ((gap > 0) - (gap < 0)))
    return places, signs, convex


def printed(instance: dict[str, Any], constant: str = "printed", minimiser: str = "any") -> Case:
    """|λ_1^(T) - λ_1*| <= max{|λ_1^(0) - λ_1*| - Σ α_t, α_T}, α_t = √2 a_t (or, repaired, a_t in
    place of α_t).
    """
    places, _, convex = path(instance)
    scale = ROOT if constant == "printed" else 1
    steps = [sympy.Rational(str(a)) for a in instance["steps"]]
    goal = sympy.Rational(str(instance["goal"]))
    start, last = (abs(sympy.Rational(str(v)) - goal) for v in (places[0], places[-1]))
    bound = sympy.Max(start - scale * sum(steps), scale * steps[-1])
    premises = {
        "assumptions": convex,
        "minimiser": minimiser == "any" or instance["goal"] == instance["zero"],
    }
    return Case((Relation(last, "<=", bound, f"|λ^({len(steps)}) - λ*|"),), premises)


def bounded(instance: dict[str, Any], factor: Fraction = Fraction(1), last: bool = False) -> Case:
    """d_T <= max{d_0 - Σ_{t<T} a_t, max_{s<T} (a_s - Σ_{s<t<T} a_t)} at every T, where F_1 has its
    zero on the line; ``last``: with the last step alone, as α_{t+1} >= α_t/2 allows.
    """
    places, gaps, _ = path(instance)
    goal, steps = instance["goal"], [factor * a for a in instance["steps"]]
    relations = []
    for count in range(1, len(places)):
        used = steps[:count]
        after = [a - sum(used[s + 1 :], ZERO) for s, a in enumerate(used)][-1 if last else 0 :]
        bound = max(abs(places[0] - goal) - sum(used, ZERO), *after)
        relations.append(Relation(abs(places[count] - goal), "<=", bound, f"T = {count}"))
    sides = all(
        (gap > 0) == (goal > place) and gap != 0 for gap, place in zip(gaps, places, strict=False)
    )
    inside = all(0 <= p <= 2 * instance["shares"][1] for p in places)
    return Case(tuple(relations), {"zero": sides, "inside": inside})


def kept(instance: dict[str, Any], length: str = "printed") -> Case:
    """(9) with α keeps λ in [0, 2 n_0/n] x [0, 2 n_1/n]: μ = (-F_1, F_1), so the step is α/√2 each
    way.
    """
    step = (
        instance["alpha"] / ROOT if length == "printed" else sympy.Rational(instance["alpha"], 100)
    )
    relations = []
    for a, sign in ((0, -1), (1, 1)):
        moved = sympy.Rational(str(instance["lam"][a])) + sign * step * instance["sign"]
        relations.append(Relation(sympy.Integer(0), "<=", moved, f"λ_{a} >= 0"))
        relations.append(
            Relation(
                moved, "<=", 2 * sympy.Rational(str(instance["shares"][a])), f"λ_{a} <= 2 n_a/n"
            )
        )
    return Case(tuple(relations))


def _check_printed(effort: Effort, harmless: bool = False) -> Evidence:
    steps = [Fraction(1, t) for t in range(1, 21)]
    instance: dict[str, Any] = {"steps": steps, "goal": Fraction(4, 3), "zero": Fraction(4, 3)}
    instance |= {"shares": [Fraction(1, 3), Fraction(2, 3)], "constants": [Fraction(1, 4)]}
    instance |= {
        "losses": dict.fromkeys(("00", "10", "01", "11"), FLAT),
        "lam": [Fraction(1, 3), Fraction(2, 3)],
    }
    if harmless:  # F_1 = (2/3 - λ_1)/2 on the line: it has a zero, and one step reaches it
        instance |= {
            "losses": zero_losses(),
            "constants": [ZERO],
            "goal": Fraction(2, 3),
            "zero": Fraction(2, 3),
        }
        instance["lam"] = [Fraction(1, 3), Fraction(2, 3) - Fraction(1, 20)]
        instance["steps"] = [Fraction(1, 20)]
    shows = (
        "L'_{y,a} = w² for all y, a, and n_00/n_0 - n_01/n_1 = 1/4: F_1 = 1/4 whatever λ is, "
        "so λ_1 grows without "
    )
    shows += "end; "
    shows += "even from the end of its box, 4/3, it is 2.9 away at T = 20"
    return Evidence.of(Counterexample.at(Call.of(printed), shows, **instance))


def zero_losses() -> dict[str, list[Fraction]]:
    """Quadratics with F_1 = -w and w_λ of the sign of λ_1 - 2/3 on the line λ_0 + λ_1 = 1, n_a/n =
    1/3 and 2/3.
    """
    one, flat = Fraction(1), [Fraction(1), ZERO, ZERO]
    return {
        "00": flat,
        "10": flat,
        "01": [one, Fraction(1, 2), ZERO],
        "11": [one, -Fraction(1, 2), ZERO],
    }


def _check_constant(effort: Effort, constant: str = "printed") -> Evidence:
    shows = (
        "F_1 = -w_λ with its zero at λ_1 = 2/3, steps α = √2/4, √2/10 from 1/6: the distance "
        "falls from 1/2 to "
    )
    shows += "3/20, "
    shows += "(88) says to √2/10 or less"
    one = Counterexample.at(
        Call.of(printed, constant=constant, minimiser="zero"),
        shows,
        shares=[Fraction(1, 3), Fraction(2, 3)],
        constants=[ZERO],
        losses=zero_losses(),
        lam=[Fraction(5, 6), Fraction(1, 6)],
        steps=[Fraction(1, 4), Fraction(1, 10)],
        goal=Fraction(2, 3),
        zero=Fraction(2, 3),
    )
    return Evidence.of(one)


def lines() -> st.SearchStrategy[dict[str, Any]]:
    """Quadratics, with the constant of F_1 chosen to make it zero at a given place of the line."""
    step = st.sampled_from([1, 1, 10]).flatmap(
        lambda small: st.integers(1, 20).map(lambda k: Fraction(k, 300 * small))
    )
    more = st.fixed_dictionaries(
        {"steps": st.lists(step, min_size=1, max_size=8), "at": st.integers(2, 8)}
    )

    def placed(pair: tuple[dict[str, Any], dict[str, Any]]) -> list[Any]:
        instance, extra = pair
        goal = 2 * instance["shares"][1] * Fraction(extra["at"], 10)
        return [instance["lam"][0] + instance["lam"][1] - goal, goal]

    def inside(pair: tuple[dict[str, Any], dict[str, Any]]) -> bool:
        return all(0 < v < 2 * q for v, q in zip(placed(pair), pair[0]["shares"], strict=True))

    def zeroed(pair: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
        instance, extra = {**pair[0], "constants": [ZERO]}, pair[1]
        problem = outer("dp", 2, instance["shares"], instance["constants"])
        lam = placed(pair)
        goal = lam[1]
        value = slope(problem, instance["losses"], lam)["mu"][1]
        width = min(instance["shares"]) * 2
        steps = [a * width for a in extra["steps"]]
        return {**instance, "constants": [-value], "goal": goal, "steps": steps}

    usable = instances("dp", 2).filter(lambda d: d["losses"]["01"] != d["losses"]["11"])
    return st.tuples(usable, more).filter(inside).map(zeroed)


OVERSHOT: dict[str, Any] = {
    "shares": [Fraction(1, 3), Fraction(2, 3)],
    "constants": [ZERO],
    "losses": zero_losses(),
    "lam": [Fraction(13, 30), Fraction(17, 30)],
    "steps": [Fraction(1, 4), Fraction(1, 100), Fraction(1, 100)],
    "goal": Fraction(2, 3),
}
"""The first step goes from 1/10 before the zero to 3/20 behind it; two short ones leave 13/100."""


def _check_repaired(
    effort: Effort,
    factor: Fraction = Fraction(1),
    last: bool = False,
    proofs: tuple[str, ...] = (BOUND, SLOWLY, LIMIT, SIGNS),
) -> Evidence:
    statement = Call.of(bounded, factor=factor, last=last)
    run = explore(statement, Call.of(lines), effort, tolerance=0.0)
    over = Witness.at(statement, "an overshoot that short steps do not make good", **OVERSHOT)
    return Evidence.of(
        KernelProof.of("sign_steps.v", "".join((DEFINITIONS, *proofs)), run, over, axioms=REALS)
    )


def _check_kept(effort: Effort, length: str = "printed") -> Evidence:
    half = Fraction(1, 2)
    shows = (
        "n_0 = n_1, α = 2, the first update: λ goes from (1/2, 1/2) to 1/2 ± √2, outside of [0, 1]"
    )
    return Evidence.of(
        Counterexample.at(
            Call.of(kept, length=length),
            shows,
            alpha=2,
            sign=1,
            lam=[half, half],
            shares=[half, half],
        )
    )


PRINTED = (
    r"Consider the case of $A=2$. Let Assumption 2, 3, 4, 5 and Assumption 1 hold. Choose "
    r"$\{\alpha_t\}$ such that $\lim\alpha_t=0,\sum_{t=1}^\infty\alpha_t=\infty$. Suppose "
    r"[$k\to\infty$]. We can find sufficiently large $T$ such that with high probability, "
    r"applying update rule (8) leads to "
    r"$|\lambda_a^{(T)}-\lambda_a^\star|\le\max\{|\lambda_a^{(0)}-\lambda_a^\star|-\sum_{t="
    r"1}^T\alpha_t,\alpha_T\}\to0$, where "
    r"$\lambda^\star\in\mathrm{argmin}_\lambda\sum_a[F_a(w_\lambda)]^2$."
)

CLAIMS = (
    Claim(
        id="fedfb/theorem-24",
        number="Theorem 24",
        line=1279,
        title="A = 2: |λ_a^(T) - λ_a*| ≤ max{|λ_a^(0) - λ_a*| - Σ α_t, α_T} → 0",
        printed=PRINTED,
        statement=r"The bound at $T=20$, $\alpha_t=\sqrt2/t$, for the minimiser $\lambda^\star$ "
        r"in the box next to $\lambda^{(T)}$.",
        kind="limit",
        hypotheses=(
            (
                "assumptions",
                "assumptions 1 to 5; α_t → 0, Σ α_t = ∞; the inner problem is solved exactly",
            ),
            ("minimiser", "λ* minimises F_1²"),
        ),
        scope="as stated; one parameter, one client, k → ∞",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "a zero",
                "losses for which F_1 has a zero on the line",
                lambda e: _check_printed(e, harmless=True),
            ),
        ),
        severity="theorem",
        erratum="'By lemma 23, F_dp has minimizer λ* such that μ(λ*) = 0' does not follow: F_1 "
        "may have no zero (here it is 1/4 at every λ, all of them minimisers), and λ then leaves "
        "every bounded set, the box of (6) first. Assume that F_1 has a zero on the line λ_0 + "
        "λ_1 = λ_0^(0) + λ_1^(0) within the box, and ∇F_1(w_λ) ≠ 0 there. The steps of one λ_a "
        "are α_t/√2, so the sum must be Σ α_t/√2 (fedfb/theorem-24/constant). And α_T bounds the "
        "rest only where α falls slowly.",
        notes="λ* is a point of that line, not any minimiser: F_1 = 0 is one equation in two "
        "unknowns. Theorem 6 inherits this. Assumption 5 prints E||∇|| < ∞ for a uniform bound "
        "on E||∇||².",
    ),
    Claim(
        id="fedfb/theorem-24/repaired",
        number="Theorem 24",
        line=1279,
        title="A = 2: where F_1 has its zero on the line, d_T ≤ max{d_0 - Σ a_t, max_s (a_s - "
        "Σ_{t>s} a_t)}, a_t = α_t/√2",
        printed=PRINTED,
        statement=r"$d_T=|\lambda_a^{(T)}-\lambda_a^\star|\le\max\{d_0-\sum_{t<T}a_t,"
        r"\max_{s<T}(a_s-\sum_{s<t<T}a_t)\}$, $a_t=\alpha_t/\sqrt2$; the right side tends to $0$ "
        r"if $a_t\to0$ and $\sum a_t=\infty$. If $\alpha_{t+1}\ge\alpha_t/2$ it is "
        r"$\max\{d_0-\sum a_t,a_{T-1}\}$.",
        kind="bound",
        hypotheses=(
            ("zero", "F_1 is positive before λ_1* on the line and negative behind it"),
            ("inside", "λ stays in the box of (6)"),
        ),
        scope="as stated; exact inner solutions",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant(
                "√2", "7/5 a_t for a_t, less than α_t", lambda e: _check_repaired(e, Fraction(7, 5))
            ),
            Mutant(
                "last step",
                "max{d_0 - Σ a_t, a_{T-1}} for any steps",
                lambda e: _check_repaired(e, last=True),
            ),
            Mutant(
                "a third",
                "α_{t+1} >= α_t/3 for α_t/2, in the theorem that is proved",
                lambda e: _check_repaired(e, proofs=(SLOWLY.replace("<= 2 *", "<= 3 *"),)),
            ),
        ),
        notes="F_1 falls along the line by lemma 23 (repaired), strictly where ∇F_1(w_λ) ≠ 0. "
        "The update (9) with μ = (-F_1, F_1) moves λ_1 by a_t in the direction of F_1's sign and "
        "keeps λ_0 + λ_1 (theorem signs). So d' <= max{d - a, a}; the bound follows by induction.",
    ),
    Claim(
        id="fedfb/theorem-24/constant",
        number="Eq. (88)",
        line=1305,
        title="(88) at every T, where F_1 has its zero on the line",
        printed=PRINTED,
        statement=r"The bound with $\sum\alpha_t$, at $T=2$.",
        kind="bound",
        hypotheses=(
            ("assumptions", "assumptions 1 to 5; the inner problem is solved exactly"),
            ("minimiser", "λ* is the zero of F_1 on the line"),
        ),
        scope="before the first change of sign",
        expected="refuted",
        check=_check_constant,
        mutants=(Mutant("α/√2", "Σ α_t/√2 and α_T/√2", lambda e: _check_constant(e, "repaired")),),
        severity="constant",
        erratum="By (85) a step moves λ_a by α_t √2/2: replace Σ α_t by Σ α_t/√2.",
    ),
    Claim(
        id="fedfb/eq-9",
        number="Eq. (9), algorithm 2, appendix C.1",
        line=206,
        title="the update (9) stays in the box of (6), for the step sizes of appendix C.1",
        printed=r"$\min_{\lambda\in[0,2\frac{n_{\star,0}}n]\times\dots\times[0,2\frac{n_{\star,"
        r"A-1}}n]}\sum_a(F_a(w_\lambda))^2$ (6); "
        r"$\lambda_a\leftarrow\lambda_a+\frac{\alpha}{\|\mu(\lambda)\|_2}\mu_a(\lambda)$ (9); "
        r"sample weight learning rates $\alpha\in\{0.001,0.05,0.08,0.1,0.2,0.5,1,2\}$ (C.1).",
        statement=r"$\lambda^{(1)}$ lies in the box, for $A=2$, $\alpha=2$.",
        kind="implication",
        hypotheses=(),
        scope="A = 2, α = 2, algorithm 2's initial λ_a = n_a/n",
        expected="refuted",
        check=_check_kept,
        mutants=(Mutant("short", "a step of α/100", lambda e: _check_kept(e, "short")),),
        severity="theorem",
        erratum="Project onto the box. With A = 2 every step moves both λ_a by α/√2; the "
        "narrower side of the box is at most 1 wide, so α = 2 leaves it from wherever λ is, and "
        "α = 1 at the first update. Weights of the inner problem are then negative, and w_λ need "
        "not exist.",
        reading="The paper does not say what happens at the boundary.",
        whose="implied",
    ),
)


def runaway() -> Picture:
    """λ_1 of the counterexample."""
    places = [2 / 3]
    for t in range(1, 21):
        places.append(places[-1] + 1 / t)  # F_1 = 1/4 throughout
    x = tuple(float(t) for t in range(21))
    edge = Curve("end of its box, 2 n_1/n", (0.0, 20.0), (4 / 3, 4 / 3))
    caption = "F_1 is never 0: λ_1 leaves its box and every other bound"
    return Picture(caption, "T", "λ_1", (Curve("λ_1", x, tuple(places)), edge))


PICTURES = {"fedfb/theorem-24": runaway}
