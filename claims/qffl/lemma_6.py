"""Lemmas 6 and 7: q = 1 compared with q = 0, by the variance and by the angle."""

from fractions import Fraction

import sympy

from fairfl.claims.case import Case, Operator, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.forms import Claim, Instance, beside, counterexample, definite, every, witness

Vector = list[Fraction]


def mean(f: Vector) -> Fraction:
    """(1/m) sum F_k."""
    return sum(f, Fraction(0)) / len(f)


def square(f: Vector) -> Fraction:
    """(1/m) sum F_k^2."""
    return sum((v * v for v in f), Fraction(0)) / len(f)


def optima(models: list[Vector]) -> tuple[Vector, Vector]:
    """F(w_0*), F(w_1*) over a finite set of models; ties are broken against the statement."""
    first = min(models, key=lambda f: (mean(f), square(f)))
    return first, min(models, key=lambda f: (square(f), -mean(f)))


def variance(instance: Instance, operator: Operator = "<") -> Case:
    """Lemma 6 on a finite set of models."""
    losses_0, losses_1 = optima(instance["models"])
    left, right = square(losses_1) - mean(losses_1) ** 2, square(losses_0) - mean(losses_0) ** 2
    low = min(min(f) for f in instance["models"])
    return Case((Relation(left, operator, right, "variances"),), {"losses": low >= 0})


def angle(instance: Instance, share: Fraction = Fraction(1)) -> Case:
    """Lemma 7 on a finite set of models: squares of the cosines, over m."""
    cosines = [mean(f) ** 2 / (square(f) or 1) for f in optima(instance["models"])]
    low = min(min(f) for f in instance["models"])
    premises = {"losses": low >= 0, "not zero": any(optima(instance["models"])[1])}
    return Case((Relation(cosines[0], "<=", share * cosines[1], "cosines"),), premises)


def gap(signed: bool = False) -> Decomposition:
    """Var_0 - Var_1, means m, m + e, squares Q + d, Q: d, e >= 0 by optimality, m by F >= 0."""
    d, e, Q = sympy.symbols("d e Q", nonnegative=True)
    m = sympy.Symbol("m", real=True) if signed else sympy.Symbol("m", nonnegative=True)
    return (Q + d - m**2) - (Q - (m + e) ** 2), [d, 2 * m * e, e**2]


def gap_of_angles(sign: int = 1, turned: bool = False) -> Decomposition:
    """(m + e)^2 (Q + d) - m^2 Q >= 0, likewise; ``sign`` -1 subtracts e."""
    d, e, m, Q = sympy.symbols("d e m Q", nonnegative=True)
    left, right = (m + sign * e) ** 2 * (Q + d), m**2 * Q
    return right - left if turned else left - right, [Q * e * (2 * m + e), d * (m + e) ** 2]


LOSSES = "F_k >= 0; w_0*, w_1* global minimisers"
CLAIMS = (
    Claim(
        "qffl/lemma-6",
        259,
        "The losses have a smaller variance at the optimum of q = 1 than at that of q = 0",
        printed=r"$\operatorname{Var}(F_1(w_1^*), \dots, F_m(w_1^*)) < "
        r"\operatorname{Var}(F_1(w_0^*), \dots, F_m(w_0^*))$",
        kind="bound",
        hypotheses={"losses": LOSSES},
        scope="m = 2, two models",
        severity="constant",
        check=counterexample(
            variance,
            "F = (w, w + 1) on w in {0, 1}: w = 0 is optimal for q = 0 and q = 1, both variances "
            "are 1/4",
            {"models": [[Fraction(w), Fraction(w + 1)] for w in (0, 1)]},
            "1/4 < 1/4",
        ),
        mutants={"<=": ("not larger", {"operator": "<="})},
        erratum="The proof gives <=, and equality occurs: whenever one model is best for both "
        "objectives. Write <=, or add that w_0* does not minimise f_1. (The statement is about "
        "losses; Definition 1 is about test accuracies.)",
        repaired=dict(
            title="The variance is no larger at the optimum of q = 1, less if w_0* is not one",
            statement=r"With means $m$, $m + e$ and mean squares $Q + d$, $Q$ at $w_0^*$, $w_1^*$: "
            r"$Var_0 - Var_1 = d + 2me + e^2 \ge 0$; it is positive if $d > 0$, that is, if "
            r"$w_0^*$ does not minimise $f_1$.",
            scope="every m and F",
            check=every(
                definite(gap, "3779/1260"),
                beside(
                    witness(
                        variance,
                        "two models of which either is an optimum",
                        {"models": [["1/4", "5/3"], ["2/3", "7/5"]]},
                        "121/900 <= 289/576",
                        operator="<=",
                    )
                ),
            ),
            mutants={
                "any sign": ("losses of any sign", {"signed": True}),
                "always smaller": ("< for all models", definite(gap, "3779/1260", strict=True)),
            },
        ),
    ),
    Claim(
        "qffl/lemma-7",
        266,
        "The losses' angle with (1, ..., 1) is no larger at the optimum of q = 1 than of q = 0",
        printed=r"$\frac{\frac{1}{m}\sum_{k=1}^{m}F_k(w_1^*)}{\sqrt{\frac{1}{m}F_k^2(w_1^*)}} \ge "
        r"\frac{\frac{1}{m}\sum_{k=1}^{m}F_k(w_0^*)}{\sqrt{\frac{1}{m}F_k^2(w_0^*)}}$",
        kind="bound",
        hypotheses={"losses": LOSSES, "not zero": "F(w_1*) is not 0, where the angle is undefined"},
        scope="every m and F",
        check=every(
            definite(gap_of_angles, "221483/31360"),
            beside(
                witness(
                    angle,
                    "three models of which one is best for both",
                    {"models": [[1, "5/4"], ["1/2", "7/4"], ["29/25", "29/25"]]},
                    "81/82 <= 81/82",
                )
            ),
        ),
        mutants={
            "smaller mean": ("the mean at w_1* smaller than at w_0*", {"sign": -1}),
            "turned": ("the inequality turned", {"turned": True}),
            "1 % less": ("0.99 times the squared cosine", {"share": "99/100"}),
        },
        reading="With the sums under the roots that (4) has; printed is F_k^2 for some k.",
        gap="The proof says that the sum of squares is larger at w_1*; it is smaller, as w_1* "
        "minimises it: 8 against 9 for F in {(0, 3), (2, 2)}. With the printed direction the "
        "conclusion would not follow; the statement survives.",
    ),
)
