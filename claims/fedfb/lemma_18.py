"""FedFB, lemma 18 and remark 9: the form of LFT+FedAvg's solution on a finite X."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import CLASSICAL, REALS, Counterexample, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.finite_worlds import FiniteWorld, solved
from fairfl.claims.fedfb.theorem_17 import finite
from fairfl.claims.instances import explore

TINY = 1e-9
"""Prices and multipliers within this of zero are not asked for a sign: both come from a solver in
floats.
"""

DEFINITIONS = r"""
Definition sum {K} (ks : list K) (t : K -> R) : R := fold_right (fun k s => t k + s) 0 ks.
Definition gain {X K} (u : X -> R) (v : K -> X -> R) (lam : K -> R) (ks : list K) (x : X) : R :=
  u x + sum ks (fun k => lam k * v k x).
Definition feasible {X K} (v : K -> X -> R) (b eps : K -> R) (xs : list X) (ks : list K)
  (g : X -> R) : Prop :=
  (forall x, In x xs -> 0 <= g x <= 1)
  /\ (forall k, In k ks -> Rabs (sum xs (fun x => v k x * g x) + b k) <= eps k).
"""
DUALITY = (
    DEFINITIONS
    + r"""
Theorem weak_duality : forall X K (u : X -> R) (v : K -> X -> R) b eps lam xs ks g,
  feasible v b eps xs ks g ->
  sum xs (fun x => u x * g x)
  <= sum xs (fun x => Rmax 0 (gain u v lam ks x))
     + sum ks (fun k => Rabs (lam k) * eps k + lam k * b k).
"""
)
OPTIMAL = (
    DEFINITIONS
    + r"""
Theorem optimal : forall X K (u : X -> R) (v : K -> X -> R) b eps lam xs ks f g,
  feasible v b eps xs ks f -> feasible v b eps xs ks g ->
  (forall x, In x xs ->
     (0 < gain u v lam ks x -> f x = 1) /\ (gain u v lam ks x < 0 -> f x = 0)) ->
  (forall k, In k ks -> lam k * (sum xs (fun x => v k x * f x) + b k) = - Rabs (lam k) * eps k) ->
  sum xs (fun x => u x * g x) <= sum xs (fun x => u x * f x)
  /\ (sum xs (fun x => u x * g x) = sum xs (fun x => u x * f x) ->
      forall x, In x xs -> gain u v lam ks x <> 0 -> g x = f x).
"""
)
MULTIPLIERS = r"""
Definition sum (ks : list nat) (t : nat -> R) : R := fold_right (fun k s => t k + s) 0 ks.
Definition gain (u : nat -> R) (v : nat -> nat -> R) (lam : nat -> R) (n x : nat) : R :=
  u x + sum (seq 0 n) (fun k => lam k * v k x).
Definition feasible (v : nat -> nat -> R) (b eps : nat -> R) (m n : nat) (g : nat -> R) : Prop :=
  (forall x, In x (seq 0 m) -> 0 <= g x <= 1)
  /\ (forall k, In k (seq 0 n) -> Rabs (sum (seq 0 m) (fun x => v k x * g x) + b k) <= eps k).
Definition linear (a : (nat -> R) -> R) : Prop :=
  forall p q d e, a (fun x => p * d x + q * e x) = p * a d + q * a e.
Theorem multipliers : forall u v b eps m n f, feasible v b eps m n f ->
  (forall g, feasible v b eps m n g ->
     sum (seq 0 m) (fun x => u x * g x) <= sum (seq 0 m) (fun x => u x * f x)) ->
  exists lam,
    (forall x, In x (seq 0 m) ->
       (0 < gain u v lam n x -> f x = 1) /\ (gain u v lam n x < 0 -> f x = 0))
    /\ (forall k, In k (seq 0 n) ->
          lam k * (sum (seq 0 m) (fun x => v k x * f x) + b k) = - Rabs (lam k) * eps k)
    /\ forall g, (forall x, In x (seq 0 m) -> 0 <= g x <= 1) ->
         sum (seq 0 m) (fun x => gain u v lam n x * g x)
         <= sum (seq 0 m) (fun x => gain u v lam n x * f x).
"""


def printed(instance: dict[str, Any], allow: str = "deterministic") -> Case:
    """No feasible f is more accurate than the best feasible rule of the form [[Σ_i s_i p > 0]], a
    rule in {0, 1}.
    """
    world = FiniteWorld(instance["law"], instance["q"], [Fraction(1)], instance["eta"])
    eps = instance["eps"]
    rival = {(a, k): instance["f"][a][k] for a, k in world.cells}
    rules = [f for f in world.deterministic() if abs(world.local(f, 0)) <= eps]
    if allow == "randomised":
        rules.append(rival)
    best = max(world.accuracy(f) for f in rules)
    premises = {"feasible": abs(world.local(rival, 0)) <= eps, "finite X": True}
    return Case((Relation(world.accuracy(rival), "<=", best, "accuracy"),), premises)


def form(instance: dict[str, Any], sign: int = 1) -> Case:
    """fairfl's solution accepts where the Lagrangian gain is positive, rejects where negative, and
    is complementary.
    """
    world, f, found, eps = solved(instance)
    lams = [sign * float(v) for v in found.multipliers]
    relations = []
    for a, k in world.cells:
        gain = world.lagrangian_gain(lams, a, k)
        if abs(gain) > TINY:
            relations.append(Relation(f[a, k], "==", 1.0 if gain > 0 else 0.0, f"f(x_{k}, {a})"))
    for i, lam in enumerate(lams):
        local = world.local(f, i)
        relations.append(Relation(abs(local), "<=", eps[i], f"MD_{i}"))
        if abs(lam) > TINY:  # λ_i < 0 holds MD_i at ε_i, λ_i > 0 at -ε_i
            relations.append(Relation(local, "==", eps[i] if lam < 0 else -eps[i], f"MD_{i}"))
    return Case(tuple(relations))


def least(instance: dict[str, Any], sign: int = 1) -> Case:
    """fairfl's solution minimises P(ŷ ≠ y) - Σ_i λ_i MD_i over all f: it takes all positive
    Lagrangian gains.
    """
    world, f, found, _ = solved(instance)
    lams = [sign * float(v) for v in found.multipliers]
    nothing = dict.fromkeys(world.cells, 0.0)
    most = (
        1
        - world.accuracy(nothing)
        - sum(max(world.lagrangian_gain(lams, a, k), 0.0) for a, k in world.cells)
    )
    value = 1 - world.accuracy(f) - sum(lam * world.local(f, i) for i, lam in enumerate(lams))
    return Case((Relation(value, "<=", most, "(61)"),))


def residuals(sign: int = 1) -> dict[str, sympy.Expr]:
    """err(f) - err(f*) = Σ (f* - f) gain + Σ_i λ_i (MD_i(f) - MD_i(f*)), two clients of any share
    and weight.
    """
    law = [[[sympy.Symbol(f"p{i}{a}{k}") for k in (0, 1)] for a in (0, 1)] for i in (0, 1)]
    world = FiniteWorld(law, sympy.symbols("q0 q1"), sympy.symbols("w0 w1"), sympy.symbols("e0 e1"))
    lams = sympy.symbols("l0 l1")
    f, best = ({c: sympy.Symbol(f"{n}{c[0]}{c[1]}") for c in world.cells} for n in "fb")
    gained = sum(
        (best[c] - f[c]) * world.lagrangian_gain([sign * lam for lam in lams], *c)
        for c in world.cells
    )
    held = sum(lam * (world.local(f, i) - world.local(best, i)) for i, lam in enumerate(lams))
    return {"Lagrangian": world.accuracy(best) - world.accuracy(f) - gained - held}


NAMES = ("error", "local", "lams")


def local_objective(instance: dict[str, Any], factor: str = "one") -> Case:
    """The mean over clients of P(ŷ ≠ y | i) - λ_i MD_i is (61) with the same λ."""
    error, local, lams = instance["error"], instance["local"], instance["lams"]
    count = len(error)
    scale = count if factor == "I" else 1
    mean = (
        sum(
            (e - scale * lam * d for e, lam, d in zip(error, lams, local, strict=True)), Fraction(0)
        )
        / count
    )
    whole = sum(error, Fraction(0)) / count - sum(
        (lam * d for lam, d in zip(lams, local, strict=True)), Fraction(0)
    )
    return Case((Relation(mean, "==", whole, "objective"),))


def _check_printed(effort: Effort, allow: str = "deterministic") -> Evidence:
    one, zero = Fraction(1), Fraction(0)
    shows = (
        "group 0 at η = 9/10, group 1 at η = 1/10, ε = 1/2: accepting half of group 0 is "
        "right 7/10 of the time, "
    )
    shows += "each rule in {0, 1} that is feasible 1/2"
    one_client = Counterexample.at(
        Call.of(printed, allow=allow),
        shows,
        law=[[[one, zero], [zero, one]]],
        q=[Fraction(1, 2)],
        eta=[Fraction(9, 10), Fraction(1, 10)],
        eps=Fraction(1, 2),
        f=[[Fraction(1, 2), zero], [zero, zero]],
    )
    return Evidence.of(one_client)


def weighted() -> st.SearchStrategy[dict[str, Any]]:
    """Three clients of unequal shares and weights."""
    weight = st.lists(st.integers(1, 5), min_size=3, max_size=3)
    return st.tuples(finite(3), weight).map(lambda pair: {**pair[0], "weight": pair[1]})


def _check_repaired(effort: Effort, sign: int = 1, proof: str = MULTIPLIERS) -> Evidence:
    run = explore(
        Call.of(form, sign=sign),
        Call.of(weighted),
        effort,
        tolerance=1e-7,
        examples=effort.pick(60, 3000),
    )
    return Evidence.of(KernelProof.of("multipliers.v", proof, run, axioms=CLASSICAL))


def _check_sufficient(effort: Effort, sign: int = 1, proof: str = OPTIMAL) -> Evidence:
    beside = algebra(sign)
    return Evidence.of(KernelProof.of("cells.v", DUALITY + proof, beside, axioms=REALS))


def _check_remark_repaired(effort: Effort, sign: int = 1, proof: str = MULTIPLIERS) -> Evidence:
    run = explore(
        Call.of(least, sign=sign),
        Call.of(weighted),
        effort,
        tolerance=1e-9,
        examples=effort.pick(60, 3000),
    )
    return Evidence.of(KernelProof.of("multipliers.v", proof, run, axioms=CLASSICAL))


def algebra(sign: int) -> SymbolicZero:
    """The identity that makes a complementary rule optimal."""
    names = [f"{n}{a}{k}" for n in "fb" for a in (0, 1) for k in (0, 1)]
    names += [f"p{i}{a}{k}" for i in (0, 1) for a in (0, 1) for k in (0, 1)]
    names += ["q0", "q1", "w0", "w1", "e0", "e1", "l0", "l1"]
    point = {name: f"{j + 2}/{j + 7}" for j, name in enumerate(names)}
    return SymbolicZero(Call.of(residuals, sign=sign), "expand", (point,))


def _check_local(effort: Effort, factor: str = "one") -> Evidence:
    shows = (
        "two clients, MD_i = 1, λ_i = 1/2: the mean of the local objectives subtracts 1/2, "
        "(61) subtracts 1"
    )
    half = Fraction(1, 2)
    instance = {"error": [half, half], "local": [Fraction(1)] * 2, "lams": [half, half]}
    return Evidence.of(
        Counterexample.at(Call.of(local_objective, factor=factor), shows, **instance)
    )


def means(factor: str = "I") -> dict[str, sympy.Expr]:
    """The same with symbols, for three clients."""
    names = {name: sympy.symbols(f"{name}1:4") for name in NAMES}
    relation = local_objective(names, factor).relations[0]
    return {"objective": relation.left - relation.right}


def sums() -> st.SearchStrategy[dict[str, Any]]:
    """Errors, local disparities and multipliers of three clients, in eighths."""
    part = st.integers(-8, 8).map(lambda k: Fraction(k, 8))
    lists = {name: st.lists(part, min_size=3, max_size=3) for name in NAMES}
    return st.fixed_dictionaries(lists)


def _check_local_repaired(effort: Effort, factor: str = "I") -> Evidence:
    run = explore(Call.of(local_objective, factor=factor), Call.of(sums), effort, tolerance=0.0)
    point = {f"{name}{k}": f"{k}/{j + 2}" for j, name in enumerate(NAMES) for k in (1, 2, 3)}
    identity = SymbolicZero(Call.of(means, factor=factor), "expand", (point,))
    return Evidence.of(identity, extra=(run,))


PRINTED = (
    r"For finite $\mathcal X$, the solution to LFT+FedAvg($\varepsilon$) is given by "
    r"$f(x,a)=[[\sum_{i\in[I]}s_i(x,a)p_a^{(i)}(x)>0]]$, where "
    r"$s_i(x,a)=2\eta(x)-1+I\lambda_i\frac{[[a=0]]}{1-q}-I\lambda_i\frac{[[a=1]]}q$, for certain "
    r"$\lambda_0,\dots,\lambda_{I-1}\in\mathbb R$."
)
REMARK = (
    r"Based on the proof of Lemma 18 LFT+FedAvg($\varepsilon$) is equivalent to solving "
    r"$\min_{f\in\mathcal F}P(\hat y\ne y)-\sum_{i=0}^{I-1}\lambda_i(P(\hat y=1\mid "
    r"a=0,i)-P(\hat y=1\mid a=1,i))$. Under certain conditions [...] solving "
    r"LFT+FedAvg($\varepsilon$) is equivalent to minimizing $P(\hat y\ne y\mid "
    r"i)-\lambda_i(P(\hat y=1\mid a=0,i)-P(\hat y=1\mid a=1,i))$ locally and applying FedAvg."
)
FINITE = (
    ("finite X", "x takes finitely many values"),
    ("feasible", "the rival's |MD_i| is at most ε_i"),
)

CLAIMS = (
    Claim(
        id="fedfb/lemma-18",
        number="Lemma 18",
        line=960,
        title="finite X: LFT+FedAvg(ε) is solved by [[Σ_i s_i p_a^(i) > 0]] for some λ",
        printed=PRINTED,
        statement="Some rule with values in {0, 1} solves LFT+FedAvg(ε).",
        kind="existence",
        hypotheses=FINITE,
        scope="I = 1, as stated",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "randomised",
                "with randomised rules among them",
                lambda e: _check_printed(e, "randomised"),
            ),
        ),
        severity="theorem",
        erratum="On a finite X the solution is in general randomised where Σ_i s_i p_a^(i) = 0. "
        "In the proof: the multipliers of (57)-(58) have the wrong sign for λ' >= 0 (harmless, "
        "λ_i is free), (58) has -P(ŷ=1|a=0,i) for +; (55) and (59) lack Σ_i; (60) lacks the "
        "factor P(a), and (51)-(53) are wrong (fedfb/eq-51). q is common throughout, unsaid.",
        notes="With laws that have densities the statement may fail too: Σ_i s_i p_a^(i) can "
        "vanish on an interval.",
    ),
    Claim(
        id="fedfb/lemma-18/repaired",
        number="Lemma 18",
        line=960,
        title="finite X: solutions accept where Σ_i s_i > 0, reject where < 0, and may randomise "
        "where = 0",
        printed=PRINTED,
        statement=r"For some $\lambda$, $f=1$ where $\sum_i[P(x,a,i)(2\eta-1)\pm\lambda_iP(x\mid "
        r"a,i)]>0$ and $f=0$ where it is $<0$ ($+$ for $a=0$); $\lambda_i<0$ only if "
        r"$MD_i=\varepsilon_i$, $\lambda_i>0$ only if $MD_i=-\varepsilon_i$. "
        r"Shares $q_i$ and weights are arbitrary. Conversely, every feasible such $f$ is a "
        r"solution (fedfb/lemma-18/sufficient).",
        kind="existence",
        hypotheses=(FINITE[0],),
        scope="as stated: every solution, any number of clients and cells",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant(
                "sign", "the solver's λ with the other sign", lambda e: _check_repaired(e, sign=-1)
            ),
            Mutant(
                "signs exchanged",
                "λ_i > 0 only if MD_i = ε_i, in the theorem that is proved",
                lambda e: _check_repaired(
                    e, proof=MULTIPLIERS.replace("= - Rabs (lam k)", "= Rabs (lam k)")
                ),
            ),
        ),
        rests_on=("fedfb/lemma-18/sufficient",),
    ),
    Claim(
        id="fedfb/lemma-18/sufficient",
        number="Lemma 18",
        line=960,
        title="finite X: a feasible f of lemma 18's form, complementary to its λ, solves "
        "LFT+FedAvg(ε)",
        printed=PRINTED,
        statement=r"Let $s=\sum_i[P(x,a,i)(2\eta-1)\pm\lambda_iP(x\mid a,i)]$, $f=1$ where $s>0$, "
        r"$f=0$ where $s<0$, $f$ anything in $[0,1]$ where $s=0$, $|MD_i(f)|\le\varepsilon_i$ and "
        r"$\lambda_iMD_i(f)=-|\lambda_i|\varepsilon_i$. Then no feasible $f'$ is more accurate, "
        r"and one that is as accurate agrees with $f$ wherever $s\ne0$. For every $\lambda$ the "
        r"accuracy is at most $P(y=0)+\sum\max\{s,0\}+\sum_i|\lambda_i|\varepsilon_i$.",
        kind="implication",
        hypotheses=(FINITE[0],),
        scope="as stated; any number of clients, cells, weights and shares",
        expected="holds",
        check=_check_sufficient,
        mutants=(
            Mutant("sign", "the gain with -λ for λ", lambda e: _check_sufficient(e, sign=-1)),
            Mutant(
                "complementary",
                "λ MD <= 0 for λ MD = -|λ| ε, in the theorem that is proved",
                lambda e: _check_sufficient(
                    e, proof=OPTIMAL.replace("= - Rabs (lam k) * eps k", "<= 0")
                ),
            ),
        ),
        reading="The printed sum lacks the clients' weights and shares; where they are equal it "
        "is this s.",
    ),
    Claim(
        id="fedfb/remark-9",
        number="Remark 9",
        line=1011,
        title="LFT+FedAvg(ε) is equivalent to minimising P(ŷ≠y) - Σ λ_i MD_i(f)",
        printed=REMARK,
        statement="For some λ, the minimisers of (61) are the solutions of LFT+FedAvg(ε). (61) "
        "is linear over a cube, so a rule with values in {0, 1} is among its minimisers: one "
        "such rule would have to be a solution.",
        kind="equivalence",
        hypotheses=FINITE,
        scope="I = 1, finite X",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "randomised",
                "with randomised rules among them",
                lambda e: _check_printed(e, "randomised"),
            ),
        ),
        severity="remark",
        erratum="Every solution of LFT+FedAvg(ε) minimises (61) for the optimal λ, but not "
        "conversely: minimisers may be infeasible, or not complementary. They coincide where the "
        "minimiser is unique.",
    ),
    Claim(
        id="fedfb/remark-9/repaired",
        number="Remark 9",
        line=1011,
        title="solutions of LFT+FedAvg(ε) minimise P(ŷ≠y) - Σ λ_i MD_i(f) for some λ; feasible "
        "complementary minimisers solve it",
        printed=REMARK,
        statement=r"Every solution minimises (61) for some $\lambda$. A minimiser "
        r"$f$ with $|MD_i|\le\varepsilon_i$ and $\lambda_iMD_i=-|\lambda_i|\varepsilon_i$ solves "
        r"LFT+FedAvg($\varepsilon$) (fedfb/lemma-18/sufficient).",
        kind="implication",
        hypotheses=(FINITE[0],),
        scope="as stated: every solution, any number of clients and cells",
        expected="holds",
        check=_check_remark_repaired,
        mutants=(
            Mutant("sign", "+ Σ λ_i MD_i", lambda e: _check_remark_repaired(e, sign=-1)),
            Mutant(
                "the only one",
                "< for <= in the theorem that is proved",
                lambda e: _check_remark_repaired(
                    e, proof=MULTIPLIERS.replace("\n         <=", " <")
                ),
            ),
        ),
        rests_on=("fedfb/lemma-18/sufficient",),
    ),
    Claim(
        id="fedfb/remark-9/local",
        number="Remark 9",
        line=1017,
        title="the clients' objectives P(ŷ≠y | i) - λ_i MD_i average to (61)",
        printed=REMARK,
        statement=r"$\frac1I\sum_i[P(\hat y\ne y\mid i)-\lambda_iMD_i]=P(\hat y\ne "
        r"y)-\sum_i\lambda_iMD_i$.",
        kind="identity",
        hypotheses=(),
        scope="as stated; equal weights",
        expected="holds-repaired",
        check=_check_local,
        mutants=(
            Mutant("factor I", "I λ_i in the local objectives", lambda e: _check_local(e, "I")),
        ),
        severity="constant",
        erratum="With the λ_i of (61) the local objectives need I λ_i. With free λ_i nothing "
        "else changes.",
    ),
    Claim(
        id="fedfb/remark-9/local/repaired",
        number="Remark 9",
        line=1017,
        title="the clients' objectives P(ŷ≠y | i) - I λ_i MD_i average to (61)",
        printed=REMARK,
        statement=r"$\frac1I\sum_i[P(\hat y\ne y\mid i)-I\lambda_iMD_i]=P(\hat y\ne "
        r"y)-\sum_i\lambda_iMD_i$.",
        kind="identity",
        hypotheses=(),
        scope="I = 3, whose sums look the same for any I; equal weights",
        expected="holds",
        check=_check_local_repaired,
        mutants=(Mutant("as printed", "λ_i without I", lambda e: _check_local_repaired(e, "one")),),
    ),
)
