"""Lemmas 6 and 7: q = 1 compared with q = 0, by the variance and by the angle."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore

Vector = list[Fraction]


def mean(f: Vector) -> Fraction:
    """(1/m) sum F_k."""
    return sum(f, Fraction(0)) / len(f)


def square(f: Vector) -> Fraction:
    """(1/m) sum F_k^2."""
    return sum((v * v for v in f), Fraction(0)) / len(f)


def optima(models: list[Vector]) -> tuple[Vector, Vector]:
    """F(w_0*), F(w_1*) over a finite set of models, each given by its losses; ties by the other
    objective, against.
    """
    return min(models, key=lambda f: (mean(f), square(f))), min(
        models, key=lambda f: (square(f), -mean(f))
    )


def variance(instance: dict[str, Any], operator: str = "<", signed: bool = False) -> Case:
    """Lemma 6 on a finite set of models."""
    zero, one = optima(instance["models"])
    left, right = square(one) - mean(one) ** 2, square(zero) - mean(zero) ** 2
    premises = {"losses": signed or min(min(f) for f in instance["models"]) >= 0}
    return Case((Relation(left, operator, right, "variances"),), premises)  # type: ignore[arg-type]


def angle(instance: dict[str, Any], turned: bool = False) -> Case:
    """Lemma 7, squared and cross-multiplied: mean(F_1)^2 / square(F_1) >= mean(F_0)^2 /
    square(F_0).
    """
    zero, one = optima(instance["models"])
    left, right = mean(zero) ** 2 * square(one), mean(one) ** 2 * square(zero)
    relation = (
        Relation(right, "<=", left, "cosines") if turned else Relation(left, "<=", right, "cosines")
    )
    low = min(min(f) for f in instance["models"])
    return Case((relation,), {"losses": low >= 0, "not zero": square(one) > 0})


def proof(instance: dict[str, Any], second: str = ">=") -> Case:
    """The proof of lemma 7: mean(F_1) >= mean(F_0), and square(F_1) >= square(F_0) as printed."""
    zero, one = optima(instance["models"])
    low, high = (square(zero), square(one)) if second == ">=" else (square(one), square(zero))
    premises = {"losses": min(min(f) for f in instance["models"]) >= 0}
    return Case(
        (Relation(mean(zero), "<=", mean(one), "means"), Relation(low, "<=", high, "squares")),
        premises,
    )


def definite(signed: bool = False) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """Var_0 - Var_1 with means m, m + e and squares Q + d, Q: d, e >= 0 by optimality, m >= 0 by F
    >= 0.
    """
    d, e = sympy.symbols("d e", nonnegative=True)
    m = sympy.symbols("m", real=True) if signed else sympy.symbols("m", nonnegative=True)
    Q = sympy.symbols("Q", nonnegative=True)
    return (Q + d - m**2) - (Q - (m + e) ** 2), [d, 2 * m * e, e**2]


def definite_angle(sign: int = 1, turned: bool = False) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """(m + e)^2 (Q + d) - m^2 Q >= 0, the same letters; ``sign`` -1 takes e away."""
    d, e, m, Q = sympy.symbols("d e m Q", nonnegative=True)
    gap = (m + sign * e) ** 2 * (Q + d) - m**2 * Q
    return -gap if turned else gap, [Q * e * (2 * m + e), d * (m + e) ** 2]


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    """Two to five models of two to four devices, one of them even, so that mean and mean square are
    at odds.
    """
    m = draw(st.integers(2, 4))
    one = st.lists(st.integers(0, 12).map(lambda k: Fraction(k, 4)), min_size=m, max_size=m)
    models = draw(st.lists(one, min_size=1, max_size=4))
    even = mean(models[0]) + Fraction(draw(st.integers(0, 4)), 8)
    return {"models": [*models, [even] * m]}


def check(effort: Effort, operator: str = "<") -> Evidence:
    """Two models, one best for both objectives."""
    shows = (
        "F = (w, w + 1) on w in {0, 1}: w = 0 is optimal for q = 0 and q = 1, both variances "
        "are 1/4"
    )
    models = [[Fraction(w), Fraction(w + 1)] for w in (0, 1)]
    return Evidence.of(
        Counterexample.at(Call.of(variance, operator=operator), shows, models=models)
    )


def check_repaired(effort: Effort, signed: bool = False, strict: bool = False) -> Evidence:
    """The certificates."""
    spot = {"d": "1", "e": "1/2", "m": "2", "Q": "5"}
    return Evidence.of(
        DefiniteForm(Call.of(definite, signed=signed), "expand", (spot,), strict),
        extra=(
            explore(
                Call.of(variance, operator="<" if strict else "<="),
                Call.of(worlds),
                effort,
                tolerance=0.0,
            ),
        ),
    )


def check_angle(effort: Effort, sign: int = 1, turned: bool = False) -> Evidence:
    """The certificates."""
    spot = {"d": "1", "e": "1/2", "m": "2", "Q": "5"}
    return Evidence.of(
        DefiniteForm(Call.of(definite_angle, sign=sign, turned=turned), "expand", (spot,)),
        extra=(explore(Call.of(angle, turned=turned), Call.of(worlds), effort, tolerance=0.0),),
    )


def check_proof(effort: Effort, second: str = ">=") -> Evidence:
    """Two models that trade mean against square."""
    shows = (
        "F in {(0, 3), (2, 2)}: w_0* has (0, 3), mean square 9/2; w_1* has (2, 2), mean square 4"
    )
    models = [[Fraction(0), Fraction(3)], [Fraction(2), Fraction(2)]]
    return Evidence.of(Counterexample.at(Call.of(proof, second=second), shows, models=models))


PRINTED = (
    r"$\operatorname{Var}(F_1(w_1^*), \dots, F_m(w_1^*)) < \operatorname{Var}(F_1(w_0^*), "
    r"\dots, F_m(w_0^*))$"
)
PRINTED_7 = (
    r"$\frac{\frac{1}{m}\sum_{k=1}^{m}F_k(w_1^*)}{\sqrt{\frac{1}{m}F_k^2(w_1^*)}} \ge "
    r"\frac{\frac{1}{m}\sum_{k=1}^{m}F_k(w_0^*)}{\sqrt{\frac{1}{m}F_k^2(w_0^*)}}$"
)
LOSSES = ("losses", "F_k >= 0; w_0*, w_1* global minimisers")
CLAIMS = (
    Claim(
        id="qffl/lemma-6",
        number="Lemma 6",
        line=259,
        title="The losses have a smaller variance at the optimum of q = 1 than at that of q = 0",
        printed=PRINTED,
        statement=r"$Var(F(w_1^*)) < Var(F(w_0^*))$.",
        kind="bound",
        hypotheses=(LOSSES,),
        scope="m = 2, two models",
        expected="holds-repaired",
        check=check,
        mutants=(Mutant("<=", "not larger", partial(check, operator="<=")),),
        severity="theorem",
        erratum=(
            "The proof gives <=, and equality occurs: whenever one model is best for both "
            "objectives. Write <=, or add that w_0* does not minimise f_1. (The statement is "
            "about losses; Definition 1 is about test accuracies.)"
        ),
    ),
    Claim(
        id="qffl/lemma-6/repaired",
        number="Lemma 6",
        line=259,
        title=(
            "The losses have no larger variance at the optimum of q = 1, a smaller one if w_0* "
            "is not such an optimum"
        ),
        printed=PRINTED,
        statement=(
            r"With means $m$, $m + e$ and mean squares $Q + d$, $Q$ at $w_0^*$, $w_1^*$: $Var_0 "
            r"- Var_1 = d + 2me + e^2 \ge 0$; it is positive if $d > 0$, that is, if $w_0^*$ "
            r"does not minimise $f_1$."
        ),
        kind="bound",
        hypotheses=(LOSSES,),
        scope="every m and F",
        expected="holds",
        check=check_repaired,
        mutants=(
            Mutant("any sign", "losses of any sign", partial(check_repaired, signed=True)),
            Mutant("always smaller", "< for all models", partial(check_repaired, strict=True)),
        ),
    ),
    Claim(
        id="qffl/lemma-7",
        number="Lemma 7",
        line=266,
        title="The losses make no larger an angle with (1, ..., 1) at the optimum of q = 1 than "
        "at that of q = 0",
        printed=PRINTED_7,
        statement=(
            r"$\frac{\sum F_k(w_1^*)}{\sqrt{\sum F_k^2(w_1^*)}} \ge \frac{\sum "
            r"F_k(w_0^*)}{\sqrt{\sum F_k^2(w_0^*)}}$."
        ),
        kind="bound",
        hypotheses=(LOSSES, ("not zero", "F(w_1*) is not 0, where the angle is undefined")),
        scope="every m and F",
        expected="holds",
        check=check_angle,
        mutants=(
            Mutant(
                "smaller mean",
                "the mean at w_1* smaller than at w_0*",
                partial(check_angle, sign=-1),
            ),
            Mutant("turned", "the inequality turned", partial(check_angle, turned=True)),
        ),
        reading="With the sums under the roots that (4) has; printed is F_k^2 for an unspecified "
        "k.",
        severity="misprint",
        erratum="The sums under the square roots are missing, in the statement and in the proof.",
        gap=(
            "The proof says that the sum of squares is larger at w_1*; it is smaller, as w_1* "
            "minimises it (qffl/lemma-7-proof). With the printed direction the conclusion would "
            "not follow; the statement survives."
        ),
    ),
    Claim(
        id="qffl/lemma-7-proof",
        number="Proof of lemma 7",
        line=270,
        title="The sum of squared losses is larger at the optimum of q = 1",
        printed=(
            r"$\frac{1}{m} \sum F_k(w_1^*) \ge \frac{1}{m} \sum F_k(w_0^*)$ and $\frac{1}{m} "
            r"\sum F_k^2(w_1^*) \ge \frac{1}{m} \sum F_k^2(w_0^*)$"
        ),
        statement=r"$\sum F_k(w_1^*) \ge \sum F_k(w_0^*)$ and $\sum F_k^2(w_1^*) \ge \sum "
        r"F_k^2(w_0^*)$.",
        kind="bound",
        hypotheses=(LOSSES,),
        scope="m = 2, two models",
        expected="refuted",
        check=check_proof,
        mutants=(Mutant("<=", "the second inequality turned", partial(check_proof, second="<=")),),
        severity="step",
        erratum="The second inequality must be <=.",
    ),
)
