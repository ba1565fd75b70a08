"""FedFB, lemma 7: CFL(ε) is solved by one threshold on η for each group."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.worlds import Population, Rule, World, gain, rate, worlds
from fairfl.claims.instances import explore
from fairfl.claims.picture import Curve, Picture
from fairfl.claims.search import Attack

GAP = {
    "laws": [[[1, 0, 0, 3], [3, 0, 0, 1]]],
    "q": Fraction(1, 2),
    "low": Fraction(-1, 4),
    "high": Fraction(1, 4),
}
"""Half-empty densities: u is never between 1/4 and 3/4, so g = 1/2 on all of [-1/4, 1/4]."""

DEFINITIONS = r"""
Definition integral {X} (L : (X -> R) -> Prop) (E : (X -> R) -> R) : Prop :=
  (forall a b f g, L f -> L g -> L (fun x => a * f x + b * g x)
     /\ E (fun x => a * f x + b * g x) = a * E f + b * E g)
  /\ (forall f g, L f -> (forall x, f x = g x) -> L g /\ E f = E g)
  /\ (forall f, L f -> (forall x, 0 <= f x) -> 0 <= E f).
Definition threshold {X} (s f : X -> R) : Prop :=
  forall x, 0 <= f x <= 1 /\ (0 < s x -> f x = 1) /\ (s x < 0 -> f x = 0).
Definition rule {X} (L : (X -> R) -> Prop) (u v f : X -> R) : Prop :=
  (forall x, 0 <= f x <= 1) /\ L (fun x => u x * f x) /\ L (fun x => v x * f x).
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
"""
INCREASES = (
    DEFINITIONS
    + r"""
Theorem increases : forall X L E (u v : X -> R) lam mu f g,
  @integral X L E -> rule L u v f -> rule L u v g ->
  threshold (fun x => u x + lam * v x) f -> threshold (fun x => u x + mu * v x) g -> lam < mu ->
  E (fun x => v x * f x) <= E (fun x => v x * g x).
"""
)
SOLVES = (
    DEFINITIONS
    + r"""
Theorem solves : forall X L E (u v : X -> R) lam eps free f g, @integral X L E ->
  rule L u v free -> rule L u v f -> rule L u v g ->
  threshold (fun x => u x + 0 * v x) free -> threshold (fun x => u x + lam * v x) f -> 0 <= eps ->
  E (fun x => v x * f x) = clip eps (E (fun x => v x * free x)) ->
  Rabs (E (fun x => v x * g x)) <= eps ->
  E (fun x => u x * g x) <= E (fun x => u x * f x)
  /\ (E (fun x => u x * g x) = E (fun x => u x * f x) ->
      E (fun x => Rabs (u x + lam * v x) * Rabs (f x - g x)) = 0
      \/ E (fun x => Rabs (u x + 0 * v x) * Rabs (free x - f x)) = 0
         /\ E (fun x => Rabs (u x + 0 * v x) * Rabs (free x - g x)) = 0).
"""
)
ONTO = r"""
Definition distribution (F : R -> R) : Prop :=
  continuity F /\ (forall t, t <= 0 -> F t = 0) /\ (forall t, 1 <= t -> F t = 1).
Definition g (F0 F1 : R -> R) (q lam : R) : R :=
  (1 - F0 (1/2 - lam / (2 * (1 - q)))) - (1 - F1 (1/2 + lam / (2 * q))).
Theorem onto : forall F0 F1 q, distribution F0 -> distribution F1 -> 0 < q < 1 ->
  continuity (g F0 F1 q)
  /\ forall v, -1 <= v <= 1 -> exists lam, Rabs lam <= Rmax q (1 - q) /\ g F0 F1 q lam = v.
"""


def increasing(instance: dict[str, Any], strict: bool = True) -> Case:
    """g(low) < g(high) for low < high in [-max(q, 1-q), max(q, 1-q)]."""
    population = World.of(instance["laws"], instance["q"]).pooled
    low, high = instance["low"], instance["high"]
    if not -population.reach <= low < high <= population.reach:
        raise ValueError(f"low < high must be in the domain of g, got {low}, {high}")
    relation = Relation(
        population.g(low), "<" if strict else "<=", population.g(high), "g increases"
    )
    return Case((relation,), {"q in (0, 1)": 0 < population.q < 1})


def optimal(instance: dict[str, Any], shares: str = "right") -> Case:
    """No rival with |MD| <= ε is more accurate than the rule of any λ in g⁻¹(sign(g(0)) min(ε,
    |g(0)|)).
    """
    population, rule, _ = solution(instance, shares)
    accuracy, eps = population.accuracy(rule), instance["eps"]
    goal = -eps + 2 * eps * instance["goal"]
    first = max(goal, Fraction(0)) + instance["rate"] * (1 - abs(goal))
    cuts = quantile(population.laws[0], first), quantile(population.laws[1], first - goal)
    return Case(
        (
            Relation(population.accuracy(cuts), "<=", accuracy, "thresholds of any rates"),
            Relation(
                step_accuracy(population, instance["rival"], eps),
                "<=",
                accuracy,
                "any step function",
            ),
        )
    )


def reached(instance: dict[str, Any], factor: Fraction = Fraction(1)) -> Case:
    """g is continuous and onto [-1, 1]: it takes sign(g(0)) min(ε, |g(0)|), and each value between.

    Between neighbouring nodes g is linear, so it is continuous where its pieces meet there.
    """
    population, rule, target = solution(instance, "right")
    ends = population.g(-factor * population.reach), population.g(factor * population.reach)
    value = 2 * instance["goal"] - 1
    return Case(
        (
            Relation(population.difference(rule), "==", target, "MD of the rule"),
            Relation(abs(target), "<=", instance["eps"], "feasible"),
            Relation(ends[0], "==", -1, "g at the left end"),
            Relation(ends[1], "==", 1, "g at the right end"),
            Relation(population.g(population.preimage(value)[0]), "==", value, "onto"),
        )
    )


def solution(instance: dict[str, Any], shares: str) -> tuple[Population, Rule, Fraction]:
    """The population, the rule of lemma 7, and the MD it should have."""
    population = World.of(instance["laws"], instance["q"]).pooled
    eps, start = instance["eps"], population.g(Fraction(0))
    target = min(eps, start) if start >= 0 else max(-eps, start)
    solver = population if shares == "right" else Population(population.laws, 1 - population.q)
    low, high = solver.preimage(target)
    return population, solver.rule(low + instance["pick"] * (high - low)), target


def quantile(law: tuple[Fraction, ...], share: Fraction) -> Fraction:
    """A threshold t with P(u > t) = share."""
    cells = len(law)
    for k in range(cells):
        low, high = rate(law, Fraction(k + 1, cells)), rate(law, Fraction(k, cells))
        if low <= share <= high and low < high:
            return Fraction(k + 1, cells) - (share - low) / (high - low) / cells
    raise ValueError(f"share must be in [0, 1], got {share}")


def step_accuracy(population: Population, rival: list[list[Fraction]], eps: Fraction) -> Fraction:
    """The accuracy of f(u, a) = rival[a][cell of u], moved towards f = 1/2 until its |MD| is at
    most ε.
    """
    rates = [sum(f * m for f, m in zip(rival[a], population.laws[a], strict=True)) for a in (0, 1)]
    difference = rates[0] - rates[1]
    keep = min(Fraction(1), eps / abs(difference)) if difference else Fraction(1)
    total = population.negatives
    for a, share in enumerate(population.shares):
        law, cells = population.laws[a], len(population.laws[a])
        for k, f in enumerate(rival[a]):
            cell = gain(law, Fraction(k, cells)) - gain(law, Fraction(k + 1, cells))
            total += share * (keep * f + (1 - keep) / 2) * cell
    return total


def residuals(shares: str = "right") -> dict[str, sympy.Expr]:
    """err(f) - err(f*) = E[(f* - f) s] + λ(MD(f) - MD(f*)) on two points of X: linear, so true of
    all sums.
    """
    q, lam = sympy.symbols("q lam")
    parts = {0: 1 - q, 1: q} if shares == "right" else {0: q, 1: 1 - q}
    error = difference = slack = sympy.Integer(0)
    for a, sign in ((0, 1), (1, -1)):
        share = (1 - q, q)[a]
        for k in (0, 1):
            u, m, f, best = sympy.symbols(f"u{a}{k} m{a}{k} f{a}{k} b{a}{k}")
            error += share * m * (f - best) * (1 - 2 * u)
            difference += sign * m * (f - best)
            slack += share * m * (best - f) * (2 * u - 1 + sign * lam / parts[a])
    return {"Lagrangian": error - slack - lam * difference}


def _points() -> tuple[dict[str, str], ...]:
    names = [f"{n}{a}{k}" for n in "umfb" for a in (0, 1) for k in (0, 1)]
    return (
        {
            "q": "1/3",
            "lam": "-2/7",
            **{name: f"{3 * j + 1}/{2 * j + 5}" for j, name in enumerate(names)},
        },
    )


def _check_printed(effort: Effort, strict: bool = True) -> Evidence:
    shows = (
        "u avoids (1/4, 3/4) in both groups; g = 1/2 on [-1/4, 1/4], so g is not strictly "
        "increasing, g^-1 no "
    )
    shows += "function"
    return Evidence.of(Counterexample.at(Call.of(increasing, strict=strict), shows, **GAP))


def _check_repaired(
    effort: Effort, shares: str = "right", identity: str = "right", proof: str = SOLVES
) -> Evidence:
    drawn = Call.of(rivals)
    family = Attack([(0, 1)] * 4, _hard, steps=effort.pick(150, 500), starts=[[0.1, 0.5, 1.0, 0.3]])
    best = explore(Call.of(optimal, shares=shares), drawn, effort, tolerance=0.0, attacks=[family])
    algebra = SymbolicZero(Call.of(residuals, shares=identity), "together", _points())
    return Evidence.of(KernelProof.of("lemma_7.v", proof + INCREASES, algebra, best, axioms=REALS))


def _check_reached(effort: Effort, factor: Fraction = Fraction(1), proof: str = ONTO) -> Evidence:
    run = explore(Call.of(reached, factor=factor), Call.of(rivals), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("lemma_7_onto.v", proof, run, axioms=REALS))


def rivals() -> st.SearchStrategy[dict[str, Any]]:
    """One client, a budget, a rate that may be tied, and a rule to compare with."""
    rate01 = st.integers(0, 16).map(lambda k: Fraction(k, 16))
    lists = st.lists(st.lists(rate01, min_size=4, max_size=4), min_size=2, max_size=2)
    extra = {"eps": rate01, "pick": rate01, "goal": rate01, "rate": rate01, "rival": lists}
    return st.tuples(worlds(1, least=0), st.fixed_dictionaries(extra)).map(
        lambda pair: {**pair[0], **pair[1]}
    )


def _hard(point: list[float]) -> dict[str, Any]:
    eps, pick, goal, share = (Fraction(v).limit_denominator(10_000) for v in point)
    plain = [[Fraction(0)] * 3, [Fraction(1)] * 3]
    laws = [[[1, 2, 5], [4, 0, 1]]]
    return {
        "laws": laws,
        "q": Fraction(1, 5),
        "eps": eps,
        "pick": pick,
        "goal": goal,
        "rate": share,
        "rival": plain,
    }


PRINTED = (
    r"Let $q\in(0,1)$. Define $g:[-\max(q,1-q),\max(q,1-q)]\to[-1,1]$ as "
    r"$g(\lambda)=\int_{[\eta^{-1}(\frac12-\frac{\lambda}{2(1-q)}),+\infty]}d\mathcal "
    r"P_0-\int_{[\eta^{-1}(\frac12+\frac{\lambda}{2q}),+\infty]}d\mathcal P_1$, then "
    r"$f_\varepsilon^{CFL}=\{[[s(x,a)>0]]+\alpha[[s(x,a)=0]]:\alpha\in[0,1]\}$, where "
    r"$s(x,0)=2\eta(x)-1+\frac{\lambda}{1-q}$, $s(x,1)=2\eta(x)-1-\frac{\lambda}{q}$, "
    r"$\lambda=g^{-1}(\mathrm{sign}(g(0))\min\{\varepsilon,|g(0)|\})$. [Proof:] Note that $g$ is "
    r"a strictly monotone increasing function."
)
SETTING = (
    ("density", "x | a has a density, η is strictly increasing"),
    ("q in (0, 1)", "both groups are there"),
)

CLAIMS = (
    Claim(
        id="fedfb/lemma-7",
        number="Lemma 7",
        line=388,
        title="CFL(ε) is solved by thresholds at λ = g⁻¹(...), g strictly increasing",
        printed=PRINTED,
        statement=r"$g$ is strictly increasing on $[-\max(q,1-q),\max(q,1-q)]$, so that "
        r"$\lambda=g^{-1}(\cdot)$ is defined.",
        kind="uniqueness",
        hypotheses=SETTING,
        scope="as stated",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "weakly increasing",
                "g(low) <= g(high) in place of <",
                lambda e: _check_printed(e, strict=False),
            ),
        ),
        severity="theorem",
        erratum="g is non-decreasing, and strictly increasing only if no interval of thresholds "
        "has mass zero in both groups (full support and η onto (0, 1), say). Either assume that, "
        "or let λ be any point of g⁻¹(·).",
        notes="Lemmas 9, 10, 12, 14, 15 and 20 inherit the gap: where clients live on different "
        "parts of X, g_i⁻¹ is a set, and the ensemble depends on which point of it is taken (see "
        "fedfb/lemma-10/gaps and fedfb/lemma-14/gaps).",
    ),
    Claim(
        id="fedfb/lemma-7/repaired",
        number="Lemma 7",
        line=388,
        title="CFL(ε) is solved by thresholds at any λ with g(λ) = sign(g(0)) min(ε, |g(0)|)",
        printed=PRINTED,
        statement=r"$g$ does not decrease; for every $\lambda$ "
        r"with $g(\lambda)=\mathrm{sign}(g(0))\min\{\varepsilon,|g(0)|\}$ the rule $[[s>0]]$ "
        r"solves CFL($\varepsilon$). For $f^*=[[s>0]]$ and all $f$: "
        r"$e(f)-e(f^*)=E[|s||f-f^*|]+\lambda(MD(f)-MD(f^*))$.",
        kind="implication",
        hypotheses=SETTING,
        scope="as stated; the proof: any linear and monotone expectation, randomised ties",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant(
                "shares exchanged",
                "λ/q in group 0 and λ/(1-q) in group 1",
                lambda e: _check_repaired(e, "wrong"),
            ),
            Mutant(
                "exchanged in s",
                "the same in the identity alone",
                lambda e: _check_repaired(e, identity="wrong"),
            ),
            Mutant(
                "more accurate",
                "< for <= in the theorem that is proved",
                lambda e: _check_repaired(
                    e, proof=SOLVES.replace("g x) <= E (fun x => u", "g x) < E (fun x => u")
                ),
            ),
        ),
        reading="x is continuous, as section 3 assumes. With atoms the rule needs its own "
        "randomisation in each group, not one α: see fedfb/lemma-18.",
    ),
    Claim(
        id="fedfb/lemma-7/onto",
        number="Lemma 7",
        line=388,
        title="g is continuous and onto [-1, 1], so that the λ of lemma 7 exists",
        printed=PRINTED,
        statement=r"$g$ is continuous, $g(\mp\max(q,1-q))=\mp1$, and takes all values between.",
        kind="existence",
        hypotheses=SETTING,
        scope="as stated; the proof: continuous distribution functions of u = η(x)",
        expected="holds",
        check=_check_reached,
        mutants=(
            Mutant(
                "99 %",
                "g = ±1 at 0.99 times the ends",
                lambda e: _check_reached(e, Fraction(99, 100)),
            ),
            Mutant(
                "a wider range",
                "every value in [-1.01, 1.01], in the theorem that is proved",
                lambda e: _check_reached(e, proof=ONTO.replace("v <= 1 ->", "v <= 1.01 ->")),
            ),
        ),
    ),
)


def flat() -> Picture:
    """g of the counterexample."""
    population = World.of(GAP["laws"], GAP["q"]).pooled
    x, y = zip(*((float(lam), float(v)) for lam, v in population.nodes), strict=True)
    return Picture(
        "g is flat where u = η(x) has no mass: g⁻¹(1/2) = [-1/4, 1/4]",
        "λ",
        "g(λ)",
        (Curve("g", x, y),),
    )


PICTURES = {"fedfb/lemma-7": flat}
