"""FedFB, lemma 18 and remark 9: the form of LFT+FedAvg's solution on a finite X."""

from fractions import Fraction
from itertools import product

import sympy
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.exact import Instance, dot
from fairfl.claims.fedfb.finite_worlds import FiniteWorld, finite, solved
from fairfl.claims.forms import Claim, Residual, counterexample, drawn, identity, proof

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
TINY = 1e-9
"""Signs of gains and multipliers below this, the rounding of the solver, are not compared."""


def printed(instance: Instance, allow: str = "deterministic") -> Case:
    """No feasible f is more accurate than the best feasible rule in {0, 1}: [[Σ_i s_i p > 0]]."""
    world = FiniteWorld(instance["law"], instance["q"], [ONE], instance["eta"])
    eps = instance["eps"]
    rival = {(a, k): instance["f"][a][k] for a, k in world.cells}
    bits = product((0, 1), repeat=len(world.cells))
    every_rule = (dict(zip(world.cells, values, strict=True)) for values in bits)
    rules = [f for f in every_rule if abs(world.local(f, 0)) <= eps]
    if allow == "randomised":
        rules.append(rival)
    best = max(world.accuracy(f) for f in rules)
    premises = {"feasible": abs(world.local(rival, 0)) <= eps, "finite X": True}
    return Case((Relation(world.accuracy(rival), "<=", best, "accuracy"),), premises)


RANDOMISED = counterexample(
    printed,
    "group 0 at η = 9/10, group 1 at η = 1/5, q = 2/5, ε = 4/7: accepting 4/7 of group 0, and the "
    "best feasible rule in {0, 1}, which accepts all",
    {
        "law": [[[ONE, ZERO], [ZERO, ONE]]],
        "q": ["2/5"],
        "eta": ["9/10", "1/5"],
        "eps": "4/7",
        "f": [["4/7", ZERO], [ZERO, ZERO]],
    },
    "229/350 <= 31/50",
)


def form(instance: Instance, sign: int = 1) -> Case:
    """fairfl's solution accepts where the gain is positive, else rejects, and is complementary."""
    world, f, solution, eps = solved(instance)
    lams = [sign * float(v) for v in solution.multipliers]
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


def weighted() -> st.SearchStrategy[Instance]:
    """Three clients of unequal shares and weights."""
    return finite(3, weight=st.lists(st.integers(1, 5), min_size=3, max_size=3))


RUN = drawn(form, weighted, tolerance=1e-7, examples=(40, 3000))
FORM = proof("multipliers.v", "multipliers", RUN)
"""Every solution accepts where the Lagrangian's gain is positive: it minimises (61)."""


def local_objective(instance: Instance, scale: int = 1) -> Case:
    """The mean over clients of P(ŷ ≠ y | i) - scale λ_i MD_i is (61) with the same λ."""
    error, count = instance["error"], len(instance["error"])
    penalty = dot(instance["lams"], instance["local"])
    mean = (sum(error) - scale * penalty) / count
    return Case((Relation(mean, "==", sum(error) / count - penalty, "objective"),))


def means(power: int = 1) -> dict[str, Residual]:
    """The same with I^power λ_i for λ_i: E and H are the sums of P(ŷ ≠ y | i) and λ_i MD_i."""
    count, error, penalty = sympy.symbols("I E H", positive=True)
    return {"objective": ((error - count**power * penalty) / count, (error / count - penalty))}


REMARK = (
    r"Based on the proof of Lemma 18 LFT+FedAvg($\varepsilon$) is equivalent to solving "
    r"$\min_{f\in\mathcal F}P(\hat y\ne y)-\sum_{i=0}^{I-1}\lambda_i(P(\hat y=1\mid "
    r"a=0,i)-P(\hat y=1\mid a=1,i))$. Under certain conditions [...] solving "
    r"LFT+FedAvg($\varepsilon$) is equivalent to minimizing $P(\hat y\ne y\mid "
    r"i)-\lambda_i(P(\hat y=1\mid a=0,i)-P(\hat y=1\mid a=1,i))$ locally and applying FedAvg."
)
FINITE = {"finite X": "x takes finitely many values"}
FEASIBLE = {**FINITE, "feasible": "the rival's |MD_i| is at most ε_i"}

CLAIMS = (
    Claim(
        "fedfb/lemma-18",
        960,
        "finite X: LFT+FedAvg(ε) is solved by [[Σ_i s_i p_a^(i) > 0]] for some λ",
        printed=r"For finite $\mathcal X$, the solution to LFT+FedAvg($\varepsilon$) is given by "
        r"$f(x,a)=[[\sum_{i\in[I]}s_i(x,a)p_a^{(i)}(x)>0]]$, where "
        r"$s_i(x,a)=2\eta(x)-1+I\lambda_i\frac{[[a=0]]}{1-q}-I\lambda_i\frac{[[a=1]]}q$, for "
        r"certain $\lambda_0,\dots,\lambda_{I-1}\in\mathbb R$.",
        statement="Some rule with values in {0, 1} solves LFT+FedAvg(ε).",
        kind="existence",
        hypotheses=FEASIBLE,
        scope="I = 1, as stated",
        check=RANDOMISED,
        mutants={"randomised": ("with randomised rules among them", {"allow": "randomised"})},
        severity="theorem",
        erratum="On a finite X the solution is in general randomised where Σ_i s_i p_a^(i) = 0. In "
        "the proof: (53) has one side of |v_i·f| <= ε_i only, and v_i of (51) divides by P(a) once "
        "too often (fedfb/eq-51), so that at ε = 0 accepting group 1 alone is admitted, MD = -1; "
        "(55) and (59) lack Σ_i, (60) the factor P(a); the multipliers of (57)-(58) have the wrong "
        "sign for λ' >= 0 (harmless, λ_i is free), and (58) has -P(ŷ=1|a=0,i) for +. q is common "
        "throughout, unsaid.",
        notes="With densities it may fail too: Σ_i s_i p_a^(i) can vanish on an interval.",
        repaired=dict(
            title="finite X: accept where Σ_i s_i > 0, reject where < 0, perhaps at random where 0",
            statement=r"For some $\lambda$, $f=1$ where $\sum_i[P(x,a,i)(2\eta-1)\pm\lambda_i"
            r"P(x\mid a,i)]>0$ and $f=0$ where it is $<0$ ($+$ for $a=0$); $\lambda_i<0$ only if "
            r"$MD_i=\varepsilon_i$, $\lambda_i>0$ only if $MD_i=-\varepsilon_i$. "
            r"Shares $q_i$ and weights are arbitrary. Conversely, every feasible such $f$ is a "
            r"solution (fedfb/lemma-18/sufficient).",
            hypotheses=FINITE,
            scope="as stated: every solution, any number of clients and cells",
            check=FORM,
            mutants={"sign": ("the solver's λ with the other sign", {"sign": -1})},
            rests_on=("fedfb/lemma-18/sufficient",),
        ),
    ),
    Claim(
        "fedfb/lemma-18/sufficient",
        960,
        "finite X: a feasible f of lemma 18's form, complementary to its λ, solves LFT+FedAvg(ε)",
        printed="see fedfb/lemma-18",
        statement=r"Let $s=\sum_i[P(x,a,i)(2\eta-1)\pm\lambda_iP(x\mid a,i)]$, $f=1$ where $s>0$, "
        r"$f=0$ where $s<0$, $f$ anything in $[0,1]$ where $s=0$, $|MD_i(f)|\le\varepsilon_i$ and "
        r"$\lambda_iMD_i(f)=-|\lambda_i|\varepsilon_i$. Then no feasible $f'$ is more accurate, "
        r"and one that is as accurate agrees with $f$ wherever $s\ne0$. For every $\lambda$ the "
        r"accuracy is at most $P(y=0)+\sum\max\{s,0\}+\sum_i|\lambda_i|\varepsilon_i$.",
        kind="implication",
        hypotheses=FINITE,
        scope="as stated; any number of clients, cells, weights and shares",
        whose="implied",
        check=proof("cells.v", "weak_duality optimal", RUN),
        mutants={"sign": ("the gain with -λ for λ", {"sign": -1})},
        reading="The printed sum lacks weights and shares; where they are equal it is this s.",
    ),
    Claim(
        "fedfb/remark-9",
        1011,
        "LFT+FedAvg(ε) is equivalent to minimising P(ŷ≠y) - Σ λ_i MD_i(f)",
        printed=REMARK,
        statement="For some λ, the minimisers of (61) are the solutions of LFT+FedAvg(ε). (61) "
        "is linear over a cube, so a rule with values in {0, 1} is among its minimisers: one "
        "such rule would have to be a solution.",
        kind="equivalence",
        hypotheses=FEASIBLE,
        scope="I = 1, finite X",
        check=RANDOMISED,
        mutants={"randomised": ("with randomised rules among them", {"allow": "randomised"})},
        severity="remark",
        erratum="Every solution of LFT+FedAvg(ε) minimises (61) for the optimal λ, but not "
        "conversely: minimisers may be infeasible, or not complementary. They coincide where the "
        "minimiser is unique.",
        repaired=dict(
            title="solutions of LFT+FedAvg(ε) minimise P(ŷ≠y) - Σ λ_i MD_i(f) for some λ; "
            "feasible complementary minimisers solve it",
            statement=r"Every solution minimises (61) for some $\lambda$. A minimiser "
            r"$f$ with $|MD_i|\le\varepsilon_i$ and $\lambda_iMD_i=-|\lambda_i|\varepsilon_i$ "
            r"solves LFT+FedAvg($\varepsilon$) (fedfb/lemma-18/sufficient).",
            kind="implication",
            hypotheses=FINITE,
            scope="as stated: every solution, any number of clients and cells",
            check=FORM,
            mutants={"sign": ("+ Σ λ_i MD_i", {"sign": -1})},
            rests_on=("fedfb/lemma-18/sufficient",),
        ),
    ),
    Claim(
        "fedfb/remark-9/local",
        1017,
        "the clients' objectives P(ŷ≠y | i) - λ_i MD_i average to (61)",
        printed=REMARK,
        kind="identity",
        scope="as stated; equal weights",
        check=counterexample(
            local_objective,
            "three clients: the means of the local objectives, and (61)",
            {
                "error": ["1/7", "2/7", "3/11"],
                "local": ["2/5", "-1/3", "3/4"],
                "lams": ["2/9", "3/5", "2/5"],
            },
            "3551/20790 == 311/6930",
        ),
        mutants={"factor I": ("I λ_i in the local objectives", {"scale": 3})},
        severity="constant",
        erratum="With the λ_i of (61) the local objectives need I λ_i. With free λ_i nothing else "
        "changes.",
        repaired=dict(
            title="the clients' objectives P(ŷ≠y | i) - I λ_i MD_i average to (61)",
            statement=r"$\frac1I\sum_i[P(\hat y\ne y\mid i)-I\lambda_iMD_i]=P(\hat y\ne "
            r"y)-\sum_i\lambda_iMD_i$.",
            scope="any number of clients; equal weights",
            check=identity(means, "-29/60"),
            mutants={"as printed": ("λ_i without I", {"power": 0})},
        ),
    ),
)
