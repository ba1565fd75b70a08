"""FedFB, lemma 7, remark 5: CFL(ε) is solved by a threshold on η for each group; (10), its g."""

from fractions import Fraction
from itertools import product

import sympy
from hypothesis import strategies as st

from fairfl.claims.case import Case, Operator, Relation
from fairfl.claims.exact import Instance, dot
from fairfl.claims.fedfb.worlds import (
    HALF,
    ONE,
    Clients,
    Population,
    Rule,
    gain,
    parts,
    rate,
    worlds,
)
from fairfl.claims.forms import Claim, Residual, counterexample, exactly, identity, proof

SETTING = {
    "density": "x | a has a density, η is strictly increasing",
    "q in (0, 1)": "both groups are there",
    "budget": "ε >= 0",
}


def increasing(instance: Instance, operator: Operator = "<") -> Case:
    """g(low) < g(high)."""
    people = Clients.of(instance["laws"], instance["q"]).pooled
    low, high = instance["low"], instance["high"]
    relation = Relation(people.g(low), operator, people.g(high), "g increases")
    is_inside = -people.reach <= low < high <= people.reach
    premises = {"q in (0, 1)": 0 < people.q < 1, "domain": is_inside}
    return Case((relation,), premises)


def optimal(instance: Instance, shares: str = "right", part: Fraction = ONE) -> Case:
    """The rule of any λ in g⁻¹(sign(g(0)) min(ε, |g(0)|)) has |MD| <= ε, and is more accurate than
    thresholds of other rates with |MD| <= ε: of another λ, drawn, or next to it; and than a step
    function. ``part`` multiplies the minimum.
    """
    people, rule, _ = solution(instance, shares, part)
    eps, accuracy = instance["eps"], people.accuracy(rule)
    goal = -eps + 2 * eps * instance["goal"]
    first = max(goal, Fraction(0)) + instance["rate"] * (1 - abs(goal))
    best_rates = people.rates(rule)
    rivals = [people.rates(people.rule(people.preimage(goal)[0])), (first, first - goal)]
    for size in (instance["rate"] / 100, instance["rate"] / 10_000):
        pairs = product((-size, 0, size), repeat=2)
        rivals += [(best_rates[0] + a, best_rates[1] + b) for a, b in pairs]
    relations = [
        Relation(abs(people.difference(rule)), "<=", eps, "feasible"),
        Relation(step_accuracy(people, instance["rival"], eps), "<=", accuracy, "step function"),
    ]
    for rates in rivals:
        if min(rates) >= 0 and max(rates) <= 1 and abs(rates[0] - rates[1]) <= eps:
            cuts = quantile(people.laws[0], rates[0]), quantile(people.laws[1], rates[1])
            operator = "==" if rates == best_rates else "<"
            relations.append(Relation(people.accuracy(cuts), operator, accuracy, "thresholds"))
    return Case(tuple(relations), setting(people, eps))


def setting(people: Population, eps: Fraction) -> dict[str, bool]:
    """Both groups are there, and the budget is one."""
    return {"q in (0, 1)": 0 < people.q < 1, "budget": eps >= 0}


def reached(instance: Instance, factor: Fraction = ONE) -> Case:
    """g is -1 and 1 at its ends, onto [-1, 1], and takes sign(g(0)) min(ε, |g(0)|)."""
    people, rule, target = solution(instance)
    ends = people.g(-factor * people.reach), people.g(factor * people.reach)
    value = 2 * instance["goal"] - 1
    return Case(
        (
            Relation(people.difference(rule), "==", target, "MD of the rule"),
            Relation(ends[0], "==", -1, "g at the left end"),
            Relation(ends[1], "==", 1, "g at the right end"),
            Relation(people.g(people.preimage(value)[0]), "==", value, "onto"),
        ),
        setting(people, instance["eps"]),
    )


def inside(instance: Instance) -> Case:
    """The two arguments of η⁻¹ in (10) lie in [0, 1]."""
    q, lam = instance["q"], instance["lam"]
    arguments = {"group 0": HALF - lam / (2 * (1 - q)), "group 1": HALF + lam / (2 * q)}
    relations = (Relation(abs(2 * u - 1), "<=", 1, name) for name, u in arguments.items())
    return Case(tuple(relations), {"domain": abs(lam) <= max(q, 1 - q)})


def solution(
    instance: Instance, shares: str = "right", part: Fraction = ONE
) -> tuple[Population, Rule, Fraction]:
    """The population, the rule of lemma 7, and the MD it should have."""
    people = Clients.of(instance["laws"], instance["q"]).pooled
    start = people.g(Fraction(0))
    size = part * min(instance["eps"], abs(start))
    target = size if start >= 0 else -size
    solver = people if shares == "right" else Population(people.laws, 1 - people.q)
    low, high = solver.preimage(target)
    return people, solver.rule(low + instance["pick"] * (high - low)), target


def quantile(law: tuple[Fraction, ...], share: Fraction) -> Fraction:
    """A threshold t with P(u > t) = share."""
    cells = len(law)
    for k in range(cells):
        low, high = rate(law, Fraction(k + 1, cells)), rate(law, Fraction(k, cells))
        if low <= share <= high and low < high:
            return Fraction(k + 1, cells) - (share - low) / (high - low) / cells
    raise ValueError(f"share must be in [0, 1], got {share}")


def step_accuracy(people: Population, rival: list[list[Fraction]], eps: Fraction) -> Fraction:
    """The accuracy of f(u, a) = rival[a][cell of u], moved towards 1/2 until |MD| is at most ε."""
    rates = [dot(rival[a], people.laws[a]) for a in (0, 1)]
    difference = rates[0] - rates[1]
    weight = min(ONE, eps / abs(difference)) if difference else ONE
    total = people.negatives
    for law, share, rule in zip(people.laws, people.shares, rival, strict=True):
        above = [gain(law, Fraction(k, len(law))) for k in range(len(law) + 1)]
        for f, left, right in zip(rule, above, above[1:], strict=False):
            total += share * (weight * f + (1 - weight) / 2) * (left - right)
    return total


def rivals() -> st.SearchStrategy[Instance]:
    """One client, a budget, a rate that may be tied, and a rule to compare with."""
    unit = parts(16)
    rule = st.lists(st.lists(unit, min_size=4, max_size=4), min_size=2, max_size=2)
    return worlds(1, minimum=0, eps=unit, pick=unit, goal=unit, rate=unit, rival=rule)


def residuals(sign: int = 1, factor: int = 2) -> dict[str, Residual]:
    """s(x, a) of lemma 7 minus 2 (η(x) - t_a), by the thresholds (28); ``sign`` is that of t_0."""
    eta, lam = sympy.symbols("eta lambda", real=True)
    q = sympy.Symbol("q", positive=True)
    half = sympy.Rational(1, 2)
    thresholds = (half - sign * lam / (factor * (1 - q)), half + lam / (2 * q))
    scores = (2 * eta - 1 + lam / (1 - q), 2 * eta - 1 - lam / q)
    return {
        f"group {a}": (score, 2 * (eta - threshold))
        for a, (score, threshold) in enumerate(zip(scores, thresholds, strict=True))
    }


RUN = exactly(optimal, rivals, examples=(24, 4000), moved="q eps")
SIZES = {
    "0.99": ("λ of 0.99 min(ε, |g(0)|)", {"part": "99/100"}),
    "1.01": ("λ of 1.01 min(ε, |g(0)|)", {"part": "101/100"}),
}

CLAIMS = (
    Claim(
        "fedfb/lemma-7",
        388,
        "CFL(ε) is solved by thresholds at λ = g⁻¹(...), g strictly increasing",
        printed=r"Let $q\in(0,1)$. Define $g:[-\max(q,1-q),\max(q,1-q)]\to[-1,1]$ as "
        r"$g(\lambda)=\int_{[\eta^{-1}(\frac12-\frac{\lambda}{2(1-q)}),+\infty]}d\mathcal "
        r"P_0-\int_{[\eta^{-1}(\frac12+\frac{\lambda}{2q}),+\infty]}d\mathcal P_1$, then "
        r"$f_\varepsilon^{CFL}=\{[[s(x,a)>0]]+\alpha[[s(x,a)=0]]:\alpha\in[0,1]\}$, where "
        r"$s(x,0)=2\eta(x)-1+\frac{\lambda}{1-q}$, $s(x,1)=2\eta(x)-1-\frac{\lambda}{q}$, "
        r"$\lambda=g^{-1}(\mathrm{sign}(g(0))\min\{\varepsilon,|g(0)|\})$. [Proof:] Note that $g$ "
        r"is a strictly monotone increasing function.",
        statement=r"$g$ is strictly increasing on $[-\max(q,1-q),\max(q,1-q)]$, so that "
        r"$\lambda=g^{-1}(\cdot)$ is defined.",
        kind="uniqueness",
        hypotheses={**SETTING, "domain": "low < high, both in [-max(q, 1-q), max(q, 1-q)]"},
        severity="step",
        check=counterexample(
            increasing,
            "u avoids (1/4, 3/4) in both groups: g = 1/2 on all of [-1/4, 1/4], so g is not "
            "strictly increasing, g^-1 no function",
            {"laws": [[[1, 0, 0, 3], [3, 0, 0, 1]]], "q": HALF, "low": -HALF / 2, "high": HALF / 2},
            "1/2 < 1/2",
        ),
        mutants={"weakly": ("g(low) <= g(high) in place of <", {"operator": "<="})},
        erratum="g is non-decreasing, and strictly increasing only if no interval of thresholds "
        "has mass zero in both groups (full support and η onto (0, 1), say). Either assume that, "
        "or let λ be any point of g⁻¹(·).",
        notes="Lemmas 9, 10, 12, 14, 15 and 20 inherit the gap: where clients live on different "
        "parts of X, g_i⁻¹ is a set, and the ensemble depends on which point of it is taken (see "
        "fedfb/lemma-10/gaps and fedfb/lemma-14/gaps).",
        repaired=dict(
            title="CFL(ε) is solved by thresholds at any λ with g(λ) = sign(g(0)) min(ε, |g(0)|)",
            statement=r"$g$ does not decrease; for every $\lambda$ "
            r"with $g(\lambda)=\mathrm{sign}(g(0))\min\{\varepsilon,|g(0)|\}$ the rule $[[s>0]]$ "
            r"solves CFL($\varepsilon$). For $f^*=[[s>0]]$ and all $f$: "
            r"$e(f)-e(f^*)=E[|s||f-f^*|]+\lambda(MD(f)-MD(f^*))$.",
            kind="implication",
            hypotheses=SETTING,
            scope="as stated; the proof: any linear and monotone expectation, randomised ties",
            check=proof("lemma_7.v", "identity increases solves", RUN),
            mutants={"exchanged": ("λ/q in group 0, λ/(1-q) in 1", {"shares": "wrong"}), **SIZES},
            reading="x is continuous, as section 3 assumes. With atoms the rule needs its own "
            "randomisation in each group, not one α: see fedfb/lemma-18.",
            gap="the statement survives: (20) subtracts λ MD over |MD| = ε for every real λ; there "
            "λ MD takes two values, ± λ ε. The constraint is MD = ε, as (14)-(18) have shown.",
        ),
    ),
    Claim(
        "fedfb/eq-10",
        390,
        "(10) defines g on [-max(q, 1-q), max(q, 1-q)]",
        printed=r"Define $g:[-\max(q,1-q),\max(q,1-q)]\to[-1,1]$ as "
        r"$g(\lambda)=\int_{[\eta^{-1}(\frac12-\frac\lambda{2(1-q)}),+\infty]}d\mathcal "
        r"P_0-\int_{[\eta^{-1}(\frac12+\frac\lambda{2q}),+\infty]}d\mathcal P_1$.",
        statement=r"$\frac12-\frac\lambda{2(1-q)}$ and $\frac12+\frac\lambda{2q}$, of which "
        r"$\eta^{-1}$ is taken, lie in $[0,1]$ for $|\lambda|\le\max(q,1-q)$.",
        kind="existence",
        hypotheses={"domain": "|λ| <= max(q, 1-q)"},
        severity="constant",
        check=counterexample(
            inside,
            "q = 1/4, λ = 3/4 = max(q, 1-q): η⁻¹(1/2 + λ/(2q)) is η⁻¹(2)",
            {"q": "1/4", "lam": "3/4"},
            "1 <= 1; 3 <= 1",
        ),
        mutants={
            "min": ("λ = min(q, 1-q)", {"lam": "1/4"}),
            "equal groups": ("q = 1/2, λ = 1/2", {"q": HALF, "lam": HALF}),
        },
        erratum=r"For $q\ne\frac12$ they leave $[0,1]$ once $|\lambda|>\min(q,1-q)$. Write "
        r"$g(\lambda)=\mathcal P_0(\eta>\frac12-\frac\lambda{2(1-q)})-\mathcal "
        r"P_1(\eta>\frac12+\frac\lambda{2q})$, or set $\eta^{-1}(u)=-\infty$ for $u\le0$ and "
        r"$+\infty$ for $u\ge1$.",
        repaired=dict(
            title="by thresholds on η, g is continuous and onto [-1, 1], so that λ exists",
            statement=r"$g$ is continuous, $g(\mp\max(q,1-q))=\mp1$, and takes all values between.",
            hypotheses=SETTING,
            scope="as stated; the proof: continuous distribution functions of u = η(x)",
            check=proof(
                "lemma_7_onto.v",
                "onto",
                exactly(reached, rivals, examples=(30, 4000), moved="q eps"),
            ),
            mutants={"99 %": ("g = ±1 at 0.99 times the ends", {"factor": "99/100"})},
        ),
    ),
    Claim(
        "fedfb/remark-5",
        500,
        "for α = 0 lemma 7's rule is η > 1/2 - λ/(2(1 - q)), for a = 1 η > 1/2 + λ/(2q)",
        printed=r"Select $\alpha=0$, then the solution to CFL($\varepsilon$) can be written as "
        r"$f(x,0)=[[\eta(x)>\frac12-\frac{\lambda}{2(1-q)}]]$, "
        r"$f(x,1)=[[\eta(x)>\frac12+\frac{\lambda}{2q}]]$. Therefore, Lemma 7 implies that the "
        r"best classifier of the CFL problem is equivalent to simply applying a constant threshold "
        r"to the class-probabilities for each value of the sensitive feature.",
        statement=r"$s(x,0)=2(\eta(x)-\frac12+\frac{\lambda}{2(1-q)})$ and "
        r"$s(x,1)=2(\eta(x)-\frac12-\frac{\lambda}{2q})$, so that $[[s(x,a)>0]]$ is (28). By "
        r"lemma 7, repaired, it solves CFL($\varepsilon$).",
        kind="identity",
        hypotheses=SETTING,
        check=identity(residuals, "-181/30; -223/240"),
        mutants={
            "sign": ("1/2 + λ/(2(1 - q)) in group 0", {"sign": -1}),
            "shares": ("1/2 - λ/(1 - q) in group 0", {"factor": 1}),
        },
        rests_on=("fedfb/lemma-7/repaired",),
        notes="Where |λ| > min(q, 1 - q) a threshold accepts all of its group, or none.",
    ),
)
