"""FedFB, proposition 5 and the secure aggregation of F_a."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

Table = dict[tuple[int, int], Any]
"""By (y, a)."""


def fairness(wrong: Table, count: Table, a: int, normal: str) -> Any:
    """F_a for 0-1 loss: ``wrong`` errors and ``count`` people of label y and group a.

    ``normal``: L_{y,a} is the sum of the losses ("sum", section 4) or their mean ("mean", appendix
    B); then L' = n_{y,a} L_{y,a}/n_{*,a}.
    """
    people = {b: count[0, b] + count[1, b] for b in (0, a)}

    def prime(y: int, b: int) -> Any:
        loss = wrong[y, b] if normal == "sum" else wrong[y, b] / count[y, b]
        return count[y, b] * loss / people[b]

    base = count[0, 0] / people[0] - count[0, a] / people[a]
    return -prime(0, 0) + prime(1, 0) + prime(0, a) - prime(1, a) + base


def accepted(wrong: Table, count: Table, a: int) -> Any:
    """P(ŷ = 1 | a): wrong with y = 0, right with y = 1."""
    return (wrong[0, a] + count[1, a] - wrong[1, a]) / (count[0, a] + count[1, a])


def zero_means_parity(instance: dict[str, Any], normal: str = "sum") -> Case:
    """Two groups: F_1 = 0 iff demographic parity."""
    wrong = {(y, a): Fraction(instance["wrong"][y][a]) for y in (0, 1) for a in (0, 1)}
    count = {(y, a): Fraction(instance["count"][y][a]) for y in (0, 1) for a in (0, 1)}
    fair = accepted(wrong, count, 0) == accepted(wrong, count, 1)
    head = "F_1 at parity" if fair else "F_1 without parity"
    return Case((Relation(fairness(wrong, count, 1, normal), "==" if fair else "!=", 0, head),))


def symbols(suffix: str = "") -> tuple[Table, Table]:
    """Errors and counts of two groups as symbols."""
    keys = [(y, a) for y in (0, 1) for a in (0, 1)]
    wrong = {k: sympy.Symbol(f"e{k[0]}{k[1]}{suffix}") for k in keys}
    return wrong, {k: sympy.Symbol(f"n{k[0]}{k[1]}{suffix}", positive=True) for k in keys}


def residuals(normal: str = "mean") -> dict[str, sympy.Expr]:
    """F_a - [P(ŷ=1 | a) - P(ŷ=1 | 0)]."""
    wrong, count = symbols()
    return {
        "F_a": fairness(wrong, count, 1, normal)
        - accepted(wrong, count, 1)
        + accepted(wrong, count, 0)
    }


def aggregated(clients: int = 3, correction: int = 1, local: bool = False) -> dict[str, sympy.Expr]:
    """Σ_i F_a^(i) - (I - 1)(n_00/n_*0 - n_0a/n_*a) - F_a; F_a^(i) with the global n_*a, or all its
    own (``local``).
    """
    parts = [symbols(f"_{i}") for i in range(clients)]
    keys = list(parts[0][0])
    wrong = {k: sum(p[0][k] for p in parts) for k in keys}
    count = {k: sum(p[1][k] for p in parts) for k in keys}
    people = {a: count[0, a] + count[1, a] for a in (0, 1)}
    base = count[0, 0] / people[0] - count[0, 1] / people[1]
    total = sympy.Integer(0)
    for own_wrong, own_count in parts:
        if local:
            total += fairness(own_wrong, own_count, 1, "mean")
            continue
        prime = {k: own_wrong[k] / people[k[1]] for k in keys}
        total += -prime[0, 0] + prime[1, 0] + prime[0, 1] - prime[1, 1] + base
    return {"F_a": total - correction * (clients - 1) * base - fairness(wrong, count, 1, "mean")}


def plain_sum(instance: dict[str, Any], correction: int = 0) -> Case:
    """Σ_i F_1^(i) - correction (I-1)(...) is F_1, at counts and errors of each client: {"wrong",
    "count"}[i][y][a].
    """
    clients = len(instance["count"])
    point = {
        f"{name}{y}{a}_{i}": Fraction(instance[key][i][y][a])
        for name, key in (("e", "wrong"), ("n", "count"))
        for i in range(clients)
        for y in (0, 1)
        for a in (0, 1)
    }
    residual = aggregated(clients, correction)["F_a"]
    values: Any = {s: sympy.Rational(str(point[str(s)])) for s in residual.free_symbols}
    return Case((Relation(residual.subs(values), "==", 0, "Σ F_1^(i) - F_1"),))


def _check_sum(effort: Effort, normal: str = "sum") -> Evidence:
    shows = (
        "group 0: 2 of label 0, both accepted; group 1: 1 of label 0, accepted; label 1 all "
        "right: parity, but F_1 is not 0"
    )
    instance = {"wrong": [[2, 1], [0, 0]], "count": [[2, 1], [1, 1]]}
    return Evidence.of(
        Counterexample.at(Call.of(zero_means_parity, normal=normal), shows, **instance)
    )


def _check_mean(effort: Effort, normal: str = "mean") -> Evidence:
    point = {
        "e00": "1",
        "e01": "2",
        "e10": "0",
        "e11": "3",
        "n00": "4",
        "n01": "5",
        "n10": "2",
        "n11": "7",
    }
    return Evidence.of(SymbolicZero(Call.of(residuals, normal=normal), "together", (point,)))


def _check_aggregate(effort: Effort, correction: int = 1, local: bool = False) -> Evidence:
    call = Call.of(aggregated, correction=correction, local=local)
    point = {}
    for i in range(3):
        for k, (y, a) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
            point |= {f"e{y}{a}_{i}": f"{(i + k) % 3}", f"n{y}{a}_{i}": f"{3 + i + 2 * k}"}
    return Evidence.of(SymbolicZero(call, "together", (point,)))


def _check_plain(effort: Effort, correction: int = 0) -> Evidence:
    shows = (
        "two clients: the constant is counted twice; n_00/n_*0 = 1/2, n_01/n_*1 = 1/4, so "
        "the sum is off by 1/4"
    )
    counts = [[[1, 1], [1, 3]], [[1, 1], [1, 3]]]
    errors = [[[0, 1], [1, 0]], [[1, 0], [0, 1]]]
    return Evidence.of(
        Counterexample.at(
            Call.of(plain_sum, correction=correction), shows, wrong=errors, count=counts
        )
    )


PRINTED = (
    r"$L_{y,a}(w)=\sum_{y=y,a=a}\ell(y,\hat y;w)$, $L'_{y,a}(w):=n_{y,a}L_{y,a}(w)/n_{\star,a}$. "
    r"$F_a(w):=-L'_{0,0}(w)+L'_{1,0}(w)+L'_{0,a}(w)-L'_{1,a}(w)+\frac{n_{0,0}}{n_{\star,"
    r"0}}-\frac{n_{0,a}}{n_{\star,a}}$. Consider 0-1 loss. Then $F_a(w)=0,\forall a\in[A]$ is a "
    r"necessary and sufficient condition for demographic parity."
)
SECAGG = (
    r"$F_a\leftarrow "
    r"SecAgg(\{F_a^{(i)}\})-(I-1)(\frac{n_{0,0}}{n_{\star,0}}-\frac{n_{0,a}}{n_{\star,a}})$, "
    r"$F_a^{(i)}\leftarrow-L'^{(i)}_{0,0}+L'^{(i)}_{1,0}+L'^{(i)}_{0,a}-L'^{(i)}_{1,a}+"
    r"\frac{n_{0,0}}{n_{\star,0}}-\frac{n_{0,a}}{n_{\star,a}}$, "
    r"$L'^{(i)}_{y,a}:=\frac{n^{(i)}_{y,a}}{n_{\star,a}}L^{(i)}_{y,a}$."
)

CLAIMS = (
    Claim(
        id="fedfb/proposition-5",
        number="Proposition 5",
        line=188,
        title="0-1 loss: F_a = 0 for all a iff demographic parity, L_{y,a} the sum of the losses "
        "as section 4 prints it",
        printed=PRINTED,
        statement=r"With $L_{y,a}=\sum\ell$ and $L'_{y,a}=n_{y,a}L_{y,a}/n_{\star,a}$: "
        r"$F_1=0\iff P(\hat y=1\mid a=0)=P(\hat y=1\mid a=1)$.",
        kind="equivalence",
        hypotheses=(),
        scope="A = 2, section 4's definitions",
        expected="holds-repaired",
        check=_check_sum,
        mutants=(
            Mutant("mean", "L_{y,a} the mean of the losses", lambda e: _check_sum(e, "mean")),
        ),
        severity="constant",
        erratum="Section 4 must define L_{y,a} as a mean, Σ ℓ/n_{y,a}, as appendix B's "
        "L^{(i)}_{y,a} and proof do (or L' without the factor n_{y,a}).",
        reading="As section 4 prints it. With appendix B's mean it holds: "
        "fedfb/proposition-5/repaired.",
    ),
    Claim(
        id="fedfb/proposition-5/repaired",
        number="Proposition 5",
        line=188,
        title="0-1 loss, L_{y,a} the mean of the losses: F_a = P(ŷ=1 | a) - P(ŷ=1 | 0)",
        printed=PRINTED,
        statement=r"With $L_{y,a}=\frac1{n_{y,a}}\sum\ell$: $F_a=P(\hat y=1\mid a)-P(\hat "
        r"y=1\mid a=0)$, so $F_a=0$ for all $a$ iff demographic parity.",
        kind="identity",
        hypotheses=(),
        scope="as stated; every label occurs in every group",
        expected="holds",
        check=_check_mean,
        mutants=(Mutant("sum", "L_{y,a} the sum of the losses", lambda e: _check_mean(e, "sum")),),
        gap="the statement survives: (72) to (73) puts 1 - ℓ for y = 0 and ℓ for y = 1 where P(ŷ "
        "= 1, y | a) stands; these are P(ŷ = 0, y | a). Both sides are complements, so the "
        "equation is the same.",
    ),
    Claim(
        id="fedfb/secagg",
        number="Algorithms 1 and 2",
        line=228,
        title="F_a = Σ_i F_a^(i) - (I-1)(n_00/n_*0 - n_0a/n_*a) is exact",
        printed=SECAGG,
        statement="The identity, for any losses and counts.",
        kind="identity",
        hypotheses=(),
        scope="I = 3; linear, so the same for any I",
        expected="holds",
        check=_check_aggregate,
        mutants=(
            Mutant("uncorrected", "the plain sum", lambda e: _check_aggregate(e, correction=0)),
            Mutant(
                "local counts",
                "F_a^(i) with the client's own n_*a",
                lambda e: _check_aggregate(e, local=True),
            ),
        ),
        reading="L'^{(i)} as appendix B defines it, with the global n_{*,a}, which the clients "
        "must be told.",
        gap="algorithm 2 sends F_{0,a}^{(i)}, which is defined nowhere (read F_a^{(i)}), and "
        "initialises λ_a for a ≠ 0 only, while it updates λ_0 too.",
    ),
    Claim(
        id="fedfb/section-4-sum",
        number="Section 4, FedFB",
        line=216,
        title="by definition F_a is the sum of the locally computed F_a",
        printed=r"By definition of $F_a$, it is the sum of the locally computed $F_a$ values "
        r"across all the clients.",
        statement=r"$F_a=\sum_iF_a^{(i)}$, $F_a^{(i)}$ of algorithm 2.",
        kind="identity",
        hypotheses=(),
        scope="as stated",
        expected="holds-repaired",
        check=_check_plain,
        mutants=(
            Mutant(
                "corrected",
                "less (I-1)(n_00/n_*0 - n_0a/n_*a)",
                lambda e: _check_plain(e, correction=1),
            ),
        ),
        severity="constant",
        erratum="The sum counts the constant I times; algorithm 1 subtracts the surplus.",
    ),
    Claim(
        id="fedfb/section-4-sum/repaired",
        number="Section 4, FedFB",
        line=216,
        title="F_a is the sum of the locally computed F_a less (I-1)(n_00/n_*0 - n_0a/n_*a)",
        printed=r"By definition of $F_a$, it is the sum of the locally computed $F_a$ values "
        r"across all the clients.",
        statement="As fedfb/secagg.",
        kind="identity",
        hypotheses=(),
        scope="I = 3; linear, so the same for any I",
        expected="holds",
        check=_check_aggregate,
        mutants=(
            Mutant("uncorrected", "the plain sum", lambda e: _check_aggregate(e, correction=0)),
        ),
        rests_on=("fedfb/secagg",),
    ),
)
