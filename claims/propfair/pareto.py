"""Appendix D: which points are Pareto optimal, on finite sets of losses or utilities."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

Vector = list[Fraction]


def dominated(f: Vector, among: list[Vector]) -> bool:
    """Whether another vector of losses is nowhere larger and somewhere smaller."""
    return any(g != f and all(b <= a for a, b in zip(f, g, strict=True)) for g in among)


def vectors(instance: dict[str, Any]) -> list[Vector]:
    """The set, as fractions."""
    return [[Fraction(v) for v in f] for f in instance["set"]]


def linear(instance: dict[str, Any]) -> Case:
    """Every minimiser of sum lambda_i f_i over the set is Pareto optimal, lambda in the simplex."""
    among, weight = vectors(instance), [Fraction(v) for v in instance["lambda"]]
    value = [sum((a * b for a, b in zip(weight, f, strict=True)), Fraction(0)) for f in among]
    worst = sum(dominated(f, among) for f, v in zip(among, value, strict=True) if v == min(value))
    premises = {"simplex": sum(weight, Fraction(0)) == 1 and min(weight) >= 0}
    return Case((Relation(worst, "==", 0, "minimisers that are dominated"),), premises)


def check_linear(effort: Effort, second: Fraction = Fraction(0)) -> Evidence:
    """A weight of zero."""
    shows = "losses {(0, 0), (0, 1)}, lambda = (1, 0): both minimise, (0, 1) is dominated"
    data = {"set": [[Fraction(0)] * 2, [Fraction(0), Fraction(1)]], "lambda": [1 - second, second]}
    return Evidence.of(Counterexample.at(Call.of(linear), shows, **data))


def egalitarian(instance: dict[str, Any], strict: bool = False) -> Case:
    """(1, 1, 1) and (1, 0.9, 0.8) have the same largest loss, and the former is dominated by the
    latter.
    """
    among = vectors(instance)
    top = [max(f) for f in among]
    states = [int(dominated(f, among)) for f in among]
    return Case(
        (
            Relation(top[1], "<" if strict else "==", top[0], "both optimal for (D.6)"),
            Relation(states[0], "==", 1, "the former is dominated"),
            Relation(states[1], "==", 0, "the latter is not"),
        )
    )


def check_egalitarian(
    effort: Effort, strict: bool = False, third: Fraction = Fraction(8, 10)
) -> Evidence:
    """The printed pair."""
    data = {"set": [[Fraction(1)] * 3, [Fraction(1), Fraction(9, 10), third]]}
    return Evidence.of(Witness.at(Call.of(egalitarian, strict=strict), "the printed pair", **data))


def equivalent(instance: dict[str, Any], weak: bool = False) -> Case:
    """'One cannot improve all clients at once' holds at a point iff it is Pareto optimal (``weak``:
    weakly).
    """
    among = vectors(instance)
    f = among[0]
    improved = any(all(b < a for a, b in zip(f, g, strict=True)) for g in among)
    optimal = not improved if weak else not dominated(f, among)
    return Case(
        (Relation(int(not improved), "==", int(optimal), "the two notions at the first point"),)
    )


def check_equivalent(effort: Effort, weak: bool = False) -> Evidence:
    """Two points that share a coordinate."""
    shows = (
        "losses {(1, 1), (1, 0)}: no point improves both clients of (1, 1), which is not "
        "Pareto optimal"
    )
    data = {"set": [[Fraction(1)] * 2, [Fraction(1), Fraction(0)]]}
    return Evidence.of(Counterexample.at(Call.of(equivalent, weak=weak), shows, **data))


def maxmin(instance: dict[str, Any]) -> Case:
    """Every Pareto optimal vector of losses has the smallest largest loss: 'max-min fairness /
    Pareto optimal'.
    """
    among = vectors(instance)
    least = min(max(f) for f in among)
    worse = sum(max(f) > least for f in among if not dominated(f, among))
    return Case((Relation(worse, "==", 0, "Pareto optimal points that are not max-min fair"),))


def check_maxmin(effort: Effort, first: Fraction = Fraction(0)) -> Evidence:
    """A Pareto front of two points."""
    shows = "losses {(1, 1), (0, 2)}: both are Pareto optimal, only (1, 1) is max-min fair"
    data = {"set": [[Fraction(1)] * 2, [first, Fraction(2)]]}
    return Evidence.of(Counterexample.at(Call.of(maxmin), shows, **data))


CLAIMS = (
    Claim(
        id="propfair/linear-weighting",
        number="(D.1)",
        line=1011,
        title="Minimisers of a convex combination of the losses are always Pareto optimal",
        printed=r"with $\lambda \in \Delta_{n-1}$ in the $(n-1)$-simplex ... Such solution is "
        r"always Pareto optimal",
        statement=r"Every minimiser of $\sum\lambda_i f_i$, $\lambda \ge 0$, $\sum\lambda_i = "
        r"1$, is Pareto optimal.",
        kind="implication",
        hypotheses=(("simplex", "lambda >= 0 of sum one"),),
        scope="n = 2, two points",
        expected="refuted",
        check=check_linear,
        mutants=(
            Mutant("positive", "lambda = (1/2, 1/2)", partial(check_linear, second=Fraction(1, 2))),
        ),
        severity="remark",
        erratum=(
            "It holds for lambda > 0. With a weight of zero a minimiser is weakly Pareto optimal "
            "only, unless it is unique."
        ),
    ),
    Claim(
        id="propfair/egalitarian-example",
        number="(D.6)",
        line=1059,
        title="(1, 1, 1) and (1, 0.9, 0.8) can both be egalitarian, and the former is not Pareto "
        "optimal",
        printed=(
            "(1, 1, 1) and (1, 0.9, 0.8) can both be the optimal solution of (D.6), but the "
            "former is not Pareto optimal."
        ),
        statement="As printed, on the set of these two.",
        kind="existence",
        hypotheses=(),
        scope="as stated",
        expected="holds",
        check=check_egalitarian,
        mutants=(
            Mutant(
                "strict", "the former is worse for (D.6)", partial(check_egalitarian, strict=True)
            ),
            Mutant(
                "(1, 0.9, 1.1)",
                "another third loss",
                partial(check_egalitarian, third=Fraction(11, 10)),
            ),
        ),
    ),
    Claim(
        id="propfair/pareto-weak",
        number="Appendix D.3.2",
        line=1065,
        title="That one cannot improve all clients simultaneously is equivalent to Pareto "
        "optimality",
        printed=(
            "one cannot simultaneously improve the performance of all clients, which is "
            "equivalent to the definition of Pareto optimal"
        ),
        statement=r"$f$ is Pareto optimal iff no $g$ of the set has $g_i < f_i$ for all $i$.",
        kind="equivalence",
        hypotheses=(),
        scope="n = 2, two points",
        expected="refuted",
        check=check_equivalent,
        mutants=(Mutant("weakly", "weak Pareto optimality", partial(check_equivalent, weak=True)),),
        severity="remark",
        erratum="That is weak Pareto optimality. Pareto optimal: none can be improved without "
        "making another worse.",
    ),
    Claim(
        id="propfair/max-min-fairness",
        number="Appendix D.3.2",
        line=1065,
        title="Max-min fairness is Pareto optimality",
        printed=(
            "Max-min fairness / Pareto optimal [61]: this definition says ... equivalent to the "
            "definition of Pareto optimal."
        ),
        statement="Every Pareto optimal vector of losses minimises the largest loss.",
        kind="equivalence",
        hypotheses=(),
        scope="n = 2, two points",
        expected="refuted",
        check=check_maxmin,
        mutants=(
            Mutant(
                "dominated",
                "the losses (1, 2) for (0, 2)",
                partial(check_maxmin, first=Fraction(1)),
            ),
        ),
        reading="The other direction fails too, by the paper's own example: see "
        "propfair/egalitarian-example.",
        severity="remark",
        erratum=(
            "Max-min fairness (Bertsekas and Gallager): no client can gain without a loss to one "
            "that is no better off. It implies Pareto optimality, and is far stronger."
        ),
    ),
)
