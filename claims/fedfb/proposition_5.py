"""FedFB, proposition 5 and the secure aggregation of F_a."""

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Instance, Relation, Residual, counterexample, identity

Table = dict[tuple[int, int], Any]
"""By (y, a)."""
KEYS = ((0, 0), (0, 1), (1, 0), (1, 1))


def fairness(wrong: Table, count: Table, normal: str = "mean") -> Any:
    """F_1 for 0-1 loss, or F_1^(i) from a client's errors, by label and group. ``normal``: L_{y,a}
    is the "sum" of the losses (section 4) or their "mean" (appendix B); L' = n_{y,a}
    L_{y,a}/n_{*,a}.
    """
    people = [count[0, a] + count[1, a] for a in (0, 1)]
    prime = {k: v / people[k[1]] for k, v in wrong.items()}
    if normal == "sum":
        prime = {k: count[k] * v for k, v in prime.items()}
    base = count[0, 0] / people[0] - count[0, 1] / people[1]
    return -prime[0, 0] + prime[1, 0] + prime[0, 1] - prime[1, 1] + base


def accepted(wrong: Table, count: Table, a: int) -> Any:
    """P(ŷ = 1 | a): wrong with y = 0, right with y = 1."""
    return (wrong[0, a] + count[1, a] - wrong[1, a]) / (count[0, a] + count[1, a])


def table(rows: list[list[int]]) -> Table:
    """Rows by label, columns by group."""
    return {(y, a): Fraction(rows[y][a]) for y, a in KEYS}


def symbols(suffix: str = "") -> tuple[Table, Table]:
    """Errors and counts of two groups as symbols."""
    wrong = {(y, a): sympy.Symbol(f"e{y}{a}{suffix}") for y, a in KEYS}
    return wrong, {(y, a): sympy.Symbol(f"n{y}{a}{suffix}", positive=True) for y, a in KEYS}


def zero_means_parity(instance: Instance, normal: str = "sum") -> Case:
    """Two groups: F_1 = 0 iff demographic parity."""
    wrong, count = table(instance["wrong"]), table(instance["count"])
    fair = accepted(wrong, count, 0) == accepted(wrong, count, 1)
    head = "F_1 at parity" if fair else "F_1 without parity"
    return Case((Relation(fairness(wrong, count, normal), "==" if fair else "!=", 0, head),))


def residuals(normal: str = "mean") -> dict[str, Residual]:
    """F_1 - [P(ŷ=1 | 1) - P(ŷ=1 | 0)]."""
    wrong, count = symbols()
    gap = accepted(wrong, count, 1) - accepted(wrong, count, 0)
    return {"F_a": (fairness(wrong, count, normal), gap)}


def aggregated(correction: int = 1, local: bool = False) -> dict[str, Residual]:
    """F_1 of some clients, plus F_1^(i) of one more, minus correction (n_00/n_*0 - n_01/n_*1),
    minus P(ŷ=1 | 1) - P(ŷ=1 | 0) of all of them; F_1^(i) with the global counts, or with
    the client's (``local``).
    """
    (wrong, count), (client_wrong, client_count) = symbols(), symbols("_i")
    base = fairness(dict.fromkeys(KEYS, 0), count)
    client_value = fairness(client_wrong, client_count) if local else fairness(client_wrong, count)
    all_wrong = {k: wrong[k] + client_wrong[k] for k in KEYS}
    return {
        "F_a": (
            fairness(wrong, count) + client_value - correction * base,
            (accepted(all_wrong, count, 1) - accepted(all_wrong, count, 0)),
        )
    }


CLAIMS = (
    Claim(
        "fedfb/proposition-5",
        188,
        "0-1 loss: F_a = 0 for all a iff demographic parity, L_{y,a} section 4's sum of losses",
        printed=r"$L_{y,a}(w)=\sum_{y=y,a=a}\ell(y,\hat y;w)$, "
        r"$L'_{y,a}(w):=n_{y,a}L_{y,a}(w)/n_{\star,a}$. "
        r"$F_a(w):=-L'_{0,0}(w)+L'_{1,0}(w)+L'_{0,a}(w)-L'_{1,a}(w)+\frac{n_{0,0}}{n_{\star,"
        r"0}}-\frac{n_{0,a}}{n_{\star,a}}$. Consider 0-1 loss. Then $F_a(w)=0,\forall a\in[A]$ is "
        r"a necessary and sufficient condition for demographic parity.",
        statement=r"With $L_{y,a}=\sum\ell$ and $L'_{y,a}=n_{y,a}L_{y,a}/n_{\star,a}$: "
        r"$F_1=0\iff P(\hat y=1\mid a=0)=P(\hat y=1\mid a=1)$.",
        kind="equivalence",
        scope="A = 2, section 4's definitions",
        whose="reading",
        check=counterexample(
            zero_means_parity,
            "group 0: 2 of label 0, both accepted; group 1: 1 of label 0, accepted; label 1 all "
            "right: parity, but F_1 is not 0",
            {"wrong": [[2, 1], [0, 0]], "count": [[2, 1], [1, 1]]},
            "-2/3 == 0",
        ),
        mutants={"mean": ("L_{y,a} the mean of the losses", {"normal": "mean"})},
        severity="constant",
        erratum="Section 4 must define L_{y,a} as a mean, Σ ℓ/n_{y,a}, as appendix B's "
        "L^{(i)}_{y,a} and proof do (or L' without the factor n_{y,a}).",
        reading="As in section 4. With appendix B's mean it holds: fedfb/proposition-5/repaired.",
        repaired=dict(
            title="0-1 loss, L_{y,a} the mean of the losses: F_a = P(ŷ=1 | a) - P(ŷ=1 | 0)",
            statement=r"With $L_{y,a}=\frac1{n_{y,a}}\sum\ell$: $F_a=P(\hat y=1\mid a)-P(\hat "
            r"y=1\mid a=0)$, so $F_a=0$ for all $a$ iff demographic parity.",
            kind="identity",
            scope="as stated; every label occurs in every group",
            check=identity(residuals, "22269/362390"),
            mutants={"sum": ("L_{y,a} the sum of the losses", {"normal": "sum"})},
            gap="the statement survives: (72) to (73) puts 1 - ℓ for y = 0 and ℓ for y = 1 where "
            "P(ŷ = 1, y | a) stands; these are P(ŷ = 0, y | a). Both sides are complements.",
        ),
    ),
    Claim(
        "fedfb/secagg",
        228,
        "F_a = Σ_i F_a^(i) - (I-1)(n_00/n_*0 - n_0a/n_*a) is exact",
        number="Algorithms 1 and 2",
        printed=r"$F_a\leftarrow SecAgg(\{F_a^{(i)}\})-(I-1)(\frac{n_{0,0}}{n_{\star,0}}-"
        r"\frac{n_{0,a}}{n_{\star,a}})$, $F_a^{(i)}\leftarrow-L'^{(i)}_{0,0}+L'^{(i)}_{1,0}+"
        r"L'^{(i)}_{0,a}-L'^{(i)}_{1,a}+\frac{n_{0,0}}{n_{\star,0}}-\frac{n_{0,a}}{n_{\star,a}}$, "
        r"$L'^{(i)}_{y,a}:=\frac{n^{(i)}_{y,a}}{n_{\star,a}}L^{(i)}_{y,a}$.",
        kind="identity",
        scope="any number of clients, added one by one",
        check=identity(aggregated, "0.200995"),
        mutants={
            "uncorrected": ("the plain sum", {"correction": 0}),
            "local counts": ("F_a^(i) with the client's own n_*a", {"local": True}),
        },
        reading="L'^{(i)} as appendix B defines it, with the global n_{*,a}, which the clients "
        "must be told. Section 4 says that F_a is the plain sum of the F_a^(i), which counts the "
        "constant I times; algorithm 1 subtracts the surplus.",
        gap="algorithm 2 sends F_{0,a}^{(i)}, which is defined nowhere (read F_a^{(i)}), and "
        "initialises λ_a for a ≠ 0 only, while it updates λ_0 too.",
    ),
)
